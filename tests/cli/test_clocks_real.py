# SPDX-License-Identifier: Apache-2.0
"""Clocks that are shifted, skewed, wander and jump beneath real stores: what merge and report state of them from real
exchanges holds the truth, over threads and over MPI; and would not, had the exchanges' bounds no slack."""
import json
import math
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

import native_file
import pytest
from rank_files import MS, S, RankFile

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
PROGRAM = BUILD / "tests/clocks/clock_ranks"
LONG = os.environ.get("MXPROF_TEST_LONG") == "1"
RANKS = 4

needs_program = pytest.mark.skipif(not PROGRAM.exists(), reason="the runtime is not built")
needs_mpi = pytest.mark.skipif(shutil.which("mpirun") is None or not (BUILD / "libmxnet_mpi.so").exists(),
                               reason="needs mpirun and libmxnet_mpi.so (scripts/setup build)")


class RealClock:
    """What shifted_clock.c makes of a true reading."""

    def __init__(self, epoch, shift=0, skew_ppb=0, wander_ppb=0, period=S, jump=0):
        self.epoch, self.shift, self.skew_ppb, self.wander_ppb = epoch, shift, skew_ppb, wander_ppb
        self.period, self.jump, self.jump_at = period, jump, math.inf

    def read(self, now):
        since, turn = int(now) - self.epoch, 2 * math.pi / self.period
        skewed = abs(since) * abs(self.skew_ppb) // S * (1 if since * self.skew_ppb > 0 else -1)
        wandered = round(self.wander_ppb * 1e-9 / turn * math.sin(turn * since))
        return int(now) + self.shift + skewed + wandered + (self.jump if now >= self.jump_at else 0)

    def when(self, reading):
        """The true time of a reading."""
        low, high = self.epoch - 100 * S, self.epoch + 100 * S
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.read(middle) < reading else (low, middle)
        return low

    def text(self, rank):
        return (f"{rank}:{self.shift}:{self.skew_ppb}:{self.wander_ppb}:{self.period}:{self.jump}")


@pytest.fixture(scope="module", name="hook")
def _hook(tmp_path_factory):
    library = tmp_path_factory.mktemp("hook") / "shifted.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library,
                    pathlib.Path(__file__).with_name("shifted_clock.c"), "-lm"], check=True)
    return library


def cuts_of(path):
    *_, cuts = native_file.sections(path, "clock_cut")
    return [struct.unpack_from("=QQQII", cuts, at) for at in range(128, len(cuts), 32)]


def environment_of(hook, clocks, delay=None):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MXPROF_")}
    shifted = ";".join(clock.text(rank) for rank, clock in enumerate(clocks))
    return {**variables, "LD_PRELOAD": str(hook), "MXPROF_CLOCK": "raw", "MXPROF_TEST_CLOCK": shifted,
            "MXPROF_TEST_EPOCH": str(clocks[0].epoch), **({"MXPROF_TEST_DELAY": delay} if delay else {})}


def run(command, environment, directory):
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        command, env=environment, cwd=directory, text=True, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, err + out
    return out


def take_jumps(clocks, out):
    for line in out.splitlines():
        if line.startswith("jump "):
            clocks[int(line.split()[1])].jump_at = int(line.split()[2])


def write(folder, clocks, begin, end, cuts):
    """Files of a job with these exchanges."""
    folder.mkdir()
    for rank, clock in enumerate(clocks):
        file = RankFile("worker", rank, rank, clock, f"n{rank}", f"boot-{rank}", begin, end)
        file.begun_ns, file.cuts = rank, cuts[rank]
        (folder / f"worker{rank}.mxp").write_bytes(file.to_bytes())


class Threads:
    """All ranks in one process; their exchanges are put into files by the test."""

    def __init__(self, hook, folder):
        self.hook, self.folder = hook, folder

    def play(self, clocks, delay=None):
        """The job's folder and the cuts by rank."""
        begin = clocks[0].epoch
        out = run([PROGRAM, "threads", str(RANKS)], environment_of(self.hook, clocks, delay), self.folder.parent)
        take_jumps(clocks, out)
        cuts = [[] for _ in clocks]
        for line in out.splitlines():
            word, rank, *numbers = line.split()
            if word == "cut":
                cuts[int(rank)].append((*map(int, numbers), 1, 0))
        write(self.folder, clocks, begin, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), cuts)
        return cuts


class Mpi:
    """Processes that mpirun starts, each with its own recording."""

    def __init__(self, hook, folder):
        self.hook, self.folder = hook, folder
        for name in ("libmxnet_mpi.so", "libmxprof.so.0"):  # lie beside who asks for them
            if not (PROGRAM.parent / name).exists():
                (PROGRAM.parent / name).symlink_to(BUILD / name)

    def play(self, clocks, delay=None):
        self.folder.mkdir()
        environment = environment_of(self.hook, clocks, delay)
        preloaded = environment.pop("LD_PRELOAD")
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        out = run(["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "oob_tcp_if_include", "lo", "--mca",
             "btl_tcp_if_include", "lo", "-n", str(RANKS), "-x", f"LD_PRELOAD={preloaded}", PROGRAM, "process", self.folder],
            environment, self.folder.parent)
        take_jumps(clocks, out)
        by_rank = {self.rank_of(path): cuts_of(path) for path in self.folder.iterdir()}
        return [by_rank[rank] for rank in range(RANKS)]

    @staticmethod
    def rank_of(path):
        *_, owner = native_file.sections(path, "clock_cut")
        return struct.unpack_from("=QIIII", owner)[2]


def merged_clocks(folder):
    """What merge makes of the job, by rank; also the ends of each file's clock."""
    out = folder.with_suffix(".mxp")
    subprocess.run([BUILD / "mxprof", "merge", folder, "-o", out], check=True, capture_output=True, timeout=60)
    report = json.loads(subprocess.run([BUILD / "mxprof", "report", "--json", folder], check=True, capture_output=True,
                                       timeout=60).stdout)
    again = json.loads(subprocess.run([BUILD / "mxprof", "report", "--json", out], check=True, capture_output=True,
                                      timeout=60).stdout)
    for one, other in zip(report["clocks"], again["clocks"]):
        assert one["process"] == other["process"] and one["known_by"] == other["known_by"]
    return {int(clock["process"].split()[1]): clock for clock in report["clocks"]}, report["arrows"]


def inside(folder, clocks):
    """Of how many ranks the truth lies in what is stated, at the begin and at the end of their files."""
    found, arrows = merged_clocks(folder)
    assert found[0]["known_by"] == "same"
    # Where between two exchanges a clock jumped is not known: messages of then may lose their arrows.
    assert arrows["backward"] == 0 or any(clock.jump for clock in clocks)
    count = 0
    for path in folder.iterdir():
        rank = Mpi.rank_of(path)
        if rank == 0:
            continue
        clock, ends = found[rank], native_file.raw_ends(path)
        truths = [clocks[0].read(clocks[rank].when(own)) - own for own in ends]
        stated = [clock["behind_ns"], clock["behind_ns"] + clock["skew_ppm"] * 1e-6 * (ends[1] - ends[0])]
        parts = 2 if clocks[rank].jump or clocks[0].jump else 1
        count += (clock["known_by"] == "cuts" and clock["parts"] == parts and
                  all(abs(truth - said) <= doubt + 2 for truth, said, doubt in
                      zip(truths, stated, (clock["doubt_ns"][0], clock["doubt_ns"][2]))))
    return count


def draw_clocks(seed):
    """Of each rank: shifted and skewed; of one rank it jumps, or all wander, in a part of the runs."""
    draw = random.Random(seed)
    epoch = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    clocks = [RealClock(epoch, draw.randrange(-10 * S, 10 * S), draw.randrange(-200_000, 200_000),
                        draw.randrange(0, 20) if seed % 2 else 0, draw.randrange(S // 10, S)) for _ in range(RANKS)]
    if seed % 3 == 1:
        clocks[draw.randrange(1, RANKS)].jump = draw.randrange(50 * MS, 3 * S)
    return clocks


def delay_of(seed):
    """In half of the runs messages of one direction take 5 ms more."""
    return [None, "ask:2:5000000", None, "answer:3:5000000"][seed % 4]


def test_the_clock_of_the_test_is_what_the_hook_makes(hook, tmp_path):
    clocks = draw_clocks(1)
    program = ("import time; reads = [(time.clock_gettime_ns(time.CLOCK_MONOTONIC), "
               "time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)) for _ in range(100)]; print(reads[0][1], reads[-1][1])")
    for rank, clock in list(enumerate(clocks))[1:3]:
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        out = run([sys.executable, "-c", program], {**environment_of(hook, clocks), "OMPI_COMM_WORLD_RANK": str(rank)}, tmp_path)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        assert all(before <= clock.when(int(reading)) <= after for reading in out.split())


@needs_program
@pytest.mark.parametrize("kind, runs", [(Threads, 100 if LONG else 4),
                                        pytest.param(Mpi, 100 if LONG else 1, marks=needs_mpi)])
def test_the_truth_is_inside_of_what_real_exchanges_state(kind, runs, hook, tmp_path):
    count = 0
    for seed in range(runs):
        clocks = draw_clocks(seed if runs > 1 else 7)
        folder = tmp_path / str(seed)
        kind(hook, folder).play(clocks, delay_of(seed if runs > 1 else 7))
        count += inside(folder, clocks)
    assert count == (RANKS - 1) * runs


@needs_program
@pytest.mark.parametrize("kind", [Threads, pytest.param(Mpi, marks=needs_mpi)])
def test_bounds_without_their_slack_are_found_to_be_wrong(kind, hook, tmp_path):
    """What the test above is worth. One question takes so long that the clocks' rates, which differ by 390 ppm, matter."""
    epoch = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    clocks = [RealClock(epoch, 3 * S, 195_000)] + [RealClock(epoch, rank * S, -195_000) for rank in range(1, RANKS)]
    cuts = kind(hook, tmp_path / "job").play(clocks, "ask:1:800000000:1")
    end = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    narrow = [(at, low + (high - low) // 5000 + 2, high - (high - low) // 5000 - 2, *rest) for at, low, high, *rest in cuts[1]]
    write(tmp_path / "whole", clocks, epoch, end, cuts)
    write(tmp_path / "narrow", clocks, epoch, end, [cuts[0], narrow, *cuts[2:]])
    assert inside(tmp_path / "whole", clocks) == RANKS - 1
    assert inside(tmp_path / "narrow", clocks) == RANKS - 2
