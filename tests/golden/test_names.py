# SPDX-License-Identifier: Apache-2.0
"""Names of operators and of API calls, front-end call by front-end call, against what the original
recorded of them. Two things are shown that the original hides: the members of a bulk, and bulks
while aggregate statistics are on. So its list without statistics is that of the operations outside
of bulks, and its list with statistics that of all but the bulks."""
import json

import pytest

from harness import EXPECTED, run_program
from names_calls import (CALLS, LINES, NOT_HERE, NOT_IN_C, OTHERWISE, PACKED_FUNCTIONS, UNCOUNTED,
                         steps_of)

PROGRAM = """
import names_program
names_program.main({line!r}, {aggregate}, {expected!r})
"""


def expected_calls(name):
    return [json.loads(line) for line in (EXPECTED / name).read_text().splitlines()]


def golden(line, aggregate=False):
    name = f"names{'_aggregate' if aggregate else ''}_{line}.jsonl"
    return {entry["call"]: entry for entry in expected_calls(name)}


@pytest.fixture(scope="module", name="runs")
def runs_fixture(tmp_path_factory):
    """(line, aggregate, engine) -> call -> what was recorded; each program runs once."""
    found = {}

    def run(line, aggregate, engine="ThreadedEnginePerDevice"):
        key = line, aggregate, engine
        if key not in found:
            path = EXPECTED / f"names{'_aggregate' if aggregate else ''}_{line}.jsonl"
            source = PROGRAM.format(line=line, aggregate=aggregate, expected=str(path))
            done = run_program(source, tmp_path_factory.mktemp("names"),
                               {"MXNET_ENGINE_TYPE": engine})
            found[key] = {entry["call"]: entry for entry in map(json.loads, done.lines)}
            found[key]["stderr"] = done.stderr
        return found[key]
    return run


def expand(names):
    for name in names:
        name, _, count = name.partition(" x")
        yield from [name] * int(count or 1)


def counted(names):
    return [name for name in expand(names) if name not in UNCOUNTED | NOT_HERE]


def expected_api(names, steps):
    """Numpy's functions of the 2.0 line are called through MXImperativeInvoke."""
    names = list(expand(names))
    if not any(name.startswith(PACKED_FUNCTIONS) for name in names):
        return [{"MXNDArrayLegacySave": "MXNDArraySave"}.get(name, name) for name in names]
    at = next(i for i, name in enumerate(names) if name.startswith(PACKED_FUNCTIONS))
    operators = sum(not step.startswith("new") for step in steps)
    names[at:at + 1] = ["MXImperativeInvoke"] * operators
    return [name for name in names if not name.startswith(PACKED_FUNCTIONS)]


CASES = [(line, call) for line in LINES for call in golden(line) if call not in NOT_IN_C]
AGGREGATED = [(line, call) for line in LINES for call in golden(line, True) if call not in NOT_IN_C]


@pytest.mark.parametrize("line,call", CASES)
def test_names(runs, line, call):
    run, entry = runs(line, False), golden(line)[call]
    assert call in run, run["stderr"]
    assert "error" not in run[call], run[call]["error"]
    operators = OTHERWISE.get((line, call), counted(entry["operators"]))
    assert counted(run[call]["operators"]) == operators
    assert run[call]["api"] == expected_api(entry["api"], steps_of(call, line))


@pytest.mark.parametrize("line,call", AGGREGATED)
def test_names_of_members(runs, line, call):
    run = runs(line, True)
    assert call in run, run["stderr"]
    assert "error" not in run[call], run[call]["error"]
    assert counted(run[call]["members"]) == counted(golden(line, True)[call]["operators"])


@pytest.mark.parametrize("line", LINES)
def test_naive_engine_has_the_same_names(runs, line):
    """In the order of the calls, and nothing in bulks."""
    naive, threaded = runs(line, False, "NaiveEngine"), runs(line, False)
    for call in golden(line):
        if call not in NOT_IN_C:
            assert counted(naive[call]["operators"]) == counted(threaded[call]["members"]), call
            assert naive[call]["api"] == threaded[call]["api"], call


def test_every_call_is_made():
    """The list of calls that cannot be made is complete, and none of it is left over."""
    calls = set(golden(LINES[0])) | set(golden(LINES[1]))
    assert set(NOT_IN_C) <= calls
    assert set(CALLS) <= calls
    questions = {call for call in calls if call not in CALLS and call not in NOT_IN_C}
    for line in LINES:
        for call in questions:
            assert not counted(golden(line).get(call, {"operators": []})["operators"]) or \
                call == "mx.random.seed(3)", call
