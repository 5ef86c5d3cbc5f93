# SPDX-License-Identifier: Apache-2.0
"""Hybridized blocks: graphs that are taken down at a call, against the same blocks run operator by operator."""
import json

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd, profiler, sym
from mxnet import _deferred_compute as deferred
from mxnet.gluon import nn

OPTIONS = [{}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}]
DATA = onp.random.RandomState(0).uniform(-1, 1, (4, 1, 14, 14)).astype("float32")
LABELS = onp.array([1, 3, 0, 2], dtype="float32")


def lenet():
    net = nn.HybridSequential(prefix="net_")
    net.add(nn.Conv2D(6, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(2, 2), nn.Flatten(),
            nn.Dense(8, activation="tanh"), nn.Dropout(0.25), nn.Dense(4))
    return net


def trained(options, steps=5):
    """Losses and parameters after some steps."""
    mx.random.seed(3)
    net, loss = lenet(), gluon.loss.SoftmaxCrossEntropyLoss()
    net.initialize(mx.init.Xavier())
    if options is not None:
        net.hybridize(**options)
        loss.hybridize(**options)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    losses = []
    for _ in range(steps):
        with autograd.record():
            value = loss(net(nd.array(DATA)), nd.array(LABELS))
        value.backward()
        trainer.step(4)
        losses.append(value.asnumpy())
    return net, losses


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_training_gives_the_same_numbers(options):
    plain, expected = trained(None)
    net, losses = trained(options)
    onp.testing.assert_array_equal(losses, expected)
    for (name, ours), theirs in zip(net.collect_params().items(), plain.collect_params().values()):
        onp.testing.assert_array_equal(ours.data().asnumpy(), theirs.data().asnumpy(), err_msg=name)
    onp.testing.assert_array_equal(net(nd.array(DATA)).asnumpy(), plain(nd.array(DATA)).asnumpy())


class Counted(nn.HybridBlock):
    """Says how often its Python code has run."""

    def __init__(self):
        super().__init__()
        self.dense, self.calls = nn.Dense(3), 0

    def forward(self, x, scale=None):
        self.calls += 1
        out = self.dense(x)
        return [out, (out * 2 if scale is None else out * scale, x)]


def hybrid(block, **options):
    block.initialize(mx.init.One())
    block.hybridize(**options)
    return block


def test_code_runs_once_for_each_form_of_its_arguments():
    net = hybrid(Counted())
    for _ in range(3):
        for rows in (2, 5):
            out, (double, same) = net(nd.ones((rows, 4)))
            onp.testing.assert_array_equal(out.asnumpy(), onp.full((rows, 3), 4.0))
            onp.testing.assert_array_equal(double.asnumpy(), onp.full((rows, 3), 8.0))
            onp.testing.assert_array_equal(same.asnumpy(), onp.ones((rows, 4)))
    assert net.calls == 2
    onp.testing.assert_array_equal(net(nd.ones((2, 4)), 3)[1][0].asnumpy(), onp.full((2, 3), 12.0))
    onp.testing.assert_array_equal(net(nd.ones((2, 4)), nd.full((1,), 5))[1][0].asnumpy(), onp.full((2, 3), 20.0))
    assert net.calls == 4
    with autograd.train_mode():
        net(nd.ones((2, 4)))
    assert net.calls == 5
    net.hybridize(False)
    net(nd.ones((2, 4)))
    assert net.calls == 6


def test_arrays_of_both_kinds_and_numpy_shapes():
    class Sum(nn.HybridBlock):
        def forward(self, x):
            return x.sum()

    net = Sum()
    net.hybridize()
    for _ in range(2):
        assert net(mx.np.ones((2, 3))).shape == () and net(nd.ones((2, 3))).shape == (1,)
        assert isinstance(net(mx.np.ones((2, 3))), mx.np.ndarray)


@pytest.mark.parametrize("what, reason", [
    (lambda x: x * 2 if x.sum().asscalar() > 0 else x, "reads values of an array"),
    (lambda x: x + nd.ones((3,)), None),
    (lambda x: x + OUTSIDE, "is neither data nor a parameter"),
    (lambda x: _written(x), "writes into an array that was there before"),
    (lambda x: x.detach() * 2, "detaches values"),
])
def test_code_that_a_graph_cannot_say_runs_as_it_is(what, reason, recwarn):
    class Odd(nn.HybridBlock):
        def forward(self, x):
            return what(x)

    net = Odd()
    net.hybridize()
    for sign in (1, -1, 1):
        x = nd.array(onp.array([1.0, 2.0, 3.0]) * sign)
        onp.testing.assert_array_equal(net(x).asnumpy(), what(x).asnumpy())
    texts = [str(item.message) for item in recwarn if "although it is hybridized" in str(item.message)]
    assert len(texts) == (0 if reason is None else 1) and (reason is None or reason in texts[0]), texts


OUTSIDE = nd.array([5.0, 6.0, 7.0])


def _written(x):
    y = x * 2
    y += 1
    return y


def test_a_block_that_was_changed_is_taken_down_again():
    net = nn.HybridSequential()
    net.add(nn.Dense(2))
    hybrid(net)
    x = nd.ones((1, 3))
    assert net(x).shape == (1, 2) and net(x).shape == (1, 2)
    more = nn.Dense(5)
    more.initialize()
    net.add(more)
    assert net(x).shape == (1, 5)
    net.cast("float64")
    assert net(x.astype("float64")).dtype == onp.float64


def test_gradients_of_data_and_of_shared_parameters():
    found = []
    for active in (False, True):
        mx.random.seed(1)
        net = nn.HybridSequential()
        net.add(nn.Dense(4, in_units=4))
        net.add(nn.Dense(4, in_units=4).share_parameters(net[0].collect_params()))
        net.initialize()
        net.hybridize(active, static_alloc=True, static_shape=True)
        x = nd.array(DATA.reshape(-1, 4)[:3])
        x.attach_grad()
        for _ in range(3):
            with autograd.record():
                y = (net(x) ** 2).sum()
            y.backward()
        found.append([x.grad.asnumpy(), net[0].weight.grad().asnumpy()])
    onp.testing.assert_array_equal(found[0][0], found[1][0])
    onp.testing.assert_array_equal(found[0][1], found[1][1])


class Scaled(gluon.HybridBlock):
    """A block of 1.x whose parameter's shape follows from the data."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.weight = self.params.get("weight", shape=(3, 0), init="ones")

    def hybrid_forward(self, F, x, weight):
        return F.FullyConnected(x, weight, no_bias=True, num_hidden=3)


class Rows(nn.HybridBlock):
    """Takes rows of its data."""

    def hybrid_forward(self, F, x):
        return x[1] * x[0] + F.zeros((4,)) + x[0:2].sum(axis=0)


@pytest.mark.parametrize("records", (False, True))
def test_rows_that_are_taken_are_part_of_the_graph(records, recwarn):
    net, data = Rows(), nd.array(onp.arange(12, dtype="float32").reshape(3, 4))
    net.hybridize()
    for _ in range(2):
        with autograd.record() if records else autograd.pause():
            onp.testing.assert_array_equal(net(data).asnumpy(), [4, 11, 20, 31])
    assert [str(each.message) for each in recwarn] == []


@pytest.mark.parametrize("active", [False, True])
def test_shapes_of_parameters_follow_from_hybrid_forward(active):
    net = Scaled()
    net.initialize()
    net.hybridize(active)
    for _ in range(2):
        onp.testing.assert_array_equal(net(nd.ones((2, 5))).asnumpy(), onp.full((2, 3), 5.0))
    assert net.weight.shape == (3, 5)


# ---- files -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_exported_networks_are_read_back(tmp_path, options):
    net, _ = trained(options)
    expected = net(nd.array(DATA)).asnumpy()
    files = net.export(str(tmp_path / "net"), epoch=7)
    assert files == (str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0007.params"))
    written = json.loads((tmp_path / "net-symbol.json").read_text())
    assert [node["name"] for node in written["nodes"]][:2] == ["data", "net_conv0_weight"]
    names = set(nd.load(files[1]))
    assert {"arg:net_conv0_weight", "aux:net_batchnorm0_running_mean"} <= names
    block = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    for _ in range(2):
        onp.testing.assert_array_equal(block(nd.array(DATA)).asnumpy(), expected)
        block.hybridize(static_alloc=True, static_shape=True)
    again = lenet()
    again.load_parameters(files[1])
    onp.testing.assert_array_equal(again(nd.array(DATA)).asnumpy(), expected)
    block.export(str(tmp_path / "again"))
    assert set(nd.load(str(tmp_path / "again-0000.params"))) == names


def test_export_needs_a_call_before():
    net = lenet()
    with pytest.raises(RuntimeError, match="run forward with this block at least once before calling export"):
        net.export("net")


def test_imported_networks_are_trained():
    x, w = sym.var("x"), sym.var("w", shape=(1, 3))
    block = gluon.SymbolBlock(sym.FullyConnected(x, w, num_hidden=1, no_bias=True), x)
    block.initialize(mx.init.Zero())
    block.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1})
    data = nd.array(onp.random.RandomState(1).randn(20, 3))
    wanted = data[:, 0:1] * 2 - data[:, 2:3]
    for _ in range(60):
        with autograd.record():
            error = ((block(data) - wanted) ** 2).mean()
        error.backward()
        trainer.step(1)
    onp.testing.assert_allclose(block.collect_params()["w"].data().asnumpy(), [[2, 0, -1]], atol=0.02)


@pytest.mark.parametrize("call, text", [
    (lambda x: gluon.SymbolBlock(x + 1, sym.var("other")), "other is no variable of the outputs; they have x"),
    (lambda x: gluon.SymbolBlock(x + 1, x + 1), "Input symbols must be variable, but <Symbol _plusscalar"),
    (lambda x: gluon.SymbolBlock(x + 1, x)(nd.ones((1,)), nd.ones((1,))), "called with 2 inputs, and has 1: x"),
])
def test_wrong_symbol_blocks_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call(sym.var("x"))


# ---- profiles --------------------------------------------------------------------------------------
def operators(tmp_path, options):
    net, _ = trained(options)
    net(nd.array(DATA)), net(nd.array(DATA))
    data = nd.array(DATA)
    nd.waitall()
    path = tmp_path / "profile.json"
    profiler.set_config(profile_all=True, filename=str(path))
    profiler.set_state("run")
    net(data)
    nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    return [item for item in json.loads(path.read_text())["traceEvents"]
            if item.get("cat") == "operator" and item.get("ph") in ("B", "X")]


def test_operators_belong_to_their_layers(tmp_path):
    plain = {item["name"]: item["args"]["scope"] for item in operators(tmp_path, None) if item["name"] == "Convolution"}
    assert plain["Convolution"].endswith("conv0:")
    for options in OPTIONS:
        found = {item["name"]: item["args"].get("scope") for item in operators(tmp_path, options)}
        assert found["Convolution"] == plain["Convolution"]


# ---- deferred compute ------------------------------------------------------------------------------
def test_deferred_compute_gives_the_symbol_of_what_was_computed():
    x, w = nd.array([[1.0, 2.0]]), nd.array([[3.0, 4.0], [5.0, 6.0]])
    deferred.set_variable([x, w], [sym.var("x"), sym.var("w")])
    with deferred.context():
        assert deferred.is_deferred_compute()
        y = nd.dot(x, w).reshape((2,)) * 2
    assert not deferred.is_deferred_compute()
    found = deferred.get_symbol(y)
    deferred.clear([x, w, y])
    assert found.list_arguments() == ["x", "w"]
    out = found.bind(mx.cpu(), {"x": x, "w": w}).forward()[0]
    onp.testing.assert_array_equal(out.asnumpy(), y.asnumpy())
    with pytest.raises(mx.MXNetError, match="array 0 is neither data nor a parameter"):
        deferred.get_symbol(y)
