# SPDX-License-Identifier: Apache-2.0
"""Layers and losses against NumPy, and their gradients against differences."""
import math

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

KINDS = pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
RANDOM = onp.random.RandomState(3)
X2 = RANDOM.uniform(-1, 1, (4, 6)).astype("float32")
X6 = onp.random.RandomState(6).uniform(-1, 1, (2, 6, 3, 2)).astype("float32")
X4 = RANDOM.uniform(-1, 1, (2, 3, 6, 5)).astype("float32")


def values_of(block):
    return {name: parameter.data().asnumpy().astype("float64")
            for name, parameter in block.collect_params().items()}


def windows(x, kernel, stride, pad, fill=0.0):
    """(N, C, kernel, H', W') of images."""
    x = onp.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=fill)
    height = (x.shape[2] - kernel[0]) // stride + 1
    width = (x.shape[3] - kernel[1]) // stride + 1
    return onp.stack([onp.stack([x[:, :, i:i + height * stride:stride, j:j + width * stride:stride]
                                 for j in range(kernel[1])], 2) for i in range(kernel[0])], 2)


def conv2d(x, p):
    w = windows(x, (3, 2), 2, 1)
    return onp.einsum("ncijhw,ocij->nohw", w, p["weight"]) + p["bias"][:, None, None]


def conv1d(x, p):
    x = x[:, :, 0]
    w = onp.stack([x[:, :, i:x.shape[2] - 2 + i] for i in range(3)], 2)
    return onp.maximum(onp.einsum("ncih,oci->noh", w, p["weight"]), 0)


def batch_norm(x, p):
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) / onp.sqrt(variance + 1e-5)


def layer_norm(x, p):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / onp.sqrt(variance + 1e-5) * p["gamma"] + p["beta"]


def group_norm(x, p):
    groups = x.reshape(len(x), 3, -1)
    mean, variance = groups.mean(2, keepdims=True), groups.var(2, keepdims=True)
    normal = ((groups - mean) / onp.sqrt(variance + 0.1)).reshape(x.shape)
    return normal * p["gamma"][:, None, None] + p["beta"][:, None, None]


def instance_norm(x, p):
    mean, variance = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    return (x - mean) / onp.sqrt(variance + 1e-5) * p["gamma"][:, None, None] + p["beta"][:, None, None]


def instance_norm_last(x, p):
    return instance_norm(x.swapaxes(1, 3), p).swapaxes(1, 3)


def gelu(x, p):
    return x * 0.5 * (1 + onp.vectorize(math.erf)(x / math.sqrt(2)))


def elu(x, p):
    return onp.where(x > 0, x, onp.expm1(x))


# What makes the layer, its name as MXNet makes it, and what it shows.
SHOWN = [
    (lambda: nn.Dense(3, in_units=2), "dense0", "Dense(2 -> 3, linear)"),
    (lambda: nn.Dense(4, "relu"), "dense0", "Dense(None -> 4, Activation(relu))"),
    (lambda: nn.Conv1D(3, 2), "conv0", "Conv1D(None -> 3, kernel_size=(2,), stride=(1,))"),
    (lambda: nn.Conv2D(4, (3, 2), 2, 1, 2, 2, activation="tanh", use_bias=False, in_channels=4), "conv0",
     "Conv2D(4 -> 4, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), dilation=(2, 2), groups=2, "
     "bias=False, Activation(tanh))"),
    (lambda: nn.Conv2D(4, 3, layout="NHWC", in_channels=2), "conv0",
     "Conv2D(2 -> 4, kernel_size=(3, 3), stride=(1, 1))"),
    (lambda: nn.MaxPool2D(2), "pool0", "MaxPool2D(size=(2, 2), stride=(2, 2), padding=(0, 0), ceil_mode=False, "
     "global_pool=False, pool_type=max, layout=NCHW)"),
    (nn.GlobalAvgPool1D, "pool0", "GlobalAvgPool1D(size=(1,), stride=(1,), padding=(0,), ceil_mode=True, "
     "global_pool=True, pool_type=avg, layout=NCW)"),
    (nn.BatchNorm, "batchnorm0", "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, "
     "use_global_stats=False, in_channels=None)"),
    (lambda: nn.LayerNorm(in_channels=3), "layernorm0", "LayerNorm(axis=-1, eps=1e-05, in_channels=3)"),
    (lambda: nn.GroupNorm(2), "groupnorm0",
     "GroupNorm(eps=1e-05, num_groups=2, center=True, scale=True, in_channels=None)"),
    (lambda: nn.InstanceNorm(in_channels=3), "instancenorm0",
     "InstanceNorm(eps=1e-05, axis=1, center=True, scale=False, in_channels=3)"),
    (lambda: nn.Dropout(0.5), "dropout0", "Dropout(p = 0.5, axes=())"),
    (lambda: nn.Embedding(5, 3), "embedding0", "Embedding(5 -> 3, float32)"),
    (lambda: nn.Activation("relu"), "relu0", "Activation(relu)"),
    (lambda: nn.Lambda("relu"), "lambda0", "Lambda(relu)"),
    (lambda: nn.HybridLambda(windows), "hybridlambda0", "HybridLambda(windows)"),
]


@pytest.mark.parametrize("make, name, shown", SHOWN)
def test_names_and_representations(make, name, shown):
    net = nn.Sequential(make(), prefix="net_")
    assert net[0].name == "net_" + name and repr(net[0]) == shown


# What makes the layer, its input, what it computes of the input and its parameters.
LAYERS = {
    "dense": (lambda: nn.Dense(5), X2, lambda x, p: x @ p["weight"].T + p["bias"]),
    "dense of images": (lambda: nn.Dense(5, "tanh", use_bias=False), X4,
                        lambda x, p: onp.tanh(x.reshape(2, -1) @ p["weight"].T)),
    "dense of rows": (lambda: nn.Dense(4, "sigmoid", flatten=False), X4,
                      lambda x, p: 1 / (1 + onp.exp(-(x @ p["weight"].T + p["bias"])))),
    "conv2d": (lambda: nn.Conv2D(4, (3, 2), strides=2, padding=1), X4, conv2d),
    "conv1d": (lambda: nn.HybridSequential(nn.HybridLambda(lambda x: x[:, :, 0]),
                                           nn.Conv1D(4, 3, activation="relu", use_bias=False)),
               X4, lambda x, p: conv1d(x, {"weight": p["1.weight"]})),
    "max pool": (lambda: nn.MaxPool2D(3, 2, 1), X4,
                 lambda x, p: windows(x, (3, 3), 2, 1, -onp.inf).max((2, 3))),
    "avg pool": (lambda: nn.AvgPool2D(2), X4, lambda x, p: windows(x, (2, 2), 2, 0).mean((2, 3))),
    "global avg pool": (nn.GlobalAvgPool2D, X4, lambda x, p: x.mean((2, 3), keepdims=True)),
    "global max pool": (nn.GlobalMaxPool2D, X4, lambda x, p: x.max((2, 3), keepdims=True)),
    "batch norm": (nn.BatchNorm, X4, batch_norm),
    "layer norm": (nn.LayerNorm, X4, layer_norm),
    "group norm": (lambda: nn.GroupNorm(3, epsilon=0.1), X6, group_norm),
    "instance norm": (lambda: nn.InstanceNorm(scale=True), X4, instance_norm),
    "instance norm of the last axis": (lambda: nn.InstanceNorm(3, scale=True), X4, instance_norm_last),
    "flatten": (nn.Flatten, X4, lambda x, p: x.reshape(2, -1)),
    "leaky relu": (lambda: nn.LeakyReLU(0.1), X2, lambda x, p: onp.where(x > 0, x, 0.1 * x)),
    "prelu": (nn.PReLU, X2, lambda x, p: onp.where(x > 0, x, 0.25 * x)),
    "elu": (nn.ELU, X2, elu),
    "selu": (nn.SELU, X2, lambda x, p: 1.0507009873554805 * onp.where(
        x > 0, x, 1.6732632423543772 * onp.expm1(x))),
    "gelu": (nn.GELU, X2, gelu),
    "swish": (lambda: nn.Swish(2.0), X2, lambda x, p: x / (1 + onp.exp(-2 * x))),
    "softrelu": (lambda: nn.Activation("softrelu"), X2, lambda x, p: onp.log1p(onp.exp(x))),
    "identity": (nn.Identity, X2, lambda x, p: x),
}


def made(name, kind):
    make, values, reference = LAYERS[name]
    mx.random.seed(5)
    block = make()
    block.initialize(mx.init.Uniform(0.5))
    x = kind.array(values)
    x.attach_grad()
    block(x)  # shapes are known from here on
    return block, x, values.astype("float64"), reference


@KINDS
@pytest.mark.parametrize("name", LAYERS)
def test_layers_compute_what_numpy_does(name, kind):
    block, x, values, reference = made(name, kind)
    with autograd.record():
        y = block(x)
    assert type(y) is type(x)
    onp.testing.assert_allclose(y.asnumpy(), reference(values, values_of(block)), rtol=1e-4,
                                atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_layers_are_those_of_differences(name):
    """Of a weighted sum, along one random direction of input and parameters each."""
    block, x, values, reference = made(name, mx.nd)
    parameters = values_of(block)
    weights = onp.random.RandomState(1).uniform(-1, 1, reference(values, parameters).shape)
    with autograd.record():
        total = (block(x) * mx.nd.array(weights)).sum()
    total.backward()

    def check(gradient, start, at):
        """`at(values)`: the sum where the input or parameter that was `start` has other values."""
        direction = onp.random.RandomState(2).uniform(-1, 1, start.shape)
        up, down = (at(start + sign * 1e-6 * direction) for sign in (1, -1))
        found = (gradient.asnumpy() * direction).sum()
        assert found == pytest.approx((up - down) / 2e-6, rel=2e-3, abs=1e-3)

    check(x.grad, values, lambda moved: (reference(moved, parameters) * weights).sum())
    if name in ("batch norm", "prelu"):  # their references leave the parameters out
        return
    for key, parameter in block.collect_params().items():
        check(parameter.grad(), parameters[key], lambda moved: (
            reference(values, {**parameters, key: moved}) * weights).sum())  # noqa: B023


@KINDS
def test_batch_norm_keeps_running_statistics(kind):
    block = nn.BatchNorm(momentum=0.8)
    block.initialize()
    x = kind.array(X4)
    with autograd.record():
        y = block(x)
    y.backward()  # as in MXNet, this is when the statistics change
    mean, variance = X4.mean((0, 2, 3)), X4.var((0, 2, 3))
    onp.testing.assert_allclose(block.running_mean.data().asnumpy(), 0.2 * mean, rtol=1e-4, atol=1e-6)
    onp.testing.assert_allclose(block.running_var.data().asnumpy(), 0.8 + 0.2 * variance, rtol=1e-4)
    kept = block.running_mean.data().asnumpy()
    y = block(x)  # not training: by the running statistics, which stay
    wanted = (X4 - kept[:, None, None]) / onp.sqrt(
        block.running_var.data().asnumpy()[:, None, None] + 1e-5)
    onp.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    assert (block.running_mean.data().asnumpy() == kept).all()


@KINDS
def test_dropout_in_training_only(kind):
    block, x = nn.Dropout(0.4), kind.ones((200, 200))
    assert (block(x).asnumpy() == 1).all()
    with autograd.record():
        y = block(x).asnumpy()
    assert set(onp.unique(y).round(4)) == {0, onp.float32(1 / 0.6).round(4)}
    assert 0.57 < (y > 0).mean() < 0.63


@KINDS
def test_embedding_takes_rows_and_adds_their_gradients(kind):
    block = nn.Embedding(5, 3)
    block.initialize()
    with autograd.record():
        y = block(kind.array([[1, 4], [1, 1]], dtype="int32"))
    y.backward()
    table = block.weight.data().asnumpy()
    assert (y.asnumpy() == table[[[1, 4], [1, 1]]]).all()
    assert block.weight.grad().asnumpy()[:, 0].tolist() == [0, 3, 0, 0, 1]


@KINDS
def test_functions_as_blocks(kind):
    x = kind.array(X2)
    for block in (nn.Lambda("tanh"), nn.HybridLambda("tanh"), nn.Lambda(lambda a: a.tanh())
                  if kind is mx.nd else nn.Lambda(mx.np.tanh)):
        onp.testing.assert_allclose(block(x).asnumpy(), onp.tanh(X2), rtol=1e-5)
    assert nn.HybridLambda(lambda F, a: F.relu(a))(mx.nd.array(X2)).asnumpy().min() == 0
    with pytest.raises(ValueError, match="no function 'nothing' in"):
        nn.Lambda("nothing")


# ---- losses ------------------------------------------------------------------------------------
PRED = RANDOM.uniform(-2, 2, (4, 3)).astype("float32")
LABEL = RANDOM.uniform(0, 1, (4, 3)).astype("float32")
CLASSES = onp.array([2, 0, 1, 1])


def log_softmax(x):
    return x - onp.log(onp.exp(x).sum(-1, keepdims=True))


def cross_entropy(p, y):
    return -(y * onp.log(1 / (1 + onp.exp(-p))) + (1 - y) * onp.log(1 - 1 / (1 + onp.exp(-p)))).mean(1)


LOSSES = {
    "l1": (gluon.loss.L1Loss(), LABEL, lambda p, y: abs(p - y).mean(1)),
    "l2": (gluon.loss.L2Loss(), LABEL, lambda p, y: ((p - y) ** 2).mean(1) / 2),
    "huber": (gluon.loss.HuberLoss(rho=0.5), LABEL, lambda p, y: onp.where(
        abs(p - y) > 0.5, abs(p - y) - 0.25, (p - y) ** 2).mean(1)),
    "sigmoid": (gluon.loss.SigmoidBCELoss(), LABEL, cross_entropy),
    "sigmoid weighed": (gluon.loss.SigmoidBCELoss(weight=0.5), LABEL,
                        lambda p, y: cross_entropy(p, y) / 2),
    "softmax": (gluon.loss.SoftmaxCELoss(), CLASSES,
                lambda p, y: -log_softmax(p)[onp.arange(4), y]),
    "softmax dense": (gluon.loss.SoftmaxCELoss(sparse_label=False), LABEL,
                      lambda p, y: -(log_softmax(p) * y).sum(1)),
    "logits": (gluon.loss.SoftmaxCELoss(from_logits=True), CLASSES,
               lambda p, y: -p[onp.arange(4), y]),
}


@KINDS
@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_their_gradients(name, kind):
    loss, labels, reference = LOSSES[name]
    pred, label = kind.array(PRED), kind.array(labels, dtype="float32")
    pred.attach_grad()
    with autograd.record():
        y = loss(pred, label)
    y.backward()
    values = PRED.astype("float64")
    onp.testing.assert_allclose(y.asnumpy(), reference(values, labels), rtol=1e-4, atol=1e-6)
    direction = onp.random.RandomState(2).uniform(-1, 1, PRED.shape)
    ends = [reference(values + sign * 1e-6 * direction, labels).sum() for sign in (1, -1)]
    assert (pred.grad.asnumpy() * direction).sum() == pytest.approx((ends[0] - ends[1]) / 2e-6,
                                                                   rel=1e-3, abs=1e-4)


@KINDS
@pytest.mark.parametrize("loss", [gluon.loss.L2Loss(), gluon.loss.L1Loss(), gluon.loss.SoftmaxCELoss(),
                                  gluon.loss.HuberLoss(), gluon.loss.SigmoidBCELoss()], ids=repr)
def test_labels_that_do_not_fit(loss, kind):
    with pytest.raises((mx.MXNetError, ValueError)):
        loss(kind.array(PRED), kind.ones((5,))).wait_to_read()


@KINDS
def test_weights_of_samples(kind):
    pred, label = kind.array(PRED), kind.array(LABEL)
    weights = onp.array([[1], [0], [2], [0.5]], "float32")
    y = gluon.loss.L1Loss()(pred, label, kind.array(weights))
    onp.testing.assert_allclose(y.asnumpy(), abs(PRED - LABEL).mean(1) * weights[:, 0], rtol=1e-5)
    positive = kind.array(onp.array([1, 2, 3], "float32"))
    p = 1 / (1 + onp.exp(-PRED.astype("float64")))
    wanted = -(LABEL * [1, 2, 3] * onp.log(p) + (1 - LABEL) * onp.log(1 - p)).mean(1)
    for from_sigmoid, given in ((False, PRED), (True, p)):
        loss = gluon.loss.SigmoidBCELoss(from_sigmoid)
        y = loss(kind.array(given, dtype="float32"), label, None, positive)
        onp.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-4)


@KINDS
def test_group_and_instance_norm_of_channels_that_do_not_fit(kind):
    for block in (nn.GroupNorm(4), nn.InstanceNorm(in_channels=5)):
        block.initialize()
        with pytest.raises(mx.MXNetError):
            block(kind.array(X4)).wait_to_read()


@KINDS
def test_norms_that_learn_nothing_keep_their_values(kind):
    block = nn.GroupNorm(3, center=False, scale=False, gamma_initializer=mx.init.Constant(2))
    block.initialize()
    y = block(kind.array(X6))
    assert block.gamma.grad_req == block.beta.grad_req == "null"
    onp.testing.assert_allclose(y.asnumpy().std(), 2, rtol=0.2)
    net = nn.HybridSequential(nn.InstanceNorm(3, scale=True))
    net.initialize()
    plain = net(kind.array(X4)).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    assert (net(kind.array(X4)).asnumpy() == plain).all()
