# SPDX-License-Identifier: Apache-2.0
"""What the first page says to type after `make demo` finds all that it needs there."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])


@pytest.mark.skipif(shutil.which("ninja") is None or not (BUILD / "build.ninja").exists(), reason="not built by Ninja")
@pytest.mark.parametrize("library", ["libmxprof_collect.so", "libmxprof_dnnl.so"])
def test_who_builds_the_command_builds_what_run_loads(library):
    makefile = (SOURCE / "Makefile").read_text(encoding="utf-8")
    demo = re.search(r"^demo:\n(?:\t.*\n)+", makefile, re.MULTILINE)[0]
    assert "mxprof_command" in demo
    inputs = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "mxprof_command"], capture_output=True, text=True, check=True,
                            timeout=120).stdout
    assert re.search(rf"^{re.escape(library)}", inputs, re.MULTILINE)
