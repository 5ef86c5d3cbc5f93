# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/ measure the claims that are due, with the goals that were set, and print
rows of the promised form."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
DUE = json.loads((TREE / "bench/claims.json").read_text(encoding="utf-8"))
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release"))
pytestmark = pytest.mark.usefixtures("built")
FIELDS = ["name", "unit", "value", "subject", "reference", "ratio", "min", "max", "better", "must",
          "aim", "ok"]


def run(*arguments):
    return subprocess.run([sys.executable, TREE / "bench/run.py", "--build", BUILD, *arguments],
                          capture_output=True, text=True, timeout=120)


def test_every_claim_due_is_measured_and_no_other():
    result = run("--list")
    assert result.returncode == 0, result.stderr
    measured = {claim["name"]: claim for claim in json.loads(result.stdout)}
    due = {claim["name"]: claim for claim in DUE}
    assert sorted(due.keys() - measured.keys()) == [], "claims.json has them, no program measures them"
    assert sorted(measured.keys() - due.keys()) == [], "a program measures them, claims.json lacks them"
    for name, claim in due.items():
        assert measured[name] == claim, "the program's table has other goals than claims.json"
    assert len(due) == len(DUE), "a name is twice in claims.json"


def test_a_row_has_the_promised_fields(tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", "R7 bytes per span", "--output", output)
    assert result.returncode == 0, result.stderr
    row, = json.loads(output.read_text(encoding="utf-8"))
    assert list(row)[:len(FIELDS)] == FIELDS
    assert row["name"] == "R7 bytes per span in memory"
    assert row["better"] == "lower" and row["must"] == 24
    assert 16 <= row["value"] <= 24 and row["ok"] is True
    assert "R7 bytes per span in memory" in result.stdout


def test_disturbed_rounds_give_figures_and_no_verdict(tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", "R5", "--rounds", "1", "--disturbed", "--output", output)
    assert result.returncode == 0, result.stderr
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == [claim["name"] for claim in DUE if claim["name"][:3] == "R5 "]
    assert len(rows) > 1
    for row in rows:
        assert row["ok"] is None and row["ratio"] > 0
        assert row["ratio"] == pytest.approx(row["subject"] / row["reference"], rel=1e-4)


def test_a_peer_that_is_not_installed_is_a_row_without_a_verdict(tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", "V1", "--peers", "--peer-folder", tmp_path / "nothing", "--output",
                 output)
    assert result.returncode == 0, result.stderr
    for row in json.loads(output.read_text(encoding="utf-8")):
        assert row["ok"] is None and row["ratio"] is None
        assert "not installed" in row["note"]


RUNTIME_ALONE = ["E1 empty operations, one variable, over a bare hand-off", "E3", "E10"]


@pytest.mark.parametrize("claim", RUNTIME_ALONE)
def test_claims_about_the_runtime_need_no_peer(claim, tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", claim, "--rounds", "1", "--disturbed", "--output", output)
    assert result.returncode == 0, result.stderr
    rows = json.loads(output.read_text(encoding="utf-8"))
    assert rows
    for row in rows:
        assert (row["value"] or row["ratio"]) is not None, row["note"]


def side(workload, commands):
    """What runtime_side answers, on our own library."""
    result = subprocess.run([BUILD / "bench/runtime_side", workload, BUILD / "libmxnet.so"],
                            input="".join(command + "\n" for command in commands),
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("workload", ["in_turn", "chain", "three", "wait", "plus_scalar", "lenet"])
def test_a_batch_is_recorded_only_when_it_is_told_so(workload):
    first, off, after_off, on, after_on = side(workload, ["off", "off", "drain", "on", "drain"])
    assert all(answer["ns"] > 0 for answer in (first, off, on))
    assert after_off["records"] == 0 and after_on["records"] > 0


def test_recorded_operations_are_all_there():
    """60,000 operations, as many calls, and the call that waits."""
    _, drained = side("chain", ["on", "drain"])
    assert drained["records"] >= 120_001


def python_side(workload, commands, *options):
    """What python_side.py answers."""
    result = subprocess.run([sys.executable, TREE / "bench/python/python_side.py", workload, *options],
                            input="".join(command + "\n" for command in commands),
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


OURS = ["--library", BUILD / "libmxnet.so"]


@pytest.mark.parametrize("workload, core, least",
                         [("pair", "extension", 20_000), ("pair", "ctypes", 20_000),
                          ("with", "extension", 20_000), ("plus_one", "extension", 10_000),
                          ("lenet", "extension", 50)])
def test_a_batch_in_python_is_recorded_only_when_it_is_told_so(workload, core, least):
    first, off, after_off, on, after_on = python_side(
        workload, ["off", "off", "drain", "on", "drain"], *OURS, "--core", core)
    assert all(answer["ns"] > 0 for answer in (first, off, on))
    assert after_off["records"] == 0 and after_on["records"] >= least


@pytest.mark.parametrize("workload", ["pair", "with"])
def test_the_floor_in_python_has_the_same_workloads(workload):
    answer, = python_side(workload, ["off"], "--floor", BUILD / "bench")
    assert answer["ns"] > 0


def test_the_rate_of_an_import_needs_no_peer(tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", "C9", "--rounds", "1", "--disturbed", "--output", output)
    assert result.returncode == 0, result.stderr
    row, = json.loads(output.read_text(encoding="utf-8"))
    assert row["unit"] == "MB/s" and row["ratio"] > 1, row["note"]


def test_a_claim_about_python_needs_no_peer(tmp_path):
    output = tmp_path / "bench.json"
    result = run("--bench", "P1", "--rounds", "1", "--disturbed", "--output", output)
    assert result.returncode == 0, result.stderr
    row, = json.loads(output.read_text(encoding="utf-8"))
    assert row["ratio"] > 0, row["note"]


def test_an_unknown_command_ends_a_side():
    result = subprocess.run([BUILD / "bench/runtime_side", "hand_off"], input="sleep\n",
                            capture_output=True, text=True, timeout=20)
    assert result.returncode != 0 and "unknown command" in result.stderr


def test_an_unknown_claim_is_an_error():
    result = run("--bench", "R99")
    assert result.returncode != 0
    assert "R99" in result.stderr
