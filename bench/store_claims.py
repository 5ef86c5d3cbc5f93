# SPDX-License-Identifier: Apache-2.0
"""Claims about stores over several processes, on this machine. A side is a whole program: workers and servers, started
once, whose workers do a batch whenever they are told to; sides take turns. Ours over MPI; the original over its own
sockets. What is not installed is a row without figures.
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import typing

from runtime_claims import rounds
from side_rounds import Missing, empty_row, summarise

HERE = pathlib.Path(__file__).resolve().parent
WORKER = HERE / "store/store_worker.py"
START_SECONDS, BATCH_SECONDS, TURN_SECONDS = 60, 30, 0.3
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "oob_tcp_if_include", "lo",
          "--mca", "btl_tcp_if_include", "lo"]
DETAILS = ("rounds", "messages")  # workloads: what is recorded of the store
LARGE_BYTES, PIECE_BYTES = 16 << 20, 512 << 10


def settings(**more):
    """This process's variables without those that change what is measured."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("MXNET_", "MXPROF_", "OMP_", "DMLC_", "OMPI_", "PMIX_"))}
    return {**kept, "OMP_NUM_THREADS": "1", **more}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Job:
    """The processes of one side."""

    def __init__(self, scratch, workload, workers):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.arguments = [str(WORKER), str(self.folder), workload]
        for name in [f"command.{rank}" for rank in range(workers)] + ["answer"]:
            os.mkfifo(self.folder / name)
        self.workers, self.commands, self.processes = workers, [], []
        self.errors = open(self.folder / "errors", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.answers = os.open(self.folder / "answer", os.O_RDWR)

    def begin(self, line, environment):
        self.processes.append(subprocess.Popen(  # pylint: disable=consider-using-with
            line, env=environment, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors,
            start_new_session=True))

    def fail(self, what):
        self.errors.seek(0)
        said = next((line for line in reversed(self.errors.read().splitlines()) if line.strip("-= \n")), what)
        raise Missing(f"{what}: {said}")

    def connect(self):
        deadline = time.monotonic() + START_SECONDS
        for rank in range(self.workers):
            while True:
                try:  # fails until the worker has opened its end
                    self.commands.append(os.open(self.folder / f"command.{rank}", os.O_WRONLY | os.O_NONBLOCK))
                    break
                except OSError:
                    if time.monotonic() > deadline or any(one.poll() is not None for one in self.processes):
                        self.fail("not started")
                    time.sleep(0.02)

    def batch(self):
        for command in self.commands:
            os.write(command, b"go\n")
        if not select.select([self.answers], [], [], BATCH_SECONDS)[0]:
            self.fail("no answer")
        return json.loads(os.read(self.answers, 4096))

    def children(self):
        """All of its processes that live, for the look at who used the machine."""
        groups = {process.pid for process in self.processes}
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = entry.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
                if int(fields[3]) in groups:
                    found.append(int(entry.parent.name))
        return found

    def close(self):
        for command in self.commands:
            os.close(command)
        deadline = time.monotonic() + 5
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, deadline - time.monotonic()))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        os.close(self.answers)
        self.errors.close()


def start_ours(place, workload, workers, servers, **more):
    if shutil.which("mpirun") is None or not (place.build / "libmxnet_mpi.so").exists():
        raise Missing("there is no MPI: apt install openmpi-bin libopenmpi-dev")
    job = Job(place.scratch, workload, workers)
    part = [sys.executable, *job.arguments]
    line = [*MPIRUN, "-n", str(workers), *part]
    if servers:
        line = [*MPIRUN, "-n", str(servers), "-x", "DMLC_ROLE=server", *part, ":",
                "-n", str(workers), "-x", "DMLC_ROLE=worker", *part]
    detail = {"MXPROF_DISTRIBUTED_DETAIL": workload} if workload in DETAILS else {}
    job.begin(line, settings(**MPI, **detail, **more, MXNET_LIBRARY_PATH=str(place.build / "libmxnet.so"),
                             PYTHONPATH=str(HERE.parent / "python")))
    job.connect()
    return job


def start_original(place, workload, workers, servers):
    python = place.peers / "bin/python"
    if not python.exists():
        raise Missing("MXNet is not installed: make bench PEERS=1")
    job = Job(place.scratch, workload, workers)
    shared = settings(DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(free_port()),
                      DMLC_NUM_WORKER=str(workers), DMLC_NUM_SERVER=str(servers))
    for role in ["scheduler"] + ["server"] * servers + ["worker"] * workers:
        job.begin([str(python), *job.arguments], {**shared, "DMLC_ROLE": role})
    job.connect()
    return job


class Place(typing.NamedTuple):
    build: pathlib.Path
    peers: pathlib.Path
    scratch: pathlib.Path


def turn(job):
    """The median of a side's batches, of at least TURN_SECONDS."""
    end = time.monotonic() + TURN_SECONDS
    taken = [job.batch()["ns"]]
    while time.monotonic() < end:
        taken.append(job.batch()["ns"])
    return statistics.median(taken)


def printed(line, environment):
    result = subprocess.run([str(part) for part in line], env=environment, capture_output=True, text=True, timeout=120,
                            check=False)
    lines = [text for text in result.stdout.splitlines() if text.startswith("{")]
    if result.returncode != 0 or not lines:
        raise Missing(f"{pathlib.Path(str(line[0])).name}: {(result.stderr.strip() or 'no answer').splitlines()[-1]}")
    return json.loads(lines[-1])["ns"]


def in_turn(row, options, *starts):
    """A row of two jobs, which live side by side and take turns; who is first changes with every round."""
    with contextlib.ExitStack() as stack:
        sides = []
        for start in starts:
            sides.append(start())
            stack.callback(sides[-1].close)
            sides[-1].batch()  # not counted
        children = [pid for side in sides for pid in side.children()]

        def run_round(number):
            order = sides if number % 2 == 0 else sides[::-1]
            taken = {id(side): turn(side) for side in order}
            return taken[id(sides[0])], taken[id(sides[1])]

        return summarise(row, *rounds(options, children, run_round), options)


class Beside(typing.NamedTuple):
    """Ours beside the original's store, the same program."""
    name: str
    workload: str
    workers: int
    servers: int
    unit: str = "ns"
    needs_peers: bool = True

    def measure(self, row, place, options):
        job = place, self.workload, self.workers, self.servers
        return in_turn(row, options, lambda: start_ours(*job), lambda: start_original(*job))


class OverOurs(typing.NamedTuple):
    """Ours beside ours with another workload, or with variables set."""
    name: str
    workload: str
    workers: int
    servers: int
    other: str
    variables: dict = {}
    unit: str = "ns"
    needs_peers: bool = False

    def measure(self, row, place, options):
        size = self.workers, self.servers
        return in_turn(row, options, lambda: start_ours(place, self.workload, *size),
                       lambda: start_ours(place, self.other, *size, **self.variables))


class OverFloor(typing.NamedTuple):
    """Ours over a program that runs once a round."""
    name: str
    workload: str
    workers: int
    servers: int
    floor: str
    unit: str = "ns"
    needs_peers: bool = False

    def reference(self, place):
        if self.floor == "gloo":
            python = place.peers.with_name(place.peers.name + "-torch") / "bin/python"
            if not python.exists():
                raise Missing("PyTorch is not installed: make bench PEERS=1")
            return printed([python, HERE / "store/sum_gloo.py"], settings())
        program = place.build / "bench/mpi_floor"
        if not program.exists():
            raise Missing("there is no MPI: apt install openmpi-bin libopenmpi-dev")
        return printed([*MPIRUN, "-n", "2", program, self.floor], settings(**MPI))

    def figures(self, taken, floor):
        if self.floor == "there_and_back":  # as rates: one way and back against a message
            return 2 * LARGE_BYTES / taken, PIECE_BYTES / floor
        return taken, floor

    def measure(self, row, place, options):
        job = start_ours(place, self.workload, self.workers, self.servers)
        try:
            job.batch()

            def run_round(_number):
                return self.figures(turn(job), self.reference(place))

            return summarise(row, *rounds(options, job.children(), run_round), options)
        finally:
            job.close()


class Alone(typing.NamedTuple):
    """What one side says of itself."""
    name: str
    workload: str
    workers: int
    servers: int
    unit: str = "ns"
    needs_peers: bool = False

    def measure(self, row, place, options):
        job = start_ours(place, self.workload, self.workers, self.servers)
        try:
            job.batch()

            def run_round(_number):
                answer = job.batch()
                return answer["ns"], answer.get("off_ns", 1e9)

            return summarise(row, *rounds(options, job.children(), run_round), options)
        finally:
            job.close()


CLAIMS = [
    Beside("DK1 push and pull of 1.6 KB, 1 worker, 1 server, over MXNet's", "small", 1, 1),
    Beside("DK2 push and pull of 1.6 KB, 2 workers, 2 servers, over MXNet's", "small", 2, 2),
    Beside("DK3 push and pull of 16.8 MB, 2 workers, 1 server, over MXNet's", "large", 2, 1),
    Beside("DK4 push and pull of 16.8 MB, 2 workers, 2 servers, over MXNet's", "large", 2, 2),
    Beside("DK5 push and pull of sixty keys of 10.9 MB, 2 workers, 2 servers, over MXNet's", "sixty", 2, 2),
    OverFloor("DK6 16.8 MB one way and back, over MPI's messages of 512 KiB", "large", 1, 1, "there_and_back", "GB/s"),
    OverFloor("DK7 sum of 16 MiB without servers, 2 workers, over MPI_Allreduce", "sum", 2, 0, "sum"),
    OverFloor("DK8 sum of 16 MiB without servers, 2 workers, over PyTorch's Gloo", "sum", 2, 0, "gloo", "ns", True),
    Beside("DK10 LeNet step in Python, 2 workers, 1 server, over MXNet's", "lenet", 2, 1, "ns/step"),
    Alone("DK11 idle store, CPU of a worker's process over one core", "idle", 2, 0, "ns/s"),
    Alone("DK12 LeNet step with rounds recorded, 2 workers, over one with nothing", "rounds", 2, 0, "ns/step"),
    Alone("DK12 LeNet step with messages recorded, 2 workers, over one with nothing", "messages", 2, 0, "ns/step"),
    OverOurs("DK15 pushpull of 200 keys of 1 KB, 2 workers, 2 servers, over the same without buckets",
             "many", 2, 2, "many", {"MXNET_KVSTORE_BUCKET_BYTES": "0"}),
    Alone("DK16 bytes of a compressed push of 16.8 MB, over a plain one", "pushed_bytes", 2, 0, "bytes"),
    OverOurs("DK16 push and pull of 16.8 MB compressed, 2 workers, 2 servers, over the same plain",
             "compressed", 2, 2, "large"),
    Beside("DK17 push and pull of 16.8 MB compressed, 2 workers, 2 servers, over MXNet's", "compressed", 2, 2),
]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    claim = next(claim for claim in CLAIMS if claim.name == goal["name"])
    row = empty_row(goal, claim.unit)
    if claim.needs_peers and not with_peers:
        row["note"] = "needs PEERS=1"
        return row
    with tempfile.TemporaryDirectory(prefix="mxprof-bench-") as scratch:
        try:
            return claim.measure(row, Place(pathlib.Path(build), pathlib.Path(peers), pathlib.Path(scratch)), options)
        except Missing as missing:
            row["note"] = str(missing)
            return row
