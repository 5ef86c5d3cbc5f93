# SPDX-License-Identifier: Apache-2.0
"""Programs that a profiled program starts, multiprocessing's spawn and forkserver among them: what
they record is their own, and the trace of the first process stays."""
import json
import os
import subprocess
import sys

import pytest
from python_program import SOURCE

PROGRAM = """
import multiprocessing
import mxnet as mx

def work(number):
    mx.nd.ones((number + 2, 2)).asnumpy()
    with mx.profiler.Event(f'in child {number}'):
        pass

if __name__ == '__main__':
    with mx.profiler.Event('in parent'):
        pass
    context = multiprocessing.get_context('METHOD')
    processes = [context.Process(target=work, args=(i,)) for i in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
"""


def run(work, text, **variables):
    (work / "program.py").write_text(text)
    environment = {**os.environ, "MXNET_PROFILER_AUTOSTART": "1",
                   "PYTHONPATH": str(SOURCE / "python"), **variables}
    environment.pop("MXPROF_ROOT_PID", None)
    subprocess.run([sys.executable, "program.py"], cwd=work, env=environment, check=True,
                   timeout=300)


def events_of(path):
    return {event["name"] for event in json.loads(path.read_text())["traceEvents"]}


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_multiprocessing_starts_are_in_the_trace(tmp_path, method):
    run(tmp_path, PROGRAM.replace("METHOD", method), MXPROF_STORE="file",
        MXPROF_FILENAME="profile.json")
    assert {"in parent", "in child 0", "in child 1"} <= events_of(tmp_path / "profile.json")


def test_without_a_file_they_write_traces_of_their_own(tmp_path):
    run(tmp_path, PROGRAM.replace("METHOD", "spawn"))
    names = events_of(tmp_path / "profile.json")
    assert "in parent" in names and "in child 0" not in names
    others = set()
    for path in tmp_path.glob("profile.*.json"):
        others |= events_of(path)
    assert {"in child 0", "in child 1"} <= others


def test_a_program_that_gets_a_copy_of_the_environment_knows_it_too(tmp_path):
    run(tmp_path, """
import os, subprocess, sys
import mxnet as mx
with mx.profiler.Event('in parent'):
    pass
subprocess.run([sys.executable, '-c', 'import mxnet as mx'], env=dict(os.environ), check=True)
""")
    assert "in parent" in events_of(tmp_path / "profile.json")
    assert len(list(tmp_path.glob("profile.*.json"))) == 1
