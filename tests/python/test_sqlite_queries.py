# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/sqlite.md on a real LeNet run: what they answer is what the trace's tables say otherwise."""
import json
import subprocess
import sys

import pytest

from python_program import BUILD, SOURCE, run_file
from test_train_lenet import LAYERS, PROGRAM, write_digits

sys.path.insert(0, str(SOURCE / "tests/cli"))
import sqlite_queries  # noqa: E402
import stack_readers  # noqa: E402

STEPS = 6


@pytest.fixture(name="folder", scope="module")
def lenet_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lenet")
    data = write_digits(folder / "mnist", 64 * (STEPS + 2))
    done = run_file([PROGRAM, "out", "--epochs", "1", "--steps", str(STEPS), "--data", data], folder, 120)
    assert (done.code, done.err) == (0, "")
    return folder / "out"


@pytest.fixture(name="database", scope="module")
def database_fixture(folder):
    return sqlite_queries.database_of(folder / "profile.mxp", folder)


def report(folder, *options):
    printed = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--json", *options, folder / "profile.mxp"], check=True,
                             capture_output=True, text=True, timeout=60).stdout
    return json.loads(printed)


def test_top_own_time(database):
    rows = sqlite_queries.ask(database, 0)
    assert len(rows) == sqlite_queries.shown_rows(0)
    own = [row["own_ms"] for row in rows]
    assert own == sorted(own, reverse=True) and own[-1] > 0
    assert any("Convolution" in row["name"] for row in rows)


def test_operators_of_the_slowest_step(database):
    rows = sqlite_queries.ask(database, 1)
    lengths = dict(database.execute("select number, end_ns - begin_ns from step").fetchall())
    assert len(lengths) == STEPS and len(rows) == sqlite_queries.shown_rows(1)
    assert {row["step"] for row in rows} == {max(lengths, key=lengths.get)}
    assert any(row["name"].endswith("Convolution") for row in rows)


def test_what_waited_longest_on_what(database):
    rows = sqlite_queries.ask(database, 2)
    assert len(rows) == sqlite_queries.shown_rows(2)
    (total,), = database.execute("""select sum(blocked_ns) / 1e6 from operator_named
        where released_by is not null and name != 'DeleteVariable'""").fetchall()
    assert 0 < sum(row["waited_ms"] for row in rows) <= total + 0.1


def test_memory_owners_at_the_peak(database, folder):
    rows = sqlite_queries.ask(database, 3)
    assert len(rows) == sqlite_queries.shown_rows(3)
    assert any(row["owner"].startswith("lenet:") for row in rows)
    # Without its limit the query has all that lives then and was not there before, which the records tell too.
    sql = sqlite_queries.QUERIES[3][0].replace("limit 5;", "")
    (peak,), = database.execute("select max(live) / 1e3 from memory where device = 'cpu/0'").fetchall()
    (before,), = database.execute("select (live - bytes) / 1e3 from memory where device = 'cpu/0' limit 1").fetchall()
    assert sum(kilobytes for _, _, kilobytes in database.execute(sql)) + before == pytest.approx(peak, abs=1)
    assert report(folder)["Memory"]["Device Storage"]["Memory: cpu/0"]["Max"] == pytest.approx(peak)


def test_stacks_have_every_layer_s_time(folder):
    """Folded, speedscope's and pprof's stacks of the same run: operators are in their layer's scope."""
    subprocess.run([BUILD / "mxprof", "convert", folder / "profile.mxp", "-o", folder / "out.folded"], check=True,
                   capture_output=True, timeout=60)
    found = stack_readers.folded((folder / "out.folded").read_text(), False)
    rows = report(folder, "--by", "scope")["Time"]["Scopes"]
    assert sum(found.values()) == pytest.approx(sum(row["Total"] for row in rows.values()) * 1e6, rel=1e-9)
    for layer in LAYERS - {"flatten0"}:
        assert sum(ns for stack, ns in found.items() if any(layer in frame for frame in stack[1:])) > 0, layer
