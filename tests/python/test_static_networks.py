# SPDX-License-Identifier: Apache-2.0
"""Cached operators that keep memory and operations between calls, against the same network run call by call."""
import gc
import json
import os
import threading

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd, profiler, sym
from mxnet._cached_op import CachedOp
from python_program import run_python

STATIC = [("static_alloc", True)]
WHOLE = STATIC + [("static_shape", True)]
FLAGS = [STATIC, WHOLE, WHOLE + [("forward_bulk_size", 3), ("backward_bulk_size", 2)],
         WHOLE + [("forward_bulk_size", 0), ("backward_bulk_size", 0)]]


def network():
    """Shared values, an output that is used inside, one that is an input, states that operators write."""
    x = sym.var("x")
    dense = sym.FullyConnected(x, num_hidden=8, name="fc1")
    normal = sym.BatchNorm(dense, fix_gamma=False, name="bn")
    positive = sym.Activation(normal, act_type="relu", name="r")
    second = sym.elemwise_add(positive, normal, name="plus")
    second = sym.tanh(sym.FullyConnected(second, num_hidden=8, name="fc2"), name="t")
    product = sym.elemwise_mul(second, positive, name="m")
    return sym.Group([sym.softmax(product, name="s"), product, x, sym.sum(second, name="all")])


def values(symbol, batch=4):
    random = onp.random.RandomState(1)
    arguments, _, states = symbol.infer_shape(x=(batch, 6))
    shapes = dict(zip(symbol.list_arguments() + symbol.list_auxiliary_states(), list(arguments) + list(states)))
    return {name: abs(random.randn(*shapes[name])).astype("float32") + ("var" in name) for name in symbol.list_inputs()}


class Trained:
    """A network with arrays for its variables, which make steps."""

    def __init__(self, flags, symbol=None, add=()):
        self.symbol = network() if symbol is None else symbol
        self.names = self.symbol.list_inputs()
        self.op = CachedOp(self.symbol, flags)
        self.arrays = {name: nd.array(value) for name, value in values(self.symbol).items()}
        self.learned = [name for name in self.names if name != "x" and "moving" not in name]
        for name in self.learned:
            self.arrays[name].attach_grad("add" if name in add else "write")

    def call(self, data=None):
        if data is not None:
            self.arrays["x"] = data
        outputs = self.op(*[self.arrays[name] for name in self.names])
        return outputs if isinstance(outputs, list) else [outputs]

    def step(self, data, heads=None):
        """The numbers after one step: outputs, gradients, variables."""
        with autograd.record():
            outputs = self.call(data)
            loss = sum((outputs[i] * outputs[i]).sum() for i in (range(len(outputs)) if heads is None else heads))
        loss.backward()
        for name in self.learned[::2]:
            self.arrays[name][:] = self.arrays[name] - 0.1 * self.arrays[name].grad
        return [item.asnumpy() for item in outputs] + [self.arrays[name].grad.asnumpy() for name in self.learned] + \
            [self.arrays[name].asnumpy() for name in self.names]


def batches(count, seed=7, sizes=(4,)):
    random = onp.random.RandomState(seed)
    return [random.randn(sizes[i % len(sizes)], 6).astype("float32") for i in range(count)]


def assert_same(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs):
        onp.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_steps_give_the_same_numbers(flags):
    ours, plain = Trained(flags, add=("fc1_weight",)), Trained([], add=("fc1_weight",))
    for batch in batches(8, sizes=(4, 4, 4, 7)):
        assert_same(ours.step(nd.array(batch)), plain.step(nd.array(batch)))


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_backward_from_some_of_the_outputs(flags):
    ours, plain = Trained(flags), Trained([])
    for heads in [(0,), (1, 2), (3,), (0, 3)]:
        data = nd.array(batches(1)[0])
        assert_same(ours.step(data, heads), plain.step(data, heads))


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("training", [False, True])
def test_calls_without_a_backward_give_the_same_numbers(flags, training):
    ours, plain = Trained(flags), Trained([])
    for batch in batches(6):
        with (autograd.train_mode() if training else autograd.predict_mode()):
            is_now, expected = ours.call(nd.array(batch)), plain.call(nd.array(batch))
        assert_same([item.asnumpy() for item in is_now], [item.asnumpy() for item in expected])
        assert_same([ours.arrays[name].asnumpy() for name in ours.names],
                    [plain.arrays[name].asnumpy() for name in plain.names])


def test_the_gradient_of_the_data_is_there_when_it_is_asked_for():
    ours, plain = Trained(WHOLE), Trained([])
    for asked in (False, True, True, False):
        found = []
        for net in (ours, plain):
            data = nd.array(batches(1)[0])
            if asked:
                data.attach_grad()
            net.step(data)
            found.append(data.grad.asnumpy() if asked else onp.zeros(1))
        onp.testing.assert_array_equal(*found)


def test_outputs_of_a_call_outlive_the_next_calls():
    net = Trained(WHOLE)
    before = [net.call(nd.array(batch)) for batch in batches(4)]
    plain = Trained([])
    for outputs, batch in zip(before, batches(4)):
        assert_same([item.asnumpy() for item in outputs], [item.asnumpy() for item in plain.call(nd.array(batch))])


def test_two_calls_are_recorded_before_either_goes_backward():
    """Each has memory of its own until its backward is over."""
    found = []
    for flags in (WHOLE, []):
        net = Trained(flags, add=Trained([]).learned)
        with autograd.record():
            first, second = (net.call(nd.array(batch))[0] for batch in batches(2))
            loss = (first * second).sum()
        loss.backward()
        found.append([net.arrays[name].grad.asnumpy() for name in net.learned])
    assert_same(*found)


def test_a_graph_that_is_kept_goes_backward_again():
    net, found = Trained(WHOLE), []
    with autograd.record():
        loss = net.call(nd.array(batches(1)[0]))[0].sum()
    for keep in (True, True, False):
        loss.backward(retain_graph=keep)
        found.append([net.arrays[name].grad.asnumpy() for name in net.learned])
    assert_same(found[0], found[1])
    assert_same(found[0], found[2])


PRINTS_NUMBERS = """
import hashlib, os, sys
sys.path.insert(0, {tests!r})
import test_static_networks as here
net = here.Trained(here.WHOLE)
steps = [net.step(here.nd.array(batch)) for batch in here.batches(4)]
print(hashlib.sha256(b"".join(item.tobytes() for step in steps for item in step)).hexdigest())
"""


def test_numbers_are_the_same_without_sharing_memory(tmp_path):
    program = PRINTS_NUMBERS.format(tests=os.path.dirname(__file__))
    found = [run_python(program, tmp_path, **settings).out for settings in (
        {}, {"NNVM_EXEC_MATCH_RANGE": "0"}, {"MXNET_EXEC_ENABLE_INPLACE": "0"}, {"NNVM_EXEC_MATCH_RANGE": "many"})]
    assert found[0].strip() and found == [found[0]] * 4


def test_a_tape_holds_a_network_that_was_deleted():
    net = Trained(WHOLE)
    with autograd.record():
        loss = net.call(nd.array(batches(1)[0]))[0].sum()
    del net.op
    gc.collect()
    loss.backward()
    assert abs(net.arrays["fc1_weight"].grad.asnumpy()).sum() > 0


def test_a_value_that_was_changed_after_the_call_is_an_error():
    net = Trained(WHOLE)
    with autograd.record():
        loss = net.call(nd.array(batches(1)[0]))[0].sum()
    net.arrays["fc2_weight"][:] = 0
    with pytest.raises(mx.MXNetError, match=r"_CachedOp: input \d+ of shape \(8,8\) was changed after it was recorded"):
        loss.backward()


def test_a_second_gradient_is_an_error():
    net = Trained(WHOLE)
    with autograd.record():
        loss = net.call(nd.array(batches(1)[0]))[1].sum()
        weight = net.arrays["fc1_weight"]
        with pytest.raises(mx.MXNetError, match="_CachedOp: a network with static_alloc has no second gradients"):
            autograd.grad(loss, [weight], create_graph=True, retain_graph=True)


def test_shapes_that_do_not_fit_name_the_node():
    net = Trained(WHOLE)
    net.call(nd.array(batches(1)[0]))
    with pytest.raises(mx.MXNetError, match="Error in operator fc1.*"):
        net.call(nd.ones((4, 9)))
    assert_same([item.asnumpy() for item in net.call(nd.array(batches(1)[0]))],
                [item.asnumpy() for item in Trained([]).call(nd.array(batches(1)[0]))])


def test_many_shapes_are_run_call_by_call_in_the_end():
    net, plain = Trained(WHOLE), Trained([])
    for size in range(1, 40):
        batch = batches(1, sizes=(size,))[0]
        assert_same(net.step(nd.array(batch)), plain.step(nd.array(batch)))


def test_an_operator_of_the_program_is_run_call_by_call():
    class Double(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("static_network_double")
    class DoubleProperty(mx.operator.CustomOpProp):  # pylint: disable=unused-variable
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Double()

    symbol = sym.exp(sym.Custom(sym.var("x"), op_type="static_network_double"))
    op, x = CachedOp(symbol, WHOLE), nd.array([0.5, 1.0])
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = op(x)
        y.backward()
        onp.testing.assert_allclose(y.asnumpy(), onp.exp([1.0, 2.0]), rtol=1e-6)
        onp.testing.assert_allclose(x.grad.asnumpy(), 2 * onp.exp([1.0, 2.0]), rtol=1e-6)


def test_threads_call_one_network_at_once():
    net, found = Trained(WHOLE), {}
    inputs = {name: array for name, array in net.arrays.items() if name != "x"}

    def work(number):
        outputs = []
        for batch in batches(20, seed=number):
            arrays = dict(inputs, x=nd.array(batch))
            outputs.append(net.op(*[arrays[name] for name in net.names])[0].asnumpy())
        found[number] = outputs

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        plain = Trained([])
        assert_same(found[number], [plain.call(nd.array(batch))[0].asnumpy() for batch in batches(20, seed=number)])


def test_dropout_draws_what_it_draws_call_by_call():
    symbol, found = sym.Dropout(sym.var("x"), p=0.5) * 2, []
    for flags in (WHOLE, []):
        mx.random.seed(5)
        op = CachedOp(symbol, flags)
        with autograd.train_mode():
            found.append([op(nd.ones((50,))).asnumpy() for _ in range(4)])
    assert_same(*found)
    assert not onp.array_equal(found[0][0], found[0][1])


def recorded(tmp_path, flags, **classes):
    """Operators of one step, with their counts, and the records of the bulks."""
    net = Trained(flags)
    for batch in batches(3):
        net.step(nd.array(batch))
    data = nd.array(batches(1)[0])
    nd.waitall()
    path = tmp_path / "profile.json"
    profiler.set_config(filename=str(path), **(classes or {"profile_all": True}))
    profiler.set_state("run")
    with autograd.record():
        loss = net.call(data)[0]
    loss.backward()
    nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    begins = [item["name"] for item in json.loads(path.read_text())["traceEvents"]
              if item.get("cat") == "operator" and item.get("ph") in ("B", "X")]
    members = sorted(name for name in begins if "[" not in name and name not in ("ImperativeBulk", "DeleteVariable"))
    return members, [name for name in begins if "[" in name]


def test_the_profile_has_the_same_operators(tmp_path):
    plain, none = recorded(tmp_path, [])
    assert none == [] and "_backward_FullyConnected" in plain
    for flags in FLAGS:
        assert recorded(tmp_path, flags)[0] == plain


def test_bulks_are_called_after_their_members(tmp_path):
    _, bulks = recorded(tmp_path, WHOLE)
    assert "[BatchNorm{name=bn},Activation{name=r},elemwise_add{name=plus},FullyConnected{name=fc2},tanh{name=t}]" in bulks
    assert any("_backward_BatchNorm{name=bn}" in name for name in bulks)


def test_a_static_graph_is_of_the_class_symbolic(tmp_path):
    symbolic = recorded(tmp_path, WHOLE, profile_symbolic=True, profile_imperative=False)[0]
    assert "BatchNorm" in symbolic and "_backward_BatchNorm" in symbolic
    imperative = recorded(tmp_path, WHOLE, profile_symbolic=False, profile_imperative=True)[0]
    assert "BatchNorm" not in imperative and "SetValueOp" in imperative
    assert "BatchNorm" in recorded(tmp_path, STATIC, profile_symbolic=False, profile_imperative=True)[0]
