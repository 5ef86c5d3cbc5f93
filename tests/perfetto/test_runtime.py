# SPDX-License-Identifier: Apache-2.0
"""The Chrome traces of `make demo` in the real Perfetto UI: the walk-through's and that of the training."""
import json
import subprocess

import pytest

from viewer import BUILD, SOURCE, inspect, mxprof, needs_browser

pytestmark = needs_browser
PICTURES = SOURCE / "build"

QUERIES = {
    # Slices with the thread they are on and what they are inside of.
    "places": """select slice.category as category, thread.name as thread, parent.name as parent,
                 count(*) as n from slice join thread_track track on slice.track_id = track.id
                 join thread using (utid) left join slice parent on slice.parent_id = parent.id
                 where slice.name != 'DeleteVariable'
                 group by slice.category, thread.name, parent.name""",
    "members": """select count(*) as n from slice member join args using (arg_set_id)
                  where args.key = 'args.bulk'""",
}


@pytest.fixture(scope="module", name="folder")
def folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    for program in ("trace", "train"):
        subprocess.run([BUILD / program, folder], cwd=folder, check=True, capture_output=True, timeout=120)
    return folder


def step_of(folder, number):
    events = json.loads((folder / "profile.json").read_text())["traceEvents"]
    times = [1000 * event["ts"] for event in events if event["name"] == "step" and event["ph"] in "be"]
    return sorted(times)[2 * number:2 * number + 2]


@pytest.fixture(scope="module", name="training")
def training_fixture(folder, tmp_path_factory):
    begin_ns, end_ns = step_of(folder, 20)
    margin_ns = 0.03 * (end_ns - begin_ns)
    return inspect(tmp_path_factory.mktemp("task"), folder / "profile.json", PICTURES / "demo-perfetto.png",
                   begin_ns - margin_ns, end_ns + margin_ns, QUERIES, height=570)


@pytest.fixture(scope="module", name="walk")
def walk_fixture(folder, tmp_path_factory):
    return inspect(tmp_path_factory.mktemp("task"), folder / "trace_profile.json",
                   PICTURES / "trace-perfetto.png", 0, 0, QUERIES, height=520)


@pytest.fixture(scope="module", name="sections")
def sections_fixture(folder):
    return json.loads(mxprof("report", "--layout", "mxnet", "--json", folder / "profile.mxp"))


def test_nothing_was_refused(training, walk):
    for seen in (training, walk):
        assert seen["importErrors"] == []
        assert seen["pageErrors"] == []
        assert seen["answers"]["nesting"] == [{"n": 0}]
        assert seen["answers"]["unended"] == [{"n": 0}]


def test_slices_and_counters_are_those_of_the_table(training, sections):
    shown = {row["name"]: row["n"] for row in training["answers"]["slices"]}
    # The viewer shows a counter as its name and, again, the name of its value.
    shown |= {row["name"][:len(row["name"]) // 2]: row["n"] for row in training["answers"]["counters"]}
    rows = {name: row["Count"] for kind in ("Time", "Memory") for section in sections[kind].values()
            for name, row in section.items()}
    assert {name: shown.get(name) for name in rows} == rows


def test_calls_and_operators_are_on_rows_of_their_own(training, walk):
    for seen, program in ((training, "train"), (walk, "trace")):
        threads = {(row["category"], row["thread"]) for row in seen["answers"]["places"]}
        assert ("MXNET_C_API", program) in threads
        assert ("operator", "compute worker") in threads
        assert ("MXNET_C_API", "compute worker") not in threads


def test_members_of_a_bulk_are_inside_it(training):
    inside = sum(row["n"] for row in training["answers"]["places"] if row["parent"] == "ImperativeBulk")
    assert training["answers"]["members"] == [{"n": inside}]
    assert inside >= 40 * 10  # a bulk a step, with the gradients of ten operators
