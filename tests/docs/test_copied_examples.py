# SPDX-License-Identifier: Apache-2.0
"""Examples are copied: each one compiles by itself, with no flags but those of the documents and without a warning."""
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
EXAMPLES = sorted(path for path in (SOURCE / "examples").iterdir() if path.suffix in (".c", ".cpp"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_it_compiles_as_it_is_copied(example, tmp_path):
    compiler = ["cc"] if example.suffix == ".c" else ["c++", "-std=c++17"]
    for neighbour in example.parent.glob("*.h"):
        (tmp_path / neighbour.name).symlink_to(neighbour)
    (tmp_path / example.name).symlink_to(example)
    done = subprocess.run([*compiler, "-Wall", "-Wextra", "-fsyntax-only", f"-I{SOURCE}/include", example.name], cwd=tmp_path,
                          capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_examples_in_both_languages():
    assert {path.suffix for path in EXAMPLES} == {".c", ".cpp"} and len(EXAMPLES) >= 8
