# SPDX-License-Identifier: Apache-2.0
"""Executors: a symbol bound to arrays, against NumPy."""
import json
import os

import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd, sym

X = onp.random.RandomState(3).uniform(-1, 1, (4, 5)).astype("float32")
W = onp.random.RandomState(4).uniform(-1, 1, (3, 5)).astype("float32")
B = onp.array([0.5, -0.5, 0.25], dtype="float32")
HEAD = onp.random.RandomState(5).uniform(-1, 1, (4, 3)).astype("float32")


def network():
    return sym.relu(sym.FullyConnected(sym.var("x"), sym.var("w"), sym.var("b"), num_hidden=3, name="fc"), name="out")


def arrays():
    return {"x": nd.array(X), "w": nd.array(W), "b": nd.array(B)}


def expected():
    before = X @ W.T + B
    slope = HEAD * (before > 0)
    return onp.maximum(before, 0), {"x": slope @ W, "w": slope.T @ X, "b": slope.sum(axis=0)}


def assert_close(array, wanted):
    onp.testing.assert_allclose(array.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def bound(**settings):
    return network().bind(mx.cpu(), arrays(), args_grad={name: nd.zeros(item.shape) for name, item in arrays().items()}, **settings)


def test_outputs_and_gradients_are_those_of_numpy():
    executor, (output, gradients) = bound(), expected()
    assert_close(executor.forward(is_train=True)[0], output)
    executor.backward(nd.array(HEAD))
    for name, wanted in gradients.items():
        assert_close(executor.grad_dict[name], wanted)
    assert list(executor.output_dict) == ["out_output"] and list(executor.arg_dict) == ["x", "w", "b"]


@pytest.mark.parametrize("request_,times", [
    ("write", {"x": 1, "w": 1, "b": 1}), ("add", {"x": 2, "w": 2, "b": 2}), ("null", {"x": 0, "w": 0, "b": 0}),
    (["write", "null", "add"], {"x": 1, "w": 0, "b": 2}), ({"w": "add"}, {"x": 0, "w": 2, "b": 0})])
def test_requests_say_how_gradients_are_written(request_, times):
    executor, (_, gradients) = bound(grad_req=request_), expected()
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward([nd.array(HEAD)])
    for name, wanted in gradients.items():
        assert_close(executor.grad_dict[name], times[name] * wanted)


def test_values_by_name_and_parameters():
    executor, (output, _) = bound(), expected()
    assert_close(executor.forward(x=2 * X)[0], onp.maximum(2 * X @ W.T + B, 0))
    assert_close(executor.arg_dict["x"], 2 * X)
    executor.copy_params_from({"x": nd.array(X)})
    assert_close(executor.forward()[0], output)
    with pytest.raises(ValueError, match='Find name "nobody" that is not in the arguments'):
        executor.copy_params_from({"nobody": nd.array(X)})
    executor.copy_params_from({"nobody": nd.array(X)}, allow_extra_params=True)


def test_simple_bind_makes_arrays_of_inferred_shapes():
    net = sym.BatchNorm(sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc"), name="bn")
    executor = net.simple_bind(mx.cpu(), grad_req={"fc_weight": "write"}, data=(4, 5))
    assert {name: item.shape for name, item in executor.arg_dict.items()} == {
        "data": (4, 5), "fc_weight": (3, 5), "fc_bias": (3,), "bn_gamma": (3,), "bn_beta": (3,)}
    assert [name for name, item in executor.grad_dict.items() if item is not None] == ["fc_weight"]
    assert {name: item.shape for name, item in executor.aux_dict.items()} == {"bn_moving_mean": (3,), "bn_moving_var": (3,)}
    half = net.simple_bind(mx.cpu(), type_dict={"data": "float64"}, data=(4, 5))
    assert half.arg_dict["fc_weight"].dtype == onp.float64
    with pytest.raises(RuntimeError, match=r"simple_bind error. Arguments:\ndata: \(4, 7\)\nfc_weight: \(3, 9\)\n.*fc"):
        net.simple_bind(mx.cpu(), data=(4, 7), fc_weight=(3, 9))
    with pytest.raises(ValueError, match="no argument nobody"):
        net.simple_bind(mx.cpu(), data=(4, 5), nobody=(2,))


def test_moving_averages_are_updated_by_backward_alone():
    net = sym.BatchNorm(sym.var("x"), fix_gamma=False, momentum=0.5, name="bn")
    states = [nd.zeros(5), nd.ones(5)]
    executor = net.bind(mx.cpu(), [nd.array(X), nd.ones(5), nd.zeros(5)], args_grad={"x": nd.zeros(X.shape)}, aux_states=states)
    executor.forward(is_train=False)
    assert (states[0].asnumpy() == 0).all()
    executor.forward(is_train=True)
    executor.backward(nd.ones(X.shape))
    assert_close(executor.aux_dict["bn_moving_mean"], 0.5 * X.mean(axis=0))


def test_reshaping_shares_arrays():
    executor = bound()
    smaller = executor.reshape(x=(2, 5))
    assert smaller.arg_dict["w"] is executor.arg_dict["w"] and smaller.arg_dict["x"].shape == (2, 5)
    assert_close(smaller.forward()[0], expected()[0][:2])
    assert smaller.grad_dict["x"].shape == (2, 5)
    with pytest.raises(mx.MXNetError, match="allow_up_sizing=True"):
        executor.reshape(x=(9, 5))
    assert executor.reshape(allow_up_sizing=True, x=(9, 5)).forward()[0].shape == (9, 3)
    with pytest.raises(mx.MXNetError, match="partial_shaping=True"):
        executor.reshape(x=(4, 2))
    assert executor.reshape(partial_shaping=True, x=(4, 2)).arg_dict["w"].shape == (3, 2)


def test_a_monitor_is_told_of_every_output():
    executor, seen = bound(), []
    executor.set_monitor_callback(lambda name, array: seen.append((name, array.shape)))
    executor.forward()
    assert seen == [("fc_output", (4, 3)), ("out_output", (4, 3))]
    assert "fc" in executor.debug_str()
    assert executor.get_optimized_symbol().list_arguments() == ["x", "w", "b"]


def test_a_monitor_of_all_is_told_of_variables_and_inputs():
    """By the names that MXNet has for them, which are none for most operators of one array."""
    fc = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc")
    net = mx.sym.Concat(mx.sym.softmax(mx.sym.Activation(fc, act_type="relu", name="act"), name="soft"), fc, name="cat")
    executor, seen = net.simple_bind(mx.cpu(), x=(2, 3)), []
    executor.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=True)
    executor.forward()
    assert seen == ["x", "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output", "act_input0", "act_output",
                    "soft_data", "soft_output", "cat_arg0", "cat_arg1", "cat_output"]


def test_what_is_refused():
    net, given = network(), arrays()
    cases = [
        (lambda: net.bind(mx.cpu(), {"x": given["x"]}), ValueError, "key `w` is missing in `args`"),
        (lambda: net.bind(mx.cpu(), [given["x"]]), ValueError, "Length of args does not match"),
        (lambda: net.bind(mx.cpu(), {"x": 3, "w": 4, "b": 5}), TypeError, "Only accept list of NDArrays"),
        (lambda: net.bind(mx.cpu(), 3), TypeError, "Only accept list of NDArrays"),
        (lambda: net.bind(mx.cpu(), {**given, "w": nd.ones((3, 4))}).forward(), mx.MXNetError, "fc"),
        (lambda: net.bind(mx.cpu(), given, args_grad={"w": nd.zeros((2, 2))}), mx.MXNetError, "w"),
        (lambda: bound(grad_req="maybe"), ValueError, "grad_req must be in"),
        (lambda: bound(grad_req=["write"]), ValueError, "1 requests are given, but there are 3"),
        (lambda: bound(group2ctx={"a": mx.cpu(1)}), mx.MXNetError, "one device"),
        (lambda: bound().forward(nobody=given["x"]), TypeError, "Unknown argument nobody"),
        (lambda: bound().forward(x=nd.ones((2, 5))), ValueError, "Shape not match! Argument x, need: .4, 5., received: .2, 5."),
        (lambda: bound().forward(x=[[1]]), ValueError, "only accept keyword argument of NDArrays"),
        (lambda: bound().backward(nd.array(HEAD)), mx.MXNetError, "run forward first"),
        (lambda: bound().backward(3), TypeError, "inputs must be NDArray"),
        (lambda: net.gradient(["w"]), mx.MXNetError, "not implemented"),
    ]
    for use, kind, text in cases:
        with pytest.raises(kind, match=text):
            use()
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="cannot decide shapes .*\nx: None, w: None"):
        net.simple_bind(mx.cpu())
    half = mx.sym.FullyConnected(mx.sym.var("x", shape=(0, 5)), num_hidden=3, name="fc")
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match=r"inputs:\nx: \[-1, 5\], $"):
        half.simple_bind(mx.cpu())


def fills(executor, backwards):
    """How many arrays are filled with a number while the executor trains."""
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=os.devnull)
    mx.profiler.set_state("run")
    for _ in range(backwards):
        executor.forward(is_train=True)
        executor.backward()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    rows = json.loads(mx.profiler.dumps(reset=True, format="json"))["Time"].get("operator", {})
    return rows.get("SetValueOp", {"Count": 0})["Count"]


def test_gradients_of_outputs_are_filled_once_and_not_where_nobody_reads_them():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    executor = net.simple_bind(mx.cpu(), data=(2, 4))
    assert [fills(executor, 3), fills(executor, 3)] == [1, 0]
    loss = mx.sym.SoftmaxOutput(net, name="softmax").simple_bind(mx.cpu(), data=(2, 4))
    assert fills(loss, 3) == 0
