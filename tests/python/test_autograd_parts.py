# SPDX-License-Identifier: Apache-2.0
"""Gradients of what is assigned to parts of arrays."""
import itertools

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd

KEYS = [slice(1, None), slice(None, None, 2), (slice(None), 1), 2, (Ellipsis, slice(None, None, -1)),
        [0, 2], [2, 0, 2], (slice(None), [1, 0]), onp.array([True, False, True])]


@pytest.mark.parametrize("kind", [mx.np, mx.nd], ids=["np", "nd"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_an_assigned_part_hands_its_gradient_on(kind, key):
    """The last value of a place gets what the place gets; the rest of the array was constant."""
    if kind is mx.nd and isinstance(key, onp.ndarray):
        pytest.skip("nd arrays have no keys of truths")
    start = onp.arange(12, dtype="float32").reshape(3, 4)
    values = onp.arange(start[key].size, dtype="float32").reshape(start[key].shape) + 1
    x, array = kind.array(values), kind.array(start)
    x.attach_grad()
    with autograd.record():
        array[key] = x * 2
        loss = (array * array * array).sum()
    loss.backward()
    whole = start.copy()
    whole[key] = values * 2
    places = onp.arange(12).reshape(3, 4)[key]
    last = {place: position for position, place in enumerate(places.reshape(-1))}
    right = onp.zeros(values.size, "float32")
    for place, position in last.items():
        right[position] = 2 * 3 * whole.reshape(-1)[place] ** 2
    assert x.grad.asnumpy().reshape(-1).tolist() == right.tolist()
    assert array.asnumpy().tolist() == whole.tolist()


def test_what_stays_and_what_is_set_share_the_gradient():
    """Both inputs of the operators, by all combinations of who has a gradient."""
    cases = [("_slice_assign", dict(begin=(0, 1), end=(2, 3)), (2, 2), []),
             ("_slice_assign_scalar", dict(begin=(0, 1), end=(2, 3), scalar=5), None, []),
             ("_scatter_set_nd", dict(shape=(2, 4)), (2,), [[[0, 1], [3, 0]]])]
    for (name, parameters, shape, rest), asked in itertools.product(cases, ((1, 1), (1, 0), (0, 1))):
        arrays = [mx.nd.ones((2, 4))] + ([] if shape is None else [mx.nd.ones(shape)])
        wanted = [array for array, yes in zip(arrays, asked) if yes]
        for array in wanted:
            array.attach_grad()
        if not wanted:
            continue
        operands = arrays + [mx.nd.array(item) for item in rest]
        head = mx.nd.array(onp.arange(8).reshape(2, 4) + 1)
        with autograd.record():
            y = mx._registry.invoke(mx.nd.NDArray, name, *operands, **parameters)
        y.backward(head)
        part = onp.zeros((2, 4), bool)
        if rest:
            part[tuple(rest[0])] = True
        else:
            part[0:2, 1:3] = True
        right = [onp.where(part, 0, head.asnumpy()), head.asnumpy()[part]]
        for which, array in enumerate(arrays):
            if asked[which]:
                got = array.grad.asnumpy()
                assert got.reshape(-1).tolist() == right[which].reshape(-1).tolist(), (name, asked)


def test_the_gradient_of_an_assignment_has_a_gradient():
    x, array = mx.np.array([2., 3.]), mx.np.ones(4)
    x.attach_grad()
    with autograd.record():
        array[1:3] = x * x * x
        first = autograd.grad((array * array).sum(), x, create_graph=True)[0]
    first.backward()
    assert first.asnumpy().tolist() == [6 * 2.0 ** 5, 6 * 3.0 ** 5]
    assert x.grad.asnumpy().tolist() == [30 * 2.0 ** 4, 30 * 3.0 ** 4]
