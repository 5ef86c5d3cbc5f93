# SPDX-License-Identifier: Apache-2.0
"""ITT used as it should not be, or at odd moments: what is left out is told, and nothing else changes."""
import json
import os
import pathlib
import subprocess

import pytest

from recorded import COLLECTOR, Recorded, compiled, mxprof


@pytest.fixture(name="program", scope="module")
def odd_program(tmp_path_factory):
    return compiled(pathlib.Path(__file__).parent / "itt_odd_program.c", tmp_path_factory.mktemp("odd") /
                    "itt_odd_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda part: Recorded([program, part], "INTEL_LIBITTNOTIFY64", tmp_path)


def counts(recorded):
    """Without what its destructor did, which may be too late."""
    return {name: count for (_, name), count in recorded.counts().items() if name != "in a destructor"}


def test_what_never_ends_is_there_up_to_the_end(run):
    recorded = run("unended")
    assert counts(recorded) == {"open at the thread's end": 1, "open at the process's end": 1, "overlapped, open": 1}


def files_of(program, part, folder):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    environment.update({"MXPROF_RUN": str(folder), "INTEL_LIBITTNOTIFY64": str(COLLECTOR)})
    code = subprocess.run([program, part], env=environment, cwd=folder, timeout=60, check=False).returncode
    return code, {file: [event["name"] for event in json.loads(mxprof("convert", file, "-o", "-"))["traceEvents"]
                         if event["ph"] in "BX"] for file in folder.iterdir()}


def test_a_process_that_is_killed_leaves_what_it_was_at(program, tmp_path):
    code, files = files_of(program, "killed", tmp_path)
    (file, names), = files.items()
    assert code == -9 and names == ["before", "what it was at"]
    assert "what it was at" in mxprof("info", file)


def test_a_forked_child_has_its_own_file_and_its_task_open(program, tmp_path):
    code, files = files_of(program, "forked", tmp_path)
    names = sorted(sorted(set(each) - {"in a destructor"}) for each in files.values())
    assert code == 0
    assert names == [["around the fork", "in the child"], ["around the fork", "in the parent"]]
    assert all("lost     nothing" in mxprof("info", file) for file in files)


def test_handles_on_no_list_ids_that_end_twice_and_pauses_that_do_not_pair(run):
    recorded = run("strange")
    assert counts(recorded) == {"neither is its name": 1, "twice": 1, "resumed": 1, "still on": 1}
    assert recorded.foreign() == 1


def test_a_text_at_the_place_of_another_is_its_own(run):
    assert counts(run("reused")) == {"first": 3, "second": 2, "first and more": 1, "(empty)": 1}


def test_a_library_that_the_program_closes_stays(run):
    assert counts(run("closed")) == {"before": 1, "after": 1}


def test_a_handler_may_send_marks_wherever_it_interrupts(run):
    recorded = run("signals")
    found = counts(recorded)
    # What interrupts a record is counted and not recorded.
    assert found["in main"] == 100000 and found.get("in the handler", 0) > 0


def test_handlers_of_exit_are_recorded(run):
    assert counts(run("exits")) == {"before": 1, "in a handler of exit": 1}
