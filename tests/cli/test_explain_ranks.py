# SPDX-License-Identifier: Apache-2.0
"""`mxprof explain` across the workers of a job: who keeps the others waiting, and why."""
import json
import os
import pathlib
import re
import subprocess

import pytest
from rank_files import MS, Job

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"


def explain(folder, *options, code=0):
    result = subprocess.run([MXPROF, "explain", *options, folder], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == code, result.stderr + result.stdout
    return result.stdout


def report(folder, *options):
    return subprocess.run([MXPROF, "report", *options, folder], capture_output=True, text=True, timeout=60, check=True).stdout


def between(folder):
    return json.loads(explain(folder, "--json"))["between_ranks"]


def trained(folder, ranks=4, seed=1, **how):
    job = Job(ranks, seed)
    job.train(**how)
    job.exchange_all()
    return job.write(folder)


@pytest.mark.parametrize("seed", range(6))
def test_a_late_worker_is_named_with_its_cost_and_its_operator(tmp_path, seed):
    ranks = 2 + seed % 4
    late = seed % ranks
    found = between(trained(tmp_path / "job", ranks, seed, steps=40, late=late, spread=0.005))
    assert found["straggler"] == late
    assert abs(found["cost_ns"] - 5 * MS) < 0.5 * MS
    assert found["longer"] == "net/conv1" and abs(found["longer_ns"] - 5 * MS) < 0.5 * MS
    assert found["gain_low_ns"] <= found["gain_ns"] <= found["gain_high_ns"]


def test_a_worker_whose_program_sleeps_is_named(tmp_path):
    found = between(trained(tmp_path / "job", late=2, where=None, spread=0.005))
    assert found["straggler"] == 2 and abs(found["cost_ns"] - 5 * MS) < 0.5 * MS
    assert found["longer"] == "the program between its spans"
    assert abs(found["longer_ns"] - 5 * MS) < 0.5 * MS


def test_a_worker_that_is_not_recorded_is_named_by_the_others(tmp_path):
    folder = trained(tmp_path / "job", late=2, spread=0.005)
    next(folder.glob("worker2.*")).unlink()
    text = explain(folder)
    assert text.startswith("The workers wait for worker 2: 4.9") or text.startswith("The workers wait for worker 2: 5.0")
    assert "Why is not known" in text and "than chance does" not in text
    found = between(folder)
    assert found["straggler"] is None and found["absent"] == 2
    assert abs(found["absent_waited_ns"] - 5 * MS) < 0.5 * MS
    assert "absent" not in between(trained(tmp_path / "all", late=2, spread=0.005))


def test_a_folder_that_holds_its_own_sum_counts_once(tmp_path):
    folder = trained(tmp_path / "job", late=2, spread=0.005)
    alone = json.loads(report(folder, "--json"))
    files = sorted(str(path) for path in folder.iterdir())
    subprocess.run([MXPROF, "merge", *files, "-o", folder / "profile.mxp"], check=True, capture_output=True, timeout=60)
    both = subprocess.run([MXPROF, "report", "--json", folder], check=True, capture_output=True, text=True, timeout=60)
    assert json.loads(both.stdout)["quality"]["records"] == alone["quality"]["records"]
    assert json.loads(both.stdout)["chosen_steps"] == alone["chosen_steps"] > 0
    assert "holds 4 processes twice, with the same records" in both.stderr and "counts twice" not in both.stderr


def test_the_words(tmp_path):
    text = explain(trained(tmp_path / "job", late=2, spread=0.001)).splitlines()
    assert text[0] == "Worker 2 (n2) was last in 100 % of 59 steps."
    assert text[1].startswith("The others waited 5.0") and text[1].endswith(" step for it (20 %).")
    assert text[2].startswith("Its net/conv1 takes 5.00 ms a step longer")
    assert text[3].startswith("Equal to the second slowest: 20.4 ms a step (")
    assert max(map(len, text[:20])) <= 80
    workers = text[text.index("") + 2:][:4]
    assert [line.split("  ")[0] for line in workers] == [f"worker {rank} (n{rank})" for rank in range(4)]
    assert any(line.startswith("owner ") for line in text) and any(line.startswith("key ") for line in text)


def test_one_whose_steps_begin_late_is_told_so(tmp_path):
    folder = trained(tmp_path / "job", late=2, where="tail", spread=0.005)
    found = between(folder)
    assert found["straggler"] == 2 and found["kind"] == "late start"
    assert abs(found["cost_ns"] - 5 * MS) < 0.5 * MS and abs(found["late_start_ns"] - 5 * MS) < 0.5 * MS
    assert "Its steps begin late: after its last exchange the step before goes on " in explain(folder)


def test_one_whose_loader_is_slow_is_told_so(tmp_path):
    folder = trained(tmp_path / "job", late=0, where="input", spread=0.005)
    found = between(folder)
    assert found["straggler"] == 0 and found["kind"] == "input" and abs(found["longer_ns"] - 5 * MS) < 0.5 * MS
    assert "Its input, Loader, takes " in explain(folder)


def test_one_that_takes_longer_does_not_begin_late(tmp_path):
    for where, seed in (("conv1", 1), (None, 2)):
        found = between(trained(tmp_path / str(seed), late=2, where=where, seed=seed, spread=0.005))
        assert found["kind"] == "compute" and abs(found["late_start_ns"]) < 0.5 * MS


def test_one_whose_threads_wait_for_a_core_is_told_so(tmp_path):
    folder = trained(tmp_path / "job", late=1, where=None, spread=0.005, delays={1: 5.2})
    found = between(folder)
    assert found["straggler"] == 1 and found["kind"] == "host" and not found["is_whole_host"]
    assert abs(found["run_delay_ns"] - 4.7 * MS) < 0.1 * MS
    assert "Its threads wait 4.70 ms a step longer for a core than the others'." in explain(folder)
    same = between(trained(tmp_path / "same", late=1, where=None, spread=0.005, delays={}))
    assert same["kind"] == "compute" and same["run_delay_ns"] == 0


def test_without_run_delay_nothing_is_said_of_cores(tmp_path):
    found = between(trained(tmp_path / "job", late=1, where=None, spread=0.005))
    assert found["kind"] == "compute" and found["run_delay_ns"] is None


@pytest.mark.parametrize("seed", range(3))
def test_a_host_all_of_whose_workers_are_late_is_named(tmp_path, seed):
    job = Job(4, seed, machines=[0, 0, 1, 1])
    job.train(late=[2, 3], spread=0.005)
    job.exchange_all()
    found = between(job.write(tmp_path / "job"))
    assert found["kind"] == "host" and found["is_whole_host"] and found["host"] == "n1"
    assert found["straggler"] in (2, 3) and abs(found["cost_ns"] - 5 * MS) < 0.5 * MS
    assert found["longer"] == "net/conv1"
    text = explain(tmp_path / "job").splitlines()
    assert text[0] == "All workers of n1 come late; one of them was last in 100 % of 59 steps."
    assert "step for them (" in text[1]
    assert any(line.startswith("Equal to the slowest of the other hosts: 20.") for line in text)


def test_a_host_with_one_late_worker_is_not_blamed(tmp_path):
    job = Job(4, 4, machines=[0, 0, 1, 1])
    job.train(late=3, spread=0.005)
    job.exchange_all()
    found = between(job.write(tmp_path / "job"))
    assert found["straggler"] == 3 and found["kind"] == "compute" and not found["is_whole_host"]


def test_of_equals_none_is_named(tmp_path):
    named = []
    for seed in range(20):
        found = between(trained(tmp_path / str(seed), 2 + seed % 4, seed, steps=30, spread=0.03))
        named.append(found["straggler"])
        assert found["noise_ns"] > 0 and (found["straggler"] is not None or found["kind"] == "noise")
    assert sum(straggler is not None for straggler in named) <= 1
    text = explain(tmp_path / "0")
    head = text.split("\n\n")[0]
    assert re.match(r"No worker keeps the others waiting more than chance does\.\n"
                    r"Worker \d \(n\d\) costs most, \S+ \ws a step, and was last in \d+ of 29 steps\.\n"
                    r"Chance alone makes one of equal workers last in up to \d+ steps\.\n"
                    r"Chance alone makes the slowest \S+ \ws a step slower than the mean\.\n", head), head


def test_of_many_workers_those_that_are_waited_for_are_in_the_table(tmp_path):
    folder = trained(tmp_path / "job", 20, late=18, steps=20, spread=0.005)
    lines = explain(folder).splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("worker "))
    rows = [line.split("  ")[0] for line in lines[head + 1:head + 17]]
    assert rows[0] == "worker 18 (n18)" and len(set(rows)) == 16 and rows[1:] == [f"worker {rank} (n{rank})" for rank in range(15)]
    assert lines[head + 17] == "4 more workers, for which the others waited less: --json"


def test_tables_have_what_was_put_in(tmp_path):
    found = between(trained(tmp_path / "job", 3, late=1, steps=30, keys=5, spread=0.001))
    assert [worker["rank"] for worker in found["workers"]] == [0, 1, 2]
    assert found["workers"][1]["last_steps"] == found["steps"] == 29
    for worker in found["workers"]:
        assert worker["bytes"] == worker["bytes_out"] == worker["bytes_in"] == 30 * 5 * 4096
        assert abs(worker["bytes_per_s"] - 2 * 5 * 4096 / 25.35e-3) < 0.05 * 2 * 5 * 4096 / 25.35e-3
        assert abs(worker["own_ns"] - (25 if worker["rank"] == 1 else 20) * MS) < 0.2 * MS
    assert {key["key"] for key in found["keys"]} == {f"w{i}" for i in range(5)}
    assert all(key["waits"] == 60 and key["bytes"] == 90 * 4096 for key in found["keys"])
    assert sum(owner["rounds"] for owner in found["owners"]) == 150
    assert found["owner_bound"] is False


def test_report_has_the_same_tables_without_a_verdict(tmp_path):
    folder = trained(tmp_path / "job", 3, late=1, steps=30, keys=5, spread=0.001)
    found = between(folder)
    tables = json.loads(report(folder, "--json"))["ranks"]
    assert {name: found[name] for name in ("steps", "step_ns", "workers", "owners", "keys")} == {
        name: tables[name] for name in ("steps", "step_ns", "workers", "owners", "keys")}
    assert "straggler" not in tables
    text = report(folder)
    clocks, rows = text.index("clocks: 3 processes"), text.index("worker 0 (n0)  25.")
    assert clocks < rows < text.index("owner ") < text.index("\nkey ") and "was last in" not in text
    assert "worker 0 (n0)  25." not in report(folder, "--by", "step")


def test_a_report_of_one_worker_has_no_tables_of_workers(tmp_path):
    job = Job(1, 1)
    job.train(steps=10)
    assert "ranks" not in json.loads(report(job.write(tmp_path / "job"), "--json"))


def test_what_is_said_does_not_depend_on_how_the_clocks_lie(tmp_path):
    job = Job(3, 5)
    job.train(steps=30, late=1, spread=0.001)
    without = between(job.write(tmp_path / "without"))
    job.exchange_all()
    with_cuts = between(job.write(tmp_path / "with"))
    assert without["straggler"] == with_cuts["straggler"] == 1
    assert abs(without["cost_ns"] - with_cuts["cost_ns"]) < 0.01 * MS


def test_processes_without_waits_are_explained_as_before(tmp_path):
    job = Job(2, 6)
    job.exchange_all()
    job.write(tmp_path / "job")
    for file, thread in zip(job.files, job.threads):
        for step in range(20):
            file.meta(thread, "step", file.own((50 + step * 20) * MS), value=step)
    job.write(tmp_path / "job")
    verdict = json.loads(explain(tmp_path / "job", "--json"))
    assert "between_ranks" not in verdict and "between_processes" in verdict
