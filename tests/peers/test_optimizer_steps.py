# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers: MXNet's published package of 1.9.1 on its own library, the same package on this library,
and the package of this tree come to the same weights."""
import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

import optimizer_steps

FOLDER = pathlib.Path(__file__).parent
PYTHON = FOLDER.parents[1] / "build/peers/bin/python"
CLOSE = {"float32": 1e-5, "float16": 2e-3}  # of float16 the last digit may be another

pytestmark = pytest.mark.skipif(not PYTHON.exists(),
                                reason="MXNet 1.9.1 is not installed (scripts/setup peers)")


@functools.lru_cache(None)
def steps(python, *options, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MXNET_", "PYTHON"))}
    done = subprocess.run([python, FOLDER / "optimizer_steps.py", *options], env={**environment, **variables},
                          check=False, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def assert_close(found, wanted):
    assert list(found) == list(wanted)
    for dtype, values in wanted.items():
        assert found[dtype] == pytest.approx(values, rel=CLOSE[dtype], abs=CLOSE[dtype]), dtype


@pytest.mark.parametrize("case", [*optimizer_steps.CASES, *optimizer_steps.THEIRS])
def test_their_package_steps_on_this_library(case):
    library = f"{os.environ['MXPROF_BUILD']}/libmxnet.so"
    found = steps(PYTHON, "--theirs", MXNET_LIBRARY_PATH=library)[case]
    assert_close(found, steps(PYTHON, "--theirs")[case])


@pytest.mark.parametrize("case", optimizer_steps.CASES)
def test_the_package_of_this_tree_steps_alike(case):
    found = steps(sys.executable, PYTHONPATH=str(FOLDER.parents[1] / "python"))[case]
    assert_close(found, steps(PYTHON, "--theirs")[case])
