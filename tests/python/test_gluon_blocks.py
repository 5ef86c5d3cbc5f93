# SPDX-License-Identifier: Apache-2.0
"""Blocks: names, shapes found out at the first call, files, hooks, options, and what is refused."""
import subprocess

import numpy as onp
import pytest

import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn
from python_program import BUILD, names, run_python

KINDS = pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])


def small(**settings):
    net = nn.HybridSequential(**settings)
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    return net


def test_names_of_both_spellings():
    net = small(prefix="net_")
    assert [p.name for p in net.collect_params().values()] == [
        "net_dense0_weight", "net_dense0_bias", "net_dense1_weight", "net_dense1_bias"]
    assert list(net.collect_params()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert list(net.collect_params(".*weight")) == ["0.weight", "1.weight"]
    assert list(net.collect_params("net_dense1")) == ["1.weight", "1.bias"]
    assert (net.name, net[1].name, net[0].act.name) == ("net", "net_dense1", "net_dense0_relu0")
    assert (net.scope, net[1].scope) == ("net:", "net:dense1:")
    first, second = small(), small()
    assert first.scope == second.scope == "hybridsequential:"
    assert first.name != second.name and first.name.startswith("hybridsequential")


@KINDS
def test_a_first_call_finds_the_shapes(kind):
    net = small()
    weight = net[0].weight
    assert weight.shape == (3, 0)
    with pytest.raises(RuntimeError, match="has not been initialized; call initialize"):
        net(kind.ones((4, 5)))
    net.initialize(device=mx.cpu())
    with pytest.raises(gluon.DeferredInitializationError, match="when its shape is known"):
        weight.data()
    assert weight.list_ctx() == [mx.cpu()]
    assert net(kind.ones((4, 5))).shape == (4, 2)
    assert weight.shape == weight.data().shape == weight.grad().shape == (3, 5)
    with pytest.raises(mx.MXNetError):
        net(kind.ones((4, 6))).wait_to_read()
    assert repr(net[0]) == "Dense(5 -> 3, Activation(relu))"


def test_arrays_of_both_kinds_pass_through_one_block():
    net = small()
    net.initialize()
    values = onp.random.RandomState(0).rand(4, 5).astype("float32")
    first, second = net(mx.nd.array(values)), net(mx.np.array(values))
    assert (type(first), type(second)) == (mx.nd.NDArray, mx.np.ndarray)
    assert (first.asnumpy() == second.asnumpy()).all()


class Scaled(gluon.HybridBlock):
    """1.x: parameters by params.get, forward with F."""

    def __init__(self, **settings):
        super().__init__(**settings)
        with self.name_scope():
            self.scale = self.params.get("weight", shape=(0,), init="ones", allow_deferred_init=True)

    def infer_shape(self, x):
        self.scale.shape = (x.shape[1],)

    def hybrid_forward(self, F, x, scale):
        return F.broadcast_mul(x, F.expand_dims(scale, axis=0)) * 2


class Shifted(gluon.nn.HybridBlock):
    """2.0: parameters by themselves, forward with arrays."""

    def __init__(self):
        super().__init__()
        self.shift = gluon.Parameter(shape=(-1,), init="ones")
        self.table = gluon.Constant([[1.0, 2.0, 3.0]])
        self.other = gluon.Constant("other", [1.0])  # 1.x
        self.third = self.params.get_constant("third", [2.0])

    def forward(self, x):
        return x + self.shift.data() * self.table.data()


def test_blocks_of_ones_own():
    net = Scaled(prefix="mine_")
    net.initialize(ctx=mx.cpu())
    assert net(mx.nd.ones((2, 3))).asnumpy().tolist() == [[2, 2, 2]] * 2
    assert net.scale.name == "mine_weight" and net.scale.grad_req == "write"
    net = Shifted()
    net.initialize()
    with pytest.raises(mx.MXNetError, match="Shifted must give infer_shape.*shift"):
        net(mx.nd.ones((2, 3)))
    net.shift.shape = (3,)
    net.initialize(force_reinit=True)
    assert net(mx.nd.ones((2, 3))).asnumpy().tolist() == [[2, 3, 4]] * 2
    assert net.table.grad_req == "null"
    assert (net.other.name.split("_")[-1], net.third.data().asscalar()) == ("other", 2)
    with pytest.raises(RuntimeError, match="has no gradient"):
        net.table.grad()
    with pytest.raises(NotImplementedError, match="Block has no forward"):
        gluon.Block()(mx.nd.ones((1,)))


def test_a_failing_infer_shape_is_not_tried_for_ever():
    class Never(Scaled):
        def infer_shape(self, x):
            pass

    net = Never()
    net.initialize()
    with pytest.raises(gluon.DeferredInitializationError, match="not known yet"):
        net(mx.nd.ones((2, 3)))


def test_hooks_run_once_and_can_be_removed():
    net, seen = small(), []
    net.initialize()
    before = net.register_forward_pre_hook(lambda block, args: seen.append(args[0].shape))
    after = net[0].register_forward_hook(lambda block, args, out: seen.append(out.shape))
    net(mx.nd.ones((4, 5)))
    assert seen == [(4, 5), (4, 3)]
    before.detach(), after.detach(), after.detach()
    net(mx.nd.ones((4, 5)))
    assert len(seen) == 2
    with net.register_forward_hook(lambda block, args, out: seen.append("inside")):
        net(mx.nd.ones((4, 5)))
    net(mx.nd.ones((4, 5)))
    assert seen[2:] == ["inside"]


def test_options_of_hybridize():
    net = small()
    net.initialize()
    wanted = net(mx.nd.ones((4, 5))).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True, inline_limit=3, forward_bulk_size=2,
                  backward_bulk_size=2)
    assert (net(mx.nd.ones((4, 5))).asnumpy() == wanted).all()
    net.hybridize(False)
    with pytest.raises(ValueError, match="unknown option static_aloc; the options are static_alloc"):
        net.hybridize(static_aloc=True)
    with pytest.raises(mx.MXNetError, match="static_alloc must be True when static_shape is True"):
        net.hybridize(static_shape=True)


def test_blocks_take_no_symbols_yet():
    with pytest.raises(mx.MXNetError, match="was called with a symbol: blocks take arrays"):
        small()(mx.sym.var("data", shape=(2, 3)))


@KINDS
def test_files_of_parameters(kind, tmp_path):
    net, other, file = small(prefix="a_"), small(prefix="b_"), str(tmp_path / "net.params")
    x = kind.array(onp.random.RandomState(0).rand(4, 5).astype("float32"))
    net.initialize()
    wanted = net(x).asnumpy()
    net.save_parameters(file)
    other.load_parameters(file, ctx=mx.cpu())  # without having been called
    assert (other(x).asnumpy() == wanted).all()
    other.initialize(force_reinit=True)
    other.load_parameters(file, device=mx.cpu())
    assert (other(x).asnumpy() == wanted).all()
    bigger = nn.HybridSequential()
    bigger.add(nn.Dense(3), nn.Dense(2), nn.Dense(1))
    with pytest.raises(mx.MXNetError, match="has no 2.weight, 2.bias"):
        bigger.load_parameters(file)
    bigger.load_parameters(file, allow_missing=True)
    lone = nn.HybridSequential()
    lone.add(nn.Dense(3))
    with pytest.raises(mx.MXNetError, match="has also 1.weight, 1.bias"):
        lone.load_parameters(file)
    lone.load_parameters(file, ignore_extra=True)
    wrong = nn.HybridSequential()
    wrong.add(nn.Dense(4), nn.Dense(2))
    with pytest.raises(mx.MXNetError, match=r"shape is \(4, 0\), which does not fit \(3, 5\)"):
        wrong.load_parameters(file)
    mx.nd.save(file, [mx.nd.ones((1,))])
    with pytest.raises(mx.MXNetError, match="have no names"):
        net.load_parameters(file)
    with pytest.raises(mx.MXNetError, match="nowhere.params"):
        net.load_parameters(str(tmp_path / "nowhere.params"))


def test_parameters_are_found_by_place_and_by_name():
    net = nn.HybridSequential(prefix="net_")
    net.add(nn.Conv2D(2, 3, in_channels=1), nn.Dense(2))
    found = net.collect_params()
    assert found["net_conv0_weight"] is found["0.weight"] is net[0].params["net_conv0_weight"]
    with pytest.raises(KeyError, match="no parameter conv0_weight; there are 0.weight, 0.bias, 1.weight"):
        found["conv0_weight"]
    assert "net_conv0_weight" not in found and found.get("nothing") is None


@pytest.mark.parametrize("kinds", [("", ""), ("arg:", "aux:")])
def test_files_of_1x_name_parameters_with_prefixes(tmp_path, kinds):
    def network():
        net = nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(nn.Dense(2), nn.BatchNorm())
        return net

    file = str(tmp_path / "net-0000.params")
    arrays = {"arg": {"net_dense0_weight": 3 * mx.nd.ones((2, 4)), "net_dense0_bias": mx.nd.ones(2),
                      "net_batchnorm0_gamma": mx.nd.ones(2), "net_batchnorm0_beta": mx.nd.ones(2)},
              "aux": {"net_batchnorm0_running_mean": mx.nd.zeros(2),
                      "net_batchnorm0_running_var": mx.nd.ones(2)}}
    mx.nd.save(file, {kind + name: array for kind, group in zip(kinds, arrays.values())
                      for name, array in group.items()})
    for load in (lambda net: net.load_parameters(file),
                 lambda net: net.collect_params().load(file, ctx=mx.cpu())):
        net = network()
        load(net)
        assert net[0].weight.shape == (2, 4)
        assert net(mx.nd.ones((1, 4))).asnumpy() == pytest.approx(14, rel=1e-4)


def test_summary(capsys):
    net = nn.HybridSequential()
    shared = nn.Dense(5, in_units=5)
    net.add(nn.Dense(5), nn.BatchNorm(), shared, shared)
    net.initialize()
    mean = mx.nd.zeros((5,))
    net.summary(mx.nd.ones((2, 4)))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row for row in rows if len(row) == 4 and row[-1].isdigit()] == [
        ["Input", "(2,", "4)", "0"], ["Dense-1", "(2,", "5)", "25"], ["BatchNorm-2", "(2,", "5)", "20"],
        ["Dense-3", "(2,", "5)", "30"], ["Dense-4", "(2,", "5)", "30"]]
    assert [int(row[-1]) for row in rows if "params:" in row or row[0] in ("Shared", "Unique")] == [105, 95, 10, 30, 75]
    assert (net[1].running_mean.data() == mean).asnumpy().all()  # not trained
    net(mx.nd.ones((2, 4)))
    assert capsys.readouterr().out == ""


def test_no_summary_of_a_hybridized_block(capsys):
    """Its graph would run without its members, and the table would have no rows."""
    net = nn.HybridSequential()
    net.add(nn.Dense(5))
    net.initialize()
    net.hybridize()
    with pytest.raises(ValueError, match='dense0" must not be hybridized to print summary'):
        net.summary(mx.nd.ones((2, 4)))
    net.hybridize(False)
    net.summary(mx.nd.ones((2, 4)))
    assert "Dense-1" in capsys.readouterr().out
    with pytest.raises(mx.MXNetError, match="must be True when"):
        net.hybridize(True, None, True, False, True)
    net.hybridize(partition_if_dynamic=False)  # 2.0
    assert net(mx.nd.ones((2, 4))).shape == (2, 5)


def test_a_hybridized_block_takes_arrays_of_one_device():
    class Sum(mx.gluon.HybridBlock):
        def forward(self, a, b):
            return a + b.as_in_context(a.context)

    net, here, there = Sum(), mx.nd.ones((1,)), mx.nd.ones((1,), ctx=mx.cpu(1))
    assert net(here, there).asscalar() == 2
    net.hybridize()
    for _ in range(2):
        assert net(there, there).context == mx.cpu(1)
        assert net(here, here).context == mx.cpu(0)
        with pytest.raises(ValueError, match=r"Find multiple contexts in the input: cpu\(0\), cpu\(1\)"):
            net(here, there)


def test_calls_without_an_array():
    net = nn.HybridSequential()
    net.add(nn.Dense(2))
    net.initialize()
    for wrong, kind in ((onp.ones((2, 3)), "numpy.ndarray"), ("a", "str"), (None, "NoneType")):
        with pytest.raises(ValueError, match=f"was called with {kind}; blocks take arrays"):
            net(wrong)


def test_shared_parameters_and_types():
    first, second = small(), small()
    second.share_parameters(first.collect_params())
    first.initialize()
    x = mx.nd.ones((4, 5))
    assert (first(x).asnumpy() == second(x).asnumpy()).all()
    first.cast("float16")
    assert second(x.astype("float16")).dtype == onp.float16
    assert first[0].weight.grad().dtype == onp.float16


def test_several_devices_have_copies():
    net, devices = small(), [mx.cpu(0), mx.cpu(1)]
    net.initialize(ctx=devices)
    parts = gluon.utils.split_and_load(onp.ones((4, 5)), devices)
    assert [part.context for part in parts] == devices
    outputs = [net(part) for part in parts]
    assert [out.context for out in outputs] == devices
    assert (outputs[0].asnumpy() == outputs[1].asnumpy()).all()
    with pytest.raises(RuntimeError, match=r"not on cpu\(2\); it was initialized on cpu\(0\), cpu\(1\)"):
        net(mx.nd.ones((4, 5), ctx=mx.cpu(2)))
    with pytest.raises(mx.MXNetError, match="there is no device gpu"):
        small().initialize(ctx=mx.gpu()) or net.reset_ctx(mx.gpu())
    with pytest.raises(ValueError, match="cannot be split into 3 parts"):
        gluon.utils.split_data(mx.nd.ones((4, 5)), 3)


@pytest.mark.parametrize("wrong,error,text", [
    (lambda: nn.Dense(2, activation="rely")(mx.nd.ones((1, 1))), RuntimeError, "initialized"),
    (lambda: nn.Activation("rely")(mx.nd.ones((1, 1))), mx.MXNetError, "relu"),
    (lambda: nn.Conv2D(2, (3, 3, 3)), ValueError, "kernel_size must be one number or 2"),
    (lambda: nn.Conv2D(2, 3, layout="NHW"), ValueError, "layout 'NHW' does not fit"),
    (lambda: nn.LeakyReLU(-1), ValueError, "alpha must be at least 0"),
    (lambda: nn.GELU("tanh"), ValueError, "must be 'erf'"),
    (lambda: nn.Embedding(2, 2, sparse_grad=True), ValueError, "not supported"),
    (lambda: nn.Sequential().add(3), TypeError, "must be a block, not int"),
    (lambda: gluon.Parameter("w", grad_req="maybe"), ValueError, "write, add, null, not 'maybe'"),
    (lambda: gluon.Parameter("w", stype="csr"), ValueError, "only 'default'"),
    (lambda: gluon.Parameter("w", shape=(0, 2), allow_deferred_init=False).initialize(), ValueError,
     "cannot be initialised"),
    (lambda: setattr(gluon.Parameter("w", shape=(2, 3)), "shape", (2, 4)), mx.MXNetError,
     r"\(2, 3\), which does not fit \(2, 4\)"),
])
def test_what_is_refused(wrong, error, text):
    with pytest.raises(error, match=text):
        wrong()


def test_operators_and_memory_belong_to_layers(tmp_path):
    """In the trace, and in the command's report by scope."""
    done = run_python("""
import mxnet as mx
from mxnet import autograd, gluon, profiler
profiler.set_config(continuous_dump=False, filename='trace.json', native_filename='trace.mxp')
profiler.set_state('run')
net = gluon.nn.HybridSequential(prefix='net_')
net.add(gluon.nn.Dense(64, 'relu'), gluon.nn.Dense(8))
net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9, 'aggregate_num': 1})
with autograd.record():
    loss = gluon.loss.L2Loss()(net(mx.nd.ones((16, 100))), mx.nd.ones((16, 8)))
loss.backward()
trainer.step(16)
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    items = [item for item in done.trace() if item["ph"] == "X" and item.get("cat") == "operator"]
    found = {(item["name"], item["args"].get("scope"), item["args"].get("phase")) for item in items}
    for wanted in (("FullyConnected", "net:dense0:", "forward"),
                   ("Activation", "net:dense0:relu0:", "forward"),
                   ("_backward_FullyConnected", "net:dense1:", "backward"),
                   ("sgd_mom_update", "net:dense0:", "update"), ("mean", "l2loss:", "forward"),
                   ("_backward_mean", "l2loss:", "backward")):
        assert wanted in found
    assert not [item for item in items if item["args"].get("scope") is None
                and item["name"].startswith(("Fully", "Act", "_backward", "sgd"))]
    report = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "scope", "trace.mxp"], cwd=tmp_path,
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    for phase in ("forward", "backward", "update"):
        assert f"net:dense0: ({phase})" in report
    # Weights, gradients, momenta: 3 * 64 * 100 * 4 bytes, and the activations beside them.
    row = next(line.split() for line in report.splitlines() if line.startswith("net:dense0:  "))
    assert float(row[3]) >= 3 * 64 * 100 * 4 / 1000
    assert names(done.trace(), "operator").count("sgd_mom_update") == 4


def test_an_update_of_several_layers_belongs_to_the_block_around_them(tmp_path):
    """Four weights at a time: of both layers of a block; what is left is of one layer."""
    done = run_python("""
import mxnet as mx
from mxnet import autograd, gluon, profiler
profiler.set_config(continuous_dump=False, filename='trace.json')
profiler.set_state('run')
net = gluon.nn.HybridSequential(prefix='net_')
net.add(gluon.nn.Dense(8), gluon.nn.Dense(8), gluon.nn.Dense(8))
net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1, 'momentum': 0.9})
with autograd.record():
    loss = net(mx.nd.ones((2, 8))).sum()
loss.backward()
trainer.step(2)
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    updates = [(item["name"], item["args"]["scope"]) for item in done.trace()
               if item.get("cat") == "operator" and item["args"].get("phase") == "update"]
    assert updates == [("multi_sgd_mom_update", "net:"), ("multi_sgd_mom_update", "net:dense2:")]


def test_every_parameter_is_in_the_table_of_allocations(tmp_path):
    """As MXNet's own test asks for: by scope, kind and name, with its size; nothing is unknown."""
    done = run_python("""
import mxnet as mx
from mxnet import autograd, gluon, profiler
profiler.set_config(continuous_dump=False, gpu_memory_profile_filename_prefix='blocks')
profiler.set_state('run')
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(64, 'relu'), gluon.nn.Dropout(0.5), gluon.nn.Dense(8))
net.initialize()
with autograd.record():
    loss = gluon.loss.L2Loss()(net(mx.nd.ones((16, 100))), mx.nd.ones((16, 8)))
loss.backward()
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
for parameter in net.collect_params().values():
    print(parameter.scope, parameter.name.split('_')[-1], parameter.data().size)
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    table, = tmp_path.glob("blocks-pid_*.csv")
    rows = [tuple(line.replace('"', "").split(",")[:2])
            for line in table.read_text(encoding="utf-8").splitlines()]
    parameters = [line.split() for line in done.out.splitlines()]
    assert len(parameters) == 4
    for scope, name, size in parameters:
        for kind in ("in_arg", "arg_grad"):
            assert rows.count((f"{scope}{kind}:{name}", str(4 * int(size)))) == 1
    assert ("hybridsequential:dense0:in_arg:weight", "25600") in rows
    assert not [name for name, _ in rows if "unknown" in name or name == "<unk>:"]
