# SPDX-License-Identifier: Apache-2.0
"""Every gradient is what differences of results say, in float64, for every case of the tables whose
operator has a derivative there. Neither the fixture nor another gradient is looked at."""

import numpy
import pytest

import oracle_case
import oracle_run

STEP = 1e-5
TOLERANCE = 1e-6
ELEMENTS_MAX = 48  # of an input that are changed; others are spread over all of it


def has_derivative(case):
    return case.variables and "nodiff" not in case.options and \
        all(item.dtype in ("float32", "float64") for item in case.inputs
            if item.dtype.startswith("float"))


CASES = [case for case in oracle_case.load() if has_derivative(case)]


def widen(values):
    return values.astype("float64") if values.dtype.kind == "f" else values


class Function:
    """The sum of an operator's results, weighted; its inputs can be changed one number at a time."""

    def __init__(self, runtime, case, inputs, weights):
        self.runtime, self.case, self.weights = runtime, case, weights
        self.inputs = [values.copy() for values in inputs]
        self.arrays = [runtime.array(values) for values in inputs]

    def _value(self):
        outputs = self.runtime.invoke(self.case.operator, self.arrays, self.case.parameters)
        return sum(float((weight * output.numpy()).sum())
                   for weight, output in zip(self.weights, outputs))

    def slope(self, index, place):
        flat = self.inputs[index].reshape(-1)
        was, values = flat[place], []
        for sign in (1, -1):
            flat[place] = was + sign * STEP
            self.arrays[index].set(self.inputs[index])
            values.append(self._value())
        flat[place] = was
        self.arrays[index].set(self.inputs[index])
        return (values[0] - values[1]) / (2 * STEP)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_gradient_is_what_differences_say(runtime, case):
    inputs = [widen(values) for values in case.make_inputs()]
    answer = oracle_run.run(runtime, case, inputs)
    function = Function(runtime, case, inputs, answer["heads"])
    runtime.train_mode(False, case.train)
    for index in case.variables:
        gradient = answer["gradients"][index].reshape(-1)
        places = numpy.unique(numpy.linspace(0, gradient.size - 1, min(gradient.size, ELEMENTS_MAX))
                              .astype(int))
        slopes = [function.slope(index, place) for place in places]
        numpy.testing.assert_allclose(gradient[places], slopes, TOLERANCE, TOLERANCE,
                                      err_msg=f"gradient of input {index}")
