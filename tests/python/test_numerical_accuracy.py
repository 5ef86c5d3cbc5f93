# SPDX-License-Identifier: Apache-2.0
"""Functions of networks against the same computed by NumPy with doubles: float64 arrays are computed
with parameters of float64, float32 ones to its last digits."""
import numpy as onp
import pytest

from mxnet import autograd, nd, np, npx


def log_softmax(values):
    less = values - values.max(axis=-1, keepdims=True)
    return less - onp.log(onp.exp(less).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("dtype, tolerance", (("float32", 2e-7), ("float64", 1e-14)))
def test_log_softmax_has_the_digits_of_its_type(dtype, tolerance):
    random = onp.random.default_rng(2)
    for values in (onp.array([[1.0291268, -1.3734132]]), random.normal(0, 3, (50, 10)), random.normal(0, 30, (5, 1000))):
        array = np.array(values.astype(dtype), dtype=dtype)
        wanted = log_softmax(array.asnumpy().astype("float64"))
        onp.testing.assert_allclose(npx.log_softmax(array).asnumpy(), wanted, rtol=tolerance, atol=1e-15)
    assert nd.log_softmax(nd.array([[1e30, 0]])).asnumpy().tolist() == [[0, onp.float32(-1e30)]]


@pytest.mark.parametrize("function", (np.tanh, lambda x: npx.activation(x, act_type="tanh")))
def test_tanh_is_right_to_two_units_of_the_last_place(function):
    values = onp.concatenate([onp.linspace(-12, 12, 40001), onp.geomspace(1e-30, 1, 5001)]).astype("float32")
    wanted = onp.tanh(values.astype("float64"))
    ours = function(np.array(values)).asnumpy()
    units = abs(ours - wanted) / onp.spacing(abs(wanted).astype("float32"))
    assert units.max() < 2
    onp.testing.assert_array_equal(function(np.array(-values)).asnumpy(), -ours)
    special = function(np.array([onp.inf, -onp.inf, -0.0, onp.nan], dtype="float32")).asnumpy()
    onp.testing.assert_array_equal(special, onp.array([1, -1, -0.0, onp.nan], dtype="float32"))
    assert onp.signbit(special[2])


@pytest.mark.parametrize("function", (npx.sigmoid, lambda x: npx.activation(x, act_type="sigmoid")))
def test_sigmoid_is_right_to_three_units_of_the_last_place(function):
    values = onp.concatenate([onp.linspace(-103, 103, 40001), onp.linspace(-8, 8, 5001)]).astype("float32")
    wanted = 1 / (1 + onp.exp(-values.astype("float64")))
    units = abs(function(np.array(values)).asnumpy() - wanted) / onp.spacing(wanted.astype("float32"))
    assert units.max() < 3
    special = function(np.array([onp.inf, -onp.inf, -1e30, 0, onp.nan], dtype="float32")).asnumpy()
    onp.testing.assert_array_equal(special, onp.array([1, 0, 0, 0.5, onp.nan], dtype="float32"))


@pytest.mark.parametrize("rows, columns", ((8, 8), (40, 3), (64, 64)))
def test_deep_products_keep_the_digits_of_sums_of_parts(rows, columns):
    random = onp.random.default_rng(5)
    a, b = random.uniform(0, 1, (rows, 50000)).astype("float32"), random.uniform(0, 1, (50000, columns)).astype("float32")
    wanted = a.astype("float64") @ b.astype("float64")
    for product in (nd.dot(nd.array(a), nd.array(b)), nd.dot(nd.array(a.T.copy()), nd.array(b), transpose_a=True),
                    nd.FullyConnected(nd.array(a), nd.array(b.T.copy()), num_hidden=columns, no_bias=True)):
        assert (abs(product.asnumpy() - wanted) / wanted).max() < 4e-6


def test_parameters_of_float64_arrays_keep_their_digits():
    values = onp.array([[1.0, 2, 4], [0.5, -3, 7]])
    x = np.array(values, dtype="float64")
    ones, zeros = np.ones(3, dtype="float64"), np.zeros(3, dtype="float64")
    mean, variance = values.mean(1, keepdims=True), values.var(1, keepdims=True)
    exactly = {"rtol": 1e-14, "atol": 1e-14}
    onp.testing.assert_allclose(npx.layer_norm(x, ones, zeros, eps=0.1).asnumpy(), (values - mean) / (variance + 0.1)**0.5, **exactly)
    onp.testing.assert_allclose(npx.leaky_relu(x, slope=0.1).asnumpy(), onp.where(values > 0, values, 0.1 * values), **exactly)
    wanted = onp.where(abs(values) < 1 / 1.1**2, (1.1 * values)**2 / 2, abs(values) - 0.5 / 1.1**2)
    onp.testing.assert_allclose(npx.smooth_l1(x, scalar=1.1).asnumpy(), wanted, **exactly)
    with autograd.record():
        dropped = npx.dropout(np.ones(100, dtype="float64"), p=0.1).asnumpy()
    onp.testing.assert_allclose(dropped[dropped != 0], 1 / 0.9, **exactly)


def test_running_statistics_move_by_the_whole_momentum():
    x = nd.array(onp.arange(12).reshape(3, 4), dtype="float64")
    ones, moving = [nd.ones(4, dtype="float64") for _ in range(2)], nd.zeros(4, dtype="float64")
    variance = nd.ones(4, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(x, ones[0], ones[1], moving, variance, momentum=0.9, fix_gamma=False)
    y.backward()
    onp.testing.assert_allclose(moving.asnumpy(), 0.1 * x.asnumpy().mean(0), rtol=1e-14)
