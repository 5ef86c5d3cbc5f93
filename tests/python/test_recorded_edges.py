# SPDX-License-Identifier: Apache-2.0
"""What a program with operators of its own records, read by the reader of tests/format: each release, wait and task leads
to a record, and the moments agree; steps end where they end; kernels are named."""
import collections
import pathlib
import sys

import pytest

from python_program import run_python

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "format"))
from format_reader import Trace  # noqa: E402  pylint: disable=wrong-import-position

STEPS = 40
BLOCKED, IN_CUSTOM = 1, 4
WRITTEN, UNUSED, ALL, TASK = 1, 2, 3, 4
PROGRAM = """
import mxnet as mx
from mxnet import autograd, gluon, nd, profiler


class Tripled(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        in_data[0].asnumpy()
        self.assign(out_data[0], req[0], in_data[0] * 3)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 3)


@mx.operator.register('Tripled')
class TripledProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Tripled()


net = gluon.nn.Sequential()
net.add(gluon.nn.Dense(32, 'relu'), gluon.nn.Lambda(lambda x: nd.Custom(x, op_type='Tripled')), gluon.nn.Dense(4))
net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01})
data = nd.ones((8, 16))


def train():
    with autograd.record():
        cost = net(data).sum()
    cost.backward()
    trainer.step(8)
    return cost


train()
mx.nd.waitall()
"""
RECORD = """
profiler.set_config(continuous_dump=False, filename='trace.json', native_filename='trace.mxp')
profiler.set_state('run')
for step in range(%d):
    profiler.step()
    cost = train()
    if %r == 'value':
        cost.asscalar()
    elif %r == 'all':
        mx.nd.waitall()
    if step %% 2:
        profiler.step_end()
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


class Records:
    """Of a trace, by kind."""

    def __init__(self, path):
        trace = Trace(path.read_bytes())
        assert not trace.losses
        self.all = [{**record, "thread": chunk["thread"]} for chunk in trace.chunks for record in trace.records(chunk)]
        self.operators = {record["id"]: record for record in self.all if record["kind"] in ("operator", "hidden")}
        self.waits = [record for record in self.all if record["kind"] == "wait"]

    def marks(self, what):
        return [record for record in self.all if record["kind"] == "meta" and record["what"] == what]


def record(folder, wait):
    done = run_python(PROGRAM + RECORD % (STEPS, wait, wait), folder)
    assert done.code == 0, done.err
    return Records(folder / "trace.mxp")


@pytest.mark.parametrize("wait", ["value", "all", "none"])
def test_everything_that_is_named_has_a_record(tmp_path, wait):
    found = record(tmp_path, wait)
    released = [op for op in found.operators.values() if op["released_by"]]
    assert len(released) > 5 * STEPS or wait == "none"
    for op in released:
        assert found.operators[op["released_by"]]["end_ticks"] == op["ready_ticks"]
    for one in found.waits:
        if one["ended_by"]:
            by = found.operators[one["ended_by"]]
            assert by["begin_ticks" if one["what"] == TASK else "end_ticks"] <= one["end_ticks"]
        assert one["ended_by"] or one["what"] == ALL or not one["flags"] & BLOCKED
        assert one["what"] != TASK or one["ended_by"]
    hidden = collections.Counter(op["name"] for op in found.operators.values() if op["kind"] == "hidden")
    assert hidden == {"Custom": STEPS, "_backward_Custom": STEPS, "CustomOperatorWait": 2 * STEPS}
    tasks = [one for one in found.waits if one["what"] == TASK]
    handed = collections.Counter(found.operators[one["ended_by"]]["name"] for one in tasks)
    assert (handed["Custom"], handed["_backward_Custom"]) == (STEPS, STEPS)
    assert 0 < handed["CustomOperatorWait"] <= 2 * STEPS  # what was left to be freed; some after the end
    assert {one["thread"] for one in tasks}.isdisjoint(one["thread"] for one in found.waits if one["what"] == ALL)
    inside = [one for one in found.waits if one["flags"] & IN_CUSTOM]
    assert len(inside) == STEPS and {one["what"] for one in inside} == {WRITTEN}  # asnumpy of each forward
    assert sum(one["what"] == ALL for one in found.waits) == (STEPS if wait == "all" else 0) + 1


CALLS = """
import time


class Slow(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        time.sleep(0.05)
        self.assign(out_data[0], req[0], in_data[0] + 1)


@mx.operator.register('Slow')
class SlowProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Slow()


profiler.set_config(continuous_dump=False, profile_all=True, filename='trace.json', native_filename='trace.mxp')
x = nd.ones((4,))
mx.nd.waitall()
profiler.set_state('run')
y = nd.Custom(x, op_type='Slow') * 2
y.wait_to_read()
y.wait_to_read()
(nd.Custom(x, op_type='Slow') * 3).asnumpy()
y = nd.Custom(x, op_type='Slow')
y.wait_to_write() if hasattr(y, 'wait_to_write') else mx.base.check_call(mx.base._LIB.MXNDArrayWaitToWrite(y.handle))
y = nd.Custom(x, op_type='Slow') * 5
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def test_each_call_that_waits_leads_to_what_ended_it(tmp_path):
    done = run_python(PROGRAM + CALLS, tmp_path)
    assert done.code == 0, done.err
    found = Records(tmp_path / "trace.mxp")
    seen = []
    for call in found.all:
        inside = [one for one in found.waits if call["kind"] == "span" and one["thread"] == call["thread"]
                  and call["begin_ticks"] <= one["begin_ticks"] and one["end_ticks"] <= call["end_ticks"]]
        if call["name"].startswith("MX") and inside:
            assert len(inside) == 1
            wait = inside[0]
            names, by = [], wait["ended_by"]
            while by:
                names.append(found.operators[by]["name"])
                by = found.operators[by]["released_by"]
            seen.append((call["name"], wait["what"], wait["flags"] & BLOCKED, names))
    custom = ["_mul_scalar", "Custom"]
    assert seen == [("MXNDArrayWaitToRead", WRITTEN, 1, ["WaitForVar", *custom]),
                    ("MXNDArrayWaitToRead", WRITTEN, 0, []),
                    ("MXNDArraySyncCopyToCPU", WRITTEN, 1, ["WaitForVar", *custom]),
                    ("MXNDArrayWaitToWrite", UNUSED, 1, ["WaitForVar", "", "Custom"]),
                    ("MXNDArrayWaitAll", ALL, 1, [])]
    # What ended the last one: the operator with the last end before its.
    last = [one for one in found.waits if one["what"] == ALL][-1]
    ended = [op for op in found.operators.values() if op["end_ticks"] <= last["end_ticks"]]
    assert max(ended, key=lambda op: op["end_ticks"])["name"] in ("_mul_scalar", "DeleteVariable")
    # A task is handed over after its operator began; what is to be freed perhaps by the thread itself.
    for task in (one for one in found.waits if one["what"] == TASK):
        by = found.operators[task["ended_by"]]
        assert by["name"] in ("Custom", "CustomOperatorWait") and by["begin_ticks"] <= task["end_ticks"]


def test_steps_end_where_they_are_said_to(tmp_path):
    found = record(tmp_path, "all")
    begins, ends = found.marks(3), found.marks(7)
    assert [mark["value"] for mark in ends] == [mark["value"] for mark in begins[1::2]]
    for begin, end, following in zip(begins[1::2], ends, begins[2::2]):
        assert begin["ticks"] < end["ticks"] < following["ticks"] and begin["thread"] == end["thread"]


def test_steps_of_a_profile_end_before_their_wait(tmp_path):
    done = run_python(PROGRAM + """
with profiler.profile('trace.json', skip=1, active=3, native_filename='trace.mxp') as p:
    for _ in range(5):
        train()
        p.step()
""", tmp_path)
    assert done.code == 0, done.err
    found = Records(tmp_path / "trace.mxp")
    begins, ends = found.marks(3), found.marks(7)
    assert len(begins) == 3 and [mark["value"] for mark in ends] == [mark["value"] for mark in begins]
    last = [one for one in found.waits if one["what"] == ALL][-1]
    assert last["begin_ticks"] > ends[-1]["ticks"]


@pytest.mark.parametrize("kernels,family", [("own", 1), ("ref", 3)])
def test_operators_name_their_kernels(tmp_path, kernels, family):
    done = run_python(PROGRAM + RECORD % (4, "value", "value"), tmp_path, MXNET_CPU_KERNELS=kernels)
    assert done.code == 0, done.err
    found = Records(tmp_path / "trace.mxp")
    families = {op["flags"] >> 12 for op in found.operators.values() if op["name"] == "FullyConnected"}
    assert families == {family}
    assert {op["flags"] >> 12 for op in found.operators.values() if op["name"] in ("Custom", "DeleteVariable")} == {0}


def test_asynchronous_operators_are_on_no_thread(tmp_path):
    """Each ends inside of the operator that completed it."""
    found = record(tmp_path, "value")
    waits = [op for op in found.operators.values() if op["name"] == "CustomOperatorWait"]
    for op in found.operators.values():
        assert bool(op["flags"] & 256) == (op["name"] in ("Custom", "_backward_Custom"))
        if op["flags"] & 256:
            assert any(wait["thread"] == op["thread"] and wait["begin_ticks"] <= op["end_ticks"] <= wait["end_ticks"]
                       for wait in waits)


BEFORE = CALLS[:CALLS.index("profiler.set_config")] + """
profiler.set_config(continuous_dump=False, profile_all=True, filename='trace.json', native_filename='trace.mxp')
x = nd.ones((4,))
mx.nd.waitall()
kept = [nd.Custom(nd.Custom(x, op_type='Slow'), op_type='Slow')]  # the second begins while records are taken
profiler.set_state('run')
mx.nd.waitall()
kept.append(nd.Custom(x, op_type='Slow'))
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def test_a_task_of_an_operation_without_a_record_names_none(tmp_path):
    done = run_python(PROGRAM + BEFORE, tmp_path)
    assert done.code == 0, done.err
    found = Records(tmp_path / "trace.mxp")
    tasks = [one for one in found.waits if one["what"] == TASK]
    assert {found.operators[one["ended_by"]]["name"] for one in tasks} >= {"Custom"}
    assert [op["name"] for op in found.operators.values()].count("Custom") == 1
