# SPDX-License-Identifier: Apache-2.0
"""mxprof report: figures of random traces, worked out here in another way; windows and filters; text that fits
the terminal, and what is said where something is missing."""
import collections
import csv
import fcntl
import io
import json
import math
import os
import pathlib
import pty
import random
import re
import struct
import subprocess
import termios

import diff_runs
import foreign_traces
import native_file
import pytest
import random_spans
from native_file import word0, words

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SEEDS = range(8)
PHASES = {"forward": 1, "backward": 2, "update": 3}


def run(*arguments, code=0, **variables):
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    result = subprocess.run([BUILD / "mxprof", "report", *map(str, arguments)], capture_output=True, text=True,
                            timeout=120, check=False, env={**environment, "LC_ALL": "C.UTF-8", **variables})
    assert result.returncode == code, (result.returncode, result.stderr)
    return result.stdout if code == 0 else result.stderr


def answer(*arguments):
    return json.loads(run("--json", *arguments))


# ---- spans ---------------------------------------------------------------------------------------
@pytest.fixture(name="spans", params=SEEDS, scope="module")
def spans_fixture(request, tmp_path_factory):
    trace = random_spans.RandomTrace(request.param)
    path = tmp_path_factory.mktemp("spans") / "trace.mxp"
    path.write_bytes(trace.bytes())
    return trace.spans, path


def own_ns(span, spans):
    """Its duration without that of the spans directly inside."""
    if span.is_async:
        return span.ns
    inside = [other for other in spans if other is not span and not other.is_async and span.encloses(other)]
    return span.ns - sum(other.ns for other in inside if other.depth == span.depth + 1)


def quantile(values, fraction):
    ordered = sorted(values)
    return ordered[max(math.ceil(fraction * len(ordered) - 1e-9), 1) - 1]


def by_name(chosen, spans):
    rows = collections.defaultdict(list)
    for span in chosen:
        rows[span.name].append((span.ns, own_ns(span, spans)))
    return {name: (len(times), sum(ns for ns, _ in times), sum(own for _, own in times),
                   quantile([ns for ns, _ in times], 0.5), quantile([ns for ns, _ in times], 0.99))
            for name, times in rows.items()}


def told(answered):
    assert all(row["exact"] for row in answered["spans"])
    return {row["name"]: (row["calls"], row["total_ns"], row["self_ns"], row["p50_ns"], row["p99_ns"])
            for row in answered["spans"]}


def test_rows_have_the_time_of_their_spans(spans):
    spans, path = spans
    answered = answer(path)
    assert told(answered) == by_name(spans, spans)
    assert answered["wall_ns"] == max(span.end for span in spans) + 1 - min(span.begin for span in spans)


def test_windows_take_what_begins_in_them(spans):
    spans, path = spans
    begin, end = min(span.begin for span in spans), max(span.end for span in spans) + 1
    middle = (begin + end) // 2
    for options, first, last in (
            (["--from", f"{middle}ns"], middle, end), (["--until", f"{middle}ns"], begin, middle),
            (["--from", "+5us", "--until", "+20us"], begin + 5000, begin + 25000),
            (["--from", "-30us"], end - 30000, end)):
        chosen = [span for span in spans if first <= span.begin < last]
        assert told(answer(path, *options)) == by_name(chosen, spans), options


def test_filters_take_rows(spans):
    spans, path = spans
    for options, fits in (
            (["--name", "w*"], lambda span: span.name == "work"),
            (["--name", "work", "--name", "s?nd"], lambda span: span.name in ("work", "send")),
            (["--thread", "worker 1"], lambda span: span.thread == 1),
            (["--thread", "2", "--name", "*r*"], lambda span: span.thread == 2 and "r" in span.name),
            (["--phase", "none"], lambda span: True)):
        chosen = [span for span in spans if fits(span)]
        answered = answer(path, *options)
        assert told(answered) == by_name(chosen, spans), options
        assert answered["wall_ns"] == answer(path)["wall_ns"]
    assert "'work'" in run(path, "--name", "wrok", code=2)
    assert "nothing fits all of the filters together" in run(path, "--name", "work", "--phase", "update", code=2)


def test_every_level_of_the_tree_adds_up(spans):
    spans, path = spans
    nodes = {node["node"]: node for node in answer(path, "--tree")["call_tree"]}
    inside = collections.Counter()
    for node in nodes.values():
        if node["parent"] is not None:
            inside[node["parent"]] += node["total_ns"]
    for number, node in nodes.items():
        assert node["total_ns"] == node["self_ns"] + inside[number]
    assert nodes[0]["total_ns"] == sum(own_ns(span, spans) for span in spans if not span.is_async)
    for thread in (node for node in nodes.values() if node["kind"] == "thread"):
        index = int(thread["name"].split()[1])
        assert thread["total_ns"] == sum(span.ns for span in spans
                                         if span.thread == index and span.depth == 0 and not span.is_async)


def test_csv_says_what_json_says(spans):
    _, path = spans
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(run("--csv", path))) if row["kind"] == "span"}
    for row in answer(path)["spans"]:
        for key in ("calls", "total_ns", "self_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns"):
            assert int(rows[row["name"]][key]) == row[key]


def test_order_is_what_is_asked_for(spans):
    _, path = spans
    for key, column in (("total", "total_ns"), ("self", "self_ns"), ("calls", "calls"), ("p99", "p99_ns")):
        values = [row[column] for row in answer(path, "--sort", key)["spans"] if not row["overlaps"]]
        assert values == sorted(values, reverse=True)


# ---- operators -----------------------------------------------------------------------------------
class Training:
    """Steps of a network of random layers: a worker that runs operators one after the other."""

    def __init__(self, seed, steps=14):
        self.chance = random.Random(seed)
        self.file = native_file.NativeFile()
        self.main, self.worker = self.file.thread("main"), self.file.thread("compute worker")
        self.layers = [f"net:layer{i}:" for i in range(6)]
        self.scopes = {text: self.file.name(text, 0, "scope") for text in self.layers + ["net:layer0:act:"]}
        self.names = {text: self.file.name(text, "operator", "span")
                      for text in ("Convolution", "_backward_Convolution", "Activation", "sgd_update")}
        self.marks, self.operators, at = [], [], 10_000
        for step in range(1, steps + 1):
            self.marks.append(at)
            self.file.meta(self.main, "step", at, value=step)
            at = self.step(step, at) + self.chance.randrange(50, 500)
        self.file.meta(self.main, "step", at, value=steps + 1)
        self.marks.append(at)

    def step(self, step, at):
        push = at
        for scope in self.scopes:
            name = "Activation" if "act" in scope else "Convolution"
            for phase, text in (("forward", name), ("backward", "_backward_Convolution"), ("update", "sgd_update")):
                if "act" in scope and phase != "forward":
                    continue
                push += self.chance.randrange(1, 10)
                begin = max(at, push) + self.chance.randrange(2, 30)
                ready = self.chance.randrange(push, begin + 1)
                at = begin + self.chance.randrange(10, 400)
                self.operators.append((step, text, scope.rstrip(":"), phase, push, ready, begin, at))
                self.add(len(self.operators), text, scope, phase, push, ready, begin, at)
        self.wait(push + 1, at + 4)
        return at + 4

    def wait(self, begin, end):
        """Until the last operator is over: kind 10, blocked and slept."""
        self.file.add(self.main, words(10 | 2 << 8 | self.file.origin + begin << 16, len(self.operators) << 32,
                                       end - begin | 1 << 48 | 3 << 52, 0))

    def add(self, number, name, scope, phase, push, ready, begin, end):
        self.file.add(self.worker, words(
            word0("operator", 4, self.file.origin + begin), self.names[name] | number << 32,
            end - begin | PHASES[phase] << 48, begin - push | self.main << 48, begin - ready, 0,
            self.scopes[scope], 0))


@pytest.fixture(name="training", params=SEEDS, scope="module")
def training_fixture(request, tmp_path_factory):
    training = Training(request.param)
    path = tmp_path_factory.mktemp("training") / "trace.mxp"
    path.write_bytes(training.file.to_bytes())
    return training, path


def chosen_operators(training, first, last):
    return [operator for operator in training.operators if first <= operator[0] <= last]


@pytest.mark.parametrize("first,last", [(1, 14), (3, 3), (5, 9)])
def test_layers_are_what_their_operators_took(training, first, last):
    training, path = training
    answered = answer(path, "--step", f"{first}:{last}")
    assert answered["chosen_steps"] == last - first + 1
    expected = collections.defaultdict(collections.Counter)
    for _, _, scope, phase, *_, begin, end in chosen_operators(training, first, last):
        expected[":".join(scope.split(":")[:2])][phase] += end - begin
    assert {layer["scope"]: {phase: layer[f"{phase}_ns"] for phase in PHASES if layer[f"{phase}_ns"]}
            for layer in answered["layers"]} == {scope: dict(phases) for scope, phases in expected.items()}
    for layer in answered["layers"]:
        assert layer["sum_ns"] == sum(expected[layer["scope"]].values())
    sums = [layer["sum_ns"] for layer in answered["layers"]]
    assert sums == sorted(sums, reverse=True)


def test_operators_wait_for_what_they_need_and_for_a_worker(training):
    training, path = training
    expected = collections.defaultdict(lambda: [0, 0, 0, 0])
    for _, name, scope, phase, push, ready, begin, end in chosen_operators(training, 2, 6):
        row = expected[name, scope, phase]
        for place, value in enumerate((1, end - begin, ready - push, begin - ready)):
            row[place] += value
    assert {(row["name"], row["scope"], row["phase"]):
            [row["calls"], row["total_ns"], row["waited_ns"], row["queued_ns"]]
            for row in answer(path, "--step", "2:6")["operators"]} == expected


def test_the_path_fills_the_steps(training):
    training, path = training
    answered = answer(path)
    kinds = answered["path"]["kinds_ns"]
    assert sum(kinds.values()) == answered["wall_ns"] == answered["path"]["wall_ns"]
    assert sum(layer["path_ns"] for layer in answered["layers"]) == kinds["run"] > 0.5 * answered["wall_ns"]
    assert answered["wall_ns"] == sum(step["length_ns"] for step in answered["steps"] if step["chosen"])


def percents(lines):
    return [float(line.split()[-1].rstrip("%")) for line in lines]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_shares_of_the_path_add_up_as_they_are_printed(training, depth):
    _, path = training
    lines = run(path, "--by", "layer", "--depth", depth).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("layer"))
    *layers, total, rest = percents(lines[begin + 1:])
    assert round(sum(layers), 1) == total and round(total + rest, 1) == 100.0


def test_what_is_folded_is_a_row_of_its_own(training):
    _, path = training
    lines = run(path, "--top", 3).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("layer"))
    rows = lines[begin + 1:begin + 7]
    assert [row.split()[0] for row in rows[4:]] == ["all", "no"] and rows[3].startswith("3 others")
    shares = percents(rows)
    assert round(sum(shares[:4]), 1) == shares[4]


def test_scopes_choose_what_is_inside_them(training):
    training, path = training
    answered = answer(path, "--scope", "*:layer0")
    assert {row["scope"] for row in answered["operators"]} == {"net:layer0", "net:layer0:act"}
    assert {row["phase"] for row in answer(path, "--phase", "update", "--phase", "forward")["operators"]} == {
        "update", "forward"}


def test_one_step_and_the_slowest(training):
    training, path = training
    steps = answer(path)["steps"]
    slowest = max((step for step in steps if not step["open"]), key=lambda step: step["length_ns"])
    assert run(path, "--step", "slowest").startswith(f"step {slowest['number']}: ")
    assert run(path, "--step", "last").startswith("step 14: ")
    assert "numbers 1 to 15" in run(path, "--step", 40, code=2)


# ---- text ----------------------------------------------------------------------------------------
def on_terminal(columns, *arguments, **variables):
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    program = subprocess.Popen([BUILD / "mxprof", "report", *map(str, arguments)], stdout=terminal,
                               env={**environment, "LC_ALL": "C.UTF-8", "TERM": "xterm", **variables})
    os.close(terminal)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:  # how a terminal ends on Linux
        pass
    os.close(master)
    assert program.wait(60) == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 120, 200])
@pytest.mark.parametrize("options", [[], ["--tree"], ["--by", "step"], ["--by", "scope"]])
def test_text_fits_the_terminal(training, columns, options):
    _, path = training
    shown = on_terminal(columns, *options, path)
    lines = re.sub(r"\x1b\[\d*m", "", shown).splitlines()
    assert max(map(len, lines)) <= columns
    assert "\x1b[35m" in shown or "\x1b[1m" in shown
    assert any(eighth in shown for eighth in "▏▎▍▌▋▊▉█") == ("scope" not in options)


def test_deep_levels_are_told_apart_on_a_narrow_screen(tmp_path):
    file = native_file.NativeFile()
    main, depth = file.thread("main"), 30
    for level in reversed(range(depth)):
        file.span(main, file.name(f"function_{level:02}_of_a_module", "program", "span"), 10 * level,
                  1000 - 10 * level)
    path = tmp_path / "deep.mxp"
    path.write_bytes(file.to_bytes())
    lines = run(path, "--tree", COLUMNS="80").splitlines()
    rows = [line for line in lines if re.search("func.*…|function_", line)]
    assert len(rows) == depth and max(map(len, rows)) <= 80
    # A level is a deeper indentation than that of the level above, or a number.
    for above, row in zip(rows, rows[1:]):
        indents = [len(line) - len(line.lstrip(" ")) for line in (above, row)]
        numbers = [int(number[1]) if (number := re.search(r"\[(\d+)\]", line)) else 0 for line in (above, row)]
        assert numbers[1] == numbers[0] + 1 if numbers[0] else numbers[1] or indents[0] < indents[1]
    assert "[31]" in rows[-1]
    assert "[" not in run(path, "--tree")


def test_colour_and_bars_are_for_terminals(training):
    _, path = training
    piped = run(path)
    assert "\x1b" not in piped and "█" not in piped and "#" not in piped
    assert "\x1b" not in on_terminal(80, path, NO_COLOR="1")
    plain = on_terminal(80, path, LC_ALL="C")
    assert "##" in plain and plain.isascii() and " us" in plain
    assert "µs" in on_terminal(80, path)


def test_one_unit_for_all(training):
    _, path = training
    text = run(path, "--unit", "us", "--tree")
    assert "µs" in text and not re.search(r"\d (ns|ms|s)\b", text.split("\n\n", 1)[1])


# ---- what is missing -----------------------------------------------------------------------------
def test_a_window_of_nothing_is_no_table_of_all_time(tmp_path):
    file = native_file.NativeFile()
    main = file.thread("main")
    file.span(main, file.name("work", "program", "span"), 1000, 2000)
    file.counter(main, file.name("queue", "program", "counter"), 3000, 7)
    file.span(main, file.name("work", "program", "span"), 8000, 9000)
    path = tmp_path / "gap.mxp"
    path.write_bytes(file.to_bytes())
    shown = run(path, "--from", "+3us", "--until", "+2us")
    assert "Profile Statistics" not in shown and shown.startswith("2.00 µs of time")
    assert "missing    operators and spans: nothing is recorded in this window" in shown


def test_other_profilers_traces_have_what_they_can_have(tmp_path):
    path = tmp_path / "torch.json"
    path.write_text(foreign_traces.torch())
    answered = answer(path)
    assert [step["number"] for step in answered["steps"] if step["chosen"]] == [3, 4]
    rows = {row["name"]: row for row in answered["spans"]}
    assert rows["aten::linear"]["total_ns"] == 2 * 300_009
    assert rows["aten::linear"]["self_ns"] == 2 * (300_009 - 135_072)
    assert rows["sgemm"]["overlaps"] and answered["path"] is None and answered["layers"] == []
    assert "missing    operators of libmxnet: " in run(path)
    assert "no path without operators of libmxnet" in run(path, "--by", "path", code=3)
    path = tmp_path / "viz.json"
    path.write_text(foreign_traces.viztracer())
    assert "no steps marked: figures are sums" in run(path)
    assert "no steps are marked" in run(path, "--step", "last", code=3)


def test_runs_that_differ_are_not_added_up(tmp_path):
    for pid, label in ((1, "before"), (2, "after"), (3, "after")):
        file = native_file.NativeFile(pid=pid)
        file.info.append(("run.label", label))
        thread, name = file.thread("main"), file.name("work", "app", "span")
        file.span(thread, name, 100, 100 * pid + 200)
        (tmp_path / f"{pid}.mxp").write_bytes(file.to_bytes())
    text = run(tmp_path)
    assert text.startswith("these runs do not belong together, they differ in run.label: each by itself")
    assert re.findall(r"^process (\d)", text, re.MULTILINE) == ["1", "2", "3"]
    together = run(tmp_path, "--force")
    assert "added up by --force" in together and "3 processes together" in together
    assert answer(tmp_path, "--force")["spans"][0]["total_ns"] == 200 + 300 + 400
    (tmp_path / "1.mxp").unlink()
    assert run(tmp_path).startswith("2 processes together")
    assert answer(tmp_path)["spans"][0]["total_ns"] == 700


def test_an_operator_of_several_phases_says_which(tmp_path):
    training = Training(1)
    training.file.meta(training.main, "step", training.marks[-1] + 10, value=17)
    at = training.marks[-1] + 20
    for number, phase in ((900, "forward"), (901, "backward")):
        training.add(number, "sgd_update", training.layers[0], phase, at, at, at, at + 5)
    training.file.meta(training.main, "step", at + 10, value=18)
    path = tmp_path / "trace.mxp"
    path.write_bytes(training.file.to_bytes())
    text = run(path, "--step", "1:", "--top", 50)
    assert re.search(r"^layer0/sgd_update \(update\) ", text, re.MULTILINE)
    assert re.search(r"^layer0/sgd_update \(backward\) ", text, re.MULTILINE)
    assert re.search(r"^layer1/sgd_update  ", text, re.MULTILINE)
    tree = run(path, "--tree", "--step", "1:")
    assert "sgd_update (forward)" in tree


def test_sums_beyond_what_64_bits_hold_stay_there(tmp_path):
    """Ten spans from 1900 to today, of a program that took a time for a duration: in all 2^64 ns and some."""
    names = [{"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": "loop"}} for i in range(10)]
    spans = [{"ph": "X", "name": "long", "pid": 1, "tid": i, "ts": 0, "dur": 4e15, "args": {"of": 1}} for i in range(10)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": names + spans}))
    (row,) = answer(path)["spans"]
    assert row["total_ns"] == row["self_ns"] == 2 ** 64 - 1 and row["calls"] == 10
    assert re.search(r"^long +10 +>584 y +>584 y ", run(path), re.MULTILINE)
    assert re.search(r"loop +10 +>584 y ", run(path, "--tree"))
    (value,) = answer(path, "--by", "arg:of")["rows"]
    assert value["total_ns"] == 2 ** 64 - 1


def test_an_operator_without_a_name_is_on_the_path_like_others(tmp_path):
    class Unnamed(diff_runs.Run):
        def name(self, text, *how, **more):
            return 0 if text == "unnamed" else super().name(text, *how, **more)
    file = Unnamed(1)
    for _ in range(6):
        file.step({"conv": 500_000, "unnamed": 300_000})
    path = tmp_path / "trace.mxp"
    path.write_bytes(file.finish())
    found = answer(path)
    on_path = {row["name"]: row["path_ns"] / found["chosen_steps"] for row in found["operators"]}
    assert on_path == {"conv": 500_000, "": 300_000}
    assert found["path"]["kinds_ns"]["run"] == found["chosen_steps"] * 800_000


def test_steps_of_other_threads_are_told(tmp_path):
    training = Training(2)
    for at in training.marks[:3]:
        training.file.meta(training.worker, "step", at + 1, value=99)
    path = tmp_path / "trace.mxp"
    path.write_bytes(training.file.to_bytes())
    assert "steps are those of thread main, which marked most; left out: 3 marks of 1 other thread\n" in run(path)
    assert [step["number"] for step in answer(path)["steps"]] == list(range(1, 16))


@pytest.mark.parametrize("slow_later, left_out", [(1, 3), (3, 0)])
def test_first_steps_are_left_out_if_each_is_slower_than_99_percent_of_the_others(tmp_path, slow_later, left_out):
    trace = native_file.NativeFile()
    thread, at = trace.thread("main"), 0
    lengths = [20, 20, 20, *[50] * slow_later, *[10] * (200 - slow_later)]
    for number, ms in enumerate([*lengths, 0]):
        trace.meta(thread, "step", at, value=number)
        at += ms * 1_000_000
    path = tmp_path / "trace.mxp"
    path.write_bytes(trace.to_bytes())
    text = run(path)
    assert text.startswith(f"steps {203 - left_out}  ")
    told = "3 first ones, slower than 99 % of the others (--step 0: takes them)"
    assert (told in text) == (left_out > 0)
    assert "of which the end is not recorded" in text
    assert run(path, "--step", "0:").startswith("steps 203  ")
