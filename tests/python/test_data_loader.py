# SPDX-License-Identifier: Apache-2.0
"""Data sets, samplers, and the loader: in the process, with threads, with worker processes."""
import _posixshmem
import os
import pathlib
import re
import signal
import subprocess
import threading
import time
from multiprocessing import resource_tracker
from multiprocessing.shared_memory import SharedMemory

import numpy as onp
import pytest

import mxnet as mx
from mxnet.gluon.data import (ArrayDataset, BatchSampler, DataLoader, Dataset, RandomSampler,
                              SequentialSampler, SimpleDataset)
from mxnet.gluon.data.vision import transforms
from mxnet.gluon.data.worker import remove_shared_batch
from python_program import BUILD, run_python, running_python

HOW = pytest.mark.parametrize("how", [{}, {"num_workers": 2},
                                      {"num_workers": 2, "thread_pool": True}],
                              ids=["here", "processes", "threads"])


def blocks(process=os.getpid()):
    """The blocks of shared memory that there are of a process's batches."""
    return list(pathlib.Path("/dev/shm").glob(f"mxnet-{process}-*"))


# ---- data sets and samplers ------------------------------------------------------------------------
def test_data_sets():
    numbers = SimpleDataset(list(range(10)))
    assert list(numbers.transform(lambda x: 2 * x)) == [2 * x for x in range(10)]
    assert list(numbers.filter(lambda x: x % 3 == 0)) == [0, 3, 6, 9]
    assert [list(numbers.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(numbers.take(3)) == [0, 1, 2] and len(numbers.take(30)) == 10
    assert list(numbers.sample(SequentialSampler(3, 4))) == [4, 5, 6]
    pairs = ArrayDataset(onp.arange(3), [5, 6, 7])
    assert pairs[1] == (1, 6)
    assert list(pairs.transform_first(lambda x: -x, lazy=False)) == [(0, 5), (-1, 6), (-2, 7)]
    with pytest.raises(ValueError, match=r"equally long, not \[2, 3\]"):
        ArrayDataset([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="the index must be 0 to 2"):
        numbers.shard(3, 3)
    with pytest.raises(IndexError):
        numbers.take(3)[5]


def test_items_of_vectors_are_numbers_as_labels_have_to_be():
    for kind in (mx.nd, mx.np):
        data = ArrayDataset(kind.arange(6).reshape((3, 2)), kind.arange(3))
        for workers in (0, 1):
            batches = list(DataLoader(data, 2, num_workers=workers))
            assert [[part.shape for part in batch] for batch in batches] == [
                [(2, 2), (2,)], [(1, 2), (1,)]]
            assert [batch[1].asnumpy().tolist() for batch in batches] == [[0, 1], [2]]


def test_samplers():
    assert list(BatchSampler(SequentialSampler(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(SequentialSampler(5), 2, "discard")) == [[0, 1], [2, 3]]
    rolling = BatchSampler(SequentialSampler(5), 2, "rollover")
    assert [list(rolling), len(rolling), list(rolling)] == [
        [[0, 1], [2, 3]], 3, [[4, 0], [1, 2], [3, 4]]]
    drawn = [list(RandomSampler(50)) for _ in range(2)]
    assert drawn[0] != drawn[1] and sorted(drawn[0]) == list(range(50))
    with pytest.raises(ValueError, match="one of keep, discard, rollover, not 'drop'"):
        BatchSampler(SequentialSampler(5), 2, "drop")
    with pytest.raises(ValueError, match="at least 1, not 0"):
        BatchSampler(SequentialSampler(5), 0)


@pytest.mark.parametrize("settings,text", [
    ({}, "needs a batch_size"), ({"batch_size": 2, "num_workers": -1}, "num_workers"),
    ({"batch_size": 2, "timeout": 0}, "timeout"),
    ({"batch_size": 2, "shuffle": True, "sampler": SequentialSampler(3)}, "exclude each other"),
    ({"batch_size": 2, "batch_sampler": BatchSampler(SequentialSampler(3), 2)}, "excludes")])
def test_wrong_options_are_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        DataLoader([1, 2, 3], **settings)


# ---- batches -------------------------------------------------------------------------------------
@HOW
def test_batches_come_in_order(how):
    loader = DataLoader(ArrayDataset(onp.arange(40).reshape(20, 2).astype("float32"),
                                     onp.arange(20)), 6, **how)
    assert len(loader) == 4
    for _ in range(2):
        found = [(x.asnumpy(), y.asnumpy()) for x, y in loader]
        assert [len(y) for _, y in found] == [6, 6, 6, 2]
        assert onp.concatenate([y for _, y in found]).tolist() == list(range(20))
        assert onp.concatenate([x for x, _ in found])[:, 1].tolist() == list(range(1, 40, 2))
        assert found[0][0].dtype == onp.float32 and found[0][1].dtype == onp.int64
    assert not blocks()


@HOW
@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
def test_arrays_are_stacked(how, kind):
    with mx.util.np_array(kind is mx.np):
        data = kind.array(onp.arange(24).reshape(4, 2, 3), dtype="uint8")
        loader = DataLoader(SimpleDataset([data[i] for i in range(4)]).transform_first(
            lambda x: x.astype("float32") / 2), 2, **how)
        batches = list(loader)
    assert [type(batch) for batch in batches] == [type(data)] * 2
    assert (batches[1].asnumpy() == data.asnumpy()[2:] / 2).all()


@HOW
def test_ones_own_way_to_make_batches(how):
    loader = DataLoader([1, 2, 3], 2, batchify_fn=lambda items: {"sum": sum(items)}, **how)
    assert list(loader) == [{"sum": 3}, {"sum": 3}]


def test_shuffled_batches_hold_everything_once():
    onp.random.seed(3)
    loader = DataLoader(onp.arange(30), 7, shuffle=True)
    orders = [[int(x) for batch in loader for x in batch.asnumpy()] for _ in range(2)]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(30)) and orders[0] != orders[1]


class Failing(Dataset):
    def __init__(self, what):
        self.what = what

    def __len__(self):
        return 20

    def __getitem__(self, index):
        if index == 13:
            self.what()
        return onp.float32(index)


def fail():
    raise LookupError("item 13 is bad")


@HOW
def test_an_exception_in_the_data_set_reaches_the_loop(how):
    seen = []
    with pytest.raises(LookupError, match="item 13 is bad"):
        for batch in DataLoader(Failing(fail), 4, **how):
            seen.append(batch.shape)
    assert seen == [(4,)] * 3
    assert wait_for(lambda: not blocks())


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_killed_worker_is_an_error_and_the_next_loop_works():
    flag = {"kill": True}

    def kill():
        if flag["kill"]:
            os.kill(os.getpid(), signal.SIGKILL)

    loader = DataLoader(Failing(kill), 4, num_workers=2)
    with pytest.raises(mx.MXNetError, match="a worker process died"):
        list(loader)
    flag["kill"] = False
    assert len(list(loader)) == 5


def test_a_slow_worker_is_an_error():
    loader = DataLoader(Failing(lambda: time.sleep(600)), 4, num_workers=2, timeout=0.5)
    with pytest.raises(mx.MXNetError, match="no batch from the 2 workers within 0.5 s"):
        list(loader)


def test_an_interrupted_batch_leaves_no_shared_memory(monkeypatch):
    """Of three arrays the second is being copied."""
    copied = []

    def copy(view):
        copied.append(view.shape)
        if len(copied) == 2:
            raise KeyboardInterrupt
        return mx.nd.array(view)
    monkeypatch.setattr("mxnet.gluon.data.batchify.to_arrays", copy)
    with pytest.raises(KeyboardInterrupt):
        list(DataLoader(ArrayDataset(*[onp.zeros((8, 3))] * 3), 4, num_workers=2))
    assert len(copied) == 2
    assert wait_for(lambda: not blocks())


@pytest.mark.parametrize("module, function", [(_posixshmem, "shm_unlink"),
                                              (resource_tracker, "unregister")])
def test_an_interrupt_while_a_block_is_removed_leaves_neither_it_nor_a_warning(monkeypatch, module,
                                                                               function):
    """The tracker warns of blocks that it knows and does not find."""
    known = set()

    def tell(name, change):
        original = getattr(resource_tracker, name)

        def called(block, kind):
            original(block, kind)
            change(block)
        monkeypatch.setattr(resource_tracker, name, called)
    tell("register", known.add)
    tell("unregister", known.discard)
    removing = getattr(module, function)
    left = iter([KeyboardInterrupt])

    def interrupted(*arguments):
        removing(*arguments)
        for interrupt in left:
            raise interrupt
    monkeypatch.setattr(module, function, interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(DataLoader(onp.zeros((8, 3)), 4, num_workers=2))
    assert wait_for(lambda: not blocks())
    assert not known


def test_leaving_a_loop_leaves_no_shared_memory():
    loader = DataLoader(onp.zeros((64, 1000)), 4, num_workers=2)
    for _ in loader:
        break
    assert wait_for(lambda: not blocks())


def test_a_block_that_has_no_size_yet_is_removed():
    name = f"mxnet-{os.getpid()}-test"
    SharedMemory(f"{name}-0", create=True, size=8).close()
    os.close(_posixshmem.shm_open(f"/{name}-1", os.O_CREAT | os.O_RDWR, mode=0o600))
    assert len(blocks()) == 2
    remove_shared_batch(name)
    assert not blocks()


def test_leaving_loops_is_quiet(monkeypatch):
    failed = []
    monkeypatch.setattr(threading, "excepthook", lambda failure: failed.append(failure.exc_value))
    for _ in range(10):
        loader = DataLoader(onp.zeros((64, 1000)), 4, num_workers=2)
        for _ in loader:
            break
        del loader
    assert failed == []


def test_nothing_goes_on_once_a_loader_is_gone():
    """Else it might meet the end of the program."""
    before = set(threading.enumerate())
    loader = DataLoader(onp.zeros((8, 3)), 4, num_workers=2)
    assert len(list(loader)) == 2
    assert set(threading.enumerate()) > before
    del loader
    assert set(threading.enumerate()) == before


PROGRAM = """
import os, sys, time
import numpy as onp
from mxnet.gluon.data import DataLoader
class Slow:
    def __len__(self): return 64
    def __getitem__(self, index):
        if index == 2:
            print(os.getpid(), flush=True)
            time.sleep(600)
        return onp.zeros(100_000)
for batch in DataLoader(Slow(), 1, num_workers=2, prefetch=50): pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_an_interrupted_or_killed_program(tmp_path, number):
    with running_python(["-c", PROGRAM], tmp_path) as program:
        worker = int(program.stdout.readline())
        assert wait_for(lambda: blocks(program.pid))  # those behind the slow one
        program.send_signal(number)
        _, errors = program.communicate(timeout=60)
    assert program.returncode != 0
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    assert number == signal.SIGKILL or "leaked" not in errors
    assert wait_for(lambda: not pathlib.Path(f"/proc/{worker}").exists())
    assert wait_for(lambda: not blocks(program.pid))


def test_workers_do_not_write_the_profile(tmp_path):
    done = run_python("""
import numpy as onp
import mxnet as mx
from mxnet.gluon.data import DataLoader
mx.profiler.set_config(profile_all=True, filename='trace.json', continuous_dump=False)
mx.profiler.set_state('run')
class Data:
    def __len__(self): return 6
    def __getitem__(self, index): return mx.nd.sqrt(mx.nd.ones((3,)) * index)
total = sum(batch.sum().asscalar() for batch in DataLoader(Data(), 2, num_workers=2))
print(round(total / 3, 3))
mx.profiler.set_state('stop')
mx.profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert float(done.out) == pytest.approx(sum(i ** 0.5 for i in range(6)), abs=1e-3)
    operators = [item["name"] for item in done.trace() if item.get("cat") == "operator"]
    assert "sqrt" not in operators and operators.count("sum") == 3
    assert [path.name for path in tmp_path.glob("*.json")] == ["trace.json"]


# ---- transforms ----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
def test_transforms(kind):
    pixels = onp.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype("uint8")
    wanted = (pixels.transpose(2, 0, 1) / 255.0 - [[[0.1]], [[0.2]], [[0.3]]]) / 0.5
    change = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1, 0.2, 0.3), 0.5)])
    found = change(kind.array(pixels, dtype="uint8"))
    assert type(found) is type(kind.zeros((1,))) and found.dtype == onp.float32
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    batch = transforms.ToTensor()(kind.array(pixels[None], dtype="uint8"))
    assert batch.shape == (1, 3, 4, 5)
    assert transforms.Cast("float16")(found).dtype == onp.float16


@HOW
def test_each_next_is_a_span_of_input_and_the_step_shows_it(tmp_path, how):
    """What a slow data set costs a step is in the trace, and in the table by step."""
    done = run_python(f"""
import time
import mxnet as mx
class Slow:
    def __len__(self):
        return 8
    def __getitem__(self, index):
        time.sleep(0.01)
        return float(index)
with mx.profiler.profile('trace.json', native_filename='trace.mxp') as profile:
    for batch in mx.gluon.data.DataLoader(Slow(), 2, **{how}):
        batch.wait_to_read()
        profile.step()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    spans = [item for item in done.trace() if item["name"] == "DataLoader"]
    assert len(spans) == 5 and all(item["cat"] == "input" and item["ph"] == "X" for item in spans)
    table = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "step", tmp_path / "trace.mxp"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    assert re.search(r"^input\n=+\n.*\n.*\nDataLoader +5 ", table, re.MULTILINE)
    assert re.search(r"^In no record\n=+\n.*\n.*\nin none of the above +\d", table, re.MULTILINE)


def test_a_loop_that_ends_early_ends_the_readers_too(tmp_path):
    loader = DataLoader(SimpleDataset(list(range(100))), 2, num_workers=2)
    for batch in loader:
        if batch[0].asscalar() >= 4:
            break
    assert [batch.shape for batch in loader] == [(2,)] * 50
    deadline = time.monotonic() + 30
    while blocks() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not blocks()
