# SPDX-License-Identifier: Apache-2.0
"""Functions that repeat, turn and shift parts of arrays, against NumPy's, in every type and with
rows of few and of many pieces."""
import numpy as onp
import pytest

from mxnet import autograd, np
from mxnet.base import MXNetError

SHAPES = ((), (5,), (3, 4), (2, 3, 4), (70,), (2, 1, 3), (2, 40), (0, 3))


def calls(shape):
    for reps in ((2,), (3, 2), (1, 2, 3), (40,), (0,)):
        yield lambda m, a, reps=reps: m.tile(a, reps)
    for axis in [None, *range(len(shape))]:
        for count in (0, 1, 2, 3, 50):
            yield lambda m, a, count=count, axis=axis: m.repeat(a, count, axis=axis)
        for shift in (0, 1, -1, 7, -100):
            yield lambda m, a, shift=shift, axis=axis: m.roll(a, shift, axis=axis)
        yield lambda m, a, axis=axis: m.flip(a, axis)


@pytest.mark.parametrize("dtype", ("float32", "int8", "float64", "int16"))
def test_places(dtype):
    for shape in SHAPES:
        values = onp.random.default_rng(3).integers(0, 100, shape).astype(dtype)
        array = np.array(values, dtype=dtype)
        for call in calls(shape):
            found, wanted = call(np, array), call(onp, values)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            onp.testing.assert_array_equal(found.asnumpy(), wanted)


@pytest.mark.parametrize("dtype", ("float32", "float16", "int32", "uint8"))
def test_gradients_add_up_what_went_to_each_place(dtype):
    for shape in SHAPES:
        for call in calls(shape):
            x = np.ones(shape, dtype=dtype)
            x.attach_grad()
            with autograd.record():
                y = call(np, x)
            head = onp.arange(y.size).reshape(y.shape) % 3
            y.backward(np.array(head, dtype=dtype))
            places = call(onp, onp.arange(x.size).reshape(shape)).reshape(-1)
            wanted = onp.bincount(places, head.reshape(-1), max(x.size, 1))[:x.size].reshape(shape)
            assert x.grad.shape == shape and x.grad.dtype == x.dtype
            onp.testing.assert_array_equal(x.grad.asnumpy(), wanted)


def test_sizes_beyond_what_an_array_can_have_are_refused():
    for call in (lambda: np.tile(np.ones(4), 2**62), lambda: np.zeros((0, 2**62, 2**62)),
                 lambda: np.tile(np.ones((2, 2)), (2**31, 2**31))):
        with pytest.raises(MXNetError, match="too large|too many elements"):
            call()
    assert np.arange(5)[::2**63 - 1].asnumpy().tolist() == [0]
    assert np.roll(np.arange(5), -2**63 + 1).asnumpy().tolist() == [2, 3, 4, 0, 1]


def test_parts_of_what_is_empty():
    for shape, parts in (((2, 0), 1), ((2, 0), 2), ((0, 4), 2), ((0, 4), [1, 3, 9]), ((2, 0), [1])):
        found, wanted = np.split(np.zeros(shape), parts, axis=1), onp.split(onp.zeros(shape), parts, axis=1)
        assert [a.shape for a in found] == [a.shape for a in wanted]
    assert [a.shape for a in np.array_split(np.zeros((2, 0)), 3, axis=1)] == [(2, 0)] * 3
    for function in (np.split, np.array_split):
        with pytest.raises(ValueError):
            function(np.zeros((2, 4)), 0, axis=1)


def test_parts_of_what_is_empty_have_gradients():
    x = np.ones((0, 4))
    x.attach_grad()
    with autograd.record():
        parts = np.split(x, 2, axis=1)
    autograd.backward(parts)
    assert x.grad.shape == (0, 4)


def test_the_place_of_the_extreme_of_a_scalar_is_0():
    for name in ("argmax", "argmin"):
        for axis in (None, 0, -1):
            assert int(getattr(np, name)(np.array(5.0), axis=axis)) == 0
        with pytest.raises(MXNetError, match="axis 1"):
            getattr(np, name)(np.array(5.0), axis=1)


def test_diagonals_and_places_of_what_is_empty():
    for shape, offset in (((0, 2, 2), 1), ((2, 0), -1), ((0, 2), 1), ((0, 0), 0), ((2, 3), 9)):
        assert np.diagonal(np.zeros(shape), offset).shape == onp.diagonal(onp.zeros(shape), offset).shape
    assert int(np.trace(np.zeros((0, 2), dtype="int32"), 1)) == 0
    assert np.take(np.zeros((0, 0, 1)), np.array([0], dtype="int32"), axis=1).shape == (0, 1, 1)
    with pytest.raises(MXNetError, match="nothing to take"):
        np.take(np.zeros((1, 0)), np.array([0], dtype="int32"), axis=1)
