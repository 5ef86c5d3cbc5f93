# SPDX-License-Identifier: Apache-2.0
"""A training on two workers and a server, real processes of this machine, one of which sleeps in each step: its
files, together, tell so; and messages are arrows that go forwards."""
import json
import os
import pathlib
import socket
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"]).resolve()
SLEEP_NS = 5_000_000

PROGRAM = """
import time
import mxnet as mx
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((100, 100)), mx.nd.zeros((100, 100))
for key in "ab":
    kv.init(key, value)
for step in range(30):
    mx.profiler.step()
    product = mx.nd.dot(value, value)
    product.wait_to_read()
    if kv.rank == 1:
        time.sleep(%g)
    for key in "ab":
        kv.push(key, product)
        kv.pull(key, out)
        out.wait_to_read()
kv.barrier()
""" % (SLEEP_NS / 1e9)

needs_runtime = pytest.mark.skipif(not (BUILD / "libmxnet.so").exists(), reason="the runtime is not built")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def train(folder):
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": str(BUILD),
                   "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(free_port()),
                   "DMLC_NUM_WORKER": "2", "DMLC_NUM_SERVER": "1", "MXPROF_RUN": str(folder),
                   "MXPROF_DISTRIBUTED_DETAIL": "messages", "OMP_NUM_THREADS": "1"}
    roles = ["scheduler", "server", "worker", "worker"]
    started = [subprocess.Popen([sys.executable, "-c", PROGRAM], env={**environment, "DMLC_ROLE": role})
               for role in roles]
    try:
        assert [process.wait(120) for process in started] == [0] * 4
    finally:
        for process in started:
            process.kill()
    return folder


def mxprof(*arguments):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@needs_runtime
def test_the_worker_that_sleeps_is_named_and_arrows_go_forwards(tmp_path):
    folder = train(tmp_path / "job")
    found = json.loads(mxprof("explain", "--json", folder))["between_ranks"]
    assert found["straggler"] == 1
    assert found["cost_ns"] > SLEEP_NS * 0.9
    assert found["longer"] == "the program between its spans"
    assert sum(owner["rounds"] for owner in found["owners"]) == 60
    assert {key["key"] for key in found["keys"]} == {"a", "b"}
    report = json.loads(mxprof("report", "--json", folder))
    assert [clock["known_by"] for clock in report["clocks"]] == ["same"] * 4
    # Each push is a message and its answer.
    assert report["arrows"]["checked"] >= 2 * 2 * 30 * 2
    assert report["arrows"]["backward"] == report["arrows"]["unchecked"] == 0
