# SPDX-License-Identifier: Apache-2.0
"""The starter of distributed programs: the lines it types, and what it says and returns at the end. The jobs
themselves are played by small programs in the place of mpirun and srun."""
import fcntl
import os
import pathlib
import pty
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
LAUNCH = SOURCE / "python/scripts/mxnet-launch"
TOLD = ("MXNET_", "MXPROF_", "DMLC_", "OMP_", "SLURM_", "OMPI_", "PYTHONPATH")
LOOPBACK = "--mca oob_tcp_if_include lo --mca btl_tcp_if_include lo"


def launch(*arguments, path=None, root=True, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(TOLD)}
    if root:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.update(variables)
    if path is not None:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    return subprocess.run([sys.executable, str(LAUNCH), *arguments], env=environment, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def line_of(*arguments, **variables):
    result = launch("--dry-run", *arguments, **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_workers_alone_on_this_machine():
    assert line_of("-n", "1", "--", "python", "train.py") == \
        f"mpirun --bind-to none {LOOPBACK} -n 1 python train.py"


def test_more_processes_than_cores_share_them():
    many = str(os.cpu_count() + 1)
    assert line_of("-n", many, "--", "train") == \
        f"mpirun --bind-to none --oversubscribe {LOOPBACK} -n {many} train"


def test_servers_are_a_part_of_their_own_and_come_first():
    line = line_of("-n", "40", "-s", "20", "--", "python", "train.py", "--rate", "0.1 0.2")
    assert line == ("mpirun --bind-to none --oversubscribe " + LOOPBACK +
                    " -x DMLC_NUM_WORKER -x DMLC_NUM_SERVER"
                    " -n 20 -x DMLC_ROLE=server python train.py --rate '0.1 0.2' :"
                    " -n 40 -x DMLC_ROLE=worker python train.py --rate '0.1 0.2'")


def test_hosts_with_room_for_all_are_not_oversubscribed():
    assert line_of("-n", "4", "-H", "n1:2,n2:2", "--", "train") == \
        "mpirun --bind-to none --host n1:2,n2:2 -n 4 train"
    assert line_of("-n", "4", "-H", "n1,n2", "--", "train") == \
        "mpirun --bind-to none --oversubscribe --host n1,n2 -n 4 train"


def test_hostfile_is_counted(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("# all\nn1 slots=3\n\nn2\n")
    assert line_of("-n", "4", "--hostfile", str(hosts), "--", "train") == \
        f"mpirun --bind-to none --hostfile {hosts} -n 4 train"
    assert "--oversubscribe" in line_of("-n", "5", "--hostfile", str(hosts), "--", "train")
    missing = launch("--dry-run", "-n", "5", "--hostfile", str(tmp_path / "none"), "--", "train")
    assert missing.returncode == 2 and "none" in missing.stderr


def test_variables_are_handed_on_but_for_the_role():
    line = line_of("-n", "1", "--env", "HOME", "--env", "MODE=a b", "--", "train", MXNET_KVSTORE_GRACE="1",
                   MXPROF_STORE="file", DMLC_ROLE="server", OMP_NUM_THREADS="1", PYTHONPATH=str(SOURCE / "python"), OTHER="1")
    assert line == (f"mpirun --bind-to none {LOOPBACK} -x MXNET_KVSTORE_GRACE -x MXPROF_STORE "
                    "-x OMP_NUM_THREADS -x PYTHONPATH -x HOME -x MODE -n 1 train")
    assert launch("-n", "1", "--env", "NOT_SET", "--dry-run", "--", "train").returncode == 2
    assert "no name" in launch("-n", "1", "--env", "a-b=1", "--dry-run", "--", "train").stderr


def test_slurm_job_is_started_by_srun_unless_hosts_are_named():
    assert line_of("-n", "4", "--", "python", "train.py", SLURM_JOB_ID="7") == \
        "srun --mpi=pmix --export=ALL -n 4 python train.py"
    assert line_of("-n", "4", "-H", "n1:4", "--", "train", SLURM_JOB_ID="7").startswith("mpirun ")


@pytest.mark.parametrize("rank, role", [(0, "server"), (1, "server"), (2, "worker"), (5, "worker")])
def test_slurm_gives_roles_by_rank(rank, role):
    line = shlex.split(line_of("-n", "4", "-s", "2", "--", "sh", "-c", "echo $DMLC_ROLE $0", "it's",
                               SLURM_JOB_ID="7"))
    assert line[:5] == ["srun", "--mpi=pmix", "--export=ALL", "-n", "6"]
    played = subprocess.run(line[5:], env={**os.environ, "SLURM_PROCID": str(rank)}, timeout=60,
                            stdout=subprocess.PIPE, text=True, check=True)
    assert played.stdout == f"{role} it's\n"


def test_profile_wraps_the_line():
    assert line_of("-n", "2", "--profile", "runs/1", "-H", "n1:2", "--", "train") == \
        "mxprof run -o runs/1 -- mpirun --bind-to none --host n1:2 -n 2 train"


@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_root_is_told_of_the_two_variables():
    refused = launch("-n", "1", "--dry-run", "--", "train", root=False)
    assert refused.returncode == 2
    assert "OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" in refused.stderr
    assert "--allow-run-as-root" in refused.stderr
    assert launch("-n", "1", "--dry-run", "--allow-run-as-root", "--", "train", root=False).returncode == 0


@pytest.mark.parametrize("arguments", [(), ("-n", "2"), ("-n", "0", "--", "a"), ("-n", "2", "-s", "-1", "--", "a"),
                                       ("-n", "two", "--", "a"), ("-n", "2", "-H", "a", "--hostfile", "b", "--", "c")])
def test_wrong_calls_exit_with_2(arguments):
    result = launch(*arguments)
    assert result.returncode == 2 and "mxnet-launch" in result.stderr


def program(folder, name, text):
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


def test_missing_mpirun_names_the_package(tmp_path):
    result = subprocess.run([sys.executable, str(LAUNCH), "-n", "1", "--allow-run-as-root", "--", "train"],
                            env={"PATH": str(tmp_path)}, timeout=60, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2
    assert "there is no mpirun: apt install openmpi-bin" in result.stderr


def test_job_that_ends_well_returns_0_and_hands_on_what_is_printed(tmp_path):
    program(tmp_path, "mpirun", "import os, sys\nprint('out', os.environ['DMLC_NUM_SERVER'])\n"
            "print('to err', 'DMLC_ROLE' in os.environ, file=sys.stderr)\n")
    result = launch("-n", "2", "-s", "1", "--", "train", path=tmp_path, DMLC_ROLE="worker")
    assert (result.returncode, result.stdout, result.stderr) == (0, "out 1\n", "to err False\n")


MPI_KILLED = """-------
mpirun noticed that process rank 4 with PID 0 on node n7 exited on signal 9 (Killed).
-------
"""
MPI_EXITED = """-------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[31567,1],2]
  Exit code:    3
-------
"""
NAMED = "mxnet: worker 2 (rank 4, host n7, pid 4711) died; this was worker 0 in push of key 'w', round 812\n"


@pytest.mark.parametrize("said, own, code, last", [
    (NAMED + MPI_KILLED, 137, 137, "mxnet-launch: worker 2 (rank 4, host n7, pid 4711) died: signal 9 (SIGKILL)"),
    (NAMED + MPI_KILLED, 70, 137, "mxnet-launch: worker 2 (rank 4, host n7, pid 4711) died: signal 9 (SIGKILL)"),
    (NAMED + MPI_EXITED, 3, 3, "mxnet-launch: worker 2 (rank 4, host n7, pid 4711) died; of rank 2, which the starter saw "
     "end first, there is exit code 3"),
    (MPI_EXITED, 1, 3, "mxnet-launch: the process of rank 2 failed first: exit code 3"),
    (NAMED, 0, 70, "mxnet-launch: worker 2 (rank 4, host n7, pid 4711) died: exit code 0"),
    ("srun: error: n7: task 3: Exited with exit code 5\nsrun: error: n8: task 1: Killed\n", 9, 5,
     "mxnet-launch: the process of rank 3 failed first: exit code 5"),
    ("srun: error: n7: task 3: Segmentation fault\n", 139, 139,
     "mxnet-launch: the process of rank 3 failed first: signal 11 (SIGSEGV)"),
    ("", 4, 4, "mxnet-launch: a process failed first: exit code 4"),
])
def test_first_failure_decides_the_exit_code_and_the_last_line(tmp_path, said, own, code, last):
    program(tmp_path, "mpirun", f"import sys\nsys.stderr.write({said!r})\nsys.exit({own})\n")
    result = launch("-n", "2", "--", "train", path=tmp_path)
    assert result.returncode == code
    assert result.stderr == said + last + "\n"


# Counts the interrupts within half a second of the first one, as mpirun does within five.
COUNTS = """import signal, sys, time
came = []
signal.signal(signal.SIGINT, lambda *_: came.append(1))
print('ready', flush=True)
while not came:
    time.sleep(0.01)
time.sleep(0.5)
print(len(came), 'interrupts', flush=True)
sys.exit(1)
"""


def start_counting(folder, **how):
    program(folder, "mpirun", COUNTS)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.Popen([sys.executable, str(LAUNCH), "-n", "2", "--", "train"], env=environment, **how)


def test_an_interrupt_of_the_terminal_reaches_mpirun_once(tmp_path):
    """A second one within five seconds makes mpirun end without the processes that it has started."""
    terminal, side = pty.openpty()
    with start_counting(tmp_path, stdin=side, stdout=side, stderr=side, start_new_session=True,
                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(side)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        while b"ended by" not in seen:
            seen += os.read(terminal, 4096)
        assert process.wait(60) == 128 + signal.SIGINT
    os.close(terminal)
    assert b"1 interrupts" in seen and b"mxnet-launch: ended by SIGINT" in seen, seen


def test_an_interrupt_of_a_process_is_handed_on(tmp_path):
    with start_counting(tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (out, err) == ("1 interrupts\n", "mxnet-launch: ended by SIGINT\n")
    assert process.returncode == 128 + signal.SIGINT


def test_a_progress_bar_is_seen_while_it_grows(tmp_path):
    """Its line ends when all is over, which here it is when the half of it was read."""
    program(tmp_path, "mpirun", "import sys\nsys.stderr.write('\\r50 %')\nsys.stderr.flush()\nsys.stdin.readline()\n"
            "sys.stderr.write('\\r100 %')\nsys.exit(3)\n")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with subprocess.Popen([sys.executable, str(LAUNCH), "-n", "2", "--", "train"], env=environment, stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        ready, _, _ = select.select([process.stderr], [], [], 30)
        assert ready and os.read(process.stderr.fileno(), 100) == b"\r50 %"
        _, rest = process.communicate(b"go\n", timeout=60)
    assert rest == b"\r100 %\nmxnet-launch: a process failed first: exit code 3\n"


def test_module_is_the_same_command():
    module = subprocess.run([sys.executable, "-m", "mxnet.launch", "--dry-run", "-n", "1", "-H", "a", "--", "b"],
                            timeout=60, stdout=subprocess.PIPE, text=True, check=True,
                            env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                 "PYTHONPATH": str(SOURCE / "python")})
    assert module.stdout.startswith("mpirun ") and module.stdout.endswith("-n 1 b\n")


def test_script_finds_the_module_where_pip_puts_it(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "mxprof/runtime/mxnet").mkdir(parents=True)
    script = shutil.copy(LAUNCH, tmp_path / "bin")
    shutil.copy(SOURCE / "python/mxnet/launch.py", tmp_path / "mxprof/runtime/mxnet")
    line = [sys.executable, script, "--dry-run", "--allow-run-as-root", "-n", "1", "-H", "a", "--", "b"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(TOLD)}
    result = subprocess.run(line, env=kept, cwd=tmp_path, timeout=60, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.endswith("-n 1 b\n")
