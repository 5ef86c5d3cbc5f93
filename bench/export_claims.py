# SPDX-License-Identifier: Apache-2.0
"""Claims about what the command writes beside Python doing the same. Both take CPU time of a process of their
own; only writing is counted of Python's, of ours the whole command."""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import typing

from runtime_claims import Place, measure_claim, rounds
from side_rounds import Missing, summarise

FOLDER = pathlib.Path(__file__).resolve().parent / "export"
SPANS = 400_000


def told(*command):
    return subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True).stdout


def command_s(*command):
    """CPU seconds of a command that must go well."""
    def busy():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = busy()
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise Missing(result.stderr.strip().splitlines()[-1])
    return busy() - before


class Database(typing.NamedTuple):
    """Rows a second of CPU time, from a native file to a database with its indexes."""
    name: str
    unit: str = "M rows/s"
    needs_peer: bool = False

    def measure(self, row, place, options):
        with tempfile.TemporaryDirectory() as folder:
            trace, database, copy = (pathlib.Path(folder) / name for name in ("trace.mxp", "ours.sqlite", "copy.sqlite"))
            told(FOLDER / "spans.py", place.build / "libmxprof.so", trace, str(SPANS))

            def run_round(_number):
                ours_s = command_s(place.build / "mxprof", "convert", trace, "-o", database)
                python = json.loads(told(FOLDER / "executemany.py", database, copy))
                return tuple(python["rows"] / seconds / 1e6 for seconds in (ours_s, python["cpu_s"]))

            valid, run = rounds(options, [], run_round)
        return summarise(row, valid, run, options)


CLAIMS = [Database("C15 native file to SQLite, over Python's executemany of the same rows")]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    return measure_claim(CLAIMS, goal, Place(build, peers), options, with_peers)
