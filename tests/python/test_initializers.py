# SPDX-License-Identifier: Apache-2.0
"""Initialisers of one's own, as programs of both lines write them: what they are told, and what a variable keeps of them."""
import json

import pytest

import mxnet as mx
from mxnet import gluon, nd, sym


@mx.init.register
class Ramp(mx.init.Initializer):
    """Hands its settings to the base, as 1.x's do, and keeps them under another name."""

    def __init__(self, step=1.0):
        super().__init__(step=step)
        self._step = step * 2
        self.seen = []

    def _init_weight(self, name, array):
        self.seen.append(str(name))
        array[:] = nd.arange(array.size).reshape(array.shape) * self._step

    def _init_default(self, name, array):
        self.seen.append(f"default {name}")
        array[:] = -1


def test_a_variable_keeps_the_settings_that_the_base_was_given():
    assert json.loads(Ramp(3.0).dumps()) == ["ramp", {"step": 3.0}]
    assert repr(Ramp(3.0)) == "Ramp(step=3.0)" and repr(mx.init.Normal(0.5)) == "Normal(sigma=0.5)"
    weight = sym.var("fc_weight", init=Ramp(0.5))
    module = mx.mod.Module(sym.FullyConnected(sym.var("data"), weight=weight, num_hidden=1, name="fc"), label_names=None)
    module.bind([("data", (1, 3))])
    module.init_params(mx.init.One())
    assert module.get_params()[0]["fc_weight"].asnumpy().tolist() == [[0, 1, 2]]


def test_names_of_other_endings_are_the_subclass_s():
    ramp, found = Ramp(), {}
    for name in ("a_weight", "a_bias", "a_gamma", "scale", "moving_var"):
        found[name] = nd.full((2,), 5)
        ramp(name, found[name])
    assert {name: array.asnumpy().tolist() for name, array in found.items()} == {
        "a_weight": [0, 2], "a_bias": [0, 0], "a_gamma": [1, 1], "scale": [-1, -1], "moving_var": [1, 1]}
    plain = nd.zeros((2,))
    mx.init.Constant(4)("scale", plain)
    assert plain.asnumpy().tolist() == [4, 4]


def test_it_is_told_the_whole_name_of_a_parameter():
    ramp, net = Ramp(), gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(gluon.nn.Dense(2, in_units=2), gluon.nn.Dense(1, in_units=2, use_bias=False))
    net.initialize(ramp)
    assert ramp.seen == ["net_dense0_weight", "net_dense1_weight"]


def test_attributes_come_with_the_name():
    seen = []

    class Told(mx.init.Initializer):
        def _init_weight(self, name, array):
            seen.append((str(name), name.attrs.get("__mood__")))
            array[:] = 1

    module = mx.mod.Module(sym.FullyConnected(sym.var("data"), weight=sym.var("fc_weight", __mood__="calm"), num_hidden=1,
                                              no_bias=True, name="fc"), label_names=None)
    module.bind([("data", (1, 3))])
    module.init_params(Told())
    assert seen == [("fc_weight", "calm")]
    array = nd.zeros((2,))
    mx.init.Zero()(mx.init.InitDesc("fc_weight", {"__init__": mx.init.One().dumps()}), array)
    assert array.asnumpy().tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match="must give _init_weight"):
        mx.init.Initializer()("fc_weight", array)
