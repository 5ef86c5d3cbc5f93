# SPDX-License-Identifier: Apache-2.0
"""Random programs of arrays against NumPy: 30,000 of them, 200,000 with MXPROF_TEST_LONG=1, each time the same;
MXPROF_DIFFERENTIAL_SEED takes others. A failure shows the smallest program of each difference."""
import os
import pathlib
import re
import subprocess
import sys
import types

import numpy
import pytest

import case as cases
import differential
import gradients
import intended
import judge
import programs
import templates
import worlds

FOLDER = pathlib.Path(__file__).resolve().parent
LONG = os.environ.get("MXPROF_TEST_LONG") == "1"
COUNT = 200000 if LONG else 30000


def omitted():
    """name -> reason."""
    found = {}
    for line in (FOLDER / "omitted.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            names, _, reason = line.partition(" | ")
            found.update(dict.fromkeys(names.split(), reason))
    return found


def twins(ours, theirs, prefix=""):
    """The names of functions that two modules have."""
    for name in sorted(set(dir(theirs)) | set(dir(ours))):
        both = [getattr(module, name, None) for module in (ours, theirs)]
        if not name.startswith("_") and all(map(callable, both)) and \
                not any(isinstance(one, (type, types.ModuleType)) for one in both):
            yield prefix + name


def test_every_function_that_numpy_has_too_is_generated_or_left_out_with_a_reason():
    there = {*twins(worlds.mxnet.np, numpy), *twins(worlds.mxnet.np.linalg, numpy.linalg, "linalg.")}
    drawn, left_out = set(templates.read()), omitted()
    assert all(left_out.values())
    assert there - drawn - set(left_out) == set(), "functions without a line in functions.txt or omitted.txt"
    assert drawn & set(left_out) == set()
    assert (drawn | set(left_out)) - there == set(), "lines for functions that are not there"


def test_every_method_that_numpy_has_too_is_called():
    shared = set(dir(worlds.mxnet.np.ndarray)) & set(dir(numpy.ndarray))
    called = {name for names in programs.METHODS for name in names.split()} | set(programs.NOT_CALLED)
    assert {name for name in shared if not name.startswith("_")} - called == set()


@pytest.mark.timeout(1800)
def test_programs_give_what_numpy_gives():
    seed = os.environ.get("MXPROF_DIFFERENTIAL_SEED", "1")
    done = subprocess.run([sys.executable, FOLDER / "differential.py", "--seed", seed, "--count", str(COUNT)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.splitlines()[-1].startswith(f"{COUNT} programs")


def test_a_difference_is_made_small(monkeypatch):
    monkeypatch.setattr(judge, "ENTRIES", [])
    case = cases.Case("sum", "b = np.abs(a[1:])\nr = np.sum(b, axis=0, keepdims=True)",
                      {"a": numpy.arange(40, dtype="int16").reshape(5, 8)})
    small = differential.smallest(case, judge.judge(case)[0])
    assert small.inputs["a"].shape == () and small.inputs["a"].dtype == "int32"
    assert len(small.code) < len("r = np.sum(a, axis=0)")
    assert "NumPy: a = 1, int32" in differential.describe(small, {"type"})


def example(entry):
    """The case of an entry: lines that make an array or a number are its inputs."""
    inputs, code = {}, []
    for line in entry.example.splitlines():
        made = re.fullmatch(r"([a-ekw]\d?|n|o) = (np\.\w+\(.*\)|[-+.\de]+|True|False)", line)
        if made and not code:
            inputs[made[1]] = eval(made[2], {"np": numpy, "nan": numpy.nan, "inf": numpy.inf})
        else:
            code.append(line)
    name = entry.shown_as or entry.names.split(", ")[0]
    heads = gradients.Heads() if name == "gradient" else None
    return cases.Case(name, "\n".join(code), inputs, heads=heads)


@pytest.mark.parametrize("entry", intended.ENTRIES, ids=[entry.reason for entry in intended.ENTRIES])
def test_intended_difference_is_still_needed(entry):
    case = example(entry)
    words = judge.differences(case)
    assert words, f"there is no difference any more: {case.answers}"
    assert words <= set(entry.words.split())
    left, used = judge.judge(case)
    assert not left and used == [entry], f"{left} {[one.reason for one in used]}"
