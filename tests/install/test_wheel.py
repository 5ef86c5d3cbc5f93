# SPDX-License-Identifier: Apache-2.0
"""pip install of the package with all that it builds: libraries, extension, command, and what `mxprof run` loads.
MXPROF_TEST_LONG=1: it is compiled for it."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
pytestmark = [pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1"),
              pytest.mark.timeout(1200)]
PROGRAM = """
import site, sys
site.addsitedir(sys.argv[1])
import mxnet as mx
print(mx.runtime.core_name(), mx.nd.dot(mx.nd.ones((8, 8)), mx.nd.ones((8, 8))).sum().asscalar(), mx.libinfo.find_lib_path())
"""


def clean_environment():
    return {key: value for key, value in os.environ.items()
            if not key.startswith(("MXNET_", "MXPROF_", "PYTHONPATH"))}


@pytest.fixture(name="site", scope="module")
def installed_wheel(tmp_path_factory):
    tree = tmp_path_factory.mktemp("wheel") / "tree"
    for name in ("python", "include", "cmake", "src", "tools", "examples", "bench"):
        shutil.copytree(SOURCE / name, tree / name, ignore=shutil.ignore_patterns("build", "*.egg-info", "results"))
    for name in ("CMakeLists.txt", "LICENSE"):
        shutil.copy(SOURCE / name, tree)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
                           "--target", tree.parent / "site", tree / "python"], env=clean_environment(), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:]
    shutil.rmtree(tree)
    return tree.parent / "site"


def test_the_wheel_has_its_libraries_and_computes(site, tmp_path):
    done = subprocess.run([sys.executable, "-c", PROGRAM, site], cwd=tmp_path, env=clean_environment(), check=False,
                          capture_output=True, text=True)
    assert done.stdout == f"extension 512.0 ['{site}/mxprof/runtime/mxnet/libmxnet.so']\n", done.stderr


def test_the_wheels_command_records_a_program_and_reads_it(site, tmp_path):
    done = subprocess.run([site / "bin/mxprof", "run", "-o", "run", "--python", "--", sys.executable, "-c", PROGRAM, site],
                          cwd=tmp_path, env=clean_environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 0 and "marks from Python" in done.stderr, done.stderr
    report = subprocess.run([site / "bin/mxprof", "report", "--layout", "mxnet", "run"], cwd=tmp_path, env=clean_environment(),
                            check=False, capture_output=True, text=True)
    assert report.returncode == 0 and "addsitedir" in report.stdout, report.stderr
