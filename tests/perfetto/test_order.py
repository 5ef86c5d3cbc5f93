# SPDX-License-Identifier: Apache-2.0
"""Spans whose begins and ends fall on the same moments: a Perfetto trace has no durations, only begins and ends in
an order, and a wrong order gives spans the ends of others. Times are small so that most of them are shared."""
import pathlib
import random
import sys

import pytest

import perfetto_decoder as decoder
from viewer import SOURCE, mxprof

sys.path.insert(0, str(pathlib.Path(SOURCE) / "tests/cli"))
import native_file  # noqa: E402  pylint: disable=wrong-import-position


class ChunkedFile(native_file.NativeFile):
    """With chunks of one record and more, as chunks end anywhere in a program."""
    per_chunk = 1

    def __init__(self):
        super().__init__()
        self.records = {}

    def add(self, thread, record):
        super().add(thread, record)
        self.records.setdefault(thread, []).append(record)

    def chunk_sections(self):
        for thread, records in self.records.items():
            for sequence, at in enumerate(range(0, len(records), self.per_chunk)):
                head = native_file.struct.pack("=IIQQQ", thread, sequence, self.origin, 0, 0)
                yield self.section("chunk", b"".join(records[at:at + self.per_chunk]), head)

    def lane_span(self, thread, name, begin, end, lane):
        self.add(thread, native_file.words(native_file.word0("span_long", 3, self.origin + begin), name,
                                           end - begin, self.origin + begin, lane, 0))


    def flow(self, thread, name, at, phase, lane):
        self.add(thread, native_file.words(native_file.word0("flow", 2, self.origin + at),
                                           name | phase << 32, 9, lane))


def convert(file, folder):
    (folder / "in.mxp").write_bytes(file.to_bytes())
    mxprof("convert", folder / "in.mxp", "-o", folder / "out.pftrace")
    return decoder.Trace((folder / "out.pftrace").read_bytes())


def shown(trace, kind=None):
    return sorted((each.name, each.begin - trace.zero(), each.end - trace.zero()) for each in trace.slices
                  if kind is None or trace.tracks[each.track]["kind"] == kind)


def nested(chance, begin, end, depth):
    """Spans within [begin, end], in the order of their ends, each with what is in it before it."""
    at = begin
    while at < end and depth > 0:
        inner_begin = chance.randint(at, end)
        inner_end = chance.randint(inner_begin, end)
        if chance.random() < 0.7:
            yield from nested(chance, inner_begin, inner_end, depth - 1)
            yield inner_begin, inner_end
        at = max(inner_end, at + 1)


@pytest.mark.parametrize("seed", range(60))
def test_every_span_keeps_its_end(seed, tmp_path):
    chance = random.Random(seed)
    file = ChunkedFile()
    file.per_chunk = chance.choice([1, 2, 3, 50])
    expected = []
    for thread in range(2):
        file.thread(f"thread {thread}")
        for index, (begin, end) in enumerate(nested(chance, 0, chance.choice([4, 30]), 5)):
            text = f"span {thread} {index}"
            file.span(thread, file.name(text, "test", "span"), begin, end)
            expected.append((text, begin, end))
    assert shown(convert(file, tmp_path), "thread") == sorted(expected)


@pytest.mark.parametrize("seed", range(20))
def test_spans_that_do_not_nest_are_all_there(seed, tmp_path):
    chance = random.Random(seed)
    file = ChunkedFile()
    file.per_chunk = chance.choice([1, 3, 50])
    for thread in range(2):
        file.thread(f"thread {thread}")
    device = file.name("device")
    expected = []
    for index in range(60):
        begin = chance.randint(0, 20)
        end = begin + chance.randint(0, 10)
        style = chance.choice(["span", "async"])
        text = f"span {index}"
        name = file.name(text, "test", style)
        thread = chance.randint(0, 1)
        if chance.random() < 0.3:
            file.lane_span(thread, name, begin, end, chance.choice([device, 0x80000000, 0x80000001, 0x80000063]))
        else:
            file.span(thread, name, begin, end)
        expected.append((text, begin, end))
    assert shown(convert(file, tmp_path)) == sorted(expected)


def test_the_outer_of_two_that_begin_together_is_the_outer_one(tmp_path):
    file = ChunkedFile()
    file.thread("main")
    for text, begin, end in (("inner", 10, 20), ("middle", 10, 30), ("next", 30, 40), ("outer", 10, 40)):
        file.span(0, file.name(text, "test", "span"), begin, end)
    depths = {each.name: each.depth for each in convert(file, tmp_path).slices}
    assert depths == {"outer": 0, "middle": 1, "inner": 2, "next": 1}


def test_what_a_stop_on_another_thread_closed_is_around_what_was_in_it(tmp_path):
    file = ChunkedFile()
    stopper, worker = file.thread("stopper"), file.thread("worker")
    file.span(worker, file.name("inside", "test", "span"), 20, 30)
    file.lane_span(stopper, file.name("open", "test", "span"), 10, 50, 0x80000000 | worker)
    file.lane_span(stopper, file.name("open outside", "test", "span"), 5, 50, 0x80000000 | worker)
    trace = convert(file, tmp_path)
    assert {each.name: (each.depth, trace.tracks[each.track]["name"]) for each in trace.slices} == \
        {"open outside": (0, "worker"), "open": (1, "worker"), "inside": (2, "worker")}


def test_a_flow_on_a_lane_is_in_the_row_of_its_thread_and_no_span(tmp_path):
    file = ChunkedFile()
    teller, worker = file.thread("teller"), file.thread("worker")
    arrow = file.name("arrow", "test", "flow")
    file.flow(teller, arrow, 10, 1, 0)
    file.flow(teller, arrow, 20, 2, 0x80000000 | worker)
    file.flow(teller, arrow, 30, 3, file.name("queue", "test", "none"))
    file.flow(teller, arrow, 40, 1, 0x80000000 | 77)
    trace = convert(file, tmp_path)
    assert trace.slices == []
    assert [(each.time - trace.zero(), trace.tracks[each.track].get("name"), bool(each.ending_flows))
            for each in trace.instants][:2] == [(10, "teller", False), (20, "worker", False)]
    assert [(trace.tracks[each.track]["kind"], bool(each.ending_flows)) for each in trace.instants] == \
        [("thread", False), ("thread", False), ("process", True), ("process", False)]


def test_a_span_handed_in_late_leaves_the_others_where_they_are(tmp_path):
    file = ChunkedFile()
    file.per_chunk = 50
    file.thread("main")
    for text, begin, end in (("first", 10, 20), ("second", 30, 40), ("late", 5, 15), ("third", 50, 60)):
        file.span(0, file.name(text, "test", "span"), begin, end)
    trace = convert(file, tmp_path)
    assert [name for name, _, _ in shown(trace, "thread")] == ["first", "second", "third"]
    assert [name for name, _, _ in shown(trace, "lane")] == ["late"]
    assert {each.name: trace.thread_of(each.track) for each in trace.slices}["late"] == 5000


def test_text_that_is_no_utf_8_is_replaced(tmp_path):
    file = ChunkedFile()
    file.thread("main")
    file.span(0, file.name(b"a\xffb\xe2\x82", "test", "span"), 1, 2)
    trace = convert(file, tmp_path)
    assert trace.slices[0].name == "a\ufffdb\ufffd"


def process(pid, folder, chance):
    """A native file of a process with a span, a task, a counter and a flow of its own."""
    file = ChunkedFile()
    file.pid = pid
    file.thread("main")
    for text, style in ((f"span {pid}", "span"), (f"task {pid}", "async")):
        begin = chance.randint(0, 50)
        file.span(0, file.name(text, "test", style), begin, begin + 100)
    file.counter(0, file.name("size", "test", "counter"), 7, pid)
    (folder / f"{pid}.mxp").write_bytes(file.to_bytes())


def check_processes(trace, pids):
    assert sorted(track["pid"] for track in trace.tracks.values() if track["kind"] == "process") == pids
    for each in trace.slices:
        track = trace.tracks[each.track]
        of = track["pid"] if track["kind"] == "thread" else trace.tracks[track["parent"]]["pid"]
        assert each.name.endswith(str(of)) and each.end - each.begin == 100
    assert len(trace.slices) == 2 * len(pids)
    assert sorted(sample.value for sample in trace.samples) == pids


def test_processes_of_a_directory_are_in_one_trace(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    chance = random.Random(1)
    for pid in (4711, 4712, 4713):
        process(pid, folder, chance)
    mxprof("convert", folder, "-o", tmp_path / "out.pftrace")
    trace = decoder.Trace((tmp_path / "out.pftrace").read_bytes())
    check_processes(trace, [4711, 4712, 4713])
    assert trace.attributes["lost_records"] == "0" and len(trace.sequences) == 3


def test_traces_may_be_written_one_behind_the_other(tmp_path):
    chance = random.Random(2)
    data = b""
    for pid in (4711, 4712):
        process(pid, tmp_path, chance)
        mxprof("convert", tmp_path / f"{pid}.mxp", "-o", tmp_path / "out.pftrace")
        data += (tmp_path / "out.pftrace").read_bytes()
    check_processes(decoder.Trace(data), [4711, 4712])
