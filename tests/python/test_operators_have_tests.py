# SPDX-License-Identifier: Apache-2.0
"""Each operator is called by a test: a new one without is named here. Its name stands in a test as a string, an entry of a
table or a call; gradients have a table of their own, whose test names what lacks in it (unit/runtime/op/gradient_test)."""
import pathlib
import re

TESTS = pathlib.Path(__file__).resolve().parents[1]
DESCRIPTIONS = TESTS / "unit/runtime/op/operators.tsv"  # which registry/document_test holds against the library
SUFFIXES = (".def", ".c", ".h", ".py", ".json")


def operators():
    lines = DESCRIPTIONS.read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[0] for line in lines if line and line[0] != "#" and not line.startswith("_backward")]


def called_names():
    found = set()
    for path in TESTS.rglob("*"):
        if path.suffix in SUFFIXES and path != pathlib.Path(__file__):
            found |= set(re.findall(r"""["'(.](\w+)\b""", path.read_text(encoding="utf-8", errors="replace")))
    for path in (TESTS / "oracle/cases").glob("*.txt"):
        found |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return found


def test_every_operator_is_called_by_a_test():
    known, called = operators(), called_names()
    assert len(known) > 300
    missing = [name for name in known if name not in called]
    assert missing == [], "a row in tests/unit/runtime/op/forward_cases.def calls an operator"
