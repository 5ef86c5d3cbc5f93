# SPDX-License-Identifier: Apache-2.0
"""a += b and the others: the array itself changes, and with it what shares its memory."""
import operator
import pathlib
import re

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

REALS = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
BITS = ["iand", "ior", "ixor"]
CASES = [(name, dtype) for name in REALS for dtype in ("float32", "float64")] + [
    (name, "int32") for name in REALS if name != "itruediv"] + [(name, "int64") for name in BITS] + [(name, "bool") for name in BITS]


def test_every_operator_of_the_list_is_tried():
    listed = re.findall(r"^(?:BINARY|POWER)\(\w+, (\w+),", (
        pathlib.Path(mx.__file__).with_name("_operators.def")).read_text("utf-8"), re.MULTILINE)
    assert sorted("i" + name for name in listed) == sorted([*REALS, *BITS, "imatmul"])
    for name in listed:
        assert hasattr(np.ndarray, f"__i{name}__") and hasattr(np.ndarray, f"__r{name}__")


@pytest.mark.parametrize("name, dtype", CASES)
def test_an_operator_in_place_changes_the_array_and_its_views(name, dtype):
    function = getattr(operator, name)
    values = onp.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)
    other = onp.array([[2, 1, 2]]).astype(dtype)
    array, same = np.array(values, dtype=dtype), np.array(values, dtype=dtype)
    array = same
    view = same[1]
    for operand in (other[0, 0].item(), np.array(other, dtype=dtype), other):
        array = function(array, operand)
        values = function(values, operand.asnumpy() if operand is not other and hasattr(operand, "asnumpy") else operand)
        assert array is same and array.dtype == dtype
        onp.testing.assert_allclose(same.asnumpy(), values, rtol=1e-6)
        onp.testing.assert_allclose(view.asnumpy(), values[1], rtol=1e-6)
    part = same[1:]
    part = function(part, np.array(other, dtype=dtype))
    values[1:] = function(values[1:], other)
    onp.testing.assert_allclose(same.asnumpy(), values, rtol=1e-6)


def test_a_product_in_place_reads_its_operands_first():
    values = onp.arange(36.0).reshape(6, 6)
    array = same = np.array(values)
    array @= array
    assert array is same
    onp.testing.assert_allclose(same.asnumpy(), values @ values, rtol=1e-6)
    both = np.array(onp.stack([values, values]))
    both[0] @= np.array(values)
    onp.testing.assert_allclose(both.asnumpy(), onp.stack([values @ values, values]), rtol=1e-6)


@pytest.mark.parametrize("name", [*REALS, "imatmul"])
def test_a_result_that_does_not_fit_is_refused_and_nothing_changes(name):
    array = np.array([[3.0, 4.0]])
    with pytest.raises(mx.MXNetError):
        getattr(operator, name)(array, np.ones((4, 2) if name != "imatmul" else (2, 5)))
    assert array.asnumpy().tolist() == [[3, 4]]
    whole = np.array([3, 4], dtype="uint8")
    if name != "imatmul":
        with pytest.raises(mx.MXNetError, match="has type uint8"):
            getattr(operator, name)(whole, 0.5)
    assert whole.asnumpy().tolist() == [3, 4] and whole.dtype == onp.uint8


def test_nothing_that_a_gradient_depends_on_changes_in_place():
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for name in REALS:
            with pytest.raises(mx.MXNetError, match="already in a computational graph"):
                getattr(operator, name)(y, 2)
    assert y.asnumpy().tolist() == [4, 6]


def test_arrays_of_1x_have_no_power_in_place():
    array = same = mx.nd.array([2, 3])
    array **= 2
    assert array.asnumpy().tolist() == [4, 9] and same.asnumpy().tolist() == [2, 3]
    for name in ("ifloordiv", "iand", "imatmul"):
        with pytest.raises(TypeError):
            getattr(operator, name)(array, array)


def test_power_takes_no_third_argument():
    with pytest.raises(TypeError):
        pow(np.array([2.0]), 2, 3)


def test_shifts():
    values = onp.array([1, 5, -3], "int32")
    array = same = np.array(values)
    assert (array << 2).asnumpy().tolist() == (values << 2).tolist() and (array >> 1).asnumpy().tolist() == (values >> 1).tolist()
    assert (1 << np.array([1, 2], dtype="int64")).asnumpy().tolist() == [2, 4]
    array <<= 3
    array >>= np.array([1, 1, 2], dtype="int32")
    assert array is same and same.asnumpy().tolist() == [4, 20, -6]


def test_truths_beside_truths_are_truths():
    truths, whole = onp.array([True, False]), onp.array([1, 2], "int32")
    ours, numbers = np.array(truths), np.array(whole)
    for function in (operator.and_, operator.or_, operator.xor, operator.eq, operator.ne, operator.add, operator.mul):
        for other in (True, False, onp.True_):
            for found, wanted in ((function(ours, other), function(truths, other)), (function(other, ours), function(other, truths)),
                                  (function(numbers, other), function(whole, other))):
                assert isinstance(found, np.ndarray) and found.dtype == wanted.dtype and found.tolist() == wanted.tolist()
    assert np.bitwise_and(ours, True).dtype == onp.bool_ and np.bitwise_or(False, ours).tolist() == [True, False]
    assert (mx.nd.array([1, 2]) * True).asnumpy().tolist() == [1, 2]
