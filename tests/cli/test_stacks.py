# SPDX-License-Identifier: Apache-2.0
"""The formats of stacks: folded, speedscope's, pprof's. What they say is read by readers that are not ours and
compared with own times that are computed anew, by the slowest way there is."""
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
from random import Random

import pytest

import native_file
import stack_readers
import test_every_number
import test_processes

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
FORMATS = ("folded", "speedscope", "pprof")
MS = 1_000_000


def convert(source, out, *options, code=0):
    result = subprocess.run([BUILD / "mxprof", "convert", source, "-o", out, *options], capture_output=True,
                            text=True, timeout=60, check=False)
    assert result.returncode == code, result.stderr
    return result.stderr


def read_all(source, folder, several=False, code=0):
    """The same stacks from each format; with their process only if there are several."""
    for name in ("out.folded", "out.speedscope.json", "out.pb.gz"):
        convert(source, folder / name, code=code)
    pprof = stack_readers.pprof(gzip.decompress((folder / "out.pb.gz").read_bytes()))
    found = [stack_readers.folded((folder / "out.folded").read_text(), several),
             stack_readers.speedscope((folder / "out.speedscope.json").read_text()), pprof]
    if not several:
        found = [collections.Counter({(None, *stack[1:]): ns for stack, ns in one.items()}) for one in found]
    # A stack without time of its own is in no folded line.
    assert +found[0] == +found[1] == +found[2]
    return +pprof if several else +found[0]


def naive(run):
    """{(None, thread, frames): own ns} of the random program, from its Chrome trace."""
    sums = collections.Counter()
    for events in run.by_thread():
        for i, (event, _) in enumerate(events):
            around = [outer for outer, _ in events[i + 1:]
                      if outer.begin <= event.begin and event.end <= outer.end]
            duration = event.end - event.begin
            names = tuple(outer.name for outer in reversed(around))
            sums[None, event.thread, *names, event.name] += duration
            if around:
                sums[None, event.thread, *names] -= duration
    return +sums


@pytest.mark.parametrize("store", ["memory", "memory, dumped while it records", "file", "ring"])
def test_own_times_of_a_random_program(store, tmp_path):
    run = test_every_number.run_program(tmp_path, store, 1)
    found = read_all(tmp_path / "out.mxp", tmp_path)
    assert found == naive(run)
    assert max(len(stack) for stack in found) > 3


def operators():
    """A span with two operators of other scopes in it, and one that stands alone."""
    file = native_file.NativeFile()
    worker = file.thread("worker")
    net = file.name("net", 0, "scope")
    conv = file.name("conv1", net, "scope")
    batch, convolution, copy = (file.name(name, "operator", "span") for name in ("batch", "Convolution", "copy"))

    def operator(number, name, begin, end, scope):
        file.add(worker, native_file.words(
            native_file.word0("operator", 4, file.origin + begin), name | number << 32, end - begin,
            0xFFFF << 48, 0, 0, scope, 0))

    operator(1, convolution, 10 * MS, 14 * MS, conv)
    operator(2, copy, 15 * MS, 16 * MS, 0)
    file.span(worker, batch, 9 * MS, 20 * MS)
    operator(3, convolution, 30 * MS, 32 * MS, net)
    return file


def test_scopes_stand_before_their_operators(tmp_path):
    (tmp_path / "in.mxp").write_bytes(operators().to_bytes())
    assert read_all(tmp_path / "in.mxp", tmp_path) == {
        (None, "worker", "batch"): 6 * MS,
        (None, "worker", "batch", "net", "conv1", "Convolution"): 4 * MS,
        (None, "worker", "batch", "copy"): 1 * MS,
        (None, "worker", "net", "Convolution"): 2 * MS}


def lanes():
    """Spans of a stream, of another thread, and of a clock of its own, beside and around a plain one."""
    file = native_file.NativeFile()
    main, other = file.thread("main"), file.thread("other")
    stream = file.name("gpu/0 stream 7")
    plain, kernel, told, far = (file.name(name, "app", "span") for name in ("plain", "kernel", "told", "far"))
    file.span_on(main, kernel, 10 * MS, 40 * MS, lane=stream)
    file.span_on(main, told, 5 * MS, 45 * MS, lane=0x80000000 | other)
    file.span(main, plain, 12 * MS, 14 * MS)
    file.span_on(main, far, 10**15, 10**15 + 7 * MS, lane=stream, clock=1)
    file.span_on(main, kernel, 11 * MS, 15 * MS)
    return file


def test_spans_of_lanes_are_stacks_of_their_own(tmp_path):
    (tmp_path / "in.mxp").write_bytes(lanes().to_bytes())
    assert read_all(tmp_path / "in.mxp", tmp_path) == {
        (None, "gpu/0 stream 7", "kernel"): 30 * MS, (None, "gpu/0 stream 7", "far"): 7 * MS,
        (None, "other", "told"): 40 * MS, (None, "main", "kernel"): 2 * MS, (None, "main", "kernel", "plain"): 2 * MS}


def test_pprof_counts_spans(tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    convert(tmp_path / "in.mxp", tmp_path / "out.pb")
    counts = collections.Counter()
    stack_readers.pprof((tmp_path / "out.pb").read_bytes(), counts)
    assert counts == {("app 4711", "main", "work"): 4, ("app 4711", "main", "load"): 3,
                      ("app 4711", "main", "flush"): 1}


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_in_no_stack_is_told(name, tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    told = convert(tmp_path / "in.mxp", tmp_path / "out", "--to", name)
    assert "8 tasks and frames, which overlap others, are in no stack" in told
    assert "7 records were lost" in told


def test_deep_recursion_ends_in_the_deepest_stack_there_is(tmp_path):
    file = native_file.NativeFile()
    thread, name = file.thread("main"), file.name("again", "app", "span")
    depth = 1500
    for i in range(depth):  # the innermost first
        file.span(thread, name, (depth - i) * 10, (depth + i) * 10 + 5)
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    told = convert(tmp_path / "in.mxp", tmp_path / "out.folded")
    assert f"{depth - 1023} spans count in what is around them" in told
    found = stack_readers.folded((tmp_path / "out.folded").read_text(), False)
    assert max(map(len, found)) == 1 + 1024
    assert sum(found.values()) == (depth - 1) * 20 - 5 + 10


def test_names_that_would_break_a_line(tmp_path):
    file = native_file.NativeFile()
    thread = file.thread("a;b\nc")
    for i, name in enumerate((b"x;y 7", b"tab\there", b"bad \xff utf", b'"quoted\\"')):
        file.span(thread, file.name(name, "app", "span"), i * MS, i * MS + 5)
    (tmp_path / "in.mxp").write_bytes(file.to_bytes())
    convert(tmp_path / "in.mxp", tmp_path / "out.folded")
    found = stack_readers.folded((tmp_path / "out.folded").read_text(), False)
    assert found == {(None, "a:b c", name): 5 for name in ("x:y 7", "tab here", "bad � utf", '"quoted\\"')}
    convert(tmp_path / "in.mxp", tmp_path / "out.speedscope.json")
    found = stack_readers.speedscope((tmp_path / "out.speedscope.json").read_text())
    assert {stack[2] for stack in found} == {"x;y 7", "tab\there", "bad � utf", '"quoted\\"'}


def test_processes_are_told_apart(tmp_path):
    later = native_file.sample()
    later.pid = 4712
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.mxp").write_bytes(native_file.sample().to_bytes())
    (tmp_path / "in/b.mxp").write_bytes(later.to_bytes())
    found = read_all(tmp_path / "in", tmp_path, several=True)
    for pid in (4711, 4712):
        assert found[f"app {pid}", "main", "work"] == 700 * MS
    assert sum(found.values()) == 2 * 6733 * MS


def test_process_that_died_has_its_stacks(tmp_path):
    process = test_processes.start(test_processes.WORKERS, tmp_path, MXPROF_STORE="file")
    process.kill()
    process.wait()
    found = read_all(tmp_path, tmp_path, several=True)
    own = {stack[-1] for stack in found}  # "outer" was open, and has what lies before its first "work"
    assert "work" in own and own <= {"outer", "work"}
    assert len({stack[0] for stack in found}) == 3


def test_nothing_recorded_is_no_stacks(tmp_path):
    (tmp_path / "in.mxp").write_bytes(native_file.empty().to_bytes())
    assert not read_all(tmp_path / "in.mxp", tmp_path)


@pytest.mark.parametrize("name", FORMATS)
def test_closed_pipe_and_full_device(name, tmp_path):
    (tmp_path / "in.mxp").write_bytes(operators().to_bytes())
    command = f"{BUILD}/mxprof convert {tmp_path}/in.mxp -o - --to {name}"
    piped = subprocess.run(["sh", "-c", f"{{ {command}; echo exit $? >&2; }} | true"], capture_output=True,
                           text=True, timeout=60, check=False)
    assert piped.stderr == "exit 0\n"
    full = subprocess.run(["sh", "-c", f"{command} > /dev/full"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert full.returncode == 1 and "No space left" in full.stderr


def test_every_cut_is_converted_as_far_as_it_goes(tmp_path):
    whole = native_file.sample().to_bytes()
    for at in range(64, len(whole), 91):
        (tmp_path / "in.mxp").write_bytes(whole[:at])
        for name in FORMATS:
            result = subprocess.run([BUILD / "mxprof", "convert", tmp_path / "in.mxp", "-o", tmp_path / "out",
                                     "--to", name], capture_output=True, timeout=20, check=False)
            assert result.returncode == 1, (at, name, result.stderr)


def test_changed_records_end_no_conversion(tmp_path):
    """Bytes of records are changed below right checksums; the database too is made of what is left."""
    random = Random(1)
    for _ in range(int(os.environ.get("MXPROF_TEST_SEEDS", "2")) * 10):
        file = operators()
        file.threads += native_file.sample().threads
        for thread in file.threads:
            changed = bytearray(thread["bytes"])
            for _ in range(random.randrange(5)):
                changed[random.randrange(len(changed))] = random.choice((0, 255, random.randrange(256)))
            thread["bytes"] = bytes(changed)
        (tmp_path / "in.mxp").write_bytes(file.to_bytes())
        for name in (*FORMATS, "sqlite"):
            result = subprocess.run([BUILD / "mxprof", "convert", tmp_path / "in.mxp", "-o", tmp_path / "out",
                                     "--to", name], capture_output=True, timeout=20, check=False)
            assert result.returncode in (0, 1), (name, result.stderr)


def test_pprof_of_go_reads_it(tmp_path):
    pprof = ["pprof"] if shutil.which("pprof") else ["go", "tool", "pprof"]
    if shutil.which(pprof[0]) is None:
        pytest.skip("Go is not installed, whose pprof would read the profile")
    (tmp_path / "in.mxp").write_bytes(native_file.sample().to_bytes())
    convert(tmp_path / "in.mxp", tmp_path / "out.pb.gz")
    top = subprocess.run([*pprof, "-top", "-unit=ms", tmp_path / "out.pb.gz"], capture_output=True,
                         text=True, timeout=60, check=True).stdout
    assert any(line.split()[0] == "6000ms" and line.endswith("flush") for line in top.splitlines()), top


def test_training_has_the_table_s_own_times(tmp_path):
    """Real operators in real scopes: the stacks add up to what the table by scope adds up to."""
    if not (BUILD / "train").exists():
        pytest.skip("the runtime is not built")
    subprocess.run([BUILD / "train", tmp_path], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    found = read_all(tmp_path / "profile.mxp", tmp_path)
    table = json.loads(subprocess.run(
        [BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "scope", "--json", tmp_path / "profile.mxp"], capture_output=True,
        text=True, check=True, timeout=60).stdout)
    rows = table["Time"]["Scopes"]
    assert sum(found.values()) == pytest.approx(sum(row["Total"] for row in rows.values()) * 1e6, rel=1e-9)
    for scope in ("conv1", "conv2", "dense1", "dense2"):
        own = sum(ns for stack, ns in found.items() if scope in stack)
        table_own = sum(row["Total"] for name, row in rows.items() if name.split(" (")[0] == scope and "(" in name)
        assert 0 < own == pytest.approx(table_own * 1e6, rel=1e-9), scope
