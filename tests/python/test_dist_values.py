# SPDX-License-Identifier: Apache-2.0
"""Stores over processes, on the local transport: sums, pulls, orders, and what is refused with which words."""
import pytest

from dist_roles import WRONG, run_job
from python_program import run_python

SUMS = """
import numpy as np
import mxnet as mx
kv = mx.kv.create('dist_sync')
rank, workers = kv.rank, kv.num_workers
shapes = {'a': (3, 4), 'b': (1001,), 'c': (), 'd': (2, 0)}
mx.util.set_np_shape(True)
for key, shape in shapes.items():
    kv.init(key, mx.nd.array(np.full(shape, 100 * (rank + 1)), dtype='float32'))
outs = {key: mx.nd.zeros(shape) for key, shape in shapes.items()}
for key, out in outs.items():
    kv.pull(key, out=out)
    assert (out.asnumpy() == 100).all(), (key, out)
for step in range(5):
    for key, shape in shapes.items():
        kv.push(key, [mx.nd.full(shape, step + rank)] * 2, priority=-step)
        kv.pull(key, out=[outs[key], outs[key].copy()])
    for key, out in outs.items():
        assert (out.asnumpy() == 2 * sum(step + other for other in range(workers))).all(), (step, key, out)
    kv.pushpull('a', outs['a'])
    assert (outs['a'].asnumpy() == 2 * workers * sum(step + other for other in range(workers))).all()
copies = mx.nd.zeros((2, 2)), mx.nd.zeros((2, 2))
kv.broadcast('e', mx.nd.full((2, 2), rank + 5), out=list(copies))
assert all((one.asnumpy() == 5).all() for one in copies)
kv.barrier()
other = mx.kv.create('dist_sync')
other.init('a', mx.nd.ones((2,)))
out = mx.nd.zeros((2,))
other.pushpull('a', mx.nd.ones((2,)), out=out)
assert (out.asnumpy() == workers).all()
print('done', rank)
"""


@pytest.mark.parametrize("workers, servers", [(1, 1), (2, 1), (2, 2), (3, 2), (2, 0), (3, 0)])
def test_values_are_sums_over_workers(workers, servers, tmp_path):
    job = run_job(SUMS, tmp_path, workers, servers, MXNET_KVSTORE_BIGARRAY_BOUND="500").check()
    assert sorted(role.out for role in job.of("worker")) == [f"done {rank}\n" for rank in range(workers)]


@pytest.mark.parametrize("servers", [0, 2])
def test_so_are_sums_of_two_levels(servers, tmp_path):
    job = run_job(SUMS, tmp_path, 3, servers, MXNET_KVSTORE_BIGARRAY_BOUND="500", MXNET_KVSTORE_LEVELS="2",
                  MXNET_KVSTORE_HOSTS="0,1,0").check()
    assert sorted(role.out for role in job.of("worker")) == [f"done {rank}\n" for rank in range(3)]


# Beside 2 ** 24 numbers of float32 are 2 apart: a 1 alone is lost, the sum of two is not.
BITS = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.zeros((1,)))
out = mx.nd.zeros((1,))
kv.pushpull('a', mx.nd.array([[2 ** 24, 0, 1, 1][kv.rank]]), out=out)
print(int(out.asscalar()) - 2 ** 24)
"""


@pytest.mark.parametrize("levels, wanted", [("1", "0\n"), ("2", "2\n")])
def test_two_levels_add_in_another_order(levels, wanted, tmp_path):
    job = run_job(BITS, tmp_path, 4, 1, MXNET_KVSTORE_LEVELS=levels, MXNET_KVSTORE_HOSTS="0,0,1,1").check()
    assert [role.out for role in job.of("worker")] == [wanted] * 4


def test_hosts_that_are_not_one_for_each_worker_are_told(tmp_path):
    job = run_job(SUMS, tmp_path, 2, 1, MXNET_KVSTORE_HOSTS="0,1,0")
    assert all(role.code != 0 and "MXNET_KVSTORE_HOSTS='0,1,0'" in role.err for role in job.roles), job.text()


def test_a_process_that_is_alone_is_a_worker_with_its_owner(tmp_path):
    assert run_python(SUMS, tmp_path).out == "done 0\n"


@pytest.mark.parametrize("body, message", [
    ("kv.pull('x', out=z)", "key x doesn't exist. Did you init?"),
    ("kv.push('x', z)", "key x doesn't exist. Did you init?"),
    ("kv.init('a', z); kv.init('a', z)", "duplicate init of key a"),
    ("kv.init('a', z); kv.push('a', mx.nd.ones((4, 4)))", "key a: operands shape mismatch from.shape = [4,4] to.shape=[2,3]"),
    ("kv.init('a', z); kv.pull('a', out=mx.nd.ones((4, 4)))", "key a: operands shape mismatch"),
    ("kv.init('a', z); kv.push('a', mx.nd.ones((2, 3), dtype='float16'))", "key a is float32, the value is float16"),
    ("kv.init('a', z); kv.pull('a', out=z.astype('int32'))", "key a is float32, the value is int32"),
    ("kv.init('a', z); kv.init(3, z)", "Mixed key types are not allowed"),
    ("kv.init('a', z); kv.row_sparse_pull('a', out=z, row_ids=z)", "Expected row_sparse storage type"),
    ("kv.init('a', z); kv._send_command_to_servers(5, 'x')", "owner 0: a profiler command of 1 bytes cannot be read"),
])
def test_what_is_wrong_is_told_by_the_originals_words(body, message, tmp_path):
    done = run_python(WRONG.format(kind="dist_sync", body=body), tmp_path)
    assert done.code == 0 and message in done.out, done.out + done.err


def test_asynchronous_stores_need_an_updater(tmp_path):
    done = run_python(WRONG.format(kind="dist_async", body="kv.init('a', z); kv.push('a', z); kv.pull('a', out=z)"), tmp_path)
    assert done.code == 0 and "Updater needs to be set for async mode" in done.out, done.out + done.err


DIFFERENT = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
shape, dtype, name = [((3, 4), 'float32', 'w1'), {other}][kv.rank]
try:
    kv.init(name, mx.nd.zeros(shape, dtype=dtype))
    print('no error')
except mx.MXNetError as error:
    print(error)
"""


@pytest.mark.parametrize("other, words", [
    ("((3, 5), 'float32', 'w1')", ["(3,4)", "(3,5)"]),
    ("((3, 4), 'float16', 'w1')", ["float32", "float16"]),
    ("((3, 4), 'float32', 'w2')", ["'w1'", "'w2'"]),
])
def test_keys_that_differ_between_workers_are_an_error_on_each(other, words, tmp_path):
    job = run_job(DIFFERENT.format(other=other), tmp_path, 2, 1)
    for role in job.of("worker"):
        assert all(word in role.out for word in ["init: key", *words]), job.text()


FORKED = """
import os
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.ones((2,)))
mx.nd.waitall()
child = os.fork()
if child == 0:
    code = 1
    try:
        kv.push('a', mx.nd.ones((2,)))
        mx.nd.waitall()
    except mx.MXNetError as error:
        code = 0 if f'this store belongs to process {os.getppid()}' in str(error) else 2
    os._exit(code)
print('child', os.waitpid(child, 0)[1])
out = mx.nd.zeros((2,))
kv.pushpull('a', mx.nd.ones((2,)), out=out)
print(out.asnumpy().tolist())
"""


def test_a_forked_child_is_told_whose_the_store_is(tmp_path):
    done = run_python(FORKED, tmp_path)
    assert done.out.splitlines() == ["child 0", "[1.0, 1.0]"], done.err


def test_unequal_numbers_of_servers_are_told(tmp_path):
    two = {"DMLC_NUM_SERVER": "2"}
    job = run_job("import mxnet as mx; mx.kv.create('dist_sync')", tmp_path, 1, 1, MXNET_KVSTORE_START_TIMEOUT="8",
                  each={"worker 0": two, "scheduler": two, "server 0": two})
    assert all(role.code == 1 and "waited 8 s for 1 of 2 servers; have: " in role.err for role in job.roles), job.text()


ENDS = """
import mxnet as mx
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.ones((2,)))
if kv.rank == 1:
    raise ZeroDivisionError('planned')
out = mx.nd.zeros((2,))
kv.pushpull('a', mx.nd.ones((2,)), out=out)
out.wait_to_read()
"""


def test_a_worker_that_ends_with_an_exception_leaves_nobody_waiting(tmp_path):
    job = run_job(ENDS, tmp_path, 2, 1, seconds=30)
    assert "planned" in job.text() and "ended by the test" not in job.text(), job.text()
    assert all(role.code != 0 for role in job.of("worker") + job.of("server")), job.text()


@pytest.mark.parametrize("servers", [0, 1])
@pytest.mark.parametrize("goes_on, words", [
    ("kv.pushpull('a', mx.nd.ones((2,)), out=out); out.wait_to_read()",
     "worker 1 has ended without a push of key 'a', round 0, for which worker 0 waits"),
    ("kv.barrier()", "worker 1 has ended, and worker 0 waits for it at a barrier")])
def test_a_worker_that_ends_early_leaves_nobody_waiting(goes_on, words, servers, tmp_path):
    body = ENDS.replace("raise ZeroDivisionError('planned')", "raise SystemExit(5)")
    body = body.replace("kv.pushpull('a', mx.nd.ones((2,)), out=out)\nout.wait_to_read()", goes_on)
    assert goes_on in body and "SystemExit" in body
    job = run_job(body, tmp_path, 2, servers, seconds=30)
    assert "ended by the test" not in job.text(), job.text()
    assert all(role.code == 70 and words in role.err for role in job.roles), job.text()


ORDER = """
import numpy as np
import mxnet as mx
kv = mx.kv.create('dist_sync')
SIZE, STEPS = 1 << 20, 12
kv.init('big', mx.nd.zeros((SIZE,)))
gradient, out = mx.nd.zeros((SIZE,)), mx.nd.zeros((SIZE,))
seen = []
for step in range(1, STEPS + 1):
    gradient[:] = step          # backward of the next step writes where the push before still reads
    kv.push('big', gradient)
    gradient[:] = -1000
    kv.pull('big', out=out)
    seen.append(out.sum())      # before the next pull writes it
    kv.pushpull('big', gradient, out=gradient)
    gradient += 1               # after both
assert [int(one.asscalar()) for one in seen] == [kv.num_workers * SIZE * step for step in range(1, STEPS + 1)]
assert (gradient.asnumpy() == 1 - 1000 * kv.num_workers).all()
print('done')
"""


@pytest.mark.parametrize("servers", [0, 1])
def test_the_engine_keeps_the_order_of_a_program(servers, tmp_path):
    job = run_job(ORDER, tmp_path, 2, servers).check()
    assert [role.out for role in job.of("worker")] == ["done\n"] * 2


TYPES = """
import numpy as np
import mxnet as mx
kv = mx.kv.create('dist_sync')
for dtype in ('float16', 'float64', 'int32', 'int64', 'uint8', 'int8'):
    kv.init(dtype, mx.nd.zeros((3, 5), dtype=dtype))
    out = mx.nd.zeros((3, 5), dtype=dtype)
    value = np.arange(15).reshape(3, 5) * 3 + kv.rank
    kv.pushpull(dtype, mx.nd.array(value, dtype=dtype), out=out)
    wanted = sum((np.arange(15).reshape(3, 5) * 3 + rank).astype(dtype) for rank in range(kv.num_workers))
    assert out.dtype == np.dtype(dtype) and np.array_equal(out.asnumpy(), wanted.astype(dtype)), (dtype, out)
print('done')
"""


@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
def test_sums_of_every_type(engine, tmp_path):
    job = run_job(TYPES, tmp_path, 2, 1, MXNET_ENGINE_TYPE=engine).check()
    assert [role.out for role in job.of("worker")] == ["done\n"] * 2


INSIDE = """
import os
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.ones((2,)))
for _ in range(2):
    profiler.set_config(filename='server.json', profile_process='server')
    profiler.set_state('run', profile_process='server')
    profiler.dump(profile_process='server')
kv.barrier()
print(os.listdir('.'))
"""


def test_owners_inside_workers_have_no_profiles_of_their_own(tmp_path):
    job = run_job(INSIDE, tmp_path, 2, 0).check()
    assert [role.out for role in job.of("worker")] == ["[]\n"] * 2
    assert job.text().count("the owners of this store are inside the workers") == 1
