# SPDX-License-Identifier: Apache-2.0
"""What a process that records into a file by its environment finds under the file's name: another process's file, a pipe,
a folder. None of these is replaced, and stderr tells."""
import os
import pathlib
import stat
import subprocess

import pytest

from compiled import compiled

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
PROGRAM = """
#include <mxprof/record.h>
#include <stdio.h>

int main(void)
{
    for (int i = 0; i < 100; i++) {
        MXP_SPAN_SCOPE("program", "work");
    }
    puts("recorded");
    fflush(stdout);
    return getchar() != EOF;  // until the test closes it
}
"""


@pytest.fixture(name="program", scope="module")
def fixture_program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("program"), "work", PROGRAM)


def begin(program, folder):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    started = subprocess.Popen([program], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**clean, "MXPROF_AUTOSTART": "1", "MXPROF_STORE": "file",
                                               "MXPROF_FILENAME": "none", "MXPROF_NATIVE_FILENAME": "one.mxp"})
    assert started.stdout.readline() == "recorded\n"
    return started


def end(started):
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 0
    return errors


def info(path):
    return subprocess.run([BUILD / "mxprof", "info", path], capture_output=True, text=True, check=True).stdout


def test_the_file_of_a_process_that_lives_stays_and_the_second_one_says_so(program, tmp_path):
    first = begin(program, tmp_path)
    second = begin(program, tmp_path)
    told = end(second)
    assert "another recording is being written there" in told and "recording continues in memory" in told
    assert "could not begin" not in told
    assert end(first) == ""
    assert f"process {first.pid}\n" in info(tmp_path / "one.mxp")
    assert [path.name for path in tmp_path.iterdir()] == ["one.mxp"]


def test_a_file_that_is_finished_is_replaced(program, tmp_path):
    assert end(begin(program, tmp_path)) == ""
    second = begin(program, tmp_path)
    assert end(second) == ""
    assert f"process {second.pid}\n" in info(tmp_path / "one.mxp")


def test_a_pipe_is_not_replaced(program, tmp_path):
    os.mkfifo(tmp_path / "one.mxp")
    told = end(begin(program, tmp_path))
    assert "cannot record into" in told and "it is no regular file; recording continues in memory" in told
    assert stat.S_ISFIFO((tmp_path / "one.mxp").stat().st_mode)


def test_a_folder_is_not_replaced(program, tmp_path):
    (tmp_path / "one.mxp").mkdir()
    assert "no regular file" in end(begin(program, tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["one.mxp"]
