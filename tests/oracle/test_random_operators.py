# SPDX-License-Identifier: Apache-2.0
"""Operators whose results are random: types, bounds, moments, that a seed repeats them and another
one does not, and that Dropout's gradient drops what the result dropped."""

import numpy
import pytest


COUNT = 20000
DEVIATIONS = 5  # of a mean over COUNT numbers: a wrong moment is far outside

# operator, parameters, type, mean, variance, least, most
DRAWS = [
    ("_random_uniform", {}, "float32", 0.5, 1 / 12, 0, 1),
    ("_random_uniform", {"low": "2", "high": "6"}, "float32", 4, 16 / 12, 2, 6),
    ("_random_uniform", {"low": "-1", "dtype": "float64"}, "float64", 0, 4 / 12, -1, 1),
    ("_random_uniform", {"high": "3", "dtype": "float16"}, "float16", 1.5, 9 / 12, 0, 3),
    ("_random_normal", {}, "float32", 0, 1, -6, 6),
    ("_random_normal", {"loc": "1", "scale": "2"}, "float32", 1, 4, -11, 13),
    ("_random_normal", {"loc": "-3", "dtype": "float64"}, "float64", -3, 1, -9, 3),
    ("_random_normal", {"scale": "0.5", "dtype": "float16"}, "float16", 0, 0.25, -3, 3),
    ("_random_randint", {"low": "0", "high": "5"}, "int32", 2, 2, 0, 4),
    ("_random_randint", {"low": "-3", "high": "3"}, "int32", -0.5, 35 / 12, -3, 2),
    ("_random_randint", {"low": "7", "high": "8"}, "int32", 7, 0, 7, 7),
    ("_random_randint", {"low": "0", "high": "1000", "dtype": "int64"}, "int64", 499.5, 999999 / 12,
     0, 999),
    ("_npi_uniform", {"low": "0", "high": "1"}, "float32", 0.5, 1 / 12, 0, 1),
    ("_npi_uniform", {"low": "-2", "high": "2"}, "float32", 0, 16 / 12, -2, 2),
    ("_npi_uniform", {"low": "5", "high": "6", "dtype": "float64"}, "float64", 5.5, 1 / 12, 5, 6),
    ("_npi_uniform", {"low": "0", "high": "8", "dtype": "float16"}, "float16", 4, 64 / 12, 0, 8),
    ("_npi_normal", {"loc": "0", "scale": "1"}, "float32", 0, 1, -6, 6),
    ("_npi_normal", {"loc": "4", "scale": "3"}, "float32", 4, 9, -14, 22),
    ("_npi_normal", {"loc": "0", "scale": "1", "dtype": "float64"}, "float64", 0, 1, -6, 6),
    ("_npi_normal", {"loc": "-1", "scale": "2", "dtype": "float16"}, "float16", -1, 4, -13, 11),
]
IDS = ["-".join([draw[0]] + [f"{key}={value}" for key, value in draw[1].items()]) for draw in DRAWS]


def draw(runtime, operator, parameters, shape):
    key = "size" if operator.startswith("_npi") else "shape"
    runtime.numpy_shapes(True)
    return runtime.invoke(operator, [], {**parameters, key: str(shape)})[0].numpy()


@pytest.mark.parametrize("case", DRAWS, ids=IDS)
def test_numbers_have_type_bounds_and_moments(runtime, case):
    operator, parameters, dtype, mean, variance, least, most = case
    runtime.seed(7)
    numbers = draw(runtime, operator, parameters, (100, COUNT // 100))
    assert numbers.dtype == dtype and numbers.shape == (100, COUNT // 100)
    assert numbers.min() >= least and numbers.max() <= most
    numbers = numbers.astype("float64")
    assert abs(numbers.mean() - mean) <= DEVIATIONS * (variance / COUNT) ** 0.5
    assert abs(numbers.var() - variance) <= 0.05 * variance


@pytest.mark.parametrize("case", DRAWS, ids=IDS)
def test_seed_repeats_numbers_and_another_does_not(runtime, case):
    operator, parameters, *_, least, most = case
    drawn = []
    for seed in (3, 3, 4):
        runtime.seed(seed)
        drawn.append(draw(runtime, operator, parameters, (50,)))
    assert (drawn[0] == drawn[1]).all()
    assert least == most or (drawn[0] != drawn[2]).any()
    assert least == most or (draw(runtime, operator, parameters, (50,)) != drawn[2]).any()


@pytest.mark.parametrize("case", DRAWS, ids=IDS)
def test_shapes_may_be_empty_one_and_places_in_others(runtime, case):
    operator, parameters, dtype, *_ = case
    assert draw(runtime, operator, parameters, (0, 3)).shape == (0, 3)
    assert draw(runtime, operator, parameters, (1,)).shape == (1,)
    place = runtime.view(numpy.zeros((3, 5), dtype))
    key = "size" if operator.startswith("_npi") else "shape"
    runtime.seed(5)
    runtime.invoke(operator, [], {**parameters, key: "(3, 5)"}, [place])
    runtime.seed(5)
    assert (place.numpy() == draw(runtime, operator, parameters, (3, 5))).all()
    assert place.guards_hold()


@pytest.mark.parametrize("shape", [(500,), (40, 3), (7, 2, 2), (1,), (0, 4)])
def test_shuffle_permutes_the_first_axis(runtime, shape):
    runtime.numpy_shapes(True)
    values = numpy.arange(numpy.prod(shape), dtype="float32").reshape(shape)
    shuffled = []
    for seed in (3, 3, 4):
        runtime.seed(seed)
        shuffled.append(runtime.invoke("_shuffle", [runtime.view(values)], {})[0].numpy())
    rows = sorted(row.tolist() for row in shuffled[0])
    assert rows == [row.tolist() for row in values]
    assert (shuffled[0] == shuffled[1]).all()
    assert shape[0] < 40 or ((shuffled[0] != shuffled[2]).any() and (shuffled[0] != values).any())


def dropped(runtime, values, parameters, training):
    """The result and the gradient for a gradient of ones."""
    variable, gradient = runtime.array(values), runtime.array(numpy.zeros_like(values))
    runtime.train_mode(True, training)
    runtime.mark([variable], [gradient])
    outputs = runtime.invoke("Dropout", [variable], parameters)
    runtime.train_mode(False, False)
    runtime.backward(outputs, [runtime.array(numpy.ones_like(values))], training)
    return outputs[0].numpy(), gradient.numpy()


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("mode", ["training", "always"])
def test_dropout_scales_what_it_keeps_and_its_gradient_has_the_same_mask(runtime, p, mode):
    runtime.seed(11)
    values = numpy.full((100, COUNT // 100), 2, "float32")
    result, gradient = dropped(runtime, values, {"p": str(p), "mode": mode}, mode == "training")
    kept = result != 0
    numpy.testing.assert_allclose(result[kept], 2 / (1 - p), 1e-6)
    numpy.testing.assert_allclose(gradient, kept / (1 - p), 1e-6)
    assert abs(kept.mean() - (1 - p)) <= DEVIATIONS * (p * (1 - p) / COUNT) ** 0.5


@pytest.mark.parametrize("axes, like", [("(0,)", (1, 40, 6)), ("(1,)", (50, 1, 6)),
                                        ("(0,2)", (1, 40, 1)), ("(1,2)", (50, 1, 1))])
def test_dropout_has_one_mask_along_axes(runtime, axes, like):
    runtime.seed(12)
    result, gradient = dropped(runtime, numpy.ones((50, 40, 6), "float32"),
                               {"p": "0.5", "axes": axes}, True)
    mask = result[tuple(slice(0, size) for size in like)]
    assert (result == numpy.broadcast_to(mask, result.shape)).all()
    assert (gradient == result).all() and 0 < (mask != 0).mean() < 1


def test_dropout_changes_nothing_outside_of_training(runtime):
    values = numpy.arange(6, dtype="float32").reshape(2, 3)
    result, gradient = dropped(runtime, values, {"p": "0.5"}, False)
    assert (result == values).all() and (gradient == 1).all()


def leaked(runtime, values, training):
    """Of rrelu: the result, the slopes, and the gradient for a gradient of ones."""
    variable, gradient = runtime.array(values), runtime.array(numpy.zeros_like(values))
    runtime.train_mode(True, training)
    runtime.mark([variable], [gradient])
    outputs = runtime.invoke("LeakyReLU", [variable], {"act_type": "rrelu", "lower_bound": "0.25",
                                                       "upper_bound": "0.75"})
    runtime.train_mode(False, False)
    heads = [runtime.array(head) for head in (numpy.ones_like(values), numpy.zeros_like(values))]
    runtime.backward(outputs, heads, training)
    return outputs[0].numpy(), outputs[1].numpy(), gradient.numpy()


def test_rrelu_draws_slopes_in_training(runtime):
    runtime.seed(13)
    values = numpy.linspace(-1, 1, COUNT, dtype="float32")
    result, slopes, gradient = leaked(runtime, values, True)
    below = values < 0
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75
    assert abs(slopes.mean() - 0.5) <= DEVIATIONS * (0.25 / 12 / COUNT) ** 0.5
    assert abs(slopes.var() - 0.25 / 12) <= 0.05 * 0.25 / 12
    numpy.testing.assert_allclose(result, numpy.where(below, values * slopes, values), 1e-6)
    numpy.testing.assert_allclose(gradient, numpy.where(below, slopes, 1), 1e-6)


def test_rrelu_has_the_mean_of_its_slopes_outside_of_training(runtime):
    values = numpy.float32([-2, -1, 1, 2])
    result, slopes, gradient = leaked(runtime, values, False)
    assert result.tolist() == [-1, -0.5, 1, 2] and (slopes == 0.5).all()
    assert gradient.tolist() == [0.5, 0.5, 1, 1]
