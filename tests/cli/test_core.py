# SPDX-License-Identifier: Apache-2.0
"""Records that are in a process's memory: in the core file of one that died, whole or cut anywhere, and in
one that runs. What they hold is what the same program leaves in a file."""
import json
import random
import subprocess

import pytest

import server_runs
from server_runs import BUILD, REQUESTS


def mxprof(*arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], capture_output=True, text=True, timeout=120, check=False)


def counts(path):
    """Name -> how many spans, which all runs of the program share."""
    result = mxprof("report", "--layout", "mxnet", "--json", path)
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)["Time"]["server"]
    return {name: row["Count"] for name, row in rows.items()}


EXPECTED = {"parse": REQUESTS, "in queue": REQUESTS, "handle": REQUESTS, "lookup": REQUESTS,
            "load from disk": REQUESTS, "reply": REQUESTS - 1}


@pytest.fixture(name="program", scope="module")
def compiled_server(tmp_path_factory):
    return server_runs.compiled(tmp_path_factory.mktemp("server"))


@pytest.fixture(name="core", scope="module")
def written_core(program, tmp_path_factory):
    """Of a living process, written here: there is one wherever the tests run."""
    folder = tmp_path_factory.mktemp("core")
    with server_runs.Living(program, folder, "memory") as server:
        return server_runs.write_core(server.pid, folder / "core")


def test_a_core_file_holds_what_a_ring_in_memory_had(core):
    assert counts(core) == EXPECTED


def test_the_kernels_core_file_tells_the_signal_and_the_open_spans(program, tmp_path):
    if not server_runs.kernel_writes_cores():
        pytest.skip("the kernel writes no core files here")
    core = server_runs.aborted(program, tmp_path)
    assert counts(core) == EXPECTED
    told = mxprof("info", core).stdout
    assert "the process died" in told and 'ended_by = "signal 6"' in told
    assert '"handle" (request=199)' in told and 'path="/data/137.blob"' in told


def test_open_spans_last_until_the_last_time_known(core):
    spans = json.loads(mxprof("top", "--json", "--name", "*", "--top", "1000", core).stdout)["slowest"]
    ends = {is_open: [span["begin_ns"] + span["duration_ns"] for span in spans if span["is_open"] is is_open]
            for is_open in (True, False)}
    assert len(ends[True]) == 3 and set(ends[True]) == {max(ends[False])}


def test_a_core_file_tells_what_was_recorded_with(core):
    process = json.loads(mxprof("info", "--json", core).stdout)["processes"][0]
    assert (process["config"]["store"], process["config"]["classes"]) == ("memory", "symbolic,imperative,api,memory,user")
    assert {"key": "full_policy", "value": "ring"} in process["info"]
    assert process["ring"] == {"limit_bytes": 16 << 20, "has_made_room": False}
    assert {"key": "read_from", "value": "core file"} in process["info"]


def test_recover_makes_a_file_of_a_core_file(core, tmp_path):
    result = mxprof("recover", core, "-o", tmp_path / "out.mxp")
    assert result.returncode == 0, result.stderr
    assert counts(tmp_path / "out.mxp") == EXPECTED
    assert "core file" in mxprof("info", tmp_path / "out.mxp").stdout


def test_a_static_stripped_program_has_its_records_in_its_core(tmp_path):
    program = server_runs.compiled(tmp_path, "-s", libraries=("-Wl,--whole-archive", "-l:libmxprof.a",
                                                                  "-Wl,--no-whole-archive", "-lm", "-ldl"))
    with server_runs.Living(program, tmp_path, "memory") as server:
        core = server_runs.write_core(server.pid, tmp_path / "core")
    assert counts(core) == EXPECTED


def test_a_core_file_that_is_cut_is_read_as_far_as_it_goes(core, tmp_path):
    whole = core.read_bytes()
    cut = tmp_path / "cut"
    for part in range(50):
        cut.write_bytes(whole[:len(whole) * part // 50])
        result = mxprof("info", cut)
        assert result.returncode == 1 and result.stderr, part
        assert "cut" in result.stderr or part == 0, result.stderr


def test_a_core_file_with_wrong_bytes_is_no_crash(core, tmp_path):
    whole = core.read_bytes()
    at = whole.find(b"\x89MXP-image\r\n\x1a\n")
    chance = random.Random(7)
    for _ in range(150):
        wrong = bytearray(whole)
        place = at + chance.randrange(200) if chance.random() < 0.7 else chance.randrange(4096)
        wrong[place:place + 4] = chance.randbytes(4)
        (tmp_path / "wrong").write_bytes(wrong)
        assert mxprof("info", tmp_path / "wrong").returncode in (0, 1)


def test_a_core_file_of_a_process_that_recorded_into_a_file_says_where_its_records_are(program, tmp_path):
    with server_runs.Living(program, tmp_path, "file") as server:
        core = server_runs.write_core(server.pid, tmp_path / "core")
    result = mxprof("info", core)
    assert result.returncode == 1 and "recorded into a file, which has its records" in result.stderr


def test_a_core_file_of_another_program_says_that_no_recorder_is_in_it(tmp_path):
    with subprocess.Popen(["sleep", "60"]) as process:
        core = server_runs.write_core(process.pid, tmp_path / "core")
        process.kill()
    result = mxprof("report", core)
    assert result.returncode == 1 and "no recorder is in it" in result.stderr


@pytest.mark.parametrize("store", ["memory", "file", "file without a name"])
def test_a_process_is_read_by_its_number(program, tmp_path, store):
    with server_runs.Living(program, tmp_path, store.split()[0]) as server:
        if store.endswith("name"):
            (tmp_path / "ring.mxp").unlink()
        assert counts(str(server.pid)) == EXPECTED
        assert "is recording now" in mxprof("info", str(server.pid)).stdout


def test_a_number_of_no_process_is_an_error(tmp_path):
    with subprocess.Popen(["sleep", "0"]) as process:
        process.wait()
    result = mxprof("report", str(process.pid))
    assert result.returncode == 1 and "neither a file nor a process" in result.stderr
    named = tmp_path / str(process.pid)
    named.write_text("")
    result = subprocess.run([BUILD / "mxprof", "report", named.name], cwd=tmp_path, capture_output=True, text=True,
                            check=False)
    assert "is empty" in result.stderr


@pytest.mark.parametrize("kind", ["native", "compressed", "core", "json"])
def test_standard_input_is_read_from_a_pipe_and_from_a_file(program, core, tmp_path, kind):
    ring = server_runs.killed(program, tmp_path)
    path = {"native": ring, "core": core, "compressed": tmp_path / "t.mxpz", "json": tmp_path / "t.json"}[kind]
    if not path.exists():
        assert mxprof("convert", ring, "-o", path).returncode == 0
    with open(path, "rb") as stream:
        by_file = subprocess.run([BUILD / "mxprof", "info", "-"], stdin=stream, capture_output=True, check=False)
    by_pipe = subprocess.run([BUILD / "mxprof", "info", "-"], input=path.read_bytes(), capture_output=True,
                             check=False)
    assert by_file.returncode == by_pipe.returncode == 0, by_pipe.stderr
    # The size of what came through a pipe is not a file's.
    assert by_file.stdout.splitlines()[1:] == by_pipe.stdout.splitlines()[1:]
    assert len(by_pipe.stdout.splitlines()) > 5
