# SPDX-License-Identifier: Apache-2.0
"""Gradients of gradients: functions against difference quotients of NumPy's, layers against sums
written down."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd, np

# name: (NumPy's function, where it is looked at)
FUNCTIONS = {
    "log2": (onp.log2, 0.7), "log10": (onp.log10, 0.7), "log1p": (onp.log1p, 0.4),
    "tan": (onp.tan, 0.6), "sinh": (onp.sinh, 0.6), "cosh": (onp.cosh, 0.6),
    "tanh": (onp.tanh, 0.6), "arcsin": (onp.arcsin, 0.3), "arccos": (onp.arccos, 0.3),
    "arctan": (onp.arctan, 0.6), "arcsinh": (onp.arcsinh, 0.6), "arccosh": (onp.arccosh, 1.7),
    "arctanh": (onp.arctanh, 0.3), "cbrt": (onp.cbrt, 0.7), "rsqrt": (lambda x: x ** -0.5, 0.7),
    "rcbrt": (lambda x: x ** (-1 / 3), 0.7),
}


def second(function, at):
    """Twice the central difference, by Richardson's rule."""
    def quotient(h):
        return (function(at + h) - 2 * function(at) + function(at - h)) / (h * h)
    return (4 * quotient(1e-3) - quotient(2e-3)) / 3


def gradient_of_gradient(function, x):
    with autograd.record():
        first = autograd.grad(function(x), x, create_graph=True, retain_graph=True)[0]
        result = (first * first).sum()
    result.backward()
    return first.asnumpy(), x.grad.asnumpy()


@pytest.mark.parametrize("kind", [nd, np], ids=["nd", "np"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_have_second_gradients(kind, name):
    function = getattr(kind, name, None)
    if function is None:
        pytest.skip("mx.np has no such function")
    plain, at = FUNCTIONS[name]
    places = onp.array([at, at + 0.1])
    x = kind.array(places, dtype="float64")
    x.attach_grad()
    first, got = gradient_of_gradient(function, x)
    h = 1e-5
    onp.testing.assert_allclose(first, (plain(places + h) - plain(places - h)) / (2 * h), rtol=1e-7)
    onp.testing.assert_allclose(got, 2 * first * second(plain, places), rtol=1e-6)


def test_functions_have_third_gradients():
    x = np.array([0.3], dtype="float64")
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(np.arctan(x), x, create_graph=True, retain_graph=True)[0]
        twice = autograd.grad(first, x, create_graph=True, retain_graph=True)[0]
    twice.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), [(6 * 0.09 - 2) / 1.09 ** 3], rtol=1e-12)


def test_limits_and_masks_pass_second_gradients():
    x = np.array([0.3, 2.0])
    x.attach_grad()
    with autograd.record():
        y = np.clip(x, 0, 1)
        first = autograd.grad(y * y * y, x, create_graph=True, retain_graph=True)[0]
    first.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), [1.8, 0], rtol=1e-6)
    x = nd.array([0.5, 2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.Dropout(x, p=0.0)
        first = autograd.grad(y * y * y, x, create_graph=True, retain_graph=True)[0]
    first.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), [3, 12], rtol=1e-6)


LINEAR = {"FullyConnected": lambda x, w: nd.FullyConnected(x, w, num_hidden=2, no_bias=True),
          "dot": lambda x, w: nd.dot(x, w, transpose_b=True),
          "batch_dot": lambda x, w: nd.batch_dot(x.expand_dims(0), w.expand_dims(0),
                                                 transpose_b=True)}


@pytest.mark.parametrize("layer", sorted(LINEAR))
def test_gradient_penalties_of_layers(layer):
    """g = sum of the rows of w; its square has no gradient by x, and one by w."""
    x, w = nd.array([[1.0, 2.0]]), nd.array([[1.0, 3.0], [2.0, -1.0]])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        first = autograd.grad(LINEAR[layer](x, w), x, create_graph=True, retain_graph=True)[0]
        penalty = (first * first).sum()
    penalty.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0]]
    assert w.grad.asnumpy().tolist() == [[6, 4], [6, 4]]


def test_a_penalty_behind_a_function():
    """y = tanh(x w'), g = (1 - y^2) w summed, and what g's square gives by w."""
    values, weight = onp.array([[0.1, 0.2]]), onp.array([[1.0, 0.5], [-0.5, 2.0]])

    def penalty_of(w):
        slope = 1 - onp.tanh(values @ w.T) ** 2
        return ((slope @ w) ** 2).sum()

    x, w = nd.array(values, dtype="float64"), nd.array(weight, dtype="float64")
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        y = nd.tanh(nd.FullyConnected(x, w, num_hidden=2, no_bias=True))
        first = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        penalty = (first * first).sum()
    penalty.backward()
    right, h = onp.zeros((2, 2)), 1e-6
    for place in onp.ndindex(2, 2):
        step = onp.zeros((2, 2))
        step[place] = h
        right[place] = (penalty_of(weight + step) - penalty_of(weight - step)) / (2 * h)
    onp.testing.assert_allclose(w.grad.asnumpy(), right, rtol=1e-7)
