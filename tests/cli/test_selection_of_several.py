# SPDX-License-Identifier: Apache-2.0
"""What --step, --from, --until and filters choose of a folder of several processes: one time for all of them, and names
that one of them may lack. A worker with steps, one that died before the last ones, and a server without any."""
import json

import native_file
import pytest
from test_instances import answer, run
from test_steps_beside_none import MS

LIFE = 58 * MS + 1  # up to the server's last record


def worker(pid=4711, steps=4):
    """Steps of 10 ms: in each a request of 5 ms, and an operator of 4 ms on another thread; of step 2 it takes 6."""
    file = native_file.NativeFile(pid=pid)
    main, compute = file.thread("main"), file.thread("compute")
    dot, request = file.name("dot", "operator", "span"), file.name("request", "app", "span")
    key, array, scope = file.name("request_id"), file.name("weight"), file.name("net:", 0, "scope")
    for step in range(steps):
        at = step * 10 * MS + MS
        file.meta(main, "step", at - MS, value=step)
        file.add(main, native_file.words(native_file.word0("memory", 3, file.origin + at), array | scope << 32,
                                         step + 1 | 2 << 60, 1000, 1000, 1000 * (step + 1)))
        file.span_on(main, request, at, at + 5 * MS, args=[(key, 1, step)])
        file.operator(compute, dot, at, at + (6 if step == 2 else 4) * MS, step + 1, push=at - MS, pusher=main)
    file.meta(main, "step", steps * 10 * MS, value=steps)
    return file


def server():
    """An update of 1 ms every 5 ms."""
    file = native_file.NativeFile(pid=4712)
    thread = file.thread("server")
    update = file.name("update", "operator", "span")
    for number in range(12):
        file.operator(thread, update, number * 5 * MS + 2 * MS, number * 5 * MS + 3 * MS, number + 1)
    return file


def folder_of(path, **files):
    path.mkdir()
    for name, file in files.items():
        (path / f"{name}.mxp").write_bytes(file.to_bytes())
    return path


@pytest.fixture(name="job", params=["server last", "server first"])
def folder_of_both(request, tmp_path):
    names = ("a", "z") if request.param == "server last" else ("z", "a")
    return folder_of(tmp_path / "job", **{names[0]: worker(), names[1]: server()})


def spans_of(rows):
    return sorted((row["name"], row["begin_ns"] // MS, row["duration_ns"] // MS) for row in rows)


OF_STEP_2 = [("dot", 21, 6), ("request", 21, 5), ("update", 22, 1), ("update", 27, 1)]


# ---- steps
def test_top_has_of_a_server_the_time_of_the_steps(job):
    assert spans_of(answer("top", job, "--step", "2")["slowest"]) == OF_STEP_2


def test_tables_of_instances_have_of_a_server_the_time_of_the_steps(job):
    threads = {row["name"]: row["in_spans_ns"] // MS
               for each in answer("report", job, "--by", "thread", "--step", "2") for row in each["threads"]}
    assert threads == {"main": 5, "compute": 6, "server": 2}
    assert answer("report", job, "--histogram", "*", "--step", "2")["spans"] == 4
    row, = answer("report", job, "--by", "arg:request_id", "--step", "2")["rows"]
    assert (row["value"], row["total_ns"]) == ("2", 5 * MS)


def test_show_finds_a_request_in_a_step(job):
    row, = answer("show", job, "--arg", "request_id=2", "--step", "2")["rows"]
    assert row["begin_ns"] == 21 * MS
    told = run("show", job, "--arg", "request_id=2", "--step", "1")
    assert told.returncode == 3 and told.stderr == "mxprof show: no span with request_id=2 is in what was chosen\n"


def test_a_step_is_cut_out_of_all(job, tmp_path):
    assert run("convert", job, "--step", "2", "-o", tmp_path / "cut.json").returncode == 0
    events = json.loads((tmp_path / "cut.json").read_text())["traceEvents"]
    assert sorted(event["name"] for event in events if event["ph"] in "Xb") == [name for name, *_ in OF_STEP_2]


def test_memory_of_a_step_is_that_of_the_processes_that_have_some(job):
    told = run("memory", job, "--step", "1")
    assert told.returncode == 0 and told.stderr == ""
    assert "process 4712: no memory of a device was recorded" in told.stdout
    found = {each["pid"]: each["devices"] for each in answer("memory", job, "--step", "1")}
    assert found[4711][0]["peak"]["bytes"] == 2000 and found[4712] == []


def test_who_died_before_a_step_keeps_nobody_from_it(tmp_path):
    job = folder_of(tmp_path / "job", a=worker(4710, steps=2), b=worker())
    found = answer("report", job, "--step", "3")
    assert [(row["number"], row["process"]) for row in found["steps"] if row["chosen"]] == [(3, 4711)]
    assert found["wall_ns"] == 10 * MS
    for command in ("path", "whatif"):
        told = run(command, job, "--step", "3")
        assert told.returncode == 0 and "process 4710\nit has none of these steps\n" in told.stdout
    assert spans_of(answer("top", job, "--step", "3")["slowest"]) == [("dot", 31, 4), ("request", 31, 5)]
    for command in ("report", "path", "whatif", "top"):
        told = run(command, job, "--step", "9")
        assert told.returncode == 2 and "there is no such step" in told.stderr


# ---- times
@pytest.mark.parametrize("window, first, last", [
    (("--from", "45ms"), 45 * MS, LIFE), (("--from", "-10ms"), LIFE - 10 * MS, LIFE),
    (("--until", "+12ms"), 0, 12 * MS), (("--from", "+30ms", "--until", "+15ms"), 30 * MS, 45 * MS)])
def test_a_time_is_that_of_all_processes(job, window, first, last):
    wanted = [("update", at + 2, 1) for at in range(0, 60, 5) if first <= (at + 2) * MS < last]
    wanted += [(name, at + 1, length) for at in range(0, 40, 10) if first <= (at + 1) * MS < last
               for name, length in (("request", 5), ("dot", 6 if at == 20 else 4))]
    found = answer("top", job, *window, "--top", "100")["slowest"]
    assert [span for span in spans_of(found) if span[1] * MS >= first] == sorted(wanted)
    calls = {row["name"]: row["calls"] for row in answer("report", job, *window)["operators"]}
    for name in ("dot", "update"):
        assert calls.get(name, 0) == sum(each[0] == name for each in wanted)


def test_a_time_after_one_has_ended_is_no_error(job, tmp_path):
    window = ("--from", "45ms", "--until", "55ms")
    told = run("path", job, *window)
    assert told.returncode == 0 and "process 4711\nnothing of it is recorded in this time\n" in told.stdout
    assert run("explain", job, *window).returncode in (0, 3)
    told = run("memory", job, *window)
    assert told.returncode == 3 and "process 4711: nothing of it is recorded in this time" in told.stdout
    assert run("convert", job, *window, "-o", tmp_path / "cut.json").returncode == 0
    events = json.loads((tmp_path / "cut.json").read_text())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] in "Xb"] == ["update", "update"]


def test_a_time_in_which_nobody_was_is_a_wrong_call(job):
    for command in ("report", "path", "whatif", "top", "memory", "explain"):
        told = run(command, job, "--from", "70ms")
        assert told.returncode == 2 and "what is recorded is from 0 s to 0.058000001 s" in told.stderr


def test_memory_at_a_time_is_told_of_those_who_were_there(job):
    told = run("memory", job, "--at", "33ms")
    assert told.returncode == 0 and "cpu/0: 4.00 kB in step 3, 3.00 ms after its begin" in told.stdout
    told = run("memory", job, "--at", "50ms")
    assert told.returncode == 3 and "process 4711: nothing of it is recorded at that time" in told.stdout


def test_show_has_a_time_of_all_processes_and_steps_of_one(job):
    found = answer("show", job, "--from", "25ms", "--until", "33ms")
    assert (found["begin_ns"], found["duration_ns"]) == (25 * MS, 8 * MS)
    assert spans_of(found["rows"]) == [("dot", 21, 6), ("dot", 31, 4), ("request", 21, 5), ("request", 31, 5),
                                       ("update", 27, 1), ("update", 32, 1)]
    told = run("show", job, "--step", "2")
    assert told.returncode == 3 and "2 processes, each with its own steps" in told.stderr


# ---- filters
@pytest.mark.parametrize("filters, names", [
    (("--name", "dot"), {"dot"}), (("--name", "update"), {"update"}), (("--thread", "compute"), {"dot"})])
def test_a_filter_may_fit_in_one_process_alone(job, filters, names):
    assert {row["name"] for row in answer("report", job, *filters)["operators"]} == names
    assert {row["name"] for row in answer("top", job, *filters)["slowest"]} == names


def test_arrays_may_be_in_one_process_alone(job):
    assert run("memory", job, "--name", "weight").returncode == 0
    told = run("memory", job, "--name", "wieght")
    assert told.returncode == 2 and "no array of any process fits 'wieght'" in told.stderr
    assert run("memory", job, "--scope", "net*").returncode == 0


@pytest.mark.parametrize("call", [("report", "--name", "nobody"), ("report", "--by", "thread", "--thread", "nobody"),
                                  ("report", "--histogram", "nobody"), ("top", "--thread", "nobody"),
                                  ("report", "--by", "arg:request_id", "--thread", "nobody")])
def test_a_filter_that_fits_nowhere_is_told_with_what_is_near(job, call):
    told = run(call[0], job, *call[1:])
    assert told.returncode == 2 and "fits 'nobody'; the nearest: " in told.stderr and told.stdout == ""


@pytest.mark.parametrize("choice, calls", [(("--name", "dot"), {4711: {"dot": 4}, 4712: {}}),
                                           (("--from", "45ms"), {4711: {}, 4712: {"update": 3}}),
                                           (("--step", "2"), {4711: {"dot": 1}, 4712: {"update": 2}})])
def test_processes_of_several_programs_are_reported_one_by_one(tmp_path, choice, calls):
    files = {"a": worker(), "z": server()}
    for name, file in files.items():
        file.info.append(("command", name))
    job = folder_of(tmp_path / "job", **files)
    told = run("report", job, *choice)
    assert told.returncode == 0 and "they differ in command: each by itself" in told.stdout
    found = answer("report", job, *choice)
    assert {each["processes"][0]: {row["name"]: row["calls"] for row in each["operators"] if row["calls"]}
            for each in found} == calls


# ---- keys
def test_keys_of_all_processes_are_offered(job):
    told = run("show", job, "--arg", "requestid=2")
    assert told.returncode == 2 and "no span has an argument 'requestid'; there are: request_id" in told.stderr


def test_a_key_that_others_have_is_not_denied(job):
    told = run("report", job, "--by", "arg:request_id", "--name", "dot")
    assert told.returncode == 3
    assert told.stderr == "mxprof report: no span with the argument 'request_id' is in what was chosen\n"


# ---- page
@pytest.mark.parametrize("asked", [["--from", "45ms"], ["--from", "45ms", "--until", "58ms"], ["--step", "2"], ["--step", "slowest"]])
def test_a_page_has_what_one_of_them_has(job, tmp_path, asked):
    """The worker has ended after 40 ms."""
    made = run("view", *asked, "-o", tmp_path / "p.html", job)
    assert (made.returncode, made.stderr) == (0, "") and (tmp_path / "p.html").stat().st_size > 10_000
