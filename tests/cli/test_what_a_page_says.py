# SPDX-License-Identifier: Apache-2.0
"""mxprof view: what the first screen says of odd runs, what --anonymous leaves out, and where the page goes."""
import pytest

import native_file
from rank_files import Job
from test_view import MS, mxprof, page_of, write
from test_whatif import trace as steps_trace

BACKWARD, BULK = 2, 32  # flags of operators


# ---- the verdict in a line --------------------------------------------------------------------------------
def idle_steps(scope=""):
    """Three steps of 10 ms, the last without an end; in each an operator of 2 ms."""
    file = native_file.NativeFile()
    main, compute = file.thread("main", end=30 * MS), file.thread("compute")
    name, of = file.name("dot", "operator", "span"), file.name(scope, 0, "scope") if scope else 0
    for step in range(3):
        file.meta(main, "step", 10 * step * MS, value=step)
        file.operator(compute, name, (10 * step + 4) * MS, (10 * step + 6) * MS, step + 1, push=(10 * step + 3) * MS, pusher=main, scope=of)
    return file


@pytest.mark.parametrize("scope, part", [("", "dot"), ("net", "net")])
def test_time_without_operators_is_the_title_where_it_is_most(tmp_path, scope, part):
    head = page_of(write(tmp_path, idle_steps(scope))).head
    assert head["title"] == f"No operator ran for 8.00 ms of 10.0 ms of a step, then {part} 2.00 ms"


def test_time_without_operators_is_no_title_where_a_part_takes_more(tmp_path):
    head = page_of(write(tmp_path, steps_trace(scopes=("net:one:", "net:two:")))).head
    assert head["title"].startswith("net:one takes 300 ")


def test_operators_are_the_title_where_more_is_in_no_scope_than_in_any(tmp_path):
    file = native_file.NativeFile()
    main, compute = file.thread("main", end=20 * MS), file.thread("compute")
    scope = file.name("net", 0, "scope")
    for step in range(3):
        file.meta(main, "step", 10 * step * MS, value=step)
        for number, (name, of, begin, end) in enumerate((("dot", scope, 0, 2), ("sum", 0, 2, 5), ("exp", 0, 5, 7))):
            file.operator(compute, file.name(name, "operator", "span"), (10 * step + begin) * MS, (10 * step + end) * MS, 3 * step + number + 1, push=10 * step * MS, pusher=main, scope=of)
    head = page_of(write(tmp_path, file)).head
    assert head["title"] == "sum takes 3.00 ms of 10.0 ms of a step"
    assert max(head["report"]["layers"], key=lambda layer: layer["sum_ns"])["scope"] == ""


def test_what_runs_on_many_threads_takes_more_than_the_run(tmp_path):
    file = native_file.NativeFile()
    name = file.name("task", "app", "span")
    for i in range(300):
        thread = file.thread(f"pool {i}", end=8 * MS)
        for k in range(4):
            file.span(thread, name, 2 * k * MS, 2 * k * MS + 2 * MS)
    head = page_of(write(tmp_path, file)).head
    assert head["title"] == "task takes 2.40 s on several threads in 8.00 ms"
    own = [track["name"] for track in head["tracks"] if track["thread"] >= 0]
    assert own == [f"pool {i}" for i in range(250)] and head["dropped"]["quiet_threads"] == 50


# ---- can it be trusted ------------------------------------------------------------------------------------
def trust_of(path, code=0):
    trust = page_of(path, code=code).head["trust"]
    return trust["word"], trust["state"]


def test_a_ring_that_was_never_full_is_complete(tmp_path):
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name("work", "app", "span"), 10, 25)
    file.info = [("full_policy", "ring"), ("memory_limit_bytes", "67108864")]
    path = write(tmp_path, file)
    assert trust_of(path) == ("Complete: nothing was lost", "good")
    assert ["ring", "64 MiB; it has not been full: nothing made room"] in page_of(path).head["trust"]["rows"]


def test_a_process_that_did_not_end_its_recording_is_named(tmp_path):
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name("work", "app", "span"), 10, 25)
    file.info = [("unfinished", "the process died")]
    path = write(tmp_path, file)
    assert trust_of(path) == ("The process died: what it recorded up to then is here", "warn")


def test_a_file_of_a_folder_that_cannot_be_read_is_counted(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/whole.mxp").write_bytes(steps_trace().to_bytes())
    (tmp_path / "run/bad.mxp").write_bytes(b"no trace at all")
    assert trust_of(tmp_path / "run", code=1) == ("1 file could not be read", "warn")


# ---- anonymous --------------------------------------------------------------------------------------------
def all_texts(page, out):
    """The page's markup and every text section."""
    return "\n".join([out.read_text(), page.unpack("head").decode(), *([page.unpack("d").decode()] if "d" in page.sections else [])])


def test_pages_of_a_job_do_not_say_where_it_ran(tmp_path):
    job = Job(3)
    job.train(steps=20, late=1)
    job.exchange_all()
    for file in job.files:
        file.host = f"secret-{file.host}"
        file.info = [("host", file.host), ("command", "secretly.py --run")]
    folder = job.write(tmp_path / "secret place")
    page = page_of(folder)
    assert "worker 1 (secret-n1)" in all_texts(page, folder.parent / "page.html")
    page = page_of(folder, "--anonymous")
    assert "secret" not in all_texts(page, folder.parent / "page.html").replace("secret place", "")
    assert str(tmp_path) not in all_texts(page, folder.parent / "page.html")
    assert [process["name"] for process in page.head["processes"]] == ["worker 0", "worker 1", "worker 2"]
    assert page.head["explain"]["between_ranks"]["workers"][1]["worker"] == "worker 1" and "Worker 1 " in page.head["workers"]


def test_pages_of_two_traces_do_not_say_who_ran_them(tmp_path):
    folder = tmp_path / "secret folder"
    folder.mkdir()
    files = []
    for late, begun, name in ((0, 0, "before"), (3000, 60_000 * MS, "after")):
        file = steps_trace(late=late)
        file.begun_ns = begun
        file.info = [("command", f"secretly --{name}"), ("host", f"secret-{name}"), ("config.out", f"/srv/secret/{name}"), ("kernels", name)]
        files.append(write(folder, file, f"{name}.mxp"))
    before, after = files
    assert "secretly --after" in all_texts(page_of(after, "--with", before), folder / "page.html")
    page = page_of(after, "--with", before, "--anonymous")
    assert "secret" not in all_texts(page, folder / "page.html")
    assert page.head["command"] == "mxprof view after.mxp" and page.head["report"]["file"] == "after.mxp"
    difference = page.difference()
    assert [difference["diff"]["runs"][side][0]["file"] for side in ("before", "after")] == ["before.mxp", "after.mxp"]
    assert [row["key"] for row in difference["diff"]["differences"]["settings"]] == ["kernels"]


# ---- paths and counters -----------------------------------------------------------------------------------
def test_pieces_of_the_program_are_of_its_calls_and_those_of_the_workers_of_operators(tmp_path):
    page = page_of(write(tmp_path, steps_trace(loading=100_000)))
    forms = {}
    for _, _, _, category, kind in page.path():
        if kind is not None:
            name, _, _, _, form = page.head["kinds"][kind]
            forms.setdefault(category, set()).add((name, form))
    assert forms["run"] == {("A", 1), ("B", 1)} and forms["input"] == {("next batch", 0)}
    assert all(page.head["stats"][kind][0] > 0 for kind, each in enumerate(page.head["kinds"])), "each kind has spans"


def test_a_bulk_is_no_work_beside_that_of_its_operators(tmp_path):
    file = native_file.NativeFile()
    main, compute = file.thread("main", end=30 * MS), file.thread("compute")
    bulk, dot, scope = file.name("ImperativeBulk", "operator", "span"), file.name("dot", "operator", "span"), file.name("net", 0, "scope")
    file.operator(compute, dot, 2 * MS, 8 * MS, 2, push=MS, pusher=main, phase=BACKWARD, scope=scope)
    file.operator(compute, bulk, MS, 9 * MS, 1, push=MS, pusher=main, phase=BACKWARD | BULK)
    head = page_of(write(tmp_path, file)).head
    assert sorted((kind[0], kind[3], kind[4]) for kind in head["kinds"]) == [("ImperativeBulk", 2, 2), ("dot", 2, 1)]


def test_counters_say_how_long_their_bins_are_and_how_many_samples_have_no_place(tmp_path):
    file = native_file.NativeFile()
    thread = file.thread("main", end=1_023_000)
    names = [file.name(f"counter {i}", "app", "counter") for i in range(258)]
    for name in names:
        for at in (0, 500_000, 1_023_000):
            file.counter(thread, name, at, 7)
    head = page_of(write(tmp_path, file)).head
    assert len(head["counters"]) == 256 and {counter["bin_ns"] for counter in head["counters"]} == {1_000}
    assert head["dropped"]["counter_samples"] == 6


# ---- where it goes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, page", [("python3.11.4711.mxp", "python3.11.4711.html"), ("run.mxp", "run.html"), ("run", "run.html"),
                                        (".mxp", "page.html"), ("app.v2.mxp.gz", "app.v2.html")])
def test_pages_of_traces_of_one_program_have_names_of_their_own(tmp_path, name, page):
    (tmp_path / "traces").mkdir()
    write(tmp_path / "traces", steps_trace(), name)
    mxprof("view", tmp_path / "traces" / name, cwd=tmp_path)
    assert [path.name for path in tmp_path.glob("*.html")] == [page]


@pytest.mark.parametrize("folder, page", [("run.d", "run.d.html"), ("run.d/", "run.d.html"), (".", "page.html")])
def test_pages_of_folders_are_named_after_them(tmp_path, folder, page):
    (tmp_path / "run.d").mkdir()
    write(tmp_path / "run.d" if folder != "." else tmp_path, steps_trace())
    mxprof("view", folder, cwd=tmp_path)
    assert [path.name for path in tmp_path.glob("*.html")] == [page]


@pytest.mark.parametrize("arguments, says", [
    (["t.mxp", "-o", "t.mxp"], "'t.mxp' is the input; write the page to another file"),
    (["t.mxp", "-o", "./t.mxp"], "'./t.mxp' is the input"),
    (["t.mxp", "--with", "other.mxp", "-o", "other.mxp"], "'other.mxp' is the input"),
    (["t.mxp", "--open", "-o", "-"], "--open needs a file: leave out '-o -'"),
])
def test_a_page_never_takes_the_place_of_a_trace(tmp_path, arguments, says):
    for name in ("t.mxp", "other.mxp"):
        write(tmp_path, steps_trace(), name)
    before = [(tmp_path / name).read_bytes() for name in ("t.mxp", "other.mxp")]
    done = mxprof("view", *arguments, code=2, cwd=tmp_path)
    assert says in done.stderr and done.stdout == ""
    assert [(tmp_path / name).read_bytes() for name in ("t.mxp", "other.mxp")] == before
