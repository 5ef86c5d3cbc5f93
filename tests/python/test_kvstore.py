# SPDX-License-Identifier: Apache-2.0
"""Key-value stores, and trainers that use them, case by case against what both lines of the original did:
tests/golden/graphs/kvstore.py printed tests/golden/expected/graphs_kvstore_*.jsonl there."""
import json

import pytest

import mxnet as mx
from golden_cases import count, differences
from python_program import names, run_python

# What is wrong in the original, and what is right instead: an error of this type with this text.
MENDED = {
    "local: pushpull without init, key 3": ("MXNetError", "key 3 has not been inited"),
    "device: pushpull without init, key 3": ("MXNetError", "key 3 has not been inited"),
    "local error: push unknown key": ("MXNetError", "key 4 has not been inited"),
    "local error: push of another shape": (
        "MXNetError", r"key 3: operands shape mismatch from.shape = \[3,3\] to.shape=\[2,2\]"),
    "local error: updater that raises": ("ZeroDivisionError", "division by zero"),
    "Trainer: kvstore None, update_on_kvstore True": ("ValueError", "there is no store"),
    "local error: set_optimizer of no optimizer": ("AttributeError", "int is no optimizer"),
    "create: 'nobody'": ("MXNetError", "no key-value store 'nobody'; there are 'local', 'device', 'dist_sync', "),
    "create: ''": ("MXNetError", "no key-value store ''; there are 'local', 'device', 'dist_sync', "),
    "create: 'horovod'": ("MXNetError", "there are 'local', 'device', 'dist_sync', "),
    "create: 'byteps'": ("MXNetError", "there are 'local', 'device', 'dist_sync', "),
    # The original asks for DMLC_NUM_WORKER; a process that is alone is one worker with its server inside.
    "create: 'dist_sync'": lambda value: value == "dist_sync",
    "create: 'dist_async'": lambda value: value == "dist_async",
    "create: 'dist_device_sync'": lambda value: value == "dist_device_sync",
}


@pytest.mark.parametrize("line", ["1", "2"])
def test_each_case_is_what_the_original_did(line, tmp_path):
    assert count("kvstore", line) == 99
    assert not differences("kvstore", line, MENDED, tmp_path)


PROFILED = """
import mxnet as mx
mx.profiler.set_config(profile_all=True, filename='p.json')
a, b, w = mx.nd.ones((2, 2)), mx.nd.ones((2, 2)), mx.nd.ones((2, 2))
mx.nd.waitall()
mx.profiler.set_state('run')
kv = mx.kv.create('local')
{calls}
mx.nd.waitall()
mx.profiler.set_state('stop')
mx.profiler.dump()
"""


@pytest.mark.parametrize("calls, operators, functions", [
    ("kv.init('k', a)", ["CopyCPU2CPU"], ["MXKVStoreCreate", "MXKVStoreInitEx"]),
    ("kv.init('k', a); kv.push('k', b); kv.pull('k', out=w)", ["CopyCPU2CPU"] * 2,
     ["MXKVStoreCreate", "MXKVStoreInitEx", "MXKVStorePushEx", "MXKVStorePullWithSparseEx"]),
    ("kv.init('k', a); kv.push('k', [a, b])", ["CopyCPU2CPU"] * 3 + ["KVStoreReduce"],
     ["MXKVStoreCreate", "MXKVStoreInitEx", "MXKVStorePushEx"]),
])
def test_records_are_the_originals(calls, operators, functions, tmp_path):
    run_python(PROFILED.format(calls=calls), tmp_path)
    items = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))["traceEvents"]
    seen = [name for name in names(items, "operator") if name not in ("DeleteVariable", "WaitForVar")]
    assert sorted(seen) == sorted(operators)
    assert [name for name in names(items, "MXNET_C_API") if name.startswith("MXKVStore")
            and name != "MXKVStoreFree"] == functions


def test_an_updater_must_not_push_to_its_own_store():
    store = mx.kv.create()
    store.init(1, mx.nd.ones((2,)))
    store.set_updater(lambda key, received, stored: store.push(key, received))
    with pytest.raises(mx.MXNetError, match="must not push"):
        store.push(1, mx.nd.ones((2,)))


def test_states_are_found_by_their_keys(tmp_path):
    path = str(tmp_path / "states")
    store = mx.kv.create()
    store.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1))
    store.init(["a b", "c"], [mx.nd.ones((2,)), mx.nd.ones((3,))])
    store.push(["c", "a b"], [mx.nd.ones((3,)), mx.nd.ones((2,))])
    store.save_optimizer_states(path)
    other = mx.kv.create()
    other.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1))
    other.load_optimizer_states(path)
    assert other._updater.states.keys() == {"a b", "c"} and other._updater.states["c"][0].shape == (3,)
    assert other._updater.optimizer.update_count("c") == 1
    mx.nd.save(path, {"x": mx.nd.ones((1,))})
    with pytest.raises(mx.MXNetError, match="holds no states"):
        other.load_optimizer_states(path)


def two_devices(**settings):
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    return net, mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9}, **settings)


def step(net, trainer):
    with mx.autograd.record():
        losses = [(net(mx.nd.ones((1, 2), ctx=ctx)) ** 2).sum() for ctx in (mx.cpu(0), mx.cpu(1))]
    mx.autograd.backward(losses)
    trainer.step(2)
    return [net.weight.data(ctx).asnumpy().tolist() for ctx in (mx.cpu(0), mx.cpu(1))]


def test_the_store_updates_as_the_devices_do():
    by_store, by_device = two_devices(update_on_kvstore=True), two_devices(update_on_kvstore=False)
    for _ in range(3):
        first, second = step(*by_store)
        assert first == second and step(*by_device) == [first, first]


def test_states_of_a_trainer_go_through_its_store(tmp_path):
    net, trainer = two_devices()
    step(net, trainer)
    trainer.save_states(str(tmp_path / "states"))
    net.save_parameters(str(tmp_path / "net"))
    expected = step(net, trainer)
    other, again = two_devices()
    other.load_parameters(str(tmp_path / "net"), ctx=[mx.cpu(0), mx.cpu(1)])
    again.load_states(str(tmp_path / "states"))
    assert step(other, again) == expected


def test_stale_gradients_are_refused_with_a_store():
    net, trainer = two_devices()
    step(net, trainer)
    with pytest.raises(UserWarning, match="has not been written"):
        trainer.step(1)
    before = net.weight.data(mx.cpu(1)).asnumpy()
    trainer.step(1, ignore_stale_grad=True)
    assert (net.weight.data(mx.cpu(1)).asnumpy() == before).all()
