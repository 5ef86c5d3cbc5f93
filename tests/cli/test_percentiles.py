# SPDX-License-Identifier: Apache-2.0
"""Percentiles of 'mxprof report' against NumPy's: exact where the file has the records, within the bound
that is printed where it has histograms."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

from native_file import NativeFile

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
COUNT = 5000
RANDOM = np.random.default_rng(21)

DISTRIBUTIONS = {
    "even": RANDOM.integers(1, 10**6, COUNT),
    "log-normal": np.exp(RANDOM.normal(11, 1.5, COUNT)).astype(np.int64) + 1,
    "heavy tail": np.minimum(1000 * (RANDOM.pareto(1.1, COUNT) + 1), 4e9).astype(np.int64),
    "two hills": np.where(RANDOM.random(COUNT) < 0.02, 20_000_000, 500_000)
                 + RANDOM.integers(0, 1000, COUNT),
    "one bucket": RANDOM.integers(1 << 20, (1 << 20) + (1 << 18), COUNT),
    "a bucket's begin, one at its end": np.array([1_048_576] * 999 + [1_310_719]),
    "two": np.array([16_500, 1_000_000]),
    "one": np.array([77_777]),
    "hundred": np.arange(100) * 182_400 + 1,
    "equal": np.full(COUNT, 4096),
}


def write(path, rows):
    file = NativeFile()
    thread = file.thread("main")
    at = 0
    for name, durations in rows.items():
        span = file.name(name, "user", "span")
        for duration in durations.tolist():
            file.span(thread, span, at, at + duration)
            at += duration
    path.write_bytes(file.to_bytes())


def run(*arguments):
    return subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=True).stdout


def expected(durations):
    return {f"P{p}": np.percentile(durations, p, method="inverted_cdf") / 1e6 for p in (50, 90, 99)}


def test_percentiles_are_those_of_numpy(tmp_path):
    path = tmp_path / "all.mxp"
    write(path, DISTRIBUTIONS)
    rows = json.loads(run("report", "--layout", "mxnet", "--json", "--percentiles", path))["Percentiles"]["user"]
    assert rows.keys() == DISTRIBUTIONS.keys()
    for name, durations in DISTRIBUTIONS.items():
        assert rows[name] == {**expected(durations), "Exact": True}, name


def test_csv_has_the_same_percentiles(tmp_path):
    path = tmp_path / "all.mxp"
    write(path, {"work": DISTRIBUTIONS["heavy tail"]})
    line, = [line for line in run("report", "--layout", "mxnet", "--csv", path).splitlines() if line.startswith('"user"')]
    assert [float(field) for field in line.split(",")[-3:]] == list(
        expected(DISTRIBUTIONS["heavy tail"]).values())
    run("convert", path, "-o", tmp_path / "all.csv")
    assert line in (tmp_path / "all.csv").read_text().splitlines()


def test_percentiles_of_several_processes_are_of_all_their_spans(tmp_path):
    durations = DISTRIBUTIONS["log-normal"]
    for i, part in enumerate(np.array_split(durations, 3)):
        file = NativeFile(pid=100 + i)
        thread, span = file.thread("main"), file.name("work", "user", "span")
        for duration in part.tolist():
            file.span(thread, span, 0, duration)
        (tmp_path / f"{i}.mxp").write_bytes(file.to_bytes())
    rows = json.loads(run("report", "--layout", "mxnet", "--json", "--percentiles", tmp_path))["Percentiles"]["user"]
    assert rows["work"] == {**expected(durations), "Exact": True}


@pytest.mark.parametrize("by", ["scope", "step"])
def test_percentiles_of_scopes_and_steps_are_those_of_numpy(tmp_path, by):
    file = NativeFile()
    thread, span = file.thread("main"), file.name("work", "user", "span")
    durations = DISTRIBUTIONS["log-normal"][:500].tolist()
    at = 0
    for i, duration in enumerate(durations):
        file.meta(thread, "step", at, value=i)
        file.span(thread, span, at, at + duration)
        at += duration
    (tmp_path / "a.mxp").write_bytes(file.to_bytes())
    report = json.loads(run("report", "--layout", "mxnet", "--by", by, "--json", "--percentiles", tmp_path / "a.mxp"))
    section, row = ("Scopes", "<no scope>") if by == "scope" else ("user", "work")
    assert report["Percentiles"][section][row] == {**expected(durations), "Exact": True}


def test_without_records_the_printed_bound_holds(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import ctypes, json, sys
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_session_get.restype = ctypes.c_void_p
class Span(ctypes.Structure):
    _fields_ = [("name", ctypes.c_uint32), ("flags", ctypes.c_uint32), ("begin", ctypes.c_uint64),
                ("end", ctypes.c_uint64), ("rest", ctypes.c_uint32 * 4), ("args", ctypes.c_void_p)]
session = ctypes.c_void_p(lib.mxp_session_get())
pairs = {"filename": "a.json", "native_filename": "a.mxp", "aggregate_stats": "1",
         "statistics_only": "1", "continuous_dump": "0"}
array = ctypes.c_char_p * len(pairs)
assert lib.mxp_session_configure_pairs(session, len(pairs), array(*map(str.encode, pairs)),
                                       array(*map(str.encode, pairs.values()))) == 0
assert lib.mxp_session_run(session) == 0
for name, durations in json.load(open("durations.json")).items():
    span = Span(name=lib.mxp_intern(b"user", name.encode(), 1, 0), begin=10**6)
    for duration in durations:
        span.end = span.begin + duration
        lib.mxp_span_emit(16, ctypes.byref(span))
assert lib.mxp_session_dump(session, 1) == 0
""")
    (tmp_path / "durations.json").write_text(
        json.dumps({name: values.tolist() for name, values in DISTRIBUTIONS.items()}))
    subprocess.run([os.environ.get("PYTHON", "python3"), program, BUILD / "libmxprof.so"], cwd=tmp_path,
                   env=dict(os.environ, MXPROF_CLOCK="monotonic"), check=True, timeout=120)
    report = json.loads(run("report", "--layout", "mxnet", "--json", "--percentiles", tmp_path / "a.mxp"))
    for name, durations in DISTRIBUTIONS.items():
        row = report["Percentiles"]["user"][name]
        assert row["Exact"] is (name in ("one", "two", "equal"))  # min and max are known
        for key, value in expected(durations).items():
            assert abs(row[key] / value - 1) < (1e-9 if row["Exact"] else 0.25), (name, key)
    assert "less than 25 % off" in run("report", "--layout", "mxnet", "--percentiles", tmp_path / "a.mxp")
