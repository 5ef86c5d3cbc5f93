# SPDX-License-Identifier: Apache-2.0
"""`--step slowest` and `--step last` of several processes are one step of all."""
import json
import os
import pathlib
import subprocess

from rank_files import MS, Job

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"


class OddStep(Job):
    """Worker `late` is late in one step alone."""

    odd = 30

    def step(self, step, begin, works, extra, arrivals, keys, where, delays):
        if step != self.odd:
            arrivals = [int(arrival - more) for arrival, more in zip(arrivals, extra)]
            extra = [0] * len(extra)
        return super().step(step, begin, works, extra, arrivals, keys, where, delays)


def run(*arguments):
    return subprocess.run([MXPROF, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=True).stdout


def between(*arguments):
    return json.loads(run("explain", "--json", *arguments))["between_ranks"]


def in_report(*arguments):
    return json.loads(run("report", "--json", *arguments))["ranks"]


def heads(*arguments):
    return [line for line in run("path", *arguments).splitlines() if line.startswith("step ")]


def test_the_slowest_step_is_the_same_one_in_all_processes(tmp_path):
    """What worker 2 does behind its exchange is a part of its step 29 and of the others' step 30."""
    job = OddStep(4, 5)
    job.train(late=2, late_ms=15, where="tail", spread=0.005)
    job.exchange_all()
    folder = job.write(tmp_path / "job")
    assert len(heads("--step", "30", folder)) == 4 and heads("--step", "slowest", folder) == heads("--step", "30", folder)
    assert between("--step", "slowest", folder) == between("--step", "30", folder)
    assert in_report("--step", "slowest", folder) == in_report("--step", "30", folder)
    assert heads("--step", "slowest", next(folder.glob("worker2.*")))[0].startswith("step 29: ")
    for command in (["top"], ["report", "--by", "thread"]):
        of_30, of_slowest = (run(*command, "--step", step, folder) for step in ("30", "slowest"))
        assert "MXNDArrayWaitToRead" in of_30 and of_slowest == of_30, command


def test_the_last_step_is_one_that_all_have(tmp_path):
    job = Job(3, 2)
    job.train(steps=30, spread=0.005)
    job.exchange_all()
    folder = job.write(tmp_path / "job")
    whole = between("--step", "28", folder)
    for file in job.files[1:]:  # which recorded a step more than the first one
        file.meta(0, "step", file.own(job.end - 10 * MS), value=30)
    job.write(folder)
    assert between("--step", "last", folder)["steps"] == 1 == whole["steps"]
