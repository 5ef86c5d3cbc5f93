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
    return lambda *arguments: Recorded([program, *arguments], "OMP_TOOL_LIBRARIES", tmp_path)


def test_each_thread_has_each_region_with_what_is_in_it(run):
    recorded = run("regions", "20")
    (region, count), = ((name, count) for (_, name), count in recorded.counts().items() if name.startswith("parallel "))
    assert count == 40 and "+0x" in region
    assert {name: count for (category, name), count in recorded.counts().items()
            if category == "OpenMP" and name != region} == {"loop": 40, "critical wait": 40, "barrier wait": 40}
    assert recorded.foreign() == 0
    assert {"OpenMP initial", "OpenMP worker 1"} <= recorded.threads
    assert {event["args"]["count"] for event in recorded.events if event["name"] == "loop"} == {100}


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
