# SPDX-License-Identifier: Apache-2.0
"""The ITT collector: what a program's own static part sends is recorded, mark by mark."""
import pathlib

import pytest

from recorded import Recorded, compiled


@pytest.fixture(name="program", scope="session")
def itt_program(tmp_path_factory):
    return compiled(pathlib.Path(__file__).parent / "itt_program.c", tmp_path_factory.mktemp("itt") / "itt_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda part: Recorded([program, part], "INTEL_LIBITTNOTIFY64", tmp_path)


def test_every_task_is_there_of_every_thread_and_of_handles_made_before(run):
    recorded = run("tasks")
    assert recorded.counts() == {("app", "outer"): 600, ("app", "inner"): 600, ("early", "made before"): 1,
                                 ("app", "(empty)"): 1, ("app", "with ids"): 1}
    assert recorded.foreign() == 0


def test_ids_are_arguments(run):
    task = run("tasks").only("with ids")
    assert task["args"] == {"id": 7, "parent": 3}


def test_ends_of_several_domains_need_not_nest_and_those_that_fit_nothing_are_counted(run):
    recorded = run("unbalanced")
    assert recorded.counts() == {("app", "first"): 1, ("other", "second"): 1, ("app", "third"): 1,
                                 ("app", "deep"): 4096, ("app", "last"): 1}
    # Five ends, an unknown id, and what was deeper than is kept.
    assert recorded.foreign() == 5 + 1 + 5000 - 4096


def test_overlapped_tasks_regions_and_frames_end_on_any_thread(run):
    recorded = run("overlapped")
    assert recorded.counts() == {("app", "request"): 1, ("app", "answer"): 1, ("app", "region"): 1,
                                 ("app", "frame"): 3}
    assert recorded.foreign() == 0
    begins = sorted(event["ts"] for event in recorded.events if event["name"] == "frame" and event["ph"] == "b")
    ends = sorted(event["ts"] for event in recorded.events if event["name"] == "frame" and event["ph"] == "e")
    assert ends[1] - begins[1] >= 2000 and ends[2] - begins[2] >= 2000


def test_markers_events_counters_and_names_of_threads(run):
    recorded = run("marks")
    assert recorded.counts() == {("event", "event"): 1}
    assert "sender" in recorded.threads
    assert recorded.only("here", "i")["s"] == "t" and recorded.only("everywhere", "i")["s"] == "g"
    values = [next(iter(event["args"].values())) for event in recorded.events if event["ph"] == "C"]
    assert values == [-3, 2, 1, 2.5]


def test_metadata_are_arguments_of_their_task(run):
    recorded = run("metadata")
    assert recorded.only("told")["args"] == {"id": 5, "size": 640, "parts[0]": 0.5, "parts[1]": 1.5, "parts.count": 2}
    assert recorded.only("inside")["args"] == {"file": "a.bin", "problem": "conv 3"}
    late = recorded.only("late")  # of no task: a moment of its own
    assert late["args"] == {"late": 640} and late["dur"] == 0
    assert recorded.foreign() == 1  # of a task that is not open


def test_a_pause_leaves_out_what_comes_until_it_ends(run):
    assert run("pauses").counts() == {("app", "seen"): 4}
