# SPDX-License-Identifier: Apache-2.0
"""Asynchronous spans of other profilers' traces whose halves stand in any order: those of two threads do, where
a tracer writes thread after thread."""
import json

from test_import import mxprof, rows, write


def asynchronous(*points):
    """A trace of (phase, name, us, thread, more fields), in this order."""
    return json.dumps([dict({"ph": phase, "name": name, "cat": "c", "id": 1, "pid": 1, "tid": tid, "ts": at}, **more)
                       for phase, name, at, tid, more in points])


def test_an_end_that_stands_before_its_begin_ends_it(tmp_path):
    """Tracers write thread after thread: what one begins and another ends comes in any order."""
    path = write(tmp_path / "a.json", asynchronous(
        ("e", "a", 50, 2, {}), ("e", "a", 150, 2, {}), ("F", "old", 9, 2, {}), ("b", "a", 10, 1, {}), ("b", "a", 100, 1, {}),
        ("S", "old", 4, 1, {}), ("X", "x", 0, 1, {"dur": 200})))
    assert rows(path) == {("c", "a"): (2, 90_000), ("c", "old"): (1, 5_000), ("c", "x"): (1, 200_000)}
    assert mxprof("info", path).stderr == b""
    mxprof("convert", path, "-o", tmp_path / "out.json")
    spans = [(event["ph"], event["ts"]) for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"]
             if event["name"] == "a"]
    assert sorted(spans, key=lambda span: span[1]) == [("b", 10), ("e", 50), ("b", 100), ("e", 150)]


def test_an_end_ends_no_span_that_began_later(tmp_path):
    path = write(tmp_path / "a.json", asynchronous(
        ("b", "a", 10, 1, {}), ("b", "a", 100, 1, {}), ("e", "a", 50, 2, {}), ("e", "a", 150, 2, {}),
        ("e", "b", 5, 2, {}), ("b", "b", 20, 1, {}), ("e", "b", 21, 1, {})))
    assert rows(path) == {("c", "a"): (2, 90_000), ("c", "b"): (1, 1_000)}
    assert "1 end has no begin" in mxprof("info", path).stderr.decode()


def test_of_halves_in_any_order_arguments_of_the_begin_come_first(tmp_path):
    path = write(tmp_path / "a.json", asynchronous(
        ("e", "a", 50, 2, {"args": {"y": "end"}}), ("b", "a", 10, 1, {"args": {"x": 1, "y": "begin"}}),
        ("b", "open", 60, 1, {"args": {"z": 3}, "id": 2})))
    mxprof("convert", "--args", path, "-o", tmp_path / "out.json")
    spans = {event["name"]: event for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"]
             if event["ph"] == "b"}
    assert list(spans["a"]["args"].items()) == [("id", 1), ("x", 1), ("y", "end")]
    assert spans["open"]["args"]["z"] == 3, "a span without an end keeps its arguments"


def test_a_global_id_joins_what_two_processes_say(tmp_path):
    events = [{"ph": ph, "name": "a", "cat": "c", "id2": {kind: "0x1"}, "pid": pid, "tid": 1, "ts": at}
              for kind, ph, pid, at in (("global", "b", 1, 10), ("global", "e", 2, 30), ("local", "b", 1, 40),
                                        ("local", "b", 2, 41), ("local", "e", 1, 45), ("local", "e", 2, 47))]
    assert rows(write(tmp_path / "a.json", json.dumps(events))) == {("c", "a"): (3, 31_000)}
