# SPDX-License-Identifier: Apache-2.0
"""The Chrome trace of `make demo-embed` in the real Perfetto UI: no import error, and exactly the slices,
counters, threads and names that were recorded, counted by `mxprof` from the native trace."""
import json
import re
import subprocess

import pytest

from viewer import BUILD, SOURCE, inspect, mxprof, needs_browser

pytestmark = needs_browser
PICTURE = SOURCE / "build/embed-perfetto.png"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([BUILD / "embed", folder], cwd=SOURCE, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def seen(demo, tmp_path_factory):
    """What the viewer says about the trace."""
    bounds = json.loads(mxprof("report", "--layout", "mxnet", "--json", demo / "profile.mxp"))["Report"]["Seconds"] * 1e9
    return inspect(tmp_path_factory.mktemp("task"), demo / "profile.json", PICTURE, bounds * 0.5,
                   bounds * 0.5 + 25e6)


@pytest.fixture(scope="module")
def recorded(demo):
    return json.loads(mxprof("report", "--layout", "mxnet", "--json", demo / "profile.mxp"))


@pytest.fixture(scope="module")
def info(demo):
    return mxprof("info", demo / "profile.mxp")


# The counters that examples/embed.c sets.
COUNTERS = {("Files", "bytes read"), ("Files", "files waiting")}


def rows(recorded, counters):
    """(section, name) -> count: the table's counters, or all other rows."""
    return {(section, name): row["Count"]
            for section, names in recorded["Time"].items() for name, row in names.items()
            if ((section, name) in COUNTERS) == counters}


def test_nothing_was_refused(seen):
    assert seen["importErrors"] == []
    assert seen["pageErrors"] == []


def test_nothing_was_lost(recorded):
    assert recorded["Report"]["Lost"] == 0
    assert recorded["Report"]["Damaged"] is False


def test_slices_are_those_recorded(seen, recorded, info):
    shown = {(row["category"], row["name"]): row["n"] for row in seen["answers"]["slices"]}
    durations = rows(recorded, counters=False)
    marks = {("Files,instant_marker", "all files counted"): 1,
             ("mxprof", "profiler run"): 1, ("mxprof", "profiler stop"): 1}
    steps = {("step", f"step {i}"): 1 for i in range(durations["Files,frame", "batch"])}
    assert shown == {**durations, **marks, **steps}
    assert sum(durations.values()) == int(re.search(r"(\d+)  spans", info).group(1))
    assert len(durations) >= 7


def test_slices_nest_and_end(seen):
    assert seen["answers"]["nesting"] == [{"n": 0}]
    assert seen["answers"]["unended"] == [{"n": 0}]


def test_counters_are_those_recorded(seen, recorded, info):
    shown = {row["name"]: row["n"] for row in seen["answers"]["counters"]}
    expected = rows(recorded, counters=True)
    assert len(expected) == len(COUNTERS)
    assert shown == {f"{name} {name}": count for (_, name), count in expected.items()}
    assert sum(expected.values()) == int(re.search(r"(\d+)  counter samples", info).group(1))
    largest = max(row["largest"] for row in seen["answers"]["counters"])
    assert largest == recorded["Time"]["Files"]["bytes read"]["Max"]


def test_threads_are_those_recorded(seen, info):
    threads = {int(tid): json.loads(name)
               for tid, name in re.findall(r'^ +\d+ +(\d+) .* (".*")$', info, re.MULTILINE)}
    assert sorted(threads.values())[-3:] == ["reader 1", "reader 2", "reader 3"]
    shown = {row["tid"]: row["name"] for row in seen["answers"]["threads"]}
    assert shown.pop(0, None) is None  # the viewer's own
    lanes = {tid: shown.pop(tid) for tid in list(shown) if tid not in threads}
    assert shown == threads
    assert sorted(lanes.values()) == ["Files", "Files,frame"]


def test_process_is_the_one_recorded(seen, recorded):
    assert seen["answers"]["processes"] == [{"pid": recorded["Report"]["Process"]}]


def test_picture_was_taken(seen):
    assert PICTURE.stat().st_size > 10000
