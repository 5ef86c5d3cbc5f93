# SPDX-License-Identifier: Apache-2.0
"""MXNet's published Python package of 1.9.1, which nobody here wrote, on this library: it learns what it learns on
its own, and its profiler's table has the same operators. `scripts/setup peers` installs the package."""
import collections
import json
import os
import pathlib
import subprocess

import pytest

FOLDER = pathlib.Path(__file__).parent
PYTHON = FOLDER.parents[1] / "build/peers/bin/python"
STEPS = 20
CLOSE = 1e-4
# Operations of the engine that are no operators: their number depends on when threads meet, on who deletes what,
# or, of Reorder, on the layouts of oneDNN that the original keeps arrays in.
NO_OPERATORS = {"DeleteVariable", "WaitForVar", "DeleteOperator", "SetupExec", "Reorder", "Reorder2Default"}
# Zeros for outputs that the program does not see: other operators have such outputs here.
NO_OPERATORS |= {"_zeros_without_dtype"}
BULK = "ImperativeBulk"  # here the parent of its members, which are counted by themselves

pytestmark = pytest.mark.skipif(not PYTHON.exists(),
                                reason="MXNet 1.9.1 is not installed (scripts/setup peers)")


def run(program, library):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON"))}
    if library is not None:
        environment["MXNET_LIBRARY_PATH"] = str(library)
    done = subprocess.run([PYTHON, FOLDER / "front_end.py", program], env=environment, check=False,
                          capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert library is None or pathlib.Path(found["library"]) == pathlib.Path(library)
    return found


def both(program):
    return [run(program, library) for library in (None, pathlib.Path(os.environ["MXPROF_BUILD"]) / "libmxnet.so")]


def operators(found):
    """How often each ran. The original has one row for operators that it joined, with the names of all."""
    counts = collections.Counter()
    for name, count in found["rows"]["operator"].items():
        if name == BULK or name.startswith("["):
            continue
        for member in name.split(","):
            counts[member] += count
    return {name: count for name, count in counts.items() if name not in NO_OPERATORS}


def assert_close(found, wanted):
    assert list(found["values"]) == list(wanted["values"])
    for name, values in wanted["values"].items():
        assert found["values"][name] == pytest.approx(values, rel=CLOSE, abs=CLOSE), name


@pytest.mark.parametrize("program", ["lenet", "lenet_hybrid", "module"])
def test_training(program):
    wanted, found = both(program)
    assert len(wanted["values"]["losses"]) == STEPS
    assert wanted["values"]["losses"][-1] < wanted["values"]["losses"][0]
    assert_close(found, wanted)
    assert operators(found) == operators(wanted)


def test_training_with_static_memory():
    """The original cuts the names of its joined operators after 127 characters, so those of backward are not known."""
    wanted, found = both("lenet_static")
    assert_close(found, wanted)
    forward, wanted_forward = ({name: count for name, count in operators(of).items()
                                if not name.startswith("_backward_")} for of in (found, wanted))
    assert forward == wanted_forward


def test_what_is_saved_is_read_back():
    """Pickles of arrays, states of a trainer, an exported network."""
    wanted, found = both("keep")
    assert_close(found, wanted)
    assert found["values"]["read"] == pytest.approx(found["values"]["output"], rel=CLOSE, abs=CLOSE)


def test_what_was_built_in_is_asked_for_by_its_names():
    program = "import mxnet; print(*mxnet.runtime.Features())"
    listed = [set(subprocess.run([PYTHON, "-c", program], env={"PATH": os.environ["PATH"], **library}, check=True,
                                 capture_output=True, text=True).stdout.split())
              for library in ({}, {"MXNET_LIBRARY_PATH": os.environ["MXPROF_BUILD"] + "/libmxnet.so"})]
    assert "MKLDNN" in listed[0] and listed[0] - listed[1] == set()
