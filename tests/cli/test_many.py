# SPDX-License-Identifier: Apache-2.0
"""Traces with very many names, threads and spans: what a command does once for each must not look at all others. Where it
did, these took minutes, and the limit of a run ended them."""
import array
import collections
import json
import os
import re
import subprocess
from pathlib import Path

import native_file

COMMAND = Path(os.environ["MXPROF_BUILD"]) / "mxprof"
NAMES = 1 << 20
THREADS, NAMES_EACH = 60_000, 5
ROOM = 1 << 22  # instances of a list


def run(*arguments):
    result = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result


def answer(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def test_a_span_may_have_a_million_names_inside(tmp_path):
    file = native_file.NativeFile()
    thread, outer = file.thread("one"), file.name("main", "app", "span")
    category, first = file.name("app"), len(file.names)
    file.names += [(category, "span", 0, b"call %d" % index) for index in range(NAMES)]
    records = [native_file.words(native_file.word0("span", 1, file.origin + 10 * index), first + index | 9 << 32)
               for index in range(NAMES)]
    file.threads[thread].update(bytes=b"".join(records), records=NAMES)
    file.span_long(thread, outer, 0, 10 * NAMES)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    slowest, = answer("top", path)["slowest"]
    parts = {part["name"]: part["ns"] for part in slowest["parts"]}
    assert len(parts) == NAMES + 1
    assert parts.pop("main") == NAMES
    assert set(parts.values()) == {9}


def test_each_thread_of_many_has_its_own_names(tmp_path):
    file = native_file.NativeFile()
    names = [file.name(f"call {index}", "app", "span") for index in range(NAMES_EACH)]
    waits = file.name("in queue", "wait", "span")
    name = file.name("worker")
    for thread in range(THREADS):
        records = [native_file.words(native_file.word0("span", 1, file.origin + 100 * index),
                                     each | 10 + index << 32) for index, each in enumerate([*names, waits])]
        file.threads.append({"name": name, "start": 0, "end": 0, "lost": 0, "records": len(records),
                             "bytes": b"".join(records)})
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    rows = answer("report", "--by", "thread", path)["threads"]
    assert len(rows) == THREADS
    wanted = [(each, 10 + index) for index, each in enumerate([f"call {index}" for index in range(NAMES_EACH)])]
    wanted.append(("in queue", 10 + NAMES_EACH))
    for row in rows:
        assert row["waited_ns"] == 10 + NAMES_EACH
        assert [(each["name"], each["own_ns"]) for each in row["names"]] == wanted[::-1]


def test_what_there_is_no_room_for_is_told(tmp_path):
    file = native_file.NativeFile()
    thread, outer, inner = file.thread("one"), file.name("main", "app", "span"), file.name("call", "app", "span")
    calls = ROOM + 1000
    head, second = native_file.word0("span", 1, file.origin), inner | 9 << 32
    records = array.array("Q", (word for index in range(calls) for word in (head + (10 * index << 16), second)))
    file.threads[thread].update(bytes=records.tobytes(), records=calls)
    file.span_long(thread, outer, 0, 10 * calls)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    own = {row["name"]: row["self_ns"] for row in answer("report", path)["spans"]}
    assert own == {"call": 9 * calls, "main": calls}
    top = run("top", path)
    assert "1001 spans in 'main' are left out" in top.stderr
    assert "% call" not in top.stdout


def many_threads(path):
    """60,000 threads, each of another name, with five spans inside of one another. The file has 18 MB."""
    file = native_file.NativeFile()
    main, names = file.thread("main"), [file.name(f"call {index}", "app", "span") for index in range(NAMES_EACH)]
    file.meta(main, "step", 0, value=1)
    first = len(file.names)
    file.names += [(0, "none", 0, b"worker %d" % index) for index in range(THREADS)]
    for thread in range(THREADS):
        records = [native_file.words(native_file.word0("span", 1, file.origin + 100 + thread - 10 * index),
                                     each | 100_000 + 20 * index << 32) for index, each in enumerate(names)]
        file.threads.append({"name": first + thread, "start": 0, "end": 0, "lost": 0, "records": len(records),
                             "bytes": b"".join(records)})
    file.meta(main, "step", 200_000, value=2)
    path.write_bytes(file.to_bytes())
    return path


def test_rows_of_many_threads_have_the_name_of_each(tmp_path):
    path = many_threads(tmp_path / "t.mxp")
    for call in (("show", "--all", "--step", "1", path), ("at", path, "90us")):
        lines = run(*call).stdout.splitlines()
        counts = collections.Counter(match[1] for match in map(re.compile(r"(worker \d+) ").search, lines) if match)
        assert counts == {f"worker {index}": NAMES_EACH for index in range(THREADS)}, call


def test_a_moment_has_the_last_value_of_each_of_many_counters(tmp_path):
    file = native_file.NativeFile()
    thread, work, first = file.thread("main"), file.name("work", "app", "span"), len(file.names) + 1
    count = 300_000
    file.names += [(0, "counter", 0, b"c%d" % index) for index in range(count)]
    records = [native_file.words(native_file.word0("counter", 2, file.origin + 10 + turn * count + index),
                                 first - 1 + index | 1 << 32, turn * index, 0)
               for turn in range(8) for index in range(count)]
    file.threads[thread].update(bytes=b"".join(records), records=len(records))
    file.span(thread, work, 5, 12 * count)
    path = tmp_path / "t.mxp"
    path.write_bytes(file.to_bytes())
    found = answer("at", path, f"{6 * count}ns")["counters"]  # within the turn 5
    wanted = {f"c{index}": (5 if index <= count - 10 else 4) * index for index in range(count)}
    assert {row["name"]: row["value"] for row in found} == wanted
