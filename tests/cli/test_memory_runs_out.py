# SPDX-License-Identifier: Apache-2.0
"""An allocation of the command fails: it prints all that it was asked for, or an error and nothing."""
import os
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
MXPROF = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release")).resolve() / "mxprof"
FILE = TREE / "tests/fuzz/corpus/analysis/steps_3.mxp"

COMMANDS = {"info": ["info"], "info_json": ["info", "--json"], "memory": ["memory"], "top": ["top"], "at": ["at", "FILE", "3ms"],
            "show": ["show", "--step", "1"], "table": ["convert", "--to", "csv", "-o", "-"],
            "stacks": ["convert", "--to", "folded", "-o", "-"]}


@pytest.fixture(scope="module", name="library")
def failing_memory(tmp_path_factory):
    if b"__asan_init" in MXPROF.read_bytes() or b"__tsan_init" in MXPROF.read_bytes():
        pytest.skip("the sanitizer has an allocator of its own")
    library = tmp_path_factory.mktemp("failing") / "failing_memory.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fno-builtin", "-o", library,
                    pathlib.Path(__file__).with_name("failing_memory.c")], check=True)
    return library


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_output_is_whole_or_an_error(command, library, tmp_path):
    count = tmp_path / "count"
    command_line = [FILE if word == "FILE" else word for word in command]
    command_line += [] if FILE in command_line else [FILE]

    def run(number):
        environment = {**os.environ, "LD_PRELOAD": str(library), "FAIL_AT": str(number), "FAIL_COUNT": str(count)}
        return subprocess.run([MXPROF, *command_line], env=environment, capture_output=True, timeout=60)

    whole = run(0)
    assert whole.returncode == 0, whole.stderr
    allocations = int(count.read_text())
    assert allocations > 20
    for number in range(1, allocations + 1):
        result = run(number)
        if result.returncode == 0:
            assert result.stdout == whole.stdout, f"allocation {number}"
        else:
            assert result.returncode == 1, f"allocation {number}: {result.stderr}"
            assert command[0] == "convert" or result.stdout == b"", f"allocation {number}"
            assert b"memory" in result.stderr, f"allocation {number}: {result.stderr}"
