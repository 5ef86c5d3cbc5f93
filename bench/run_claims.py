# SPDX-License-Identifier: Apache-2.0
"""Claims about `mxprof run`: what it adds to PyTorch's operators and to the start of a program, and what it leaves to
do at the end, beside torch.profiler and uftrace. Sides are processes and take turns.
"""
import contextlib
import csv
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time
import typing

from side_rounds import Missing, empty_row, paired_rounds, summarise

BATCHES = 3             # of a side in a round; the least counts, because a disturbance only adds
STARTS = 5              # the same of processes
OPERATOR = pathlib.Path(__file__).resolve().parent / "peers/operator_torch.py"

ADDED = "C1 PyTorch small operator, added by mxprof run, over torch.profiler"
START = "C7 start of a short program under mxprof run, added, over uftrace"
END = "C14 end of a PyTorch program to its file complete, an event, over torch.profiler's export"
BYTES = "C16 bytes an event in the file of PyTorch, over torch.profiler's JSON"
NAMES = [ADDED, START, END, BYTES]
UNITS = {ADDED: "ns", START: "ms", END: "ns/event", BYTES: "bytes"}


class Place(typing.NamedTuple):
    build: pathlib.Path
    peers: pathlib.Path
    scratch: pathlib.Path

    def mxprof(self, folder):
        return [self.build / "mxprof", "run", "-q", "-o", self.scratch / folder]

    def torch(self):
        python = self.peers.with_name(self.peers.name + "-torch") / "bin/python"
        if not python.exists():
            raise Missing("PyTorch is not installed: make bench PEERS=1")
        return [python, "-W", "ignore", OPERATOR]


def clean():
    return {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "MXPROF_", "OMP_"))}


# ---- sides that are told what to do --------------------------------------------------------------
class Side:
    def __init__(self, command):
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=clean())

    def tell(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line.startswith("{"):
            raise Missing("PyTorch's side does not answer")
        return json.loads(line)

    def least(self, command):
        return min(self.tell(command)["ns"] for _ in range(BATCHES))

    def pids(self):
        """Of the process and, under mxprof run, of the program."""
        pid = self.process.pid
        return [pid, *map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())]

    def end(self):
        """How long the process took to end after it was told, in ns, and how many additions were a batch."""
        told = self.tell("end")
        self.process.wait(60)
        return time.monotonic_ns() - told["ns"], told["additions"]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(60)


def recorded_additions(place, folder):
    """How many there are in the file, and its bytes for each span in it."""
    table = subprocess.run([place.build / "mxprof", "convert", place.scratch / folder, "-o", "-", "--to", "csv"],
                           capture_output=True, text=True, check=True).stdout
    counts = {row["name"]: int(row["count"]) for row in csv.DictReader(table.splitlines())
              if row["section"] == "PyTorch"}
    size = sum(file.stat().st_size for file in (place.scratch / folder).glob("*.mxp"))
    return counts.get("aten::add", 0), size / sum(counts.values())


def measure_added(place, options):
    with contextlib.ExitStack() as stack:
        plain, ours, peer = (stack.enter_context(contextlib.closing(Side([*before, *place.torch()])))
                             for before in ([], place.mxprof("added"), []))
        for side, command in ((plain, "plain"), (ours, "plain"), (peer, "profiled")):
            side.tell(command)

        def measured():
            alone = plain.least("plain")
            return ours.least("plain") - alone, peer.least("profiled") - alone

        valid, run = paired_rounds(options, measured, [*plain.pids(), *ours.pids(), *peer.pids()])
        _, additions = ours.end()
    if recorded_additions(place, "added")[0] != additions * (1 + BATCHES * run):
        raise Missing("mxprof run has not recorded each addition")
    return valid, run


# ---- ends ----------------------------------------------------------------------------------------
def ended(place, folder, batches):
    """How long a process takes to end that has done so many batches, and how many additions those were."""
    before = [] if folder is None else place.mxprof(folder)
    with contextlib.closing(Side([*before, *place.torch()])) as side:
        for _ in range(batches):
            side.tell("plain")
        took, additions = side.end()
    return took, additions * batches


def measure_end(place, options):
    batches, number = 20, iter(range(1000))
    with contextlib.closing(Side(place.torch())) as peer:

        def measured():
            alone, _ = ended(place, None, batches)
            took, additions = ended(place, f"end{next(number)}", batches)
            return max(took - alone, 0) / additions, peer.tell(f"export {place.scratch / 'trace.json'}")["ns"]

        return paired_rounds(options, measured, peer.pids())


def measure_bytes(place, options):
    ended(place, "bytes", 20)
    _, ours = recorded_additions(place, "bytes")
    with contextlib.closing(Side(place.torch())) as peer:
        theirs = peer.tell(f"export {place.scratch / 'trace.json'}")["bytes"]
    return [(ours, theirs)] * options.rounds, options.rounds


# ---- starts --------------------------------------------------------------------------------------
def cpu_ms(command):
    """The least CPU time of a process and its children."""
    least = None
    for _ in range(STARTS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=clean())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        least = took if least is None else min(least, took)
    return least


def measure_start(place, options):
    programs = place.build / "bench"
    if shutil.which("uftrace") is None or not (programs / "uftrace_loop").exists():
        raise Missing("uftrace is not installed: make bench PEERS=1")
    ours, peer, data = [programs / "mxprof_loop", "span", "1", "10"], [programs / "uftrace_loop", "1", "10"], \
        place.scratch / "uftrace.data"
    number = iter(range(1000))

    def measured():
        def with_ours():
            return cpu_ms([*place.mxprof(f"start{next(number)}"), "--force", *ours])
        added = with_ours() - cpu_ms(ours)
        theirs = cpu_ms(["uftrace", "record", "--no-libcall", "-d", data, *peer]) - cpu_ms(peer)
        shutil.rmtree(data, ignore_errors=True)
        return added, theirs

    return paired_rounds(options, measured)


# ---- all -----------------------------------------------------------------------------------------
MEASURES = {ADDED: measure_added, START: measure_start, END: measure_end, BYTES: measure_bytes}


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    row = empty_row(goal, UNITS[goal["name"]])
    if not with_peers:
        row["note"] = "measured by make bench PEERS=1"
        return row
    tmpfs = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mxprof-bench-", dir=tmpfs) as folder:
        try:
            valid, run = MEASURES[goal["name"]](Place(build, peers, pathlib.Path(folder)), options)
        except Missing as missing:
            row["note"] = str(missing)
            return row
    return summarise(row, valid, run, options)
