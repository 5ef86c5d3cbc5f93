# SPDX-License-Identifier: Apache-2.0
"""mxprof whatif: predictions for a program whose every moment is known, and what it refuses to predict."""
import json
import os
import pathlib
import subprocess

import pytest

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
US = 1000
# A step: the program pushes A at 10 us and B at 20 us, waits from 30 us on and works for 100 us behind it. The
# worker takes 5 us to wake up, runs A for 300 us, then B for 200 us; the program is back 3 us later.
LENGTH = 10 + 5 + 300 + 200 + 3 + 100
STEPS = 6


def operator(file, thread, name, number, push, start, end, ready=None, released_by=0, uses=(), scope=0, cost=0, pushed_by=0):
    ready = push if ready is None else ready
    words = native_file.words(
        native_file.word0("operator", 4, file.origin + start), name | number << 32, (end - start) | 1 << 48,
        (start - push) | pushed_by << 48, (start - ready) | len(uses) << 56, released_by, scope, cost)
    if uses:
        ids = [u | 1 << 31 for u in uses] + [0] * (14 - len(uses))
        words += native_file.words(4 | 4 << 8 | len(uses) << 16 | number << 32,
                                   *(ids[i] | ids[i + 1] << 32 for i in range(0, 14, 2)))
    file.add(thread, words)


def wait(file, thread, name, begin, end, ended_by):
    file.add(thread, native_file.words(10 | 2 << 8 | (file.origin + begin) << 16, name | ended_by << 32,
                                       (end - begin) | 1 << 48 | 1 << 52, 7))


def trace(releaser=None, steps=STEPS, late=0, early=0, related=True, loading=0, scopes=("", ""), beside=None, marked=True, worker_first=False):
    """`releaser`: the id that B says released it; in truth it is A's. B comes `late` behind A, or `early` before
    the end of A, on another worker. Not `related`: B waits for the worker and for nothing else. `loading`: how long
    the program loads a batch at the begin of each step. `scopes`: of A and of B. `beside`: C runs on the
    other worker; "waited": the program waits for it behind B, when it is long over; "free": nothing does. Not `marked`:
    nothing says where steps begin. `worker_first`: the worker is the trace's first thread, as of an engine that had
    run before the recording."""
    file = native_file.NativeFile()
    worker = file.thread("compute worker") if worker_first else None
    main = file.thread("main")
    worker, other = file.thread("compute worker") if worker is None else worker, file.thread("light worker")
    a, b = file.name("A", "operator", "span"), file.name("B", "operator", "span")
    waits, call = file.name("WaitForVar", "operator", "span"), file.name("MXPush", "MXNET_C_API", "span")
    batch = file.name("next batch", "input", "span")
    c = file.name("C", "operator", "span") if beside else 0
    of_a, of_b = (file.name(scope, 0, "scope") if scope else 0 for scope in scopes)
    for step in range(steps + 1):
        t = 50 * US + step * (LENGTH * US + loading)
        if marked:
            file.meta(main, "step", t, value=step)
        if step == steps:
            break
        if loading:
            file.span(main, batch, t, t + loading)
        t += loading
        first = (3 if beside else 2) * step + 1
        operator(file, worker, a, first, t + 10 * US, t + 15 * US, t + 315 * US, uses=(7,), scope=of_a, pushed_by=main)
        ready = t + 315 * US + late - early
        if related:
            operator(file, other if early else worker, b, first + 1, t + 20 * US, ready, t + 515 * US, ready=ready,
                     released_by=releaser or first, uses=(7,), scope=of_b, pushed_by=main)
        else:
            operator(file, worker, b, first + 1, t + 20 * US, ready, t + 515 * US, uses=(8,))
        file.span(main, call, t + 10 * US, t + 15 * US)
        file.span(main, call, t + 20 * US, t + 25 * US)
        wait(file, main, waits, t + 30 * US, t + 518 * US, first + 1)
        if beside:
            operator(file, other, c, first + 2, t + 26 * US, t + 50 * US, t + 150 * US, uses=(9,))
        if beside == "waited":
            wait(file, main, waits, t + 518 * US, t + 519 * US, first + 2)
    return file


def run(path, *arguments):
    return subprocess.run([BUILD / "mxprof", "whatif", path, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C.UTF-8"), timeout=120, check=False)


@pytest.fixture(name="write")
def writer(tmp_path):
    def write(file):
        path = tmp_path / "t.mxp"
        path.write_bytes(file.to_bytes())
        return path
    return write


def predictions(path, *arguments, length=LENGTH):
    result = run(path, *arguments, "--json")
    assert result.returncode == 0, result.stderr
    (process,) = json.loads(result.stdout)["processes"]
    assert process["steps"] == STEPS and process["recorded_mean_ns"] == length * US and process["unknown"] == 0
    return process["predictions"]


@pytest.mark.parametrize("changes, length", [
    (["--name", "A=0.5"], LENGTH - 150),
    (["--name", "A=2"], LENGTH + 300),
    (["--name", "[AB]=0.5"], LENGTH - 250),
    (["--name", "A=0.5", "--name", "B=0"], LENGTH - 350),
    (["--host", "0.5"], LENGTH - 5 - 50),
    (["--call", "MXPush=0"], LENGTH),
    # Nothing is left to wait for: B comes 5 us after its own push, before the program waits.
    (["--name", "A=0", "--name", "B=0"], 30 + 100),
])
def test_predicted_is_what_follows_from_the_program(write, changes, length):
    (found,) = predictions(write(trace()), *changes)
    assert found["mean_ns"] == found["median_ns"] == length * US and found["gain_ns"] == (LENGTH - length) * US
    assert [step["predicted_ns"] for step in found["steps"]] == [length * US] * STEPS
    assert found["gain_low_ns"] <= found["gain_ns"] <= found["gain_high_ns"]
    assert not found["model"] and not found["upper_bound"]


@pytest.mark.parametrize("worker_first", [False, True])
@pytest.mark.parametrize("changes, gain", [
    (["--name", "A=0.5"], 150 * STEPS),
    (["--host", "0.5"], 55 * (STEPS - 1)),  # behind each wait but the last, with which the recording ends
])
def test_without_steps_the_recording_ends_with_the_program(write, changes, gain, worker_first):
    path = write(trace(marked=False, worker_first=worker_first))
    (process,) = json.loads(run(path, *changes, "--json").stdout)["processes"]
    (found,) = process["predictions"]
    assert process["steps"] == 1 and found["gain_ns"] == pytest.approx(gain * US, abs=1)  # the last nanosecond is the window's
    shown = run(path).stdout
    assert shown.startswith("window of 3.60 ms; replayed unchanged it comes out to the nanosecond\n")
    assert "\nA twice as fast" in shown and "one window has no spread.\n" in shown
    part = run(path, "--from", "0.7ms", "--until", "1.9ms").stdout  # two iterations and some
    assert "\nA twice as fast" in part and part.startswith("window of 1.20 ms; ")


@pytest.mark.parametrize("beside, until", [("free", LENGTH), ("waited", 518)])
def test_slack_is_what_an_operator_may_end_later_without_its_step(write, beside, until):
    """What nothing waits for may end with its step, what the program waits for when it begins to."""
    path = write(trace(beside=beside, scopes=("net:one:", "net:two:")))
    (process,) = json.loads(run(path, "--json").stdout)["processes"]
    slack = {row.pop("name"): row for row in process["slack"]}
    none = {"phase": "forward", "runs": STEPS, "without": STEPS, "least_ns": 0, "mean_ns": 0}
    assert slack["A"] == {"scope": "net:one", **none} and slack["B"] == {"scope": "net:two", **none}
    assert slack["C"] == {"scope": "", "phase": "forward", "runs": STEPS, "without": 0, "least_ns": (until - 150) * US,
                          "mean_ns": (until - 150) * US}
    (one,) = json.loads(run(path, "--json", "--step", "2").stdout)["processes"]
    assert [row["runs"] for row in one["slack"]] == [1, 1, 1]


def test_without_the_wait_the_worker_is_all_that_is_left(write):
    (found,) = predictions(write(trace()), "--no-wait", "WaitFor*")
    assert found["upper_bound"] and found["changed"] == STEPS
    # A and B of the next step follow at once.
    assert [step["predicted_ns"] for step in found["steps"]][1:] == [500 * US] * (STEPS - 1)


def test_input_is_loaded_beside_the_rest_two_batches_ahead(write):
    (found,) = predictions(write(trace(loading=400 * US)), "--prefetch", "input", length=LENGTH + 400)
    # The first batch must come; the others are there, since they take less than a step.
    assert [step["predicted_ns"] for step in found["steps"]] == [(LENGTH + 400) * US] + [LENGTH * US] * (STEPS - 1)
    (slow,) = predictions(write(trace(loading=1000 * US)), "--prefetch", "input", length=LENGTH + 1000)
    # Loading takes longer than the rest, and so it is the step.
    assert [step["predicted_ns"] for step in slow["steps"]][1:] == [1000 * US] * (STEPS - 1)
    assert slow["model"]


def test_two_workers_run_beside_each_other_what_does_not_depend(write):
    (found,) = predictions(write(trace(related=False)), "--workers", "2")
    # B wakes the other worker up 5 us after its push; the program waits for B alone.
    assert found["mean_ns"] == (20 + 5 + 200 + 3 + 100) * US
    assert found["model"] and found["other_operators_share_cores"]
    (chain,) = predictions(write(trace()), "--workers", "2")
    assert chain["mean_ns"] == LENGTH * US
    (same,) = predictions(write(trace(related=False)), "--workers", "1")
    assert same["gain_ns"] == 0 and same["model"] and not same["other_operators_share_cores"]


def test_a_free_worker_takes_what_was_pushed_first(write):
    """A program pushes A (1), B (2) and C (3), the first for one worker; B is ready at once, C too. Recorded is
    A, C, B; with B first, C ends last, and the wait is for C."""
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("compute worker")
    names = {name: file.name(name, "operator", "span") for name in "ABC"}
    waits, length = file.name("WaitForVar", "operator", "span"), 600 * US
    for step in range(STEPS + 1):
        t = 50 * US + step * length
        file.meta(main, "step", t, value=step)
        if step == STEPS:
            break
        for place, (name, push, start, end) in enumerate((("A", 10, 15, 115), ("C", 30, 115, 215), ("B", 20, 215, 515))):
            operator(file, worker, names[name], 3 * step + "ABC".index(name) + 1, t + push * US, t + start * US,
                     t + end * US, uses=(10 + place,))
        wait(file, main, waits, t + 40 * US, t + 218 * US, 3 * step + 3)
        wait(file, main, waits, t + 220 * US, t + 518 * US, 3 * step + 2)
    (found,) = predictions(write(file), "--workers", "1", length=600)
    # B runs from 115 to 415 us, C from then to 515; the second wait finds B there, and 2 + 82 us of the program follow.
    assert [step["predicted_ns"] for step in found["steps"]] == [(518 + 2 + 82) * US] * STEPS
    (two,) = predictions(write(file), "--workers", "2", length=600)
    # The other worker takes B 5 us after its push, and C is behind A: 215 us. B ends at 325 us.
    assert [step["predicted_ns"] for step in two["steps"]] == [(328 + 82) * US] * STEPS


def test_bulks_are_of_the_calls_of_all_parts_of_a_trace(write):
    """More steps than 1 MiB of memory holds, so they are looked at in parts, and those of the last one push in another call."""
    steps, length = 4000, 300 * US
    file = native_file.NativeFile()
    main, worker = file.thread("main"), file.thread("compute worker")
    a, calls = file.name("A", "operator", "span"), [file.name(name, "MXNET_C_API", "span") for name in ("MXPush", "MXPushLater")]
    for step in range(steps + 1):
        t = 50 * US + step * length
        file.meta(main, "step", t, value=step)
        for place in range(3 if step < steps else 0):
            push = t + place * 100 * US
            operator(file, worker, a, 3 * step + place + 1, push, push + 5 * US, push + 15 * US, uses=(7,))
            file.span(main, calls[2 * step >= steps], push, push + 100 * US)
    path = write(file)
    for memory in ("1", "1024"):
        (process,) = json.loads(run(path, "--bulk", "5", "--memory", memory, "--json").stdout)["processes"]
        assert process["predictions"][0]["gain_ns"] == 3 * 80 * US, memory


def test_one_wait_of_each_step_can_be_left_out(write):
    (second,) = predictions(write(trace()), "--no-wait", "WaitForVar#2")
    assert second["changed"] == 0 and second["gain_ns"] == 0
    (first,) = predictions(write(trace()), "--no-wait", "WaitForVar#1")
    assert first["changed"] == STEPS


def test_best_changes_come_first(write):
    path = write(trace())
    found = predictions(path)
    assert [(one["changes"][0].get("of"), one["gain_ns"]) for one in found] == [
        ("A", 150 * US), ("B", 100 * US), (None, 55 * US)]
    shown = run(path)
    assert shown.returncode == 0 and "6 steps, mean 618 µs" in shown.stdout
    assert "A twice as fast" in shown.stdout and "468 µs" in shown.stdout


@pytest.mark.parametrize("scopes, layers", [
    (("net:", "net:conv:"), ["net:conv"]),  # `net` would be both, and in the report it is A alone
    (("loss:", "net:conv:"), ["loss", "net:conv"]),
    (("net:conv:relu:", "net:conv:"), ["net:conv", "net:conv:relu"]),
])
def test_layers_are_those_of_the_report(write, scopes, layers):
    found = [one["changes"][0] for one in predictions(write(trace(scopes=scopes)))]
    assert sorted(change["of"] for change in found if change["change"] == "scope") == layers


@pytest.mark.parametrize("file, reason", [
    (trace(releaser=999, late=20 * US), "is unknown"),
    (trace(early=100), "records contradict one another"),
    (native_file.sample(), "no operators of libmxnet"),
])
def test_what_cannot_be_known_is_refused(write, file, reason):
    result = run(write(file), "--name", "*=0.5")
    assert result.returncode == 3 and reason in result.stderr and result.stdout == "", result.stderr


def test_processes_without_operators_are_passed_over(tmp_path):
    (tmp_path / "a.mxp").write_bytes(native_file.sample().to_bytes())
    file = trace()
    file.pid = 99
    (tmp_path / "b.mxp").write_bytes(file.to_bytes())
    shown = run(tmp_path, "--name", "A=0.5")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("no operators") == 1 and "6 steps, mean 618 µs" in shown.stdout
    assert len(json.loads(run(tmp_path, "--json").stdout)["processes"]) == 1
    (tmp_path / "b.mxp").unlink()
    file = native_file.sample()
    file.pid = 99
    (tmp_path / "b.mxp").write_bytes(file.to_bytes())
    shown = run(tmp_path)
    assert shown.returncode == 3 and shown.stdout.count("no operators") == 2  # a line in the place of each


def test_lines_fit_80_columns(write):
    shown = run(write(trace(related=False)), "--workers", "2").stdout
    assert "\nc other operators" in shown and max(map(len, shown.splitlines())) < 80


def test_losses_everywhere_are_refused(write):
    file = trace()
    file.losses = [(1, 1, 5, 0, (100 + STEPS * LENGTH) * US)]
    result = run(write(file), "--name", "A=0.5")
    assert result.returncode == 3 and "losses or pauses" in result.stderr


@pytest.mark.parametrize("arguments, reason", [
    (["--name", "A"], "is not GLOB=FACTOR"),
    (["--name", "A=-1"], "is not GLOB=FACTOR"),
    (["--name", "=2"], "is not GLOB=FACTOR"),
    (["--name", "AA=0.5"], "nothing is called 'AA'; the nearest are 'A'"),
    (["--host", "fast"], "is no factor"),
    (["--prefetch", "output"], "only 'input'"),
    (["--workers", "0"], "--workers"),
    (["--no-wait", "WaitForVar#x"], "--no-wait"),
])
def test_wrong_calls(write, arguments, reason):
    result = run(write(trace()), *arguments)
    assert result.returncode == 2 and reason in result.stderr and result.stdout == "", result.stderr
