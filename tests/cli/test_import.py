# SPDX-License-Identifier: Apache-2.0
"""The command reads other profilers' JSON as if it were a native trace: what it prints is what an
independent reading with Python's json finds, to the nanosecond."""
import collections
import csv
import decimal
import gzip
import io
import json
import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys

import pytest

import foreign_traces
import native_file

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release"))
MXPROF = BUILD / "mxprof"
GOLDEN = TREE / "tests/golden/expected"


def mxprof(*arguments, code=0, **more):
    result = subprocess.run([MXPROF, *arguments], capture_output=True, timeout=120, check=False, **more)
    assert result.returncode == code, result.stderr.decode()
    return result


def rows(path, *options, code=0):
    """(section, name) -> (count, total in ns or as it is) of the table."""
    text = mxprof("report", "--layout", "mxnet", "--csv", *options, path, code=code).stdout.decode()
    table = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["kind"] == "duration":
            total = int(decimal.Decimal(row["total"]).scaleb(6).to_integral_value())
            table[row["section"], row["name"]] = (int(row["count"]), total)
    return table


def counters(path):
    text = mxprof("report", "--layout", "mxnet", "--csv", path).stdout.decode()
    return {(row["section"], row["name"]): (int(row["count"]), float(row["min"]), float(row["max"]))
            for row in csv.DictReader(io.StringIO(text)) if row["kind"] in ("counter", "memory")}


def read(text, sections=None):
    """The same by Python's json: complete spans by category and name."""
    events = json.loads(text, parse_float=decimal.Decimal)
    events = events["traceEvents"] if isinstance(events, dict) else events
    table = collections.defaultdict(lambda: (0, 0))
    for event in events:
        if event.get("ph") == "X":
            section = (sections or {}).get(event["cat"], event["cat"])
            count, total = table[section, event["name"]]
            table[section, event["name"]] = (count + 1, total + int(decimal.Decimal(event["dur"]) * 1000))
    return dict(table)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def report_without_title(path):
    """The report without the lines that name the file and count bytes."""
    return mxprof("report", "--layout", "mxnet", "--percentiles", path).stdout.decode().split("\n", 4)[4]


# ---- torch.profiler --------------------------------------------------------------------------------
TORCH_SECTIONS = {"cpu_op": "operator"}


def test_torch_spans_have_the_counts_and_times_that_json_has(tmp_path):
    text = foreign_traces.torch(steps=50)
    assert rows(write(tmp_path / "t.json", text)) == read(text, TORCH_SECTIONS)


def test_torch_memory_is_the_table_of_its_devices(tmp_path):
    found = counters(write(tmp_path / "t.json", foreign_traces.torch(steps=3)))
    assert found["Device Storage", "Memory: cpu/0"] == (6, 0, 4.096)
    assert found["Device Storage", "Memory: gpu/0"] == (3, 0.512, 0.512)


def test_torch_steps_devices_python_functions_and_flows_are_where_they_belong(tmp_path):
    path = write(tmp_path / "t.json", foreign_traces.torch(steps=2))
    mxprof("convert", path, "-o", tmp_path / "out.json")
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    rows_of = {event["name"]: names[event["tid"]] for event in events if event["ph"] == "X"}
    assert rows_of["sgemm"] == "cuda/0 stream 7"
    assert rows_of["train.py(9): step \\ \u00e4"] == "Python, thread 433"
    assert rows_of["aten::mm"] == rows_of["cudaLaunchKernel"] == "thread 433 (python)"
    assert rows_of["PyTorch Profiler (0)"] == "PyTorch Profiler"
    assert {event["pid"] for event in events} == {433}, "devices and the profiler's own rows are no processes"
    assert [event["name"] for event in events if event["cat"] == "step"] == ["step 3", "step 4"]
    flows = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            flows[event["cat"], event["id"]].append((event["ph"], names[event["tid"]]))
    assert sorted(category for category, _ in flows) == ["ac2g", "ac2g", "fwdbwd", "fwdbwd"]
    for (category, _), ends in flows.items():
        there = "cuda/0 stream 7" if category == "ac2g" else "thread 433 (python)"
        assert sorted(ends) == [("f", there), ("s", "thread 433 (python)")]


def test_torch_s_python_functions_nest(tmp_path):
    """with_stack=True: each had all of its time as its own, 388 % of a step, and flame graphs had no depth."""
    calls = [("python_function", "outer", 0, 100), ("python_function", "inner", 10, 30), ("cpu_op", "aten::mm", 15, 5)]
    text = json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": category, "name": name, "pid": 433, "tid": 433, "ts": at, "dur": lasted}
        for category, name, at, lasted in calls]})
    stacks = mxprof("convert", write(tmp_path / "t.json", text), "--to", "folded", "-o", "-").stdout.decode()
    assert sorted(stacks.splitlines()) == ["Python, thread 433;outer 70000", "Python, thread 433;outer;inner 30000",
                                           "thread 1;aten::mm 5000"]


def test_torch_begins_when_its_base_says(tmp_path):
    info = mxprof("info", write(tmp_path / "t.json", foreign_traces.torch())).stdout.decode()
    assert "imported from torch.profiler" in info
    assert "written  2026-11-25 21:00:18 UTC, process 433" in info


def test_arguments_are_taken_when_asked_for(tmp_path):
    path = write(tmp_path / "t.json", foreign_traces.torch(steps=1))
    for options, expected in (((), None), (("--args",), {
            "External id": 7, "Sequence number": 0, "Input Dims": "[[8, 3], [3, 4], []]",
            "Concrete Inputs": "[\"\", \"a \\\"b\\\"\"]"})):
        mxprof("convert", *options, path, "-o", tmp_path / "out.json")
        events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
        linear, = (event for event in events if event["name"] == "aten::linear")
        assert linear.get("args") == expected


# ---- MXNet -----------------------------------------------------------------------------------------
def read_mxnet(text):
    """Begins and ends stand beside each other; operators once, from their device."""
    table = collections.defaultdict(lambda: (0, 0))
    begun = {}
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] in "BEbe()" and not (event["cat"] == "operator" and event["ph"] in "be"):
            key = (event["cat"], event["name"], event["tid"])
            if event["ph"] in "Bb(":
                begun[key] = event["ts"]
            else:
                count, total = table[key[:2]]
                table[key[:2]] = (count + 1, total + 1000 * (event["ts"] - begun.pop(key)))
    assert not begun
    return dict(table)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.trace.json")), ids=lambda path: path.name)
def test_mxnet_traces_have_each_operator_once(path):
    assert rows(path) == read_mxnet(path.read_text())
    assert "imported from MXNet" in mxprof("info", path).stdout.decode()


def test_mxnet_counters_and_memory_are_there():
    found = counters(GOLDEN / "objects_1.9.1.trace.json")
    assert found["Dom", "counter1"][0] == 6 and found["Dom", "counter1"][2] == 112
    found = counters(GOLDEN / "seed000_trace_2.0.0b1.trace.json")
    assert found["Device Storage", "Memory: cpu/0"] == (3, 0.036, 0.052)
    assert found["MXNET_C_API", "MXNet C API Calls"][0] == 17


# ---- others ----------------------------------------------------------------------------------------
def test_viztracer_functions_have_the_counts_and_times_that_json_has(tmp_path):
    text = foreign_traces.viztracer()
    path = write(tmp_path / "v.json", text)
    assert rows(path) == read(text)
    info = mxprof("info", path).stdout.decode()
    assert "imported from viztracer" in info and "Thread-1 (run)" in info and "MainProcess" in info


def test_every_phase_is_taken_or_told(tmp_path):
    path = write(tmp_path / "c.json", foreign_traces.chrome())
    assert rows(path) == {
        ("app", "outer"): (1, 9000), ("app", "inner"): (1, 1500), ("app", "complete"): (1, 5000),
        ("app", "text"): (1, 1500), ("app", "async"): (2, 11000), ("app", "local"): (1, 2000),
        ("app", "old"): (1, 4000)}
    found = counters(path)
    assert found["app", "load user"] == (1, 1, 1) and found["app", "load system"] == (1, 2.5, 2.5)
    assert found["app", "load"] == (1, 3, 3) and found["app", "other[4] n"] == (1, -7, -7)
    told = mxprof("info", path).stderr.decode()
    assert ("10 events are not understood and left out: phase ( (1), ) (1), ? (1), D (1), N (1), O (1), "
            "P (1), c (1), v (1), metadata (1)") in told
    assert "2 values of counters are no finite numbers" in told
    info = mxprof("info", path).stdout.decode()
    assert "5  instants" in info and "3  flow points" in info and '"main"' in info


def test_an_array_and_an_object_are_the_same_trace(tmp_path):
    array = foreign_traces.chrome()
    plain = write(tmp_path / "a.json", array)
    held = write(tmp_path / "b.json", '{"otherData": {"x": [1, {}]}, "traceEvents": ' + array + ', "z": "]"}')
    assert rows(plain) == rows(held) != {}


def test_gzip_is_read_by_its_first_bytes_in_one_or_more_members(tmp_path):
    text = foreign_traces.torch().encode()
    expected = rows(write(tmp_path / "t.json", text))
    assert rows(write(tmp_path / "one", gzip.compress(text))) == expected
    parts = gzip.compress(text[:1000]) + gzip.compress(b"") + gzip.compress(text[1000:])
    assert rows(write(tmp_path / "three.gz", parts)) == expected


def test_a_pipe_is_read(tmp_path):
    text = foreign_traces.torch()
    expected = rows(write(tmp_path / "t.json", text))
    for data in (text.encode(), gzip.compress(text.encode())):
        result = mxprof("convert", "/dev/stdin", "-o", tmp_path / "out.mxp", input=data)
        assert result.stderr == b""
        assert rows(tmp_path / "out.mxp") == expected
    mxprof("convert", "/dev/stdin", "-o", tmp_path / "again.mxp", input=(tmp_path / "out.mxp").read_bytes())
    assert rows(tmp_path / "again.mxp") == expected


@pytest.mark.parametrize("make", [foreign_traces.torch, foreign_traces.viztracer, foreign_traces.chrome,
                                  (GOLDEN / "objects_2.0.0b1.trace.json").read_text,
                                  (GOLDEN / "seed000_trace_1.9.1.trace.json").read_text],
                         ids=["torch", "viztracer", "chrome", "objects", "seed000"])
def test_report_convert_import_report_is_a_fixed_point(tmp_path, make):
    path = write(tmp_path / "0.json", make())
    expected = report_without_title(path)
    for number in range(2):
        mxprof("convert", path, "-o", tmp_path / f"{number + 1}.json")
        path = tmp_path / f"{number + 1}.json"
        assert report_without_title(path) == expected
        assert "imported from mxprof's own JSON" in mxprof("info", path).stdout.decode()


def test_a_native_trace_that_became_json_has_the_same_table_and_losses(tmp_path):
    path = write(tmp_path / "sample.mxp", native_file.sample().to_bytes())
    mxprof("convert", path, "-o", tmp_path / "out.json")
    for options in ([], ["--by", "step"]):
        before, after = (mxprof("report", "--layout", "mxnet", *options, file).stdout.decode() for file in (path, tmp_path / "out.json"))
        assert before.split("\n\n", 1)[1] == after.split("\n\n", 1)[1]
        for word in ("lost", "unnamed"):
            line, = (line for line in before.splitlines() if line.startswith("  " + word))
            assert line in after.splitlines()


def test_ends_of_steps_are_in_our_own_json(tmp_path):
    """Without them the last step had no end, and was in no mean."""
    path = write(tmp_path / "t.json", foreign_traces.torch(steps=3))
    mxprof("convert", path, "-o", tmp_path / "t.mxp")
    mxprof("convert", tmp_path / "t.mxp", "-o", tmp_path / "out.json")
    for file in (tmp_path / "t.mxp", tmp_path / "out.json"):
        report = mxprof("report", "--by", "step", file).stdout.decode()
        assert report.startswith("steps 3 ") and "of which the end" not in report
        assert report.splitlines()[-1].split()[:4] == ["5", "0.002000", "901", "\u00b5s"]


def test_every_table_of_steps_ends_the_last_one_where_its_end_is_marked(tmp_path):
    file = native_file.NativeFile()
    main, name = file.thread("main"), file.name("evaluation", "app", "span")
    for number in range(2):
        file.meta(main, "step", 1_000_000 * number, value=number)
    file.meta(main, "step_end", 1_600_000, value=1)
    file.span(main, name, 1_700_000, 9_700_000)
    path = write(tmp_path / "in.mxp", file.to_bytes())
    mxprof("convert", path, "-o", tmp_path / "out.json")
    mxprof("convert", path, "-o", tmp_path / "out.sqlite")
    database = sqlite3.connect(tmp_path / "out.sqlite")
    assert database.execute("select end_ns - begin_ns from step").fetchall() == [(1_000_000,), (600_000,)]
    database.close()
    for trace in (path, tmp_path / "out.json"):
        table = rows(trace, "--by", "step")
        assert table["Steps", "step 1"] == (1, 600_000)
        assert table["app (outside steps)", "evaluation"] == (1, 8_000_000)


def test_every_subcommand_that_reads_takes_it(tmp_path):
    path = write(tmp_path / "t.json", foreign_traces.torch())
    expected = rows(path)
    mxprof("merge", path, write(tmp_path / "v.json", foreign_traces.viztracer()), "-o", tmp_path / "m.mxp")
    assert len(rows(tmp_path / "m.mxp")) > len(expected)
    mxprof("convert", path, "-o", tmp_path / "p.mxpz")
    mxprof("convert", path, "-o", tmp_path / "p.pftrace")
    mxprof("recover", path, "-o", tmp_path / "r.mxp")
    assert rows(tmp_path / "p.mxpz") == rows(tmp_path / "r.mxp") == expected


def random_trace(seed):
    """Events of several threads, in any order that keeps each thread's begins and ends, and what they come to."""
    chance = random.Random(seed)
    rows_of, expected = [], collections.defaultdict(lambda: (0, 0))

    def count(name, ns):
        expected["c", name] = (expected["c", name][0] + 1, expected["c", name][1] + ns)

    def spans(row, begin, end, depth):
        """Spans from begin to end, ns; some as begin and end, some complete, some that may overlap."""
        at = begin
        while at < end and chance.random() < 0.9:
            at = chance.randint(at, end)
            until = chance.randint(at, end)
            name = chance.choice(["f", "g", "h \"x\"", "\u00fc"])
            event = {"name": name, "cat": "c", "pid": row[0], "tid": row[1], "ts": decimal.Decimal(at) / 1000}
            count(name, until - at)
            way = chance.randrange(3)
            if way == 0:
                yield dict(event, ph="X", dur=decimal.Decimal(until - at) / 1000)
                yield from spans(row, at, until, depth + 1) if depth < 5 else ()
            else:
                more = {"id": f"{seed} {chance.random()}"} if way == 2 else {}
                yield dict(event, ph="Bb"[way - 1], **more)
                yield from spans(row, at, until, depth + 1) if depth < 5 else ()
                yield dict(event, ph="Ee"[way - 1], ts=decimal.Decimal(until) / 1000, **more)
            at = until

    for pid in chance.sample([1, 2, 3, "text", 2**40], 3):
        for tid in chance.sample([pid, 7, "seven", 0], 2):
            rows_of.append(list(spans((pid, tid), 0, 10_000_000, 0)))
    events = []
    while any(rows_of):
        row = chance.choice([row for row in rows_of if row])
        events.append(row.pop(0))
    return "[" + ",\n".join(json.dumps(event, default=str, ensure_ascii=chance.random() < 0.5) for event in events) + "]", dict(expected)


@pytest.mark.parametrize("seed", range(int(os.environ.get("MXPROF_TEST_SEEDS", "10"))))
def test_random_traces_come_to_what_was_put_in(tmp_path, seed):
    text, expected = random_trace(seed)
    path = write(tmp_path / "a.json", text)
    assert rows(path) == expected
    mxprof("convert", path, "-o", tmp_path / "b.json")
    assert report_without_title(tmp_path / "b.json") == report_without_title(path)


def test_of_arguments_that_begin_and_end_both_have_the_end_wins(tmp_path):
    path = write(tmp_path / "a.json", json.dumps([
        {"ph": "B", "name": "a", "cat": "c", "ts": 1, "args": {"x": 1, "y": "begin", "z": -2.5}},
        {"ph": "E", "ts": 2, "args": {"y": "end", "u": None, "v": 2**63}}]))
    mxprof("convert", "--args", path, "-o", tmp_path / "out.json")
    span, = (event for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"] if event["name"] == "a")
    assert span["args"] == {"x": 1, "y": "end", "z": -2.5, "u": "null", "v": str(2**63)}


def test_more_arguments_than_a_record_has_room_for_are_cut_and_told(tmp_path):
    args = {f"key {i}": "x" * 5000 if i == 3 else i for i in range(200)}
    path = write(tmp_path / "a.json", json.dumps([{"ph": "X", "name": "a", "ts": 1, "dur": 1, "args": args}]))
    mxprof("convert", "--args", path, "-o", tmp_path / "out.json")
    span, = (event for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"] if event["name"] == "a")
    assert span["args"]["arguments"] == "cut" and span["args"]["key 119"] == 119
    assert span["args"]["key 3"].startswith("x" * 1024 + "... (1024 of ")


def test_stack_frames_and_samples_are_told(tmp_path):
    path = write(tmp_path / "a.json", '{"stackFrames": {"1": {"name": "f"}}, "traceEvents": [], "samples": [{}]}')
    assert "stackFrames and samples are not taken" in mxprof("info", path).stderr.decode()


# ---- times -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("ts, dur, ns", [
    ("1795225530717665", "1", 1000), ("4493002297306.742", "0.001", 1), ("0", "0", 0),
    ("1.0005", "1.0004", 1000), ("-5.5", "2", 2000), ("1e3", "1.5E-1", 150), ("12.345678", "1e-6", 0),
    ("1", "5000000.25", 5000000250), ("1", "1000000000000", 1000000000000000)])
def test_times_are_read_digit_by_digit(tmp_path, ts, dur, ns):
    path = write(tmp_path / "a.json", f'[{{"ph":"X","name":"a","cat":"c","ts":{ts},"dur":{dur}}}]')
    assert rows(path) == {("c", "a"): (1, ns)}


def test_times_in_another_unit_are_told_as_such(tmp_path):
    """Nanoseconds since 1970 where the format has microseconds: only wrong types were spoken of."""
    path = write(tmp_path / "a.json", '[{"ph":"X","name":"a","ts":1795726137517501000},{"ph":"B","name":"b","ts":1795726137517501000}]')
    assert "2 events have times of more than 126 years" in mxprof("info", path, code=1).stderr.decode()


def test_an_end_is_rounded_once(tmp_path):
    """0.0004 + 0.0004 us end at 1 ns; each alone is 0."""
    path = write(tmp_path / "a.json", '[{"ph":"X","name":"a","cat":"c","ts":0.0004,"dur":0.0004}]')
    assert rows(path) == {("c", "a"): (1, 1)}


# ---- damage ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", ["array", "object"])
def test_a_text_cut_anywhere_gives_what_came_before(tmp_path, form):
    events = [{"ph": "X", "name": f"\u00e4{i}", "ts": i, "dur": 1, "args": {"a": [1]}} for i in range(2)]
    array = json.dumps(events, separators=(",", ":"))
    text = (array if form == "array" else '{"a":{"b":1},"traceEvents":' + array + ',"z":""}').encode()
    ends = [text.index(b"]}}", text.index(b"\\u00e4%d" % i)) + 3 for i in range(2)]
    begin = text.index(b"[{\"ph")
    for cut in range(1, len(text)):
        may_be_whole = form == "array" and any(text[end:cut] in (b"", b",") for end in ends if end <= cut)
        result = mxprof("report", "--layout", "mxnet", "--csv", write(tmp_path / "cut.json", text[:cut]),
                        code=0 if may_be_whole else 1)
        found = result.stdout.decode().count(",duration,")
        assert found == sum(end <= cut for end in ends), cut
        if may_be_whole:  # the format lets the bracket be left out
            assert b"the list of events has no end" in result.stderr and b"damaged" not in result.stderr, cut
            continue
        assert b"damaged at offset " in result.stderr, cut
        offset = int(result.stderr.split(b"damaged at offset ")[1].split(b":")[0])
        assert offset <= cut
        assert (b"cut short" in result.stderr) or cut <= begin
    mxprof("report", "--layout", "mxnet", write(tmp_path / "whole.json", text))


def test_a_compressed_text_cut_anywhere_gives_what_came_before(tmp_path):
    text = json.dumps([{"ph": "X", "name": str(i), "cat": "c", "ts": i, "dur": 1} for i in range(40)]).encode()
    packed = gzip.compress(text, mtime=0)
    last = 0
    for cut in range(20, len(packed), 7):
        result = mxprof("report", "--layout", "mxnet", "--csv", write(tmp_path / "cut.gz", packed[:cut]), code=1)
        assert b"cut short" in result.stderr
        found = result.stdout.decode().count(",duration,")
        assert found >= last
        last = found
    assert last == 40, "the checksum at the end is missing, and all events are there"
    broken = bytearray(packed)
    broken[-5] ^= 1
    result = mxprof("report", "--layout", "mxnet", "--csv", write(tmp_path / "broken.gz", bytes(broken)), code=1)
    assert b"the compressed stream is damaged" in result.stderr
    assert result.stdout.decode().count(",duration,") == 40


GOOD = '{"ph":"X","name":"good","cat":"c","ts":1,"dur":1}'


@pytest.mark.parametrize("bad", [
    '{"ph":"X","name":5,"cat":"c","ts":1,"dur":1}', '{"ph":"X","name":"a","cat":["c"],"ts":1,"dur":1}',
    '{"ph":"X","name":"a","cat":"c","ts":null,"dur":1}',
    '{"ph":"X","name":"a","cat":"c","ts":1,"dur":-1}', '{"ph":"X","name":"a","cat":"c","dur":1}',
    '{"ph":"X","name":"a","cat":"c","ts":NaN,"dur":1}', '{"ph":"X","name":"a","cat":"c","ts":1,"dur":Infinity}',
    '{"ph":"X","name":"a","cat":"c","ts":1e300,"dur":1}', '{"ph":"X","name":"a","cat":"c","ts":1,"dur":[1]}',
    '{"ph":"X","name":"a","cat":"c","ts":1,"dur":1,"pid":{}}', '{"ph":"X","name":"a","cat":"c","ts":1,"dur":1,"tid":true}',
    '{"ph":"XX","name":"a","ts":1}', '{"ph":1,"name":"a","ts":1}', '{"name":"a","ts":1}', '7', 'null', '"text"',
    '[1, [2]]', '{"ph":"C","name":"a","ts":1,"args":{}}', '{"ph":"C","name":"a","ts":1}'])
def test_a_damaged_event_is_counted_and_left_out(tmp_path, bad):
    path = write(tmp_path / "a.json", f"[{GOOD},{bad},{GOOD}]")
    assert rows(path, code=1) == {("c", "good"): (2, 2000)}
    assert f"damaged at offset {len(GOOD) + 2}: an event" in mxprof("info", path, code=1).stderr.decode()


def test_fields_that_are_null_or_left_out_are_not_there(tmp_path):
    """Go leaves out a duration that is 0, Python writes None as null."""
    path = write(tmp_path / "a.json", '[{"ph":"X","name":"a","cat":null,"id":null,"tid":null,"pid":1,"ts":1},'
                 '{"ph":"X","name":null,"cat":"c","ts":1,"dur":3}]')
    assert rows(path) == {("user", "a"): (1, 0), ("c", "(no name)"): (1, 3000)}
    assert "1 complete span has no duration; 0 is taken" in mxprof("info", path).stderr.decode()


@pytest.mark.parametrize("bad", ['{"ph" "X"}', '{"ph":}', "{1:2}", "{\"a\":1 \"b\":2}", "}", "{\"a\":1]", "x"])
def test_what_is_no_json_ends_the_trace_where_it_stands(tmp_path, bad):
    path = write(tmp_path / "a.json", f"[{GOOD},{bad},{GOOD}]")
    assert rows(path, code=1)["c", "good"][0] == (2 if bad == "x" else 1)
    assert "is damaged at offset" in mxprof("info", path, code=1).stderr.decode()


def test_of_a_key_that_is_there_twice_the_last_one_counts(tmp_path):
    path = write(tmp_path / "a.json", '[{"ph":"B","ph":"X","name":7,"name":"a","cat":"c","ts":1,"dur":9,"dur":2}]')
    assert rows(path) == {("c", "a"): (1, 2000)}


def test_odd_texts_are_taken_with_a_warning(tmp_path):
    text = (b'\xef\xbb\xbf[{"ph":"X","name":"half \\ud800 and \xf0\x9f\x98\x80 \\ud83d\\ude00","cat":"c","ts":1,"dur":1},'
            b'{"ph":"X","name":"a\ttab\\u0000","cat":"c","ts":1,"dur":1,},]')
    text = text.replace(b",}", b"}")
    path = write(tmp_path / "a.json", text)
    assert sorted(rows(path)) == [("c", "a\\ttab\ufffd"), ("c", "half \ufffd and \U0001f600 \U0001f600")]
    told = mxprof("info", path).stderr.decode()
    assert "byte order mark" in told and "surrogate" in told and "control characters" in told


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_refused_by_name(tmp_path, encoding):
    path = write(tmp_path / "a.json", f"[{GOOD}]".encode(encoding))
    assert encoding[:6].upper() in mxprof("info", path, code=1).stderr.decode()


@pytest.mark.parametrize("text, why", [
    ('{"a": 1}', "without a list of traceEvents"), ('{"traceEvents": 5}', "without a list of traceEvents"),
    (gzip.compress(native_file.sample().to_bytes(), mtime=0), "a native trace that gzip has compressed: unpack it"),
    (gzip.compress(b"hello", mtime=0), "inside is no JSON"), (gzip.compress(b"", mtime=0), "inside is no JSON"),
    (gzip.compress(b"[1]", mtime=0)[:11], "inside is no JSON: the compressed stream is cut short")])
def test_what_is_no_trace_is_refused(tmp_path, text, why):
    assert why in mxprof("report", "--layout", "mxnet", write(tmp_path / "a.json", text), code=1).stderr.decode()


def test_spans_without_their_other_end_are_told(tmp_path):
    path = write(tmp_path / "a.json", '[{"ph":"B","name":"open","cat":"c","ts":1},' + GOOD.replace('"ts":1', '"ts":8') +
                 ',{"ph":"b","name":"async","id":1,"cat":"c","ts":2},{"ph":"e","name":"x","id":2,"cat":"c","ts":2}]')
    assert rows(path) == {("c", "open"): (1, 8000), ("c", "good"): (1, 1000), ("c", "async"): (1, 7000)}
    told = mxprof("info", path).stderr.decode()
    assert "2 spans have no end" in told and "1 end has no begin" in told
    path = write(tmp_path / "b.json", '[{"ph":"E","name":"x","cat":"c","ts":2}]')
    assert "1 end has no begin" in mxprof("info", path).stderr.decode()


def test_depth_is_a_number(tmp_path):
    deep = 3_000_000
    path = write(tmp_path / "a.json", '{"x":' + "[" * deep + "]" * deep + f',"traceEvents":[{GOOD[:-1]},"args":' +
                 '{"a":' * deep + "1" + "}" * deep + "}]}")
    assert rows(path) == {("c", "good"): (1, 1000)}
    path = write(tmp_path / "b.json", "[" * deep)
    mxprof("report", "--layout", "mxnet", path, code=1)


# ---- size ------------------------------------------------------------------------------------------
LIMIT_KIB = 64 << 10
LONG = pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1 imports 1 and 2 GiB")


def resident_kib(*arguments):
    """The command's largest resident size, by a process that has no other child."""
    program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    result = subprocess.run([sys.executable, "-c", program, MXPROF, *arguments], capture_output=True, check=True)
    return int(result.stdout)


def write_large(path, size_bytes, processes=1):
    """One line, in no order of time; how many spans it has."""
    text = foreign_traces.torch(steps=200).replace("\n", " ").replace("433", "434")
    head, events = text.split('"traceEvents": [', 1)
    events, tail = events.rsplit("],", 1)
    times = -(-size_bytes // len(events))
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + '"traceEvents": [')
        for i in range(times):
            file.write(("," if i else "") + events.replace('"pid": 434', f'"pid": {434 + i % processes}'))
        file.write("]," + tail)
    return {key: (count * times, total * times) for key, (count, total) in read(text, TORCH_SECTIONS).items()}


@pytest.mark.parametrize("mib, processes", [(50, 1), pytest.param(1024, 1, marks=LONG), pytest.param(2048, 5, marks=LONG)])
def test_memory_does_not_grow_with_the_file(tmp_path, mib, processes):
    path = tmp_path / "large.json"
    expected = write_large(path, mib << 20, processes)
    assert resident_kib("convert", path, "-o", tmp_path / "out.mxp") < LIMIT_KIB
    assert rows(tmp_path / "out.mxp") == expected


def test_threads_of_large_numbers_are_called_by_them(tmp_path):
    """What pthread_self() gives is none of the system's numbers, and all that such a trace says of a thread."""
    path = write(tmp_path / "a.json", "[" + ",".join(
        '{"ph":"X","name":"n","cat":"c","pid":%s,"tid":%s,"ts":1,"dur":1}' % ids
        for ids in ((1, 140737353922304), (1, -5), (1, 17), (99999999999, 1))) + "]")
    events = mxprof("convert", path, "-o", "-").stdout
    names = {event["args"]["name"] for event in json.loads(events)["traceEvents"] if event["name"] in ("thread_name", "process_name")}
    assert names == {"140737353922304", "-5", "thread 2", "thread 0", "process", "99999999999"}


def test_more_threads_and_processes_than_there_is_room_for_are_told(tmp_path):
    path = write(tmp_path / "a.json", "[" + ",".join(
        f'{{"ph":"X","name":"n","cat":"c","ts":{i},"dur":1,"pid":{1 + i % 5000},"tid":{i}}}' for i in range(70_000)) + "]")
    assert rows(path) == {("c", "n"): (70_000, 70_000_000)}
    assert "events are of threads for which there is no room" in mxprof("info", path).stderr.decode()


def test_each_event_without_room_for_its_thread_is_counted(tmp_path):
    path = write(tmp_path / "a.json", "[" + ",".join(
        f'{{"ph":"X","name":"n","ts":{10 * i + 2 * k},"dur":1,"pid":{1 + i}}}' for i in range(4100) for k in range(3))
        + ',{"ph":"X","name":"n","ts":1,"dur":1,"pid":4100}]')
    assert f"{3 * (4100 - 4095) + 1} events are of threads" in mxprof("info", path).stderr.decode()


@LONG
@pytest.mark.parametrize("event, told", [
    ('{"ph":"X","name":"%d","ts":1,"dur":1}', "names have no room: <names full> stands for them"),
    ('{"ph":"b","name":"n","id":%d,"cat":"c","ts":1}', "begins are left out: too many spans are open"),
    ('{"ph":"B","name":"n","ts":1,"pid":%d}', "begins are left out: too many spans are open")])
def test_floods_are_bounded_and_told(tmp_path, event, told):
    with open(tmp_path / "a.json", "w", encoding="utf-8") as file:
        file.write("[")
        file.writelines(event % i + "," for i in range(1_200_000))
        file.write("{}]")
    assert told in mxprof("info", tmp_path / "a.json").stderr.decode()
    assert resident_kib("info", tmp_path / "a.json") < 3 * LIMIT_KIB


def test_a_full_disk_is_told(tmp_path):
    path = tmp_path / "large.json"
    write_large(path, 8 << 20)

    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))

    result = mxprof("info", path, code=1, preexec_fn=small_files,
                    restore_signals=False, env=dict(os.environ, TMPDIR=str(tmp_path)))
    assert b"cannot write '" in result.stderr and str(tmp_path).encode() in result.stderr
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["large.json"], "no temporary file is left"


def test_no_temporary_folder_is_told(tmp_path):
    path = write(tmp_path / "a.json", f"[{GOOD}]")
    result = mxprof("info", path, code=1, env=dict(os.environ, TMPDIR=str(tmp_path / "none")))
    assert b"cannot create '" in result.stderr
