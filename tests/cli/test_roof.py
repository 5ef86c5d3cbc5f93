# SPDX-License-Identifier: Apache-2.0
"""mxprof roof: shares of ceilings against the same computed here, which ceilings it takes and which it
refuses, what it measures."""
import json
import os
import pathlib
import struct
import subprocess

import pytest

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
CACHES = (32_000, 1_000_000, 32_000_000)
RATES = {"f32": 200e9, "f64": 100e9, "l1": 400e9, "l2": 200e9, "l3": 100e9, "memory": 40e9}
NAMES = {"multiply-add f32": "f32", "L1 triad": "l1", "L2 triad": "l2", "L3 triad": "l3", "memory triad": "memory"}
MACHINE = {"cpu": "Test CPU 9000", "cores": "2", "kernel": "6.1.0"}
VERSION = "0.1.0"
# Name, shape, flops, bytes, durations of its calls in ns.
OPERATORS = [("Convolution", "float32[64,20,12,12]", 204.8e6, 1_656_680, [1_500_000, 1_700_000]),
             ("Activation", "float32[64,20,24,24]", 7_372_800, 5_898_240, [200_000, 220_000]),
             ("sgd_update", "float32[410000]", 819_200, 4_920_000, [100_000]),
             ("sgd_update", "float32[512]", 1024, 6144, [2_000]),
             ("huge", "float32[25000000]", 0, 300_000_000, [20_000_000]),
             ("Custom", "", 0, 0, [50_000])]


def f32(flops, size):
    return struct.unpack("<Q", struct.pack("<ff", flops, size))[0]


def trace(operators=tuple(OPERATORS), machine=None, one_step=False):
    file = native_file.NativeFile()
    thread = file.thread("worker", end=100_000_000)
    at, number = 1_000_000, 0
    for name, shape, flops, size, durations in operators:
        for ns in durations:
            number += 1
            file.add(thread, native_file.words(
                native_file.word0("operator", 4, file.origin + at), file.name(name, "operator", "span") | number << 32,
                ns, 0xFFFF << 48, 0, 0, file.name(shape) << 32 if shape else 0, f32(flops, size)))
            at += ns
    for number in (1, 2) if one_step else ():
        file.meta(thread, "step", (number - 1) * at, value=number)
    file.info = [("mxprof_version", VERSION)]
    file.info += [(f"machine.{key}", value) for key, value in (MACHINE if machine is None else machine).items()]
    return file.to_bytes()


def ceilings(rates=None, **changes):
    machine = dict(MACHINE, **changes)
    lines = ["mxprof-ceilings 1", f"cpu {machine['cpu']}", f"kernel {machine['kernel']}", f"version {VERSION}",
             f"cores {machine['cores']}", "vector_bytes 32"]
    lines += [f"l{i + 1}_bytes {size}" for i, size in enumerate(CACHES)]
    for key, rate in (rates or RATES).items():
        lines += [f"one.{key} {rate / 2:.17g} {rate / 2:.17g} {rate / 2:.17g}",
                  f"all.{key} {rate:.17g} {rate:.17g} {rate:.17g}"]
    return "\n".join(lines) + "\n"


@pytest.fixture(name="work")
def work_fixture(tmp_path):
    (tmp_path / "run.mxp").write_bytes(trace())
    (tmp_path / "ceilings.txt").write_text(ceilings())
    return tmp_path


def roof(work, *arguments, code=0):
    done = subprocess.run([BUILD / "mxprof", "roof", *arguments], cwd=work, capture_output=True, text=True, timeout=60,
                          check=False, env=dict(os.environ, XDG_CACHE_HOME=str(work / "cache"), LC_ALL="C.UTF-8"))
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def least_ns(flops, size):
    """What a call needs at least, and the level that holds its bytes."""
    level = next((key for key, room in zip(("l1", "l2", "l3"), (2 * CACHES[0], 2 * CACHES[1], CACHES[2]))
                  if size <= room), "memory")
    return max((flops / RATES["f32"] * 1e9, "f32"), (size / RATES[level] * 1e9, level))


def test_shares_are_those_of_the_ceilings(work):
    told = json.loads(roof(work, "--ceilings", "ceilings.txt", "--json", "run.mxp").stdout)
    rows = {(group["operator"], row["shape"]): row for group in told["operators"] for row in group["rows"]}
    assert len(rows) == len(OPERATORS)
    for name, shape, flops, size, durations in OPERATORS:
        row = rows[name, shape]
        assert row["calls"] == len(durations) and row["run_ns"] == sum(durations)
        least, bound = least_ns(flops, size)
        if least == 0:
            assert row["share"] is None
            continue
        assert NAMES[row["ceiling"]] == bound
        assert row["least_ns"] == pytest.approx(least, rel=1e-6)
        assert row["share"] == pytest.approx(least * len(durations) / sum(durations), rel=1e-6)
        assert row["above_ns"] == pytest.approx(sum(durations) - least * len(durations), rel=1e-6)
    gains = [group.get("gain_ns", 0) for group in told["operators"]]
    assert gains == sorted(gains, reverse=True)
    assert told["run_ns"] - told["known_run_ns"] == 50_000  # Custom


def test_text_says_unknown_and_never_nothing(work):
    lines = roof(work, "--ceilings", "ceilings.txt", "run.mxp").stdout.splitlines()
    custom, = [line for line in lines if line.startswith("Custom")]
    assert "unknown" in custom and "0.0%" not in custom
    convolution, = [line for line in lines if line.startswith("Convolution")]
    assert "64.0%" in convolution and convolution.endswith("f32")
    huge, = [line for line in lines if line.startswith("huge")]
    assert "37.5%" in huge and huge.endswith("memory")


def test_one_step_is_one_step(work):
    (work / "run.mxp").write_bytes(trace(one_step=True))
    assert "\n1 step; operators run " in roof(work, "--ceilings", "ceilings.txt", "run.mxp").stdout


def test_above_105_percent_no_share_is_told(work):
    (work / "low.txt").write_text(ceilings(dict(RATES, l3=20e9)))  # sgd_update moves 49.2 GB/s
    done = roof(work, "--ceilings", "low.txt", "run.mxp", code=3)
    assert "void" in done.stdout and "sgd_update would be at 246.0%" in done.stdout
    table = done.stdout[done.stdout.index("operator "):]
    assert "%" not in table
    told = json.loads(roof(work, "--ceilings", "low.txt", "--json", "run.mxp", code=3).stdout)
    assert told["is_void"] is True
    assert all(row["share"] is None for group in told["operators"] for row in group["rows"])


def test_trace_of_another_machine_is_refused(work):
    done = roof(work, "run.mxp", code=3)
    assert "no ceilings of the machine of this trace (Test CPU 9000" in done.stdout
    assert "--ceilings FILE" in done.stdout
    told = json.loads(roof(work, "--json", "run.mxp", code=3).stdout)
    assert "no ceilings" in told["unknown"]
    (work / "other.txt").write_text(ceilings(cpu="Another CPU"))
    done = roof(work, "--ceilings", "other.txt", "run.mxp", code=3)
    assert "Another CPU" in done.stdout and "Test CPU 9000" in done.stdout and "%" not in done.stdout


def test_trace_that_does_not_say_where_it_is_from(work):
    (work / "run.mxp").write_bytes(trace(machine={}))
    assert "does not say which machine" in roof(work, "run.mxp", code=3).stdout
    roof(work, "--ceilings", "ceilings.txt", "run.mxp")


def test_without_operators_there_is_no_answer(work):
    (work / "run.mxp").write_bytes(trace(operators=()))
    assert "no operator was recorded" in roof(work, "--ceilings", "ceilings.txt", "run.mxp", code=3).stdout
    (work / "run.mxp").write_bytes(trace(operators=(OPERATORS[-1],)))
    assert "no operator tells" in roof(work, "--ceilings", "ceilings.txt", "run.mxp", code=3).stdout


@pytest.mark.parametrize("text", ["", "something else\n", "mxprof-ceilings 1\ncores two\n",
                                  "mxprof-ceilings 1\ncores 2\n", "mxprof-ceilings 1\nall.f32 1e9\n",
                                  "mxprof-ceilings 1\nall.f32 -1 -1 -1\n", "mxprof-ceilings 1\ncpu\n",
                                  "mxprof-ceilings 1\ncpu " + "x" * 1000 + "\n"])
def test_damaged_ceilings_are_an_error(work, text):
    (work / "bad.txt").write_text(text)
    done = roof(work, "--ceilings", "bad.txt", "run.mxp", code=1)
    assert "bad.txt: " in done.stderr and "roof --measure" in done.stderr


def test_missing_ceilings_are_an_error(work):
    assert "No such file" in roof(work, "--ceilings", "nothing.txt", "run.mxp", code=1).stderr


def test_later_lines_of_ceilings_are_no_error(work):
    (work / "ceilings.txt").write_text(ceilings() + "all.bf16 1e12 1e12 1e12\nnew thing\n")
    roof(work, "--ceilings", "ceilings.txt", "run.mxp")


def test_measured_ceilings_are_kept_and_found(work):
    done = roof(work, "--measure")
    kept, = (work / "cache/mxprof").iterdir()
    assert f"kept in {kept}" in done.stdout
    told = json.loads(roof(work, "--measure", "--ceilings", "here.txt", "--json").stdout)
    lines = dict(line.split(" ", 1) for line in kept.read_text().splitlines())
    for key in ("cpu", "kernel", "version"):
        assert lines[key] == told[key]
    assert all(told[threads][name]["rate"] > 0 for threads in ("one_thread", "all_threads")
               for name in ("multiply-add f32", "multiply-add f64", "memory triad"))
    (work / "run.mxp").write_bytes(trace(machine={"cpu": lines["cpu"], "cores": lines["cores"],
                                                  "kernel": lines["kernel"]}))
    found = json.loads(roof(work, "--json", "run.mxp", code=0 if not is_void(work) else 3).stdout)
    assert found["ceilings"]["cpu"] == lines["cpu"]
    rate = found["ceilings"]["all_threads"]["multiply-add f32"]["rate"]
    assert rate == float(lines["all.f32"].split()[0])


def is_void(work):
    done = subprocess.run([BUILD / "mxprof", "roof", "--json", "run.mxp"], cwd=work, capture_output=True, text=True,
                          timeout=60, check=False, env=dict(os.environ, XDG_CACHE_HOME=str(work / "cache")))
    return json.loads(done.stdout)["is_void"]


def test_without_a_cache_there_is_a_word(work):
    environment = {key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "HOME")}
    done = subprocess.run([BUILD / "mxprof", "roof", "run.mxp"], cwd=work, capture_output=True, text=True, timeout=60,
                          check=False, env=environment)
    assert done.returncode == 1 and "--ceilings FILE" in done.stderr


def test_measuring_takes_no_file(work):
    assert "takes no file" in roof(work, "--measure", "run.mxp", code=2).stderr
