# SPDX-License-Identifier: Apache-2.0
"""Long traces are read by several threads: what is printed is the same as on one core, to the byte."""
import os
import random
import struct
import subprocess
import pathlib

import pytest

import diff_runs

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
CORES = sorted(os.sched_getaffinity(0))
COMMANDS = [["report"], ["report", "--json"], ["report", "--tree"], ["report", "--by", "thread"],
            ["report", "--step", "3:40", "--json"], ["path"], ["path", "--json"], ["whatif"],
            ["explain", "--json"], ["view", "--size", "none", "-o", "-"], ["view", "--size", "300k", "-o", "-"]]


class LongRun(diff_runs.Run):
    """A training run beside threads that do other things, in chunks of few records, in the order of time."""
    RECORDS = 12

    def chunks_of(self, thread):
        data, at, begin, count, cut = self.threads[thread]["bytes"], 0, 0, 0, []
        while at < len(data):
            at += 16 * data[at + 1]
            count += 1
            if count == self.RECORDS or at == len(data):
                cut.append((begin, at))
                begin, count = at, 0
        for sequence, (begin, end) in enumerate(cut):
            stamp = struct.unpack_from("=Q", data, begin)[0] >> 16
            head = struct.pack("=IIQQQ", thread, sequence, stamp, 0, 0)
            yield stamp, thread, sequence, self.section("chunk", data[begin:end], head)

    def chunk_sections(self):
        chunks = [chunk for thread in range(len(self.threads)) for chunk in self.chunks_of(thread)]
        return [data for *_, data in sorted(chunks)]

    def nested(self, thread, chance, at, end, names):
        """Spans in spans; the same names on several threads, each first seen in another place."""
        while at < end:
            length = chance.randrange(2_000, 60_000)
            inner = at + 100
            while inner < at + length - 500 and chance.random() < 0.7:
                took = chance.randrange(50, 400)
                self.span(thread, chance.choice(names), inner, inner + took)
                inner += took + 10
            self.span(thread, chance.choice(names), at, max(at + length, inner))
            at = max(at + length, inner) + chance.randrange(100, 9_000)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    chance = random.Random(26)
    run = LongRun(1)
    around = run.name("train step", "app", "span")
    # Rows of which nothing but the order in which they came tells which is first.
    alike = [run.name(f"alike {i}", "app", "span") for i in range(40)]
    for step in range(300):
        begin = run.at
        run.step({"conv": chance.randrange(20_000, 900_000), "dense": 200_000 + step,
                  f"layer{step % 7}": chance.randrange(1, 5_000)}, chance.random() / 10)
        if step % 10 == 9:
            run.span(run.main, alike[step // 10], run.at - 20_000, run.at - 19_223)
        run.span(run.main, around, begin + 1, run.at - 1_000)  # a long one: the index keeps it
    names = [run.name(text, "app", "span") for text in ("read", "work", "sort", "send", "rare")]
    for index in range(3):
        helper = run.thread(f"helper {index}")
        for part in range(3):
            at, until = (run.at * share // 3 for share in (part, part + 1))
            run.nested(helper, chance, max(at, 1_000_000 * (3 - index)), until - 200_000, names[index % 2:])
            run.span(helper, alike[30 + (7 * index + 3 * part) % 9], until - 100_000, until - 99_223)
    data = run.finish()
    assert sum(len(list(run.chunks_of(thread))) for thread in range(len(run.threads))) > 200
    path = tmp_path_factory.mktemp("long") / "long.mxp"
    path.write_bytes(data)
    return path


def printed(command, trace, cores):
    result = subprocess.run([BUILD / "mxprof", *command, trace], capture_output=True, check=False,
                            preexec_fn=lambda: os.sched_setaffinity(0, cores))
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(len(CORES) < 2, reason="one core")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_is_printed_is_the_same_on_one_core(command, trace):
    alone = printed(command, trace, CORES[:1])
    assert alone
    for _ in range(5):
        assert printed(command, trace, CORES) == alone
