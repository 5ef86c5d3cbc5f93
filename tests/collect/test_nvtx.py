# SPDX-License-Identifier: Apache-2.0
"""The NVTX injection: what a program's own loader sends is recorded, range by range."""
import pathlib

import pytest

from recorded import Recorded, compiled


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
