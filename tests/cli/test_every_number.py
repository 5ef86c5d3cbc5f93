# SPDX-License-Identifier: Apache-2.0
"""Every number that is printed, against a naive computation. A random program knows what it has recorded;
the moments are those of its Chrome trace. Everything else is computed here anew, by the slowest way there
is, and compared with each table, report and trace, for each store."""
import collections
import csv
import decimal
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
sys.path.insert(0, str(SOURCE / "tests/perfetto"))
import perfetto_decoder  # noqa: E402

STORES = {
    "memory": {"aggregate_stats": 1, "continuous_dump": 0},
    "memory, dumped while it records": {"aggregate_stats": 1, "continuous_dump": 1, "dump_period": 0.003},
    "file": {"aggregate_stats": 1, "continuous_dump": 0, "store": "file"},
    "file, dumped while it records": {"aggregate_stats": 1, "continuous_dump": 1, "dump_period": 0.003,
                                      "store": "file"},
    "ring": {"full_policy": "ring", "continuous_dump": 0},
    "ring in a file": {"full_policy": "ring", "continuous_dump": 0, "store": "file"},
}
SEEDS = range(int(os.environ.get("MXPROF_TEST_SEEDS", "2")))
PERCENTS = (50, 90, 99)
Event = collections.namedtuple("Event", "category name begin end thread")


def ns(us):
    return int(decimal.Decimal(us) * 1000)


class Run:
    """What one run left, and what it must say."""

    def __init__(self, folder):
        self.folder = folder
        self.truth = json.loads((folder / "truth.json").read_text())
        self.load_chrome(json.loads((folder / "out.json").read_text(), parse_float=decimal.Decimal))

    def report(self, *options):
        return subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", *options, "out.mxp"], cwd=self.folder, text=True,
                              capture_output=True, timeout=60, check=True).stdout

    def load_chrome(self, trace):
        events = trace["traceEvents"]
        self.threads = {event["tid"]: event["args"]["name"] for event in events
                        if event["ph"] == "M" and event["name"] == "thread_name"}
        self.spans, self.tasks, self.samples = [], [], collections.defaultdict(list)
        self.marks, self.steps, self.states, begun = 0, [], [], {}
        self.sample_order = []
        for event in events:
            if event["ph"] == "M":
                continue
            at, place = ns(event["ts"]), (event["cat"], event["name"])
            if event["ph"] == "X":
                self.spans.append(Event(*place, at, at + ns(event["dur"]), self.threads[event["tid"]]))
            elif event["ph"] == "b":
                begun[event["id2"]["local"]] = at
            elif event["ph"] == "e":
                self.tasks.append(Event(*place, begun.pop(event["id2"]["local"]), at, None))
            elif event["ph"] == "C":
                value, = event["args"].values()
                self.samples[place].append((at, value))
                self.sample_order.append((event["name"], at))
            elif event["cat"] == "step":
                self.steps.append((at, event["name"]))
            elif event["cat"] == "mxprof":
                self.states.append((at, event["name"]))
            else:
                self.marks += 1
        assert not begun
        times = [time for event in self.spans + self.tasks for time in (event.begin, event.end)]
        times += [at for samples in self.samples.values() for at, _ in samples]
        self.last = max(times + [at for at, _ in self.steps + self.states])

    # ---- what must be counted
    def durations(self):
        rows = collections.defaultdict(list)
        for event in self.spans + self.tasks:
            rows[event.category, event.name].append(event.end - event.begin)
        return rows

    def by_thread(self):
        """(event, scope) of each thread in the order of their ends."""
        for thread, known in self.truth["spans"].items():
            events = [event for event in self.spans if event.thread == thread]
            assert [event.name for event in events] == [name for name, _ in known]
            yield [(event, scope) for event, (_, scope) in zip(events, known)]

    def self_times(self):
        rows = collections.defaultdict(list)
        for events in self.by_thread():
            for i, (outer, scope) in enumerate(events):
                inside = [inner for inner, _ in events[:i]
                          if outer.begin <= inner.begin and inner.end <= outer.end]
                direct = [inner for k, inner in enumerate(inside)
                          if not any(around.begin <= inner.begin and inner.end <= around.end
                                     for around in inside[k + 1:])]
                rows["Scopes", scope or "<no scope>"].append(
                    outer.end - outer.begin - sum(inner.end - inner.begin for inner in direct))
        return rows

    def per_step(self):
        rows, sums = collections.defaultdict(list), collections.Counter()
        steps = sorted(self.steps)
        ends = [at for at, _ in steps[1:]] + [self.last]
        for (at, name), end in zip(steps, ends):
            rows["Steps", name].append(end - at)
        for event in self.spans + self.tasks:
            step = sum(at <= event.begin for at, _ in steps)
            duration = event.end - event.begin
            if step == 0:
                rows[event.category + " (outside steps)", event.name].append(duration)
            else:
                sums[event.category, event.name, step] += duration
        for (category, name, _), total in sums.items():
            rows[category, name].append(total)
        for (at, _), end in zip(steps, ends):
            spans = sorted((max(at, event.begin), min(end, event.end)) for event in self.spans)
            for begin, until in spans:  # what is left of the step moves to the end of each span
                if begin <= at < until:
                    at = until
                elif at < begin < until:
                    uncovered, at = begin - at, until
                    sums["rest", end] += uncovered
            sums["rest", end] += end - at
            if sums["rest", end]:
                rows["In no record", "in none of the above"].append(sums["rest", end])
        return rows

    def mean(self, samples):
        """Of a counter from its first sample to the stop, without the pauses."""
        samples = sorted(samples, key=lambda sample: sample[0])
        states = sorted(self.states)
        on = [(at, states[i + 1][0]) for i, (at, name) in enumerate(states[:-1])
              if name in ("profiler run", "profiler resume")]
        total = weight = decimal.Decimal(0)
        for i, (at, value) in enumerate(samples):
            until = samples[i + 1][0] if i + 1 < len(samples) else states[-1][0]
            lasted = sum(max(0, min(until, off) - max(at, begin)) for begin, off in on)
            total += decimal.Decimal(value) * lasted
            weight += lasted
        return float(total / weight) if weight else float(samples[-1][1])

    def counters(self):
        return {place: (len(samples), *(float(figure) for figure in (
                    self.truth["counters"][place[1]][-1], min(value for _, value in samples),
                    max(value for _, value in samples))), self.mean(samples))
                for place, samples in self.samples.items()}


def figures(durations):
    """Count, total, min, max, average; times in ms."""
    return (len(durations), sum(durations) / 1e6, min(durations) / 1e6, max(durations) / 1e6,
            sum(durations) / len(durations) / 1e6)


def percentiles(durations):
    ordered = sorted(durations)
    return tuple(ordered[math.ceil(len(ordered) * percent / 100) - 1] / 1e6 for percent in PERCENTS)


# ---- what is printed ---------------------------------------------------------------------------
def rows_of_json(text):
    parsed = json.loads(text)
    return {(section, name): tuple(row[key] for key in ("Count", "Total", "Min", "Max", "Avg"))
            for section, rows in parsed["Time"].items() for name, row in rows.items()}


def rows_of_csv(text):
    rows = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["kind"] in ("duration", "counter"):
            rows[row["section"], row["name"]] = tuple(
                float(row[key]) for key in ("count", "total", "min", "max", "avg"))
    return rows


def rows_of_table(text):
    rows, section, before = {}, None, ""
    for line in text.splitlines():
        found = re.match(r"(.*?) +(\d+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", line)
        if line.startswith("====="):
            section = before
        elif found and section is not None:
            rows[section, found[1]] = tuple(float(figure) for figure in found.groups()[1:])
        before = line
    return rows


def assert_same(printed, expected, precision=0.0):
    """`precision`: of the last digit of a table."""
    assert printed.keys() == expected.keys()
    for place, row in expected.items():
        assert printed[place][0] == row[0], place
        assert printed[place][1:] == pytest.approx(row[1:], rel=1e-9, abs=max(precision, 1e-9)), place


def run_program(folder, store, seed):
    settings = {"filename": "out.json", "native_filename": "out.mxp", **STORES[store]}
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MX")}
    subprocess.run([sys.executable, SOURCE / "tests/cli/numbers_program.py", BUILD / "libmxprof.so",
                    str(seed), *(f"{key}={value}" for key, value in settings.items())],
                   cwd=folder, env=environment, timeout=120, check=True)
    return Run(folder)


@pytest.fixture(scope="module", name="run", params=[(store, seed) for store in STORES for seed in SEEDS],
                ids=lambda pair: f"{pair[0]}-{pair[1]}")
def run_fixture(request, tmp_path_factory):
    made = run_program(tmp_path_factory.mktemp("run"), *request.param)
    made.has_table = "aggregate_stats" in STORES[request.param[0]]
    return made


def test_the_trace_holds_what_was_recorded(run):
    for _ in run.by_thread():
        pass
    assert sorted(event.name for event in run.tasks) == sorted(run.truth["tasks"])
    assert run.marks == run.truth["instants"]
    assert [name for _, name in run.steps] == [f"step {number}" for number in run.truth["steps"]]
    assert [name for _, name in sorted(run.states)] == [
        "profiler run", "profiler pause", "profiler resume", "profiler stop"]
    for name, values in run.truth["counters"].items():
        recorded = [float(value) for _, value in sorted(run.samples["app", name], key=lambda one: one[0])]
        assert recorded == pytest.approx([float(value) for value in values], rel=1e-12)


def test_counters_stand_in_the_order_of_time(run):
    """Also over the parts of a file that grew: who reads it from its begin sees the values as they came."""
    times = [at for _, at in run.sample_order]
    assert times == sorted(times)


def test_spans_nest_on_their_threads(run):
    for events in run.by_thread():
        for i, (inner, _) in enumerate(events):
            for outer, _ in events[i + 1:]:
                assert outer.begin >= inner.end or outer.begin <= inner.begin


def test_tables_by_name(run):
    expected = {place: figures(durations) for place, durations in run.durations().items()} | run.counters()
    assert_same(rows_of_json(run.report("--json")), expected)
    assert_same(rows_of_csv(run.report("--csv")), expected)
    assert_same(rows_of_table(run.report()), expected, 0.00006)
    if run.has_table:
        assert_same(rows_of_json((run.folder / "dumps.json").read_text()), expected)
        assert_same(rows_of_csv((run.folder / "dumps.csv").read_text()), expected)
        assert_same(rows_of_table((run.folder / "dumps.txt").read_text()), expected, 0.00006)


def test_tables_by_scope(run):
    expected = {place: figures(durations) for place, durations in run.self_times().items()}
    assert_same(rows_of_json(run.report("--by", "scope", "--json")), expected)
    assert_same(rows_of_csv(run.report("--by", "scope", "--csv")), expected)
    assert_same(rows_of_table(run.report("--by", "scope")), expected, 0.00006)


def test_tables_by_step(run):
    expected = {place: figures(durations) for place, durations in run.per_step().items()}
    assert_same(rows_of_json(run.report("--by", "step", "--json")), expected)
    assert_same(rows_of_csv(run.report("--by", "step", "--csv")), expected)
    assert_same(rows_of_table(run.report("--by", "step")), expected, 0.00006)


@pytest.mark.parametrize("by", ["name", "scope", "step"])
def test_percentiles(run, by):
    rows = {"name": run.durations, "scope": run.self_times, "step": run.per_step}[by]()
    printed = json.loads(run.report("--by", by, "--json", "--percentiles"))["Percentiles"]
    printed = {(section, name): row for section, names in printed.items() for name, row in names.items()}
    assert printed.keys() == {place for place in rows if place[0] != "Steps"}
    for place, row in printed.items():
        assert tuple(row[f"P{percent}"] for percent in PERCENTS) == pytest.approx(
            percentiles(rows[place]), rel=1e-12), place


def test_other_traces_of_the_same_file(run):
    """Perfetto's, Chrome's again, and all of it once more from a compressed copy."""
    for name in ("copy.mxpz", "again.json", "copy.pftrace"):
        subprocess.run([BUILD / "mxprof", "convert", "out.mxp", "-o", name], cwd=run.folder, check=True,
                       capture_output=True, timeout=60)
    again = Run(run.folder)
    again.load_chrome(json.loads((run.folder / "again.json").read_text(), parse_float=decimal.Decimal))
    assert sorted(again.spans) == sorted(run.spans)
    assert sorted(event[:4] for event in again.tasks) == sorted(event[:4] for event in run.tasks)
    assert {place: sorted(samples) for place, samples in again.samples.items()} == {
        place: sorted(samples) for place, samples in run.samples.items()}
    plain = json.loads(run.report("--json"))
    copied = json.loads(subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--json", "copy.mxpz"], cwd=run.folder,
                                       check=True, capture_output=True, timeout=60).stdout)
    for member in ("Time", "Memory", "Unit", "Frames"):
        assert plain[member] == copied[member]
    trace = perfetto_decoder.Trace((run.folder / "copy.pftrace").read_bytes())
    start = min(one.begin for one in trace.slices) - min(event.begin for event in run.spans + run.tasks)
    assert collections.Counter((one.category, one.name, one.begin - start, one.end - start)
                               for one in trace.slices) == (
        collections.Counter(event[:4] for event in run.spans + run.tasks))
    assert collections.Counter((one.time - start, float(one.value)) for one in trace.samples) == (
        collections.Counter((at, float(value)) for samples in run.samples.values() for at, value in samples))
