# SPDX-License-Identifier: Apache-2.0
"""Gradients of whole numbers, truths and narrow floats, and head gradients of other types."""
import operator

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd, np

WHOLE = ["int8", "uint8", "int32", "int64"]


def gradient_of(function, values, dtype, request="write", times=1):
    x = np.array(values, dtype=dtype)
    x.attach_grad(request)
    for _ in range(times):
        with autograd.record():
            y = function(x)
        y.backward()
    assert x.grad.dtype == onp.dtype(dtype)
    return x.grad.asnumpy().tolist()


@pytest.mark.parametrize("dtype", WHOLE)
def test_operators_of_whole_numbers_have_gradients(dtype):
    b = np.array([3, 4], dtype=dtype)
    assert gradient_of(lambda x: x * b, [5, 7], dtype) == [3, 4]
    assert gradient_of(lambda x: x * x, [5, 7], dtype) == [10, 14]
    assert gradient_of(lambda x: x + b, [5, 7], dtype) == [1, 1]
    assert gradient_of(lambda x: np.maximum(x, b), [5, 2], dtype) == [1, 0]
    assert gradient_of(lambda x: np.take(x, np.array([1, 1, 0], dtype="int32")), [5, 7], dtype) == [1, 2]
    assert gradient_of(lambda x: np.rot90(x.reshape(1, 2)), [5, 7], dtype) == [1, 1]
    assert gradient_of(lambda x: np.flip(x, 0), [5, 7], dtype) == [1, 1]
    assert gradient_of(np.sum, [5, 7], dtype) == [1, 1]


def test_remainders_of_whole_numbers_have_none():
    a, b = nd.array([5, 7], dtype="int32"), nd.array([2, 3], dtype="int32")
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = nd.broadcast_mod(a, b)
    y.backward()
    assert a.grad.asnumpy().tolist() == b.grad.asnumpy().tolist() == [0, 0]


def test_truths_beside_floats_have_gradients():
    assert gradient_of(lambda x: x + np.array([1., 2.]), [True, False], "bool") == [True, True]


def test_gradients_of_sums_in_another_type():
    assert gradient_of(lambda x: np.sum(x, dtype="float16"), [[1, 2], [3, 4]], "int8") == [[1, 1]] * 2
    assert gradient_of(lambda x: np.mean(x, dtype="float64"), [[1, 2], [3, 4]], "float16") == \
        [[0.25, 0.25]] * 2


ADDED = {"transpose": np.transpose, "reshape": lambda x: x.reshape(3, 2), "slice": lambda x: x[:, 1:],
         "split": lambda x: np.split(x, 3, axis=1)[0], "pad": lambda x: np.pad(x, 1),
         "expand_dims": lambda x: np.expand_dims(x, 0),
         "take": lambda x: np.take(x, np.array([0], dtype="int32"), axis=0)}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", sorted(ADDED))
def test_narrow_gradients_are_added(dtype, name):
    ones, values = onp.array(gradient_of(ADDED[name], onp.ones((2, 3)), dtype)), onp.ones((2, 3))
    assert ones.any()
    assert gradient_of(ADDED[name], values, dtype, "add", 3) == (3 * ones).tolist()


def test_a_head_gradient_is_converted():
    x = nd.ones((2, 3))
    x.attach_grad()
    for dtype in ("float64", "float16", "int32"):
        with autograd.record():
            y = x * 2
        y.backward(nd.full((2, 3), 3, dtype=dtype))
        assert (x.grad.asnumpy() == 6).all()
    with autograd.record():
        y = nd.shape_array(x)
    y.backward(nd.ones(2))
    assert (x.grad.asnumpy() == 0).all()
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match="output 0"):
        y.backward(nd.ones((3, 2)))


def test_a_change_inside_a_recording_is_told_in_both_wordings():
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        with pytest.raises(mx.MXNetError) as caught:
            y += 1
    assert "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd" \
        in str(caught.value)
    assert "Assigning to NDArrays that are already in a computational graph" in str(caught.value)


def test_an_axis_that_is_not_there_is_a_value_error():
    for source, destination in ((3, 0), (0, -4), ((0, 1), (0, 5))):
        with pytest.raises(ValueError, match="out of range for 3 dimensions"):
            nd.moveaxis(nd.ones((1, 2, 3)), source, destination)
    assert nd.moveaxis(nd.ones((1, 2, 3)), -1, 0).shape == (3, 1, 2)


def test_only_an_array_of_one_number_is_an_index():
    for wrong in (np.array([1, 2]), np.array(1.5), np.array([1])):
        with pytest.raises(TypeError):
            operator.index(wrong)
    assert operator.index(np.array(2, dtype="int32")) == 2


TABLE = [[1, 0, 1], [0, 0, 1]]
MOVED = {  # functions of an array whose gradient is that of where its elements go
    "tile": lambda a: mx.np.tile(a, (2, 2)), "flip": lambda a: mx.np.flip(a, 1),
    "broadcast_to": lambda a: mx.np.broadcast_to(a, (4, 2, 3)), "repeat": lambda a: mx.np.repeat(a, 2, 0),
    "cumsum": lambda a: mx.np.cumsum(a, 1), "max": lambda a: mx.np.max(a, 1), "min": lambda a: mx.np.min(a),
    "pad": lambda a: mx.np.pad(a, 1), "roll": lambda a: mx.np.roll(a, 1, 1), "take": lambda a: a[0:1],
    "where": lambda a: mx.np.where(mx.np.array(TABLE), a, mx.np.zeros_like(a)),
    "where, repeated": lambda a: mx.np.where(mx.np.array([TABLE, TABLE]), a, mx.np.zeros_like(a)),
    "add_n": lambda a: mx.nd.add_n(a, a), "clip": lambda a: mx.np.clip(a, 0, 1)}


@pytest.mark.parametrize("name", MOVED)
def test_gradients_of_truths_say_where_those_of_floats_are_not_zero(name):
    floats = onp.array(gradient_of(MOVED[name], TABLE, "float64"))
    assert gradient_of(MOVED[name], TABLE, "bool") == (floats != 0).tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("name", [*MOVED, "times a number"])
def test_gradients_of_whole_numbers_are_those_of_floats(name, kind):
    function = MOVED.get(name, lambda a: a * 3)
    assert gradient_of(function, TABLE, kind) == gradient_of(function, TABLE, "float64")


@pytest.mark.parametrize("function,times", [
    (lambda a: mx.np.broadcast_to(a, (3, 2)), 3), (lambda a: mx.np.tile(a, 3), 3),
    (lambda a: a * 3, 3), (lambda a: mx.np.where(mx.np.array([[True, True]] * 3), a, mx.np.zeros_like(a)), 3)])
def test_sums_of_gradients_of_whole_numbers_keep_their_digits(function, times):
    a = mx.np.array([1, 2], dtype="int64")
    a.attach_grad()
    with mx.autograd.record():
        result = function(a)
    result.backward(mx.np.full(result.shape, 2 ** 53 + 1, dtype="int64"))
    assert a.grad.tolist() == [times * (2 ** 53 + 1)] * 2


ALONE = {  # functions of each element that keep the type
    "abs": mx.np.abs, "square": mx.np.square, "negative": mx.np.negative, "relu": mx.npx.relu,
    "abs of nd": mx.nd.abs, "square of nd": mx.nd.square}


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("name", ALONE)
def test_functions_of_each_whole_number_have_gradients(name, kind):
    table = [[3, -2, 0], [-1, 1, 4]]
    assert gradient_of(ALONE[name], table, kind) == gradient_of(ALONE[name], table, "float64")
    assert gradient_of(ALONE[name], table, kind, "add", 2) == [
        [2 * item for item in row] for row in gradient_of(ALONE[name], table, "float64")]


@pytest.mark.parametrize("name", sorted(set(ALONE) - {"negative"}))
def test_functions_of_each_truth_and_natural_number_have_gradients(name):
    assert gradient_of(ALONE[name], [2, 0, 1], "uint8") == gradient_of(ALONE[name], [2, 0, 1], "float64")
    assert gradient_of(ALONE[name], [True, False], "bool") == [True, False]


def test_gradients_of_each_whole_number_keep_their_digits():
    big = 2 ** 61 + 1
    x = mx.np.array([1, -1, 1], dtype="int64")
    x.attach_grad()
    for function, wanted in ((mx.np.abs, [big, -big, big]), (mx.np.square, [2 * big, -2 * big, 2 * big]),
                             (mx.npx.relu, [big, 0, big])):
        with mx.autograd.record():
            y = function(x)
        y.backward(mx.np.full(3, big, dtype="int64"))
        assert x.grad.tolist() == wanted


def test_gradients_of_1x_functions_of_whole_numbers_are_cut():
    """1.9.1's functions keep the type; their gradients are cut to it as their values are."""
    x = mx.nd.array([1, 2], dtype="int32")
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.log(x)
    y.backward(mx.nd.array([7, 7], dtype="int32"))
    assert x.grad.asnumpy().tolist() == [7, 3]


REAL = {  # what makes floats of whole numbers, with its derivative
    "exp": (mx.np.exp, onp.exp), "log": (mx.np.log, lambda x: 1 / x), "sqrt": (mx.np.sqrt, lambda x: 0.5 / onp.sqrt(x)),
    "sin": (mx.np.sin, onp.cos), "reciprocal": (mx.np.reciprocal, lambda x: -1 / x ** 2), "tanh": (mx.np.tanh, lambda x: 1 / onp.cosh(x) ** 2),
    "degrees": (mx.np.degrees, lambda x: 180 / onp.pi + 0 * x)}


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("name", REAL)
def test_gradients_of_floats_made_of_whole_numbers_are_cut(name, kind):
    function, derivative = REAL[name]
    found = gradient_of(lambda x: function(x) * 1000, [1, 2, 3], kind)
    right = 1000 * derivative(onp.array([1.0, 2.0, 3.0]))
    assert (onp.abs(found) <= onp.abs(right) + 0.01).all() and (onp.abs(found - right) < 1.01).all()
    assert any(found)


def test_gradients_of_floats_made_of_bytes_and_truths():
    assert gradient_of(np.exp, [0, 1, 2], "int8") == gradient_of(np.exp, [0, 1, 2], "uint8") == [1, 2, 7]
    assert gradient_of(np.exp, [True, False], "bool") == [True, True]


@pytest.mark.parametrize("exponent", [0, np.array([0.0, 0.0, 0.0])], ids=["number", "array"])
def test_the_gradient_of_the_power_0_is_0_everywhere(exponent):
    """Also of 0, where the rule for powers multiplies 0 by infinity."""
    assert gradient_of(lambda x: x ** exponent, [0, -2, 3], "float32") == [0, 0, 0]
