# SPDX-License-Identifier: Apache-2.0
"""Arrows from the call that pushed an operator to its run, of real programs: each operator whose push is known to
the native file (read by a parser that is not ours) has one in both formats, and each leads forward, from within a
call to an operator."""
import bisect
import collections
import decimal
import json
import os
import subprocess
import sys

import pytest

import perfetto_decoder
from viewer import BUILD, SOURCE, mxprof

sys.path.insert(0, str(SOURCE / "tests/format"))
import format_reader  # noqa: E402  pylint: disable=wrong-import-position

BULK_PARENT = 32
# Trains a network whose calls are prepared: bulks, segments, several operators a call.
PREPARED = """
import mxnet as mx
mx.profiler.set_config(profile_all=True, filename="profile.json", native_filename="profile.mxp")
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(4))
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
loss = mx.gluon.loss.SoftmaxCELoss()
mx.profiler.set_state("run")
for step in range(5):
    with mx.autograd.record():
        cost = loss(net(mx.nd.ones((4, 3))), mx.nd.zeros((4,)))
    cost.backward()
    trainer.step(4)
    cost.wait_to_read()
mx.profiler.set_state("stop")
mx.profiler.dump()
"""


def ns(us):
    return int(decimal.Decimal(us) * 1000)


def strict(text):
    """JSON with no member twice and no number that is none."""
    def members(pairs):
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    def refuse(constant):
        raise AssertionError(constant)
    return json.loads(text, object_pairs_hook=members, parse_constant=refuse, parse_float=decimal.Decimal)


@pytest.fixture(scope="module", name="folder", params=["train", "prepared"])
def folder_fixture(request, tmp_path_factory):
    """With profile.json, which the program wrote, and profile.mxp."""
    folder = tmp_path_factory.mktemp(request.param)
    command = [BUILD / "train", folder] if request.param == "train" else [sys.executable, "-c", PREPARED]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                   "MXNET_LIBRARY_PATH": str(BUILD / "libmxnet.so")}
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120, env=environment)
    return folder


@pytest.fixture(scope="module", name="pushed")
def pushed_fixture(folder):
    """(row and time of the push, row and time of the start) of each operator whose push is known, but for what a
    thread did as it pushed it."""
    trace = format_reader.Trace((folder / "profile.mxp").read_bytes())
    tids = [thread["tid"] for thread in trace.threads]
    callers = {chunk["thread"] for chunk in trace.chunks
               if any(record["kind"] == "span" for record in trace.records(chunk))}
    known = collections.Counter(
        (tids[record["push_thread"]], trace.ns(record["push_ticks"]), tids[chunk["thread"]], record["begin_ns"])
        for chunk in trace.chunks for record in trace.records(chunk)
        if record["kind"] == "operator" and record["push_thread"] in callers and not record["flags"] & BULK_PARENT)
    return collections.Counter({ends: count for ends, count in known.items() if ends[:2] != ends[2:]})


def within(spans, at):
    """Whether one of the spans, sorted and of one row, is open then."""
    place = bisect.bisect_right(spans, (at, float("inf")))
    return any(end >= at for _, end in spans[max(0, place - 8):place])


@pytest.mark.parametrize("file", ["profile.json", "converted.json"])
def test_in_chrome_each_known_push_has_an_arrow_from_a_call_to_the_operator(folder, pushed, file):
    mxprof("convert", folder / "profile.mxp", "-o", folder / "converted.json")
    events = strict((folder / file).read_text())["traceEvents"]
    ends = {phase: {event["id"]: (event["tid"], ns(event["ts"])) for event in events
                    if event["ph"] == phase and event["cat"] == "push"} for phase in "sf"}
    assert ends["s"].keys() == ends["f"].keys()
    assert len(ends["s"]) > 20
    assert collections.Counter(ends["s"][flow] + ends["f"][flow] for flow in ends["s"]) == pushed
    calls = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["cat"] == "MXNET_C_API":
            calls[event["tid"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    starts = {(event["tid"], ns(event["ts"])) for event in events if event["ph"] == "X" and event["cat"] == "operator"}
    for spans in calls.values():
        spans.sort()
    for flow, (row, begin) in ends["s"].items():
        assert within(calls[row], begin)
        assert ends["f"][flow] in starts
        assert begin <= ends["f"][flow][1]


def test_in_perfetto_each_known_push_has_an_arrow_that_ends_in_the_operator(folder, pushed):
    mxprof("convert", folder / "profile.mxp", "-o", folder / "profile.pftrace")
    trace = perfetto_decoder.Trace((folder / "profile.pftrace").read_bytes())
    begins = {each.flows[0]: each for each in trace.instants if each.category == "push" and each.flows}
    ends = {each.ending_flows[0]: each.begin for each in trace.slices if each.ending_flows}
    ends |= {each.ending_flows[0]: each.time - 2 for each in trace.instants
             if each.category == "push" and each.ending_flows}
    assert begins.keys() == ends.keys()
    assert len(begins) == sum(pushed.values())
    zero = trace.zero()  # an arrow begins one nanosecond into its call, which may be behind one that took no time
    found = collections.Counter((trace.thread_of(each.track), each.time - zero - 1, ends[flow] - zero)
                                for flow, each in begins.items())
    expected = collections.Counter()
    for (row, begin, _, end), count in pushed.items():
        expected[row, begin, end] += count
    assert found == expected
    calls = collections.defaultdict(list)
    for each in trace.slices:
        if each.category == "MXNET_C_API":
            calls[each.track].append((each.begin, each.end))
    for spans in calls.values():
        spans.sort()
    assert all(within(calls[each.track], each.time - 1) for each in begins.values())


def test_a_file_that_was_written_in_parts_has_an_arrow_for_each_operator(tmp_path):
    """The perceptron dumps continuously; an operator and its call are often in different parts."""
    subprocess.run([BUILD / "mlp"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    events = strict((tmp_path / "profile_output.json").read_text())["traceEvents"]
    ends = {phase: {event["id"]: (event["tid"], event["ts"]) for event in events
                    if event["ph"] == phase and event["cat"] == "push"} for phase in "sf"}
    assert ends["s"].keys() == ends["f"].keys()
    assert sum(event["ph"] == "s" for event in events) == len(ends["s"])
    operators = [event for event in events if event["ph"] == "X" and event["cat"] == "operator"]
    bulks = {event["args"]["bulk"] for event in operators if "bulk" in event["args"]}
    waited = collections.Counter((event["tid"], event["ts"]) for event in operators
                                 if event["args"]["op"] not in bulks and {"queued_us", "blocked_us"} & event["args"].keys())
    assert waited.total() > 10000
    assert not waited - collections.Counter(ends["f"].values())
