# SPDX-License-Identifier: Apache-2.0
"""Arguments of mx.np's functions: in NumPy's order and under its names."""
import inspect

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

# 2.0's order, or more than one way to say it.
OTHERWISE = {"take", "reshape", "einsum", "save", "savez", "load", "column_stack", "dstack", "hstack", "vstack", "pad", "fix", "broadcast_arrays"}


def _places(function):
    shown = inspect.signature(function).parameters.values()
    return [item.name for item in shown if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]


def _functions():
    for name in sorted(dir(onp)):
        function = getattr(onp, name)
        if name.startswith("_") or name in OTHERWISE or isinstance(function, (type, onp.ufunc)) or not callable(function):
            continue
        try:
            ours, theirs = getattr(np, name), _places(function)
        except (AttributeError, ValueError, TypeError):
            continue
        if getattr(ours, "__wrapped__", None) is not function:
            yield name, _places(ours), theirs


def test_arguments_are_where_numpy_has_them():
    wrong = {name: (ours, theirs) for name, ours, theirs in _functions() if ours[:len(theirs)] != theirs[:len(ours)]
             or len(ours) < len(theirs)}
    assert len(list(_functions())) > 40
    assert not wrong


CALLS = {
    "logspace": lambda m, a: m.logspace(0.0, 1.0, 20, True, 10, "float32", 0), "sum": lambda m, a: m.sum(a, 0, None, None, True),
    "sum of a type": lambda m, a: m.sum(a, 1, "float64"), "max": lambda m, a: m.max(a, 1, None, True), "all": lambda m, a: m.all(a, 0, None, True),
    "argmax": lambda m, a: m.argmax(a, 1, None), "sort": lambda m, a: m.sort(a, 0, "stable"), "argsort": lambda m, a: m.argsort(a, 1, kind="stable"),
    "swapaxes": lambda m, a: m.swapaxes(a, axis1=0, axis2=1), "repeat": lambda m, a: m.repeat(a, (1, 2), 0),
    "repeat of all": lambda m, a: m.repeat(a, [0, 1, 2, 3, 1, 0]), "repeat once": lambda m, a: m.repeat(a, 2, axis=1),
    "average": lambda m, a: list(m.average(a, 0, None, True)), "weighted": lambda m, a: list(m.average(a, axis=1, weights=a[0], returned=True)),
    "diff": lambda m, a: m.diff(a, 1, 0, prepend=onp.float32(0)), "diff at both ends": lambda m, a: m.diff(a, prepend=a[:, :1], append=a[:, :2]),
    "trace": lambda m, a: m.trace(a, 0, 0, 1, "float64"), "size": lambda m, a: m.ones((2, m.size(a, 1)), "float32"), "copy": lambda m, a: m.copy(a, "C"),
    "where that holds": lambda m, a: m.sum(a, where=True),
    "zeros_like": lambda m, a: m.zeros_like(a, shape=(2, 1)), "ones_like": lambda m, a: m.ones_like(a, "int8", "C", True, (4,)),
    "full_like": lambda m, a: m.full_like(a, 7, shape=(2,)), "full of an array": lambda m, a: m.full((2, 2, 3), a),
    "ndmin": lambda m, a: m.array(a, ndmin=4), "array": lambda m, a: m.array(a, copy=False), "eye": lambda m, a: m.eye(2, 3, 1, "int8", "C"),
    "roll": lambda m, a: m.roll(a, 1, 0), "cumsum": lambda m, a: m.cumsum(a, 0, "float64"),
    "take from the end": lambda m, a: m.take(a, a.astype("int64")[1] * 0 - 1), "take by name": lambda m, a: m.take(a=a, indices=[-1, 0], axis=1),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_of_calls(name):
    values = onp.array([[3, 1, 2], [6, 5, 3]], "float32")
    found, wanted = CALLS[name](np, np.array(values)), CALLS[name](onp, values)
    for mine, theirs in zip(found, wanted) if isinstance(wanted, list) else [(found, wanted)]:
        onp.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-6)
        assert mine.dtype == theirs.dtype


def test_sorting_downwards_keeps_the_order_of_equals():
    values = onp.array([3, 1, 2, 3, 1] * 40, "float32")
    assert np.sort(np.array(values), descending=True).asnumpy().tolist() == sorted(values.tolist(), reverse=True)
    wanted = sorted(range(200), key=lambda place: -values[place])
    assert np.argsort(np.array(values), descending=True).asnumpy().tolist() == wanted
    array = np.array([3.0, 1.0])
    assert array.sort(descending=True).asnumpy().tolist() == [3, 1] and array.asnumpy().tolist() == [3, 1]


def test_what_only_numpy_takes_is_told():
    a = np.array([[1.0, 2.0]])
    for call in (lambda: np.exp(a, where=a > 1), lambda: np.sort(a, order="x"),
                 lambda: np.exp(a, casting="no"), lambda: np.add(a, a, where=a > 1), lambda: np.multiply(a, 2, casting="no")):
        with pytest.raises(NotImplementedError, match="where|order|casting"):
            call()
    assert np.add(a, 1, where=True).tolist() == [[2, 3]]
    for kind, word in ((np, "colour"), (mx.nd, "where")):
        with pytest.raises(TypeError, match="unexpected keyword argument"):
            kind.add(a, a, **{word: True})
    with pytest.raises(ValueError, match="twice"):
        np.transpose(a, (0, 0))
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'colour'"):
        np.exp(a, colour=1)


def test_places_from_the_end_have_gradients():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = (np.take(x, np.array([-1, 0, -1], dtype="int64")) * np.array([1.0, 10.0, 100.0])).sum() + np.repeat(x, [0, 2, 0]).sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [10, 2, 101]
    with pytest.raises(mx.MXNetError, match="index -4 at place 1"):
        np.take(x, np.array([0, -4], dtype="int64")).wait_to_read()


@pytest.mark.parametrize("name", ["eigvalsh", "eigh"])
def test_either_triangle_counts(name):
    values = onp.array([[2.0, 5.0], [1.0, 3.0]])
    for ours, theirs in (({"upper": True}, "U"), ({"upper": False}, "L"), ({"UPLO": "U"}, "U"), ({}, "L")):
        found, wanted = getattr(np.linalg, name)(np.array(values), **ours), getattr(onp.linalg, name)(values, theirs)
        found, wanted = (found[0], wanted[0]) if name == "eigh" else (found, wanted)
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("call", (
    lambda m, a: m.split(a, onp.int64(2)), lambda m, a: m.array_split(a, onp.int32(3), 1), lambda m, a: m.flip(a, onp.int64(0)),
    lambda m, a: m.tensordot(a, a.T, onp.int64(1))), ids=("split", "array_split", "flip", "tensordot"))
def test_numbers_of_numpy_are_numbers(call):
    values = onp.arange(6, dtype="float32").reshape(2, 3)
    assert onp.array_equal(onp.concatenate([item.asnumpy().ravel() for item in call(np, np.array(values))]),
                           onp.concatenate([item.ravel() for item in call(onp, values)]))


@pytest.mark.parametrize("weights", ([1, 2, 3], onp.array([1.0, 2.0, 3.0])), ids=("list", "NumPy's array"))
def test_weights_of_an_average_need_not_be_an_array(weights):
    values = onp.arange(6, dtype="float32").reshape(2, 3)
    assert np.average(np.array(values), 1, weights).asnumpy() == pytest.approx(onp.average(values, 1, weights))


@pytest.mark.parametrize("axis,weights", ((None, [1, 2, 3]), (1, [1, 2]), (1, [[1, 2, 3]]), (0, [1, 2, 3])))
def test_weights_of_another_shape_are_refused_as_by_numpy(axis, weights):
    values = onp.ones((2, 3), "float32")
    with pytest.raises((TypeError, ValueError)) as theirs:
        onp.average(values, axis, weights)
    with pytest.raises(theirs.type, match=str(theirs.value)):
        np.average(np.array(values), axis, np.array(weights))


def test_a_negative_number_of_differences_is_refused():
    with pytest.raises(ValueError, match="order must be non-negative but got -1"):
        np.diff(np.ones(3), -1)


@pytest.mark.parametrize("rows", ([5, 6, 7], onp.array([5, 6, 7])), ids=("list", "NumPy's array"))
def test_rows_to_permute_need_not_be_an_array(rows):
    assert sorted(np.random.permutation(rows).asnumpy()) == [5, 6, 7]
