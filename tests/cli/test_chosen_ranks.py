# SPDX-License-Identifier: Apache-2.0
"""What is said across the workers of a job where some of its steps are chosen: nothing else counts."""
import json
import os
import pathlib
import re
import subprocess

import pytest
from rank_files import MS, Job

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"


def run(*arguments, code=0):
    result = subprocess.run([MXPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == code, result.stderr + result.stdout
    return result.stdout


def trained(folder, ranks=4, seed=1, **how):
    job = Job(ranks, seed)
    job.train(**how)
    job.exchange_all()
    return job.write(folder)


def between(*arguments):
    return json.loads(run("explain", "--json", *arguments))["between_ranks"]


def in_report(*arguments):
    return json.loads(run("report", "--json", *arguments))["ranks"]


@pytest.fixture(name="job", scope="module")
def one_job(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("job") / "job", late=2, keys=3, spread=0.005)


@pytest.mark.parametrize("tables", [between, in_report])
@pytest.mark.parametrize("step,count", [("10", 1), ("5:9", 5)])
def test_tables_are_of_the_chosen_steps(job, tables, step, count):
    found = tables("--step", step, job)
    assert found["steps"] == count
    assert sum(owner["rounds"] for owner in found["owners"]) == count * 3
    assert all(key["waits"] == count * 3 and key["bytes"] == count * 4 * 4096 for key in found["keys"])
    for worker in found["workers"]:
        assert worker["bytes_out"] == worker["bytes_in"] == count * 3 * 4096


def test_a_time_is_chosen_as_well(job):
    """Step 10 begins about 10 steps of 25.35 ms behind the first one."""
    found = between("--from", f"{50 + 9.5 * 25.4}ms", "--until", f"{50 + 13.5 * 25.4}ms", job)
    assert found["steps"] == 3 and {key["waits"] for key in found["keys"]} == {9}
    assert sum(owner["rounds"] for owner in found["owners"]) == 9


def test_of_all_steps_tables_are_of_all_that_is_recorded(job):
    assert sum(owner["rounds"] for owner in between(job)["owners"]) == 60 * 3
    assert {key["waits"] for key in in_report(job)["keys"]} == {60 * 3}


def test_what_cannot_be_told_of_a_time_is_said(job):
    text = run("report", "--from", "1ms", "--until", "60ms", job)
    assert re.search(r"^no tables of workers: no whole step lies from \S+ s to 0\.06 s$", text, re.MULTILINE)
    assert "last in" not in text


@pytest.mark.parametrize("step", ["10", "5:9", "5:30"])
def test_who_is_not_recorded_is_waited_for_in_the_chosen_steps_alone(tmp_path, step):
    folder = trained(tmp_path / "job", late=2, spread=0.005)
    next(folder.glob("worker2.*")).unlink()
    found = between("--step", step, folder)
    assert found["absent"] == 2 and abs(found["absent_waited_ns"] - 5 * MS) < 0.6 * MS
    assert re.match(r"The workers wait for worker 2: [45]\.\d+ ms of a 25\.\d ms step \((1|2)\d\.\d%\)\.\n",
                    run("explain", "--step", step, folder))


def test_one_step_is_no_proof_of_chance(job):
    text = run("explain", "--step", "10", job).splitlines()
    assert re.fullmatch(r"The others waited [45]\.\d+ ms of a 25\.\d ms step for worker 2 \(n2\) \(\d+ %\)\.", text[0])
    assert text[1] == "One step does not tell whether that is more than chance."
    assert between("--step", "10", job)["too_few_steps"] is True
    few = run("explain", "--step", "10:12", job).splitlines()
    assert re.fullmatch(r"Worker 2 \(n2\) costs most, \S+ ms a step, and was last in 3 of 3 steps\.", few[0])
    assert few[1] == "So few do not tell whether that is more than chance."
    assert between(job)["too_few_steps"] is False


def test_one_step_in_which_nobody_waited(tmp_path):
    folder = trained(tmp_path / "job", 2, steps=20, spread=0)
    assert run("explain", "--step", "5", folder).startswith("No worker waited for another.\n")
    assert run("explain", "--step", "5:6", folder).startswith("In most steps no worker waited for another.\n")


def test_the_worker_below_has_its_name(job):
    assert "4 processes; below: worker 2 (n2), process 1002\n" in run("explain", job)
