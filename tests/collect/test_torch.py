# SPDX-License-Identifier: Apache-2.0
"""PyTorch's marks, name by name: what is recorded is what a collector counts that shares nothing with ours."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", "."))
HERE = pathlib.Path(__file__).parent
PYTHON = SOURCE / "build/peers-torch/bin/python"
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no PyTorch: scripts/setup peers installs it")


def run(collector, folder, **environment):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    return subprocess.run([PYTHON.absolute(), "-W", "ignore", HERE / "torch_program.py"], cwd=folder, timeout=250,
                          env=dict(clean, INTEL_LIBITTNOTIFY64=str(collector), **environment), check=False,
                          stdout=subprocess.PIPE, text=True)


@pytest.fixture(name="counted", scope="module")
def independent_counts(tmp_path_factory):
    """What the program prints, and the counts by (domain, name)."""
    folder = tmp_path_factory.mktemp("count")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", HERE / "itt_count.c", "-o", folder / "count.so", "-pthread"],
                   check=True)
    result = run(folder / "count.so", folder, ITT_COUNT=str(folder / "counts"))
    assert result.returncode == 0
    rows = (line.split("\t") for line in (folder / "counts").read_text().splitlines())
    return result.stdout, {(domain, name): int(count) for count, domain, name in rows}


def recorded(folder):
    file, = (folder / "run").iterdir()
    events = json.loads(subprocess.run([BUILD / "mxprof", "convert", file, "-o", "-"], capture_output=True, text=True,
                                       timeout=60, check=True).stdout)["traceEvents"]
    counts = {}
    for event in events:
        if event["ph"] in "BX":
            key = event["cat"], event["name"]
            counts[key] = counts.get(key, 0) + 1
    return counts, subprocess.run([BUILD / "mxprof", "info", file], capture_output=True, text=True, timeout=60,
                                  check=True).stdout


@pytest.mark.parametrize("end", ["", "killed"])
def test_counts_are_those_of_an_independent_collector(counted, end, tmp_path):
    printed, expected = counted
    (tmp_path / "run").mkdir()
    result = run(BUILD / "libmxprof_collect.so", tmp_path, MXPROF_RUN=str(tmp_path / "run"), DIES=end)
    assert result.returncode == (-signal.SIGKILL if end else 0)
    if not end:
        assert result.stdout == printed
    counts, info = recorded(tmp_path)
    assert counts == expected and len(counts) > 30
    assert expected["PyTorch", "a step of ours"] == 25
    assert ("the process died" in info) == bool(end)
