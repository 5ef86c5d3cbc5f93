# SPDX-License-Identifier: Apache-2.0
"""The NVTX injection: what a program's own loader sends is recorded, range by range."""
import os
import pathlib
import subprocess

import pytest

from recorded import Recorded, compiled

PYTHON = (pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")) / "build/peers-torch/bin/python").absolute()


@pytest.fixture(name="program", scope="session")
def nvtx_program(tmp_path_factory):
    return compiled(pathlib.Path(__file__).parent / "nvtx_program.c", tmp_path_factory.mktemp("nvtx") / "nvtx_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda *arguments: Recorded([program, *arguments], "NVTX_INJECTION64_PATH", tmp_path)


@pytest.mark.parametrize("times", ["1", "3"])
def test_ranges_of_each_domain_have_their_own_depth_and_names_in_any_alphabet(run, times):
    recorded = run("ranges", times)
    assert recorded.counts() == {("NVTX", "outer"): 100, ("NVTX", "grün 😀"): 100, ("physics", "step"): 200,
                                 ("physics", "registered"): 40, ("NVTX", "registered"): 10}
    assert recorded.foreign() == 2  # pops too many


def test_tables_that_many_threads_have_filled_at_once(run):
    recorded = run("at once")
    assert recorded.counts() == {("NVTX", "first"): 320} and recorded.foreign() == 0


def test_started_ranges_end_on_any_thread_and_marks_are_instants(run):
    recorded = run("started")
    assert recorded.counts() == {("NVTX", "request"): 2, ("net", "own"): 1}
    assert recorded.only("here", "i")["cat"] == "NVTX"
    assert recorded.foreign() == 1


def test_attributes_are_arguments_as_far_as_the_programs_header_has_them(run):
    recorded = run("told")
    assert recorded.only("full")["args"] == {"category": "input", "argb": 0xff00aa11, "payload": -7}
    assert {**recorded.only("started", "b")["args"], **recorded.only("started", "e").get("args", {})} == \
        {"id": 1, "category": 5, "argb": 0xff00aa11, "payload": 0.25}
    assert recorded.only("(no message)")["args"] == {"category": "input"}
    assert "named" in recorded.threads


PACKAGE = """
import threading
import nvtx

@nvtx.annotate("decorated", color="red", domain="app", category="inputs", payload=5)
def decorated():
    pass

for i in range(10):
    with nvtx.annotate(f"plain {i % 2}", color="blue"):
        decorated()
started = nvtx.start_range("long", domain="app")
thread = threading.Thread(target=nvtx.end_range, args=(started,))
thread.start()
thread.join()
nvtx.push_range("pushed")
nvtx.pop_range()
nvtx.mark("here")
"""


def has_package():
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", "import nvtx"], check=False,
                                              stderr=subprocess.DEVNULL).returncode == 0


@pytest.mark.skipif(not has_package(), reason="no package nvtx: scripts/setup peers installs it")
def test_nvidias_own_headers_in_its_python_package(tmp_path):
    recorded = Recorded([PYTHON, "-c", PACKAGE], "NVTX_INJECTION64_PATH", tmp_path)
    assert recorded.counts() == {("NVTX", "plain 0"): 5, ("NVTX", "plain 1"): 5, ("NVTX", "pushed"): 1,
                                 ("app", "decorated"): 10, ("app", "long"): 1}
    args = [event["args"] for event in recorded.events if event["name"] == "decorated"]
    assert all(each == {"category": "inputs", "argb": 0xff0000, "payload": 5} for each in args), args[0]
    assert recorded.only("here", "i")["cat"] == "NVTX" and recorded.foreign() == 0
