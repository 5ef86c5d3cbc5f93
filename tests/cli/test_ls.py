# SPDX-License-Identifier: Apache-2.0
"""mxprof ls: the processes that record, found without a word to them."""
import json
import subprocess

import pytest
import server_runs
from server_runs import BUILD


@pytest.fixture(name="program", scope="module")
def compiled_server(tmp_path_factory):
    return server_runs.compiled(tmp_path_factory.mktemp("server"))


def ls(*arguments):
    return subprocess.run([BUILD / "mxprof", "ls", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)


def rows(*arguments):
    """Those of all processes; others may record meanwhile."""
    result = ls("--json", *arguments)
    assert result.returncode == 0, result.stderr
    return {row["process"]: row for row in json.loads(result.stdout)}


def test_a_process_that_records_into_a_file_is_listed_with_it(program, tmp_path):
    with server_runs.Living(program, tmp_path, "file") as server:
        row = rows()[server.pid]
        assert (row["program"], row["records_to"], row["file"]) == ("server", "file", str(tmp_path / "ring.mxp"))
        assert 0 < row["file_bytes"] <= 16 << 20
        line = next(line for line in ls().stdout.splitlines() if str(server.pid) in line)
        assert str(tmp_path / "ring.mxp") in line
    found = ls("--json")  # others may record, and end at any time
    assert found.returncode in (0, 3)
    assert server.pid not in [row["process"] for row in json.loads(found.stdout or "[]")]


def test_a_process_that_records_into_memory_is_listed(program, tmp_path):
    with server_runs.Living(program, tmp_path, "memory") as server:
        row = rows()[server.pid]
        assert (row["records_to"], row["memory_limit_bytes"]) == ("memory", 16 << 20)


def test_a_static_program_is_found_by_its_number(tmp_path):
    program = server_runs.compiled(tmp_path, libraries=("-Wl,--whole-archive", "-l:libmxprof.a",
                                                        "-Wl,--no-whole-archive", "-lm", "-ldl"))
    with server_runs.Living(program, tmp_path, "memory") as server:
        assert rows(server.pid)[server.pid]["records_to"] == "memory"


def test_a_process_that_does_not_record_is_not_listed(program, tmp_path):
    with subprocess.Popen(["sleep", "60"]) as process:
        result = ls(process.pid)
        process.kill()
    assert result.returncode == 3 and "no process records" in result.stderr
    with subprocess.Popen([program, "0"], cwd=tmp_path) as process:  # it has the library, and is not switched on
        listed = ls("--json")
        process.kill()
    assert str(process.pid) not in listed.stdout


def test_wrong_numbers_are_wrong_calls():
    assert ls("x").returncode == 2
    with subprocess.Popen(["sleep", "0"]) as process:
        process.wait()
    result = ls(process.pid)
    assert result.returncode == 1 and "nor a process" in result.stderr
