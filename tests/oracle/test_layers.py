# SPDX-License-Identifier: Apache-2.0
"""Layers, losses, optimizers and metrics give what those of the original do: package.txt says which,
package.jsonl what 1.9.1 gave (scripts/oracle writes it)."""
import json
import os
import pathlib
import sys

import numpy
import pytest

import package_run

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("MXNET_LIBRARY_PATH", os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so"))
sys.path.insert(0, str(SOURCE / "python"))

LINES = package_run.read()
FIXTURE = [json.loads(line) for line in
           pathlib.Path(__file__).with_name("package.jsonl").read_text(encoding="utf-8").splitlines()]
WANTED = {line["id"]: line["values"] for line in FIXTURE}
# Of a number, and a tenth of it of the largest of the line: sums that cancel are as exact as what they are sums of.
TOLERANCE = {"float16": 5e-3, "float32": 1e-4, "float64": 1e-6}


def test_fixture_has_every_line_and_no_other():
    assert list(WANTED) == [package_run.name_of(line) for line in LINES], "type: scripts/oracle"


@pytest.mark.parametrize("line", LINES, ids=[package_run.name_of(line) for line in LINES])
def test_gives_what_the_original_gives(line):
    import mxnet  # pylint: disable=import-outside-toplevel
    given, wanted = package_run.run(mxnet, line), WANTED[package_run.name_of(line)]
    assert len(given) == len(wanted)
    largest = max(abs(number) for _, _, *numbers in wanted for number in numbers)
    for at, (values, (dtype, shape, *numbers)) in enumerate(zip(given, wanted)):
        assert (str(values.dtype), list(values.shape)) == (dtype, shape), f"array {at}"
        expected = numpy.array(numbers, dtype).reshape(shape)
        relative = TOLERANCE[dtype]
        numpy.testing.assert_allclose(values, expected, relative, relative * 0.1 * largest, err_msg=f"array {at}")
