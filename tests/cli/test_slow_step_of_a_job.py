# SPDX-License-Identifier: Apache-2.0
"""A slow step of one worker has every process of its job keep the same time: one folder a slow step, with a file of each process that
records, in which `explain` sees that step on all workers. Real processes of this machine, in rings."""
import json
import os
import subprocess

import local_job
import pytest

STEPS, SLOW, LATE, PAUSE_S = 90, 25, 70, 0.5

# Each step takes 20 ms; worker 1 sleeps PAUSE_S more in step SLOW, and worker 0 in step LATE. With "one" the worker
# that comes first records nothing.
PROGRAM = f"""
import os, sys, time
if os.environ["DMLC_ROLE"] == "worker" and "one" in sys.argv:
    try:
        os.mkdir("first")
        os.environ.pop("MXPROF_RUN")
    except FileExistsError:
        pass
import mxnet as mx
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((100, 100)), mx.nd.zeros((100, 100))
kv.init("a", value)
for step in range({STEPS}):
    mx.profiler.step()
    time.sleep(0.02 + ({PAUSE_S} if (kv.rank, step) in ((1, {SLOW}), (0, {LATE})) else 0))
    kv.push("a", value)
    kv.pull("a", out)
    out.wait_to_read()
kv.barrier()
"""

pytestmark = pytest.mark.skipif(not local_job.HAS_RUNTIME, reason="the runtime is not built")


def train(at, *arguments, ms, **variables):
    settings = {"MXPROF_FULL_POLICY": "ring", "MXPROF_SNAPSHOT_STEP_FACTOR": "12", "MXPROF_SNAPSHOT_MS": str(ms),
                "MXPROF_SNAPSHOT_FILENAME": str(at / "kept.mxp")}
    local_job.run(PROGRAM, *arguments, folder=at / "job", **{**settings, **variables})
    return sorted(at.glob("kept*"))


def mxprof(*arguments):
    result = subprocess.run([local_job.BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def names(folder):
    return sorted(os.listdir(folder))


def longest_step(path):
    return max(mxprof("report", "--json", path)["steps"], key=lambda step: step["length_ns"])


def test_every_process_keeps_the_time_of_a_slow_step_of_one(tmp_path):
    kept = train(tmp_path, ms=900)
    assert len(kept) == 2, kept  # one for each slow step, although both workers saw it as slow
    by_step = {}
    for folder in kept:
        assert names(folder) == ["scheduler0_slow_step.mxp", "server0_slow_step.mxp", "worker0_slow_step.mxp", "worker1_slow_step.mxp"]
        slow = [longest_step(folder / f"worker{rank}_slow_step.mxp") for rank in (0, 1)]
        assert slow[0]["number"] == slow[1]["number"]
        assert all(step["length_ns"] >= PAUSE_S * 1e9 for step in slow)
        by_step[slow[0]["number"]] = folder
    assert len(by_step) == 2 and max(by_step) - min(by_step) == LATE - SLOW
    found = mxprof("explain", "--json", by_step[min(by_step)])["between_ranks"]
    assert [owner["owner"].split(" (")[0] for owner in found["owners"]] == ["server 0"]
    assert {rank["worker"].split()[1] for rank in found["workers"]} == {"0", "1"}
    # Of that step alone, which the server, as it has none, does not stand in the way of.
    alone = mxprof("explain", "--json", "--step", "slowest", by_step[min(by_step)])["between_ranks"]
    assert alone["steps"] == 1 and all(rank["step_ns"] >= PAUSE_S * 1e9 for rank in alone["workers"])
    waited = {rank["worker"].split()[1]: rank["waited_ns"] for rank in alone["workers"]}
    assert waited["0"] > 0.9 * (PAUSE_S * 1e9) and waited["1"] < 0.1 * waited["0"]


def test_who_records_nothing_keeps_nothing(tmp_path):
    kept = train(tmp_path, "one", ms=900)
    assert len(kept) == 2, kept
    for folder in kept:
        assert names(folder)[:2] == ["scheduler0_slow_step.mxp", "server0_slow_step.mxp"] and len(names(folder)) == 3


def test_slow_steps_within_the_distance_are_kept_once(tmp_path):
    assert len(train(tmp_path, ms=60000)) == 1
