# SPDX-License-Identifier: Apache-2.0
"""Who runs tests before anything is built is told what to type, once."""
import os
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])


@pytest.mark.parametrize("tests, missing", [("tests/cli/test_layout.py", "mxprof"), ("tests/python/test_dlpack.py", "libmxnet.so")])
def test_a_test_before_the_build_names_the_file_and_the_command(tmp_path, tests, missing):
    environment = {**os.environ, "MXPROF_BUILD": str(tmp_path), "MXNET_LIBRARY_PATH": os.environ["MXPROF_BUILD"]}
    done = subprocess.run([sys.executable, "-m", "pytest", tests], cwd=SOURCE, capture_output=True,
                          text=True, timeout=120, check=False, env=environment)
    said = done.stdout + done.stderr
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, said
    assert f"ERROR: {tmp_path}/{missing} is not there, which these tests run: make build" in said
    assert "Traceback" not in said and len(said.splitlines()) < 8, said
