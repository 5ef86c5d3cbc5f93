# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md: its commands, typed as they stand there in one folder, answer what it shows."""
import os
import pathlib
import re
import subprocess

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
PAGE = (SOURCE / "docs/troubleshooting.md").read_text(encoding="utf-8")


def shown():
    """(command, lines below it) in the order of the page."""
    for _, language, content in typed.boxes(PAGE):
        if language == "":
            for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
                command, _, answer = part.partition("\n")
                yield command, answer.splitlines()


def form(line):
    return re.sub(r"\d+(\.\d+)?", "N", line)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    environment["PATH"] = f"{BUILD}:{environment['PATH']}"
    return [subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, timeout=60, check=False).stdout.splitlines() for command, _ in shown()]


def test_each_command_answers_what_stands_below_it(answers):
    wrong = []
    for (command, lines), printed in zip(shown(), answers):
        wanted = lines[:-1] if lines[-1:] == ["..."] else lines
        given = printed[:len(wanted)] if lines[-1:] == ["..."] else printed
        wrong += [] if list(map(form, wanted)) == list(map(form, given)) else [(command, given)]
    assert wrong == []


def test_there_are_such_commands():
    assert sum(bool(lines) for _, lines in shown()) >= 10
