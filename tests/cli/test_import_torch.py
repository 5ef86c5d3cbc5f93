# SPDX-License-Identifier: Apache-2.0
"""What torch.profiler writes of a real training, as the command reads it: name by name what Python's json finds."""
import gzip
import json
import os
import pathlib
import subprocess

import pytest

from test_import import TORCH_SECTIONS, counters, mxprof, read, report_without_title, rows, write

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", "."))
PYTHON = (SOURCE / "build/peers-torch/bin/python").absolute()
PROGRAM = pathlib.Path(__file__).with_name("torch_trace_program.py")
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no PyTorch: scripts/setup peers installs it")


@pytest.fixture(name="trained", scope="module")
def real_trace(tmp_path_factory):
    """The trace, and the profiler's own counts."""
    path = tmp_path_factory.mktemp("torch") / "train.pt.trace.json"
    result = subprocess.run([PYTHON, "-W", "ignore", PROGRAM, path], capture_output=True, text=True, timeout=250,
                            check=True)
    return path, json.loads(result.stdout)


def test_each_name_has_the_count_and_the_time_that_json_has(trained):
    path, _ = trained
    found = rows(path)
    assert found == read(path.read_text(), TORCH_SECTIONS)
    assert {section for section, _ in found} >= {"operator", "user_annotation", "python_function", "Trace"}


def test_operators_have_the_counts_that_the_profiler_tells(trained):
    path, counts = trained
    found = {name: count for (section, name), (count, _) in rows(path).items() if section == "operator"}
    assert len(found) > 30
    assert found == {name: counts[name] for name in found}


def test_memory_is_what_the_allocations_say(trained):
    path, _ = trained
    live = [event["args"]["Total Allocated"] for event in json.loads(path.read_text())["traceEvents"]
            if event["name"] == "[memory]"]
    assert counters(path)["Device Storage", "Memory: cpu/0"] == (len(live), min(live) / 1e3, max(live) / 1e3)


def test_nothing_is_left_out_and_all_of_it_comes_through_a_conversion(trained, tmp_path):
    path, _ = trained
    told = mxprof("convert", path, "-o", tmp_path / "out.json").stderr
    assert told == b""
    assert report_without_title(tmp_path / "out.json") == report_without_title(path)
    packed = write(tmp_path / "train.json.gz", gzip.compress(path.read_bytes()))
    assert report_without_title(packed) == report_without_title(path)
    steps = [event["name"] for event in json.loads((tmp_path / "out.json").read_text())["traceEvents"]
             if event["cat"] == "step"]
    assert steps == [f"step {number}" for number in (2, 3, 4, 5)]
