# SPDX-License-Identifier: Apache-2.0
"""Claims against other profilers. Each side is a process of its own, ours and the peer's in turn;
each runs its loop once and prints its time. What is not installed is a row without figures.
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from side_rounds import Missing, Quiet, empty_row, summarise

CPU_TOLERANCE = 1.10          # wall over CPU time of a single-threaded side

# name, mode of our side, peer, mode of the peer's side, threads, operations a round.
# Modes dump and table take a file instead of a number of threads and are rates.
LOOPS = [
    ("V1 MXNet task", "span", "mxnet", "task", 1, 500_000),
    ("V1 MXNet task, two threads", "span", "mxnet", "task", 2, 500_000),
    ("V1 MXNet task, its heap touched before", "span", "mxnet", "task_touched", 1, 500_000),
    ("V2 MXNet counter", "counter", "mxnet", "counter", 1, 500_000),
    ("V3 MXNet off", "off", "mxnet", "off", 1, 10_000_000),
    ("V3 MXNet off, two threads", "off", "mxnet", "off", 2, 10_000_000),
    ("V4 LTTng-UST, two tracepoints", "span", "lttng", "", 1, 2_000_000),
    ("V4 LTTng-UST, two tracepoints, two threads", "span", "lttng", "", 2, 2_000_000),
    ("V5 uftrace, a function compiled with -pg", "span", "uftrace", "", 1, 1_000_000),
    ("V5 uftrace, a function compiled with -pg, two threads", "span", "uftrace", "", 2, 1_000_000),
    ("D2 JSON on tmpfs, over MXNet's dump", "dump", "mxnet", "dump", 1, 500_000),
    ("D11 aggregate table, over MXNet's dump with aggregation", "table", "mxnet", "table", 1,
     500_000),
]
NAMES = [loop[0] for loop in LOOPS]
UNITS = {"off": "ns/span", "span": "ns/span", "counter": "ns/sample"}


def run_side(command, environment=None):
    """The one line of JSON that a side prints."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=120,
                            env={**os.environ, **(environment or {})})
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode != 0 or not lines:
        reason = (result.stderr.strip() or "no output").splitlines()[-1]
        raise Missing(f"{pathlib.Path(command[0]).name}: {reason}")
    return json.loads(lines[-1])


# ---- the peers ---------------------------------------------------------------------------------
class Mxnet:
    def __init__(self, programs, peers, scratch):
        library = sorted(peers.glob("lib/python3*/site-packages/mxnet/libmxnet.so"))
        if not library:
            raise Missing("MXNet is not installed: make bench PEERS=1")
        self.command = [programs / "mxnet_loop", library[0]]
        self.scratch = scratch

    def run(self, mode, threads, count):
        where = self.scratch / "mxnet.json" if mode in ("dump", "table") else threads
        side = run_side([*self.command, mode, str(where), str(count)], {"OMP_NUM_THREADS": "1"})
        (self.scratch / "mxnet.json").unlink(missing_ok=True)
        return side

    def close(self):
        pass


class Uftrace:
    def __init__(self, programs, _peers, scratch):
        if shutil.which("uftrace") is None or not (programs / "uftrace_loop").exists():
            raise Missing("uftrace is not installed: make bench PEERS=1")
        self.program = programs / "uftrace_loop"
        self.data = scratch / "uftrace.data"

    def run(self, _mode, threads, count):
        side = run_side(["uftrace", "record", "--no-libcall", "-d", self.data, self.program,
                         str(threads), str(count)])
        shutil.rmtree(self.data, ignore_errors=True)
        return side

    def close(self):
        pass


class Lttng:
    """A session daemon of our own, with a snapshot session: its rings overwrite and are not read."""
    LOOP, EVENTS = "lttng_loop", "mxprof_bench:*"

    def __init__(self, programs, _peers, scratch):
        self.program = programs / self.LOOP
        tools = all(shutil.which(tool) for tool in ("lttng", "lttng-sessiond"))
        if not tools or not self.program.exists():
            raise Missing("LTTng-UST is not installed: make bench PEERS=1")
        self.environment = {"LTTNG_HOME": str(scratch), "LTTNG_UST_REGISTER_TIMEOUT": "-1"}
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"],
                                       env={**os.environ, **self.environment},
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.start_session()
        except Missing:
            self.close()
            raise

    def control(self, *arguments):
        result = subprocess.run(["lttng", "--no-sessiond", *arguments], capture_output=True,
                                text=True, env={**os.environ, **self.environment})
        return result.returncode == 0

    def start_session(self):
        deadline = time.monotonic() + 10
        while not self.control("list"):
            if time.monotonic() > deadline or self.daemon.poll() is not None:
                raise Missing("lttng-sessiond does not start here")
            time.sleep(0.1)
        steps = [("create", "mxprof-bench", "--snapshot"),
                 ("enable-channel", "--userspace", "--overwrite", "--subbuf-size=1M",
                  "--num-subbuf=4", "rings"),
                 ("enable-event", "--userspace", "--channel=rings", self.EVENTS),
                 ("start",)]
        for step in steps:
            if not self.control(*step):
                raise Missing(f"lttng {step[0]} fails here")

    def run(self, _mode, threads, count):
        return run_side([self.program, str(threads), str(count)], self.environment)

    def close(self):
        self.control("destroy", "mxprof-bench")
        self.daemon.terminate()
        self.daemon.wait(timeout=20)


PEERS = {"mxnet": Mxnet, "lttng": Lttng, "uftrace": Uftrace}


# ---- rounds ------------------------------------------------------------------------------------
def was_on_cpu(side):
    return side["wall_ns"] <= side["cpu_ns"] * CPU_TOLERANCE


def figure(side, rate):
    ns = side["wall_ns"] / side["operations"]
    return 1e3 / ns if rate else ns


def run_ours(programs, scratch, mode, threads, count):
    where = scratch / "mxprof.json" if mode in ("dump", "table") else threads
    side = run_side([programs / "mxprof_loop", mode, str(where), str(count)])
    (scratch / "mxprof.json").unlink(missing_ok=True)
    return side


def measure_rounds(loop, peer, programs, scratch, options):
    """(subject, reference) per valid round, and how many rounds were run."""
    _name, mode, _peer, peer_mode, threads, count = loop
    rate = mode in ("dump", "table")
    sides = {"ours": lambda: run_ours(programs, scratch, mode, threads, count),
             "peer": lambda: peer.run(peer_mode, threads, count)}
    for side in sides.values():
        side()
    valid = []
    run = 0
    deadline = time.monotonic() + options.seconds
    while len(valid) < options.rounds and (run == 0 or time.monotonic() < deadline):
        order = ["ours", "peer"] if run % 2 == 0 else ["peer", "ours"]
        quiet = Quiet()
        got = {which: sides[which]() for which in order}
        run += 1
        good = quiet.held() if threads > 1 else all(was_on_cpu(side) for side in got.values())
        if good or options.disturbed:
            valid.append((figure(got["ours"], rate), figure(got["peer"], rate)))
    return valid, run


def unit_of(loop):
    return "M spans/s" if loop[1] in ("dump", "table") else UNITS[loop[1]]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    loop = next(loop for loop in LOOPS if loop[0] == goal["name"])
    row = empty_row(goal, unit_of(loop))
    if not with_peers:
        row["note"] = "measured by make bench PEERS=1"
        return row
    programs = build / "bench"
    tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mxprof-bench-", dir=tmpfs) as folder:
        scratch = pathlib.Path(folder)
        try:
            with contextlib.closing(PEERS[loop[2]](programs, peers, scratch)) as peer:
                valid, run = measure_rounds(loop, peer, programs, scratch, options)
        except Missing as missing:
            row["note"] = str(missing)
            return row
    return summarise(row, valid, run, options)
