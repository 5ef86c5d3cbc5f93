# SPDX-License-Identifier: Apache-2.0
"""The ITT collector's rarer marks: waits, relations, clocks, tracks, allocations, histograms, moments."""
import pathlib

import pytest

from recorded import Recorded, compiled


@pytest.fixture(name="program", scope="module")
def itt_program(tmp_path_factory):
    return compiled(pathlib.Path(__file__).parent / "itt_links_program.c",
                    tmp_path_factory.mktemp("itt") / "itt_links_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda part, **settings: Recorded([program, part], "INTEL_LIBITTNOTIFY64", tmp_path, **settings)


def waits(recorded):
    return sorted((event["name"], *sorted(event.get("args", {}).items())) for event in recorded.events
                  if event.get("cat") == "sync" and event["ph"] == "X")


def test_waits_of_a_microsecond_and_more_are_spans_with_the_name_of_their_object(run):
    recorded = run("syncs")
    long = [wait for wait in waits(recorded) if wait != ("wait", ("object", "queue"), ("type", "Mutex"))]
    assert long == [("wait",), ("wait",), ("wait", ("object", "second"), ("type", "Barrier")),
                    ("wait cancelled", ("object", "queue"), ("type", "Mutex"))]
    # One of 2 ms, and of the thousand that were shorter those during which the system was elsewhere.
    assert 1 <= len(waits(recorded)) - len(long) < 500
    assert recorded.foreign() == 0


def test_on_request_all_waits_are_recorded_with_how_long_objects_are_held_or_none(program, tmp_path):
    for sync, spans in (("all", {"wait": 1004, "wait cancelled": 1, "hold": 1005}), ("none", {})):
        (tmp_path / sync).mkdir()
        recorded = Recorded([program, "syncs"], "INTEL_LIBITTNOTIFY64", tmp_path / sync, MXPROF_COLLECT_SYNC=sync)
        assert {name: count for (category, name), count in recorded.counts().items() if category == "sync"} == spans


def arrows(recorded):
    """(name, name of the span around its begin, around its end) of each flow."""
    def around(point):
        inside = [event for event in recorded.events if event["ph"] == "X" and event["tid"] == point["tid"]
                  and event["ts"] <= point["ts"] <= event["ts"] + event["dur"]]
        return max(inside, key=lambda event: event["ts"])["name"] if inside else None
    points = {phase: {event["id"]: event for event in recorded.events if event["ph"] == phase} for phase in "sf"}
    assert points["s"].keys() == points["f"].keys()
    return sorted((points["s"][each]["name"], around(points["s"][each]), around(points["f"][each]))
                  for each in points["s"])


def test_relations_are_arrows_also_where_their_tasks_come_later(run):
    recorded = run("relations")
    assert arrows(recorded) == [("continued_by", "child", "parent"), ("dependent_on", None, None),
                                ("parent_of", "parent", "child"), ("predecessor_to", "parent", None),
                                ("sibling", "parent", "child")]
    assert recorded.foreign() == 1 + 5000 - 4096


def test_a_stack_that_is_continued_elsewhere_is_an_arrow_to_each_place(run):
    recorded = run("stacks")
    assert arrows(recorded) == [("stack", "creator", "entered")] * 2
    assert recorded.foreign() == 1


def test_times_of_a_clock_of_the_programs_are_converted(run):
    recorded = run("clocks")
    now, late, reset = (recorded.only(name) for name in ("now", "told late", "after reset"))
    assert (late["dur"], reset["dur"]) == (pytest.approx(4000, rel=0.01), pytest.approx(1000, rel=0.01))
    assert now["ts"] <= late["ts"] - 100 <= now["ts"] + now["dur"] + 50
    assert late["args"] == {"size": 3}
    begin, end = recorded.only("over", "b"), recorded.only("over", "e")
    assert end["ts"] - begin["ts"] == pytest.approx(2000, rel=0.01) and recorded.foreign() == 0
    assert recorded.only("mark")["ts"] == pytest.approx(reset["ts"] + 499, abs=20)


def test_tasks_of_a_track_are_on_a_lane_in_the_order_of_the_tracks(run):
    recorded = run("tracks")
    rows = {event["tid"]: event["args"]["name"] for event in recorded.events if event["name"] == "thread_name"}
    order = {rows[event["tid"]]: event["args"]["sort_index"] for event in recorded.events
             if event["name"] == "thread_sort_index"}
    assert rows[recorded.only("kernel")["tid"]] == "gpu / compute"
    assert rows[recorded.only("copy")["tid"]] == "gpu / copy"
    assert recorded.only("kernel")["args"]["size"] == 5
    assert not rows[recorded.only("host")["tid"]].startswith("gpu")
    assert order["gpu / copy"] < order["gpu / compute"] and recorded.foreign() == 0


def test_allocations_are_memory_records_where_they_are_asked_for(run):
    recorded = run("memory", MXPROF_COLLECT_MEMORY="1")
    found = [event["args"] for event in recorded.events if event["ph"] == "C"]
    assert [next(iter(values.values())) for values in found] == [100, 150, 100, 170, 70]
    assert recorded.foreign() == 1


def test_allocations_are_left_out_unless_they_are_asked_for(program, tmp_path):
    with pytest.raises(ValueError):  # no file at all
        Recorded([program, "memory"], "INTEL_LIBITTNOTIFY64", tmp_path)


def test_histograms_units_and_what_is_told_of_overlapped_tasks(run):
    recorded = run("values")
    assert recorded.only("sizes")["args"] == {"count": 3, "sum": 6, "min": 0.5, "max": 4, "x.min": -3, "x.max": 9}
    values = [next(iter(event["args"].values())) for event in recorded.events if event["ph"] == "C"]
    assert values == [1, 0, 7, 6]
    assert {event["name"] for event in recorded.events if event["ph"] == "C"} == {"app/queued [bytes]", "app/plain"} \
        or {event["name"] for event in recorded.events if event["ph"] == "C"} == {"queued [bytes]", "plain"}
    told = {**recorded.only("async", "b").get("args", {}), **recorded.only("async", "e").get("args", {})}
    assert told == {"id": 6, "size": 11, "problem": "3 x"}
    assert recorded.only("whole")["args"] == {"whole": 11} and recorded.foreign() == 0


def test_events_without_an_end_and_old_marks_are_moments(run):
    recorded = run("moments")
    assert recorded.counts() == {("event", "pair"): 1, ("event", "alone"): 3, ("mark", "old"): 1,
                                 ("old frames", "frame"): 1, ("app", "group"): 1, ("app", "before"): 1}
    assert all(event["dur"] == 0 for event in recorded.events if event["name"] == "alone")
    assert recorded.only("pair")["dur"] > 0 and recorded.only("old", "i")["s"] == "t"
    assert recorded.only("old")["args"] == {"parameter": "with words"}


def test_after_a_detach_nothing_of_this_door_is_recorded(run):
    assert run("detached").counts() == {("app", "before"): 1}
