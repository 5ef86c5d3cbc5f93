# SPDX-License-Identifier: Apache-2.0
"""Each picture of the documents is one that scripts/pictures makes from a run, and stands on a page."""
import os
import pathlib
import re
import subprocess
import sys

import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
KEPT = {picture.stem for picture in (SOURCE / "docs/images").iterdir()}


def test_each_picture_is_made_by_the_script():
    said = subprocess.run([sys.executable, SOURCE / "scripts/pictures", "--list"], capture_output=True, text=True, check=True, timeout=60)
    assert set(re.findall(r"^([\w-]+): ", said.stdout, re.MULTILINE)) == KEPT


def test_a_picture_that_there_is_not_is_said_with_those_there_are():
    said = subprocess.run([sys.executable, SOURCE / "scripts/pictures", "pgae"], capture_output=True, text=True, check=False, timeout=60)
    assert said.returncode == 2 and "there is no picture 'pgae'; there are: page, " in said.stderr


def test_each_picture_stands_on_a_page():
    shown = {pathlib.PurePath(target).stem for page in typed.pages(SOURCE)
             for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (SOURCE / page).read_text(encoding="utf-8"))}
    assert KEPT == shown
