# SPDX-License-Identifier: Apache-2.0
"""Claims about other profilers' traces that the command reads. The text is torch.profiler's as it is laid out, made
here, so that no PyTorch is needed. CPU time of whole processes: the command's with its start, Python's of json.load.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import typing

from runtime_claims import rounds
from side_rounds import empty_row, summarise

RATE_BYTES = 16 << 20
MEMORY_BYTES = 1 << 30
LIMIT_BYTES = 64 << 20
PIECE_EVENTS = 2000
HEAD = ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n  ],\n  "displayTimeUnit": "ms",\n'
        '  "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n')
TAIL = '\n  ],\n  "traceName": "bench.json"\n}\n'
EVENT = """  {{
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::operator_{name}",
    "pid": 433,
    "tid": {tid},
    "ts": {us}.{ns:03d},
    "dur": {dur}.135
    ,
    "args": {{
      "External id": {i},"Record function id": 0, "Concrete Inputs": ["", "", "[1, 1]", "False"], "Input type": ["float", "float", "ScalarList", "Scalar"], "Input Strides": [[784, 784, 28, 1], [25, 25, 5, 1], [], []], "Input Dims": [[8, 1, 28, 28], [6, 1, 5, 5], [], []], "Ev Idx": {i}
    }}
  }}"""
JSON_LOAD = ("import json, sys, time; file = open(sys.argv[1], encoding='utf-8'); begin = time.process_time(); "
             "json.load(file); print(time.process_time() - begin)")


def pieces(size_bytes):
    """The text, piece by piece: events in no order of time, of four threads."""
    written = 0
    number = 0
    yield HEAD
    while written < size_bytes:
        events = []
        for i in range(number, number + PIECE_EVENTS):
            us = 4783392258000 + 40 * (i ^ 5)
            events.append(EVENT.format(name=i * 7919 % 83, tid=433 + i % 4, us=us, ns=i % 1000, dur=i % 37, i=i))
        piece = (",\n" if number else "") + ",\n".join(events)
        number += PIECE_EVENTS
        written += len(piece)
        yield piece
    yield TAIL


def command_usage(build, source, out, text=None):
    """What the command took to make a native file of `source`: CPU seconds, and the most resident memory in KiB."""
    with subprocess.Popen([build / "mxprof", "convert", source, "-o", out], stdin=subprocess.PIPE, text=True) as process:
        for piece in text or ():
            process.stdin.write(piece)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"mxprof convert ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class Rate(typing.NamedTuple):
    name: str
    unit: str = "MB/s"

    def measure(self, row, build, scratch, options):
        path = scratch / "trace.json"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(pieces(RATE_BYTES))
        size = path.stat().st_size / 1e6

        def run_round(number):
            got = {}
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                if which == 0:
                    got[which] = size / command_usage(build, path, scratch / "trace.mxp")[0]
                else:
                    taken = subprocess.run([sys.executable, "-c", JSON_LOAD, path], check=True, capture_output=True)
                    got[which] = size / float(taken.stdout)
            return got[0], got[1]

        valid, run = rounds(options, [], run_round)
        return summarise(row, valid, run, options)


class Memory(typing.NamedTuple):
    """No time, so that one round on any machine tells it."""
    name: str
    unit: str = "MiB"

    def measure(self, row, build, scratch, options):
        _, kib = command_usage(build, "/dev/stdin", scratch / "trace.mxp", pieces(MEMORY_BYTES))
        return summarise(row, [(kib / 1024, LIMIT_BYTES / (1 << 20))], 1, options._replace(rounds=1))


CLAIMS = [Rate("C9 import of torch.profiler's JSON, over Python's json.load"),
          Memory("C13 resident memory of an import of 1 GiB, over 64 MiB")]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, _peers, options, _with_peers):
    """The row of one claim."""
    claim = next(claim for claim in CLAIMS if claim.name == goal["name"])
    tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mxprof-bench-", dir=tmpfs) as folder:
        return claim.measure(empty_row(goal, claim.unit), pathlib.Path(build), pathlib.Path(folder), options)
