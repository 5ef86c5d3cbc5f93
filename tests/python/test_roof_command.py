# SPDX-License-Identifier: Apache-2.0
"""mxprof roof on a real run of LeNet with ceilings that are measured here: no operator is above 105 % of its
ceiling, or the ceilings are void; costs and sums are those of the records."""
import json
import os
import sqlite3
import subprocess

import pytest

from python_program import BUILD, SOURCE, run_file


@pytest.fixture(scope="module", name="run")
def run_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roof")
    done = run_file([str(SOURCE / "examples/python/train_lenet.py"), ".", "--epochs", "1"], folder, 180)
    assert done.code == 0, done.err
    mxprof(folder, "roof", "--measure", code=(0,))
    return folder


def mxprof(folder, *arguments, code=(0, 3)):
    done = subprocess.run([BUILD / "mxprof", *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
                          check=False, env=dict(os.environ, XDG_CACHE_HOME=str(folder / "cache")))
    assert done.returncode in code, done.stderr
    return done


def test_no_operator_is_above_its_ceiling_or_all_is_void(run):
    done = mxprof(run, "roof", "--json", "profile.mxp")
    told = json.loads(done.stdout)
    rows = [row for group in told["operators"] for row in group["rows"]]
    known = [row for row in rows if "least_ns" in row]
    shares = [row["least_ns"] * row["calls"] / row["run_ns"] for row in known]
    assert told["is_void"] == (max(shares) > 1.05) == (done.returncode == 3)
    if not told["is_void"]:
        assert [row["share"] for row in known] == pytest.approx(shares)
    families = {row["family"] for group in told["operators"] if group["operator"] == "Convolution"
                for row in group["rows"]}
    assert families == {"product"}


def test_calls_and_times_are_those_of_the_records(run):
    told = json.loads(mxprof(run, "roof", "--json", "--from", "0s", "profile.mxp").stdout)
    done = mxprof(run, "convert", "profile.mxp", "-o", "trace.sqlite", code=(0, 1))
    if "was built without SQLite" in done.stderr:
        pytest.skip("the command is built without SQLite")
    rows = sqlite3.connect(run / "trace.sqlite").execute(
        "select name.text, count(*), sum(end_ns - start_ns) from operator join name on name.id = operator.name "
        "where flops > 0 or bytes > 0 group by 1").fetchall()
    sums = {}
    for group in told["operators"]:
        for row in group["rows"]:
            if row["flops"] > 0 or row["bytes"] > 0:
                calls, ns = sums.get(group["operator"], (0, 0))
                sums[group["operator"]] = calls + row["calls"], ns + row["run_ns"]
    for name, calls, ns in rows:
        if name in sums:
            assert sums[name] == (calls, ns), name
    assert {"Convolution", "_backward_Convolution", "Pooling", "sgd_mom_update"} <= sums.keys()
