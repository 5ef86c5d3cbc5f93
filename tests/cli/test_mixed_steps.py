# SPDX-License-Identifier: Apache-2.0
"""'mxprof report --by step' of files whose steps several threads have marked."""
import json
import os
import pathlib
import subprocess

from native_file import NativeFile

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
MS = 1_000_000


def report(*arguments):
    return subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "step", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, check=True).stdout


def write(path, pid, workers):
    """Each worker handles requests of 30 ms, which it takes for steps."""
    file = NativeFile(pid=pid)
    span = file.name("handle", "app", "span")
    for worker in range(workers):
        thread = file.thread(f"worker {worker}")
        for i in range(5):
            at = (50 * i + 10 * worker) * MS
            file.meta(thread, "step", at, value=10 * worker + i)
            file.span(thread, span, at, at + 30 * MS)
    path.write_bytes(file.to_bytes())


def test_steps_of_several_threads_are_told_and_give_no_table(tmp_path):
    path = tmp_path / "server.mxp"
    write(path, 500, 3)
    text = report(path)
    assert text.splitlines()[0].startswith("Several threads marked steps, in process 500: ")
    assert "step 0" not in text and "handle" not in text
    parsed = json.loads(report("--json", path))
    assert parsed["Steps of Several Threads"] == [500] and parsed["Time"] == {}
    lines = report("--csv", path).splitlines()
    assert '"mxprof","steps of several threads",report,process,,500,,,,,,' in lines
    assert not any(line.startswith(('"Steps"', '"app"')) for line in lines)
    assert {line.count(",") for line in lines} == {11}


def test_of_several_processes_only_those_with_one_marking_thread_have_steps(tmp_path):
    for pid, workers in ((500, 3), (501, 1), (502, 2)):
        write(tmp_path / f"{pid}.mxp", pid, workers)
    text = report(tmp_path)
    assert text.splitlines()[0].startswith("Several threads marked steps, in process 500, 502: ")
    assert json.loads(report("--json", tmp_path))["Time"]["app"]["handle"]["Count"] == 5


def test_steps_of_one_thread_are_as_they_were(tmp_path):
    write(tmp_path / "a.mxp", 500, 1)
    assert report(tmp_path / "a.mxp").startswith("Profile ")
    assert "Steps of Several Threads" not in report("--json", tmp_path / "a.mxp")
