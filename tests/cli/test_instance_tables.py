# SPDX-License-Identifier: Apache-2.0
"""report --by thread, --by arg:KEY and --histogram: on random traces, against sums that are worked out here."""
import math
import struct

import native_file
import pytest
import random_spans
from test_instances import answer, percentile, run

SEEDS = range(8)


@pytest.fixture(name="trace", params=SEEDS)
def random_trace(request, tmp_path):
    trace = random_spans.RandomTrace(100 + request.param)
    trace.path = tmp_path / "t.mxp"
    trace.path.write_bytes(trace.bytes())
    return trace


def parent(span, spans):
    around = [other for other in spans if other is not span and not other.is_async and other.encloses(span)]
    return max(around, key=lambda other: other.depth, default=None)


def test_by_thread_adds_own_times_up_to_the_time_in_spans(trace):
    found = answer("report", trace.path, "--by", "thread")
    first, last = min(span.begin for span in trace.spans), max(span.end for span in trace.spans)
    assert (found["begin_ns"], found["duration_ns"]) == (first, last - first)
    for row in found["threads"]:
        spans = [span for span in trace.spans if span.thread == row["thread"] and not span.is_async]
        roots = sum(span.ns for span in spans if parent(span, spans) is None)
        assert (row["spans"], row["in_spans_ns"]) == (len(spans), roots)
        own = {}
        for span in spans:
            own[span.name] = own.get(span.name, 0) + span.ns
            if parent(span, spans):
                own[parent(span, spans).name] = own.get(parent(span, spans).name, 0) - span.ns
        assert {name["name"]: name["own_ns"] for name in row["names"]} == own
        assert sum(own.values()) == roots


def test_by_thread_cuts_at_the_window(trace):
    begin, end = 20_000, 90_000
    found = answer("report", trace.path, "--by=thread", "--from", f"{begin}ns", "--until", f"{end}ns")
    for row in found["threads"]:
        spans = [span for span in trace.spans if span.thread == row["thread"] and not span.is_async]
        assert row["in_spans_ns"] == sum(max(0, min(span.end, end) - max(span.begin, begin))
                                         for span in spans if parent(span, spans) is None)


def test_by_thread_tells_what_waited(trace):
    found = answer("report", trace.path, "--by", "thread", "--idle", "re*")
    for row in found["threads"]:
        assert row["waited_ns"] == sum(name["own_ns"] for name in row["names"] if name["name"] == "read")


@pytest.mark.parametrize("key", random_spans.KEYS)
def test_by_arg_has_a_row_a_value(trace, key):
    found = answer("report", trace.path, "--by", f"arg:{key}", "--percentiles", "50,99.9", "--sum", "share")
    rows = {row["value"]: row for row in found["rows"]}
    values = {span.args[key] for span in trace.spans if key in span.args}
    assert set(rows) == set(map(str, values)) and found["values"] == len(values)
    totals = [row["total_ns"] for row in found["rows"]]
    assert totals == sorted(totals, reverse=True)
    for value in values:
        carriers = [span for span in trace.spans if span.args.get(key) == value]
        outer = [span for span in carriers if span.is_async or not any(
            other is not span and not other.is_async and other.encloses(span) for other in carriers)]
        row = rows[str(value)]
        assert (row["spans"], row["total_ns"]) == (len(outer), sum(span.ns for span in outer))
        assert [part["ns"] for part in row["percentiles"]] == [
            percentile([span.ns for span in outer], percent) for percent in (50, 99.9)]
        assert row["sum"] == sum(span.args.get("share", 0) for span in carriers)


def test_numbers_that_differ_in_late_digits_are_values_of_their_own(tmp_path):
    numbers = [1_700_000_000.25, 1_700_000_001.5, 0.1, 0.1000000001, 1e300, 123456789.0, math.inf, 1 / 3]
    file = native_file.NativeFile()
    thread, name, key = file.thread("main"), file.name("work", "app", "span"), file.name("at")
    for place, number in enumerate(numbers):
        bits, = struct.unpack("<Q", struct.pack("<d", number))
        file.span_on(thread, name, place * 1000, place * 1000 + 500, args=[(key, 3, bits)])
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    values = [row["value"] for row in answer("report", path, "--by", "arg:at")["rows"]]
    assert sorted(map(float, values)) == sorted(numbers)
    for place, number in enumerate(numbers):
        shown = values[[float(value) for value in values].index(number)]
        row, = answer("show", path, "--arg", f"at={shown}")["rows"]
        assert row["begin_ns"] == place * 1000
        assert f"at={shown}" in run("at", path, f"{place * 1000 + 100}ns").stdout.split()


def test_histogram_has_every_duration_in_its_row(trace):
    for glob in ("read", "*"):
        lengths = [span.ns for span in trace.spans if glob in ("*", span.name)]
        found = answer("report", trace.path, "--histogram", glob, "--percentiles", "25,50")
        rows = found["rows"]
        assert found["spans"] == len(lengths) == sum(row["spans"] for row in rows) and len(rows) <= 24
        ends = [row["from_ns"] for row in rows[1:]] + [float("inf")]
        for row, end in zip(rows, ends):
            assert row["spans"] == sum(row["from_ns"] * (1 - 1e-9) <= ns < end * (1 - 1e-9) for ns in lengths)
        assert [row["ns"] for row in found["percentiles"]] == [percentile(lengths, 25), percentile(lengths, 50)]


def hilly(tmp_path, lengths):
    file = native_file.NativeFile()
    thread, work = file.thread("one"), file.name("work", "app", "span")
    at = 0
    for length in lengths:
        file.span(thread, work, at, at + length)
        at += length + 10
    path = tmp_path / "hills.mxp"
    path.write_bytes(file.to_bytes())
    return path


def test_histogram_tells_hills(tmp_path):
    near = [10_000 + 13 * i for i in range(460)]
    far = [20_000_000 + 7000 * i for i in range(39)]
    path = hilly(tmp_path, near + far)
    assert answer("report", path, "--histogram", "work")["hills"] == [460, 39]
    assert "two hills: 92 %, 7.8 %" in run("report", path, "--histogram", "work").stdout
    path = hilly(tmp_path, near)
    assert answer("report", path, "--histogram", "work")["hills"] == [460]
    assert "hill" not in run("report", path, "--histogram", "work").stdout


def test_percentiles_beyond_what_memory_keeps_are_marked(tmp_path):
    """Not with 8 million spans here: that they are exact is said."""
    path = hilly(tmp_path, range(1, 101))
    found = answer("report", path, "--histogram", "work", "--percentiles", "1,50,99,100")
    assert found["percentiles_are_exact"]
    assert [row["ns"] for row in found["percentiles"]] == [1, 50, 99, 100]


@pytest.mark.parametrize("call, code, words", [
    (("--by", "arg:nothing"), 2, "there are: "),
    (("--by", "arg:"), 2, "needs a key"),
    (("--by", "thread", "--histogram", "read"), 2, "give one"),
    (("--by", "step", "--histogram", "read"), 2, "give one"),
    (("--histogram", "raed"), 2, "'read'"),
    (("--histogram", "read", "--percentiles", "50,x"), 2, "not '50,x'"),
    (("--histogram", "read", "--percentiles", "101"), 2, "not '101'"),
    (("--histogram",), 2, "needs a value"),
    (("--by", "thread", "--name", "read"), 2, "--name does not belong to --by thread"),
    (("--by", "thread", "--top", "1"), 2, "--top does not belong to --by thread"),
    (("--by", "thread", "--percentiles", "50"), 2, "--percentiles does not belong to --by thread"),
    (("--by", "arg:request", "--idle", "read"), 2, "--idle does not belong to --by arg:request"),
    (("--histogram", "read", "--name", "work"), 2, "--name does not belong to --histogram"),
    (("--histogram", "read", "--sum", "share"), 2, "--sum does not belong to --histogram"),
    (("--by", "thread", "--thread", "nobody"), 2, "the nearest: 'worker 0'"),
])
def test_wrong_calls_say_what_would_be_right(trace, call, code, words):
    result = run("report", trace.path, *call)
    assert result.returncode == code and words in result.stderr


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("call", [("--by", "thread"), ("--by", "arg:request"), ("--histogram", "*")])
def test_tables_fit_the_screen(trace, call, columns):
    lines = run("report", trace.path, *call, columns=columns).stdout.splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= columns
