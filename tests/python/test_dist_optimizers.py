# SPDX-License-Identifier: Apache-2.0
"""Optimizers of a store over processes: what the library's own updaters make of gradients is what Python's make,
for every registered optimizer; and what they cannot, Python's make where that is allowed."""
import pytest

from dist_roles import run_job
from python_program import run_python
from test_optimizer_texts import CASES, OPTIMIZERS

# A worker that is alone, its owner inside: the same updates as by the updater of this process.
COMPARED = """
import numpy as np
import mxnet as mx
store = mx.kv.create('dist_sync')
assert (store.rank, store.num_workers, store.type) == (0, 1, 'dist_sync')
def made():
    schedule = {schedule}
    return mx.optimizer.create({name!r}, learning_rate=0.07, rescale_grad=1 / 3, lr_scheduler=schedule,
                               param_idx2name={{0: 'a_weight', 1: 'a_gamma', 2: 'a_bias'}}, **{settings!r})
dtype = {dtype!r}
generator = np.random.RandomState(3)
weights = [mx.nd.array(generator.randn(*shape), dtype=dtype) for shape in ((5, 3), (7,), (2, 2))]
outs = [weight.copy() for weight in weights]
store.set_optimizer(made())
store.init([0, 1, 2], weights)
updater = mx.optimizer.get_updater(made())
for step in range(5):
    for index, weight in enumerate(weights):
        gradient = mx.nd.array(generator.randn(*weight.shape), dtype=dtype)
        updater(index, gradient, weight)
        store.push(index, gradient)
        store.pull(index, out=outs[index])
        assert np.array_equal(outs[index].asnumpy(), weight.asnumpy()), (step, index)
"""
ONCE = [(name, all_settings[-1]) for name, all_settings in OPTIMIZERS.items()]


def compare(directory, name, settings, dtype="float32", schedule="None"):
    done = run_python(COMPARED.format(name=name, settings={"wd": 0.01, **settings}, dtype=dtype, schedule=schedule), directory)
    assert done.code == 0, done.err


@pytest.mark.parametrize("name, settings", CASES)
def test_numbers_are_those_of_python(name, settings, tmp_path):
    compare(tmp_path, name, settings)


@pytest.mark.parametrize("name, settings", ONCE)
def test_numbers_of_float16_with_a_copy(name, settings, tmp_path):
    compare(tmp_path, name, {**settings, "multi_precision": True}, "float16")


@pytest.mark.parametrize("schedule", [
    "mx.lr_scheduler.FactorScheduler(step=2, factor=0.5)",
    "mx.lr_scheduler.MultiFactorScheduler([1, 3], factor=0.1)",
    "mx.lr_scheduler.PolyScheduler(max_update=4, warmup_steps=2)",
    "mx.lr_scheduler.CosineScheduler(max_update=4, final_lr=0.001)",
])
@pytest.mark.parametrize("name", ["sgd", "lars"])
def test_numbers_with_a_schedule(name, schedule, tmp_path):
    compare(tmp_path, name, {"momentum": 0.9}, schedule=schedule)


OWN = """
import sys
import mxnet as mx
@mx.optimizer.register
class Halving(mx.optimizer.Optimizer):
    def __init__(self, part=0.5, **settings):
        super().__init__(**settings)
        self.part = part
    def update(self, index, weight, grad, state):
        assert index == 'w', index
        weight[:] = weight * self.part + grad * self.learning_rate
"""
USES_OWN = """
import os, sys
sys.path.insert(0, os.getcwd())
import mxnet as mx
import own_optimizers
store = mx.kv.create('dist_sync')
store.init('w', mx.nd.ones((2,)))
store.set_optimizer(mx.optimizer.create('halving', part=0.25, learning_rate=2.0))
out = mx.nd.zeros((2,))
store.push('w', mx.nd.ones((2,)))
store.pull('w', out=out)
print(out.asnumpy().tolist())
store._change_optimizer(learning_rate=4.0)
store.pushpull('w', mx.nd.ones((2,)), out=out)
print(out.asnumpy().tolist())
"""


def test_a_class_of_ones_own_is_made_where_its_module_is_named(tmp_path):
    (tmp_path / "own_optimizers.py").write_text(OWN, encoding="utf-8")
    done = run_python(USES_OWN, tmp_path, MXNET_KVSTORE_OPTIMIZER_MODULES="own_optimizers")
    assert done.out.splitlines() == ["[2.25, 2.25]", "[4.5625, 4.5625]"], done.err
    assert done.err.count("optimizer Halving runs in Python") == 1


PICKLED = """
import mxnet as mx
class Own(mx.optimizer.SGD):
    def __init__(self, rule):
        super().__init__(learning_rate=1.0)
        self.rule = rule
store = mx.kv.create('dist_sync')
store.init('w', mx.nd.ones((2,)))
try:
    store.set_optimizer(Own(print))
    store.push('w', mx.nd.ones((2,)))
    out = mx.nd.zeros((2,))
    store.pull('w', out=out)
    print(out.asnumpy().tolist())
except mx.MXNetError as error:
    print(error)
"""


def test_pickles_are_refused_unless_allowed(tmp_path):
    refused = run_python(PICKLED, tmp_path).out
    assert "owner 0: " in refused and "Own: rule is of type builtin_function_or_method" in refused
    assert "MXNET_KVSTORE_OPTIMIZER_MODULES" in refused and "MXNET_KVSTORE_ALLOW_PICKLE=1" in refused
    allowed = run_python(PICKLED, tmp_path, MXNET_KVSTORE_ALLOW_PICKLE="1")
    assert allowed.out == "[0.0, 0.0]\n", allowed.err


STATES = """
import numpy as np
import mxnet as mx
store = mx.kv.create('dist_sync')
store.init(['a b', 'c'], [mx.nd.ones((2, 3)), mx.nd.ones((3,), dtype='float16')])
store.set_optimizer(mx.optimizer.create({name!r}, learning_rate=0.1, multi_precision=True))
outs = [mx.nd.zeros((2, 3)), mx.nd.zeros((3,), dtype='float16')]
def step():
    for key, out in zip(['a b', 'c'], outs):
        store.pushpull(key, mx.nd.ones_like(out), out=out)
    return [out.asnumpy().tolist() for out in outs]
{body}
"""
SAVES = """
step()
store.save_optimizer_states('states')
local = mx.kv.create('local')
local.init(['a b', 'c'], outs)
local.set_optimizer(mx.optimizer.create({name!r}, learning_rate=0.1, multi_precision=True))
local.load_optimizer_states('states')
for key, out in zip(['a b', 'c'], outs):
    own = mx.nd.zeros_like(out)
    local.pushpull(key, mx.nd.ones_like(out), out=own)
    print(own.asnumpy().tolist())
print(*step(), sep='\\n')
"""


@pytest.mark.parametrize("name", ["sgd", "adam", "lamb"])
def test_states_go_to_files_that_a_store_of_one_process_reads(name, tmp_path):
    done = run_python(STATES.format(name=name, body=SAVES.format(name=name)), tmp_path)
    lines = done.out.splitlines()
    assert done.code == 0 and lines[:2] == lines[2:], done.out + done.err


LOADS = """
store.load_optimizer_states('states')
print(step())
"""


def test_states_come_back_from_files(tmp_path):
    saved = run_python(STATES.format(name="adam", body="step(); store.save_optimizer_states('states'); "
                                     "print(outs[0].asnumpy().tolist()); print(step())"), tmp_path)
    begin, wanted = saved.out.splitlines()
    again = STATES.replace("mx.nd.ones((2, 3))", f"mx.nd.array({begin})", 1)
    loaded = run_python(again.format(name="adam", body=LOADS), tmp_path)
    assert loaded.code == 0 and loaded.out.splitlines()[-1].split("]]")[0] == wanted.split("]]")[0], loaded.err


SPLIT = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.set_optimizer(mx.optimizer.create('adam', learning_rate=0.1))
kv.init(['big', 'small', 'idle'], [mx.nd.ones((41, 30)), mx.nd.ones((3,)), mx.nd.ones((4,))])
outs = [mx.nd.zeros((41, 30)), mx.nd.zeros((3,))]
def step():
    for key, out in zip(['big', 'small'], outs):
        kv.pushpull(key, mx.nd.ones_like(out) * (kv.rank + 1), out=out)
    kv.barrier()
step()
kv.save_optimizer_states('a')
step()
kv.load_optimizer_states('a')
kv.save_optimizer_states('b')     # nothing was updated since
kv.barrier()
kv.pushpull('small', mx.nd.ones_like(outs[1]), out=outs[1])
kv.barrier()
kv.save_optimizer_states('c')     # 'small' was, on one owner
kv.barrier()
if kv.rank == 0:
    a, b, c = [mx.nd.load(name) for name in 'abc']
    def of(arrays, key):
        title, = [name for name in arrays if name.endswith(' str ' + key)]
        place = title.split()[1]
        return [arrays[title].asnumpy().tolist()] + [arrays[f'{place}.{i}'].asnumpy().tolist() for i in range(2)]
    assert sorted(name.split(' str ')[1] for name in a if name.startswith('key ')) == ['big', 'small']
    assert of(a, 'big') == of(b, 'big') == of(c, 'big') and of(a, 'small') == of(b, 'small') != of(c, 'small')
    assert of(a, 'big')[0] == [1, 0] and of(c, 'small')[0] == [2, 0]
    assert len(of(a, 'big')[1]) == 41
    print('alike')
"""


@pytest.mark.parametrize("servers", [0, 1, 2])
def test_states_of_parts_are_put_together(servers, tmp_path):
    job = run_job(SPLIT, tmp_path, 2, servers, MXNET_KVSTORE_BIGARRAY_BOUND="1000").check()
    assert sorted(role.out for role in job.of("worker")) == ["", "alike\n"]


@pytest.mark.parametrize("body, message", [
    ("store.set_optimizer(3)", "int is no optimizer"),
    ("store._send_command_to_servers(0, '{}')", "owner 0: optimizer text: it must have a \"name\""),
    ("store._send_command_to_servers(0, '[' * 99)", "owner 0: optimizer text: byte 16 is more than 16 levels deep"),
    ("store._change_optimizer(momentun=1)", "owner 0: optimizer text: adam has no argument \"momentun\""),
    ("store._change_optimizer(wd=float('nan'))", "numbers must be finite"),
    ("store.load_optimizer_states('nothing')", "nothing"),
    ("store._set_updater(lambda key, received, stored: None)", "run on its servers"),
])
def test_what_is_wrong_is_the_callers_error(body, message, tmp_path):
    done = run_python(STATES.format(name="adam", body=f"try:\n    {body}\nexcept (mx.MXNetError, AttributeError) as e:\n"
                                    "    print(e)"), tmp_path)
    assert done.code == 0 and message in done.out, done.out + done.err
