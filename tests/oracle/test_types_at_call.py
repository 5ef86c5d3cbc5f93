# SPDX-License-Identifier: Apache-2.0
"""A type that no kernel takes is refused by the call, forward and backward, not by a wait for the
result later: every operator of the tables with every type, for all its inputs and for each alone."""
import collections

import numpy
import pytest

import oracle_case
import oracle_runtime

TYPES = ["float16", "bfloat16", "float32", "float64", "bool", "int8", "int16", "int32", "int64",
         "uint8", "uint16", "uint32", "uint64"]
REFUSED = "does not take type"
CASES = collections.defaultdict(list)
for _case in oracle_case.load():
    CASES[_case.operator].append(_case)


def wait(runtime, arrays):
    """Says what was refused, if anything was."""
    for array in arrays:
        try:
            runtime.call("MXNDArrayWaitToRead", array.handle)
        except oracle_runtime.RuntimeFailure as failure:
            if REFUSED in str(failure):
                return str(failure)
    return None


def typed(runtime, values, dtype):
    with numpy.errstate(over="ignore"):
        values = values.astype("float32")
    return runtime.invoke("Cast", [runtime.array(values)], {"dtype": dtype})[0]


def run(runtime, case, inputs, parameters, variables):
    """None, or what was refused after the calls had passed."""
    gradients = [runtime.invoke("zeros_like", [item], {})[0] for item in variables]
    runtime.train_mode(bool(variables), case.train)
    try:
        if variables:
            runtime.mark(variables, gradients)
        outputs = runtime.invoke(case.operator, inputs, parameters)
        runtime.train_mode(False, False)
        late = wait(runtime, outputs)
        if variables and late is None:
            heads = [runtime.invoke("ones_like", [output], {})[0] for output in outputs]
            runtime.backward(outputs, heads, True)
            late = wait(runtime, gradients)
        return late
    except oracle_runtime.RuntimeFailure:
        return None
    finally:
        runtime.train_mode(False, False)


def choices(case, dtype):
    """Types of the inputs: all of them this one, or one of them."""
    usual = [item.dtype for item in case.inputs]
    yield [dtype] * len(usual)
    if len(usual) > 1:
        yield from (usual[:at] + [dtype] + usual[at + 1:] for at in range(len(usual)))


def all_late(runtime, case, dtype):
    runtime.numpy_shapes(case.numpy_shapes)
    values = case.make_inputs()
    parameters = {**case.parameters, "dtype": dtype} if "dtype" in case.parameters else None
    late = []
    for types in choices(case, dtype):
        inputs = [typed(runtime, *item) for item in zip(values, types)]
        late.append(run(runtime, case, inputs, case.parameters, []))
        late.append(run(runtime, case, inputs, case.parameters, inputs))
    if parameters is not None:
        inputs = [typed(runtime, item, item.dtype.name) for item in values]
        late.append(run(runtime, case, inputs, parameters, []))
    return {text for text in late if text is not None}


@pytest.mark.parametrize("operator", sorted(CASES))
def test_types_are_refused_by_the_call(runtime, operator):
    late = set()
    for case in CASES[operator]:
        if "out" not in case.options and "gives" not in case.options:
            for dtype in TYPES:
                late |= all_late(runtime, case, dtype)
    assert late == set()


def test_a_refusal_is_seen_at_the_call(runtime):
    whole = runtime.array(numpy.arange(3, dtype="int32"))
    with pytest.raises(oracle_runtime.RuntimeFailure, match="Activation does not take type int32"):
        runtime.invoke("Activation", [whole], {"act_type": "relu"})
