# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.npx that are made of operators: values and gradients."""
import numpy as onp
import pytest

from mxnet import autograd, np, npx

POINTS = onp.array([[0, 0, 1], [1, 1, 2]])  # two of them are one


def test_values_are_set_and_added_at_points():
    a = onp.arange(12, dtype="float32").reshape(2, 3, 2)
    ind = np.array(POINTS, dtype="int64")
    for value in (5, onp.array([7.0, 8]), onp.arange(6).reshape(3, 2)):
        ours = value if isinstance(value, int) else np.array(value)
        added, updated = a.copy(), a.copy()
        onp.add.at(added, tuple(POINTS), value)
        updated[tuple(POINTS)] = value
        assert npx.index_add(np.array(a), ind, ours).asnumpy().tolist() == added.tolist()
        assert npx.index_update(np.array(a), ind, ours).asnumpy().tolist() == updated.tolist()
    whole = npx.index_add(np.array([2**53 + 1, 0], dtype="int64"), np.array([[0, 0]], dtype="int64"), 1)
    assert whole.dtype == "int64" and whole.asnumpy().tolist() == [2**53 + 3, 0]


def test_gradients_of_what_is_set_and_added():
    a, value = np.zeros((2, 3)), np.array([1.0, 2, 3])
    for function, of_a, of_value in ((npx.index_add, [[1, 1, 1], [1, 1, 1]], [1, 1, 1]),
                                     (npx.index_update, [[1, 0, 1], [1, 1, 0]], [0, 1, 1])):
        a.attach_grad()
        value.attach_grad()
        with autograd.record():
            y = function(a, np.array(POINTS, dtype="int64"), value)
        y.backward()
        assert a.grad.asnumpy().tolist() == of_a and value.grad.asnumpy().tolist() == of_value


def test_places_of_what_is_not_zero():
    values = onp.array([[0, 2, 0], [1, 0, 3]])
    assert npx.nonzero(np.array(values)).asnumpy().tolist() == onp.argwhere(values).tolist()


def test_constraints():
    assert bool(npx.constraint_check(np.array([True, True])))
    with pytest.raises(ValueError, match="too small"):
        npx.constraint_check(np.array([True, False]), "too small")


@pytest.mark.parametrize("temperature", (None, 2.0))
def test_softmax_of_what_a_mask_keeps(temperature):
    values = onp.random.default_rng(4).normal(0, 3, (3, 5)).astype("float32")
    mask = onp.array([[1, 0, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0]], "bool")
    powers = onp.where(mask, onp.exp(values.astype("float64") / (temperature or 1)), 0)
    wanted = powers / powers.sum(-1, keepdims=True)
    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        y = npx.masked_softmax(x, np.array(mask), temperature=temperature)
        first = y[:, 3].sum()
    first.backward()
    onp.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-5)
    head = (onp.arange(5) == 3) - wanted[:, 3:4]
    onp.testing.assert_allclose(x.grad.asnumpy(), wanted * head / (temperature or 1), rtol=1e-4, atol=1e-7)
    with onp.errstate(divide="ignore"):
        found = npx.masked_log_softmax(x, np.array(mask), temperature=temperature).asnumpy()
        onp.testing.assert_allclose(found, onp.log(wanted), rtol=1e-5, atol=1e-6)


def test_derivatives_of_the_logarithm_of_gamma():
    """Values from tables: digamma, and the trigamma function as its gradient."""
    x = np.array([1, 0.5, 10, -0.5], dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = npx.digamma(x)
    y.backward()
    onp.testing.assert_allclose(y.asnumpy(), [-0.5772156649015329, -1.9635100260214235, 2.251752589066721,
                                              0.03648997397857652], rtol=1e-12)
    onp.testing.assert_allclose(x.grad.asnumpy(), [onp.pi ** 2 / 6, onp.pi ** 2 / 2, 0.10516633568168575,
                                                   onp.pi ** 2 / 2 + 4], rtol=1e-12)
