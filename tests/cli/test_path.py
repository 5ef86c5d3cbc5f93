# SPDX-License-Identifier: Apache-2.0
"""mxprof path: of a program whose every moment is known, each piece; of the trace with the path in it, its row."""
import itertools
import json
import os
import subprocess

import pytest

import native_file
from test_whatif import BUILD, LENGTH, STEPS, US, trace

ROW = 9999999  # of the path, in the trace
# What a step consists of, from its begin: as the program of test_whatif is described.
PIECES = [("between calls", "between calls", 10), ("dispatch", "A", 5), ("run", "A", 300), ("run", "B", 200),
          ("wake", "B", 3), ("between calls", "between calls", 100)]


def run(path, *arguments, code=0):
    done = subprocess.run([BUILD / "mxprof", "path", path, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="80"), timeout=120, check=False)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(name="file")
def file_fixture(tmp_path):
    path = tmp_path / "t.mxp"
    path.write_bytes(trace().to_bytes())
    return path


def pieces_of(file, *arguments):
    process, = json.loads(run(file, "--json", *arguments).stdout)["processes"]
    return process


def test_each_piece_of_a_step(file):
    found = pieces_of(file, "--step", "2")["pieces"]
    begin = 50 * US + 2 * LENGTH * US
    ends = [begin, *(begin + US * end for end in itertools.accumulate(took for *_, took in PIECES))]
    wanted = [(what, where, *ends[i:i + 2]) for i, (what, where, _) in enumerate(PIECES)]
    assert [(p["what"], p["where"], p["from_ns"], p["to_ns"]) for p in found] == wanted


def test_sums_of_all_steps_and_their_bounds(file):
    process = pieces_of(file)
    assert process["steps"] == STEPS and process["total_ns"] == STEPS * LENGTH * US
    assert sum(process["kinds_ns"].values()) == process["total_ns"]
    assert {kind: ns for kind, ns in process["kinds_ns"].items() if ns} == {
        "run": STEPS * 500 * US, "dispatch": STEPS * 5 * US, "wake": STEPS * 3 * US,
        "between calls": STEPS * 110 * US}
    # The program itself: all but its wait from 30 us on to 518.
    assert process["bounds_ns"] == {"work": STEPS * 500 * US, "workers": 1, "dependencies": STEPS * 500 * US,
                                    "program": STEPS * (LENGTH - 488) * US}


def test_text_names_pieces_and_bounds(file):
    printed = run(file, "--step", "2").stdout
    assert "step 2: 618 µs" in printed and "the largest is that of the worker's work" in printed
    assert max(map(len, run(file).stdout.splitlines())) <= 80


def test_names_of_layers_give_the_terminal_no_orders(tmp_path):
    file = native_file.NativeFile()
    main, name = file.thread("main"), file.name("dot\x1b[31m", "operator", "span")
    file.meta(main, "step", 0, value=1)
    file.operator(main, name, 1000, 9000, 1, scope=file.name("net\x1b[31m:", 0, "scope"))
    file.meta(main, "step", 10_000, value=2)
    path = tmp_path / "orders.mxp"
    path.write_bytes(file.to_bytes())
    printed = run(path).stdout
    assert "added up: net [31m" in printed and "\x1b" not in printed


def test_the_trace_has_the_path_as_a_row_with_arrows(file, tmp_path):
    out = tmp_path / "path.json"
    run(file, "--trace", str(out))
    events = json.loads(out.read_text(encoding="utf-8"))["traceEvents"]
    row = [e for e in events if e["ph"] == "X" and e.get("cat") == "critical path"]
    assert len(row) == STEPS * len(PIECES) and {e["tid"] for e in row} == {ROW}
    for before, after in zip(row, row[1:]):
        assert after["ts"] == pytest.approx(before["ts"] + before["dur"], abs=0.0011)
    # Program to worker and back, in each step; the operators themselves are there, too.
    arrows = [e for e in events if e["ph"] in "sf" and e.get("cat") == "critical path"]
    assert len(arrows) == 2 * 2 * STEPS
    threads = {e["tid"] for e in events if e["ph"] == "X" and e.get("cat") != "critical path"}
    assert {e["tid"] for e in arrows} <= threads
    of_b = [e for e in events if e["ph"] == "X" and e["name"] == "B"]
    assert len(of_b) == 3 * STEPS and sum(e["tid"] == ROW for e in of_b) == 2 * STEPS  # it runs, and it wakes


def test_without_steps_it_is_of_all_time(tmp_path):
    file = native_file.NativeFile()
    main = file.thread("main")
    file.span(main, file.name("read", "program", "span"), 10 * US, 30 * US)
    file.span(main, file.name("write", "program", "span"), 40 * US, 90 * US)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    process = pieces_of(path)
    assert process["steps"] == 0 and "bounds_ns" not in process
    assert [(p["what"], p["where"]) for p in process["pieces"]][:3] == [
        ("span", "read"), ("between calls", "between calls"), ("span", "write")]
    text = run(path).stdout
    assert "a step" not in text and "steps" not in text and " time  share\n" in text
    assert "  10.0 µs  between calls\n" in text


def test_all_time_begins_with_the_span_around_the_first_record(tmp_path):
    file = native_file.NativeFile()
    main = file.thread("main")
    file.span(main, file.name("read", "program", "span"), 30 * US, 50 * US)
    file.span(main, file.name("main", "program", "span"), 10 * US, 90 * US)
    file.span(main, file.name("exit", "program", "span"), 90 * US, 95 * US)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    process = pieces_of(path)
    assert [(p["where"], p["to_ns"] - p["from_ns"]) for p in process["pieces"]][:3] == [
        ("main", 20 * US), ("read", 20 * US), ("main", 40 * US)]


@pytest.mark.parametrize("names, told", [(("", ""), "thread 1"), (("pool", "pool"), 'thread "pool 1"')])
def test_a_window_of_threads_without_names_of_their_own_says_which_its_path_ends_at(tmp_path, names, told):
    file = native_file.NativeFile()
    work = file.name("work", "app", "span")
    for index, name in enumerate(names):
        file.span(file.thread(name), work, 10 * US, (50 + index) * US)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    assert f"back from the end of {told} =" in run(path).stdout


def test_a_window_without_steps_is_of_one_thread_for_all_commands(tmp_path):
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("worker")
    file.span(main, file.name("accept", "program", "span"), 10 * US, 20 * US)
    file.span(worker, file.name("handle", "program", "span"), 20 * US, 100 * US)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    assert 'window of 90.0 µs, back from the end of thread "worker" =' in run(path).stdout
    explained = subprocess.run([BUILD / "mxprof", "explain", path], capture_output=True, text=True, check=False,
                               env=dict(os.environ, LC_ALL="C.UTF-8"))
    assert explained.returncode == 3 and "of the path: span 88.9%; the largest row handle 88.9%" in explained.stdout


def test_rows_that_differ_by_their_phase_alone_say_it(tmp_path):
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("worker")
    name = file.name("Reshape", "operator", "span")
    for phase, at in ((1, 10), (2, 40)):
        file.meta(main, "step", at * US, value=phase)
        file.add(worker, native_file.words(
            native_file.word0("operator", 4, file.origin + (at + 1) * US), name | phase << 32,
            30 * US | phase << 48, 1 * US | main << 48, 0, 0, 0, 0))
    file.meta(main, "step", 70 * US, value=3)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    text = run(path).stdout
    assert "Reshape (forward) " in text and "Reshape (backward) " in text


def test_where_nothing_is_recorded_is_no_path(tmp_path):
    empty = tmp_path / "empty.mxp"
    empty.write_bytes(native_file.empty().to_bytes())
    assert "nothing is recorded" in run(empty, code=3).stderr
    assert json.loads(run(empty, "--json").stdout)["processes"][0]["total_ns"] == 0


def test_what_cannot_be_answered(file, tmp_path):
    assert "step" in run(file, "--step", "77", code=2).stderr
    assert run(file, "--trace", str(tmp_path / "no/folder.json"), code=1).stderr.count("\n") == 1
