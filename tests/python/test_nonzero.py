# SPDX-License-Identifier: Apache-2.0
"""The operators that look at values before their results have a shape or are trusted: places of what is not 0, and
conditions of the program's."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet._registry import invoke


def nonzero(values):
    return invoke(mx.np.ndarray, "_npx_nonzero", values)


def constraint_check(truths, msg):
    return invoke(mx.np.ndarray, "_npx_constraint_check", truths, msg=msg)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "uint8", "bool"])
def test_places_of_what_is_not_zero(dtype):
    values = onp.array([[0, 3, 0], [1, 0, 2]], dtype=dtype)
    places = nonzero(mx.np.array(values, dtype=dtype))
    assert places.dtype == onp.int64
    assert places.asnumpy().tolist() == onp.transpose(values.nonzero()).tolist()


def test_places_wait_for_the_values():
    values = mx.np.ones((300, 300))
    for _ in range(10):
        values = mx.np.dot(values, values) * 0 + 1
    assert nonzero(values).shape == (300 * 300, 2)


def test_zeros_of_both_signs_and_what_is_no_number():
    values = mx.np.array([-0.0, onp.nan, 0.0, onp.inf], dtype="float16")
    assert nonzero(values).asnumpy().tolist() == [[1], [3]]


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3)])
def test_no_elements_have_no_places(shape):
    assert nonzero(mx.np.zeros(shape)).shape == (0, len(shape))


def test_a_condition_that_holds_is_true():
    truths = mx.np.array([True, True], dtype="bool")
    checked = constraint_check(truths, "not all")
    assert checked.shape == () and checked.dtype == onp.bool_ and bool(checked.asnumpy())


def test_a_condition_that_does_not_hold_is_an_error_with_its_text():
    with pytest.raises(mx.MXNetError, match="sizes must be above 0"):
        constraint_check(mx.np.array([True, False], dtype="bool"), "sizes must be above 0").asnumpy()
