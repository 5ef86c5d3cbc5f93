# SPDX-License-Identifier: Apache-2.0
"""The page "Any program": its script is run as it is typed there, and gives the names and counts that the page shows."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from run_programs import run

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
PAGE = (SOURCE / "docs/any-program.md").read_text()
PYTHON = (SOURCE / "build/peers-torch/bin/python").absolute()


def rows(text):
    """The counts by name of a summary's table."""
    found = re.findall(r"^ +[\d.,]+ +[\d.]+ % +([\d,]+)  (\S.*?)$", text, re.MULTILINE)
    return {name: int(count.replace(",", "")) for count, name in found if not name.startswith("(")}


def shown(command):
    return re.search(rf"^```\n\$ {re.escape(command)}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.skipif(not PYTHON.exists(), reason="no PyTorch: scripts/setup peers installs it")
def test_the_script_for_pytorch_has_the_counts_of_the_page(tmp_path):
    (tmp_path / "train.py").write_text(re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1])
    result = run(tmp_path, "--summary", "1000", "-o", "pt", PYTHON, "-W", "ignore", "train.py")
    assert result.returncode == 0 and result.stdout == "loss 2.318\n"
    text = shown("mxprof run -o pt python train.py")
    assert rows(text).items() <= rows(result.stderr).items() and len(rows(text)) == 10
    for told in (re.search(r"1 process, [^;]*; lost nothing", text)[0], re.search("marks from .*", text)[0]):
        assert told in result.stderr


def test_the_lines_that_mark_steps_do_so_in_any_script(tmp_path):
    (tmp_path / "steps.py").write_text(re.search(r"### Steps\n.*?^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1])
    assert run(tmp_path, "-o", "steps", "--python=c", sys.executable, "steps.py").returncode == 0
    printed = subprocess.run([pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof", "report", "steps"], cwd=tmp_path, check=True,
                             capture_output=True, text=True, timeout=60).stdout
    assert printed.startswith("steps 50 ")


def test_the_summary_next_to_the_commands_of_the_page_exists():
    mpirun_s = {"--bind-to", "--oversubscribe"}
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) - mpirun_s:
        helped = subprocess.run([pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof", "run", "--help"], check=True,
                                capture_output=True, text=True).stdout
        assert option in helped, option
