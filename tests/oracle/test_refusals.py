# SPDX-License-Identifier: Apache-2.0
"""Every operator refuses an impossible shape or number of inputs and an impossible parameter with an
error that names it, the argument and the value (refusals.txt), and works as before afterwards."""
import collections
import pathlib

import numpy
import pytest

import oracle_case
import oracle_runtime
from test_coverage import NAMES

# Errors speak of the operator by its first name.
FIRST_NAMES = {"_npi_concatenate": "Concat", "_npi_stack": "stack"}
Refusal = collections.namedtuple("Refusal", "operator inputs parameters words")


def load():
    refusals = []
    for line in (pathlib.Path(__file__).parent / "refusals.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        operators, inputs, parameters, words = (field.strip() for field in line.split("|"))
        for operator in operators.split():
            refusals.append(Refusal(operator, inputs, parameters, words))
    return refusals


REFUSALS = load()


@pytest.mark.parametrize("refusal", REFUSALS, ids=["-".join(item[:3]).replace(" ", "_")
                                                   for item in REFUSALS])
def test_error_names_operator_argument_and_value(runtime, refusal):
    case = oracle_case.Case(refusal.operator, refusal.inputs, refusal.parameters, "")
    runtime.numpy_shapes(case.numpy_shapes)
    inputs = [runtime.array(values) for values in case.make_inputs()]
    with pytest.raises(oracle_runtime.RuntimeFailure) as failure:
        for output in runtime.invoke(case.operator, inputs, case.parameters):
            output.numpy()
    text = str(failure.value)
    name = FIRST_NAMES.get(case.operator, case.operator)
    missing = [word for word in [name] + refusal.words.split() if word not in text]
    assert missing == [], text
    one = runtime.invoke("_plus_scalar", [runtime.array(numpy.float32([1, 2]))], {"scalar": "1"})
    assert one[0].numpy().tolist() == [2, 3]


def test_every_operator_has_two_refusals():
    count = collections.Counter(refusal.operator for refusal in REFUSALS)
    assert [name for name in NAMES
            if not name.startswith("_backward_") and count[name] < 2] == []
