# SPDX-License-Identifier: Apache-2.0
"""`mxprof run` before a starter of several processes, or behind one. Starters are made here: they start
processes with the variables by which real ones number them, and note how they were called."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

import pytest

from run_programs import BUILD, MXPROF, environment, recording

# Starts the program three times; takes options as the real one does.
STARTER = """#!{python}
import json, os, subprocess, sys
arguments, more = sys.argv[1:], dict()
json.dump([arguments, os.environ.get("LD_PRELOAD")], open("called.json", "w"))
while arguments and arguments[0].startswith("-"):
    option = arguments.pop(0)
    if option in ("-x", "--env"):
        name, _, value = arguments.pop(0).partition("=")
        more[name] = value if _ else os.environ[name]
    elif option == "-genv":
        more[arguments[0]] = arguments[1]
        del arguments[:2]
    elif option.startswith("--export=ALL"):
        more.update(item.split("=", 1) for item in option.split(",")[1:])
    elif option in ("-n", "-np"):
        arguments.pop(0)
if arguments and arguments[0] == "--":
    arguments.pop(0)
clean = {{key: value for key, value in os.environ.items() if not {remote} or not key.startswith(("MXPROF_", "INTEL_"))}}
ranks = [subprocess.Popen(arguments, env=dict(clean, **more, {rank}=str(rank))) for rank in range(3)]
sys.exit(max(rank.wait() for rank in ranks))
"""
RANKS = {"mpirun": "OMPI_COMM_WORLD_RANK", "mpiexec": "OMPI_COMM_WORLD_RANK", "srun": "SLURM_PROCID",
         "mxnet-launch": "OMPI_COMM_WORLD_RANK"}


def starter(folder, name, remote=False, file=None):
    """A starter of this name; a remote one starts processes without the environment, but for options."""
    path = folder / (file or name)
    rank = "PMI_RANK" if file else RANKS[name]
    path.write_text(STARTER.format(python=sys.executable, rank=rank, remote=remote))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    if file:
        (folder / name).symlink_to(path)
    return folder / name


def run(folder, *arguments, code=0, **more):
    result = subprocess.run([*map(str, arguments)], cwd=folder, env=environment(**more), capture_output=True,
                            text=True, timeout=60, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result


def files(folder):
    return sorted(re.sub(r"\.\d+\.mxp$", "", path.name) for path in pathlib.Path(folder).glob("*.mxp"))


@pytest.mark.parametrize("name", ["mpirun", "mpiexec", "mxnet-launch"])
def test_the_processes_of_a_starter_are_recorded_on_whatever_machine(tmp_path, name):
    host = os.uname().nodename
    result = run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, name, remote=True), "-n", "3",
                 *recording(5))
    assert files(tmp_path / "out") == [f"worker{rank}.{host}" for rank in range(3)]
    lines = result.stderr.splitlines()
    assert sum(bool(re.search(r"^mxprof:   worker\d\..*\.mxp  \d+ records, nothing lost$", line)) for line in lines) == 3
    assert lines[-1] == "mxprof: next   mxprof explain out   |   mxprof merge out -o all.mxp"


def test_slurm_gets_the_whole_environment(tmp_path):
    run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, "srun"), "-n", "3", *recording(5))
    assert len(files(tmp_path / "out")) == 3
    assert '"--export=ALL,LD_PRELOAD=' in (tmp_path / "called.json").read_text()


def test_mpich_is_told_in_its_own_way(tmp_path):
    run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, "mpiexec", True, "mpiexec.hydra"), "-n", "3",
        *recording(5))
    assert len(files(tmp_path / "out")) == 3
    assert '"-genv", "MXPROF_RUN"' in (tmp_path / "called.json").read_text()


def test_the_starter_itself_is_not_observed(tmp_path):
    run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, "mpirun"), *recording(1), LD_PRELOAD="")
    called = (tmp_path / "called.json").read_text()
    assert "LD_PRELOAD=" in called and called.rstrip().endswith(', ""]')


def test_roles_are_in_the_names_of_the_files(tmp_path):
    run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, "mpirun"), *recording(1), DMLC_ROLE="server")
    assert [name.split(".")[0] for name in files(tmp_path / "out")] == ["server0", "server1", "server2"]
    run(tmp_path, MXPROF, "run", "-o", "odd", "--", starter(tmp_path, "mpirun"), *recording(1), DMLC_ROLE="../x%p")
    assert [name.split(".")[0] for name in files(tmp_path / "odd")] == ["worker0", "worker1", "worker2"]


def test_behind_the_starter_it_is_the_same(tmp_path):
    call = [starter(tmp_path, "mpirun"), "-n", "3", MXPROF, "run", "--", *recording(5)]
    run(tmp_path, *call, PMIX_NAMESPACE="job-1")
    folder, = tmp_path.glob("mxprof-*")
    assert [name.split(".")[0] for name in files(folder)] == ["worker0", "worker1", "worker2"]
    run(tmp_path, *call, PMIX_NAMESPACE="job-2")
    assert len(list(tmp_path.glob("mxprof-*"))) == 2
    run(tmp_path, *call[:5], "-o", "same", *call[5:], PMIX_NAMESPACE="job-1")
    assert len(files(tmp_path / "same")) == 3


def test_the_code_is_the_starters_and_who_died_is_said(tmp_path):
    died = [sys.executable, "-c", recording(0)[2] + "\nimport os; os.kill(os.getpid(), 9)",
            str(BUILD / "libmxprof.so"), "5"]
    path = starter(tmp_path, "mpirun")
    path.write_text(path.read_text().replace("max(rank.wait() for rank in ranks)",
                                             "7 if any([rank.wait() for rank in ranks]) else 0"))
    result = run(tmp_path, MXPROF, "run", "-o", "out", "--", path, *died, code=7)
    assert len(re.findall(r"records, nothing lost, died$", result.stderr, re.MULTILINE)) == 3


def test_of_a_starter_that_refuses_nothing_is_proposed(tmp_path):
    """Open MPI refuses to run as root, and more processes than there are cores."""
    path = starter(tmp_path, "mpirun")
    path.write_text("#!/bin/sh\necho 'not as root' >&2; exit 1\n")
    result = run(tmp_path, MXPROF, "run", "-o", "out", "--", path, *recording(5), code=1)
    assert re.search(r"not as root\nmxprof: .* ended with 1 after [0-9.]+ s; nothing was recorded\n"
                     r"mxprof: it ended before a process had recorded anything; what it printed above says why\n$", result.stderr)
    assert not (tmp_path / "out").exists()


def test_what_is_proposed_is_for_the_processes_and_not_for_the_starter(tmp_path):
    result = run(tmp_path, MXPROF, "run", "-o", "out", "--", starter(tmp_path, "mpirun"), sys.executable, "-c", "0")
    assert "mxprof: its processes sent no marks that are known here. What could be done:\n" in result.stderr
    assert "--python records Python's functions" in result.stderr


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun")
def test_open_mpi_itself(tmp_path):
    result = run(tmp_path, MXPROF, "run", "-o", "out", "--", "mpirun", "--oversubscribe", "--allow-run-as-root",
                 "-n", "2", *recording(5))
    assert [name.split(".")[0] for name in files(tmp_path / "out")] == ["worker0", "worker1"]
    assert "mxprof explain out" in result.stderr
    refused = run(tmp_path, MXPROF, "run", "-o", "none", "--", "mpirun", "--allow-run-as-root", "-n", "2000", "true", code=1)
    assert "finstrument" not in refused.stderr and "not enough slots" in refused.stderr and "printed above" in refused.stderr
