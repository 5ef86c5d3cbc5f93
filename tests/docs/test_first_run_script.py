# SPDX-License-Identifier: Apache-2.0
"""scripts/first-run reads what it types out of the documents: each command of a box, those of a session in one piece."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])


def listed(*options):
    said = subprocess.run([sys.executable, SOURCE / "scripts/first-run", "--list", *options], capture_output=True, text=True, check=True,
                          timeout=60)
    return said.stdout


def test_every_command_in_a_box_is_listed():
    said = listed()
    for page in ("README.md", "docs/guide.md", "python/README.md"):
        commands = [command for command in typed.commands_of(page, (SOURCE / page).read_text(encoding="utf-8")) if command.in_box]
        assert commands
        for command in commands:
            assert command.text.removesuffix(" &") in said, command


def test_what_an_engineer_types_is_listed():
    said = listed()
    for command in ("make demo", "make test", "make build", "make quick", "make check", "make format", "sudo make install-profiler"):
        assert re.search(rf"^\S+:\d+: {command}(?! \S* *\(left out)", said, re.MULTILINE), command


def test_what_goes_on_in_the_background_is_one_session():
    line, = re.findall(r"^README\.md:\d+: set -m; (.*)$", listed("--page", "README.md"), re.MULTILINE)
    assert re.search(r"python train\.py +& sleep \d+; kill -9 %1; mxprof info run\.mxp$", line)


def test_what_is_left_out_says_why():
    said = listed("--without", "make test")
    assert re.search(r"^README\.md:\d+: make test  \(left out by --without make test\)$", said, re.MULTILINE)
    assert re.search(r"mxprof diff +before/ -- after/  \(needs runs of two versions\)$", said, re.MULTILINE)


def script():
    loader = importlib.machinery.SourceFileLoader("first_run", str(SOURCE / "scripts/first-run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("first_run", loader))
    loader.exec_module(module)
    return module


class Here:
    root, version = None, "abc1234"


def test_the_log_says_how_each_command_ended_and_what_all_took():
    first_run = script()
    rows = [(typed.Command("README.md", 1, "make demo", True), 61.2, 0), (typed.Command("README.md", 2, "set -m; a | b", True), 2.0, 3),
            (typed.Command("README.md", 3, "make test", True), None, "left out by --without make test")]
    lines = first_run.table(rows, Here).splitlines()
    assert "commit abc1234. In order, one after the other: 2 commands typed in 1 min 3 s, 1 failed, 1 not typed." in lines[0]
    assert lines[4:] == ["| README.md | `make demo` | 1 min 1 s | 0 |", "| README.md | `a \\| b` | 2.0 s | **3** |",
                         "| README.md | `make test` |  | left out by --without make test |"]


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split()[2] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.timeout(15)
def test_a_command_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    first_run = script()
    place = first_run.Place.__new__(first_run.Place)
    place.root, place.clone, place.has_sudo = None, tmp_path, True
    _, code, lines = place.run("sleep 300 & echo $!; wait", 1)
    child, = lines
    assert code == 124
    while is_running(child):  # it closes its output before it is gone
        time.sleep(0.01)
