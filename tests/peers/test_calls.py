# SPDX-License-Identifier: Apache-2.0
"""MXNet's published Python package of 1.9.1 calls of this library what it calls of its own, in the same order and as
often: no answer of ours leads it another way. `scripts/setup peers` installs the package."""
import os
import pathlib
import re
import struct
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PYTHON = SOURCE / "build/peers/bin/python"
GOLDEN = SOURCE / "tests/golden/expected/graphs_c_calls.tsv"
PROGRAMS = ["eager", "hybrid", "static", "export", "symbol", "executor", "module", "mnist", "csv", "kvstore",
            "trainer_kvstore", "custom", "dlpack"]
# They are called when Python's collector comes by.
COLLECTED = {"NNSymbolFree", "MXNDArrayFree", "MXFreeCachedOp", "MXExecutorFree"}
# A thread of the engine calls the package back there, at any time.
UNORDERED = {"custom"}

pytestmark = pytest.mark.skipif(not PYTHON.exists(),
                                reason="MXNet 1.9.1 is not installed (scripts/setup peers)")


def rows(lines):
    """Names and numbers of calls. This library has sizes of 64 bits (INT64_TENSOR_SIZE), so the package calls the
    functions whose names end so."""
    found = [(re.sub("64$", "", name), int(number)) for name, number, *_ in (line.split("\t") for line in lines)]
    return [row for row in found if row[0] not in COLLECTED]


def golden(program):
    lines = [line.split("\t", 2) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    return rows(rest for line, name, rest in lines if line == "1.9.1" and name == program)


def write_digits(folder):
    folder.mkdir(parents=True)
    (folder / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">4I", 2051, 200, 28, 28) + bytes(200 * 28 * 28))
    (folder / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, 200) + bytes(200))


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_of_the_published_package(tmp_path, program):
    write_digits(tmp_path / "data/mnist_data")
    programs = SOURCE / "tests/golden/graphs"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON"))}
    environment.update(PYTHONPATH=str(programs), MXNET_LIBRARY_PATH=f"{os.environ['MXPROF_BUILD']}/libmxnet.so")
    done = subprocess.run([PYTHON, programs / "log_calls.py", "calls.tsv", programs / "callers.py", program],
                          env=environment, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    found, wanted = rows((tmp_path / "calls.tsv").read_text(encoding="utf-8").splitlines()), golden(program)
    assert dict(found) == dict(wanted)
    assert found == wanted or program in UNORDERED
