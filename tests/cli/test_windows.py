# SPDX-License-Identifier: Apache-2.0
"""convert --from, --until, --step: what is in the window, whole, and nothing else, in every format."""
import json
import sqlite3

import native_file
import pytest
import random_spans
from test_instances import answer, run

SEEDS = range(6)


@pytest.fixture(name="trace", params=SEEDS)
def random_trace(request, tmp_path):
    trace = random_spans.RandomTrace(200 + request.param)
    trace.path = tmp_path / "t.mxp"
    trace.path.write_bytes(trace.bytes())
    return trace


def convert(path, out, *window):
    result = run("convert", path, "-o", out, *window)
    assert result.returncode == 0, result.stderr
    return out


WINDOW = "--from", "40us", "--until", "90us"


def in_window(trace):
    return [span for span in trace.spans if span.begin < 90_000 and span.end >= 40_000]


def test_a_native_window_has_what_touches_it(trace, tmp_path):
    out = convert(trace.path, tmp_path / "cut.mxp", *WINDOW)
    found = answer("top", out, "--name", "*", "--top", 1000)["slowest"]
    assert sorted((row["begin_ns"], row["duration_ns"]) for row in found) == sorted(
        (span.begin, span.ns) for span in in_window(trace))
    assert 'cut = "from 0.000040000 s to 0.000090000 s"' in run("info", out).stdout


def test_a_window_of_a_window_is_that_of_the_whole(trace, tmp_path):
    wide = convert(trace.path, tmp_path / "wide.mxp", "--from", "10us", "--until", "200us")
    narrow = convert(wide, tmp_path / "narrow.mxp", *WINDOW)
    once = convert(trace.path, tmp_path / "once.mxp", *WINDOW)
    rows = [answer("top", path, "--name", "*", "--top", 1000)["slowest"] for path in (narrow, once)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("ending", ["json", "sqlite", "pftrace", "mxpz", "folded"])
def test_every_format_takes_a_window(trace, tmp_path, ending):
    out = convert(trace.path, tmp_path / f"cut.{ending}", *WINDOW)
    wanted = len(in_window(trace))
    if ending == "json":
        events = json.loads(out.read_text())["traceEvents"]
        assert sum(event["ph"] in "Xb" for event in events) == wanted
    elif ending == "sqlite":
        with sqlite3.connect(out) as database:
            assert database.execute("select count(*) from span").fetchone() == (wanted,)
    assert out.stat().st_size > 0


def test_the_state_at_its_begin_is_told(tmp_path):
    path = tmp_path / "sample.mxp"
    path.write_bytes(native_file.sample().to_bytes())
    out = convert(path, tmp_path / "cut.mxp", "--from", "1.3", "--until", "1.34")
    found = answer("at", out, "1.31")
    assert [(row["name"], row["value"]) for row in found["counters"]] == [("queue", 20)]


def test_steps_are_windows(tmp_path):
    path = tmp_path / "sample.mxp"
    path.write_bytes(native_file.sample().to_bytes())
    out = convert(path, tmp_path / "cut.mxp", "--step", "1")
    found = answer("top", out, "--name", "*", "--thread", "main")["slowest"]
    assert sorted(row["begin_ns"] for row in found) == [1_105_000_000, 1_110_000_000, 1_150_000_000]


def test_several_processes_are_cut_each(tmp_path):
    folder = tmp_path / "several"
    folder.mkdir()
    later = native_file.sample()
    later.pid, later.begun_ns = 4712, 2_000_000_000
    (folder / "first.mxp").write_bytes(native_file.sample().to_bytes())
    (folder / "second.mxp").write_bytes(later.to_bytes())
    events = json.loads(convert(folder, tmp_path / "cut.json", "--from", "3.15", "--until", "3.16").read_text())
    spans = [event for event in events["traceEvents"] if event["ph"] in "Xb"]
    assert {event["pid"] for event in spans} == {4712}
    assert {event["name"] for event in spans} == {"work", "picture"}


def test_a_window_that_holds_nothing_is_a_wrong_call(trace, tmp_path):
    for window in (("--from", "1h"), ("--from", "90us", "--until", "40us"), ("--step", "3"),
                   ("--from", "50s", "--until", "60s")):
        result = run("convert", trace.path, "-o", tmp_path / "cut.json", *window)
        assert result.returncode in (2, 3) and result.stderr, window
        assert not (tmp_path / "cut.json").exists()
