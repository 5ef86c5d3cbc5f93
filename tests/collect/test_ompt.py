# SPDX-License-Identifier: Apache-2.0
"""The OpenMP tool: regions, loops, waits, locks and tasks as a runtime tells them, late ends included."""
import pathlib

import pytest

from recorded import Recorded, compiled


@pytest.fixture(name="program", scope="session")
def ompt_program(tmp_path_factory):
    return compiled(pathlib.Path(__file__).parent / "ompt_program.c", tmp_path_factory.mktemp("ompt") / "ompt_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda *arguments, **settings: Recorded([program, *arguments], "OMP_TOOL_LIBRARIES", tmp_path, **settings)


def test_each_thread_has_each_region_with_what_is_in_it(run):
    recorded = run("regions", "20")
    (region, count), = ((name, count) for (_, name), count in recorded.counts().items() if name.startswith("parallel "))
    assert count == 40 and "+0x" in region
    assert {name: count for (category, name), count in recorded.counts().items()
            if category == "OpenMP" and name != region} == {"loop": 40, "critical wait": 40, "barrier wait": 40}
    assert recorded.foreign() == 0
    assert {"OpenMP initial", "OpenMP worker 1"} <= recorded.threads
    assert {event["args"]["count"] for event in recorded.events if event["name"] == "loop"} == {100}
    assert {event["args"]["team size"] for event in recorded.events if event["name"] == region} == {2}


def test_a_workers_region_ends_with_the_region_and_not_when_the_worker_is_told(run):
    recorded = run("regions", "6")
    regions = [event for event in recorded.events if event["ph"] == "X" and event["name"].startswith("parallel ")]
    main, = {event["tid"] for event in recorded.events if event["name"] == "thread_name"
             and event["args"]["name"] == "OpenMP initial"}
    begins = sorted(event["ts"] for event in regions if event["tid"] == main)
    ends = sorted(event["ts"] + event["dur"] for event in regions if event["tid"] != main)
    assert len(begins) == len(ends) == 6
    # The worker hears of a region's end in the next one.
    assert all(end <= begin for end, begin in zip(ends, begins[1:]))
    waits = [event for event in recorded.events if event["name"] == "barrier wait"]
    assert len(waits) == 12 and all(any(region["tid"] == wait["tid"] and region["ts"] <= wait["ts"] and
                                        wait["ts"] + wait["dur"] <= region["ts"] + region["dur"] + 0.001
                                        for region in regions) for wait in waits)


def test_a_task_has_a_part_for_each_time_it_runs_and_an_arrow_from_its_creation(run):
    recorded = run("tasks")
    parts = [event["args"]["id"] for event in recorded.events if event["name"] == "task" and event["ph"] == "X"]
    assert parts == [1, 2, 1]
    arrows = [(event["ph"], event["id"]) for event in recorded.events if event["name"] == "task created"]
    assert sorted(arrows) == [("f", "0x1"), ("f", "0x2"), ("s", "0x1"), ("s", "0x2")]
    assert {name: count for (_, name), count in recorded.counts().items()} == {"task": 3, "taskwait": 1, "single": 1}
    assert recorded.foreign() == 1


def test_a_task_that_moves_to_another_thread_has_a_part_on_each(run):
    recorded = run("moves")
    parts = [event for event in recorded.events if event["name"] == "task" and event["ph"] == "X"]
    assert [part["args"]["id"] for part in parts] == [1, 1] and parts[0]["tid"] != parts[1]["tid"]
    assert {name: count for (_, name), count in recorded.counts().items()} == \
        {"task": 2, "taskgroup": 1, "taskgroup wait": 1, "masked": 1}
    group, wait = recorded.only("taskgroup"), recorded.only("taskgroup wait")
    assert group["ts"] <= parts[0]["ts"] and wait["ts"] + wait["dur"] <= group["ts"] + group["dur"]
    assert recorded.foreign() == 0


@pytest.mark.parametrize("sync, spans", [
    ("waits", {"critical wait": 5, "lock wait": 5}), ("none", {}),
    ("all", {"critical wait": 5, "lock wait": 5, "critical hold": 5, "lock hold": 5})])
def test_how_long_locks_are_held_is_recorded_on_request(run, sync, spans):
    recorded = run("locks", MXPROF_COLLECT_SYNC=sync)
    assert {name: count for (_, name), count in recorded.counts().items()} == {"masked": 1, **spans}
    assert recorded.foreign() == 0


def test_what_is_done_on_a_device_is_seen_on_the_thread_that_asks(run):
    recorded = run("target")
    assert recorded.only("target")["args"] == {"device": 0}
    assert recorded.only("data to device")["args"] == {"bytes": 4096, "from device": 1, "to device": 0}
    assert recorded.only("kernel submit")["args"] == {"teams": 8} and recorded.foreign() == 0
