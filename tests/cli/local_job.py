# SPDX-License-Identifier: Apache-2.0
"""A job of real processes of this machine: a scheduler, servers and workers that run one Python program, without MPI."""
import os
import pathlib
import socket
import subprocess
import sys

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"]).resolve()
HAS_RUNTIME = (BUILD / "libmxnet.so").exists()


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run(program, *arguments, folder, workers=2, servers=1, **variables):
    """All end with 0; their profiles are in `folder`, which is made; they run beside it."""
    folder.mkdir(parents=True)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": str(BUILD),
                   "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(free_port()),
                   "DMLC_NUM_WORKER": str(workers), "DMLC_NUM_SERVER": str(servers), "MXPROF_RUN": str(folder),
                   "OMP_NUM_THREADS": "1", **variables}
    roles = ["scheduler"] + ["server"] * servers + ["worker"] * workers
    started = [subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], cwd=folder.parent,
                                env={**environment, "DMLC_ROLE": role})
               for role in roles]
    try:
        assert [process.wait(120) for process in started] == [0] * len(roles)
    finally:
        for process in started:
            process.kill()
