# SPDX-License-Identifier: Apache-2.0
"""Compressed gradients: processes of MXNet's published package of 1.9.1 and of the package of this tree pull the same
bits. There are two workers, because the sum of two does not depend on who is first, as it does in the original."""
import os
import pathlib
import socket
import subprocess
import sys

import numpy
import pytest

FOLDER = pathlib.Path(__file__).parent
PYTHON = FOLDER.parents[1] / "build/peers/bin/python"
SECONDS = 120

pytestmark = pytest.mark.skipif(not PYTHON.exists(),
                                reason="MXNet 1.9.1 is not installed (scripts/setup peers)")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def pulled(python, directory, servers, **variables):
    """What each of two workers has pulled, by key and step."""
    directory.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON", "DMLC_"))}
    shared = {**kept, "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(free_port()), "DMLC_NUM_WORKER": "2",
              "DMLC_NUM_SERVER": str(servers), "DMLC_INTERFACE": "lo", "DMLC_NODE_HOST": "127.0.0.1",
              "MXNET_KVSTORE_BIGARRAY_BOUND": "2000", "OMP_NUM_THREADS": "1", **variables}
    started = [subprocess.Popen([python, FOLDER / "compressed_pushes.py"], cwd=directory, stdin=subprocess.DEVNULL,
                                env={**shared, "DMLC_ROLE": role})
               for role in ["scheduler"] + ["server"] * servers + ["worker"] * 2]
    try:
        assert [process.wait(SECONDS) for process in started] == [0] * len(started)
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [dict(numpy.load(directory / f"pulled{rank}.npz")) for rank in range(2)]


def assert_same_bits(found, wanted):
    assert list(found[0]) == list(wanted[0]) and len(wanted[0]) == 48
    for ours, theirs in zip(found, wanted):
        for name, values in theirs.items():
            assert ours[name].tobytes() == values.tobytes(), name


@pytest.mark.parametrize("servers", [1, 2])
def test_processes_of_this_tree_pull_the_same_bits(servers, tmp_path):
    theirs = pulled(PYTHON, tmp_path / "theirs", servers)
    assert sorted(numpy.unique(theirs[0]["d3"])) == pytest.approx([-0.6, -0.3, 0.0, 0.3, 0.6])
    ours = pulled(sys.executable, tmp_path / "ours", servers, PYTHONPATH=str(FOLDER.parents[1] / "python"),
                  MXNET_LIBRARY_PATH=os.environ["MXPROF_BUILD"])
    assert_same_bits(ours, theirs)


def test_their_package_on_this_library_pulls_the_same_bits(tmp_path):
    theirs = pulled(PYTHON, tmp_path / "theirs", 1)
    mixed = pulled(PYTHON, tmp_path / "mixed", 1, MXNET_LIBRARY_PATH=f"{os.environ['MXPROF_BUILD']}/libmxnet.so")
    assert_same_bits(mixed, theirs)
