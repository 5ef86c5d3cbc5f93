# SPDX-License-Identifier: Apache-2.0
"""What programs of MXNet's expect of blocks and parameters beside numbers: warnings before something is lost,
sharing, and parameters made by hand."""
import re
import warnings

import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn


@pytest.mark.parametrize("size,parts,wanted", [(33, 4, [9, 8, 8, 8]), (7, 3, [3, 2, 2]), (8, 4, [2] * 4)])
def test_the_first_parts_of_an_uneven_split_are_longer(size, parts, wanted):
    data = mx.np.arange(size)
    split = gluon.utils.split_data(data, parts, even_split=False)
    assert [part.shape[0] for part in split] == wanted
    for part, expected in zip(split, onp.array_split(onp.arange(size), parts)):
        assert part.asnumpy().tolist() == expected.tolist()
    loaded = gluon.utils.split_and_load(onp.arange(size), [mx.cpu(0)] * parts, even_split=False)
    assert [part.shape[0] for part in loaded] == wanted


class Pair(nn.HybridSequential):
    """Two layers that share their parameters."""

    def __init__(self):
        super().__init__()
        self.a = nn.Dense(3, in_units=3)
        self.b = nn.Dense(3, in_units=3).share_parameters(self.a.params)


def test_shared_parameters_are_saved_once_and_either_file_is_loaded(tmp_path):
    first = Pair()
    first.initialize(mx.init.Normal(1))
    for deduplicate, keys in ((True, ["a.weight", "a.bias"]),
                              (False, ["a.weight", "a.bias", "b.weight", "b.bias"])):
        file = str(tmp_path / f"{deduplicate}.params")
        first.save_parameters(file, deduplicate=deduplicate)
        assert list(mx.nd.load(file)) == keys
        second = Pair()
        second.load_parameters(file)
        assert (second.b.weight.data() == first.a.weight.data()).asnumpy().all()
    separate = nn.HybridSequential()
    separate.a, separate.b = nn.Dense(3, in_units=3), nn.Dense(3, in_units=3)
    with pytest.raises(mx.MXNetError, match="has no b.weight, b.bias"):
        separate.load_parameters(str(tmp_path / "True.params"))


@pytest.mark.parametrize("first,second,allowed", [
    (lambda: nn.Dense(3), lambda: 3, False), (lambda: nn.Dense(3), lambda: None, False),
    (lambda: gluon.Parameter("w", shape=1), lambda: 1.0, False),
    (lambda: gluon.Parameter("w", shape=1), lambda: nn.Dense(3), False),
    (lambda: nn.Dense(3), lambda: nn.Dense(4), True), (lambda: 3, lambda: nn.Dense(3), True)])
def test_an_attribute_keeps_its_kind(first, second, allowed):
    block = nn.Dense(2)
    block.x = first()
    if allowed:
        block.x = second()
        assert block._children["x"] is block.x
        return
    with pytest.raises(TypeError, match="Changing attribute type for x from .* to .* is not allowed"):
        block.x = second()
    assert "x" in block._children or "x" in block._reg_params


@pytest.mark.parametrize("container", [lambda block: [block], lambda block: {"a": block},
                                       lambda block: (1, block)])
def test_blocks_in_plain_containers_are_warned_of(container):
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.layers = container(nn.Dense(2))

    outer = nn.Sequential()
    outer.add(Net())
    for net in (Net(), outer):
        with pytest.warns(UserWarning, match=r'"Net.layers" is an unregistered container with Blocks'):
            assert not net.collect_params()


def test_registered_blocks_in_containers_are_no_warning():
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Dense(2), nn.Dense(3)]
            for layer in self.layers:
                self.register_child(layer)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Net().collect_params()) == 4


def test_a_sequential_of_hybrid_blocks_names_the_hybrid_one():
    net = nn.Sequential()
    net.add(nn.Dense(2), nn.Dense(3))
    with pytest.warns(UserWarning, match="Consider using HybridSequential"):
        net.hybridize()
    net.add(nn.Lambda(lambda x: x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.hybridize()


def test_a_second_initialisation_is_warned_of_and_changes_nothing():
    net = nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    for again in (net.initialize, net.weight.initialize, net.collect_params().initialize):
        with pytest.warns(UserWarning, match="already initialized, ignoring. Set force_reinit=True") as told:
            again(mx.init.Zero())
        assert len(told) == 1 and told[0].filename == __file__
        assert net.weight.data().asnumpy().all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.initialize(mx.init.Constant(3), force_reinit=True)
    assert (net.weight.data().asnumpy() == 3).all()


def test_loading_into_initialised_parameters_is_no_warning(tmp_path):
    net = nn.Dense(2, in_units=2)
    net.initialize(mx.init.One())
    net.save_parameters(str(tmp_path / "file"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.load_parameters(str(tmp_path / "file"))


def test_initialisers_are_equal_if_they_draw_alike():
    assert mx.init.Constant(-10) == mx.init.Constant(-10) != mx.init.Constant(3)
    assert mx.init.Normal(2) == mx.init.Normal(2) != mx.init.Uniform(2)
    assert mx.init.Xavier(magnitude=2) != mx.init.Xavier(magnitude=3)
    assert mx.init.Constant(mx.nd.array([1, 2])) == mx.init.Constant(mx.nd.array([1, 2]))
    assert mx.init.Constant(mx.nd.array([1, 2])) != mx.init.Constant(mx.nd.array([1, 3]))
    assert mx.init.Constant(mx.nd.array([1, 2])) != mx.init.Constant(1)
    assert len({mx.init.Zero(), mx.init.Zero(), mx.init.One()}) == 2


def test_truth_of_arrays_without_elements():
    assert bool(mx.nd.array([])) is False and bool(mx.nd.array([2])) is True
    with pytest.raises(ValueError, match="ambiguous"):
        bool(mx.nd.array([1, 2]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(mx.np.array([1, 2]))


def test_parameters_made_by_hand_have_their_prefix():
    params = gluon.ParameterDict("net_")
    weight = params.get("weight", shape=(2, 0), init="ones")
    assert params.prefix == "net_" and weight.name == "net_weight"
    assert params.get("weight", shape=(2, 3)) is weight and weight.shape == (2, 3)
    assert repr(params) == "net_ (\n  Parameter net_weight (shape=(2, 3), dtype=float32)\n)"
    params.initialize()
    assert params["net_weight"].data().asnumpy().tolist() == [[1] * 3] * 2
    other = gluon.ParameterDict("net_", shared=params)
    assert other.get("weight") is weight


class Scaled(gluon.Block):
    """As 1.x has it: the parameter is made by `params.get`, under another name than the attribute's."""

    def __init__(self, params=None, **settings):
        super().__init__(**settings)
        made = params if params is not None else self.params
        self.scale = made.get("ones_weight", shape=(2,), init="ones")

    def forward(self, x):
        return x * self.scale.data()


def test_a_parameter_that_a_block_makes_has_its_prefix_at_once():
    block = Scaled(prefix="scaled_")
    assert block.params.prefix == "scaled_" and block.scale.name == "scaled_ones_weight"
    assert block.params.get("ones_weight") is block.scale
    assert block.params.get("ones_weight", shape=(2,)) is block.scale
    assert list(block.collect_params()) == ["scale"] == list(block.params)
    assert block.params.get("nothing") is None
    inside = nn.Sequential(prefix="")
    assert inside.params.get("ones_weight", shape=(2,)).name == "ones_weight"


def test_names_of_blocks_inside_do_not_depend_on_how_their_parameters_are_made():
    class Two(Scaled):
        def __init__(self):
            super().__init__()
            self.shift = self.params.get("shift", shape=(2,))
            assert self.params.get("shift") is self.shift

    net = nn.Sequential(prefix="net_")
    net.add(Two(), Two())
    assert [parameter.name for parameter in net.collect_params().values()] == [
        "net_two0_ones_weight", "net_two0_shift", "net_two1_ones_weight", "net_two1_shift"]


def test_a_parameter_that_is_no_attribute_is_the_blocks_all_the_same():
    net = nn.Sequential(prefix="net_")
    made = net.params.get("ones_weight", shape=(2,), init="ones")
    assert made.name == "net_ones_weight" and list(net.collect_params().values()) == [made]
    assert net.params.get("ones_weight", shape=(2,)) is made
    net.initialize()
    assert made.data().asnumpy().tolist() == [1, 1]
    table = net.params.get_constant("table", [3.0])
    assert net.params.get_constant("table") is table and table in net.collect_params().values()


def test_a_parameter_of_a_dict_with_a_prefix_keeps_its_name_in_a_block():
    params = gluon.ParameterDict("shared_")
    net = nn.Sequential(prefix="net_")
    net.add(Scaled(params), Scaled(params))
    assert {parameter.name for parameter in net.collect_params().values()} == {"shared_ones_weight"}
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    with mx.autograd.record():
        loss = net(mx.nd.array([1.0, 2.0])).sum()
    loss.backward()
    trainer.step(1)
    assert net[0].scale.data().asnumpy().tolist() == [1 - 2 * 1, 1 - 2 * 2]


class Net(nn.HybridBlock):
    def __init__(self, **settings):
        super().__init__(**settings)
        with self.name_scope():
            self.first = nn.HybridSequential()
            self.first.add(nn.Dense(4, in_units=3), nn.Dense(4, in_units=4))
            self.last = nn.Dense(2, in_units=4)

    def forward(self, x):
        return self.last(self.first(x))


def test_a_block_takes_all_parameters_of_another():
    one = Net()
    one.initialize()
    two = Net(params=one.collect_params())
    assert list(two.collect_params().values()) == list(one.collect_params().values())
    x = mx.nd.ones((2, 3))
    assert (one(x).asnumpy() == two(x).asnumpy()).all()


def test_a_parameter_has_a_variable():
    variable = gluon.Parameter("weight", shape=(2, 3)).var()
    assert variable.name == "weight" and variable.attr("__shape__") == "(2, 3)"


def test_batch_normalisation_without_scale_has_ones():
    layer = nn.BatchNorm(scale=False, gamma_initializer="zeros", in_channels=2)
    layer.initialize()
    assert layer.gamma.data().asnumpy().tolist() == [1, 1]


def test_running_statistics_move_once_for_each_backward_pass():
    layer, x = nn.BatchNorm(momentum=0.5, in_channels=1), mx.nd.array([[2.0], [4.0]])
    layer.initialize()
    with mx.autograd.record():
        y = layer(x)
    means = [layer.running_mean.data().asscalar()]
    for _ in range(2):
        y.backward(retain_graph=True)
        means.append(layer.running_mean.data().asscalar())
    assert means == [0, 1.5, 2.25]


def test_rmsprop_clips_the_gradient_with_its_decay():
    weight, gradient = mx.nd.array([2.0]), mx.nd.array([0.3])
    optimizer = mx.optimizer.RMSProp(learning_rate=1, rho=0.0, epsilon=0, clip_gradient=0.4, wd=0.1,
                                     rescale_grad=1)
    state = optimizer.create_state(0, weight)
    optimizer.update(0, weight, gradient, state)
    assert state[0].asscalar() == pytest.approx(0.4 ** 2)  # of min(0.3 + 0.1 * 2, 0.4)


def test_a_recurrent_layer_reads_what_1_9_saved_of_it(tmp_path):
    """Blocks of 1.9 write a layer of `gluon.rnn` as cells: "0._unfused.1.r_cell.i2h_weight", of one direction
    "0._unfused.1.i2h_weight"."""
    for both in (False, True):
        made, again = (mx.gluon.nn.HybridSequential() for _ in range(2))
        for net in (made, again):
            net.add(mx.gluon.rnn.LSTM(2, num_layers=2, bidirectional=both, input_size=3))
        made.initialize(mx.init.Uniform(1))
        names = {}
        for name, parameter in made.collect_params().items():
            place, side, layer, rest = re.fullmatch(r"(\d\.)([lr])(\d)_(\w+)", name).groups()
            names[f"{place}_unfused.{layer}.{side + '_cell.' if both else ''}{rest}"] = parameter.data()
        mx.nd.save(str(tmp_path / "old"), names)
        again.load_parameters(str(tmp_path / "old"))
        data = mx.nd.array(onp.arange(18).reshape(3, 2, 3) / 10)
        onp.testing.assert_array_equal(again(data).asnumpy(), made(data).asnumpy())


def test_a_recurrent_layer_says_what_it_takes():
    layer = mx.gluon.rnn.LSTM(2)
    layer.initialize()
    with pytest.raises(ValueError, match=r"LSTM: the input has shape \(3, 2\), it must have three dimensions, TNC"):
        layer(mx.nd.ones((3, 2)))


def test_files_of_parameters_by_the_names_of_1_x(tmp_path):
    path, net = str(tmp_path / "net"), mx.gluon.nn.Dense(2, in_units=3, prefix="x_")
    net.initialize(mx.init.Uniform(1))
    net.save_params(path)
    other = mx.gluon.nn.Dense(2, in_units=3, prefix="y_")
    other.load_params(path, ctx=mx.cpu())
    net.collect_params().save(path, strip_prefix="x_")
    third = mx.gluon.nn.Dense(2, in_units=3, prefix="x_")
    third.collect_params().load(path, ctx=mx.cpu(), restore_prefix="x_")
    for block in (other, third):
        onp.testing.assert_array_equal(block.weight.data().asnumpy(), net.weight.data().asnumpy())


def test_parameters_made_by_hand_strip_and_restore_their_prefix(tmp_path):
    path, (one, two) = str(tmp_path / "params"), (mx.gluon.ParameterDict("net_") for _ in range(2))
    for params in (one, two):
        params.get("w", shape=(2,), init="ones")
    one.initialize()
    one.save(path, strip_prefix="net_")
    assert list(mx.nd.load(path)) == ["w"]
    two.load(path, restore_prefix="net_")
    assert two["net_w"].data().asnumpy().tolist() == [1, 1]
    constant = one.get_constant("c", mx.nd.array([1, 2]))
    assert one.get_constant("c") is constant is one["net_c"] and list(one) == ["net_w", "net_c"]
    one.initialize()
    assert one["net_c"].data().asnumpy().tolist() == [1, 2]


def test_an_import_asks_for_the_attributes_of_its_symbol_once(tmp_path, monkeypatch):
    """Not once for each parameter: of 1600 it took 40 seconds."""
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        for _ in range(8):
            net.add(nn.Dense(2, in_units=2))
    net.initialize(mx.init.One())
    net.hybridize()
    data = mx.nd.ones((1, 2))
    expected = net(data).asnumpy()
    net.export(str(tmp_path / "net"))
    asked, plain = [], mx.sym.Symbol.attr_dict
    monkeypatch.setattr(mx.sym.Symbol, "attr_dict", lambda self: asked.append(1) or plain(self))
    block = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    assert len(asked) == 1
    onp.testing.assert_array_equal(block(data).asnumpy(), expected)


class WeighedLoss(gluon.loss.Loss):
    """As programs of 1.x write one, with the helpers that MXNet's own losses have."""

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = gluon.loss._reshape_like(F, label, pred)
        loss = gluon.loss._apply_weighting(F, F.square(label - pred), self._weight, sample_weight)
        return F.mean(loss, axis=self._batch_axis, exclude=True)


def test_a_loss_of_one_s_own_has_the_helpers_of_the_others():
    pred, label = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[0], [0], [1], [1]])
    for hybrid in (False, True):
        loss = WeighedLoss(weight=2.0, batch_axis=0)
        loss.hybridize(hybrid)
        for _ in range(2):
            assert loss(pred, label).asnumpy().tolist() == [5, 13]
            assert loss(pred, label, mx.nd.array([[1], [0.5]])).asnumpy().tolist() == [5, 6.5]


def test_a_loader_s_batches_are_made_by_a_function_with_a_name():
    from mxnet.gluon.data.dataloader import default_batchify_fn  # pylint: disable=import-outside-toplevel

    assert default_batchify_fn([mx.nd.ones(2), mx.nd.zeros(2)]).asnumpy().tolist() == [[1, 1], [0, 0]]
    columns = default_batchify_fn([(1, 2.5), (3, 4.5)])
    assert [item.asnumpy().tolist() for item in columns] == [[1, 3], [2.5, 4.5]]
