# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/, built once, also where several processes of pytest run these tests."""
import fcntl
import os
import pathlib
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release"))


@pytest.fixture(scope="session", name="built")
def built_once():
    with open(BUILD / "bench.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["cmake", "--build", BUILD, "--target", "bench", "-j2"], check=True,
                       capture_output=True)
