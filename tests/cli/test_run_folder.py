# SPDX-License-Identifier: Apache-2.0
"""MXPROF_RUN: every process records into its own file of the folder, whatever it configures."""
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])

BEGIN = """
import ctypes, os, signal, sys
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_session_get.restype, lib.mxp_begin.restype = ctypes.c_void_p, ctypes.c_uint64
session = ctypes.c_void_p(lib.mxp_session_get())
def spans(text, count):
    name = lib.mxp_intern(b"app", text, 1, 0)
    for _ in range(count):
        lib.mxp_end(name, ctypes.c_uint64(lib.mxp_begin(16, name)))
def configure(**pairs):
    keys = (ctypes.c_char_p * len(pairs))(*[key.encode() for key in pairs])
    values = (ctypes.c_char_p * len(pairs))(*[str(value).encode() for value in pairs.values()])
    assert lib.mxp_session_configure_pairs(session, len(pairs), keys, values) == 0
"""


def run(tmp_path, program, folder=None, **environment):
    """Runs the program in tmp_path/work with its run's folder in tmp_path/run."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    (tmp_path / "run").mkdir(exist_ok=True)
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
    clean.update(MXPROF_RUN=str(tmp_path / "run") if folder is None else folder, **environment)
    return subprocess.run([sys.executable, "-c", BEGIN + program, BUILD / "libmxprof.so"],
                          cwd=work, env=clean, capture_output=True, text=True, timeout=60,
                          check=False)


def counts(tmp_path):
    """The counts by name of each file in the run's folder, and whether the process ended it."""
    found = []
    for path in sorted((tmp_path / "run").iterdir()):
        assert path.suffix == ".mxp"
        table = subprocess.run([BUILD / "mxprof", "convert", path, "-o", "-", "--to", "json"],
                               capture_output=True, text=True, timeout=60, check=True)
        rows = {name: row["Count"] for section in json.loads(table.stdout)["Time"].values()
                for name, row in section.items()}
        info = subprocess.run([BUILD / "mxprof", "info", path], capture_output=True, text=True,
                              timeout=60, check=True)
        found.append((rows, "the process died" not in info.stdout))
    return found


def test_what_a_program_says_of_its_own_profile_does_not_count_for_the_run(tmp_path):
    result = run(tmp_path, """
spans(b"before", 3)
configure(filename="own.json", native_filename="elsewhere.mxp", store="memory",
          statistics_only=1, full_policy="drop")
configure(filename="own.json", memory_limit_bytes=1 << 20)
lib.mxp_session_run(session)
spans(b"within", 5)
lib.mxp_session_stop(session)
assert lib.mxp_session_dump(session, 1) == 0, ctypes.c_char_p(lib.mxp_last_error()).value
spans(b"after", 7)
assert lib.mxp_session_dump(session, 1) != 0
spans(b"after", 2)
""")
    assert result.returncode == 0 and result.stderr == ""
    assert counts(tmp_path) == [({"before": 3, "within": 5, "after": 9}, True)]
    assert os.listdir(tmp_path / "work") == ["own.json"]
    names = [event["name"] for event in json.loads((tmp_path / "work/own.json").read_text())[
        "traceEvents"] if event["ph"] in "BX"]
    assert names.count("within") == 5


def test_a_pause_counts(tmp_path):
    result = run(tmp_path, """
spans(b"before", 3)
lib.mxp_session_pause(session, 1)
spans(b"paused", 5)
lib.mxp_session_pause(session, 0)
spans(b"after", 7)
""")
    assert result.returncode == 0 and result.stderr == ""
    assert counts(tmp_path) == [({"before": 3, "after": 7}, True)]
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize("program", ["", "configure(filename='none')"])
def test_a_process_that_records_nothing_leaves_no_file(tmp_path, program):
    result = run(tmp_path, program)
    assert result.returncode == 0 and result.stderr == ""
    assert counts(tmp_path) == []


def test_a_program_that_begins_itself_anew_and_one_that_forks_have_a_file_for_each(tmp_path):
    # The second program's arguments: the library, a word, the text of the first.
    result = run(tmp_path, """
spans(b"first", 3)
if len(sys.argv) < 4:
    if os.fork() == 0:
        configure(filename="none")
        spans(b"child", 4)
        sys.exit()
    os.wait()
    os.execv(sys.executable, [sys.executable, "-c",
             "import sys; exec(sys.argv[3])", sys.argv[1], "again",
             open("/proc/self/cmdline").read().split(chr(0))[2]])
""")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    found = [rows for rows, _ in counts(tmp_path)]
    assert found.count({"first": 3}) == 2 and found.count({"child": 4}) == 1


def test_a_program_that_is_killed_has_what_it_recorded(tmp_path):
    result = run(tmp_path, """
spans(b"work", 1000)
os.kill(os.getpid(), signal.SIGKILL)
""")
    assert result.returncode == -signal.SIGKILL
    assert counts(tmp_path) == [({"work": 1000}, False)]


def test_a_folder_that_is_no_whole_path_is_told_and_nothing_is_written(tmp_path):
    result = run(tmp_path, "spans(b'work', 3)", folder="run")
    assert result.returncode == 0
    assert "MXPROF_RUN='run' is ignored: give the whole path of a folder" in result.stderr
    assert counts(tmp_path) == [] and os.listdir(tmp_path / "work") == []


def test_a_folder_that_is_called_like_a_pattern_is_none(tmp_path):
    folder = tmp_path / "{role} %p%q%%"
    folder.mkdir()
    result = run(tmp_path, "spans(b'work', 3)", folder=str(folder))
    assert result.returncode == 0 and result.stderr == ""
    file, = folder.iterdir()
    table = subprocess.run([BUILD / "mxprof", "report", file], capture_output=True, text=True, timeout=60, check=True)
    assert "work" in table.stdout


def test_a_letter_that_stands_for_nothing_in_a_name_is_told_once(tmp_path):
    result = run(tmp_path, """
for _ in range(2):
    configure(filename="a%q%%z.json", native_filename="b%p.mxp")
spans(b"work", 3)
""", folder=str(tmp_path / "run"), MXPROF_RUN_PROCESS="1")
    assert result.returncode == 0
    assert result.stderr == ("mxprof: filename 'a%q%%z.json': %q stands for nothing and stays in the name; "
                             "%p %r %t %n %h do, and %% is a percent sign\n")
