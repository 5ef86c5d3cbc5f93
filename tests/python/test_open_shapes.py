# SPDX-License-Identifier: Apache-2.0
"""A size of 0 in `sym.zeros`, `ones` and `full` is one that is not known yet: what takes the array tells."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd, sym
from mxnet._cached_op import CachedOp

STATIC = [("static_alloc", True)]
FLAGS = [[], STATIC, STATIC + [("static_shape", True)]]


def step():
    """A step of a cell whose state begins with ones, whatever the batch."""
    x, w = sym.var("x"), sym.var("w")
    state = sym.FullyConnected(sym.ones((0, 3)), w, num_hidden=2, no_bias=True, name="h2h")
    return sym.Group([x + state, sym.full((0, 2), 7) + x])


def wanted(x, w):
    return x + onp.ones((len(x), 3)) @ w.T, x + 7


W = onp.arange(6).reshape(2, 3).astype("float32")


def inputs(batch):
    return onp.random.RandomState(batch).randn(batch, 2).astype("float32")


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_a_network_runs_with_each_batch(flags):
    op = CachedOp(step(), flags)
    w = nd.array(W)
    w.attach_grad()
    for batch in (2, 4, 2, 1):
        x = inputs(batch)
        with autograd.record():
            found = op(nd.array(x), w)
        found[0].backward()
        for one, other in zip(found, wanted(x, W)):
            onp.testing.assert_allclose(one.asnumpy(), other, rtol=1e-6)
        assert (w.grad.asnumpy() == batch).all()


def test_an_executor_runs_and_its_monitor_hears():
    x = inputs(3)
    executor = step().simple_bind(mx.cpu(), x=x.shape)
    heard = []
    executor.set_monitor_callback(lambda name, array: heard.append(name))
    for found, other in zip(executor.forward(x=nd.array(x), w=nd.array(W)), wanted(x, W)):
        onp.testing.assert_allclose(found.asnumpy(), other, rtol=1e-6)
    assert "h2h_output" in heard


def test_shapes_that_nothing_tells_are_not_known():
    symbol = sym.zeros((2, 0))
    assert symbol.infer_shape_partial()[1] == [(2, 0)]
    with pytest.warns(UserWarning):
        assert symbol.infer_shape() == (None, None, None)


def test_an_array_that_is_to_hold_them_tells():
    x = nd.ones((2, 3))
    nd.zeros((2, 0), out=x)
    assert (x.asnumpy() == 0).all()
    assert nd.zeros((2, 0)).shape == (2, 0)


def test_numpy_shapes_mean_what_they_say():
    with mx.util.np_shape(True):
        assert sym.zeros((2, 0)).infer_shape()[1] == [(2, 0)]
        assert CachedOp(sym.zeros((2, 0)) + sym.var("x"))(nd.zeros((2, 0))).shape == (2, 0)


HUGE = 2 ** 40


@pytest.mark.parametrize("symbol", [
    lambda: sym.Flatten(sym.var("x", shape=(2, HUGE, HUGE))),
    lambda: sym.Flatten(sym.broadcast_to(sym.var("x", shape=(1, 1, 1)), shape=(2, HUGE, HUGE))),
    lambda: sym.Flatten(sym.reshape(sym.var("x", shape=(0, 0)), shape=(2, HUGE, HUGE))),
    lambda: sym.var("x", shape=(0, HUGE, 2 ** 63 - 1)) + sym.var("y", shape=(1, 0, 0))
], ids=["variable", "operator", "parameter", "sum"])
def test_shapes_of_too_many_elements_are_refused(symbol):
    with pytest.raises(mx.MXNetError, match="too many elements|too large"):
        symbol().infer_shape_partial()
