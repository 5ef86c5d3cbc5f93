# SPDX-License-Identifier: Apache-2.0
"""Distributed programs on this machine: a scheduler, servers and workers, each a process of its own, started by
the variables that MXNet's starters set."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import List, NamedTuple

from python_program import BUILD, _variables

SECONDS = 60  # of one program; the process groups are ended after it


# Tells the error of `body`, with a store `kv` of the kind and zeros `z`.
WRONG = """
import mxnet as mx
kv = mx.kv.create({kind!r})
z = mx.nd.zeros((2, 3))
try:
    {body}
    mx.nd.waitall()
    print('no error')
except mx.MXNetError as error:
    print(error)
"""


class Role(NamedTuple):
    """What one process left."""

    name: str  # "worker 0": the order of starting, which is not the rank
    code: int
    out: str
    err: str


class Job(NamedTuple):
    """What all processes of a program left."""

    roles: List[Role]
    directory: pathlib.Path

    def of(self, kind):
        return [role for role in self.roles if role.name.startswith(kind)]

    def text(self):
        return "\n".join(f"--- {role.name}: {role.code}\n{role.out}{role.err}" for role in self.roles)

    def check(self):
        """All ended well."""
        assert all(role.code == 0 for role in self.roles), self.text()
        return self


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(source, directory, workers, servers, environment, each=None):
    """The processes by name. `source` is what each runs; servers end within their import of the package."""
    shared = dict(DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(free_port()), DMLC_NUM_WORKER=str(workers),
                  DMLC_NUM_SERVER=str(servers), OMP_NUM_THREADS="1", **environment)
    names = (["scheduler"] + [f"server {number}" for number in range(servers)]
             + [f"worker {number}" for number in range(workers)])
    processes = {}
    for name in names:
        own = dict(shared, DMLC_ROLE=name.split()[0], TEST_NUMBER=name.split()[-1], **(each or {}).get(name, {}))
        processes[name] = subprocess.Popen(  # pylint: disable=consider-using-with
            [sys.executable, "-c", source], cwd=directory, env=_variables(own), text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return processes


def finish(processes, directory, seconds=SECONDS):
    """Waits for all of them; none is left behind."""
    end = time.monotonic() + seconds
    roles = []
    try:
        for name, process in reversed(list(processes.items())):
            try:
                out, err = process.communicate(timeout=max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                err += f"\nended by the test after {seconds} s"
            roles.append(Role(name, process.returncode, out, err))
    finally:
        for process in processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
    return Job(sorted(roles), pathlib.Path(directory))


def run_job(source, directory, workers=2, servers=1, seconds=SECONDS, each=None, **environment):
    """Runs `source` in every process of a program."""
    return finish(start(source, directory, workers, servers, environment, each), directory, seconds)


def has_mpi():
    """Whether programs can be started by mpirun and find each other by it."""
    return shutil.which("mpirun") is not None and (BUILD / "libmxnet_mpi.so").is_file()


def run_mpi(source, directory, workers=2, servers=0, seconds=SECONDS, **environment):
    """Runs `source` in processes that mxnet-launch starts: one Role for all of them, whose texts are mixed."""
    command = [sys.executable, "-m", "mxnet.launch", "-n", str(workers), "-s", str(servers), "--allow-run-as-root",
               "--", sys.executable, "-c", source]
    process = subprocess.Popen(  # pylint: disable=consider-using-with
        command, cwd=directory, env=_variables(dict(environment, OMP_NUM_THREADS="1")), text=True,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return finish({"worker": process}, directory, seconds)
