# SPDX-License-Identifier: Apache-2.0
"""Claims about the page of `mxprof view`: what writing it costs beside reading the file and beside the commands whose
texts are in it, and how large it is. Of a file of 10 million spans, as the training of a small network leaves them (page/long_trace.c)."""
import atexit
import os
import pathlib
import subprocess
import tempfile
import time
import typing

from export_claims import command_s
from runtime_claims import Place, measure_claim, rounds
from side_rounds import Missing, summarise

SPANS = 10_000_000
_made = []  # the file, once it is there


def long_trace(place):
    if not _made:
        tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        folder = tempfile.TemporaryDirectory(prefix="mxprof-bench-", dir=tmpfs)
        atexit.register(folder.cleanup)
        path = pathlib.Path(folder.name) / "long.mxp"
        result = subprocess.run([place.build / "bench/long_trace", path, str(SPANS)], capture_output=True, text=True)
        if result.returncode != 0:
            raise Missing(result.stderr.strip())
        _made.append((folder, path))
    return _made[0][1]


def wall_s(*command):
    """Seconds of a command that must go well, from its start to its end."""
    begun = time.monotonic()
    command_s(*command)
    return time.monotonic() - begun


class Time(typing.NamedTuple):
    """Seconds of the page, over those of `readers` of the same file one after the other."""
    name: str
    readers: typing.Callable
    seconds_of: typing.Callable
    unit: str = "s"
    needs_peer: bool = False

    def measure(self, row, place, options):
        trace = long_trace(place)
        page = trace.with_suffix(".html")

        def run_round(_number):
            ours_s = self.seconds_of(place.build / "mxprof", "view", "--size", "none", "-o", page, trace)
            return ours_s, sum(self.seconds_of(*reader, trace) for reader in self.readers(place))

        valid, run = rounds(options, [], run_round)
        return summarise(row, valid, run, options)


def bare_reader(place):
    """As A1 to A3 have it: each record decoded, its end added up, on one thread."""
    return [[place.build / "bench/bare_reader"]]


def commands(place):
    """Those whose texts are in the page."""
    return [[place.build / "mxprof", command] for command in ("report", "explain", "path")]


class Bytes(typing.NamedTuple):
    """Bytes of a page with every span, for each of them; the same in every run."""
    name: str
    unit: str = "bytes"
    needs_peer: bool = False

    def measure(self, row, place, options):
        trace = long_trace(place)
        page = trace.with_suffix(".html")
        command_s(place.build / "mxprof", "view", "--size", "none", "-o", page, trace)
        return summarise(row, [(page.stat().st_size / SPANS, 1.0)], 1, options._replace(rounds=1))


CLAIMS = [Time("W1 page of 10 M spans, over a bare reader of the same file", bare_reader, wall_s),
          Time("W1 page of 10 M spans in CPU time, over report, explain and path of the same file", commands, command_s),
          Bytes("W2 bytes of the page of 10 M spans, a span")]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    return measure_claim(CLAIMS, goal, Place(build, peers), options, with_peers)
