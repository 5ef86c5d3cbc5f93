# SPDX-License-Identifier: Apache-2.0
"""Programs compiled with -finstrument-functions: every call is recorded, whatever leaves functions
without telling their ends, and the program is as it is without."""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from recorded import BUILD, COLLECTOR, Recorded, mxprof

HERE = pathlib.Path(__file__).parent
COMPILERS = [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O0"), ("clang", "-O2")]


def built(compiler, source, output, *options):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not here")
    subprocess.run([compiler, "-g", "-finstrument-functions", HERE / source, "-o", output, "-pthread", *options],
                   check=True, timeout=120)
    return output


def symbols(program):
    """What nm says: names of functions."""
    lines = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split(" ", 2) for line in lines]
    return {name for address, kind, name in found if address and kind in "tTwW"}


@pytest.fixture(name="program", scope="module", params=COMPILERS, ids=" ".join)
def program_of(request, tmp_path_factory):
    compiler, level = request.param
    return built(compiler, "functions_program.c", tmp_path_factory.mktemp("functions") / "program", level)


@pytest.fixture(name="cpp", scope="module", params=COMPILERS, ids=" ".join)
def cpp_program_of(request, tmp_path_factory):
    compiler, level = request.param
    names = {"gcc": "g++", "clang": "clang++"}
    return built(names[compiler], "functions_program.cpp", tmp_path_factory.mktemp("functions") / "program", level)


def environment(**settings):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    return {**clean, **settings, "LD_PRELOAD": str(COLLECTOR)}


def calls(folder, of, name=None):
    """How often each function of the program was called. The names are those that nm says."""
    files = [file for file in folder.glob("*.mxp") if name is None or name(file)]
    names, found = symbols(of), {}
    for file in files:
        for event in json.loads(mxprof("convert", file, "-o", "-"))["traceEvents"]:
            if event["ph"] == "X" and event["cat"] == of.name:
                assert event["name"] in names
                found[event["name"]] = found.get(event["name"], 0) + 1
    return found


@pytest.fixture(name="run")
def run_of(program, tmp_path):
    def run(*arguments):
        recorded = Recorded([program, *arguments], "LD_PRELOAD", tmp_path)
        found = calls(tmp_path, program)
        assert found.pop("before_main") == found.pop("early") == 1
        # The session ends with the process's exit handlers: what comes after it is not recorded.
        assert found.pop("after_exit", 0) == found.pop("late", 0)
        return found, recorded
    return run


def test_every_call_is_recorded(run):
    found, recorded = run("plain")
    assert found == {"plain": 1, "twig": 1000, "leaf": 2000}
    assert recorded.foreign() == 0


def test_deep_recursion(run):
    found, recorded = run("recursion")
    assert found == {"recursion": 1, "down": 30000}
    assert recorded.foreign() == 0
    assert "lost     nothing" in recorded.info


def test_calls_deeper_than_the_table_are_counted_and_the_stack_is_right_after_them(run):
    found, recorded = run("too deep")
    assert found == {"too_deep": 1, "down": 65535 - 1, "twig": 1, "leaf": 2}
    assert recorded.foreign() == 70000 - (65535 - 1)


def test_what_longjmp_leaves_is_ended_flagged_and_counted(run):
    found, recorded = run("jumps")
    assert found == {"jumps": 1, "jumper": 40, "twig": 10, "leaf": 20}
    assert recorded.foreign() == 40
    left = [event for event in recorded.events if event.get("args", {}).get("left by") == "exception or jump"]
    assert len(left) == 40


def test_a_jump_within_recursion_ends_the_right_call(run):
    found, recorded = run("jumps into itself")
    assert found == {"jumps_into_itself": 1, "again": 60, "twig": 1, "leaf": 2}
    assert recorded.foreign() == 50


def test_errno_is_kept(run):
    found, _ = run("errno")
    assert found == {"keeps_errno": 1, "keep_errno": 2, "keeps": 2}


def test_threads(run):
    found, recorded = run("threads")
    assert found == {"threads": 1, "call": 8, "twig": 4000, "leaf": 8000}
    assert recorded.foreign() == 0


def test_signal_handlers_do_no_harm(run):
    found, _ = run("signals")
    at_signal = found.pop("at_signal", 0)
    assert found["signals"] == 1 and found["twig"] == 20000
    assert 40000 <= found["leaf"] <= 40000 + at_signal + 1


def test_handlers_on_a_stack_of_their_own_end_nothing(run):
    found, recorded = run("signals on their own stack")
    assert found == {"signals_on_their_own_stack": 1, "take_signals": 1, "twig": 1000, "at_signal": 1000, "leaf": 3000}
    assert recorded.foreign() == 0


def test_each_call_of_contexts_that_take_turns_is_there(run):
    """Ends of one context may be told while another's calls are the last ones: they are counted, and nothing breaks."""
    found, _ = run("contexts")
    assert found == {"contexts": 1, "between": 100, "in_context": 1, "twig": 100, "leaf": 300}


def test_calls_that_are_open_at_a_fork_are_open_in_the_child_too(program, tmp_path):
    subprocess.run([program, "forks"], env=environment(MXPROF_RUN=str(tmp_path)), check=True, timeout=60)
    parent, child = sorted(tmp_path.iterdir(), key=lambda file: int(file.suffixes[-2][1:]))
    found = {file: calls(tmp_path, program, lambda one, file=file: one == file) for file in (parent, child)}
    both = {"forks": 1, "in_the_middle": 1, "twig": 1, "leaf": 3}
    assert {name: count for name, count in found[parent].items() if name in both} == both
    assert {name: count for name, count in found[child].items() if name in both} == both
    assert "early" not in found[child]


def test_libraries_that_come_and_go_at_one_place(program, tmp_path):
    names = ["first", "second"]
    for name in names:
        built("gcc", "functions_plugin.c", tmp_path / f"{name}.so", "-O1", "-shared", "-fPIC", f"-DFUNCTION={name}")
    order = [tmp_path / f"{name}.so" for name in names * 3]
    folder = tmp_path / "run"
    folder.mkdir()
    subprocess.run([program, "none", *order], env=environment(MXPROF_RUN=str(folder)), check=True, timeout=60)
    for name in names:
        assert calls(folder, tmp_path / f"{name}.so") == {"work": 3, name: 300}


def test_a_killed_program_has_told_everything(program, tmp_path):
    result = subprocess.run([program, "is killed"], env=environment(MXPROF_RUN=str(tmp_path)), check=False, timeout=60)
    assert result.returncode == -signal.SIGKILL
    found = calls(tmp_path, program)
    assert found == {"before_main": 1, "early": 1, "is_killed": 1, "plain": 1, "twig": 1000, "leaf": 2000}


@pytest.mark.parametrize("after_s", [0.02, 0.05, 0.11])
def test_one_that_is_killed_at_any_moment_has_every_call_that_had_returned(program, tmp_path, after_s):
    folder = tmp_path / "run"
    folder.mkdir()
    with subprocess.Popen([program, "counts for ever"], cwd=tmp_path, env=environment(MXPROF_RUN=str(folder))) as process:
        deadline = time.monotonic() + 30
        while not ((tmp_path / "returned").exists() and any(folder.iterdir())) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(after_s)
        process.kill()
    returned = int.from_bytes((tmp_path / "returned").read_bytes()[:8], sys.byteorder)
    table = mxprof("convert", next(folder.iterdir()), "-o", "-", "--to", "csv")
    recorded_calls, = (int(row["count"]) for row in csv.DictReader(table.splitlines()) if row["name"] == "leaf")
    assert returned > 0 and recorded_calls in (returned, returned + 1)


def test_exceptions(cpp, tmp_path):
    recorded = Recorded([cpp, "exceptions"], "LD_PRELOAD", tmp_path)
    found = calls(tmp_path, cpp)
    wanted = {"caught(int)": 10, "thrower(int)": 50, "plain()": 1, "exceptions()": 1, "main": 1,
              "shop::Cart::add(int)": 20, "shop::Cart::add(double)": 20,
              "int shop::twice<int>(int)": 20, "double shop::twice<double>(double)": 20}
    assert {name: found.get(name) for name in wanted} == wanted
    left = [event for event in recorded.events if event.get("args", {}).get("left by") == "exception or jump"]
    assert len(left) in (0, 50)  # clang tells no exits of what an exception leaves
    assert recorded.foreign() == len(left)


def test_depth_and_short_calls(program, tmp_path):
    folders = tmp_path / "depth", tmp_path / "short"
    subprocess.run([BUILD / "mxprof", "run", "-q", "-o", folders[0], "--depth", "2", program, "plain"],
                   env=environment(LD_PRELOAD=""), check=True, timeout=60)
    assert calls(folders[0], program)["twig"] == 1000 and "leaf" not in calls(folders[0], program)
    subprocess.run([BUILD / "mxprof", "run", "-q", "-o", folders[1], "--min-us", "1000000", program, "plain"],
                   env=environment(LD_PRELOAD=""), check=True, timeout=60)
    events = json.loads(mxprof("convert", folders[1], "-o", "-"))["traceEvents"]
    arguments = [event["args"] for event in events if "short calls" in event.get("args", {})]
    # main is not compiled so: `plain` has nothing around it, and is recorded whatever its length.
    assert {"short calls": 3000} == {key: value for one in arguments for key, value in one.items()
                                     if key == "short calls" and value > 1}


def test_settings_that_are_no_numbers_are_told(program, tmp_path):
    result = subprocess.run([program, "plain"], check=True, timeout=60, capture_output=True, text=True,
                            env=environment(MXPROF_RUN=str(tmp_path), MXPROF_FUNCTIONS_DEPTH="deep"))
    assert result.stderr == "mxprof: MXPROF_FUNCTIONS_DEPTH='deep': set it to a number from 1 to 65535\n"
    assert calls(tmp_path, program)["leaf"] == 2000


def test_marks_leave_functions_out(program, tmp_path):
    for marks, is_there in (("functions", True), ("-functions", False), ("itt", False)):
        folder = tmp_path / marks
        subprocess.run([BUILD / "mxprof", "run", "-q", "-o", folder, f"--marks={marks}", program, "plain"],
                       env=environment(LD_PRELOAD=""), check=True, timeout=60)
        assert folder.exists() == is_there
