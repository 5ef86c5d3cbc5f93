# SPDX-License-Identifier: Apache-2.0
"""Functions that were recorded by address have their names wherever a file is read: from the program,
from its debug file, or from the file itself after `mxprof symbolize`."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from recorded import BUILD, COLLECTOR, mxprof
from test_functions import built, calls

PLAIN = {"plain": 1, "twig": 1000, "leaf": 2000}


def recorded(program, folder, *arguments):
    """Runs the program; the file that it leaves."""
    folder.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    subprocess.run([program, *arguments], check=True, timeout=60,
                   env={**clean, "LD_PRELOAD": str(COLLECTOR), "MXPROF_RUN": str(folder)})
    file, = folder.iterdir()
    return file


def counts(file):
    """How often each name is there, of the program's parts; and what the command said."""
    result = subprocess.run([BUILD / "mxprof", "convert", file, "-o", "-"], capture_output=True, text=True,
                            check=True, timeout=60)
    found = {}
    for event in json.loads(result.stdout)["traceEvents"]:
        if event["ph"] == "X":
            found[event["name"]] = found.get(event["name"], 0) + 1
    return found, result.stderr


def parts(found):
    return {name: found.get(name) for name in PLAIN}


def run_tool(*arguments):
    subprocess.run(arguments, check=True, timeout=60)


@pytest.fixture(name="program")
def program_of(tmp_path):
    return built("gcc", "functions_program.c", tmp_path / "program", "-O1")


@pytest.mark.parametrize("place", ["beside", ".debug"])
def test_a_stripped_program_with_its_debug_file(program, tmp_path, place):
    whole = tmp_path / "whole"
    shutil.copy(program, whole)
    folder = tmp_path if place == "beside" else tmp_path / ".debug"
    folder.mkdir(exist_ok=True)
    debug = folder / "program.debug"
    run_tool("objcopy", "--only-keep-debug", program, debug)
    run_tool("strip", program)
    run_tool("objcopy", f"--add-gnu-debuglink={debug}", program)
    file = recorded(program, tmp_path / "run", "plain")
    found, said = counts(file)
    assert parts(found) == PLAIN and said == ""
    shutil.move(whole, program)
    assert set(calls(tmp_path / "run", program)) >= set(PLAIN)  # they are nm's


def test_a_debug_file_of_another_build_is_not_used(program, tmp_path):
    debug = tmp_path / "program.debug"
    other = built("gcc", "functions_program.c", tmp_path / "other", "-O2", "-DOTHER")
    run_tool("objcopy", "--only-keep-debug", program, debug)
    run_tool("strip", program)
    run_tool("objcopy", f"--add-gnu-debuglink={debug}", program)
    run_tool("objcopy", "--only-keep-debug", other, debug)
    found, _ = counts(recorded(program, tmp_path / "run", "plain"))
    assert not set(PLAIN) & set(found)
    assert all(name.startswith("program+0x") for name in found)


def test_a_stripped_program_has_the_names_that_it_exports(tmp_path):
    program = built("gcc", "functions_program.c", tmp_path / "program", "-O1", "-rdynamic", "-DOWN=")
    run_tool("strip", program)
    library = built("gcc", "functions_plugin.c", tmp_path / "plugin.so", "-O1", "-shared", "-fPIC", "-DFUNCTION=inner")
    run_tool("strip", library)
    found, said = counts(recorded(program, tmp_path / "run", "none", library))
    assert found["work"] == 1 and said == ""
    unnamed, = (name for name in found if name.startswith("plugin.so+0x"))
    assert found[unnamed] == 100


def test_a_program_that_was_built_anew_is_not_asked(program, tmp_path):
    file = recorded(program, tmp_path / "run", "plain")
    built("gcc", "functions_program.c", program, "-O0", "-DOTHER")
    found, said = counts(file)
    assert all(name.startswith("program+0x") for name in found)
    assert said == (f"mxprof convert: note: functions of '{program}' have no names: the file is another one now "
                    "(its build id differs)\n")


def test_a_symbolized_file_has_the_names_itself(program, tmp_path):
    file = recorded(program, tmp_path / "run", "plain")
    named, packed = tmp_path / "named.mxp", tmp_path / "packed.mxpz"
    mxprof("convert", file, "-o", packed)  # so has one that is compressed
    said = mxprof("symbolize", file, "-o", named)
    assert said.endswith(f" functions have names; written to {named}\n")
    program.unlink()
    assert parts(counts(named)[0]) == PLAIN and counts(named)[1] == ""
    assert parts(counts(packed)[0]) == PLAIN and counts(packed)[1] == ""
    found, said = counts(file)
    assert not set(PLAIN) & set(found) and said.endswith("have no names: the file cannot be read\n")


def test_symbolize_replaces_the_file_and_finds_the_rest_later(program, tmp_path):
    file = recorded(program, tmp_path / "run", "plain")
    away = tmp_path / "away"
    shutil.move(program, away)
    subprocess.run([BUILD / "mxprof", "symbolize", file], check=True, timeout=60, capture_output=True)
    assert all(name.startswith("program+0x") for name in counts(file)[0])
    shutil.move(away, program)
    mxprof("symbolize", file)
    program.unlink()
    assert parts(counts(file)[0]) == PLAIN
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_damaged_file_is_not_replaced(program, tmp_path):
    file = recorded(program, tmp_path / "run", "plain")
    whole = pathlib.Path(tmp_path / "whole.mxp")
    mxprof("symbolize", file, "-o", whole)
    data = whole.read_bytes()[:-1000]
    whole.write_bytes(data)
    result = subprocess.run([BUILD / "mxprof", "symbolize", whole], check=False, timeout=60, capture_output=True,
                            text=True)
    assert result.returncode == 1 and "is damaged and stays as it is" in result.stderr
    assert whole.read_bytes() == data


def rows(text):
    """Counts by name in a summary of mxprof run."""
    return {name: count for count, name in re.findall(r"^ +[0-9.]+ +[0-9.]+ % +([0-9,]+)  (.*)$", text, re.MULTILINE)}


def test_the_example_of_the_page(tmp_path):
    page = (pathlib.Path(__file__).parents[2] / "docs/any-program.md").read_text()
    section = page.split("## Functions of C and C++")[1].split("\n## ")[0]
    (tmp_path / "shop.cpp").write_text(section.split("```cpp\n")[1].split("```")[0])
    command, = (line for line in section.splitlines() if line.startswith("g++ "))
    wanted = rows(section)
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=60)
    said = subprocess.run([BUILD / "mxprof", "run", "-o", "shop.run", "./shop"], cwd=tmp_path, check=True, timeout=60,
                          capture_output=True, text=True).stderr
    assert rows(said) == wanted and len(wanted) == 6
    brief = re.compile(r"cost about .*; \d functions took less a call than 20 records cost: see --min-us, --depth$", re.MULTILINE)
    assert brief.search(said) and brief.search(section)


@pytest.mark.parametrize("part, wanted", [("plain", PLAIN),
                                          ("threads", {"threads": 1, "call": 8, "twig": 4000, "leaf": 8000})])
def test_counts_are_those_of_uftrace(program, tmp_path, part, wanted):
    """Of the same program. Its recursion is left out: uftrace 0.13 keeps 1,023 levels."""
    if shutil.which("uftrace") is None:
        pytest.skip("uftrace is not here")
    mine, _ = counts(recorded(program, tmp_path / "run", part))
    data = tmp_path / "uftrace.data"
    subprocess.run(["uftrace", "record", "--no-libcall", "--no-pager", "-b", "8M", "-d", data,
                    program, part], check=True, timeout=60, capture_output=True)
    lines = subprocess.run(["uftrace", "report", "--no-pager", "-f", "call", "-d", data], check=True, timeout=60,
                           capture_output=True, text=True).stdout.splitlines()
    theirs = {line.split()[1]: int(line.split()[0]) for line in lines if len(line.split()) == 2
              and line.split()[0].isdigit()}
    assert {name: mine.get(name) for name in wanted} == {name: theirs.get(name) for name in wanted} == wanted
