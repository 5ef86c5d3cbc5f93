# SPDX-License-Identifier: Apache-2.0
"""examples/trace.c against what MXNet's guide shows of the same program: the rows of the table,
their counts, the memory samples, and the two threads of the trace."""
import os
import subprocess

import pytest

from harness import BUILD, EXPECTED, ROW, sections, trace_items

PROGRAM = BUILD / "trace"


def run_with(engine, directory):
    if not PROGRAM.exists():
        pytest.skip("examples are not built")
    done = subprocess.run([PROGRAM, directory], timeout=60, check=True, text=True,
                          stdout=subprocess.PIPE, cwd=directory,
                          env={**os.environ, "MXNET_ENGINE_TYPE": engine})
    return done.stdout, trace_items(directory / "trace_profile.json")


@pytest.fixture(scope="module", name="run")
def run_fixture(tmp_path_factory):
    return run_with("ThreadedEnginePerDevice", tmp_path_factory.mktemp("trace"))


@pytest.fixture(scope="module", name="run_of_either",
                params=["ThreadedEnginePerDevice", "NaiveEngine"])
def run_of_either_fixture(request, tmp_path_factory):
    return run_with(request.param, tmp_path_factory.mktemp("trace"))


def counts(text):
    rows = (ROW.match(line) for line in text.split("\n"))
    return {row["name"].strip(): int(row["count"]) for row in rows if row}


def test_rows_and_counts_are_the_guides(run_of_either):
    table, _ = run_of_either
    guide = (EXPECTED / "seed000_trace.table.txt").read_text(encoding="utf-8")
    # A wait that finds the write done leaves no operator, and MXNet has no rows of pools and of their calls of the
    # system.
    wanted, found = counts(guide), counts(table)
    for name in ("WaitForVar", "Pool: cpu/0", "from system", "to system"):
        wanted.pop(name, None)
        found.pop(name, None)
    assert found == wanted
    assert set(sections(table)) - {"Pool Memory", "memory"} == set(sections(guide))


def test_memory_samples_are_the_guides(run_of_either):
    _, items = run_of_either
    samples = [value for item in sorted(items, key=lambda item: item["ts"])
               if item["name"] == "Memory: cpu/0"
               for value in item["args"].values()]
    assert samples == [36, 48, 52]


def test_operators_run_on_a_thread_of_their_own(run):
    _, items = run
    spans = [item for item in items if item["ph"] == "X"]
    operators = {item["name"]: item for item in spans if item["cat"] == "operator"}
    calls = {item["tid"] for item in spans if item["cat"] == "MXNET_C_API"}
    workers = {item["tid"] for name, item in operators.items() if name != "WaitForVar"}
    assert len(calls) == 1 and len(workers) == 1 and calls != workers
    order = sorted((item["ts"], name) for name, item in operators.items() if name != "WaitForVar")
    assert [name for _, name in order] == ["diag", "ResourceParallelRandomSetSeed", "sum"]
    # `sum` was released by `diag`, unless that was over when it was pushed.
    diag, total = operators["diag"], operators["sum"]
    pushed = total["ts"] - total["args"].get("queued_us", 0) - total["args"].get("blocked_us", 0)
    assert total["args"].get("after") == diag["args"]["op"] or pushed >= diag["ts"] + diag["dur"] - 0.01


def test_naive_engine_runs_operators_inside_the_calls(tmp_path):
    _, items = run_with("NaiveEngine", tmp_path)
    spans = [item for item in items if item["ph"] == "X"]
    calls = [item for item in spans if item["name"] == "MXImperativeInvoke"]
    for name in ("diag", "sum"):
        operator = next(item for item in spans if item["name"] == name)
        assert any(call["tid"] == operator["tid"] and call["ts"] <= operator["ts"] and
                   operator["ts"] + operator["dur"] <= call["ts"] + call["dur"] + 0.0005
                   for call in calls)


def test_operators_end_before_the_wait_does(run):
    _, items = run
    wait = next(item for item in items if item["name"] == "MXNDArrayWaitAll")
    for item in items:
        if item["ph"] == "X" and item["cat"] == "operator":
            assert item["ts"] + item["dur"] <= wait["ts"] + wait["dur"]
