# SPDX-License-Identifier: Apache-2.0
"""A program on LLVM's OpenMP runtime, unchanged: as many regions, loops, tasks and waits as it has."""
import csv
import pathlib
import shutil
import subprocess

import pytest

from recorded import BUILD, mxprof

HERE = pathlib.Path(__file__).parent


@pytest.fixture(name="program", scope="module")
def openmp_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("openmp") / "openmp_program"
    if shutil.which("clang") is None:
        pytest.skip("no clang: scripts/setup check installs it")
    made = subprocess.run(["clang", "-O1", "-fopenmp", HERE / "openmp_program.c", "-o", program], check=False,
                          capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip("no clang with OpenMP: scripts/setup peers installs libomp-dev")
    return program


def test_counts_are_those_of_the_program_and_each_region_is_told_once(program, tmp_path):
    result = subprocess.run([BUILD / "mxprof", "run", "-q", "-o", tmp_path / "run", program], check=True,
                            capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("12487550\n", "")
    table = csv.DictReader(mxprof("convert", tmp_path / "run", "-o", "-", "--to", "csv").splitlines())
    rows = {row["name"].partition(" openmp_program")[0]: int(row["count"]) for row in table
            if row["section"] == "OpenMP"}
    assert {name: rows.get(name) for name in ("parallel", "loop", "task", "single", "taskwait", "critical wait")} == \
        {"parallel": 50, "loop": 50, "task": 100, "single": 25, "taskwait": 25, "critical wait": 50}
    assert "lost     nothing" in mxprof("info", tmp_path / "run")
    assert "$omp$" not in mxprof("report", "--layout", "mxnet", tmp_path / "run")
    assert '"stack"' not in mxprof("convert", tmp_path / "run", "-o", "-", "--to", "chrome")


def test_a_program_built_with_gcc_tells_its_regions_on_the_other_runtime(tmp_path):
    subprocess.run(["gcc", "-O1", "-fopenmp", HERE / "openmp_program.c", "-o", tmp_path / "program"], check=True)
    run = [BUILD / "mxprof", "run", "-o", tmp_path / "run"]
    alone = subprocess.run([*run, tmp_path / "program"], check=True, capture_output=True, text=True, timeout=60)
    assert alone.stdout == "12487550\n" and "--openmp=libomp runs it on LLVM's, which does" in alone.stderr
    other = subprocess.run([*run, "--openmp=libomp", tmp_path / "program"], check=False, capture_output=True, text=True,
                           timeout=60)
    if "needs LLVM's OpenMP runtime" in other.stderr:
        pytest.skip("no libomp: scripts/setup peers installs it")
    assert (other.returncode, other.stdout) == (0, "12487550\n")
    report = mxprof("report", "--layout", "mxnet", tmp_path / "run")
    assert sum(int(line.split()[-5]) for line in report.splitlines() if line.startswith("parallel ")) == 50
