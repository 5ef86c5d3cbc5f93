# SPDX-License-Identifier: Apache-2.0
"""An operator that fails when it runs, in the middle of a network or of its bulks: the wait for what would have
followed says which node it was, and the next call is as if nothing had been."""
import pytest

import mxnet as mx
from mxnet import gluon, nd

TOLD = r"Operator take: index 7 at place 0 of 'indices' is not one of 0 \.\. 2.* \(node '{}'\)"


class Lookup(gluon.HybridBlock):
    def hybrid_forward(self, F, x, rows):  # pylint: disable=arguments-differ, unused-argument
        first = F.take(rows, F.relu(x), mode="raise", name="first")
        second = F.take(rows, F.relu(x), mode="clip", name="second")
        return F.exp(first) * 2 + second


def values(call, index):
    return call(nd.array([index]), nd.ones((3, 2))).asnumpy().tolist()


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
@pytest.mark.parametrize("training", [False, True])
def test_a_prepared_network_names_the_node(flags, training):
    net = Lookup()
    net.hybridize(**flags)

    def call(*arrays):
        with mx.autograd.record(training):
            return net(*arrays)

    right = values(call, 1)
    for _ in range(3):  # the first call is run operator by operator
        assert values(call, 1) == right
        with pytest.raises(mx.MXNetError, match=TOLD.format("node_1")):
            values(call, 7)
    assert values(call, 2) == right


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
@pytest.mark.parametrize("training", [False, True])
def test_a_failed_call_that_nobody_has_waited_for_fails_no_other(flags, training):
    net, rows = Lookup(), nd.ones((3, 2))
    net.hybridize(**flags)

    def call(index):
        with mx.autograd.record(training):
            return net(nd.array([index]), rows)

    right = [call(1).asnumpy().tolist() for _ in range(2)][1]
    failed = [call(7), call(8)]
    others = [call(1) for _ in range(6)]  # more than a network has memories
    assert [other.asnumpy().tolist() for other in others] == [right] * 6
    for array, index in zip(failed, (7, 8)):
        with pytest.raises(mx.MXNetError, match=f"index {index} at place 0"):
            array.asnumpy()
    assert call(1).asnumpy().tolist() == right
    nd.waitall()


class Normalized(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.norm = gluon.nn.BatchNorm(in_channels=2)
            self.rows = self.params.get("rows", shape=(3, 2))

    def hybrid_forward(self, F, x, rows):  # pylint: disable=arguments-differ
        return self.norm(F.take(rows, x, mode="raise"))


def normalized(flags):
    net = Normalized()
    net.initialize()
    net.rows.set_data(nd.array([[1, 2], [3, 5], [2, 8]]))
    if flags is not None:
        net.hybridize(**flags)
    return net


def states_of(net):
    parts = [net.rows.grad(), net.norm.gamma.grad(), net.norm.beta.grad(), net.norm.running_mean.data(),
             net.norm.running_var.data()]
    return [part.asnumpy().tolist() for part in parts]


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
def test_gradients_and_states_have_no_error_of_a_step_that_nobody_has_waited_for(flags):
    def step(net, *index):
        with mx.autograd.record():
            loss = (net(nd.array(index)) * nd.array([[1, 2], [0, 3], [4, 1]])).sum()
        loss.backward()
        return loss

    net, twin = normalized(flags), normalized(flags)
    for made in (net, twin, net, twin):
        step(made, 0, 1, 2)
    failed = step(net, 0, 7, 2)
    assert step(net, 0, 1, 1).asscalar() == step(twin, 0, 1, 1).asscalar()
    assert states_of(net) == states_of(twin)
    with pytest.raises(mx.MXNetError, match="index 7 at place 1"):
        failed.asnumpy()
    nd.waitall()


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}])
def test_a_prediction_that_fails_fails_no_other_by_the_states_of_its_layers(flags):
    net = normalized(flags)
    right = [net(nd.array([0, 1])).asnumpy().tolist() for _ in range(2)][1]
    failed = net(nd.array([0, 7]))
    assert net(nd.array([0, 1])).asnumpy().tolist() == right
    with pytest.raises(mx.MXNetError, match="index 7 at place 1"):
        failed.asnumpy()


def test_what_a_gradient_is_added_to_keeps_the_error_of_what_was_not_added():
    rows = nd.ones((3, 2))
    rows.attach_grad("add")
    for index in (7, 1):
        with mx.autograd.record():
            found = nd.take(rows, nd.array([index]), mode="raise")
        found.backward()
    with pytest.raises(mx.MXNetError, match="index 7 at place 0"):
        rows.grad.asnumpy()
    with pytest.raises(mx.MXNetError, match="index 7 at place 0"):
        nd.waitall()  # the lookup itself, of which the gradient does not come


def test_a_failed_forward_of_an_executor_fails_no_other():
    x, rows = mx.sym.var("x"), mx.sym.var("rows")
    found = mx.sym.exp(mx.sym.take(rows, x * 1, mode="raise"))
    executor = found.bind(mx.cpu(), {"x": nd.array([1]), "rows": nd.ones((3, 2))})
    right = executor.forward()[0].asnumpy().tolist()
    failed = executor.forward(x=nd.array([7]))[0]
    assert executor.forward(x=nd.array([1]))[0].asnumpy().tolist() == right
    with pytest.raises(mx.MXNetError, match="index 7 at place 0"):
        failed.asnumpy()


def test_an_executor_names_the_node():
    x, rows = mx.sym.var("x"), mx.sym.var("rows")
    found = mx.sym.take(rows, mx.sym.relu(x) * 1, mode="raise", name="lookup")
    executor = mx.sym.exp(found).bind(mx.cpu(), {"x": nd.array([7]), "rows": nd.ones((3, 2))})
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match=TOLD.format("lookup")):
            executor.forward()[0].wait_to_read()
    executor.forward(x=nd.array([2]))[0].wait_to_read()


def test_operators_outside_of_networks_name_none():
    with pytest.raises(mx.MXNetError) as told, mx.engine.bulk(10):
        nd.take(nd.ones((3, 2)), nd.array([7]) * 1, mode="raise").wait_to_read()
    assert "Operator take" in str(told.value) and "node" not in str(told.value)


def test_a_failed_operator_fails_no_other_that_has_only_its_workspace():
    data = nd.ones((3, 1, 4))
    wrong, right = nd.array([[99, 1]]), nd.array([[2, 1]])
    failed = nd.CTCLoss(data, wrong)
    others = [nd.CTCLoss(data, right) for _ in range(8)]  # more than a thread has workspaces
    assert len({item.asscalar() for item in others}) == 1
    with pytest.raises(mx.MXNetError, match="label 99 of sample 0"):
        failed.asnumpy()
