# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators, name by name: what `mxprof run` records of an unchanged program is what a collector that
shares nothing with ours counts of one that sends its marks itself."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

from recorded import BUILD, mxprof

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", "."))
HERE = pathlib.Path(__file__).parent
PYTHON = (SOURCE / "build/peers-torch/bin/python").absolute()
PROGRAM = [PYTHON, "-W", "ignore", HERE / "torch_program.py"]
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="no PyTorch: scripts/setup peers installs it")


def run(arguments, folder, **more):
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
    return subprocess.run(arguments, cwd=folder, timeout=250, env=dict(clean, **more), check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(name="counted", scope="module")
def independent_counts(tmp_path_factory):
    """What the program prints, and the counts by (domain, name)."""
    folder = tmp_path_factory.mktemp("count")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", HERE / "itt_count.c", "-o", folder / "count.so", "-pthread"],
                   check=True)
    result = run([*PROGRAM, "emit"], folder, INTEL_LIBITTNOTIFY64=str(folder / "count.so"),
                 ITT_COUNT=str(folder / "counts"))
    assert result.returncode == 0, result.stderr
    rows = (line.split("\t") for line in (folder / "counts").read_text().splitlines())
    return result.stdout, {(domain, name): int(count) for count, domain, name in rows}


def recorded_in(file):
    """The counts by (category, name), and what `info` tells."""
    counts = {}
    for event in json.loads(mxprof("convert", file, "-o", "-"))["traceEvents"]:
        if event["ph"] in "BX":
            key = event["cat"], event["name"]
            counts[key] = counts.get(key, 0) + 1
    return counts, mxprof("info", file)


def recorded(folder):
    file, = folder.glob("*.mxp")
    return recorded_in(file)


@pytest.mark.parametrize("flags", [[], ["-I"], ["-E", "-s"]])
def test_an_unchanged_program_has_every_operator_of_each_thread(counted, flags, tmp_path):
    printed, expected = counted
    program = [PROGRAM[0], *flags, *PROGRAM[1:]]
    result = run([BUILD / "mxprof", "run", "-q", "-o", "run", *program], tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, printed, "")
    counts, info = recorded(tmp_path / "run")
    assert counts == expected and len(counts) > 30
    assert expected["PyTorch", "a step of ours"] == 25
    assert "lost     nothing" in info


def test_counts_are_those_of_pytorchs_own_profiler(tmp_path):
    theirs = run([*PROGRAM, "profile", tmp_path / "counts"], tmp_path)
    assert theirs.returncode == 0, theirs.stderr
    ours = run([BUILD / "mxprof", "run", "-q", "-o", "run", *PROGRAM, "alone"], tmp_path)
    assert (ours.returncode, ours.stdout) == (0, theirs.stdout)
    counts, _ = recorded(tmp_path / "run")
    counted = json.loads((tmp_path / "counts").read_text())
    assert {name: count for (category, name), count in counts.items() if category == "PyTorch"} == counted
    assert counted["a step of ours"] == 20 and len(counted) > 30


def test_a_program_that_sends_its_marks_itself_and_is_killed_has_them_all(counted, tmp_path):
    _, expected = counted
    result = run([BUILD / "mxprof", "run", "-q", "-o", "run", "--no-preload", *PROGRAM, "emit"], tmp_path, DIES="1")
    assert result.returncode == -signal.SIGKILL
    counts, info = recorded(tmp_path / "run")
    assert counts == expected and "the process died" in info


def test_the_programs_own_profiler_sees_what_it_sees_alone(counted, tmp_path):
    alone = run([*PROGRAM, "own"], tmp_path)
    result = run([BUILD / "mxprof", "run", "-q", "-o", "run", *PROGRAM, "own"], tmp_path)
    assert alone.returncode == 0 and (result.returncode, result.stdout) == (0, alone.stdout)
    counts, _ = recorded(tmp_path / "run")
    # What it profiles itself is not recorded: one step of each thread.
    assert counts["PyTorch", "a step of ours"] == counted[1]["PyTorch", "a step of ours"]


LOADER = """
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset
if __name__ == "__main__":
    numbers = TensorDataset(torch.arange(64.0).reshape(64, 1))
    batches = DataLoader(numbers, batch_size=8, num_workers=2, multiprocessing_context=sys.argv[1])
    print(sum(float(batch.sum()) for batch, in batches))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader_have_files_of_their_own(method, tmp_path):
    (tmp_path / "loader.py").write_text(LOADER)
    result = run([BUILD / "mxprof", "run", "-q", "-o", "run", PYTHON, "-W", "ignore", "loader.py", method], tmp_path)
    assert (result.returncode, result.stdout) == (0, "2016.0\n")
    counts = [recorded_in(file)[0] for file in (tmp_path / "run").glob("*.mxp")]
    assert sorted(each.get(("PyTorch", "aten::stack"), 0) for each in counts) == [0, 4, 4]
    waits = ("PyTorch", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
    assert sorted(each.get(waits, 0) for each in counts) == [0, 0, 9]
