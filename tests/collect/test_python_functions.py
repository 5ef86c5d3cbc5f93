# SPDX-License-Identifier: Apache-2.0
"""Python's functions as spans, on every Python of this machine: as many calls of each as cProfile counts."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from recorded import BUILD, mxprof

PROGRAM = pathlib.Path(__file__).parent / "python_program.py"
VERSIONS = range(8, 15)


def pythons():
    """One of each version from 3.8 on; this one in any case."""
    found = {sys.version_info.minor: sys.executable}
    for path in sorted((pathlib.Path.home() / ".pyenv/versions").glob("3.*/bin/python")):
        found.setdefault(int(path.parent.parent.name.split(".")[1]), str(path))
    for minor in VERSIONS:
        path = shutil.which(f"python3.{minor}")
        if path is not None and ".pyenv/shims" not in path:
            found.setdefault(minor, path)
    return [pytest.param((minor, path), id=f"3.{minor}") for minor, path in sorted(found.items()) if minor in VERSIONS]


@pytest.fixture(name="python", params=pythons(), scope="module")
def each_python(request):
    return request.param


def environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_", "PYTHON"))}


def run(python, folder, *arguments, option="--python"):
    return subprocess.run([BUILD / "mxprof", "run", "-q", "-o", "run", option, python[1], *arguments], cwd=folder,
                          env=environment(), timeout=60, check=False, capture_output=True, text=True)


def events_in(file):
    return [event for event in json.loads(mxprof("convert", file, "-o", "-"))["traceEvents"] if event["ph"] in "X"]


def counts_of(events):
    """By "name:line" of the program's functions, and by name of those in C."""
    found = {}
    for event in events:
        own = re.fullmatch(r"(?:.*\.)?(\S+) \(python_program\.py:(\d+)\)", event["name"])
        key = f"{own[1]}:{own[2]}" if own else event["name"] if event.get("cat") == "Python C" else None
        if key is not None:
            found[key] = found.get(key, 0) + 1
    return found


def recorded(folder):
    file, = (folder / "run").glob("*.mxp")
    assert "lost     nothing" in mxprof("info", file)
    return counts_of(events_in(file))


@pytest.fixture(name="counted", scope="module")
def counts_of_cprofile(python, tmp_path_factory):
    file = tmp_path_factory.mktemp("count") / "counts"
    subprocess.run([python[1], PROGRAM, "count", file], env=environment(), check=True, capture_output=True, timeout=60)
    return json.loads(file.read_text())


def own(counts):
    """Without what runs outside of main, which cProfile did not see, and without what depends on how deep it began."""
    return {name: count for name, count in counts.items()
            if re.fullmatch(r"\S+:\d+", name) and not name.startswith(("<module>:", "Kind:", "count:", "endless:"))}


@pytest.mark.parametrize("flags", [[], ["-I", "-S"]])
def test_each_function_is_counted_as_cprofile_counts_it(python, counted, flags, tmp_path):
    result = run(python, tmp_path, *flags, PROGRAM)
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    counts = recorded(tmp_path)
    assert own(counts) == own(counted) and len(own(counts)) >= 15
    assert 900 < next(count for name, count in counts.items() if name.startswith("endless:")) <= 1000


WITHOUT_IMPORTS = "import sys\ndef plain(): pass\nfor _ in range(7): plain()\n"


@pytest.mark.parametrize("way", ["text", "file", "compiled", "input"])
def test_a_program_that_imports_nothing_is_recorded_without_site_too(python, way, tmp_path):
    """Nothing is imported before it either."""
    (tmp_path / "plain.py").write_text(WITHOUT_IMPORTS)
    subprocess.run([python[1], "-c", "import py_compile; py_compile.compile('plain.py', 'plain.pyc')"], cwd=tmp_path,
                   env=environment(), check=True, timeout=60)
    arguments = {"text": ["-c", WITHOUT_IMPORTS], "file": ["plain.py"], "compiled": ["plain.pyc"], "input": ["-"]}
    result = subprocess.run([BUILD / "mxprof", "run", "-q", "-o", "run", "--python", python[1], "-I", "-S",
                             *arguments[way]], cwd=tmp_path, env=environment(), timeout=60, check=False,
                            input=WITHOUT_IMPORTS, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    file, = (tmp_path / "run").glob("*.mxp")
    names = [event["name"].split(" (")[0] for event in events_in(file)]
    assert names.count("plain") == 7 and "<module>" in names


def olds():
    """Pythons before 3.8."""
    return sorted(path for path in (pathlib.Path.home() / ".pyenv/versions").glob("*/bin/python")
                  if path.parent.parent.name.startswith(("2.7.", "3.6.", "3.7.")))


@pytest.mark.parametrize("old", olds(), ids=[old.parent.parent.name for old in olds()])
def test_a_python_that_lets_nothing_in_is_told(old, tmp_path):
    result = subprocess.run([BUILD / "mxprof", "run", "-o", "run", "--python", old, "-c", "print('done')"], cwd=tmp_path,
                            env=environment(), timeout=60, check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert "Python functions are not recorded: this is Python " in result.stderr and "those from 3.8 on are" in result.stderr
    assert "lets nothing in" in result.stderr and "--python records" not in result.stderr


def test_functions_in_c_are_counted_too_when_asked(python, counted, tmp_path):
    result = run(python, tmp_path, PROGRAM, option="--python=c")
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    counts = recorded(tmp_path)
    assert own(counts) == own(counted)
    for ours, theirs in (("math.hypot", "<built-in method math.hypot>"), ("math.sqrt", "<built-in method math.sqrt>"),
                         ("str.swapcase", "<method 'swapcase' of 'str' objects>"),
                         ("generator.throw", "<method 'throw' of 'generator' objects>")):
        assert counts[ours] == counted[theirs], ours


def test_spans_nest_whatever_ends_a_function(python, tmp_path):
    run(python, tmp_path, PROGRAM, option="--python=c")
    file, = (tmp_path / "run").glob("*.mxp")
    spans = sorted((round(event["ts"] * 1000), -round(event["dur"] * 1000)) for event in events_in(file))
    around, deepest = [], 0
    for begin, length in spans:
        while around and around[-1] <= begin:
            around.pop()
        assert not around or begin - length <= around[-1]
        around.append(begin - length)
        deepest = max(deepest, len(around))
    assert len(spans) > 2000 and deepest > 900


def test_functions_of_other_threads_are_there(python, counted, tmp_path):
    result = run(python, tmp_path, PROGRAM, "thread")
    assert (result.returncode, result.stdout, result.stderr) == (0, "done\n", "")
    counts = own(recorded(tmp_path))
    for name, count in counts.items():
        if name.startswith(("work:", "method:", "raises:", "numbers:", "<lambda>:")):
            assert count == counted[name], name
    assert any(name.startswith("work:") for name in counts)


def test_a_programs_own_profiler_works_and_what_ours_cannot_see_is_told(python, tmp_path):
    result = run(python, tmp_path, PROGRAM, "own")
    assert (result.returncode, result.stdout) == (0, "done\n")
    works = next(count for name, count in recorded(tmp_path).items() if name.startswith("work:"))
    if python[0] >= 12:
        assert result.stderr == "" and works == 2
    else:
        assert "Python functions of this thread are not recorded" in result.stderr and "cProfile" in result.stderr
        assert result.stderr.count("\n") == 1 and works == 1


def test_a_forked_child_has_its_own(python, counted, tmp_path):
    result = run(python, tmp_path, PROGRAM, "child")
    assert (result.returncode, result.stdout) == (0, "done\n")
    works = [name for file in (tmp_path / "run").glob("*.mxp") for name in own(counts_of(events_in(file)))
             if name.startswith("work:")]
    assert len(works) == 1


def test_an_exit_from_inside_is_the_programs(python, counted, tmp_path):
    result = run(python, tmp_path, PROGRAM, "exit")
    assert (result.returncode, result.stdout, result.stderr) == (3, "", "")
    assert own(recorded(tmp_path)) == own(counted)
