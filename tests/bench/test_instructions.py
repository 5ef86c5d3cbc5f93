# SPDX-License-Identifier: Apache-2.0
"""Instructions per span, operator record and site that is off, and per operation of the runtime,
counted under callgrind: what fails when they become more expensive. Times are for bench/; they flap,
counts do not.

Limits are in bench/instructions/limits.json, 10 % above what was reached. To set them anew, run this
file as a program: it prints the counts.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release"))
LIMITS = json.loads((TREE / "bench/instructions/limits.json").read_text(encoding="utf-8"))
FEW, MANY = 20_000, 60_000
TRIES = 10
COLLECTED = re.compile(r"Collected : (\d+)")


# Workload of runtime_side, how a batch is told to run, how many operations it has, and the function
# of the library that is counted with all it calls. What was recorded is written before the next batch: the last
# one's, which nobody reads, is not.
RUNTIME = {
    "engine_push": ("held_few", "off", 10_000, "MXEnginePushSyncND"),
    "engine_push_recorded": ("held_few", "drain\non", 10_000, "MXEnginePushSyncND"),
    "engine_run": ("held_few", "off", 10_000, "mxn__operation_run"),
    "engine_run_recorded": ("held_few", "drain\non", 10_000, "mxn__operation_run"),
    "invoke": ("plus_scalar", "off", 5_000, "MXImperativeInvokeEx"),
    "invoke_recorded": ("plus_scalar", "drain\non", 5_000, "MXImperativeInvokeEx"),
}


def instructions(command, counted, output, commands=""):
    """Those of one run, inside `counted` only: start and output of the library vary."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
               "--collect-atstart=no", f"--toggle-collect={counted}", *command]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, input=commands,
                            env={**os.environ, "MXPROF_CLOCK": "tsc"})
    assert result.returncode == 0, result.stderr
    return int(COLLECTED.search(result.stderr).group(1))


def per_operation_of_loop(site, folder):
    """The difference of two counts: what is done once falls out. Loops run twice where they record
    (sites.c), first into new memory."""
    passes = 1 if site == "nothing" or site.startswith("off_") else 2
    few, many = (instructions([BUILD / "bench/sites", site, str(count)], "bench_loop_*",
                              folder / f"{count}.out") for count in (FEW, MANY))
    return (many - few) / (MANY - FEW) / passes


def per_operation_of_runtime(site, folder):
    """Of the third batch: the first two meet new memory."""
    workload, batch, operations, counted = RUNTIME[site]
    command = [BUILD / "bench/runtime_side", workload, BUILD / "libmxnet.so"]
    two, three = (instructions(command, counted, folder / f"{batches}.out",
                               (batch + "\n") * batches) for batches in (2, 3))
    return (three - two) / operations


def per_operation(site, folder):
    measure = per_operation_of_runtime if site in RUNTIME else per_operation_of_loop
    return measure(site, folder)


needs_valgrind = pytest.mark.skipif(shutil.which("valgrind") is None,
                                    reason="valgrind is not installed: scripts/setup build")


@needs_valgrind
@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("site", sorted(LIMITS))
def test_instructions_stay_below_the_limit(site, tmp_path):
    """The least of some tries: on a busy machine the engine's threads meet at other places, and one
    waits for the other."""
    counts = []
    while not counts or (min(counts) > LIMITS[site] and len(counts) < TRIES):
        counts.append(per_operation(site, tmp_path))
    assert min(counts) <= LIMITS[site]


@needs_valgrind
@pytest.mark.usefixtures("built")
def test_a_dump_takes_as_long_for_each_thread_that_has_ended(tmp_path):
    """Sixteen times the threads: sixteen times the instructions, and some more for what is done now and
    then. A search for each thread in the list of all would make them sixty times as many."""
    few, many = (instructions([BUILD / "bench/ended_threads", str(count)], "mxp_session_dump",
                              tmp_path / f"{count}.out") for count in (1000, 16000))
    assert many < 24 * few


if __name__ == "__main__":
    for name in sorted({*LIMITS, *RUNTIME}):
        print(name, per_operation(name, pathlib.Path(sys.argv[1])))
