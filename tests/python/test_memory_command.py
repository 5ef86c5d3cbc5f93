# SPDX-License-Identifier: Apache-2.0
"""mxprof memory on real runs: a program that leaks a known number of bytes a step, and LeNet, whose
peak and owners are added up once more from the SQLite export by a loop that shares nothing with it."""
import collections
import json
import sqlite3
import subprocess

import pytest

from python_program import BUILD, SOURCE, run_file, run_python

LEAK = """
import mxnet as mx
from mxnet import profiler
profiler.set_config(profile_all=True, filename="leak.json", native_filename="leak.mxp")
profiler.set_state("run")
kept = []
work = mx.nd.ones((300, 300))
for step in range(40):
    profiler.step()
    with profiler.scope("cache"):
        kept.append(mx.nd.zeros((250, 400)))  # 400,000 bytes that stay
    for _ in range(3):
        work = work * 0.5 + 1
    mx.nd.waitall()
profiler.set_state("stop")
profiler.dump()
"""


def memory_of(path, *options, code=0):
    done = subprocess.run([BUILD / "mxprof", "memory", "--json", *options, path], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)["devices"]


@pytest.fixture(scope="module", name="leak")
def leak_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leak")
    done = run_python(LEAK, folder)
    assert (done.code, done.err) == (0, "")
    return folder / "leak.mxp"


@pytest.fixture(scope="module", name="lenet")
def lenet_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lenet")
    done = run_file([str(SOURCE / "examples/python/train_lenet.py"), ".", "--epochs", "1"], folder, 180)
    assert done.code == 0, done.err
    return folder / "profile.mxp"


def test_leak_is_as_large_as_it_was_made(leak):
    device, = memory_of(leak, "--growth")
    growth = device["growth"]
    assert growth["steps"] == 40
    assert growth["grows"] and growth["z"] > 4
    assert growth["bytes_a_step"] == 400_000
    assert growth["bytes_a_step_low"] == growth["bytes_a_step_high"] == 400_000
    owner = growth["owners"][0]
    assert owner["owner"].startswith("cache ") and owner["bytes_a_step"] == 400_000
    assert sum(owner["bytes_a_step"] for owner in growth["owners"]) + growth["bytes_a_step_of_others"] == 400_000


def test_leak_is_told_in_words(leak):
    done = subprocess.run([BUILD / "mxprof", "memory", "--growth", leak], capture_output=True, text=True,
                          check=True, timeout=60)
    assert "growth: +400 kB a step" in done.stdout
    assert "cache" in done.stdout


def recomputed(path, folder):
    """(peak, ns, {(scope, array): bytes}) of each device, from the database alone."""
    done = subprocess.run([BUILD / "mxprof", "convert", path, "-o", folder / "trace.sqlite"], check=False,
                          capture_output=True, text=True, timeout=60)
    if "was built without SQLite" in done.stderr:
        pytest.skip("the command is built without SQLite")
    rows = sqlite3.connect(folder / "trace.sqlite").execute(
        "select device, ns, scope, name, block, bytes, live, kind from memory order by rowid").fetchall()
    devices = {}
    for device, ns, scope, name, block, size, live, kind in rows:
        blocks, peak = devices.setdefault(device, ({}, [0, 0, None]))
        if kind == "free":
            blocks.pop(block, None)
        else:
            blocks[block] = (scope, name, size)
        if live > peak[0]:
            owners = collections.Counter()
            for place, label, taken in blocks.values():
                owners[place, label] += taken
            peak[:] = live, ns, owners
    return {device: peak for device, (_, peak) in devices.items()}


@pytest.mark.parametrize("which", ["leak", "lenet"])
def test_peak_and_owners_are_those_of_the_records(which, leak, lenet, tmp_path):
    path = leak if which == "leak" else lenet
    again = recomputed(path, tmp_path)
    devices = memory_of(path, "--by", "owner")
    assert {device["device"] for device in devices} == set(again)
    for device in devices:
        peak, ns, owners = again[device["device"]]
        assert (device["peak"]["bytes"], device["peak"]["at_ns"]) == (peak, ns)
        named = [row for row in device["owners"] if row["kind"] == "owner"]
        assert sum(row["bytes"] for row in device["owners"]) == peak == device["bytes"]
        # Categories are not in the database: rows that differ in nothing else are one there.
        sums = collections.Counter()
        for row in named:
            sums[row["owner"]] += row["bytes"]
        found = sorted(sums.values())
        # A census is not in the database either: nothing lived before the leak's recording.
        assert (device["census_blocks"] > 0) == (which == "lenet")
        assert device["census_blocks"] > 0 or found == sorted(owners.values())
        assert device["gaps"] == 0


def test_what_is_used_later_was_used_by_no_operator_at_the_peak(lenet):
    device, = memory_of(lenet, "--later")
    blocks = device["blocks_at_peak"]
    named = sum(row["bytes"] for row in device["owners"] if row["kind"] == "owner")
    assert sum(block["bytes"] for block in blocks) == named
    later = [block for block in blocks if block["used"] == "later"]
    assert later and all(block["used_ns"] > device["peak"]["at_ns"] for block in later)
    unknown = sum(block["bytes"] for block in blocks if block["used"] == "unknown")
    assert unknown < named / 2


RING = """
import mxnet as mx
from mxnet import profiler
work = mx.nd.ones((300, 300))
for step in range(3000):
    profiler.step()
    work = (work * 0.5 + 1).copy()
    mx.nd.waitall()
"""


def test_ring_says_from_when_on_owners_are_exact(tmp_path):
    done = run_python(RING, tmp_path, MXNET_PROFILER_AUTOSTART="1", MXPROF_STORE="file", MXPROF_FULL_POLICY="ring",
                      MXPROF_MEMORY_LIMIT_BYTES=str(1 << 20), MXPROF_NATIVE_FILENAME="ring.mxp")
    assert done.code == 0, done.err
    text = subprocess.run([BUILD / "mxprof", "memory", tmp_path / "ring.mxp"], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    assert "a ring: totals are exact, owners from" in text
    device, = memory_of(tmp_path / "ring.mxp")
    assert sum(row["bytes"] for row in device["owners"]) == device["peak"]["bytes"]
