# SPDX-License-Identifier: Apache-2.0
"""The tables leave no operator of operators.txt out: each has four parameter sets or more, among them
an array without elements, one of one element, and one that is part of another; and the gradients of
the tables run every backward operator."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import oracle_case
import oracle_fixture
import test_differences

SETS_MIN = 4
UNIT = pathlib.Path(__file__).parents[1] / "unit/runtime/op"
NAMES = [line for line in (pathlib.Path(__file__).parent / "operators.txt").read_text().splitlines()
         if not line.startswith("#")]
RANDOM = "its results are random: test_random_operators.py looks at moments, bounds and seeds"
# Operators that need not have cases of every kind, with the reason.
EXEMPT = {
    "_random_normal": ("all", RANDOM),
    "_random_uniform": ("all", RANDOM),
    "_random_randint": ("all", RANDOM),
    "_npi_normal": ("all", RANDOM),
    "_npi_uniform": ("all", RANDOM),
    "_shuffle": ("all", RANDOM),
    "_arange": ("empty", "an empty range is an error in the original"),
}
# Registered operators without a case in a table, and where they are tested.
OTHERWISE = {
    "Custom": "tests/unit/runtime/imperative/custom", "_CustomFunction": "tests/unit/runtime/imperative/custom",
    "_CachedOp": "tests/python/test_static_networks.py",
    "RNN": "tests/python/test_recurrent_operator.py", "_rnn_param_concat": "gradient_cases.def",
    "_npx_nonzero": "tests/python/test_nonzero.py", "_npx_constraint_check": "tests/python/test_nonzero.py",
    "_copyto": "forward_test.c", "_set_value": "forward_test.c",
    "_broadcast_backward": "a gradient", "_npi_rollaxis_backward": "a gradient", "_split_v2_backward": "a gradient",
    **{name: RANDOM for name in ("_npi_normal", "_npi_uniform", "_random_normal", "_random_randint",
                                 "_random_uniform", "_shuffle")},
}
# Operators whose gradient is not the derivative of what they compute.
NO_DERIVATIVE = {"SoftmaxOutput", "BlockGrad"}
# Steps: the derivative is 0, or lost where the type changes.
STEPS = {"broadcast_equal", "broadcast_greater", "_greater_scalar", "Cast"}
FIXTURE = oracle_fixture.load()
CASES = collections.defaultdict(list)
for _case in oracle_case.load():
    CASES[_case.operator].append(_case)


def sizes(case):
    return {array.size for array in FIXTURE[case.id]["inputs"] + FIXTURE[case.id]["outputs"]}


def lacking(cases, excused):
    kinds = {"empty": any(0 in sizes(case) for case in cases),
             "one": any(1 in sizes(case) for case in cases),
             "view": any(case.view for case in cases),
             "four": len(cases) >= SETS_MIN}
    return [kind for kind, there in kinds.items() if not there and kind != excused]


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("_backward_")])
def test_operator_has_cases_of_every_kind(name):
    excused, _ = EXEMPT.get(name, (None, None))
    assert excused == "all" or lacking(CASES[name], excused) == []


def test_gradients_are_compared_with_differences():
    differentiated = collections.Counter(case.operator for case in test_differences.CASES)
    few = [name for name in NAMES if any(case.variables for case in CASES[name])
           and differentiated[name] < SETS_MIN]
    assert set(few) - NO_DERIVATIVE - STEPS == set()


def test_every_registered_operator_has_a_case():
    registered = [line.split("\t") for line in (UNIT / "operators.tsv").read_text().splitlines()
                  if not line.startswith("#")]
    tabled = set(re.findall(r'^\{"(\w+)"', (UNIT / "forward_cases.def").read_text(), re.MULTILINE))
    tabled |= {name for name, cases in CASES.items() if cases}
    lacking_one = [name for name, aliases, *_ in registered if not name.startswith("_backward_")
                   and not tabled.intersection([name, *aliases.split()])]
    assert set(lacking_one) - set(OTHERWISE) == set(), (
        "they need a line in tests/unit/runtime/op/forward_cases.def or tests/oracle/cases")
    assert set(OTHERWISE) - set(lacking_one) == set(), "they have a case, so they are no exceptions"


def executed(folder):
    """Names in the profile of all gradients of the tables, of a process of its own."""
    program = pathlib.Path(__file__).parent / "oracle_profile.py"
    library = os.path.join(os.environ["MXPROF_BUILD"], "libmxnet.so")
    text = subprocess.run([sys.executable, program, library], capture_output=True, text=True,
                          check=True, cwd=folder).stdout
    return json.loads(text)


def test_gradients_run_every_backward_operator(tmp_path):
    counts = executed(tmp_path)
    backward = [name for name in NAMES if name.startswith("_backward_")]
    assert len(backward) > 20
    few = [name for name in backward if counts.get(name, 0) < SETS_MIN]
    assert few == [], "backward operators that run less often than that"
