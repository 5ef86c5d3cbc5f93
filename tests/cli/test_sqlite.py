# SPDX-License-Identifier: Apache-2.0
"""A trace as an SQLite database, read by Python's sqlite3: what it holds is what the table and the records
say. docs/sqlite.md has the schema, and queries whose printed results are those of a run of train."""
import collections
import json
import os
import pathlib
import sqlite3
import struct
import subprocess

import pytest

import native_file
import test_every_number
import test_processes
import test_stacks

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
MS = 1_000_000
DURATION = """select case category when '' then 'user' else category end, text, count(*), sum(dur_ns), min(dur_ns),
              max(dur_ns) from span join name on name.id = span.name group by 1, 2"""


def mxprof(*arguments, code=0):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                            check=False)
    if "was built without SQLite" in result.stderr:
        pytest.skip("the command is built without SQLite")
    assert result.returncode == code, result.stderr
    return result


def convert(source, folder, code=0):
    mxprof("convert", source, "-o", folder / "out.sqlite", code=code)
    database = sqlite3.connect(folder / "out.sqlite")
    assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
    return database


def one(database, sql):
    (value,), = database.execute(sql).fetchall()
    return value


def table(source, *options):
    return json.loads(mxprof("report", "--layout", "mxnet", "--json", *options, source).stdout)["Time"]


def assert_sums_are_the_table_s(database, source):
    found = {(section, name): tuple(figures) for section, name, *figures in database.execute(DURATION)}
    expected = {(section, name): row for section, rows in table(source).items() for name, row in rows.items()
                if (section, name) in found}
    assert found.keys() == expected.keys() and found
    for place, (count, *times) in found.items():
        row = expected[place]
        assert count == row["Count"], place
        assert [ns / 1e6 for ns in times] == pytest.approx([row["Total"], row["Min"], row["Max"]], rel=1e-9), place


@pytest.fixture(name="training", scope="module")
def training_run(tmp_path_factory):
    """The folder of a real training run, and the database of it."""
    if not (BUILD / "train").exists():
        pytest.skip("the runtime is not built")
    folder = tmp_path_factory.mktemp("training")
    subprocess.run([BUILD / "train", folder], cwd=folder, check=True, capture_output=True, timeout=60)
    return folder, convert(folder / "profile.mxp", folder)


@pytest.mark.parametrize("store", ["memory", "memory, dumped while it records", "file", "ring"])
def test_a_random_program(store, tmp_path):
    run = test_every_number.run_program(tmp_path, store, 1)
    database = convert(tmp_path / "out.mxp", tmp_path)
    assert_sums_are_the_table_s(database, tmp_path / "out.mxp")
    by_scope = {name: row for name, row in table(tmp_path / "out.mxp", "--by", "scope")["Scopes"].items()}
    own = dict(database.execute("select coalesce(scope, '<no scope>'), sum(self_ns) from span_named "
                                "where flags & 256 = 0 group by 1").fetchall())
    assert {scope: ns / 1e6 for scope, ns in own.items()} == pytest.approx(
        {scope: row["Total"] for scope, row in by_scope.items()}, rel=1e-9)
    steps = collections.Counter()
    for number, ns in database.execute("select number, end_ns - begin_ns from step"):
        steps[f"step {number}"] += ns
    assert {name: ns / 1e6 for name, ns in steps.items()} == pytest.approx(
        {name: row["Total"] for name, row in table(tmp_path / "out.mxp", "--by", "step")["Steps"].items()}, rel=1e-9)
    samples = collections.defaultdict(list)
    for name, ns, value in database.execute("select text, ns, value from counter join name on name = name.id"):
        samples["app", name].append((ns, float(value)))
    # The Chrome trace has times of its own zero.
    assert {place: [value for _, value in sorted(of)] for place, of in samples.items()} == {
        place: [float(value) for _, value in sorted(of)] for place, of in run.samples.items()}
    assert one(database, "select count(*) from instant") == run.marks


def test_parents_hold_their_children(training):
    _, database = training
    assert one(database, """select count(*) from span inner_ join span outer_ on outer_.id = inner_.parent
        where inner_.depth != outer_.depth + 1 or inner_.begin_ns < outer_.begin_ns or inner_.thread != outer_.thread
        or inner_.begin_ns + inner_.dur_ns > outer_.begin_ns + outer_.dur_ns""") == 0
    assert one(database, "select count(*) from span where parent is null and depth > 0") == 0
    # Own time is what the direct children leave.
    assert one(database, """select count(*) from span join (select parent, sum(dur_ns) as inside from span
        where parent is not null group by parent) as children on children.parent = span.id
        where self_ns != dur_ns - inside""") == 0
    assert one(database, "select count(*) from span where parent is not null") > 100


def test_training_has_the_table_s_sums(training):
    folder, database = training
    assert_sums_are_the_table_s(database, folder / "profile.mxp")
    assert one(database, "select count(*) from operator") == one(
        database, "select count(*) from span where flags & 1024") > 1000
    assert one(database, """select count(*) from operator join span on span.id = operator.span
        where operator.start_ns != begin_ns or end_ns != begin_ns + dur_ns or operator.name != span.name""") == 0


def edges_of(database):
    """From the table of variables, operator by operator in the order of their numbers, as tickets are given."""
    used = collections.defaultdict(list)
    for operator, variable, written in database.execute(
            """select operator, variable, written from variable join operator on operator.id = operator
               where bulk is null"""):
        used[operator].append((variable, written))
    edges, writer, readers = set(), {}, collections.defaultdict(set)
    for operator in sorted(used):
        for variable, written in used[operator]:
            before = writer.get(variable)
            if written:
                edges |= {(reader, operator, "order") for reader in readers.pop(variable, ()) if reader != operator}
                edges |= {(before, operator, "order")} if before not in (None, operator) else set()
                writer[variable] = operator
            else:
                edges |= {(before, operator, "data")} if before not in (None, operator) else set()
                readers[variable].add(operator)
    return edges


def test_edges_are_those_of_the_variables(training):
    _, database = training
    assert one(database, "select value from meta where key = 'edges_left_out'") == 0
    found = database.execute("select from_operator, to_operator, kind from edge where kind in ('data', 'order')")
    found = found.fetchall()
    assert len(found) == len(set(found)) > 1000
    assert set(found) == edges_of(database)
    assert database.execute("select from_operator, to_operator from edge where kind = 'released' order by 1, 2"
                            ).fetchall() == database.execute(
        "select released_by, id from operator where released_by is not null order by 1, 2").fetchall()
    assert one(database, """select count(*) from edge join operator before on before.id = from_operator
        join operator after on after.id = to_operator where kind in ('data', 'order')
        and before.end_ns > after.start_ns""") == 0


def test_memory_adds_up(training):
    """What lives on a device is what was taken less what was given back."""
    _, database = training
    live = 0
    for size, kind, total in database.execute("select bytes, kind, live from memory where device = 'cpu/0'"):
        live += size if kind == "alloc" else -size
        assert total == live
    assert live >= 0 and one(database, "select count(*) from memory") > 500


def test_sample_word_by_word(tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    assert database.execute("select pid, command, start_ns, end_ns, clock, lost from run").fetchall() == [
        (4711, "app --fast", 0, 9500 * MS, "tsc", 7)]
    assert database.execute("select id, run, tid, name from thread").fetchall() == [
        (0, 1, 5000, "main"), (1, 1, 5001, 'helper "one"')]
    assert database.execute("select thread, category, dur_ns, depth, parent, flags, scope from span_named "
                            "where name = 'work' order by begin_ns").fetchall() == [
        *[("main", "app", 200 * MS, 0, None, 0, "layer/inner")] * 3, ("main", "app", 100 * MS, 0, None, 2, None)]
    assert database.execute("select number, begin_ns, end_ns from step").fetchall() == [
        (0, 100 * MS, 1100 * MS), (1, 1100 * MS, 2100 * MS), (2, 2100 * MS, 9500 * MS)]
    assert database.execute("select text, ns, kind from instant join name on name = name.id").fetchall() == [
        ("half way", 9300 * MS, "process")]
    assert database.execute("select thread, reason, count, from_ns, to_ns from loss").fetchall() == [
        (1, "memory full", 7, 700 * MS, 800 * MS), (None, "name table full", 2, 900 * MS, 950 * MS)]
    assert one(database, "select value from meta where key = 'zero_ns'") == 1_700_000_000_000_000_000
    assert one(database, "select value from info where key = 'record_cost_ns'") == "12.5"
    assert one(database, "select count(*) from span_named where flags & 256 and name in ('task', 'picture')") == 8


def test_lanes_threads_and_clocks(tmp_path):
    (tmp_path / "in.mxp").write_bytes(test_stacks.lanes().to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    rows = database.execute("""select name, thread, lane, begin_ns, dur_ns, self_ns, depth, flags from span_named
                               order by begin_ns""").fetchall()
    assert rows == [("told", "other", None, 5 * MS, 40 * MS, 40 * MS, 0, 0),
                    ("kernel", "main", "gpu/0 stream 7", 10 * MS, 30 * MS, 30 * MS, 0, 0),
                    ("kernel", "main", None, 11 * MS, 4 * MS, 2 * MS, 0, 0),
                    ("plain", "main", None, 12 * MS, 2 * MS, 2 * MS, 1, 0),
                    ("far", "main", "gpu/0 stream 7", 10**15, 7 * MS, 7 * MS, 0, 512)]


class TwoChunks(native_file.NativeFile):
    """A thread's records in two chunks, of which the second does not say again in which scope it is."""

    def chunk_sections(self):
        (thread,) = self.threads
        for number, part in enumerate((thread["bytes"][:32], thread["bytes"][32:])):
            yield self.section("chunk", part, struct.pack("=IIQQQ", 0, number, self.origin, 0, 0))


def test_a_scope_goes_on_in_the_next_chunk(tmp_path):
    file = TwoChunks()
    main, layer = file.thread("main"), file.name("layer", 0, "scope")
    file.meta(main, "scope_push", MS, name=layer)
    file.span(main, file.name("work", "app", "span"), 2 * MS, 3 * MS)
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    assert one(convert(tmp_path / "in.mxp", tmp_path), "select scope from span_named") == "layer"


def test_arguments_keep_their_types(tmp_path):
    file = native_file.NativeFile()
    thread, name = file.thread("main"), file.name("work", "app", "span")
    half, = struct.unpack("=Q", struct.pack("=d", 0.5))
    args = [("u", 1, 7), ("big", 1, 1 << 63), ("i", 2, -7), ("f", 3, half), ("n", 4, file.name("a name")),
            ("t", 5, b"some text of its own")]
    file.span_on(thread, name, MS, 2 * MS, context=99, args=[(file.name(key), *rest) for key, *rest in args])
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    assert database.execute("select key, value, typeof(value) from arg join span on span.id = span").fetchall() == [
        ("u", 7, "integer"), ("big", float(1 << 63), "real"), ("i", -7, "integer"), ("f", 0.5, "real"),
        ("n", "a name", "text"), ("t", "some text of its own", "text"), ("context", 99, "integer")]


def test_points_of_a_flow(tmp_path):
    file = native_file.NativeFile()
    main, other, name = file.thread("main"), file.thread("other"), file.name("arrow", "app", "flow")
    for thread, phase, at in ((main, 1, 10), (main, 2, 20), (other, 3, 30)):
        file.add(thread, native_file.words(native_file.word0("flow", 2, file.origin + at), name | phase << 32, 5, 0))
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    assert database.execute("""select flow.id, text, ns, thread.name, phase from flow join name on name.id = flow.name
                               join thread on thread.id = thread order by ns""").fetchall() == [
        (5, "arrow", 10, "main", "start"), (5, "arrow", 20, "main", "step"), (5, "arrow", 30, "other", "end")]


def test_names_of_any_bytes(tmp_path):
    file = native_file.NativeFile()
    thread = file.thread("quo'te")
    for name in (b"it's; drop table span", b"bad \xff utf", b""):
        file.span(thread, file.name(name, "app", "span"), MS, MS + 5)
    file.add(thread, native_file.words(native_file.word0("span", 1, file.origin + MS), 12345 | 5 << 32))
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    assert {name for name, in database.execute("select name from span_named")} == {
        "it's; drop table span", "bad � utf", "", "<bad name>"}


def test_processes_have_no_id_in_common(tmp_path):
    later = native_file.sample()
    later.pid = 4712
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.mxp").write_bytes(native_file.sample().to_bytes())
    (tmp_path / "in/b.mxp").write_bytes(later.to_bytes())
    database = convert(tmp_path / "in", tmp_path)
    assert [pid for pid, in database.execute("select pid from run order by id")] == [4711, 4712]
    for name in ("span_named", "operator_named"):
        alone = one(convert(tmp_path / "in/a.mxp", tmp_path), f"select count(*) from {name}")
        database = convert(tmp_path / "in", tmp_path)
        assert one(database, f"select count(*) from {name}") == 2 * alone
    assert one(database, """select count(*) from span join thread on thread.id = thread
        where span.run != thread.run""") == 0
    assert_sums_are_the_table_s(database, tmp_path / "in")


def test_process_that_died(tmp_path):
    process = test_processes.start(test_processes.WORKERS, tmp_path, MXPROF_STORE="file")
    process.kill()
    process.wait()
    database = convert(tmp_path, tmp_path)
    assert sorted(count for count, in database.execute(
        "select count(*) from span_named where name = 'work' group by run")) == [3, 10, 20]


def test_nothing_recorded_is_empty_tables(tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.empty().to_bytes())
    database = convert(tmp_path / "in.mxp", tmp_path)
    assert one(database, "select count(*) from span") == 0
    assert database.execute("select start_ns, end_ns from run").fetchall() == [(None, None)]


def test_every_cut_is_converted_as_far_as_it_goes(tmp_path):
    whole = native_file.sample().to_bytes()
    for at in range(64, len(whole), 91):
        (tmp_path / "in.mxp").write_bytes(whole[:at])
        mxprof("convert", tmp_path / "in.mxp", "-o", tmp_path / "out.sqlite", code=1)


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    convert(tmp_path / "in.mxp", tmp_path).close()
    (tmp_path / "out.sqlite").write_text("precious")
    result = subprocess.run(
        ["sh", "-c", f"ulimit -f 8; trap '' XFSZ; {BUILD}/mxprof convert in.mxp -o out.sqlite"], cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1 and "cannot write" in result.stderr and "out.sqlite" in result.stderr
    assert (tmp_path / "out.sqlite").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.mxp", "out.sqlite"]


@pytest.mark.parametrize("out,options,said", [
    ("-", ("--to", "sqlite"), "file of its own"), ("out.sqlite.gz", (), "file of its own"),
    ("/dev/null", ("--to", "sqlite"), "no place for a database"), ("/dev/full", ("--to", "sqlite"), "no place")])
def test_what_can_be_no_database_is_refused(out, options, said, tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    convert(tmp_path / "in.mxp", tmp_path)
    result = subprocess.run([BUILD / "mxprof", "convert", "in.mxp", "-o", out, *options], cwd=tmp_path,
                            capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode in (1, 2) and said in result.stderr
