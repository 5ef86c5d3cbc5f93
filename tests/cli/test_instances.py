# SPDX-License-Identifier: Apache-2.0
"""show, top and at: single instances, on random traces whose answers are worked out here in another way, and
on a server that was killed: one command names the slowest request, another shows its life."""
import json
import math
import os
import random
import struct
import subprocess
import sys

import native_file
import pytest
import random_spans
import server_runs
from server_runs import BUILD

SEEDS = range(12)


def run(*arguments, columns=None):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    environment.update({"COLUMNS": str(columns)} if columns else {}, LC_ALL="C.UTF-8")
    return subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env=environment, check=False)


def answer(*arguments):
    result = run(*arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def told(row):
    """A row of JSON as the generator has it."""
    return (row["thread"], row["name"], row["begin_ns"], row["begin_ns"] + row["duration_ns"], row["depth"],
            {arg["key"]: arg["value"] for arg in row["args"]})


def known(span, depth=None):
    return (span.thread, span.name, span.begin, span.end, span.depth if depth is None else depth, span.args)


@pytest.fixture(name="trace", params=SEEDS)
def random_trace(request, tmp_path):
    trace = random_spans.RandomTrace(request.param)
    trace.path = tmp_path / "t.mxp"
    trace.path.write_bytes(trace.bytes())
    return trace


# ---- top
def percentile(values, percent):
    return sorted(values)[max(math.ceil(round(percent * len(values) / 100, 9)), 1) - 1]


def test_top_lists_the_slowest_with_exact_percentiles(trace):
    for name in {span.name for span in trace.spans}:
        fitting = [span for span in trace.spans if span.name == name]
        wanted = sorted(fitting, key=lambda span: (-span.ns, span.begin))[:7]
        found = answer("top", trace.path, "--name", name, "--top", 7, "--percentiles", "1,50,99.9")
        assert found["count"] == len(fitting) and found["percentiles_are_exact"]
        assert [told(row) for row in found["slowest"]] == [known(span) for span in wanted]
        assert [row["ns"] for row in found["percentiles"]] == [
            percentile([span.ns for span in fitting], percent) for percent in (1, 50, 99.9)]


def test_top_without_a_name_is_about_roots(trace):
    roots = [span for span in trace.spans if span.is_async or not any(
        other is not span and not other.is_async and other.encloses(span) for other in trace.spans)]
    found = answer("top", trace.path, "--top", 1000)
    assert found["only_roots"] and found["count"] == len(roots)
    assert sorted(map(told, found["slowest"]), key=lambda row: row[2]) == [
        known(span) for span in sorted(roots, key=lambda span: span.begin)]


def self_times(around, spans):
    """Name -> ns in which a span of that name is the innermost inside of `around`, moment by moment."""
    inside = [span for span in spans if span is around or (not span.is_async and around.encloses(span))]
    times = sorted({time for span in inside for time in (span.begin, span.end)})
    result = {}
    for begin, end in zip(times, times[1:]):
        on = [span for span in inside if span.begin <= begin and span.end >= end]
        innermost = max(on, key=lambda span: (not span.is_async, span.begin))
        result[innermost.name] = result.get(innermost.name, 0) + end - begin
    return result


def test_top_tells_where_the_time_of_each_went(trace):
    for row in answer("top", trace.path, "--top", 20)["slowest"]:
        around = next(span for span in trace.spans if span.begin == row["begin_ns"])
        assert {part["name"]: part["ns"] for part in row["parts"]} == self_times(around, trace.spans)


def test_top_filters_by_time_length_and_thread(trace):
    least, begin, end = 2000, 20_000, 120_000
    wanted = [span for span in trace.spans if span.name in ("work", "sort") and span.thread == 1 and
              span.ns >= least and span.begin < end and span.end >= begin]
    found = answer("top", trace.path, "--name", "work", "--name", "sort", "--thread", "worker 1", "--min", "2us",
                   "--from", "20us", "--until", "120us", "--top", 1000)
    assert sorted(row["begin_ns"] for row in found["slowest"]) == sorted(span.begin for span in wanted)


# ---- at
def test_at_tells_what_was_open(trace):
    chance = random.Random(5)
    last = max(span.end for span in trace.spans)
    for at in [min(span.begin for span in trace.spans), *(chance.randrange(2000, last) for _ in range(20))]:
        wanted = [span for span in trace.spans if span.begin <= at < span.end]
        found = answer("at", trace.path, f"{at}ns")
        assert sorted(map(told, found["open"]), key=lambda row: row[2]) == [
            known(span) for span in sorted(wanted, key=lambda span: span.begin)]


def test_at_reads_times_from_begin_and_end(trace):
    first, last = min(span.begin for span in trace.spans), max(span.end for span in trace.spans)
    assert answer("at", trace.path, "+1us")["at_ns"] == first + 1000
    assert answer("at", trace.path, "-1us")["at_ns"] == last - 1000
    assert answer("at", trace.path, "end")["at_ns"] == last
    assert answer("at", trace.path, "0.00001")["at_ns"] == 10_000


def test_at_counts_steps_and_writes_scopes_as_other_commands(tmp_path):
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("worker")
    file.meta(main, "step", 10_000, value=7)
    file.meta(main, "step", 20_000, value=8)
    file.meta(main, "step", 90_000, value=9)
    # Pushed in step 7, which lasts until it ends, at 50 us.
    scope = file.name("net:conv:", 0, "scope")
    file.add(worker, native_file.words(
        native_file.word0("operator", 4, file.origin + 15_000), file.name("Convolution", "operator", "span") | 1 << 32,
        35_000 | 1 << 48, 3_000 | main << 48, 0, 0, scope, 0))
    path = tmp_path / "late.mxp"
    path.write_bytes(file.to_bytes())
    found = answer("at", path, "40us")
    assert (found["step"], found["step_begin_ns"]) == (7, 10_000)
    assert found["open"][0]["scope"] == "net:conv" and found["open"][0]["phase"] == "forward"
    shown = run("at", path, "40us").stdout
    assert "in step 7 for 30.0 µs" in shown and "  net:conv forward\n" in shown
    assert answer("show", "--step", "7", path)["begin_ns"] == 10_000


def test_at_tells_counters_and_the_step(tmp_path):
    path = tmp_path / "sample.mxp"
    path.write_bytes(native_file.sample().to_bytes())
    found = answer("at", path, "1.5")
    assert (found["step"], found["step_begin_ns"]) == (1, 1_100_000_000)
    assert [(row["name"], row["value"], row["set_at_ns"]) for row in found["counters"]] == [
        ("queue", 20, 1_140_000_000)]


# ---- show
def carriers_of(trace, key, value):
    return [span for span in trace.spans if span.args.get(key) == value]


def nest(rows):
    """Depths among the rows themselves."""
    return [known(span, 0 if span.is_async else sum(
        other is not span and not other.is_async and other.encloses(span) for other in rows)) for span in rows]


def test_show_lists_a_part_of_many_that_are_as_long(tmp_path):
    """Times in whole microseconds, as other profilers write them, are often equal."""
    file = native_file.NativeFile()
    main, outer, work = file.thread("main"), file.name("outer", "app", "span"), file.name("work", "app", "span")
    file.meta(main, "step", 0, value=1)
    for number in range(3000):
        file.span(main, work, 1000 + number * 2000, 2000 + number * 2000)
    file.span(main, outer, 500, 9_000_000)
    file.meta(main, "step", 9_500_000, value=2)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    lines = run("show", "--step", "1", path).stdout.splitlines()
    assert sum(" work " in line for line in lines) == 59 and sum(" outer " in line for line in lines) == 1
    assert "and 2941 that are no longer than 1.00 µs (--all shows them)" in lines
    assert len(run("show", "--all", "--step", "1", path).stdout.splitlines()) > 3000


def test_show_finds_what_carries_an_argument_and_what_is_inside(trace):
    for value in range(0, 40, 5):
        carriers = carriers_of(trace, "request", value)
        if not carriers:
            continue
        rows = [span for span in trace.spans if span in carriers or (
            not span.is_async and any(not other.is_async and other.encloses(span) for other in carriers))]
        rows.sort(key=lambda span: span.begin)
        found = answer("show", trace.path, "--arg", f"request={value}", "--all")
        assert [told(row) for row in found["rows"]] == nest(rows)
        begin, end = min(span.begin for span in carriers), max(span.end for span in carriers)
        assert (found["begin_ns"], found["duration_ns"]) == (begin, end - begin)
        assert sum(part["ns"] for part in found["parts"]) == end - begin
        gaps = sum(gap["duration_ns"] for gap in found["gaps"])
        assert gaps == sum(part["ns"] for part in found["parts"] if part["name"] is None)
        covered = set()
        for span in rows:
            covered.update(range(span.begin, span.end))
        assert gaps == end - begin - len([ns for ns in covered if begin <= ns < end])


def test_show_finds_texts_and_negative_numbers(trace):
    for key, value in (("path", "/data/3 ü"), ("share", -4)):
        carriers = carriers_of(trace, key, value)
        result = run("show", trace.path, "--arg", f"{key}={value}", "--all", "--json")
        assert result.returncode == (0 if carriers else 3), result.stderr
        if carriers:
            rows = json.loads(result.stdout)["rows"]
            assert {span.begin for span in carriers} <= {row["begin_ns"] for row in rows}


def test_show_of_a_time_has_all_that_touches_it(trace):
    begin, end = 30_000, 60_000
    found = answer("show", trace.path, "--from", f"{begin}ns", "--until", f"{end}ns")
    assert [row["begin_ns"] for row in found["rows"]] == sorted(
        span.begin for span in trace.spans if span.begin < end and span.end > begin)
    assert sum(part["ns"] for part in found["parts"]) == end - begin


def test_show_by_id_finds_contexts_asynchronous_ids_and_flows(tmp_path):
    file = native_file.NativeFile()
    one, two = file.thread("one"), file.thread("two")
    work, inner, queue = (file.name(name, "app", style) for name, style in
                          (("work", "span"), ("inner", "span"), ("queue", "async")))
    key, flow = file.name("id"), file.name("go", "app", "flow")
    file.span(one, inner, 120, 130)
    file.add(one, native_file.words(native_file.word0("flow", 2, file.origin + 150), flow | 1 << 32, 77, 0))
    file.span(one, work, 100, 200)
    file.span(one, work, 210, 220)  # of nobody
    file.span_on(two, queue, 150, 260, args=[(key, 1, 77)])
    file.span_on(two, work, 300, 400, context=77)
    file.span_on(two, work, 500, 600, context=78, args=[(key, 1, 77)])  # its id is not of a queue
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    found = answer("show", path, "--id", 77)
    assert [(row["begin_ns"], row["name"], row["depth"]) for row in found["rows"]] == [
        (100, "work", 0), (120, "inner", 1), (150, "queue", 0), (300, "work", 0)]
    assert found["gaps"] == [{"begin_ns": 260, "duration_ns": 40}]
    assert run("show", path, "--id", 5).returncode == 3


@pytest.mark.parametrize("written,typed", [(7, "7"), ("7", "7"), ("0x1f", "0x1f"), ("0x1f", "31"), (31, "0x1f")])
def test_show_by_id_finds_flows_of_chromes_json_by_the_id_that_stands_there(tmp_path, written, typed):
    def event(phase, name, at, thread, **more):
        return {"ph": phase, "name": name, "cat": "app", "pid": 1, "tid": thread, "ts": at, **more}
    events = [event("X", "send", 10, 1, dur=20), event("X", "receive", 50, 2, dur=20), event("X", "other", 90, 2, dur=20),
              event("s", "go", 15, 1, id=written), event("f", "go", 55, 2, id=written, bp="e"),
              event("s", "go", 95, 2, id=8), event("f", "go", 98, 2, id=8, bp="e")]
    path = tmp_path / "flows.json"
    path.write_text(json.dumps({"traceEvents": events}))
    assert run("convert", path, "-o", tmp_path / "flows.mxp").returncode == 0
    for trace in (path, tmp_path / "flows.mxp"):
        assert [row["name"] for row in answer("show", "--id", typed, trace)["rows"]] == ["send", "receive"]
        assert run("show", "--id", "9", trace).returncode == 3


@pytest.mark.parametrize("args", [None, {}, {"size": 3}, {"id": 9}])
@pytest.mark.parametrize("written,typed", [(7, "7"), ("7", "7"), ("0x1f", "31")])
def test_show_by_id_finds_asynchronous_spans_of_chromes_json(tmp_path, written, typed, args):
    def event(phase, name, at, number, **more):
        return {"ph": phase, "name": name, "cat": "app", "pid": 1, "tid": 1, "ts": at, "id": number, **more}
    begin = {} if args is None else {"args": args}
    events = [event("b", "first", 10, written, **begin), event("b", "other", 15, 8), event("e", "first", 30, written),
              event("e", "other", 35, 8), event("b", "named", 40, "seven"), event("e", "named", 45, "seven")]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"traceEvents": events}))
    own = (args or {}).get("id")
    found, = answer("show", "--id", own or typed, path)["rows"]
    assert found["name"] == "first"
    assert {arg["key"]: arg["value"] for arg in found["args"]} == {"id": int(typed), **(args or {})}
    assert run("show", "--id", "9" if own is None else typed, path).returncode == 3


def test_a_span_that_a_flow_goes_through_often_is_one_span(tmp_path):
    file = native_file.NativeFile()
    one = file.thread("one")
    work, flow = file.name("work", "app", "span"), file.name("go", "app", "flow")
    for index in range(10):
        file.flow(one, flow, 120 + 10 * index, 1 if index else 0, 77)
    file.span_on(one, work, 100, 400, context=77)
    file.flow(one, flow, 5050, 2, 77)
    file.span(one, work, 5000, 6000)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    found = answer("show", path, "--id", 77)
    assert [row["begin_ns"] for row in found["rows"]] == [100, 5000]
    in_time = answer("show", path, "--id", 77, "--until", "1000ns")
    assert [row["begin_ns"] for row in in_time["rows"]] == [100]


def test_many_lives_are_found_behind_spans_of_other_names(tmp_path):
    file = native_file.NativeFile()
    others, one = file.thread("others"), file.thread("one")
    key, work = file.name("worker"), file.name("work", "app", "span")
    for index in range(9):
        file.span_on(one, file.name(f"once {index}", "app", "span"), 5000 + 10 * index, 5005 + 10 * index,
                     args=[(key, 1, 3)])
    for index in range(9):
        file.span_on(others, work, 10 * index, 10 * index + 5, args=[(key, 1, 3)])
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    assert answer("show", path, "--arg", "worker=3")["spans"] == 18


def test_show_lists_the_longest_of_a_value_that_many_lives_share(tmp_path):
    file = native_file.NativeFile()
    thread, work, key = file.thread("one"), file.name("work", "app", "span"), file.name("host")
    for index in range(30):
        file.span_on(thread, work, index * 1000, index * 1000 + 10 * (index + 1), args=[(key, 1, 5)])
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    found = answer("show", path, "--arg", "host=5")
    assert found["spans"] == 30
    assert [row["duration_ns"] for row in found["longest"]] == [10 * (30 - index) for index in range(20)]
    assert len(answer("show", path, "--arg", "host=5", "--all")["rows"]) == 30
    few = answer("show", path, "--arg", "host=5", "--from", "0ns", "--until", "4us")
    assert len(few["rows"]) == 4


# ---- a server that was killed
@pytest.fixture(name="ring", scope="module")
def killed_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    return server_runs.killed(server_runs.compiled(folder), folder)


@pytest.fixture(name="core", scope="module")
def core_of_a_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("core")
    with server_runs.Living(server_runs.compiled(folder), folder, "memory") as server:
        return server_runs.write_core(server.pid, folder / "core")


@pytest.mark.parametrize("kind", ["ring", "core"])
def test_the_slowest_request_of_a_dead_server_is_named_and_its_life_shown(kind, ring, core):
    path = {"ring": ring, "core": core}[kind]
    slowest = answer("top", path, "--name", "handle", "--top", 1)["slowest"][0]
    assert told(slowest)[5] == {"request": server_runs.SLOW}
    assert max(slowest["parts"], key=lambda part: part["ns"])["name"] == "load from disk"
    life = answer("show", path, "--arg", f"request={server_runs.SLOW}")
    rows = {row["name"]: row for row in life["rows"]}
    assert list(rows) == ["parse", "in queue", "handle", "lookup", "load from disk", "reply"]
    assert rows["parse"]["thread_name"] == "io" and rows["load from disk"]["depth"] == 2
    assert {rows[name]["thread_name"] for name in ("handle", "lookup", "reply")} == {
        rows["in queue"]["thread_name"]} != {"io"}
    assert rows["load from disk"]["duration_ns"] >= 60_000_000


@pytest.mark.parametrize("kind", ["ring", "core"])
def test_what_a_dead_server_was_at_is_open_at_its_end(kind, ring, core):
    found = answer("at", {"ring": ring, "core": core}[kind], "end")["open"]
    assert [(row["name"], row["is_open"], row["depth"]) for row in found] == [
        ("handle", True, 0), ("lookup", True, 1), ("load from disk", True, 2)]
    assert told(found[0])[5] == {"request": 199}


class RingFile(native_file.NativeFile):
    """What a ring holds whose thread has overwritten five chunks, up to `held_from`."""
    held_from = 500_000

    def chunk_sections(self):
        for index, thread in enumerate(self.threads):
            head = native_file.struct.pack("=IIQQQ", index, 5, self.origin + self.held_from, 0, 0)
            yield self.section("chunk", thread["bytes"], head)


def test_what_may_be_missing_of_a_ring_is_said(tmp_path):
    file = RingFile()
    file.info = [("full_policy", "ring"), ("memory_limit_bytes", "1048576")]
    thread, work, key = file.thread("one"), file.name("work", "app", "span"), file.name("request")
    file.span_on(thread, work, 400_000, 600_000, args=[(key, 1, 1)])
    file.span_on(thread, work, 700_000, 800_000, args=[(key, 1, 2)])
    path = tmp_path / "ring.mxp"
    path.write_bytes(file.to_bytes())
    begun_before, whole = run("show", path, "--arg", "request=1"), run("show", path, "--arg", "request=2")
    assert begun_before.returncode == whole.returncode == 0
    assert "only from 0.000500 s on" in begun_before.stderr and whole.stderr == ""


# ---- looks
@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("call", [("show", "--arg", "request=137"), ("top",), ("at", "end"),
                                  ("show", "--from", "+10ms", "--until", "+30ms")])
def test_text_fits_the_screen(ring, call, columns):
    result = run(call[0], ring, *call[1:], columns=columns)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) > 4 and max(map(len, lines[1:])) <= columns


# ---- what is not there
def test_a_key_that_is_not_there_names_the_keys(ring):
    result = run("show", ring, "--arg", "reqest=1")
    assert result.returncode == 2 and "there are: request, path, id" in result.stderr


def test_a_value_that_is_not_there_tells_which_are(ring):
    result = run("show", ring, "--arg", "request=1000")
    assert result.returncode == 3 and "from 0 to 199" in result.stderr


def test_a_trace_without_arguments_says_so(tmp_path):
    path = tmp_path / "sample.mxp"
    path.write_bytes(native_file.sample().to_bytes())
    result = run("show", path, "--arg", "request=1")
    assert result.returncode == 2 and "nor any other" in result.stderr
    assert run("top", tmp_path / "sample.mxp").returncode == 0


def test_a_trace_of_nothing_is_told(tmp_path):
    path = tmp_path / "empty.mxp"
    path.write_bytes(native_file.empty().to_bytes())
    for call in (("top",), ("at", "1"), ("at", "end")):
        result = run(call[0], path, *call[1:])
        assert result.returncode == 3 and result.stderr, call


DIES_IN_A_SPAN = """
import ctypes, os, sys
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
names = [lib.mxp_intern(b"app", name, 1, 0) for name in (b"outer", b"middle", b"inner")]
lib.mxp_begin(16, names[0])
lib.mxp_begin(16, names[1])
lib.mxp_begin(16, names[2])
os.kill(os.getpid(), 9)
"""


def test_at_the_end_is_all_that_was_open_at_a_death(tmp_path):
    subprocess.run([sys.executable, "-c", DIES_IN_A_SPAN, BUILD / "libmxprof.so"], cwd=tmp_path, check=False,
                   env=server_runs.environment("file"), timeout=60)
    told = run("at", tmp_path / "ring.mxp", "end").stdout
    assert [name for name in ("outer", "middle", "inner") if name not in told] == [], told


def test_keys_of_open_spans_give_the_terminal_no_orders(tmp_path):
    """A process of another user's may have made the file."""
    file = native_file.NativeFile()
    main, work, key = file.thread("main"), file.name("work", "app", "span"), file.name("ke\x1b[31my")
    bits, = struct.unpack("<Q", struct.pack("<d", 0.123456789))
    file.add(main, native_file.words(  # a long span that was open at the end, with a number
        native_file.word0("span_long", 4, file.origin + 100), work | 4 << 32 | 1 << 48, 500, file.origin + 100, 0, 0,
        key | 3 << 32, bits))
    file.info.append(("unfinished", "died"))
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    told = run("info", path).stdout
    assert "\x1b" not in told and '"work" (ke [31my=0.123456789)' in told
