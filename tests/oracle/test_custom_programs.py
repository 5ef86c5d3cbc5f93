# SPDX-License-Identifier: Apache-2.0
"""Random programs of custom operators give what the original gives: results, states that change and
every gradient. custom_programs.py draws and runs them, custom.jsonl has what 1.9.1 gave
(scripts/oracle writes it)."""
import json
import os
import pathlib
import subprocess
import sys

import numpy
import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", FOLDER.parents[1]))
LIBRARY = os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so")
# Of a number, and of the largest of its array: sums that cancel are as exact as what they are sums of.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def lines_of(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return {line.pop("id"): line for line in lines}


WANTED = lines_of((FOLDER / "custom.jsonl").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["", "NaiveEngine"], ids=["threads", "naive"])
def given(request):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": LIBRARY,
                   "MXNET_ENGINE_TYPE": request.param}
    done = subprocess.run([sys.executable, str(FOLDER / "custom_programs.py")], env=environment,
                          capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return lines_of(done.stdout)


def test_fixture_has_every_program_and_no_other(given):
    assert list(WANTED) == list(given), "type: scripts/oracle custom"
    assert len(WANTED) >= 60


@pytest.mark.parametrize("seed", list(WANTED))
def test_gives_what_the_original_gives(seed, given):
    assert "error" not in given[seed], given[seed]["error"]
    got, wanted = given[seed]["values"], WANTED[seed]["values"]
    assert len(got) == len(wanted)
    for at, ((dtype, shape, *numbers), (wanted_dtype, wanted_shape, *wanted_numbers)) in \
            enumerate(zip(got, wanted)):
        assert (dtype, shape) == (wanted_dtype, wanted_shape), f"array {at}"
        relative = TOLERANCE[dtype]
        largest = numpy.abs(wanted_numbers).max()
        numpy.testing.assert_allclose(numbers, wanted_numbers, relative, relative * largest,
                                      err_msg=f"array {at}")
