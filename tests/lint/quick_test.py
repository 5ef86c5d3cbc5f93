# SPDX-License-Identifier: Apache-2.0
"""scripts/quick finds the tests of what has changed, builds only those, and fails where a test fails
or none is found; tests/changed.txt names what there is.

Usage: quick_test.py SOURCE_TREE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(small NONE)
enable_testing()
foreach(name IN ITEMS good bad)
  add_custom_target(unit_profiler_${name}_test ALL COMMAND ${CMAKE_COMMAND} -E touch ${name}.built)
endforeach()
add_test(NAME unit/profiler/good_test COMMAND ${CMAKE_COMMAND} -E cat good.built)
add_test(NAME unit/profiler/bad_test COMMAND ${CMAKE_COMMAND} -E cat bad.built nothing)
"""
PRESETS = ('{"version": 3, "configurePresets": [{"name": "release", "generator": "Ninja", '
           '"binaryDir": "build/release"}]}')
FILES = {
    ".gitignore": "build/\n", "CMakeLists.txt": CMAKE, "CMakePresets.json": PRESETS,
    "tests/changed.txt": "# none\npython/mxnet/gluon/ tests/python/test_layers.py\n",
    "tests/oracle/cases/a.txt": "tile _npi_tile | 2x3 | reps=2\nexp | 2x3\n",
    "tests/python/test_layers.py": "def test_dense():\n    pass\n",
    "tests/python/test_metric.py": "", "tests/cli/test_cli.py": "",
    "tests/support/rows.h": "", "tests/unit/base/text_test.c": '#include "rows.h"\n',
    "tests/unit/runtime/op/forward_test.c": "", "tests/unit/runtime/op/shape/tile_test.c": "",
    "tests/unit/runtime/tensor/dtype_test.c": "", "src/runtime/op/shape/tile.c": "",
    "python/mxnet/metric.py": "", "python/mxnet/gluon/block.py": "",
}
# The file that changes, its new text, what is listed beside the lints.
CASES = [
    ("src/runtime/op/shape/tile.c", 'x("tile", "no operator", "exp_")\n',
     ["original: tile", "unit/runtime/op/forward_test", "unit/runtime/op/shape/"]),
    ("src/base/text.c", "new\n", ["unit/base/"]),
    ("tests/unit/runtime/tensor/dtype_test.c", "changed\n", ["unit/runtime/tensor/dtype_test"]),
    ("tests/unit/runtime/op/cases.def", "new\n", ["unit/runtime/op/"]),
    ("tests/support/rows.c", "new\n", ["support/rows", "unit/base/text_test"]),
    ("python/mxnet/metric.py", "changed\n", ["tests/python/test_metric.py"]),
    ("python/mxnet/gluon/block.py", "changed\n", ["tests/python/test_layers.py"]),
    ("tests/cli/test_cli.py", "changed\n", ["tests/cli/test_cli.py"]),
    ("README.txt", "new\n", []),
]
# Words, the exit code, what is said, what was built.
RUNS = [
    ("good", 0, "all 1 tests passed", ["good.built"]),
    ("bad_test good", 1, "C: unit/profiler/bad_test", ["bad.built", "good.built"]),
    ("nosuch", 1, "no test was found", []),
    ("g..d", 1, "no test was found", []),
]


def git(tree, *arguments):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", tree, *arguments],
                   check=True, capture_output=True)


def make_tree(folder):
    tree = pathlib.Path(folder).resolve()
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tree / "scripts").mkdir()
    (tree / "scripts/run-tests").symlink_to(SOURCE / "scripts/run-tests")
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "first")
    git(tree, "checkout", "-qb", "work")
    return tree


def quick(tree, *arguments, **environment):
    return subprocess.run([SOURCE / "scripts/quick", *arguments], capture_output=True, text=True,
                          check=False, env=dict(os.environ, MXPROF_SOURCE=str(tree), **environment))


def listed(tree):
    lines = quick(tree, "--list").stdout.splitlines()
    return sorted(line for line in lines if not line.startswith("lint/"))


def selection_faults(tree):
    for path, text, expected in CASES:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        found = [listed(tree)]
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", "change")
        found.append(listed(tree))  # the same once it is committed
        git(tree, "reset", "-q", "--hard", "main")
        if found != [expected, expected]:
            yield f"{path}: expected {expected}, listed {found}"


def run_faults(tree):
    for words, code, message, built in RUNS:
        for file in (tree / "build").rglob("*.built"):
            file.unlink()
        result = quick(tree, *words.split())
        found = sorted(file.name for file in (tree / "build").rglob("*.built"))
        if (result.returncode, found) != (code, built) or message not in result.stdout:
            yield f"{words}: {result.returncode}, {found}:\n{result.stdout}{result.stderr}"


def format_faults(tree):
    """A changed C file is shown to clang-format: here to one that finds it wrong."""
    formatter = tree / "build/bin/clang-format"
    formatter.parent.mkdir(parents=True, exist_ok=True)
    formatter.write_text('#!/bin/sh\necho "sees $3"\nexit 1\n')
    formatter.chmod(0o755)
    (tree / "src/runtime/op/shape/tile.c").write_text("changed\n")
    result = quick(tree, PATH=f"{formatter.parent}:{os.environ['PATH']}")
    if result.returncode != 1 or "shape/tile.c\nmake format" not in result.stdout:
        yield f"format: {result.returncode}:\n{result.stdout}{result.stderr}"


def table_faults():
    """Of the tree's own table: every path is one, every word finds a test."""
    known = subprocess.run(["git", "-C", SOURCE, "ls-files", "-co", "--exclude-standard"],
                           capture_output=True, text=True, check=False).stdout.split()
    tests = "\n".join(path for path in known if path.startswith("tests/"))
    names = "\n".join(re.findall(r"def (test_\w+)", "\n".join(
        (SOURCE / path).read_text() for path in known if re.search(r"tests/.*/test_\w+\.py$", path))))
    generated = ("header/", "lint/", "replay/")  # named by CMake, not by a file
    for line in (SOURCE / "tests/changed.txt").read_text().splitlines() if known else []:
        begin, *words = line.split() if not line.startswith("#") else [""]
        if not any(path.startswith(begin) for path in known):
            yield f"tests/changed.txt: there is no {begin}"
        yield from (f"tests/changed.txt: no test has {word}" for word in words
                    if word not in tests and word not in names and not word.startswith(generated))


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = make_tree(folder)
        faults = [*selection_faults(tree), *run_faults(tree), *format_faults(tree), *table_faults()]
    print(*faults, f"{len(faults)} faults", sep="\n")
    return 1 if faults else 0


sys.exit(main())
