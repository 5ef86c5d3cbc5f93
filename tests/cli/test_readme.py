# SPDX-License-Identifier: Apache-2.0
"""The programs that the README shows work as they are written there, and what it points to exists."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
README = (SOURCE / "README.md").read_text()
PAGES = ["README.md", "DESIGN.md"] + [str(page.relative_to(SOURCE)) for page in (SOURCE / "docs").rglob("*.md")]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **options)


def sections(text):
    """The names of each section of MXNet's table."""
    return {name: set(re.findall(r"^(\S.*?)  +\d", rows, re.MULTILINE))
            for name, rows in re.findall(r"^(\S.*)\n=+\nName .*\n---- .*\n((?:.+\n)+)", text, re.MULTILINE)}


# The program, its library, a name it records and how often.
C_PROGRAMS = [("mxnet", "dot", 10), ("mxprof", "work", 100)]


@pytest.mark.parametrize("number", range(len(C_PROGRAMS)))
def test_c_program_prints_a_table_and_leaves_a_trace(number, tmp_path):
    library, name, count = C_PROGRAMS[number]
    (tmp_path / "program.c").write_text(blocks("c")[number])
    run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/include", "program.c", f"-L{BUILD}",
        f"-l{library}", f"-Wl,-rpath,{BUILD}", "-o", "program", cwd=tmp_path)
    printed = run(tmp_path / "program", cwd=tmp_path).stdout
    assert re.search(rf"^{name} +{count} ", printed, re.MULTILINE)
    if library == "mxnet":
        assert sections(README) == {name: rows for name, rows in sections(printed).items() if name not in ("Pool Memory", "memory")}
    trace = json.loads((tmp_path / "profile.json").read_text())
    assert sum(event["name"] == name for event in trace["traceEvents"]) == count


def test_the_program_with_marks_compiles_as_cpp(tmp_path):
    (tmp_path / "program.cpp").write_text(blocks("c")[1])
    run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/include", "-c", "program.cpp", cwd=tmp_path)


def test_the_sentence_under_the_table_has_the_tables_numbers():
    calls, longest = map(float, re.search(r"^MXImperativeInvoke +11 +([\d.]+) +[\d.]+ +([\d.]+) ", README,
                                          re.MULTILINE).groups())
    work = float(re.search(r"^dot +10 +([\d.]+) ", README, re.MULTILINE)[1])
    said = re.search(r"The calls took ([\d.]+) ms, nearly all of it the first one; the multiplications took "
                     r"([\d.]+) ms", README, re.MULTILINE)
    assert [float(number) for number in said.groups()] == [round(calls, 1), round(work, 1)]
    assert longest > .9 * calls


def test_every_c_program_is_tested():
    assert len(blocks("c")) == len(C_PROGRAMS)


def test_hello_example_prints_a_table_and_leaves_a_trace(tmp_path):
    printed = run(BUILD / "hello", cwd=tmp_path).stdout
    assert re.search(r"^harmonic +100 ", printed, re.MULTILINE)
    assert json.loads((tmp_path / "hello.json").read_text())["traceEvents"]


def test_python_program_prints_a_table_and_leaves_a_trace(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "MXNET_LIBRARY_PATH": str(BUILD)}
    printed = run(sys.executable, "-c", blocks("python")[0], cwd=tmp_path, env=environment).stdout
    assert re.search(r"^multi_sgd_update +10 ", printed, re.MULTILINE)  # ten steps, four parameters at once
    trace = json.loads((tmp_path / "steps.json").read_text())["traceEvents"]
    assert {event["args"]["scope"] for event in trace if event["name"] == "FullyConnected"} == {
        "net:dense0:", "net:dense1:"}


KILLED = """
import os
from mxnet import profiler
span, counter = profiler.Span("step"), profiler.Domain("train").new_counter("number")
for number in range(200_000):
    with span: counter.set_value(number)
with span: os.kill(os.getpid(), 9)
"""


def test_what_is_known_of_a_killed_process_stands_there_as_the_command_prints_it(tmp_path):
    console = re.search(r"^\$ (MXPROF_AUTOSTART=1 .*?)^```", README, re.MULTILINE | re.DOTALL)[1]
    command, shown = re.split(r"^\$ mxprof info run\.mxp\n", console, flags=re.MULTILINE)
    variables = dict(re.findall(r"(\w+)=(\S+)", command))
    variables.update(PYTHONPATH=str(SOURCE / "python"), MXNET_LIBRARY_PATH=str(BUILD),
                     MXPROF_MEMORY_LIMIT_BYTES=str(2 << 20))
    ended = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env={**os.environ, **variables},
                           check=False, timeout=60)
    assert ended.returncode == -9
    printed = run(BUILD / "mxprof", "info", "run.mxp", cwd=tmp_path).stdout
    assert '"step" for' in printed

    def form(line):
        return re.sub(r'"\w+" for', "NAME for", re.sub(r"[\d.]+", "N", line))
    assert {form(line) for line in shown.splitlines()} <= {form(line) for line in printed.splitlines()}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    folder = (SOURCE / page).parent
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (SOURCE / page).read_text()):
        assert target.startswith("https://") or (folder / target).exists(), target


def test_c_api_page_names_every_function():
    declared = set()
    for header in ("profiler.h", "record.h", "error.h", "gate.h"):
        text = (SOURCE / "include/mxprof" / header).read_text()
        text = re.sub(r"//[^\n]*", "", text)
        declared |= set(re.findall(r"^[a-z][\w *]*?\b(mxp_[a-z0-9_]+)\([^;{]*\);", text, re.MULTILINE))
    page = (SOURCE / "docs/c-api.md").read_text()
    internal = {"mxp_span_begin_call", "mxp_span_end_call"}  # what the inline functions call
    listed = page + "".join(f"mxp_counter{kind}" for kind in ("_i64", "_f64"))
    assert sorted(name for name in declared - internal if name not in listed) == []
    assert len(declared) > 40


def test_c_api_page_names_every_function_of_the_runtime():
    declared = set()
    for header in [*(SOURCE / "include/mxnet").glob("*.h"), SOURCE / "include/nnvm/c_api.h"]:
        text = re.sub(r"//[^\n]*", "", header.read_text())
        declared |= set(re.findall(r"^MXNET_DLL[^(]*\b((?:MX|NN)\w+)\(", text, re.MULTILINE))
    page = (SOURCE / "docs/c-api.md").read_text()
    assert sorted(name for name in declared if f"`{name}`" not in page) == []
    assert len(declared) > 90
