# SPDX-License-Identifier: Apache-2.0
"""Samples have gradients by the parameters they were drawn with."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

# name: (parameters, derivative of a sample by each of them)
CASES = {
    "exponential": ([1.5], [lambda y, scale: y / scale]),
    "rayleigh": ([1.5], [lambda y, scale: y / scale]),
    "gumbel": ([0.5, 2.0], [lambda y, loc, scale: 1, lambda y, loc, scale: (y - loc) / scale]),
    "laplace": ([0.5, 2.0], [lambda y, loc, scale: 1, lambda y, loc, scale: (y - loc) / scale]),
    "logistic": ([0.5, 2.0], [lambda y, loc, scale: 1, lambda y, loc, scale: (y - loc) / scale]),
    "normal": ([0.5, 2.0], [lambda y, loc, scale: 1, lambda y, loc, scale: (y - loc) / scale]),
    "lognormal": ([0.5, 0.7], [lambda y, mean, sigma: y,
                               lambda y, mean, sigma: y * (onp.log(y) - mean) / sigma]),
    "weibull": ([1.7], [lambda y, a: -y * onp.log(y) / a]),
    "pareto": ([1.7], [lambda y, a: -(1 + y) * onp.log(1 + y) / a]),
    "power": ([1.7], [lambda y, a: -y * onp.log(y) / a]),
}


@pytest.mark.parametrize("size", [None, (4, 3)], ids=["shape of the parameters", "size"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_samples_have_gradients_by_their_parameters(name, size):
    values, slopes = CASES[name]
    parameters = [np.full(3, value, dtype="float64") for value in values]
    for item in parameters:
        item.attach_grad()
    mx.random.seed(3)
    with autograd.record():
        y = getattr(np.random, name)(*parameters, size=size, dtype="float64")
    assert y.shape == (size or (3,))
    y.backward()
    drawn = y.asnumpy()
    for item, slope in zip(parameters, slopes):
        right = onp.broadcast_to(slope(drawn, *values), drawn.shape).reshape(-1, 3).sum(axis=0)
        onp.testing.assert_allclose(item.grad.asnumpy(), right, rtol=1e-9)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"normal"}))
def test_recorded_samples_are_distributed_as_others(name):
    values = CASES[name][0]
    mx.random.seed(5)
    with autograd.record():
        recorded = getattr(np.random, name)(*[np.full(20000, value) for value in values]).asnumpy()
    plain = getattr(np.random, name)(*values, size=20000).asnumpy()
    for share in (0.1, 0.5, 0.9):
        low, high = onp.quantile(plain, [share - 0.02, share + 0.02])
        assert low < onp.quantile(recorded, share) < high


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_parameters_below_0_are_refused_wherever_they_stand(name, recorded):
    """One bad element of an array is enough; recorded samples are made in another way than others."""
    good = CASES[name][0]
    parameters = [np.full(3, value) for value in good[:-1]] + [np.array([good[-1], -1.0, good[-1]])]
    for item in parameters:
        item.attach_grad()
    with autograd.record() if recorded else autograd.pause(), pytest.raises(ValueError, match="(scale|sigma|a) <=? ?0"):
        getattr(np.random, name)(*parameters)


def test_a_number_that_is_no_deviation_is_a_value_error():
    with pytest.raises(ValueError, match="scale=-1 is below 0"):
        np.random.normal(0, -1, (2, 2))


@pytest.mark.parametrize("name, count", [("beta", 2), ("chisquare", 1), ("gamma", 1), ("gamma", 2)])
def test_samples_without_gradients_are_refused_while_recording(name, count):
    """Beside another use of the parameters, their part of the gradient would be missing in silence."""
    draw, parameters = getattr(np.random, name), [np.array([1.5, 2.5]) for _ in range(count)]
    parameters[0].attach_grad()
    with autograd.record():
        with pytest.raises(NotImplementedError, match=f"random.{name} .* autograd.pause"):
            draw(*parameters) + parameters[0]
        with autograd.pause():
            assert draw(*parameters).shape == (2,)
        assert draw(*[1.5] * count, size=(3,)).shape == (3,)
        assert np.random.poisson(parameters[0]).shape == (2,)  # whole numbers have no gradient anyway


@pytest.mark.parametrize("draw", (lambda out: np.random.normal(np.array([5.0, 6.0]), 1e-3, out=out),
                                  lambda out: np.random.uniform(np.array([5.0, 6.0]), np.array([5.01, 6.01]), out=out)), ids=("normal", "uniform"))
def test_samples_of_arrays_go_where_they_are_wanted(draw):
    out = np.zeros(2)
    assert draw(out) is out
    assert out.asnumpy() == pytest.approx([5, 6], abs=0.1)
