# SPDX-License-Identifier: Apache-2.0
"""The program of `make demo-embed`: what it leaves, and that table, trace and native trace agree. The JSON is
read by Python's parser, the trace's own counts are checked against the command's."""
import collections
import json
import os
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    result = subprocess.run([BUILD / "embed", folder], cwd=SOURCE, check=True, capture_output=True,
                            text=True, timeout=60)
    return folder, result


def mxprof(*arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], check=True, capture_output=True, text=True,
                          timeout=60).stdout


def test_profiling_takes_at_most_thirty_lines():
    lines = (SOURCE / "examples/embed.c").read_text().splitlines()
    assert sum(bool(re.search(r"\bmxp_\w+\(|\bMXP_SPAN_SCOPE\(", line)) for line in lines) <= 30


def test_leaves_three_files_and_shows_progress(demo):
    folder, result = demo
    assert sorted(path.name for path in folder.iterdir()) == ["profile.json", "profile.mxp",
                                                              "profile.txt"]
    assert "files" in result.stderr
    assert "checksum" in result.stdout


def test_table_begins_with_the_self_report(demo):
    lines = (demo[0] / "profile.txt").read_text().splitlines()
    assert re.match(r"Recorded \d+ records in \d+ bytes by \d+ threads; lost 0\.", lines[0])
    assert re.match(r"A record costs [\d.]+ ns here", lines[1])
    assert re.match(r"Clock: [\d.]+ ns a tick", lines[2])
    assert "Profile Statistics:" in lines


def test_session_and_command_print_the_same_table(demo):
    def table(text):
        # Counters' means end at the moment of printing: their last column may differ.
        kept = text[text.index("Profile Statistics:"):].split("\nFrames per second")[0]
        return [line for line in kept.rstrip().splitlines()
                if not line.startswith(("bytes read", "files waiting"))]
    assert table(mxprof("report", "--layout", "mxnet", demo[0] / "profile.mxp")) == \
        table((demo[0] / "profile.txt").read_text())


def test_trace_holds_what_the_table_counts(demo):
    trace = json.loads((demo[0] / "profile.json").read_text())
    report = json.loads(mxprof("report", "--layout", "mxnet", "--json", demo[0] / "profile.mxp"))
    counted = collections.Counter((event["cat"], event["name"]) for event in trace["traceEvents"]
                                  if event["ph"] in "XbC")
    rows = {(section, name): row["Count"]
            for section, names in report["Time"].items() for name, row in names.items()}
    assert {key: counted[key] for key in rows} == rows
    assert len({event["pid"] for event in trace["traceEvents"]}) == 1


def test_converted_trace_is_the_dumped_one(demo, tmp_path):
    mxprof("convert", demo[0] / "profile.mxp", "-o", tmp_path / "again.json")
    events = []
    for file in (demo[0] / "profile.json", tmp_path / "again.json"):
        trace = json.loads(file.read_text())
        events.append(sorted(json.dumps(event, sort_keys=True) for event in trace["traceEvents"]))
    assert events[0] == events[1]


def test_frames_have_a_rate(demo):
    report = json.loads(mxprof("report", "--layout", "mxnet", "--json", demo[0] / "profile.mxp"))
    frame, = report["Frames"]
    assert (frame["Section"], frame["Name"]) == ("Files,frame", "batch")
    assert frame["Count"] == report["Time"]["Files,frame"]["batch"]["Count"]
    assert 0 < frame["Per Second"] < 10000


def test_all_threads_are_named(demo):
    text = mxprof("info", demo[0] / "profile.mxp")
    for name in ("reader 1", "reader 2", "reader 3"):
        assert f'"{name}"' in text
    assert "lost     nothing" in text
    assert ", whole" in text
