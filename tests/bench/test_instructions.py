# SPDX-License-Identifier: Apache-2.0
"""Instructions per span, operator record and site that is off, counted under callgrind: what fails
when recording becomes more expensive. Times are for bench/; they flap, counts do not.

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
COLLECTED = re.compile(r"Collected : (\d+)")


def instructions(site, count, output):
    """Those of one run, inside the loop only: start and output of the library vary."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}",
               "--collect-atstart=no", "--toggle-collect=bench_loop_*",
               BUILD / "bench/sites", site, str(count)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200,
                            env={**os.environ, "MXPROF_CLOCK": "tsc"})
    assert result.returncode == 0, result.stderr
    return int(COLLECTED.search(result.stderr).group(1))


def per_operation(site, folder):
    """The difference of two counts: what is done once falls out. Loops run twice where they record
    (sites.c), first into new memory."""
    passes = 1 if site in ("nothing", "off_inline", "off_exported") else 2
    many = instructions(site, MANY, folder / "many.out")
    few = instructions(site, FEW, folder / "few.out")
    return (many - few) / (MANY - FEW) / passes


@pytest.fixture(scope="module")
def built():
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: scripts/setup build")
    subprocess.run(["cmake", "--build", BUILD, "--target", "bench_sites"], check=True,
                   capture_output=True)


@pytest.mark.parametrize("site", sorted(LIMITS))
def test_instructions_stay_below_the_limit(site, built, tmp_path):
    assert per_operation(site, tmp_path) <= LIMITS[site]


if __name__ == "__main__":
    for name in sorted(LIMITS):
        print(name, per_operation(name, pathlib.Path(sys.argv[1])))
