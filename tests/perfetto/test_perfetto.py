# SPDX-License-Identifier: Apache-2.0
"""The demo's Chrome trace in the real Perfetto UI, in headless Chromium: no import error, and exactly the
slices, counters, threads and names that were recorded, counted by `mxprof` from the native trace.
`make browser` installs what this needs; without it the test is skipped and says so."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
UI = SOURCE / "build/perfetto/web_dist"
MODULES = SOURCE / "build/browser"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")
PICTURE = SOURCE / "build/demo-perfetto.png"

missing = [what for what, there in {
    "chromium": CHROMIUM, "node": NODE, "the Perfetto UI": UI.is_dir(),
    "playwright-core": (MODULES / "node_modules/playwright-core").is_dir()}.items() if not there]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)} (make browser)")

QUERIES = {
    "slices": "select category, name, count(*) as n from slice group by category, name",
    "counters": """select track.name as name, count(*) as n, max(value) as largest
                   from counter join counter_track track on counter.track_id = track.id
                   group by track.name""",
    "threads": "select tid, name from thread",
    "processes": "select pid from process where pid != 0",
    "nesting": """select count(*) as n from slice child join slice parent on child.parent_id = parent.id
                  where child.ts < parent.ts or child.ts + child.dur > parent.ts + parent.dur""",
    "unended": "select count(*) as n from slice where dur < 0",
}


def mxprof(*arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], check=True, capture_output=True, text=True,
                          timeout=120).stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    subprocess.run([BUILD / "embed", folder], cwd=SOURCE, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def seen(demo, tmp_path_factory):
    """What the viewer says about the trace."""
    bounds = json.loads(mxprof("report", "--json", demo / "profile.mxp"))["Report"]["Seconds"] * 1e9
    task = {"ui": str(UI), "modules": str(MODULES), "chromium": CHROMIUM,
            "trace": str(demo / "profile.json"), "queries": QUERIES, "picture": str(PICTURE),
            "picture_from": int(bounds * 0.5), "picture_to": int(bounds * 0.5 + 25e6),
            "expand": [""], "width": 1400, "height": 640}
    file = tmp_path_factory.mktemp("task") / "task.json"
    file.write_text(json.dumps(task))
    result = subprocess.run([NODE, pathlib.Path(__file__).with_name("check.mjs"), file],
                            capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def recorded(demo):
    return json.loads(mxprof("report", "--json", demo / "profile.mxp"))


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
