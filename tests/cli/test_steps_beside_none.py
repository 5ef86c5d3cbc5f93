# SPDX-License-Identifier: Apache-2.0
"""--step of a folder in which some processes have no steps, as the servers of a job: report, path, whatif and view
look at the steps of the others, and say of those what they can."""
import native_file
import page_reader
import pytest
from test_instances import answer, run

MS = 1_000_000


def worker():
    """Four steps of 10 ms, in each an operator of 4 ms; of step 2 it takes 6."""
    file = native_file.NativeFile()
    main, compute = file.thread("main", end=40 * MS), file.thread("compute")
    dot = file.name("dot", "operator", "span")
    for step in range(5):
        file.meta(main, "step", step * 10 * MS, value=step)
    for step in range(4):
        at = step * 10 * MS + MS
        file.operator(compute, dot, at, at + (6 if step == 2 else 4) * MS, step + 1, push=at - MS, pusher=main)
    return file


def server():
    """An update of 1 ms every 5 ms."""
    file = native_file.NativeFile(pid=4712)
    thread = file.thread("main", end=60 * MS)
    update = file.name("update", "operator", "span")
    for number in range(12):
        file.operator(thread, update, number * 5 * MS + 2 * MS, number * 5 * MS + 3 * MS, number + 1)
    return file


@pytest.fixture(name="job")
def folder_of_both(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job/worker.mxp").write_bytes(worker().to_bytes())
    (tmp_path / "job/server.mxp").write_bytes(server().to_bytes())
    return tmp_path / "job"


@pytest.fixture(name="servers")
def folder_without_steps(tmp_path):
    (tmp_path / "servers").mkdir()
    for pid in (1, 2):
        file = server()
        file.pid = pid
        (tmp_path / f"servers/{pid}.mxp").write_bytes(file.to_bytes())
    return tmp_path / "servers"


@pytest.mark.parametrize("step,numbers,updates", [("2", [2], 2), ("1:2", [1, 2], 4), ("last", [3], 2)])
def test_report_has_of_a_server_the_time_of_the_steps(job, step, numbers, updates):
    found = answer("report", job, "--step", step)
    assert [row["number"] for row in found["steps"] if row["chosen"]] == numbers
    assert found["wall_ns"] == 10 * MS * len(numbers)
    calls = {row["name"]: (row["calls"], row["total_ns"]) for row in found["operators"]}
    assert calls["update"] == (updates, updates * MS)
    assert calls["dot"] == (len(numbers), sum(6 if number == 2 else 4 for number in numbers) * MS)


def test_path_and_whatif_pass_over_a_server(job):
    for command in ("path", "whatif"):
        told = run(command, job, "--step", "2")
        assert told.returncode == 0, told.stderr
        blocks = dict(block.split("\n", 1) for block in told.stdout.split("process ")[1:])
        assert blocks["4712"].strip() == "no steps are marked in it"
        assert "no steps are marked" not in blocks["4711"]
        assert len(answer(command, job, "--step", "2")["processes"]) == 1


def test_a_page_has_the_step_that_is_asked_for(job, tmp_path):
    page = tmp_path / "page.html"
    told = run("view", job, "--step", "2", "--verdict", "2", "-o", page)
    assert told.returncode == 0, told.stderr
    head = page_reader.read(page).head
    assert not head.get("explain_refused") and head["explain"]["processes"][0]["steps"] == 1


def test_where_nobody_has_steps_that_is_said(servers, tmp_path):
    for command in ("report", "path", "whatif", "explain"):
        told = run(command, servers, "--step", "2")
        assert told.returncode == 3 and "no steps are marked in it: " in told.stderr and told.stdout == ""
    told = run("view", servers, "--step", "2", "-o", tmp_path / "page.html")
    assert told.returncode == 3 and "no steps are marked in it: " in told.stderr


def test_a_step_that_no_worker_has_is_a_wrong_call(job):
    for command in ("report", "path", "whatif"):
        assert run(command, job, "--step", "9").returncode == 2
