# SPDX-License-Identifier: Apache-2.0
"""What the command says of a ring: since when it holds each thread's records, how much made room, and
from which moment on a table counts."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()

PROGRAM = r"""
import ctypes, os, signal, sys, threading, time
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
early, late = (lib.mxp_intern(b"app", name, 1, 0) for name in (b"early", b"late"))
def spans(name, count):
    for _ in range(count):
        lib.mxp_end(name, lib.mxp_begin(16, name))
for _ in range(5):
    thread = threading.Thread(target=spans, args=(early, 100))
    thread.start()
    thread.join()
spans(late, 200000)
if sys.argv[2] == "waits":  # until those that ended have made room
    time.sleep(1.2)
    spans(late, 500)
if sys.argv[2] != "ends":
    os.kill(os.getpid(), signal.SIGKILL)
"""


def mxprof(*arguments):
    result = subprocess.run([BUILD / "mxprof", *arguments], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result


@pytest.fixture(name="ring", params=["file dies", "file waits", "file ends", "memory ends"])
def ring_of_a_process(request, tmp_path):
    store, how = request.param.split()
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
    environment.update(MXNET_PROFILER_AUTOSTART="1", MXPROF_STORE=store, MXPROF_FULL_POLICY="ring",
                       MXPROF_MEMORY_LIMIT_BYTES=str(1 << 20), MXPROF_NATIVE_FILENAME="ring.mxp")
    subprocess.run([sys.executable, "-c", PROGRAM, BUILD / "libmxprof.so", how], cwd=tmp_path,
                   env=environment, check=False, timeout=60)
    return tmp_path / "ring.mxp"


def threads_of(info):
    lines = info.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:2] == ["index", "tid"])
    assert "held since" in lines[first]
    rows = []
    for line in lines[first + 1:]:
        match = re.match(r" +(\d+) +\d+ +[\d.]+ +(?:running|[\d.]+) +(no more|[\d.]+) +(\d+) +\d+ ", line)
        if match is None:
            return rows
        rows.append((match[2], int(match[3])))
    return rows


def test_info_tells_what_a_ring_holds(ring):
    info = mxprof("info", ring).stdout
    assert re.search(r"^ring     1 MiB; holds the last \d+\.\d{3} s of all threads; .*older records "
                     "made room", info, re.MULTILINE)
    total = int(re.search(r"^records  (\d+) in", info, re.MULTILINE)[1])
    threads = threads_of(info)
    # Of a process that died the pages of threads that had ended may be those of later ones.
    forgotten = re.search(r"^ +(\d+) that ended have nothing in the file any more$", info, re.MULTILINE)
    assert len(threads) + int(forgotten[1] if forgotten else 0) == 6
    assert sum(records for _, records in threads) == total
    main = max(threads, key=lambda thread: thread[1])
    assert main[1] > 10000, "the main thread's are nearly all"
    for since, records in threads:
        assert (since == "no more") == (records == 0)
        assert since == "no more" or float(since) <= float(main[0])


def test_the_cost_is_that_of_all_that_was_recorded(ring):
    """Also of what has made room. A process that dies has not told it."""
    info = mxprof("info", ring).stdout
    cost = re.search(r'estimated_overhead_ns = "([\d.]+)"', info)
    each = float(re.search(r'record_cost_ns = "([\d.]+)"', info)[1])
    if cost is None:
        assert "the process died" in info
    else:
        assert 200500 * each <= float(cost[1]) < 200600 * each


def test_a_table_counts_from_where_all_threads_are_covered(ring):
    held = max(records for _, records in threads_of(mxprof("info", ring).stdout))
    report = mxprof("report", "--layout", "mxnet", ring).stdout
    assert "counted from" in report
    rows = {line.split()[0]: int(line.split()[1]) for line in report.splitlines()
            if line.startswith(("early", "late"))}
    assert "early" not in rows
    assert held - 50 <= rows["late"] <= held  # scopes, states and values that stand are no spans


def test_a_path_is_of_where_all_threads_are_covered(ring):
    report = mxprof("report", ring).stdout
    whole, = re.findall(r"^(.+) of time, no steps", report, re.M)
    since, = re.findall(r"counted from (\S+ s) on", report)
    text = mxprof("path", ring).stdout
    note, head = text.splitlines()[:2]
    assert note == f"a ring: counted from {since} on, where all threads are there"
    assert head.startswith(f"window of {whole}") and "early" not in text
    explained = subprocess.run([BUILD / "mxprof", "explain", ring], capture_output=True, text=True, check=False)
    assert explained.returncode == 3 and explained.stdout.startswith(note + "\n" + whole + " without marked steps")


STEPS = r"""
import ctypes, sys, threading
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
work = lib.mxp_intern(b"app", b"work", 1, 0)
turn = threading.Barrier(2)
def spans():
    for _ in range(100):
        turn.wait()
        for _ in range(2000):
            lib.mxp_end(work, lib.mxp_begin(16, work))
        turn.wait()
threading.Thread(target=spans).start()
for number in range(100):
    lib.mxp_step(ctypes.c_uint64(number))
    turn.wait()
    turn.wait()
"""


def test_runs_are_compared_where_all_threads_are_covered(tmp_path):
    """The thread that marks the steps has all of them; of the other's work the ring holds the last third."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
    environment.update(MXNET_PROFILER_AUTOSTART="1", MXPROF_STORE="memory", MXPROF_FULL_POLICY="ring",
                       MXPROF_MEMORY_LIMIT_BYTES=str(1 << 20))
    for name in ("a.mxp", "b.mxp"):
        subprocess.run([sys.executable, "-c", STEPS, BUILD / "libmxprof.so"], cwd=tmp_path, check=True, timeout=60,
                       env={**environment, "MXPROF_NATIVE_FILENAME": name})
    command = [BUILD / "mxprof", "diff", "--json", tmp_path / "a.mxp", "--", tmp_path / "b.mxp"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert len(re.findall(r"note: '.*/[ab]\.mxp' is a ring: counted from \d\S* s on", result.stderr)) == 2
    (run,) = json.loads(result.stdout)["runs"]["before"]
    steps = json.loads(mxprof("report", "--json", tmp_path / "a.mxp").stdout)["steps"]
    assert run["steps"] == sum(step["chosen"] for step in steps) and 10 < run["steps"] < 60


def test_a_table_in_a_file_says_that_threads_cover_different_times(ring, tmp_path):
    result = mxprof("convert", ring, "-o", tmp_path / "table.csv")
    assert "may cover different times" in result.stderr


def test_a_trace_that_is_no_ring_says_nothing_of_one(tmp_path):
    import native_file  # pylint: disable=import-outside-toplevel
    (tmp_path / "sample.mxp").write_bytes(native_file.sample().to_bytes())
    for command in ("info", "report"):
        assert "ring " not in mxprof(command, tmp_path / "sample.mxp").stdout
