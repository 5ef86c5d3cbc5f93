# SPDX-License-Identifier: Apache-2.0
"""Optimizers as text: what is read from the text of an optimizer does what that does, number by number."""
import json
import random
import struct

import numpy as np
import pytest

import mxnet as mx
from mxnet.optimizer import optimizer as registry
from mxnet.optimizer import text as texts

OPTIMIZERS = {
    "sgd": [{}, {"momentum": 0.9, "wd": 1e-4}, {"clip_gradient": 0.3, "multi_precision": True}],
    "nag": [{}, {"momentum": 0.0}],
    "lars": [{"momentum": 0.9}, {"eta": 0.01, "momentum_correction": False}],
    "signum": [{"wd_lh": 0.1}, {"momentum": 0}],
    "adam": [{}, {"beta1": 0.8, "epsilon": 1e-7}],
    "rmsprop": [{}, {"centered": True, "clip_weights": 0.5}, {"gamma1": 0.95, "gamma2": 0.8}],
    "ftrl": [{}, {"lamda1": 0.1}],
    "ftml": [{}],
    "lamb": [{}, {"lower_bound": 0.1, "upper_bound": 5.0, "bias_correction": False}],
}
CASES = [(name, settings) for name, all_settings in OPTIMIZERS.items() for settings in all_settings]


def weights_after(optimizer, steps=4):
    updater = mx.optimizer.get_updater(optimizer)
    generator = np.random.RandomState(3)
    weight = mx.nd.array(generator.randn(5, 3))
    for _ in range(steps):
        updater(0, mx.nd.array(generator.randn(5, 3)), weight)
    return weight.asnumpy()


def test_every_registered_optimizer_is_a_case():
    ours = {name for name, kind in registry._registry.items() if kind.__module__.startswith("mxnet.")}
    assert ours == set(OPTIMIZERS)


@pytest.mark.parametrize("name, settings", CASES)
def test_what_is_read_updates_alike(name, settings):
    made = mx.optimizer.create(name, learning_rate=0.07, rescale_grad=1 / 3, **settings)
    text = texts.optimizer_text(made)
    again = texts.optimizer_from_text(text)
    assert type(again) is type(made)
    assert texts.optimizer_text(again) == text
    assert np.array_equal(weights_after(again), weights_after(made))


@pytest.mark.parametrize("schedule", [
    mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, warmup_steps=1, warmup_begin_lr=0.001),
    mx.lr_scheduler.MultiFactorScheduler([1, 3], factor=0.1, base_lr=0.3),
    mx.lr_scheduler.PolyScheduler(max_update=4, pwr=3, base_lr=0.2),
    mx.lr_scheduler.CosineScheduler(max_update=5, base_lr=0.2, final_lr=0.01, warmup_steps=2,
                                    warmup_mode="constant"),
])
def test_schedules_go_along(schedule):
    made = mx.optimizer.create("sgd", lr_scheduler=schedule)
    again = texts.optimizer_from_text(texts.optimizer_text(made))
    assert [again.lr_scheduler(step) for step in range(9)] == [schedule(step) for step in range(9)]
    assert texts.optimizer_text(again) == texts.optimizer_text(made)


def test_what_was_changed_since_counts():
    made = mx.optimizer.create("sgd", learning_rate=0.1)
    made.set_learning_rate(0.25)
    made.rescale_grad = 0.125
    args = json.loads(texts.optimizer_text(made))["args"]
    assert (args["learning_rate"], args["rescale_grad"]) == (0.25, 0.125)


def test_multipliers_and_names_go_along():
    made = mx.optimizer.create("sgd", wd=0.1, param_dict={0: texts.Multipliers(2.0, 0.5)},
                               param_idx2name={1: "a_weight", 2: "a_bias"})
    again = texts.optimizer_from_text(texts.optimizer_text(made))
    for index in range(4):
        assert again._get_lr(index) == made._get_lr(index)
        assert again._get_wd(index) == made._get_wd(index)


def test_numbers_read_back_exactly():
    generator = random.Random(5)
    for _ in range(2000):
        number = struct.unpack("<d", generator.randbytes(8))[0]
        if np.isfinite(number):
            assert json.loads(texts.change_text({"wd": number}))["set"]["wd"] == number


def test_a_class_of_ones_own_goes_by_what_it_was_made_with():
    class Slow(mx.optimizer.Optimizer):
        def __init__(self, steps, note=None, **settings):
            super().__init__(**settings)
            self.pace = steps

    registry.register(Slow)
    try:
        made = Slow([3, 4], note="x", learning_rate=0.5)
        described = json.loads(texts.optimizer_text(made))
        assert described["name"] == "slow"
        assert described["args"]["steps"] == [3, 4] and described["args"]["note"] == "x"
        assert texts.optimizer_from_text(texts.optimizer_text(made)).pace == [3, 4]
        with pytest.raises(mx.MXNetError, match="Slow: steps is of type function, which no text can hold"):
            texts.optimizer_text(Slow(lambda: 1))
    finally:
        del registry._registry["slow"]


@pytest.mark.parametrize("settings, message", [
    ({"wd": float("nan")}, "wd is nan: numbers must be finite"),
    ({"wd": object()}, "wd is of type object"),
    ({"wd": {3: 4}}, "wd is of type dict"),
    ({"wd": "x" * (1 << 20)}, "bytes; at most 1048575 are sent"),
    ({"wd": [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]}, "more than 16 levels deep"),
])
def test_what_no_text_can_hold(settings, message):
    with pytest.raises(texts.NoText, match=message):
        texts.change_text(settings)


@pytest.mark.parametrize("text, message", [
    ("[]", "must be an object with a name"),
    ('{"name": 3}', "must be an object with a name"),
    ('{"name": "sgd", "run": "x"}', "no member run"),
    ('{"name": "nobody"}', "no optimizer 'nobody'"),
    ('{"name": "sgd", "lr_scheduler": {"name": "os"}}', "no schedule 'os'"),
    ('{"name": "sgd", "args": {"momentun": 1}}', "no option momentun"),
])
def test_what_is_no_optimizer(text, message):
    with pytest.raises((ValueError, TypeError), match=message):
        texts.optimizer_from_text(text)
