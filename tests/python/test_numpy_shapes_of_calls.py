# SPDX-License-Identifier: Apache-2.0
"""What is called under NumPy's shapes keeps them: in its backward, in a custom operator's functions,
and on whatever thread they run. A call in the same words outside of them has its own."""
import threading

import mxnet as mx
from mxnet import autograd, nd


def in_thread(function):
    results = []
    thread = threading.Thread(target=lambda: results.append((function(),)))
    thread.start()
    thread.join()
    assert results, "the thread has failed"
    return results[0][0]


def test_the_same_call_gives_each_switch_its_shape():
    a = nd.ones((2, 3))
    shapes = []
    for active in (False, True, False, True):
        with mx.util.np_shape(active):
            shapes.append(nd.sum(a).shape)
    assert shapes == [(1,), (), (1,), ()]
    with mx.util.np_shape(True):
        assert nd.sum(a).shape == ()
        assert in_thread(lambda: nd.sum(a).shape) == (1,)


def test_a_backward_outside_of_numpy_shapes_has_those_of_its_forward():
    a = nd.array([3.0, 5.0])
    a.attach_grad()
    with mx.util.np_shape(True), autograd.record():
        first, _ = nd.split(a, num_outputs=2, axis=0, squeeze_axis=True)
        y = first * nd.sum(a)
    assert y.shape == ()
    in_thread(y.backward)  # where zeros of shape () stand for the gradient of the second part
    assert a.grad.asnumpy().tolist() == [3.0 + 8.0, 3.0]


class Watching(mx.operator.CustomOp):
    seen = []

    def forward(self, is_train, req, in_data, out_data, aux):
        Watching.seen.append(mx.util.is_np_shape())
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        Watching.seen.append(mx.util.is_np_shape())
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("watching_shapes")
class WatchingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Watching()


def test_functions_of_a_custom_operator_have_the_switch_of_its_call():
    a = nd.ones((2,))
    a.attach_grad()
    for active in (True, False):
        Watching.seen.clear()
        with mx.util.np_shape(active), autograd.record():
            y = nd.Custom(a, op_type="watching_shapes")
        with mx.util.np_shape(not active):
            y.backward()
        mx.nd.waitall()
        assert Watching.seen == [active, active]
