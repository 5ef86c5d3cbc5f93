# SPDX-License-Identifier: Apache-2.0
"""info --json: the facts of a file whose every byte is known, of rings, and the configuration that a program
recorded with; and what `info` says of the configuration in words."""
import json
import pathlib
import subprocess

import native_file
import pytest
import server_runs
from test_instances import answer, run


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_json_has_the_facts_of_the_file(tmp_path):
    file = native_file.sample()
    path = written(tmp_path, "sample.mxp", file.to_bytes())
    found = answer("info", path)
    assert (found["file"], found["bytes"], found["is_whole"]) == (str(path), path.stat().st_size, True)
    (process,) = found["processes"]
    assert (process["process"], process["state"], process["lost"]) == (4711, "finished", 7)
    assert process["written_real_ns"] == file.realtime_ns
    assert (process["clock"]["points"], process["clock"]["ns_per_tick"]) == (2, 1)
    records = {row["kind"]: row["count"] for row in process["records"]["kinds"]}
    assert sum(records.values()) == process["records"]["all"] == sum(thread["records"] for thread in file.threads)
    assert records["COUNTER"] == 3 and process["names"] == len(file.names)
    assert [(row["thread"], row["name"], row["lost"], row["end_ns"]) for row in process["threads"]] == [
        (0, "main", 0, 9_600_000_000), (1, 'helper "one"', 7, None)]
    assert [(row["thread"], row["count"], row["begin_ns"]) for row in process["losses"]] == [
        (1, 7, 700_000_000), (None, 2, 900_000_000)]
    assert {"key": "command", "value": "app --fast"} in process["info"]
    assert "ring" not in process and "config" not in process


def test_json_has_every_process_and_whether_the_file_is_whole(tmp_path):
    folder = tmp_path / "several"
    folder.mkdir()
    later = native_file.sample()
    later.pid, later.begun_ns = 4712, 2_000_000_000
    written(folder, "first.mxp", native_file.sample().to_bytes())
    written(folder, "second.mxp", later.to_bytes())
    assert [process["process"] for process in answer("info", folder)["processes"]] == [4711, 4712]
    cut = written(tmp_path, "cut.mxp", native_file.sample().to_bytes()[:-200])
    result = run("info", cut, "--json")
    assert result.returncode == 1 and json.loads(result.stdout)["is_whole"] is False


def test_configuration_is_told_in_words(tmp_path):
    file = native_file.sample()
    file.info.append(("config", "classes=5 store=1 statistics_only=0 dump_period=0.5 snapshot_counter=a b:c>1.5"))
    path = written(tmp_path, "sample.mxp", file.to_bytes())
    assert answer("info", path)["processes"][0]["config"] == {
        "classes": "symbolic,api,user", "store": "file", "statistics_only": 0, "dump_period": 0.5,
        "snapshot_counter": "a b:c>1.5"}
    assert ('config = "classes=symbolic,api,user store=file statistics_only=0 dump_period=0.5 '
            'snapshot_counter=a b:c>1.5"') in run("info", path).stdout


@pytest.mark.parametrize("text", ["", "classes", "classes=", "=5", "store=99", "classes=99999999999999999999", "a=b  c=1"])
def test_a_configuration_that_makes_no_sense_is_no_crash(tmp_path, text):
    file = native_file.sample()
    file.info.append(("config", text))
    path = written(tmp_path, "sample.mxp", file.to_bytes())
    assert isinstance(answer("info", path)["processes"][0].get("config", {}), dict)
    assert run("info", path).returncode == 0


def test_a_program_tells_what_it_recorded_with(tmp_path):
    program = server_runs.compiled(tmp_path)
    subprocess.run([program, "9"], cwd=tmp_path, check=False, timeout=60,
                   env=server_runs.environment("file", MXPROF_NAMES_LIMIT="5000"))
    process = answer("info", tmp_path / "ring.mxp")["processes"][0]
    assert process["state"] == "died" and process["ring"]["limit_bytes"] == 16 << 20
    config = process["config"]
    assert (config["store"], config["names_limit"], config["statistics_only"]) == ("file", 5000, 0)
    assert "user" in config["classes"].split(",")


def test_a_ring_tells_what_it_holds(tmp_path):
    spans = """
import ctypes, os, signal, sys
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
name = lib.mxp_intern(b"app", b"work", 1, 0)
for _ in range(200000):
    lib.mxp_end(name, lib.mxp_begin(16, name))
os.kill(os.getpid(), signal.SIGKILL)
"""
    library = pathlib.Path(server_runs.BUILD / "libmxprof.so")
    subprocess.run(["python3", "-c", spans, library], cwd=tmp_path, check=False, timeout=60,
                   env=server_runs.environment("file", MXPROF_MEMORY_LIMIT_BYTES="1M"))
    process = answer("info", tmp_path / "ring.mxp")["processes"][0]
    ring = process["ring"]
    assert ring["has_made_room"] and ring["limit_bytes"] == 1 << 20
    assert ring["older_records"] + process["records"]["all"] >= 200000
    assert process["first_ns"] <= ring["complete_from_ns"] <= process["last_ns"]
    assert ring["holds_ns"] == process["last_ns"] - ring["complete_from_ns"]
    (thread,) = [row for row in process["threads"] if row["records"] > 1000]
    assert thread["held_since_ns"] == ring["complete_from_ns"]
