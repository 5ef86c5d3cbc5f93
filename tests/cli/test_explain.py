# SPDX-License-Identifier: Apache-2.0
"""mxprof explain on kept traces of programs with a planted cause (planted_programs.py), and on traces of
which less can be said."""
import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest

import native_file
import planted_programs
import planted_traces

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
KEPT = pathlib.Path(__file__).parent / "planted"
TRACES = sorted(path.name for path in KEPT.iterdir())
LINES, COLUMNS = 25, 80
MS = 1_000_000


def run(*arguments, code=0, **settings):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True,
                            check=False, env={**os.environ, **planted_traces.NO_CACHE, "LC_ALL": "C.UTF-8",
                                 **settings})
    assert result.returncode == code, result.stderr
    return result


def planted_in(name):
    return re.sub(r"(_\d+)?(\.mxpz)?$", "", name)


def test_each_cause_is_kept_with_two_sets_of_sizes():
    assert ({name.removesuffix(".mxpz") for name in TRACES} ==
            {cause + ending for cause in planted_programs.CAUSES for ending in ("", "_1")})
    for path in KEPT.rglob("*.mxpz"):
        assert path.stat().st_size < 200_000, path


@pytest.mark.parametrize("name", TRACES)
def test_the_planted_cause_is_told_first(name):
    told = planted_traces.told(planted_traces.explained(KEPT / name))
    assert (told or [None])[0] == planted_programs.CAUSES[planted_in(name)]


@pytest.mark.parametrize("name", TRACES)
def test_it_is_one_screen_whose_commands_run(name):
    text = run("explain", KEPT / name).stdout
    lines = text.splitlines()
    assert len(lines) <= LINES
    path = str(KEPT / name)
    for line in lines:
        assert len(line.replace(path, "run.mxp")) < COLUMNS, line
    known = run("--help").stdout
    commands = [line.strip() for line in lines if line.strip().startswith("mxprof ")]
    assert commands
    for command in commands:
        words = shlex.split(command)
        if re.search(rf"^  {words[1]}\b", known, re.MULTILINE):
            run(*words[1:])


@pytest.mark.parametrize("name", [name for name in TRACES if name.endswith(".mxpz")])
def test_gains_are_of_what_is_left(name):
    process, = planted_traces.explained(KEPT / name)["processes"]
    told = [cause for cause in process["causes"] if cause["is_told"]]
    assert process["causes"][:len(told)] == told
    left = process["mean_ns"]
    for cause in told:
        if cause["gain_from"] == "none":
            continue
        assert cause["gain_low_ns"] <= cause["gain_ns"] <= cause["gain_high_ns"]
        assert cause["gain_ns"] > process["noise_ns"]
        if cause["gain_from"] == "replay":
            assert cause["left_ns"] == pytest.approx(left - cause["gain_ns"], abs=2)
            left = cause["left_ns"]


def test_the_next_commands_look_at_the_same_steps():
    text = run("explain", "--step", "10:", KEPT / "slow_loader.mxpz").stdout
    proposed, = [line for line in text.splitlines() if "--prefetch" in line]
    assert proposed.endswith("slow_loader.mxpz --step 10: --prefetch input")
    run(*shlex.split(proposed)[1:])


def test_its_gain_is_what_whatif_predicts():
    trace = KEPT / "slow_loader.mxpz"
    told = planted_traces.explained(trace)["processes"][0]["causes"][0]
    predicted = json.loads(run("whatif", "--json", trace, "--prefetch", "input").stdout)
    gain_ns = predicted["processes"][0]["predictions"][0]["gain_ns"]
    assert told["cause"] == "slow input" and told["gain_from"] == "replay"
    assert told["gain_ns"] == pytest.approx(gain_ns, abs=1)


def test_the_page_shows_what_is_printed_of_kept_traces():
    page = (planted_traces.SOURCE / "docs/questions/what-made-it-slow.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```\n\$ mxprof (.*\.mxpz.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    assert len(shown) >= 3
    for words, text in shown:
        printed = subprocess.run([BUILD / "mxprof", *shlex.split(words)], cwd=KEPT, capture_output=True, text=True,
                                 check=True, env={**os.environ, **planted_traces.NO_CACHE, "LC_ALL": "C.UTF-8"})
        assert printed.stdout == text


# ---- traces of which less can be said --------------------------------------------------------------
def stepped(lengths, spans=()):
    """A trace of a program that only marks steps of so many ms, with spans at the begin of each."""
    trace = native_file.NativeFile()
    thread = trace.thread("main")
    names = [trace.name(text, category, "span") for text, category, _ in spans]
    at = 0
    for number, ms in enumerate(lengths):
        trace.meta(thread, "step", at, value=number)
        inner = at
        for name, (_, _, length) in zip(names, spans):
            trace.span(thread, name, inner, inner + int(length * MS))
            inner += int(length * MS)
        at += int(ms * MS)
    trace.meta(thread, "step", at, value=len(lengths))
    return trace


def write(trace, path):
    path.write_bytes(trace.to_bytes())
    return path


def test_without_steps_no_cause_is_told(tmp_path):
    trace = native_file.NativeFile()
    thread = trace.thread("main")
    trace.span(thread, trace.name("work", "app", "span"), 0, 5 * MS)
    text = run("explain", write(trace, tmp_path / "a.mxp"), code=3).stdout
    assert text.startswith("5.00 ms without marked steps, so no cause is told.\nmxp_step() marks them, in Python "
                           "mxnet.profiler.step(); without mxnet see\n'mxprof run --help'.\n")
    assert not re.search(r"^1 ", text, re.MULTILINE)


def test_one_step_says_nothing_of_variation(tmp_path):
    path = write(stepped([5] * 20, [("next batch", "input", 3)]), tmp_path / "a.mxp")
    text = run("explain", "--step", "7", path).stdout
    assert "1 step, 5.00 ms; one step: no statement about variation, and no cause is told" in text
    assert "input 60.0%" in text


def test_spans_without_operators_are_explained_as_far_as_they_go(tmp_path):
    path = write(stepped([5] * 20, [("next batch", "input", 3)]), tmp_path / "a.mxp")
    text = run("explain", path).stdout
    assert re.search(r"^1  The program waits for input +up to 3.00 ms a step, 60.0%$", text, re.MULTILINE)
    assert "`next batch` is on the path of 20 of 20 steps" in text
    assert "causes that need dependencies were not looked for" in " ".join(text.split())


def test_first_steps_that_are_left_out_are_a_part_of_all_steps(tmp_path):
    file = native_file.NativeFile()
    main, at = file.thread("main"), 0
    for number, length in enumerate([200, 200, 200, *[10] * 12, 0]):
        file.meta(main, "step", at, value=number)
        at += length * MS
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    (process,) = json.loads(run("explain", "--json", path).stdout)["processes"]
    assert (process["mean_ns"], process["first_run_steps_left_out"]) == (10 * MS, 3)
    first = next(cause for cause in process["causes"] if cause["cause"] == "first-run cost")
    # 3 * 190 ms of all 15 steps, of which the mean of the other twelve has nothing.
    assert first["is_told"] and first["gain_ns"] == 38 * MS and first["left_ns"] == 10 * MS
    assert re.search(r"^1  The first steps are slow +38\.0 ms a step, 79\.2%$", run("explain", path).stdout, re.MULTILINE)
    (whole,) = json.loads(run("explain", "--json", "--step", "0:", path).stdout)["processes"]
    first = next(cause for cause in whole["causes"] if cause["cause"] == "first-run cost")
    assert (whole["mean_ns"], first["gain_ns"], first["left_ns"]) == (48 * MS, 38 * MS, 10 * MS)


def test_much_noise_is_the_first_line(tmp_path):
    path = write(stepped([1, 2, 30, 1, 1, 90, 1, 2, 1, 1] * 3), tmp_path / "a.mxp")
    first = run("explain", path).stdout.splitlines()[0]
    assert re.match(r"The steps differ much from one another: run delay not recorded; noise \d", first)


@pytest.mark.parametrize("tenths, words", [(2, "The steps differ much from one another: run delay 20.0%"),
                                           (5, "The machine was busy: run delay 50.0%")])
def test_the_busy_machine_is_told_by_run_delay(tmp_path, tenths, words):
    trace = native_file.NativeFile()
    thread = trace.thread("main")
    at = 0
    for number, ms in enumerate([1, 2, 30, 1, 1, 90, 1, 2, 1, 1] * 3):
        trace.meta(thread, "step", at, value=number)
        trace.meta(thread, "step_cpu", at, value=at // 4, second=at * tenths // 10)
        at += ms * MS
    trace.meta(thread, "step", at, value=30)
    trace.meta(thread, "step_cpu", at, value=at // 4, second=at * tenths // 10)
    text = run("explain", write(trace, tmp_path / "a.mxp")).stdout
    assert text.startswith(f"{words} of the time; noise ")


def test_losses_in_all_steps_are_refused_unless_forced(tmp_path):
    trace = stepped([5] * 10)
    trace.losses.append((0, 2, 7, 0, 50 * MS))
    path = write(trace, tmp_path / "a.mxp")
    assert "--force" in run("explain", path, code=3).stderr
    assert "No step is whole" in " ".join(run("explain", "--force", path).stdout.split())


def test_steps_with_losses_are_left_out_also_of_those_asked_for(tmp_path):
    trace = stepped([5] * 20)
    trace.losses.append((0, 2, 7, 41 * MS, 43 * MS))
    path = write(trace, tmp_path / "a.mxp")
    for steps in ([], ["--step", "0:19"]):
        process, = json.loads(run("explain", "--json", *steps, path).stdout)["processes"]
        assert process["steps"] == 19
        assert process["incomplete_steps_left_out"] == (1 if steps else 2)  # the last one has no end
    assert "--force" in run("explain", "--step", "8", path, code=3).stderr


def test_no_such_step_is_a_wrong_call(tmp_path):
    path = write(stepped([5] * 10), tmp_path / "a.mxp")
    assert "0 to 10" in run("explain", "--step", "900", path, code=2).stderr
    told = run("explain", "--from", "+1ms", "--until", "+2ms", path, code=3).stderr
    assert told == "mxprof explain: no whole step lies from 0.001 s to 0.003 s\n"


def test_of_nothing_nothing_is_explained(tmp_path):
    empty, some = tmp_path / "empty.mxp", tmp_path / "some.mxp"
    assert "nothing is recorded" in run("explain", write(native_file.NativeFile(pid=11), empty), code=3).stderr
    write(stepped([5] * 10), some)
    assert "10 steps, 5.00 ms each" in run("explain", empty, some).stdout
    some.write_bytes(empty.read_bytes()[:200])
    assert "nothing is recorded" in run("explain", some, code=1).stderr


def test_of_counters_alone_it_is_said_what_there_is(tmp_path):
    file = native_file.NativeFile(pid=11)
    main, depth = file.thread("main", end=10 * MS), file.name("depth", "app", "counter")
    for at in range(7):
        file.counter(main, depth, at * MS, at)
    for at in range(2):
        file.instant(main, file.name("late", "app", "instant"), at * MS)
    told = run("explain", write(file, tmp_path / "counters.mxp"), code=3).stderr
    assert "no spans, operators and steps are recorded in it" in told
    assert told.endswith("what there is: counter samples (7), instants (2)\n")


def test_the_reason_of_what_is_left_out_is_told(tmp_path):
    trace = stepped([5] * 20)
    path = write(trace, tmp_path / "a.mxp")
    assert "1 step is left out: no end." in " ".join(run("explain", path).stdout.split())
    trace.losses.append((0, 2, 7, 41 * MS, 43 * MS))
    path = write(trace, tmp_path / "b.mxp")
    assert "1 step is left out: records lost." in " ".join(run("explain", "--step", "0:19", path).stdout.split())
    assert "2 steps are left out: records lost, no end." in " ".join(run("explain", path).stdout.split())


def test_a_time_takes_the_steps_within_it(tmp_path):
    path = write(stepped([5] * 20), tmp_path / "a.mxp")
    process, = json.loads(run("explain", "--json", "--until", "+52ms", path).stdout)["processes"]
    assert process["steps"] == 10
    assert process["mean_ns"] == 5 * MS


def test_processes_without_common_steps_are_not_compared(tmp_path):
    for number, pid in ((0, 11), (100, 12)):
        trace = native_file.NativeFile(pid=pid)
        thread = trace.thread("main")
        for step in range(10):
            trace.meta(thread, "step", step * 5 * MS, value=number + step)
        trace.meta(thread, "step", 50 * MS, value=number + 10)
        write(trace, tmp_path / f"{pid}.mxp")
    between = json.loads(run("explain", "--json", tmp_path).stdout)["between_processes"]
    assert between["pairs"] == 0 and between["causes"] == []
    assert "2 processes, 0 steps with the same numbers" in run("explain", tmp_path).stdout


def test_an_imported_trace_is_explained_by_nesting(tmp_path):
    def event(cat, name, begin_us, length_us):
        return {"ph": "X", "pid": 1, "tid": 1, "ts": begin_us, "dur": length_us, "cat": cat, "name": name}
    events = []
    for step in range(20):
        events += [event("user_annotation", f"ProfilerStep#{step}", step * 5000, 5000),
                   event("cpu_op", "aten::linear", step * 5000 + 100, 4100),
                   event("cpu_op", "aten::mm", step * 5000 + 150, 4000)]
    path = tmp_path / "torch.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    text = run("explain", path).stdout
    assert re.search(r"^1  One slow span, aten::mm +up to 2.00 ms a step, 40.0%$", text, re.MULTILINE)
    assert "No operators of libmxnet are recorded: the path is the steps' thread, by nesting" in " ".join(text.split())
