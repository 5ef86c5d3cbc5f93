# SPDX-License-Identifier: Apache-2.0
"""docs/first-run.md: what one meets next says what Python prints."""
import re
import traceback

import pytest

import mxnet as mx
from mxnet import gluon, profiler
from python_program import SOURCE

PAGE = (SOURCE / "docs/first-run.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)`[^|]*\| `(\w+Error: [^`]+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_what_one_writes_gives_the_error_that_stands_there(row):
    code, said = ROWS[row]
    names = {"mx": mx, "profiler": profiler, "net": gluon.nn.Dense(2), "x": mx.nd.ones((1, 3)),
             "a": mx.nd.ones((2, 3)), "b": mx.nd.ones((2, 3))}
    with pytest.raises(Exception) as caught:
        exec(code, names)
    printed = "".join(traceback.format_exception_only(caught.type, caught.value)).split(".", 2)[-1]
    pattern = ".*".join(re.escape(part) for part in re.split(" ?\u2026 ?", said))
    pattern = re.sub(r"dense0_bias", r"dense\\d+_\\w+", pattern)
    assert re.search(pattern, printed, re.DOTALL), printed


def test_there_are_such_rows():
    assert len(ROWS) >= 4
