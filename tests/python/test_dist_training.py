# SPDX-License-Identifier: Apache-2.0
"""A LeNet on several workers is the same training as on one: the same losses with the same global batch."""
import ast
import os

import pytest

from dist_roles import has_mpi, run_job, run_mpi
from python_program import BUILD, SOURCE, run_file, run_python

# Over MPI, too, where it is there; of combinations that repeat others some with MXPROF_TEST_LONG=1 alone.
BY_MPI = pytest.param(run_mpi, marks=pytest.mark.skipif(not has_mpi(), reason="needs mpirun and libmxnet_mpi.so "
                                                                              "(scripts/setup build)"))
STARTS = [run_job, BY_MPI]
REPEATS = pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1 runs every combination")

LENET = """
import os
import numpy as np
import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

mx.random.seed(7)
net = nn.HybridSequential()
net.add(nn.Conv2D(6, kernel_size=5, activation='tanh', in_channels=1), nn.AvgPool2D(2, 2),
        nn.Conv2D(16, kernel_size=5, activation='tanh', in_channels=6), nn.AvgPool2D(2, 2),
        nn.Dense(120, activation='tanh', in_units=256), nn.Dense(84, activation='tanh', in_units=120),
        nn.Dense(10, in_units=84))
net.initialize(mx.init.Xavier())
generator = np.random.RandomState(5)
GLOBAL = 32
patterns = generator.randn(10, 1, 28, 28)
labels = generator.randint(0, 10, (20, GLOBAL)).astype('float32')
images = (patterns[labels.astype(int)] + 0.3 * generator.rand(20, GLOBAL, 1, 28, 28)).astype('float32')
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
store = {store}
trainer = gluon.Trainer(net.collect_params(), {optimizer!r}, {settings!r}, kvstore=store{more})
rank, workers = (store.rank, store.num_workers) if store is not None else (0, 1)
part = slice(rank * GLOBAL // workers, (rank + 1) * GLOBAL // workers)
losses = []
for step in range({steps}):
    x, y = mx.nd.array(images[step % 20, part]), mx.nd.array(labels[step % 20, part])
    with autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(GLOBAL)
    losses.append(float(loss.sum().asscalar()) / GLOBAL)
    if step == 9 and {changes}:
        trainer.set_learning_rate(trainer.learning_rate / 2)
# In a piece, because mpirun mixes what its processes write.
os.write(1, f'losses {{losses}}\\n'.encode())
"""


def program(store, optimizer="sgd", settings=None, more="", steps=20, changes=False):
    return LENET.format(store=store, optimizer=optimizer, settings=settings or {"learning_rate": 0.05, "momentum": 0.9},
                        more=more, steps=steps, changes=changes)


def losses_of(text):
    """Of each process whose text is in it."""
    return [ast.literal_eval(line.split(" ", 1)[1]) for line in text.splitlines() if line.startswith("losses ")]


def global_losses(job, workers):
    parts = [losses for role in job.check().of("worker") for losses in losses_of(role.out)]
    assert len(parts) == workers, job.text()
    return [sum(step) for step in zip(*parts)]


@pytest.fixture(scope="module", name="alone")
def _alone(tmp_path_factory):
    """The losses of one process, by optimizer."""
    known = {}

    def of(**settings):
        key = str(sorted(settings.items()))
        if key not in known:
            done = run_python(program("None", **settings), tmp_path_factory.mktemp("alone"), OMP_NUM_THREADS="1")
            known[key], = losses_of(done.out)
        return known[key]
    return of


@pytest.mark.parametrize("workers, servers", [(2, 1), (2, 2), (4, 1), (4, 2), (2, 0), (4, 0)])
def test_losses_are_those_of_one_process(workers, servers, alone, tmp_path):
    job = run_job(program("mx.kv.create('dist_sync')"), tmp_path, workers, servers, MXNET_KVSTORE_BIGARRAY_BOUND="1000")
    assert global_losses(job, workers) == pytest.approx(alone(), abs=1e-5)


@pytest.mark.skipif(not has_mpi(), reason="needs mpirun and libmxnet_mpi.so (scripts/setup build)")
@pytest.mark.parametrize("workers, servers", [pytest.param(2, 1, marks=REPEATS), (2, 2), (4, 1), pytest.param(4, 2, marks=REPEATS),
                                              pytest.param(2, 0, marks=REPEATS), (4, 0)])
def test_so_are_those_of_processes_that_mpirun_starts(workers, servers, alone, tmp_path):
    job = run_mpi(program("mx.kv.create('dist_sync')"), tmp_path, workers, servers, MXNET_KVSTORE_BIGARRAY_BOUND="1000")
    assert global_losses(job, workers) == pytest.approx(alone(), abs=1e-5)


TWO_BY_TWO = {"MXNET_KVSTORE_LEVELS": "2", "MXNET_KVSTORE_HOSTS": "0,0,1,1", "MXNET_KVSTORE_BIGARRAY_BOUND": "1000"}


@pytest.mark.parametrize("servers", [0, 2])
@pytest.mark.parametrize("start", STARTS)
def test_so_are_those_of_sums_of_two_levels(start, servers, alone, tmp_path):
    job = start(program("mx.kv.create('dist_sync')"), tmp_path, 4, servers, **TWO_BY_TWO)
    assert global_losses(job, 4) == pytest.approx(alone(), abs=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_so_are_those_of_other_optimizers(optimizer, alone, tmp_path):
    settings = {"optimizer": optimizer, "settings": {"learning_rate": 0.002, "wd": 1e-4}}
    job = run_job(program("mx.kv.create('dist_device_sync')", **settings), tmp_path, 2, 1)
    assert global_losses(job, 2) == pytest.approx(alone(**settings), abs=1e-5)


def test_so_are_those_of_updates_on_workers(alone, tmp_path):
    job = run_job(program("mx.kv.create('dist_sync')", more=", update_on_kvstore=False"), tmp_path, 2, 1)
    assert global_losses(job, 2) == pytest.approx(alone(), abs=1e-5)


def test_a_learning_rate_that_changes_reaches_the_servers(alone, tmp_path):
    job = run_job(program("mx.kv.create('dist_sync')", changes=True), tmp_path, 2, 1)
    assert global_losses(job, 2) == pytest.approx(alone(changes=True), abs=1e-5)
    assert alone(changes=True) != pytest.approx(alone(), abs=1e-4)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("servers", [0, 1])
def test_asynchronous_training_learns(servers, start, tmp_path):
    job = start(program("mx.kv.create('dist_async')", settings={"learning_rate": 0.05}, steps=60), tmp_path, 2, servers)
    losses = global_losses(job, 2)
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10]), losses


SCALED = """
import time
import mxnet as mx
from mxnet import autograd, gluon

change = mx.kvstore.DistKVStore._change_optimizer
mx.kvstore.DistKVStore._change_optimizer = lambda store, **settings: (
    time.sleep(store.rank == 0), change(store, **settings))
store = mx.kv.create('dist_async')
net = gluon.nn.Dense(1, use_bias=False, in_units=1)
net.initialize(mx.init.Zero())
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1}, kvstore=store)
with autograd.record():
    sum_of_batch = net(mx.nd.full((4, 1), store.rank)).sum()
sum_of_batch.backward()
trainer.step(4)
if store.rank == 1:
    print('weight', net.weight.data().asscalar())
"""


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("servers", [0, 1])
def test_no_gradient_is_applied_before_its_scale_is_known(servers, start, tmp_path):
    """Worker 1, whose gradient is 4, does not wait for worker 0, whose changes of the optimizer are slow here."""
    job = start(SCALED, tmp_path, 2, servers).check()
    assert "weight -1.0" in job.text()


def test_asynchronous_training_updates_on_servers_alone(tmp_path):
    done = run_python(program("mx.kv.create('dist_async')", more=", update_on_kvstore=False"), tmp_path)
    assert "Please set update_on_kvstore=True when training in async mode." in done.err


MODULE = """
import numpy as np
import mxnet as mx
mx.random.seed({seed})
data = mx.sym.Variable('data')
net = mx.sym.FullyConnected(mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=8), act_type='relu'), num_hidden=3)
net = mx.sym.SoftmaxOutput(net, name='softmax')
generator = np.random.RandomState(4)
x, y = generator.rand(24, 5).astype('float32'), generator.randint(0, 3, 24).astype('float32')
store = {store}
rank, workers = (store.rank, store.num_workers) if store is not None else (0, 1)
part = slice(rank * 24 // workers, (rank + 1) * 24 // workers)
iterator = mx.io.NDArrayIter(x[part], y[part], batch_size=24 // workers)
module = mx.mod.Module(net)
module.fit(iterator, num_epoch=6, kvstore=store, optimizer='sgd', optimizer_params={{'learning_rate': 0.5}},
           initializer=mx.init.Xavier())
args, _ = module.get_params()
print('losses', [float(array.asnumpy().sum()) for _, array in sorted(args.items())])
"""


def test_modules_start_from_the_weights_of_worker_0_and_stay_alike(tmp_path):
    each = {"worker 1": {"SEED": "5"}}
    source = MODULE.format(seed="int(__import__('os').environ.get('SEED', 3))", store="mx.kv.create('dist_sync')")
    job = run_job(source, tmp_path, 2, 1, each=each).check()
    first, second = [losses for role in job.of("worker") for losses in losses_of(role.out)]
    assert first == second


def test_the_example_leaves_one_profile(tmp_path):
    done = run_file([str(SOURCE / "examples/python/train_distributed.py"), str(tmp_path)], tmp_path, 110,
                    MXNET_LIBRARY_PATH=str(BUILD))
    assert done.code == 0, done.err
    assert done.out.count("step 59: loss") == 2
    made = {path.name for path in tmp_path.glob("*.mxp")}
    assert made == {"profile.mxp", "worker0.mxp", "worker1.mxp", "rank0_server.mxp", "rank1_server.mxp"}


def test_the_batch_of_one_worker_is_told_once(tmp_path):
    source = program("mx.kv.create('dist_sync')", steps=3).replace("trainer.step(GLOBAL)", "trainer.step(GLOBAL // workers)")
    job = run_job(source, tmp_path, 2, 0).check()
    told = [role.err.count("Trainer.step(16): this is the batch of one worker") for role in job.of("worker")]
    assert sorted(told) == [0, 1], job.text()
    right = run_job(program("mx.kv.create('dist_sync')", steps=3), tmp_path, 2, 0).check()
    assert "batch of one worker" not in right.text()


@pytest.mark.skipif(not has_mpi(), reason="needs mpirun and libmxnet_mpi.so (scripts/setup build)")
def test_so_does_the_example_that_mpirun_starts(tmp_path):
    done = run_file([str(SOURCE / "examples/python/train_distributed.py"), str(tmp_path), "--mpi", "--servers", "0"],
                    tmp_path, 110, MXNET_LIBRARY_PATH=str(BUILD))
    assert done.code == 0, done.err
    assert {path.name for path in tmp_path.glob("*.mxp")} == {"profile.mxp", "worker0.mxp", "worker1.mxp"}
    assert done.err.count("owners of this store are inside the workers") == 1
