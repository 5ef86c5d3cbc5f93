# SPDX-License-Identifier: Apache-2.0
"""Records planted_programs.py and asks `mxprof explain` for its verdict.

    planted_traces.py keep FOLDER [CAUSE ...]     traces with the default sizes and with drawn ones, compressed
    planted_traces.py check [--seeds N] [CAUSE ...]   fresh ones, N of drawn sizes each, and a table

A recording counts only if the machine was quiet: the noise of its steps is below 5 %. Else it is made
again; if it never was the quietest counts, if that has at least less than 10 %, and else it is void: it says
nothing, neither good nor bad. `chrt -f 10` before it makes a busy machine a quiet one."""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import planted_programs

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
COMMAND = BUILD / "mxprof"
TRIES = 8
NOISE_WANTED, NOISE_MOST = 0.05, 0.1


# Ceilings that were measured on this machine would be one more reason to tell a layer.
NO_CACHE = {"XDG_CACHE_HOME": "/nowhere"}


def command(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, check=True,
                          env={**os.environ, **NO_CACHE}).stdout


def explained(trace):
    """What `mxprof explain --json` says of a trace or a folder of them."""
    return json.loads(command("explain", "--json", trace))


def told(verdict):
    """Names of the causes that are told, the first one first: those between processes before all."""
    between = verdict.get("between_processes", {}).get("causes", [])
    slowest = max(verdict["processes"], key=lambda process: process["mean_ns"])
    return [cause["cause"] for cause in between + slowest["causes"] if cause["is_told"]]


def noise_of(verdict):
    return max(process.get("noise_ns", process["mean_ns"]) / process["mean_ns"]
               for process in verdict["processes"])


def environment_of(cause, rank):
    return {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": str(BUILD), "OMP_NUM_THREADS": "1",
            "PLANTED_RANK": str(rank), **planted_programs.ENVIRONMENT.get(cause, {})}


def record(cause, sizes, trace, rank):
    """The noise of a recording. It knows no path of this machine but where its file was."""
    program = pathlib.Path(planted_programs.__file__).resolve()
    (trace.parent / program.name).unlink(missing_ok=True)
    (trace.parent / program.name).symlink_to(program)
    subprocess.run(["python", program.name, cause, trace.name,
                    *(f"{name}={value}" for name, value in sizes.items())],
                   env=environment_of(cause, rank), cwd=trace.parent, check=True)
    (trace.parent / program.name).unlink()
    return noise_of(explained(trace))


def record_quietly(cause, sizes, trace, rank):
    """Whether there was a quiet recording; the quietest one stays."""
    least, again = math.inf, trace.with_name("again.mxp")
    for _ in range(TRIES):
        noise = record(cause, sizes, again, rank)
        if noise < least:
            least = noise
            again.replace(trace)
        if noise <= NOISE_WANTED:
            break
    again.unlink(missing_ok=True)
    return least <= NOISE_MOST


def recorded(cause, sizes, folder):
    """A trace, or a folder with one of each process, of a quiet machine and its verdict; or None."""
    ranks = planted_programs.PROCESSES.get(cause, 1)
    traces = [folder / (f"rank{rank}.mxp" if ranks > 1 else f"{cause}.mxp") for rank in range(ranks)]
    if not all([record_quietly(cause, sizes, trace, rank) for rank, trace in enumerate(traces)]):
        return None
    found = folder if ranks > 1 else traces[0]
    return found, explained(found)


def pack(trace, target):
    """The trace, or each of a folder, compressed."""
    if trace.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for part in sorted(trace.iterdir()):
            command("convert", part, "-o", target / f"{part.stem}.mxpz")
    else:
        target.unlink(missing_ok=True)
        command("convert", trace, "-o", target)


def all_sizes(cause, seeds):
    """Name of the set -> sizes: the defaults, and drawn ones."""
    return {"": planted_programs.SIZES[cause],
            **{f"_{seed}": planted_programs.drawn_sizes(cause, seed) for seed in seeds}}


def keep(folder, causes):
    for cause in causes:
        for name, sizes in all_sizes(cause, [1]).items():
            with tempfile.TemporaryDirectory() as scratch:
                found = recorded(cause, sizes, pathlib.Path(scratch))
                if found is None:
                    print(f"{cause}{name}: void, the machine was never quiet")
                    continue
                ending = "" if cause in planted_programs.PROCESSES else ".mxpz"
                pack(found[0], folder / f"{cause}{name}{ending}")
                print(f"{cause}{name}: told {told(found[1])}", flush=True)


def check(causes, seeds):
    wrong = void = 0
    print(f"{'planted':24} {'by arithmetic':>13}  {'verdict':7}  told")
    for cause in causes:
        for name, sizes in all_sizes(cause, range(1, seeds + 1)).items():
            gain = planted_programs.gain_of(cause, sizes)
            with tempfile.TemporaryDirectory() as scratch:
                found = recorded(cause, sizes, pathlib.Path(scratch))
            names = told(found[1]) if found else []
            is_right = found is not None and (names or [None])[0] == planted_programs.CAUSES[cause]
            void += found is None
            wrong += found is not None and not is_right
            print(f"{cause + name:24} {'-' if gain is None else f'{100 * gain:.0f} %':>13}  "
                  f"{'void' if found is None else 'right' if is_right else 'WRONG':7}  {', '.join(names) or '-'}",
                  flush=True)
    print(f"{wrong} wrong, {void} void")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["keep", "check"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("rest", nargs="*")
    chosen = parser.parse_intermixed_args()
    folder = pathlib.Path(chosen.rest.pop(0)) if chosen.what == "keep" else None
    causes = chosen.rest or list(planted_programs.SIZES)
    if chosen.what == "check":
        return check(causes, chosen.seeds)
    folder.mkdir(exist_ok=True)
    return keep(folder, causes)


if __name__ == "__main__":
    sys.exit(main())
