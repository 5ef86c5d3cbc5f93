# SPDX-License-Identifier: Apache-2.0
"""scripts/first-run reads what it types out of the documents: each command of a box, those of a session in one piece."""
import os
import pathlib
import re
import subprocess
import sys

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


def test_what_goes_on_in_the_background_is_one_session():
    line, = re.findall(r"^README\.md:\d+: set -m; (.*)$", listed("--page", "README.md"), re.MULTILINE)
    assert re.search(r"python train\.py +& sleep \d+; kill -9 %1; mxprof info run\.mxp$", line)


def test_what_is_left_out_says_why():
    said = listed("--without", "make test")
    assert re.search(r"^README\.md:\d+: make test  \(left out by --without make test\)$", said, re.MULTILINE)
    assert re.search(r"mxprof diff +before/ -- after/  \(needs runs of two versions\)$", said, re.MULTILINE)
