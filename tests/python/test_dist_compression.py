# SPDX-License-Identifier: Apache-2.0
"""Gradients that are compressed to 2 bits: values against a model in NumPy, trainings that learn, and what is refused."""
import json

import numpy as np
import pytest

from dist_roles import WRONG, has_mpi, run_job, run_mpi
from python_program import run_python
from test_dist_training import global_losses, losses_of, program

needs_mpi = pytest.mark.skipif(not has_mpi(), reason="needs mpirun and libmxnet_mpi.so (scripts/setup build)")
STARTS = [run_job, pytest.param(run_mpi, marks=needs_mpi)]

# ---- values --------------------------------------------------------------------------------------------
# Keys of no whole word, of several pieces, and longer than MXNET_KVSTORE_BIGARRAY_BOUND.
SHAPES = {"a": (3, 4), "b": (1001,), "c": (1,), "d": (70, 1000), "e": (517, 11)}
ROUNDS = 8

PUSHES = """
import json, os
import numpy as np
import mxnet as mx
kv = mx.kv.create({kind!r})
rank = kv.rank
if {first}:
    kv.set_gradient_compression({{'type': '2bit', 'threshold': {threshold!r}}})
if 'async' in {kind!r}:  # before any worker can push: init waits for all
    kv.set_optimizer(mx.optimizer.create('sgd', learning_rate=-1.0))
shapes = {shapes!r}
for key, shape in shapes.items():
    kv.init(key, mx.nd.zeros(shape))
if not {first}:
    kv.set_gradient_compression({{'type': '2bit', 'threshold': {threshold!r}}})
pulled = {{key: [] for key in shapes}}
for step in range({rounds}):
    for at, (key, shape) in enumerate(list(shapes.items())[::1 - 2 * (rank % 2)]):
        draw = np.random.RandomState(1000 * rank + 10 * step + len(shape) + shape[0])
        gradient = mx.nd.array(draw.normal(0, {threshold!r}, shape).astype('float32'))
        kv.push(key, gradient, priority=-at)
        gradient[:] = 77
        out = mx.nd.zeros(shape)
        kv.pull(key, out=out, priority=-at)
        pulled[key].append(out)  # not waited for: workers take keys in other orders
kv.barrier()
last = {{}}
for key, shape in shapes.items():
    out = mx.nd.zeros(shape)
    kv.pull(key, out=out)
    last[key] = out.asnumpy()
np.savez(f'pulled{{rank}}.npz', **{{f'{{key}}{{step}}': value.asnumpy() for key, values in pulled.items()
                                  for step, value in enumerate(values)}},
         **{{f'{{key}}last': value for key, value in last.items()}})
os.write(1, b'done\\n')
"""


def pushes(kind="dist_sync", threshold=0.3, first=True):
    return PUSHES.format(kind=kind, threshold=threshold, first=first, shapes=SHAPES, rounds=ROUNDS)


def sent(worker, threshold):
    """What each push of a worker gives the sum, by key: values of one of three, by the rest that was left before."""
    limit, every = np.float32(threshold), {}
    for key, shape in SHAPES.items():
        rest, every[key] = np.zeros(shape, "float32"), []
        for step in range(ROUNDS):
            draw = np.random.RandomState(1000 * worker + 10 * step + len(shape) + shape[0])
            rest += draw.normal(0, threshold, shape).astype("float32")
            value = np.where(rest >= limit, limit, np.where(rest <= -limit, -limit, np.float32(0)))
            rest -= value
            every[key].append(value)
    return every


def check_sums(directory, workers, threshold):
    parts = [sent(worker, threshold) for worker in range(workers)]
    assert any((part["b"][0] != 0).any() and (part["b"][0] == 0).any() for part in parts)
    for worker in range(workers):
        pulled = np.load(directory / f"pulled{worker}.npz")
        for key in SHAPES:
            for step in range(ROUNDS):
                total = parts[0][key][step].copy()
                for part in parts[1:]:
                    total += part[key][step]
                assert pulled[f"{key}{step}"].tobytes() == total.tobytes(), (worker, key, step)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("workers, servers", [(1, 1), (2, 1), (3, 2), (2, 0), (3, 0)])
def test_sums_are_the_models_to_the_bit(workers, servers, first, tmp_path):
    run_job(pushes(first=first), tmp_path, workers, servers, MXNET_KVSTORE_BIGARRAY_BOUND="3000",
            MXNET_KVSTORE_PIECE_BYTES="65536").check()
    check_sums(tmp_path, workers, 0.3)


@needs_mpi
@pytest.mark.parametrize("workers, servers", [(2, 2), (3, 0)])
def test_so_are_those_of_processes_that_mpirun_starts(workers, servers, tmp_path):
    run_mpi(pushes(), tmp_path, workers, servers, MXNET_KVSTORE_BIGARRAY_BOUND="3000").check()
    check_sums(tmp_path, workers, 0.3)


def test_so_are_those_of_a_process_alone_and_of_other_settings(tmp_path):
    for variables in ({}, {"MXNET_KVSTORE_BUCKET_BYTES": "0"}, {"MXNET_KVSTORE_OWNER_HELD": "4096"}):
        done = run_python(pushes(), tmp_path, **variables)
        assert done.out == "done\n", done.err
        check_sums(tmp_path, 1, 0.3)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("servers", [0, 2])
def test_asynchronous_pushes_add_up_to_the_models_sum(start, servers, tmp_path):
    """0.25 and its multiples are exact in float32, so the order of arrival is nothing to the sum."""
    start(pushes("dist_async", 0.25), tmp_path, 3, servers, MXNET_KVSTORE_BIGARRAY_BOUND="3000").check()
    parts = [sent(worker, 0.25) for worker in range(3)]
    for worker in range(3):
        pulled = np.load(tmp_path / f"pulled{worker}.npz")
        for key in SHAPES:
            total = sum(sum(part[key]) for part in parts)
            assert (pulled[f"{key}last"] == total).all(), (worker, key)


SEEN = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.set_gradient_compression({'type': '2bit'})
kv.init('a', mx.nd.zeros((2, 3)))
out = mx.nd.zeros((2, 3))
for value in (0.3, 0.3, [0.25, 0.25], -2.0):
    pushed = [mx.nd.full((2, 3), one) for one in value] if isinstance(value, list) else mx.nd.full((2, 3), value)
    kv.push('a', pushed)
    kv.pull('a', out=out)
    print(set(out.asnumpy().ravel().tolist()))
"""


def test_the_threshold_is_a_half_and_devices_are_summed_first(tmp_path):
    done = run_python(SEEN, tmp_path)
    assert done.out.splitlines() == ["{0.0}", "{0.5}", "{0.5}", "{-0.5}"], done.err


# ---- trainings -----------------------------------------------------------------------------------------
COMPRESSED = ", compression_params={'type': '2bit', 'threshold': 0.5}"


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("servers, more", [(1, ""), (0, ", update_on_kvstore=False")])
def test_a_lenet_learns(start, servers, more, tmp_path):
    job = start(program("mx.kv.create('dist_sync')", settings={"learning_rate": 0.05}, more=COMPRESSED + more, steps=60),
                tmp_path, 2, servers)
    losses = global_losses(job, 2)
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10]), losses


def test_updates_on_workers_and_on_servers_are_alike(tmp_path):
    found = []
    for servers, more in ((2, ""), (0, ""), (1, ", update_on_kvstore=False")):
        directory = tmp_path / f"{servers}{len(more)}"
        directory.mkdir()
        job = run_job(program("mx.kv.create('dist_sync')", more=COMPRESSED + more), directory, 2, servers,
                      MXNET_KVSTORE_BIGARRAY_BOUND="1000")
        found.append(global_losses(job, 2))
    assert found[0] == found[1] == pytest.approx(found[2], abs=1e-5)
    plain = global_losses(run_job(program("mx.kv.create('dist_sync')"), tmp_path, 2, 1), 2)
    assert found[0] != pytest.approx(plain, abs=1e-3)


def test_an_asynchronous_lenet_learns(tmp_path):
    job = run_job(program("mx.kv.create('dist_async')", settings={"learning_rate": 0.05}, more=COMPRESSED, steps=60),
                  tmp_path, 2, 1)
    losses = global_losses(job, 2)
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10]), losses


MODULE = """
import numpy as np
import mxnet as mx
mx.random.seed(3)
data = mx.sym.Variable('data')
net = mx.sym.FullyConnected(mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=8), act_type='relu'), num_hidden=3)
net = mx.sym.SoftmaxOutput(net, name='softmax')
draw = np.random.RandomState(4)
y = draw.randint(0, 3, 24).astype('float32')
x = (draw.rand(3, 5)[y.astype(int)] + 0.1 * draw.rand(24, 5)).astype('float32')
store = mx.kv.create('dist_sync')
iterator = mx.io.NDArrayIter(x, y, batch_size=12)
kinds = {{'plain': lambda: mx.mod.Module(net, compression_params={params!r}),
         'buckets': lambda: mx.mod.BucketingModule(lambda key: (net, ['data'], ['softmax_label']), default_bucket_key=1,
                                                   compression_params={params!r})}}
module = kinds[{kind!r}]()
iterator.provide_data, iterator.provide_label
def keyed(iterator):
    for batch in iterator:
        batch.bucket_key, batch.provide_data, batch.provide_label = 1, iterator.provide_data, iterator.provide_label
        yield batch
module.bind(iterator.provide_data, iterator.provide_label)
module.init_params(mx.init.Xavier())
module.init_optimizer(kvstore=store, optimizer='sgd', optimizer_params={{'learning_rate': 0.5, 'rescale_grad': 1.0}})
for epoch in range(4):
    iterator.reset()
    for batch in keyed(iterator):
        module.forward(batch)
        module.backward()
        module.update()
print([np.round(value.asnumpy(), 6).ravel().tolist() for _, value in sorted(module.get_params()[0].items())])
"""


@pytest.mark.parametrize("kind", ["plain", "buckets"])
def test_modules_compress(kind, tmp_path):
    job = run_job(MODULE.format(kind=kind, params={"type": "2bit", "threshold": 0.25}), tmp_path, 2, 1).check()
    weights = [json.loads(role.out) for role in job.of("worker")]
    plain = run_job(MODULE.format(kind=kind, params=None), tmp_path, 2, 1).check()
    assert weights[0] == weights[1] != json.loads(plain.of("worker")[0].out)


# ---- refused -------------------------------------------------------------------------------------------
SET = "kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5}); "


@pytest.mark.parametrize("kind, body, message", [
    ("local", SET, "Gradient compression is not supported for this type of kvstore"),
    ("device", SET, "Gradient compression is not supported for this type of kvstore"),
    ("dist_sync", "kv.set_gradient_compression({'type': '9bit'})", "Unknown type for gradient compression 9bit"),
    ("dist_sync", "kv.set_gradient_compression({'threshold': 1})", "Required parameter type of string is not presented"),
    ("dist_sync", "kv.set_gradient_compression({'type': '2bit', 'threshold': 0})", "threshold must be greater than 0"),
    ("dist_sync", "kv.set_gradient_compression({'type': '2bit', 'threshold': -1})", "threshold must be greater than 0"),
    ("dist_sync", "kv.set_gradient_compression({'type': '2bit', 'threshold': float('nan')})", "threshold must be greater than 0"),
    ("dist_sync", "kv.set_gradient_compression({'type': '2bit', 'threshold': float('inf')})", "threshold must be greater than 0"),
    ("dist_sync", "kv.set_gradient_compression({'type': '2bit', 'threshold': 'x'})",
     "Invalid Parameter format for threshold expect float but value='x'"),
    ("dist_sync", SET + "kv.init('a', z); kv.pushpull('a', z, out=z)", "key a: Compression not supported with PushPull"),
    ("dist_sync", SET + "h = z.astype('float16'); kv.init('a', h); kv.pull('a', out=h); kv.push('a', h); kv.pull('a', out=h)",
     "Gradient compression is only supported for float32 type of parameters"),
    ("dist_sync", "kv.init('a', z); kv.push('a', z); " + SET, "is set before the first push: worker 0 has pushed"),
    ("dist_sync", SET + SET + "kv.init('a', z); kv.push('a', z); kv.pull('a', out=z)", "no error"),
    ("dist_async", SET + "kv.init('a', z); kv.push('a', z); kv.pull('a', out=z)", "Updater needs to be set for async mode"),
])
def test_what_is_wrong_is_told(kind, body, message, tmp_path):
    done = run_python(WRONG.format(kind=kind, body=body), tmp_path)
    assert done.code == 0 and message in done.out, done.out + done.err


DIFFERENT = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
try:
    if kv.rank == 0:
        kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5})
    else:
        OTHER
    print('no error')
except mx.MXNetError as error:
    print(error)
"""


@pytest.mark.parametrize("servers", [0, 1])
@pytest.mark.parametrize("other, message", [
    ("kv.set_gradient_compression({'type': '2bit', 'threshold': 0.25})", "2bit with threshold 0.25"),
    ("kv.barrier()", "a barrier"), ("kv.init('w', mx.nd.zeros((3, 4)))", "'w' (3,4) float32")])
def test_workers_that_differ_are_told(other, message, servers, tmp_path):
    job = run_job(DIFFERENT.replace("OTHER", other), tmp_path, 2, servers).check()
    text = f"gradient compression is 2bit with threshold 0.5 on worker 0 and {message} on worker 1\n"
    assert [role.out for role in job.of("worker")] == [text] * 2, job.text()


def test_sums_of_two_levels_are_not_compressed(tmp_path):
    body = DIFFERENT.replace("OTHER", "kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5})")
    job = run_job(body, tmp_path, 4, 1, MXNET_KVSTORE_LEVELS="2", MXNET_KVSTORE_HOSTS="0,0,1,1").check()
    assert all("set MXNET_KVSTORE_LEVELS to 1" in role.out for role in job.of("worker")), job.text()


TRAINER = """
import mxnet as mx
from mxnet import autograd, gluon
net = gluon.nn.Dense(2, in_units=3)
net.initialize(ctx=[mx.cpu(0), mx.cpu(1)][:{devices}])
trainer = gluon.Trainer(net.collect_params(), 'sgd', {{'learning_rate': 1}}, kvstore={kind!r},
                        compression_params={{'type': '2bit', 'threshold': 0.5}})
with autograd.record():
    losses = [net(mx.nd.ones((4, 3), ctx=ctx)).sum() for ctx in [mx.cpu(0), mx.cpu(1)][:{devices}]]
autograd.backward(losses)
trainer.step(1)
print(net.bias.data(mx.cpu(0)).asnumpy().tolist())
"""


def test_trainers_of_one_process_have_nothing_to_compress(tmp_path):
    done = run_python(TRAINER.format(kind="device", devices=2), tmp_path)
    assert "Gradient compression is not supported for this type of kvstore" in done.err
    assert run_python(TRAINER.format(kind="device", devices=1), tmp_path).out == "[-4.0, -4.0]\n"
    assert run_python(TRAINER.format(kind="dist_sync", devices=2), tmp_path).out == "[-0.5, -0.5]\n"


# ---- profiles ------------------------------------------------------------------------------------------
PROFILED = """
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
kv.set_gradient_compression({'type': '2bit'})
kv.init('a', mx.nd.zeros((1000,)))
profiler.set_config(profile_all=True, filename='trace.json')
profiler.set_state('run')
for step in range(3):
    kv.push('a', mx.nd.ones((1000,)))
kv.pull('a', out=mx.nd.zeros((1000,)))
mx.nd.waitall()
profiler.dump()
"""


def test_profiles_have_the_bytes_that_are_sent_and_what_encoding_took(tmp_path):
    trace = run_python(PROFILED, tmp_path, MXPROF_DISTRIBUTED_DETAIL="messages").trace()
    encoded = [item for item in trace if item["name"] == "QuantizeCPU" and item["ph"] in "XB"]
    pushed = [item for item in trace if item["name"] == "KVStoreDistCompressedPush" and "pieces" in item.get("args", {})]
    assert len(encoded) == 3
    assert [item["args"]["bytes"] for item in pushed] == [252] * 3  # 63 words
    assert not any("DefaultPush" in item["name"] for item in trace)
