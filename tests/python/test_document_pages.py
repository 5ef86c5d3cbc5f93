# SPDX-License-Identifier: Apache-2.0
"""What the documents say of the Python package: names exist, and the programs of docs/mxnet-programs.md give its counts."""
import os
import re
import subprocess
import sys

import pytest

import mxnet as mx
from python_program import SOURCE

PAGES = {page: page.read_text(encoding="utf-8") for page in [SOURCE / "README.md", *(SOURCE / "docs").rglob("*.md")]}
PROGRAMS = re.findall(r"^```python\n(import mxnet as mx\n.*?)^```", PAGES[SOURCE / "docs/mxnet-programs.md"], re.MULTILINE | re.DOTALL)
BUILD = os.environ.get("MXPROF_BUILD", SOURCE / "build/release")


def test_names_of_the_profiler_in_running_text_exist():
    found = {(page.name, name) for page, text in PAGES.items() if page.name != "migration.md"  # that one has MXNet's
             for name in re.findall(r"`(?:mx\.)?profiler\.(?!h`)(\w+)[(`]", text)}
    assert len(found) > 5
    assert sorted(pair for pair in found if not hasattr(mx.profiler, pair[1])) == []


def run(folder, program, **variables):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MXPROF_AUTOSTART")}
    environment |= {"PYTHONPATH": str(SOURCE / "python"), **variables}
    return subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, check=True, capture_output=True, text=True,
                          timeout=120).stdout


def test_the_script_as_it_is_has_the_counts_of_the_page(tmp_path):
    run(tmp_path, PROGRAMS[0], MXNET_PROFILER_AUTOSTART="1", MXPROF_NATIVE_FILENAME="run.mxp")
    printed = subprocess.run([f"{BUILD}/mxprof", "report", "run.mxp"], cwd=tmp_path, check=True, capture_output=True, text=True,
                             timeout=60).stdout
    shown = dict(re.findall(r"^(dot|_ones|DeleteVariable|WaitForVar|MXNDArraySyncCopyToCPU|MXImperativeInvoke) +(\d+) ",
                            PAGES[SOURCE / "docs/mxnet-programs.md"], re.MULTILINE))
    assert len(shown) == 6
    for name, count in shown.items():
        assert re.search(rf"^{name} +{count} ", printed, re.MULTILINE), printed


def test_the_program_with_a_task_prints_a_table(tmp_path):
    printed = run(tmp_path, PROGRAMS[1])
    for row in ("dot +1 ", "_ones +2 ", "part +1 "):
        assert re.search("^" + row, printed, re.MULTILINE), printed
    assert (tmp_path / "trace.json").stat().st_size > 0


@pytest.mark.parametrize("of", ["MXImperativeInvoke", "dot"])
def test_the_sentence_below_has_the_figures_of_the_box(of):
    page = PAGES[SOURCE / "docs/mxnet-programs.md"]
    took = re.search(rf"^{of} +\d+ +([\d.]+) ms", page, re.MULTILINE)[1]
    assert f"{float(took):.1f} ms" in " ".join(page.split()).split("Most of this time")[1].split(" ## ")[0]
