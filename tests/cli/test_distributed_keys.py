# SPDX-License-Identifier: Apache-2.0
"""How much of a store over processes is recorded, as options of mx.profiler.set_config, by real processes."""
import collections
import json
import subprocess

import local_job
import pytest

STEPS = 10

# Three parts of STEPS pushes and pulls each: messages of worker 0 alone; rounds; statistics.
PROGRAM = f"""
import mxnet as mx
mx.profiler.set_config(distributed_detail="messages", distributed_ranks=[0])
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((10, 10)), mx.nd.zeros((10, 10))
kv.init("a", value)
def part():
    for _ in range({STEPS}):
        kv.push("a", value)
        kv.pull("a", out)
        out.wait_to_read()
    kv.barrier()
part()
mx.profiler.set_config(distributed_detail="rounds", distributed_ranks="all")
kv.barrier()
part()
mx.profiler.set_config(distributed_detail="statistics")
kv.barrier()
part()
"""

needs_runtime = pytest.mark.skipif(not local_job.HAS_RUNTIME, reason="the runtime is not built")


def spans_by_process(folder, tmp_path):
    """How many spans of each name each process has, by its name without the host."""
    out = tmp_path / "all.json"
    subprocess.run([local_job.BUILD / "mxprof", "merge", folder, "-o", out], check=True, capture_output=True, timeout=60)
    events = json.loads(out.read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"].split(" (")[0] for event in events
             if event["ph"] == "M" and event["name"] == "process_name"}
    counts = collections.Counter()
    for event in events:
        if event["ph"] in "bX" and event.get("cat", "").startswith("communication"):
            counts[names[event["pid"]], event["name"]] += 1
    return counts


@needs_runtime
def test_detail_and_ranks_are_options_that_a_running_store_follows(tmp_path):
    local_job.run(PROGRAM, folder=tmp_path / "job")
    counts = spans_by_process(tmp_path / "job", tmp_path)
    push = "KVStoreDistDefaultPush"
    assert counts["worker 0", push] == 2 * STEPS and counts["worker 1", push] == STEPS
    # A push and a pull are a message each, and so is the value that init sends; each is told on both ends.
    assert counts["worker 0", "send"] == 2 * STEPS + 1 and counts["worker 1", "send"] == 0
    assert counts["server 0", "receive"] == 2 * STEPS + 1


PUT = """
import mxnet as mx
for option, value in (("distributed_detail", "all"), ("distributed_ranks", "0;2"), ("distributed_ranks", ""),
                      ("distributed_ranks", "1,")):
    try:
        mx.profiler.set_config(filename="/nowhere/it.json", **{option: value})
        raise SystemExit(f"{option}={value} was taken")
    except mx.MXNetError as error:
        print(error)
"""


@needs_runtime
def test_a_wrong_value_is_told_and_changes_nothing(tmp_path):
    result = subprocess.run([local_job.sys.executable, "-c", PUT], capture_output=True, text=True, timeout=60, check=False,
                            cwd=tmp_path, env={**local_job.os.environ, "PYTHONPATH": str(local_job.SOURCE / "python"),
                                               "MXNET_LIBRARY_PATH": str(local_job.BUILD)})
    assert result.returncode == 0, result.stderr
    told = [line for line in result.stdout.splitlines() if "set it to" in line]
    assert "distributed_detail='all': set it to one of rounds, messages, statistics" in told[0]
    assert len(told) == 4 and all("set it to all, or to ranks with commas between them" in line for line in told[1:])
    assert "/nowhere" not in result.stderr


COUNTED = f"""
import mxnet as mx
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((10, 10)), mx.nd.zeros((10, 10))
long, long_out = mx.nd.ones((1100, 1000)), mx.nd.zeros((1100, 1000))  # halves on both servers
kv.init("a", value)
kv.init("b", long)
kv.barrier()
for _ in range({STEPS}):
    kv.push("a", value)
    kv.pull("a", out)
    kv.pushpull("b", long, out=long_out)
    out.wait_to_read()
    long_out.wait_to_read()
"""


def counted_rows(path):
    report = subprocess.run([local_job.BUILD / "mxprof", "report", "--json", path], check=True, capture_output=True, timeout=60)
    return {(row["what"], row["of"]): row for row in json.loads(report.stdout).get("communication", [])}


@needs_runtime
def test_statistics_are_a_table_of_each_process_and_of_all(tmp_path):
    folder = tmp_path / "job"
    local_job.run(COUNTED, folder=folder, servers=2, MXPROF_DISTRIBUTED_DETAIL="statistics")
    push, both = "KVStoreDistDefaultPush", "KVStoreDistDefaultStoragePushPull"
    rows = counted_rows(folder)
    assert rows[push, "a"]["times"] == rows[both, "b"]["times"] == 2 * STEPS
    assert rows[both, "b"]["bytes"] == {name: 4_400_000 for name in ("min", "p50", "p90", "p99", "max")} | {
        "total": 2 * STEPS * 4_400_000}
    assert rows["KVStoreDistDefaultStoragePull", "a"]["waited_ns"] is None and rows["barrier", ""]["bytes"] is None
    # A part of "b" is on each server; "a" is on one.
    assert rows["KVStore round", "b"]["times"] == 2 * STEPS and rows["KVStore round", "a"]["times"] == STEPS
    assert rows["KVStore round", "b"]["bytes"]["max"] == 2_200_000
    for row in rows.values():
        time = row["time_ns"]
        assert time["min"] <= time["p50"] <= time["p90"] <= time["p99"] <= time["max"] <= time["total"]
    alone = [counted_rows(path) for path in folder.iterdir()]
    assert sum((push, "a") in found for found in alone) == sum(("KVStore round", "b") in found for found in alone) == 2
    for key, row in rows.items():
        assert row["times"] == sum(found[key]["times"] for found in alone if key in found)
    text = subprocess.run([local_job.BUILD / "mxprof", "report", folder], check=True, capture_output=True, text=True,
                          timeout=60).stdout
    assert "KVStoreDistDefaultPush" in text.split("communication  ")[-1] and "without records" not in text
    server = next(path for path, found in zip(folder.iterdir(), alone) if ("KVStore round", "b") in found)
    table = subprocess.run([local_job.BUILD / "mxprof", "report", "--layout", "mxnet", "--csv", server], check=True,
                           capture_output=True, text=True, timeout=60).stdout
    assert (f'"communication bytes","KVStore round: b",value,bytes,{STEPS},{STEPS * 2_200_000},2200000,2200000,2200000' in
            table)


@needs_runtime
def test_a_run_that_records_has_no_such_table(tmp_path):
    local_job.run(COUNTED, folder=tmp_path / "job")
    assert counted_rows(tmp_path / "job") == {}
