# SPDX-License-Identifier: Apache-2.0
"""What cannot be read costs itself and nothing else, whichever subcommand reads it, and its size is
said; what is there twice counts once."""
import json
import os
import pathlib
import sqlite3
import struct
import subprocess
import threading
import time

import pytest

import native_file
import stack_readers

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
MS = 1_000_000
THREADS = 24  # so many chunks are converted by several threads
WHOLE = (THREADS - 1) * 100  # spans
RECORDS = WHOLE + THREADS - 1
LARGE = 65 << 20  # above 64 MiB checksums of chunks are looked at when they are read


def mxprof(*arguments, folder):
    return subprocess.run([BUILD / "mxprof", *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False)


def some_threads(count=3):
    file = native_file.NativeFile()
    work = file.name("work", "app", "span")
    layer = file.name("layer", 0, "scope")
    for number in range(count):
        thread = file.thread(f"thread {number}")
        file.meta(thread, "scope_push", 5 * MS, name=layer)
        for i in range(100):
            file.span(thread, work, (10 + i) * MS, (10 + i) * MS + 1000)
    return file


def with_a_damaged_chunk(folder):
    """The second of many chunks, in a file that is large by a section which readers skip."""
    file = some_threads(THREADS)
    sections = [data for _, data in file.sections()]
    room = struct.pack("=IHHQQQ", 0x5350584D, 99, 0, LARGE, 0, LARGE - 32)
    end = file.section("end", struct.pack("=QQ", len(sections), sum(
        len(thread["bytes"]) for thread in file.threads)))
    damaged = bytearray(sections[1])
    damaged[200] ^= 1
    path = folder / "large.mxp"
    with path.open("wb") as out:
        out.write(file.header() + sections[0] + damaged + b"".join(sections[2:-1]) + room)
        out.seek(LARGE - 32, os.SEEK_CUR)
        out.write(end)
    return path, len(file.threads[1]["bytes"])


@pytest.fixture(name="large", scope="module")
def large_file(tmp_path_factory):
    return with_a_damaged_chunk(tmp_path_factory.mktemp("large"))


def assert_told(result, lost_bytes):
    assert result.returncode == 1, result.stderr
    assert f"{lost_bytes} bytes of records in 1 chunk cannot be read" in result.stderr
    assert result.stderr.count("warning") == 1, result.stderr


@pytest.mark.parametrize("options", [(), ("--by", "scope"), ("--percentiles",), ("--per-process",)])
def test_report_leaves_out_the_damaged_chunk_alone(options, large):
    path, lost_bytes = large
    result = mxprof("report", "--layout", "mxnet", *options, path, folder=path.parent)
    assert_told(result, lost_bytes)
    assert f"{lost_bytes} bytes of records in 1 chunk cannot be read" in result.stdout
    name = "layer" if options[:1] == ("--by",) else "work"
    row = next(line for line in result.stdout.splitlines() if line.startswith(name))
    assert row.split()[1] == str(WHOLE)


def test_info_counts_what_it_can_read(large):
    path, lost_bytes = large
    result = mxprof("info", path, folder=path.parent)
    assert_told(result, lost_bytes)
    assert f"records  {RECORDS} in" in result.stdout
    assert f"{lost_bytes}  bytes in 1 chunk that cannot be read" in result.stdout


@pytest.mark.parametrize("name", ["out.json", "out.pftrace", "out.csv", "out.txt", "out.mxpz",
                                  "again.mxp", "out.folded", "out.speedscope.json", "out.pb",
                                  "out.sqlite"])
def test_convert_writes_all_the_rest(name, large):
    path, lost_bytes = large
    result = mxprof("convert", path, "-o", name, folder=path.parent)
    if "was built without SQLite" in result.stderr:
        pytest.skip("the command is built without SQLite")
    assert_told(result, lost_bytes)
    out = path.parent / name
    if name == "out.json":
        events = json.loads(out.read_text())["traceEvents"]
        assert sum(event.get("name") == "work" for event in events) == WHOLE
    elif name == "out.sqlite":
        assert sqlite3.connect(out).execute("select count(*) from span").fetchall() == [(WHOLE,)]
    elif name == "out.folded":
        assert sum(stack_readers.folded(out.read_text(), False).values()) == 1000 * WHOLE
    elif name == "out.speedscope.json":
        assert sum(stack_readers.speedscope(out.read_text()).values()) == 1000 * WHOLE
    elif name == "out.pb":
        assert sum(stack_readers.pprof(out.read_bytes()).values()) == 1000 * WHOLE
    elif name == "out.pftrace":
        assert out.read_bytes().count(b"\x48\x02") >= WHOLE  # ends of slices
    elif name.startswith("out.mxpz") or name == "again.mxp":
        again = mxprof("info", name, folder=path.parent)
        assert f"records  {RECORDS} in" in again.stdout
    else:
        assert str(WHOLE) in out.read_text()


@pytest.mark.parametrize("name", ["all.mxp", "all.json"])
def test_merge_writes_what_can_be_read(name, large):
    path, lost_bytes = large
    result = mxprof("merge", path, "-o", name, folder=path.parent)
    assert_told(result, lost_bytes)
    out = path.parent / name
    if name == "all.json":
        events = json.loads(out.read_text())["traceEvents"]
        assert sum(event.get("name") == "work" for event in events) == WHOLE
    else:
        again = mxprof("info", name, folder=path.parent)
        assert again.returncode == 0, again.stderr
        assert f"records  {RECORDS} in" in again.stdout


def test_recover_says_how_much_is_left_out(large):
    path, lost_bytes = large
    result = mxprof("recover", path, "-o", "recovered.mxp", folder=path.parent)
    assert result.returncode == 1
    assert f"damaged    1 chunks: {lost_bytes} bytes of records are left out" in result.stdout
    assert f"recovered  {RECORDS} records" in result.stdout


@pytest.mark.parametrize("command", [("info",), ("report",), ("convert", "-o", "/dev/null", "--to", "chrome"),
                                     ("convert", "-o", "/dev/null", "--to", "perfetto"),
                                     ("convert", "-o", "/dev/null", "--to", "pprof"),
                                     ("convert", "-o", "out.sqlite"),
                                     ("merge", "-o", "merged.mxp")])
def test_a_file_that_is_shortened_while_it_is_read_ends_no_command(command, tmp_path):
    file = some_threads()
    room = struct.pack("=IHHQQQ", 0x5350584D, 1, 0, 8 << 20, 0, (8 << 20) - 64)
    record = native_file.words(native_file.word0("span", 1, 2000), file.name("work", "app", "span"))
    chunk = room + struct.pack("=IIQQQ", 0, 1, 1000, 0, 0) + record * (((8 << 20) - 64) // 16)
    sections = [data for _, data in file.sections()]
    path = tmp_path / "shrinks.mxp"
    whole = file.header() + b"".join(sections[:-1]) + chunk
    path.write_bytes(whole)
    stop = threading.Event()

    def shrink():
        while not stop.is_set():
            os.truncate(path, 2 << 20)
            time.sleep(0.002)
            with path.open("r+b") as out:
                out.write(whole)
            time.sleep(0.002)

    thread = threading.Thread(target=shrink)
    thread.start()
    try:
        for _ in range(25):
            result = mxprof(command[0], path, *command[1:], folder=tmp_path)
            assert result.returncode in (0, 1), (result.returncode, result.stderr)
    finally:
        stop.set()
        thread.join()


def test_a_foreign_file_in_a_directory_is_named_and_the_rest_is_not_called_damaged(tmp_path):
    (tmp_path / "good.mxp").write_bytes(some_threads().to_bytes())
    (tmp_path / "junk.mxp").write_bytes(b"this is no trace\n" * 20)
    result = mxprof("report", "--layout", "mxnet", tmp_path, folder=tmp_path)
    assert result.returncode == 1
    assert "junk.mxp" in result.stderr
    title = result.stdout.splitlines()[0]
    assert "damaged" not in title and "without 1 file that cannot be read" in title


def spans_in(path, folder):
    result = mxprof("info", path, folder=folder)
    line = next(line for line in result.stdout.splitlines() if line.endswith("  spans"))
    return int(line.split()[0])


def test_one_trace_given_twice_counts_once(tmp_path):
    (tmp_path / "one.mxp").write_bytes(some_threads().to_bytes())
    (tmp_path / "copy.mxp").write_bytes(some_threads().to_bytes())
    result = mxprof("merge", "one.mxp", "copy.mxp", "one.mxp", "-o", "all.mxp", folder=tmp_path)
    assert result.returncode == 0
    assert result.stderr.count("the first is used") == 2
    assert spans_in("all.mxp", tmp_path) == 300


def test_a_file_behind_itself_counts_once(tmp_path):
    whole = some_threads().to_bytes()
    (tmp_path / "twice.mxp").write_bytes(whole + whole)
    result = mxprof("report", "--layout", "mxnet", "twice.mxp", folder=tmp_path)
    assert "1 process twice, with the same records" in result.stderr
    row = next(line for line in result.stdout.splitlines() if line.startswith("work"))
    assert row.split()[1] == "300"


def test_two_parts_of_one_process_are_no_copies(tmp_path):
    more = some_threads()
    more.span(0, more.name("work", "app", "span"), 900 * MS, 901 * MS)
    (tmp_path / "one.mxp").write_bytes(some_threads().to_bytes())
    (tmp_path / "more.mxp").write_bytes(more.to_bytes())
    result = mxprof("merge", "one.mxp", "more.mxp", "-o", "all.mxp", folder=tmp_path)
    assert "what both hold counts twice" in result.stderr


def test_a_compressed_trace_becomes_an_ordinary_one_again(tmp_path):
    (tmp_path / "one.mxp").write_bytes(some_threads().to_bytes())
    assert mxprof("convert", "one.mxp", "-o", "one.mxpz", folder=tmp_path).returncode == 0
    for arguments in (("-o", "back.mxp"), ("-o", "other", "--to", "native")):
        result = mxprof("convert", "one.mxpz", *arguments, folder=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        assert spans_in(arguments[1], tmp_path) == 300
    assert "name like profile.mxp" in mxprof("convert", "one.mxpz", "-o", "-", "--to", "native",
                                             folder=tmp_path).stderr
