# SPDX-License-Identifier: Apache-2.0
"""Numbers, lists and NumPy's arrays as arguments of functions."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

CALLS = {
    "sum": lambda m: m.sum([1, 2, 3]), "exp": lambda m: m.exp(1.0), "concatenate": lambda m: m.concatenate([[1], [2]]),
    "flat": lambda m: m.concatenate([[[1]], [[2, 3]]], axis=None), "where": lambda m: m.where(onp.array([True, False]), [1.0, 2.0], [3.0, 4.0]),
    "broadcast_to": lambda m: m.broadcast_to(1.0, (2,)), "clip": lambda m: m.clip(1.5, 0, 1), "max": lambda m: m.max([[1, 5], [2, 3]], axis=1),
    "dot": lambda m: m.dot([1, 2], [3, 4]), "stack": lambda m: m.stack([[1, 2], [3, 4]]), "expand_dims": lambda m: m.expand_dims(2, 0),
    "argmax": lambda m: m.argmax([3, 9, 2]), "reshape": lambda m: m.reshape([1, 2, 3, 4], (2, 2)), "transpose": lambda m: m.transpose([[1, 2]]),
    "zeros_like": lambda m: m.zeros_like([1.0, 2.0]), "mean": lambda m: m.mean(onp.arange(4)), "var": lambda m: m.var([1.0, 3.0]),
    "split": lambda m: m.split(onp.arange(4.0), 2)[1], "append": lambda m: m.append([1, 2], [3]), "flip": lambda m: m.flip([1, 2]),
    "norm": lambda m: m.linalg.norm([3, 4]), "take": lambda m: m.take([5, 6], [1]), "pad": lambda m: m.pad([1, 2], 1),
    "diff": lambda m: m.diff([1, 4]), "trace": lambda m: m.trace([[1, 2], [3, 4]]), "average": lambda m: m.average([1, 2]),
    "outer": lambda m: m.outer([1, 2], [3, 4]), "meshgrid": lambda m: m.meshgrid([1, 2], [3])[0], "ravel": lambda m: m.ravel([[1, 2]]),
    "diagonal": lambda m: m.diagonal([[1, 2], [3, 4]]), "delete": lambda m: m.delete([1, 2], 0), "tensordot": lambda m: m.tensordot([[1]], [[2]]),
    "repeat": lambda m: m.repeat([1, 2], 2), "broadcast_arrays": lambda m: m.broadcast_arrays([1], [2, 3])[0], "by name": lambda m: m.ravel(a=[[1, 2]]),
    "add": lambda m: m.add([1, 2], [3, 4]), "add a number": lambda m: m.add(1, [3, 4]), "maximum": lambda m: m.maximum([1, 5], (2, 2)),
    "array_split": lambda m: m.array_split([1, 2, 3], 2)[0], "ones_like": lambda m: m.ones_like(onp.ones(2)), "median": lambda m: m.median([1, 2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_lists_and_numpys_arrays_are_arrays(name):
    found, wanted = CALLS[name](np), CALLS[name](onp)
    assert isinstance(found, np.ndarray) and found.shape == onp.shape(wanted)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)
    assert found.dtype == (onp.int64 if name == "argmax" else onp.float32)


def test_their_types_are_those_of_array():
    assert np.sum(onp.arange(3, dtype="int8")).dtype == onp.int8
    assert np.squeeze(onp.ones((1, 2))).dtype == onp.float32
    assert np.logical_not([True, False]).dtype == onp.bool_ and np.squeeze([[True]]).dtype == onp.bool_
    assert (np.size([1, 2]), np.shape([[1]]), np.ndim(3)) == (2, (1, 1), 0)


def test_functions_of_1x_take_them_too():
    for found in (mx.nd.exp([0.0, 0.0]), mx.nd.dot(onp.ones((2, 1)), mx.nd.ones((1,))), mx.nd.concat([1, 1], dim=0), mx.nd.stack(1, 1)):
        assert isinstance(found, mx.nd.NDArray) and found.asnumpy().reshape(-1).tolist() == [1, 1]
    assert mx.nd.exp(0.0).shape == (1,)


def test_they_are_made_where_the_arrays_are():
    there = np.ones(2, ctx=mx.cpu(1))
    assert np.concatenate([there, [1.0]]).ctx == mx.cpu(1)


def test_what_is_no_array_is_refused():
    ones = np.ones(2)
    for call in (lambda: np.sum("x"), lambda: np.sum([ones, ones]), lambda: np.ravel([ones, ones]), lambda: np.ravel("x"),
                 lambda: np.exp({}), lambda: np.outer(ones, object()), lambda: np.sum([[1], [ones]])):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        np.sum([[1], [2, 3]])


def test_gradients_go_through_what_stands_beside_them():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.dot(x, [3.0, 4.0]) + np.concatenate([x, [5.0]]).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [4, 5]
