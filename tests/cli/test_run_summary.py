# SPDX-License-Identifier: Apache-2.0
"""What mxprof run says at the end: own times, what was lost, what to type, and what could be done."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

from run_programs import BUILD, MXPROF, compiled, recording, run

COLLECT = pathlib.Path(__file__).parent.parent / "collect"

NESTED = """
import ctypes, sys, threading, time
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
outer, inner = (lib.mxp_intern(b"app", text, 1, 0) for text in (b"outer", b"inner\\nmost"))
def nest():
    for _ in range(3):
        first = lib.mxp_begin(16, outer)
        for _ in range(2):
            second = lib.mxp_begin(16, inner)
            time.sleep(0.002)
            lib.mxp_end(inner, ctypes.c_uint64(second))
        lib.mxp_end(outer, ctypes.c_uint64(first))
other = threading.Thread(target=nest)
other.start()
nest()
other.join()
"""


def nested():
    return [sys.executable, "-c", NESTED, str(BUILD / "libmxprof.so")]


def totals(folder):
    report = subprocess.run([MXPROF, "report", "--layout", "mxnet", "--json", "out"], cwd=folder, capture_output=True, text=True, timeout=60,
                            check=True)
    return {name: row["Total"] for section in json.loads(report.stdout)["Time"].values()
            for name, row in section.items()}


def test_rows_have_own_time_which_adds_up(tmp_path):
    result = run(tmp_path, "-o", "out", "--json", *nested())
    summary = json.loads(result.stdout)
    own = {row["Name"]: row["Own ms"] for row in summary["Rows"]}
    counts = {row["Name"]: row["Count"] for row in summary["Rows"]}
    total = totals(tmp_path)
    assert counts == {"outer": 6, "inner\nmost": 12}
    assert own["inner\nmost"] == pytest.approx(total["inner\nmost"], abs=1e-3)
    assert own["outer"] == pytest.approx(total["outer"] - total["inner\nmost"], abs=1e-3)
    assert [row["Name"] for row in summary["Rows"]] == ["inner\nmost", "outer"]
    assert summary["Exit Code"] == 0 and summary["Spans"] == 18 and summary["Categories"] == {"app": 18}
    for row in summary["Rows"]:
        assert row["Percent of Run"] == pytest.approx(row["Own ms"] / summary["Seconds"] / 10)


def test_the_table_is_short_and_each_name_on_a_line(tmp_path):
    lines = run(tmp_path, "-o", "out", *nested()).stderr.splitlines()
    assert len(lines) == 7 and "1 process, 18 spans, 2 names; lost nothing" in lines[0]
    assert lines[1] == "mxprof: marks from app (18)"
    assert lines[2].split() == ["own", "ms", "of", "run", "count", "name"]
    assert re.fullmatch(r" +[0-9.]+ +[0-9.]+ % +12  inner most", lines[3])
    assert lines[5].startswith("mxprof: cost about ")
    assert lines[6] == "mxprof: next   mxprof report out   |   mxprof convert out -o trace.json"


@pytest.mark.parametrize("rows, names", [("1", 1), ("0", 0), ("none", 0), ("40", 2)])
def test_the_number_of_rows_is_the_users(tmp_path, rows, names):
    lines = run(tmp_path, "-o", "out", "--summary", rows, *nested()).stderr.splitlines()
    others = [line.split()[-4:] for line in lines if line.endswith("(1 other name)")]
    assert others == ([["6", "(1", "other", "name)"]] if rows == "1" else [])
    assert sum(" % " in line for line in lines) == names + len(others)
    assert len(lines) == 4 + (names > 0) + names + len(others)


def test_a_folder_with_odd_characters_is_told_as_it_can_be_typed(tmp_path):
    result = run(tmp_path, "-o", "it's out", *recording(3))
    command = re.search(r"next +(mxprof report .*?)   \|", result.stderr)[1].replace("mxprof", str(MXPROF), 1)
    assert "work" in subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True).stdout


def test_what_takes_longer_than_two_seconds_is_left_to_the_command_that_is_named(tmp_path):
    """A pipe among the files: whoever opens it waits for ever."""
    result = run(tmp_path, "-o", "out", "--json", "sh", "-c", 'mkfifo "$MXPROF_RUN/slow.mxp"; exit 3')
    assert result.returncode == 3
    assert "there is more than can be added up in 2 s\nmxprof: next   mxprof report out " in result.stderr
    summary = json.loads(result.stdout)
    assert summary["Complete"] is False and summary["Exit Code"] == 3 and "Rows" not in summary


def test_a_file_that_is_no_trace_changes_nothing(tmp_path):
    result = run(tmp_path, "-o", "out", "sh", "-c", 'echo no trace > "$MXPROF_RUN/odd.mxp"; exit 3')
    assert result.returncode == 3 and "what was recorded could not be added up" in result.stderr


def test_ends_without_a_begin_are_told_and_are_no_loss(tmp_path):
    program = compiled(tmp_path, "marks", (COLLECT / "itt_program.c").read_text(),
                       f"-I{COLLECT}", "-ldl", "-pthread")
    result = run(tmp_path, "-o", "out", program, "unbalanced")
    assert "; 910 marks that fit nothing, as ends without a begin\n" in result.stderr
    assert "lost nothing" in result.stderr


def test_a_process_that_is_left_behind_is_told(tmp_path):
    script = '"$@" > /dev/null 2>&1 & until ls "$MXPROF_RUN"/*.mxp; do sleep 0.05; done'
    program = recording(5)
    program[2] += "import time; time.sleep(3)"
    result = run(tmp_path, "-o", "out", "sh", "-c", script, "sh", *program)
    pid, = re.findall(r"mxprof: process (\d+) still runs and records: 'mxprof report out' reads", result.stderr)
    assert f".{pid}.mxp" in result.stdout


def test_nothing_recorded_is_followed_by_what_could_be_done(tmp_path):
    result = run(tmp_path, "--json", "true")
    assert "; nothing was recorded\n" in result.stderr and "What could be done:" in result.stderr
    assert "<mxprof/record.h>" in result.stderr
    assert json.loads(result.stdout)["Rows"] == []
    assert list(tmp_path.iterdir()) == []


def test_advice_is_by_what_the_program_is_linked_with(tmp_path):
    program = compiled(tmp_path, "gcc_openmp", "int omp_get_num_threads(void);"
                                              "int main(void) { return omp_get_num_threads() - 1; }", "-fopenmp")
    assert "GCC's OpenMP" in run(tmp_path, program).stderr
    (tmp_path / "script").write_text(f"#!/usr/bin/env -S {program} x\n")
    (tmp_path / "script").chmod(0o755)
    assert "GCC's OpenMP" in run(tmp_path, "./script").stderr


def test_a_python_program_is_told_of_its_functions_however_python_is_found(tmp_path):
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    for python in (sys.executable, "./python3"):
        said = run(tmp_path, python, "-c", "1").stderr
        assert "--python records Python's functions" in said and "-finstrument-functions" not in said
        assert "a script of MXNet must import this project's mxnet: python -m mxprof says which one it does\n" in said
    said = run(tmp_path, "--python", "sh", "-c", "exit").stderr
    assert "--python records" not in said and "MXNet" not in said


def test_who_starts_programs_without_their_variables_is_told_where_mxprof_run_goes(tmp_path):
    (tmp_path / "clean").write_text(f'#!/bin/sh\nexec env -i {sys.executable} "$@"\n')
    (tmp_path / "clean").chmod(0o755)
    for before in (["env", "-i", sys.executable], ["./clean"]):
        said = run(tmp_path, *before, "-c", "1").stderr
        assert "nothing was recorded" in said and "mxprof run goes before those" in said
        assert "--python records" in said and "-finstrument-functions" not in said
    assert "1 process, " in run(tmp_path, "env", "-i", MXPROF, "run", "--python", sys.executable, "-c", "1").stderr
    assert "mxprof run goes before" not in run(tmp_path, sys.executable, "-c", "1").stderr


def test_a_program_in_c_is_told_of_its_functions(tmp_path):
    text = "int work(int x) { return x + 1; } int main(void) { return work(-1); }"
    plain, hooked = compiled(tmp_path, "plain", text), compiled(tmp_path, "hooked", text, "-finstrument-functions")
    assert "compiled with -finstrument-functions, each of its functions is a span" in run(tmp_path, plain).stderr
    assert "its functions call hooks" in run(tmp_path, "--marks", "-functions", hooked).stderr
    assert "1 process, 2 spans" in run(tmp_path, hooked).stderr
