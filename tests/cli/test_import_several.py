# SPDX-License-Identifier: Apache-2.0
"""Several traces of other profilers as one: where each lies in time, and that each process has its row."""
import json

from test_import import mxprof, write


def one_span(path, ts, pid=7, base=0, name="a"):
    head = f'"schemaVersion": 1, "baseTimeNanoseconds": {base}, ' if base else ""
    return write(path, '{%s"traceEvents": [{"ph":"X","name":"%s","cat":"c","pid":%d,"tid":1,"ts":%d,"dur":10}]}'
                 % (head, name, pid, ts))


def merged(folder, *paths):
    """Begin of each span by name, us; process of each; what merge told."""
    told = mxprof("merge", *paths, "-o", folder / "all.mxp").stderr.decode()
    mxprof("convert", folder / "all.mxp", "-o", folder / "all.json")
    events = [event for event in json.loads((folder / "all.json").read_text())["traceEvents"] if event["ph"] == "X"]
    return {event["name"]: event["ts"] for event in events}, {event["name"]: event["pid"] for event in events}, told


def test_traces_without_a_date_lie_as_their_times_say(tmp_path):
    """Two of one clock, as viztracer's: the second began 117 ms after the first."""
    times, _, told = merged(tmp_path, one_span(tmp_path / "b.json", 73_086_320_000, 8, name="b"),
                            one_span(tmp_path / "a.json", 73_086_203_000))
    assert times == {"a": 0, "b": 117_000}
    assert "when 2 of 2 processes were recorded is not told: their times are taken as of one clock\n" in told


def test_traces_without_a_date_begin_where_dated_ones_do(tmp_path):
    """They were years away, which was told as the length of the trace."""
    paths = [one_span(tmp_path / "a.json", 73_086_203_000), one_span(tmp_path / "b.json", 73_086_320_000, 8, name="b"),
             one_span(tmp_path / "c.json", 500, 9, 1_790_857_026_000_000_000, "c"),
             one_span(tmp_path / "d.json", 2_500, 10, 1_790_857_026_000_000_000, "d")]
    times, _, told = merged(tmp_path, *paths)
    assert times == {"c": 0, "d": 2_000, "a": 0, "b": 117_000}
    assert "when 2 of 4 processes were recorded is not told" in told and "and begin where the others' do" in told
    info = mxprof("info", tmp_path / "all.mxp")
    assert info.stderr == b"" and info.stdout.count(b"UTC, process") == 2


def test_files_of_one_build_lie_where_they_were(tmp_path):
    """clang -ftime-trace counts from each process's begin, and says when that was."""
    paths = []
    for number, name in enumerate("ab"):
        span = {"ph": "X", "name": name, "pid": 100 + number, "tid": 1, "ts": 7, "dur": 5}
        paths.append(write(tmp_path / f"{name}.json", json.dumps(
            {"traceEvents": [span], "beginningOfTime": 1_795_726_137_517_501 + 250 * number})))
    times, _, told = merged(tmp_path, *paths)
    assert times == {"a": 0, "b": 250} and told == ""
    assert b"2026-11-26" in mxprof("info", paths[0]).stdout


def test_processes_of_one_number_have_rows_of_their_own(tmp_path):
    """Each container has a process 1."""
    base = 1_790_857_026_000_000_000
    paths = [one_span(tmp_path / f"{name}.json", 0, 1, base + i, name) for i, name in enumerate("abc")]
    _, pids, _ = merged(tmp_path, *paths, one_span(tmp_path / "d.json", 0, 4194304, base + 9, "d"))
    assert pids["a"] == 1 and len(set(pids.values())) == 4 and min(pids["b"], pids["c"]) >= 1 << 22
    events = json.loads((tmp_path / "all.json").read_text())["traceEvents"]
    labels = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert labels[1] == "process" and labels[pids["b"]] == labels[pids["c"]] == "process (pid 1)"
    assert mxprof("info", tmp_path / "all.mxp").stdout.count(b"process 1\n") == 3
