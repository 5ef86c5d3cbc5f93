# SPDX-License-Identifier: Apache-2.0
"""Profiles of servers, configured and written from worker 0, and what their files hold: the runs that MXNet 1.9.1's
own store was recorded with, compared by a table of what differs."""
import collections
import decimal
import json
import os

import pytest

from dist_roles import run_job

SERVER_PROGRAM = """
import os
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
kv.set_optimizer(mx.optimizer.create('sgd'))
kv.init('3', mx.nd.zeros((20, 20)))
profiler.set_config(filename='server.json', profile_all=True, continuous_dump=False, profile_process='server')
profiler.set_config(filename='worker.json', profile_all=True, continuous_dump=False, profile_process='worker')
profiler.set_state('run', profile_process='server')
profiler.set_state('run', profile_process='worker')
out = mx.nd.zeros((20, 20))
for _ in range(3):
    kv.push('3', mx.nd.ones((20, 20)))
    kv.pull('3', out=out)
    out.wait_to_read()
profiler.pause(profile_process='server')
kv.push('3', mx.nd.ones((20, 20))); kv.pull('3', out=out); out.wait_to_read()
profiler.resume(profile_process='server')
mx.nd.waitall()
profiler.set_state('stop', profile_process='worker')
profiler.set_state('stop', profile_process='server')
profiler.dump(True, profile_process='worker')
profiler.dump(True, profile_process='server')
print('after the dumps:', sorted(f for f in os.listdir('.') if f.endswith('.json')))
"""

STORE_PROGRAM = """
import os
import mxnet as mx
from mxnet import profiler
kind, optimizer = {kind!r}, {optimizer!r}
kv = mx.kv.create(kind)
if kv.rank == 0 and optimizer != 'none':
    kv.set_optimizer(mx.optimizer.create(optimizer))
if optimizer != 'none':
    kv._barrier()
kv.init('3', mx.nd.zeros((20, 20)))
kv.init('9', mx.nd.zeros((1200, 1200)))
profiler.set_config(filename='server.json', profile_all=True, continuous_dump=False, profile_process='server')
profiler.set_config(filename=f'worker{{kv.rank}}.json', profile_all=True, continuous_dump=False, profile_process='worker')
profiler.set_state('run', profile_process='server')
profiler.set_state('run', profile_process='worker')
kv._barrier()
a, b = mx.nd.zeros((20, 20)), mx.nd.zeros((1200, 1200))
for i in range(3):
    kv.push('3', mx.nd.ones((20, 20)) * (kv.rank + 1), priority=-1)
    kv.push('9', mx.nd.ones((1200, 1200)) * (kv.rank + 1))
    kv.pull('3', out=a); kv.pull('9', out=b)
    a.wait_to_read(); b.wait_to_read()
    print('step', i, float(a[0, 0].asscalar()), float(b[0, 0].asscalar()))
kv.pushpull('3', mx.nd.ones((20, 20)), out=a)
a.wait_to_read()
print('pushpull', float(a[0, 0].asscalar()))
kv._barrier()
profiler.set_state('stop', profile_process='worker')
profiler.set_state('stop', profile_process='server')
profiler.dump(True, profile_process='worker')
profiler.dump(True, profile_process='server')
kv._barrier()
print(sorted(f for f in os.listdir('.') if f.endswith('.json')))
"""

# The original's row: ours. Its optimizer is Python's with the operator of several weights.
RENAMED = {"multi_sgd_update": "sgd_update"}
NEVER_COMPARED = {"DeleteVariable", "WaitForVar"}


def rows(path, categories=("operator",)):
    """How often each name of these categories begins."""
    items = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return collections.Counter(item["name"] for item in items if item.get("cat") in categories
                               and item["ph"] in "Xb" and item["name"] not in NEVER_COMPARED)


def rounds(path):
    items = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return sum(item["name"].startswith("KVStore round") and item["ph"] in "Xb" for item in items)


def ours(original):
    return collections.Counter({RENAMED.get(name, name): count for name, count in original.items()})


def test_the_server_program(tmp_path):
    job = run_job(SERVER_PROGRAM, tmp_path, 1, 1).check()
    worker, = job.of("worker")
    assert worker.out == "after the dumps: ['rank0_server.json', 'worker.json']\n"
    assert rows(tmp_path / "rank0_server.json") == ours({"CopyCPU2CPU": 3, "multi_sgd_update": 3})
    assert rounds(tmp_path / "rank0_server.json") == 3
    seen = rows(tmp_path / "worker.json")
    assert (seen["KVStoreDistDefaultPush"], seen["KVStoreDistDefaultStoragePull"]) == (4, 4)


@pytest.mark.parametrize("kind, optimizer, workers, servers, wanted, steps", [
    ("dist_sync", "sgd", 2, 2, [{"BinaryOpKernel": 7, "CopyCPU2CPU": 7, "multi_sgd_update": 7},
                               {"BinaryOpKernel": 3, "CopyCPU2CPU": 3, "multi_sgd_update": 3}], -0.03),
    ("dist_sync", "sgd", 1, 1, [{"CopyCPU2CPU": 7, "multi_sgd_update": 7}], -0.01),
    ("dist_sync", "none", 2, 1, [{"BinaryOpKernel": 7, "CopyCPU2CPU": 7}], None),
    ("dist_async", "sgd", 2, 1, [{"multi_sgd_update": 14}], None),
])
def test_runs_have_the_originals_rows(kind, optimizer, workers, servers, wanted, steps, tmp_path):
    job = run_job(STORE_PROGRAM.format(kind=kind, optimizer=optimizer), tmp_path, workers, servers).check()
    for server, original in enumerate(wanted):
        assert rows(tmp_path / f"rank{server}_server.json") == ours(original), server
    for rank in range(workers):
        seen = rows(tmp_path / f"worker{rank}.json")
        assert [seen[name] for name in ("KVStoreDistDefaultPush", "KVStoreDistDefaultStoragePull",
                                        "KVStoreDistDefaultStoragePushPull")] == [6, 6, 1]
    if steps is not None:  # 1.9.1's optimizer has another default rate: 0.01
        for role in job.of("worker"):
            values = [float(line.split()[2]) for line in role.out.splitlines() if line.startswith("step")]
            assert values == pytest.approx([10 * steps * (i + 1) for i in range(3)], rel=1e-5)


COMMANDS = """
import os, random
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.ones((8,)))
os.makedirs('folder', exist_ok=True)
generator = random.Random({seed})
names = ['server.json', 'folder/x.json', 'a:b,c.json', 'nowhere/deep/x.json', 'with space.json']
told = dict.fromkeys(names, False)
count = 0
for _ in range(100):
    what = generator.randrange(6)
    try:
        if what == 0:
            profiler.set_config(filename=generator.choice(names), profile_process='server',
                                **generator.choice([{{}}, {{'profile_all': True}}, {{'continuous_dump': False}},
                                                    {{'store': 'nothing'}}, {{'dump_period': -1}}, {{'names_limit': 5}}]))
        elif what == 1:
            profiler.set_state(generator.choice(['run', 'stop']), profile_process='server')
        elif what == 2:
            generator.choice([profiler.pause, profiler.resume])(profile_process='server')
        elif what == 3:
            profiler.dump(generator.random() < 0.5, profile_process='server')
        elif what == 4:
            kv._send_command_to_servers(generator.choice([0, 1, 3, 5, 17, 99]), generator.choice(['', '{{', 'x' * 5000]))
        else:
            kv.push('a', mx.nd.ones((8,)))
    except mx.MXNetError as error:
        count += 1
        assert kv.rank == 0
        assert what == 0 or str(error).startswith('server 0: ') or 'server 0: ' in str(error) or what == 4, error
out = mx.nd.zeros((8,))
kv.pull('a', out=out)
print('rank', kv.rank, out.asnumpy().sum(), 'errors', count > 0)
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hundred_random_commands_leave_the_server_whole(seed, tmp_path):
    job = run_job(COMMANDS.format(seed=seed), tmp_path, 1, 1).check()
    assert "errors True" in job.of("worker")[0].out, job.text()


ERRORS = """
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
def attempt(call, **more):
    try:
        call(profile_process='server', **more)
        print('no error')
    except mx.MXNetError as error:
        print(error)
if kv.rank == 0:
    attempt(profiler.dump)
    attempt(profiler.set_config, filename='nowhere/x.json')
    attempt(profiler.set_state, state='run')
    kv.init('a', mx.nd.ones((2,)))
    attempt(profiler.dump)
"""


def test_a_servers_error_is_the_callers(tmp_path):
    job = run_job(ERRORS, tmp_path, 1, 2).check()
    lines = job.of("worker")[0].out.splitlines()
    assert lines[0].startswith("server ") and "never" in lines[0] or "not been run" in lines[0] or "run" in lines[0]
    assert lines[-1].startswith("server ") and "nowhere/rank" in lines[-1], lines


FOLDERS = """
import os
import mxnet as mx
from mxnet import profiler
os.makedirs('folder', exist_ok=True)
kv = mx.kv.create('dist_sync')
kv.init('a', mx.nd.ones((2,)))
profiler.set_config(filename='folder/a:b.json', profile_process='server')
profiler.set_state('run', profile_process='server')
kv.push('a', mx.nd.ones((2,)))
mx.nd.waitall()
profiler.dump(profile_process='server')
"""


def test_a_folder_and_a_colon_in_a_name_are_kept(tmp_path):
    run_job(FOLDERS, tmp_path, 1, 2).check()
    assert sorted(os.listdir(tmp_path / "folder")) == ["rank0_a:b.json", "rank1_a:b.json"]


@pytest.mark.parametrize("order", ["worker first", "server first", "server first, again"])
def test_owners_inside_workers_write_their_rows_where_they_are_looked_for(order, tmp_path):
    source = STORE_PROGRAM.format(kind="dist_sync", optimizer="sgd")
    for rank in range(2 if order.endswith("again") else 0):  # an earlier run's
        (tmp_path / f"worker{rank}.json").write_text('{"traceEvents": []}', encoding="utf-8")
    if order.startswith("server first"):
        first, second = [f"profiler.dump(True, profile_process='{process}')\n" for process in ("worker", "server")]
        assert first + second in source
        source = source.replace(first + second, second + first)
    job = run_job(source, tmp_path, 2, 0).check()
    assert job.text().count("the owners of this store are inside the workers") == 1
    for rank, updates in enumerate([7, 3]):
        path = tmp_path / f"rank{rank}_server.json"
        assert rows(path) == ours({"BinaryOpKernel": updates, "CopyCPU2CPU": updates, "multi_sgd_update": updates})
        assert rounds(path) == updates
        assert rows(tmp_path / f"worker{rank}.json")["KVStoreDistDefaultPush"] == 6


MANY_KEYS = """
import mxnet as mx
from mxnet import profiler
kv = mx.kv.create('dist_sync')
keys = [str(key) for key in range(12)]
for key in keys:
    kv.init(key, mx.nd.zeros((300, 300)))
profiler.set_config(filename='server.json', profile_all=True, continuous_dump=False, profile_process='server')
profiler.set_config(filename=f'worker{kv.rank}.json', profile_all=True, continuous_dump=False, profile_process='worker')
profiler.set_state('run', profile_process='server')
profiler.set_state('run', profile_process='worker')
kv._barrier()
outs = [mx.nd.zeros((300, 300)) for _ in keys]
for _ in range(3):
    for key, out in zip(keys, outs):
        kv.push(key, mx.nd.ones((300, 300)))
        kv.pull(key, out=out)
    mx.nd.waitall()
kv._barrier()
profiler.set_state('stop', profile_process='worker')
profiler.set_state('stop', profile_process='server')
profiler.dump(True, profile_process='worker')
profiler.dump(True, profile_process='server')
"""


def nanoseconds(number):
    return int(decimal.Decimal(number) * 1000)


def crossings(items):
    """Pairs of slices of one row that overlap, neither within the other."""
    found = []
    rows_of = collections.defaultdict(list)
    for item in items:
        if item["ph"] == "X":
            rows_of[item["pid"], item["tid"]].append((item["ts"], -(item["ts"] + item["dur"]), item["name"]))
    for slices in rows_of.values():
        open_ones = []
        for begin, minus_end, name in sorted(slices):
            while open_ones and open_ones[-1][0] <= begin:
                open_ones.pop()
            if open_ones and open_ones[-1][0] < -minus_end:
                found.append((open_ones[-1][1], name))
            open_ones.append((-minus_end, name))
    return found


@pytest.mark.parametrize("detail", ["rounds", "messages"])
def test_no_two_slices_of_a_row_cross_each_other(detail, tmp_path):
    run_job(MANY_KEYS, tmp_path, 2, 1, MXNET_KVSTORE_PIECE_BYTES="65536",
            MXPROF_DISTRIBUTED_DETAIL=detail).check()
    for name in ("worker0.json", "worker1.json", "rank0_server.json"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        items = json.loads(text, parse_float=nanoseconds)["traceEvents"]
        assert crossings(items) == [], name
        exchanges = [item for item in items if item.get("cat") == "operator" and item["ph"] in "be"
                     and ("KVStoreDist" in item["name"] or "server" in name)]
        assert len(exchanges) == 2 * 2 * 12 * 3, (name, len(exchanges))  # two operators a key and step, two ends each
        begun = {item["id2"]["local"]: item["ts"] for item in exchanges if item["ph"] == "b"}
        ended = {item["id2"]["local"]: item["ts"] for item in exchanges if item["ph"] == "e"}
        assert begun.keys() == ended.keys() and all(ended[one] >= begin for one, begin in begun.items())
