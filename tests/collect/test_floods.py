# SPDX-License-Identifier: Apache-2.0
"""Floods of marks: memory stays bounded, what was left out is told, the program's result is the same."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from recorded import BUILD, COLLECTOR, Recorded, compiled

HERE = pathlib.Path(__file__).parent
LONG = os.environ.get("MXPROF_TEST_LONG") == "1"
LEAST_MIB = 40  # of what records themselves take, and the libraries


@pytest.fixture(name="program", scope="module")
def flood_program(tmp_path_factory):
    return compiled(HERE / "itt_flood_program.c", tmp_path_factory.mktemp("flood") / "itt_flood_program")


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    return lambda part, count, most_mib, **settings: Recorded(
        [program, part, str(count), str(most_mib)], "INTEL_LIBITTNOTIFY64", tmp_path, **settings)


def test_a_flood_of_names_ends_at_their_limit_and_says_whose_they_were(run):
    names, limit = (1000000, 100000) if LONG else (60000, 5000)
    recorded = run("names", names, 400 if LONG else 100, MXPROF_NAMES_LIMIT=str(limit))
    counts = recorded.counts()
    assert sum(counts.values()) == names  # each with its times
    unnamed = sum(count for (_, name), count in counts.items() if name == "<names full>")
    assert names - limit <= unnamed <= names - limit + 100
    assert f"{limit} are of category app" in recorded.info.replace(" of ", " ", 1) or \
        re.search(rf"names_full = \"\d+ of {limit} are of category app\"", recorded.info)


def test_the_end_of_a_run_says_whose_names_used_up_the_table(program, tmp_path):
    told = subprocess.run([BUILD / "mxprof", "run", "-o", tmp_path / "run", "--max-names", "500", program, "names",
                           "2000", "100"], check=True, capture_output=True, text=True, timeout=60).stderr
    assert re.search(r"^mxprof: 1,5\d\d records have no name, because names were used up: \d+ of 500 are of category "
                     r"app; --max-names gives more$", told, re.MULTILINE), told


def test_a_flood_of_ends_is_counted(run):
    ends = 10000000 if LONG else 200000
    recorded = run("ends", ends, LEAST_MIB)
    assert recorded.counts() == {("app", "only"): 1} and recorded.foreign() == 2 * ends


def test_ids_that_never_end_are_4096_and_counted_beyond(run):
    ids = 1000000 if LONG else 20000
    recorded = run("ids", ids, 200 if LONG else LEAST_MIB)
    # Those beyond are of no length; of the others a few find no place among the recorder's open ones.
    assert ids - 4096 <= recorded.counts()[("app", "never ended")] <= ids
    assert recorded.foreign() == ids - 4096


def test_begins_that_never_end_are_4096_a_thread_and_counted_beyond(run):
    begins = 1000000 if LONG else 50000
    recorded = run("begins", begins, LEAST_MIB)
    assert recorded.counts().get(("app", "deeper"), 0) <= 4096
    lost = int(re.search(r"^lost +(\d+)", recorded.info, re.MULTILINE)[1])
    assert lost == begins - recorded.counts().get(("app", "deeper"), 0)


def test_texts_of_a_megabyte_are_cut_and_broken_ones_are_replaced(run):
    recorded = run("texts", 30, LEAST_MIB)
    names = {name for _, name in recorded.counts()}
    assert {letter * 4093 + "…" for letter in "abc"} <= names
    assert "x" * 4092 + "…" in names and "broken \ufffd\ufffd\ufffd" in names
    assert recorded.counts()[("(null)", "(null)")] == 1
    told = [event["args"] for event in recorded.events if event["name"].startswith("aaa")]
    assert len(told) == 10 and all(any(value.startswith("a" * 1000) for value in args.values()) for args in told)
    assert recorded.foreign() == 31  # so many texts were cut


def test_threads_that_all_make_their_first_call_at_once(run):
    recorded = run("threads", 64, LEAST_MIB)
    assert recorded.counts() == {("app", "first"): 64} and recorded.foreign() == 0


@pytest.mark.parametrize("preloaded", [False, True])
def test_the_library_under_two_paths_records_each_mark_once(run, tmp_path_factory, preloaded):
    second = tmp_path_factory.mktemp("copy") / "another_name.so"
    shutil.copyfile(COLLECTOR.resolve(), second)
    more = {"LD_PRELOAD": str(COLLECTOR)} if preloaded else {}
    recorded = run("copies", 100, LEAST_MIB, SECOND_COPY=str(second), **more)
    assert recorded.counts() == {("app", "by the first"): 1, ("app", "by the second"): 101}
    assert recorded.foreign() == 0


def test_marks_from_inside_of_malloc(tmp_path):
    program = compiled(HERE / "itt_malloc_program.c", tmp_path / "itt_malloc_program", "-fno-builtin")
    (tmp_path / "run").mkdir()
    recorded = Recorded([program], "INTEL_LIBITTNOTIFY64", tmp_path / "run", MXPROF_COLLECT_MEMORY="1",
                        MXPROF_COLLECT_SYNC="all")
    counts = recorded.counts()
    assert counts[("allocator", "malloc")] >= 4000 and counts[("sync", "hold")] >= 4000
