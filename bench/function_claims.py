# SPDX-License-Identifier: Apache-2.0
"""Claims about functions compiled with -finstrument-functions: what a pair of hooks adds to a call over libc's empty
ones, and the bytes of a call, beside uftrace and LTTng's cyg-profile-fast on the same program. Sides are processes and
take turns.
"""
import contextlib
import csv
import os
import pathlib
import shutil
import subprocess
import tempfile

import peer_claims
from side_rounds import Missing, empty_row, paired_rounds, summarise

OVER_UFTRACE = "C4 compiler-hook call pair, added over empty hooks, over uftrace's"
OVER_LTTNG = "C5 compiler-hook call pair, added over empty hooks, over LTTng's cyg-profile-fast"
BYTES = "C16 bytes of a call in the file of functions, over uftrace's data"
NAMES = [OVER_UFTRACE, OVER_LTTNG, BYTES]
UNITS = {OVER_UFTRACE: "ns", OVER_LTTNG: "ns", BYTES: "bytes"}
NUMBER = "24"           # 150,049 calls
REPEATS = 3             # of the program, in it


class Sides:
    def __init__(self, build, scratch):
        self.build, self.scratch, self.made = build, scratch, 0
        self.program = build / "bench/functions_loop"
        if not self.program.exists():
            raise Missing("functions_loop is not built")

    def run(self, before=(), environment=None):
        """ns of a call."""
        side = peer_claims.run_side([*map(str, before), str(self.program), NUMBER], environment)
        return side["cpu_ns"] / side["calls"], side["calls"]

    def plain(self):
        return self.run()[0]

    def ours(self):
        """ns and bytes of a call; each call must be there."""
        self.made += 1
        folder = self.scratch / f"run{self.made}"
        took, calls = self.run([self.build / "mxprof", "run", "-q", "-o", folder])
        table = subprocess.run([self.build / "mxprof", "convert", folder, "-o", "-", "--to", "csv"], check=True,
                               capture_output=True, text=True).stdout
        found = sum(int(row["count"]) for row in csv.DictReader(table.splitlines()) if row["name"] == "fib")
        size = sum(file.stat().st_size for file in folder.glob("*.mxp"))
        shutil.rmtree(folder)
        if found != REPEATS * calls:
            raise Missing(f"mxprof run has {found} of {REPEATS * calls} calls")
        return took, size / found

    def uftrace(self):
        data = self.scratch / "uftrace.data"
        if shutil.which("uftrace") is None:
            raise Missing("uftrace is not installed: make bench PEERS=1")
        took, calls = self.run(["uftrace", "record", "--no-libcall", "-d", data])
        lines = subprocess.run(["uftrace", "report", "--no-pager", "-f", "call", "-d", str(data)], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        found = sum(int(line.split()[0]) for line in lines if line.split()[1:] == ["fib"])
        size = sum(file.stat().st_size for file in data.iterdir())
        shutil.rmtree(data)
        if found != REPEATS * calls:
            raise Missing(f"uftrace has {found} of {REPEATS * calls} calls")
        return took, size / found


class CygProfile(peer_claims.Lttng):
    """A daemon with a session of the hooks' events; that they came shows in what a snapshot of its rings holds."""
    LOOP, EVENTS = "functions_loop", "lttng_ust_cyg_profile_fast:*"
    LEAST_BYTES = 1 << 20

    def run_under(self, sides):
        took, _ = sides.run(environment={**self.environment, "LD_PRELOAD": "liblttng-ust-cyg-profile-fast.so"})
        return took

    def check(self, folder):
        self.control("snapshot", "record", f"file://{folder}")
        held = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        if held < self.LEAST_BYTES:
            raise Missing("LTTng has recorded nothing here")


def measure_uftrace(sides, options):
    def measured():
        plain = sides.plain()
        return sides.ours()[0] - plain, sides.uftrace()[0] - plain
    return paired_rounds(options, measured)


def measure_lttng(sides, options):
    with contextlib.closing(CygProfile(sides.build / "bench", None, sides.scratch)) as peer:
        def measured():
            plain = sides.plain()
            return sides.ours()[0] - plain, peer.run_under(sides) - plain
        found = paired_rounds(options, measured, [peer.daemon.pid])
        folder = sides.scratch / "held"
        folder.mkdir()
        peer.check(folder)
    return found


def measure_bytes(sides, options):
    return [(sides.ours()[1], sides.uftrace()[1])] * options.rounds, options.rounds


MEASURES = {OVER_UFTRACE: measure_uftrace, OVER_LTTNG: measure_lttng, BYTES: measure_bytes}


def measure(goal, build, _peers, options, with_peers):
    """The row of one claim."""
    row = empty_row(goal, UNITS[goal["name"]])
    if not with_peers:
        row["note"] = "measured by make bench PEERS=1"
        return row
    tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mxprof-bench-", dir=tmpfs) as folder:
        try:
            valid, run = MEASURES[goal["name"]](Sides(build, pathlib.Path(folder)), options)
        except Missing as missing:
            row["note"] = str(missing)
            return row
    return summarise(row, valid, run, options)
