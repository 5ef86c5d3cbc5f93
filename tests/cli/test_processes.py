# SPDX-License-Identifier: Apache-2.0
"""The command on what real processes leave behind or still write: one that is killed while it records,
workers that it has forked, one that is asked for a snapshot."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()

PROGRAM = r"""
import ctypes, os, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
USER = 16
lib.mxp_thread_name(b"main")
work, outer, inner = (lib.mxp_intern(b"app", name, 1, 0) for name in (b"work", b"outer", b"inner"))
def spans(count):
    for _ in range(count):
        lib.mxp_end(work, lib.mxp_begin(USER, work))
"""
WORKERS = PROGRAM + r"""
for i in range(2):
    if os.fork() == 0:
        spans(10 * (i + 1))
        os._exit(0)
for _ in range(2):
    os.wait()
spans(3)
lib.mxp_begin(USER, outer)
lib.mxp_begin(USER, inner)
print("ready", flush=True)
time.sleep(60)
"""
RECORDS = PROGRAM + r"""
spans(5)
print("ready", flush=True)
while True:
    spans(1)
    time.sleep(0.01)
"""


def start(program, folder, **settings):
    environment = dict(os.environ, MXNET_PROFILER_AUTOSTART="1", **settings)
    process = subprocess.Popen([sys.executable, "-c", program, BUILD / "libmxprof.so"], cwd=folder,
                               env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def run(*arguments, code=0):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(name="killed")
def killed_program(tmp_path):
    """A folder with the files of a killed process and of its two workers."""
    process = start(WORKERS, tmp_path, MXPROF_STORE="file")
    process.kill()
    process.wait()
    return tmp_path


def report_of(*arguments, code=0):
    return json.loads(run("report", "--layout", "mxnet", "--json", *arguments, code=code))


def test_report_says_that_the_process_died_and_what_was_running(killed):
    printed = run("report", "--layout", "mxnet", killed / "profile.mxp")
    assert "it died; the file holds" in printed
    lines = [line for line in printed.splitlines() if line.startswith("  running")]
    assert len(lines) == 1
    assert '"main": "outer" for' in lines[0] and ', in it "inner" for' in lines[0]
    assert "cut short" not in printed
    assert report_of(killed / "profile.mxp")["Report"]["Open Spans"] == 2
    assert "state    the process died" in run("info", killed / "profile.mxp")


def test_recovered_file_is_finished_and_holds_the_same(killed):
    printed = run("recover", killed / "profile.mxp", "-o", killed / "out.mxp")
    assert "recovered  " in printed and '"outer"' in printed
    before, after = report_of(killed / "profile.mxp"), report_of(killed / "out.mxp")
    assert after["Time"] == before["Time"]
    assert after["Time"]["app"]["work"]["Count"] == 3
    # Cut anywhere it says so: it has an END and checksums now.
    whole = (killed / "out.mxp").read_bytes()
    (killed / "cut.mxp").write_bytes(whole[:-16])
    run("info", killed / "cut.mxp", code=1)


def test_directory_is_one_trace_of_all_processes(killed):
    total = report_of(killed)
    assert total["Report"]["Processes"] == 3
    assert total["Time"]["app"]["work"]["Count"] == 3 + 10 + 20
    each = json.loads(run("report", "--layout", "mxnet", "--json", "--per-process", killed))
    assert sorted(one["Time"]["app"]["work"]["Count"] for one in each) == [3, 10, 20]
    assert each[0]["Time"]["app"]["work"]["Count"] == 3, "the parent comes first"


def test_merged_trace_keeps_processes_apart_and_times_in_order(killed):
    run("merge", killed, "-o", killed / "all.json")
    spans = {}
    for event in json.loads((killed / "all.json").read_text())["traceEvents"]:
        if event["name"] == "work":
            spans.setdefault(event["pid"], []).append(event["ts"])
    counts = {pid: len(times) for pid, times in spans.items()}
    assert sorted(counts.values()) == [3, 10, 20]
    parent = next(pid for pid, count in counts.items() if count == 3)
    # The parent waited for its workers before it did anything.
    assert min(spans[parent]) > max(max(times) for pid, times in spans.items() if pid != parent)


def test_snapshot_is_taken_and_named(tmp_path):
    process = start(RECORDS, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    try:
        first = run("snapshot", process.pid).strip()
        assert first == str(tmp_path / f"snapshot.{process.pid}.1.mxp")
        assert report_of(first)["Time"]["app"]["work"]["Count"] >= 5
        assert run("snapshot", process.pid).strip() == str(tmp_path / f"snapshot.{process.pid}.2.mxp")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_snapshot_goes_where_the_environment_says(tmp_path):
    (tmp_path / "kept").mkdir()
    process = start(RECORDS, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1",
                    MXPROF_SNAPSHOT_FILENAME="kept/last.mxp")
    try:
        assert run("snapshot", process.pid).strip() == str(tmp_path / "kept" / f"last.{process.pid}.1.mxp")
    finally:
        process.kill()
        process.wait()


def test_process_that_did_not_ask_for_it_lives_on(tmp_path):
    process = start(RECORDS, tmp_path)
    try:
        run("snapshot", process.pid, code=1)
        time.sleep(0.1)
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
