# SPDX-License-Identifier: Apache-2.0
"""Programs that mpirun starts: what is missing or does not fit is told, a death ends all and is named. Skipped
where there is no mpirun, but for what needs none."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from python_program import BUILD, SOURCE

LAUNCH = SOURCE / "python/scripts/mxnet-launch"
SECONDS = 60
HAS_PLUGIN = (BUILD / "libmxnet_mpi.so").is_file()
HAS_MPI = HAS_PLUGIN and shutil.which("mpirun") is not None
needs_mpi = pytest.mark.skipif(not HAS_MPI, reason="needs mpirun and libmxnet_mpi.so (openmpi-bin, libopenmpi-dev)")

CREATE = "import mxnet as mx\nstore = mx.kv.create('dist_sync')\n"
TRAINING = CREATE + """
import os, signal, sys, time
values, out = mx.nd.ones((1000,)), mx.nd.zeros((1000,))
store.init('weight', out)
for step in range(1000000):
    store.push('weight', values)
    store.pull('weight', out=out)
    out.wait_to_read()
    if step == 20 and store.rank == 1:
        {act}
"""


def environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("MXNET_", "MXPROF_", "DMLC_", "OMPI_", "PMIX_", "SLURM_"))}
    return {**kept, "MXNET_LIBRARY_PATH": str(BUILD / "libmxnet.so"), "PYTHONPATH": str(SOURCE / "python"),
            "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}


def run(command, directory, **more):
    """The process group does not outlive the limit."""
    with subprocess.Popen([str(part) for part in command], cwd=directory, env=environment(**more), text=True,
                          start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"did not end in {SECONDS} s: {process.communicate()}")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def alone(source, directory, **more):
    """In one process that looks as if mpirun had started it."""
    return run([sys.executable, "-c", source], directory, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0", **more)


def launch(source, directory, *arguments, **more):
    return run([sys.executable, LAUNCH, *arguments, "--", sys.executable, "-c", source], directory, **more)


# ---- what is missing ---------------------------------------------------------------------------
def library_alone(folder):
    for name in ("libmxnet.so.0", "libmxprof.so.0"):
        shutil.copy((BUILD / name).resolve(), folder / name)
    return str((folder / "libmxnet.so.0").rename(folder / "libmxnet.so"))


def test_missing_plugin_names_the_package(tmp_path):
    result = alone(CREATE, tmp_path, MXNET_LIBRARY_PATH=library_alone(tmp_path))
    assert result.returncode == 1
    assert f"libmxnet_mpi.so, which a store over processes needs for that, is not at {tmp_path}/libmxnet_mpi.so" \
        in result.stderr
    assert "apt install openmpi-bin libopenmpi-dev" in result.stderr


def test_plugin_whose_libraries_are_missing_names_the_package(tmp_path):
    library = library_alone(tmp_path)
    compiler = os.environ.get("CC", "cc")
    (tmp_path / "empty.c").write_text("int gone(void); int used(void); int used(void) { return gone(); }\n")
    (tmp_path / "gone.c").write_text("int gone(void); int gone(void) { return 1; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "libgone.so", "gone.c"], cwd=tmp_path, check=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "libmxnet_mpi.so", "empty.c", "-L.", "-lgone"], cwd=tmp_path,
                   check=True)
    (tmp_path / "libgone.so").unlink()
    result = alone(CREATE, tmp_path, MXNET_LIBRARY_PATH=library)
    assert result.returncode == 1
    assert "libmxnet_mpi.so cannot be loaded: libgone.so" in result.stderr
    assert "apt install openmpi-bin libopenmpi-dev" in result.stderr


@pytest.mark.skipif(not HAS_PLUGIN, reason="needs libmxnet_mpi.so (libopenmpi-dev)")
def test_another_mpi_is_told_before_it_is_initialised(tmp_path):
    (tmp_path / "other.c").write_text("""
#include <stdlib.h>
#include <string.h>
int MPI_Get_library_version(char *text, int *length)
{ strcpy(text, "MPICH Version:\\t4.0.2\\nand more"); *length = (int)strlen(text); return 0; }
int MPI_Init_thread(int *count, char ***arguments, int level, int *got)
{ (void)count; (void)arguments; (void)level; (void)got; abort(); }
""")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "other.so", "other.c"], cwd=tmp_path, check=True)
    result = alone(CREATE, tmp_path, LD_PRELOAD=str(tmp_path / "other.so"))
    assert result.returncode == 1, result.stderr
    assert re.search(r"was compiled for Open MPI v\d\.\d and has found MPICH Version:\t4\.0\.2:", result.stderr)


# ---- what does not fit -------------------------------------------------------------------------
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "oob_tcp_if_include", "lo",
          "--mca", "btl_tcp_if_include", "lo"]


def parts(*roles):
    """A line of mpirun with one process for each role, None for no role."""
    line = list(MPIRUN)
    for number, role in enumerate(roles):
        line += [":"] if number else []
        line += ["-n", "1"] + (["-x", f"DMLC_ROLE={role}"] if role else []) + [sys.executable, "-c", CREATE]
    return line


@needs_mpi
@pytest.mark.parametrize("roles, variables, said", [
    (("server", "worker"), {"DMLC_NUM_SERVER": "2"}, r"DMLC_NUM_SERVER=2, and the job has 1 server; have: server 0 \("),
    (("server", "worker"), {"DMLC_NUM_WORKER": "3"}, r"DMLC_NUM_WORKER=3, and the job has 1 worker; have: "),
    (("worker", "worker"), {}, r"the job has no servers: leave out DMLC_ROLE"),
    (("server", "server"), {}, r"the job has no workers: "),
    (("worker", None), {}, r"some processes of the job have DMLC_ROLE and some have not; have: worker 0 \("),
    (("server", "sever"), {}, r"DMLC_ROLE='sever': 'worker', 'server' and 'scheduler' are valid"),
])
def test_roles_that_do_not_fit_end_the_job_with_the_reason(roles, variables, said, tmp_path):
    result = run(parts(*roles), tmp_path, **variables)
    assert result.returncode != 0
    assert re.search(said, result.stderr), result.stderr


INITIALISED = """
import ctypes
mpi = ctypes.CDLL('libmpi.so.40', mode=ctypes.RTLD_GLOBAL)
got = ctypes.c_int()
assert mpi.MPI_Init_thread(None, None, {level}, ctypes.byref(got)) == 0
""" + CREATE + """
out = mx.nd.zeros((2,))
store.init('a', out)
store.push('a', mx.nd.ones((2,)))
store.pull('a', out=out)
print('sum', out.asnumpy()[0])
mx.nd.waitall()
store.barrier()
"""


@needs_mpi
def test_program_that_has_initialised_mpi_without_threads_is_refused(tmp_path):
    result = run([*MPIRUN, "-n", "2", sys.executable, "-c", INITIALISED.format(level=1)], tmp_path)
    assert result.returncode != 0
    assert "has initialised MPI without MPI_THREAD_MULTIPLE" in result.stderr


@needs_mpi
def test_program_that_has_initialised_mpi_with_threads_has_a_store(tmp_path):
    result = run([*MPIRUN, "-n", "2", sys.executable, "-c", INITIALISED.format(level=3)], tmp_path)
    assert result.stdout.count("sum 2.0") == 2, result.stderr


@needs_mpi
def test_handlers_of_the_program_are_its_own_after_the_start(tmp_path):
    source = "import signal\nsignal.signal(signal.SIGABRT, lambda *_: print('mine', flush=True))\n" + CREATE + \
        "import os\nos.kill(os.getpid(), signal.SIGABRT)\nimport time\ntime.sleep(0.1)\nstore.barrier()\n"
    result = run([*MPIRUN, "-n", "2", sys.executable, "-c", source], tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("mine") == 2


@needs_mpi
def test_one_process_is_a_job(tmp_path):
    result = launch(CREATE + "print(store.rank, store.num_workers)\n", tmp_path, "-n", "1")
    assert (result.returncode, result.stdout) == (0, "0 1\n"), result.stderr


# ---- deaths ------------------------------------------------------------------------------------
@needs_mpi
@pytest.mark.parametrize("act, code", [("os.kill(os.getpid(), signal.SIGKILL)", 137), ("os._exit(3)", 3),
                                       ("raise ValueError('mine')", 1)])
@pytest.mark.parametrize("servers", [0, 1])
def test_death_ends_all_and_the_starter_names_it(act, code, servers, tmp_path):
    result = launch(TRAINING.format(act=act), tmp_path, "-n", "3", "-s", str(servers), MXNET_KVSTORE_GRACE="0.3")
    named = re.findall(r"^mxnet: worker 1 \(rank \d, host \S+, pid \d+\) died; this was (worker [02]|server 0)",
                       result.stderr, re.MULTILINE)
    assert sorted(set(named)) == sorted(["worker 0", "worker 2"] + ["server 0"] * servers), result.stderr
    assert len(named) == 2 + servers
    said = result.stderr.splitlines()[-1]
    assert said.startswith("mxnet-launch: worker 1 (rank "), result.stderr
    # On a busy machine mpirun may see a survivor end before the dead one.
    assert result.returncode == (70 if "which the starter saw end first" in said else code), result.stderr


@needs_mpi
def test_error_of_a_death_can_be_caught_and_the_job_fails_all_the_same(tmp_path):
    source = TRAINING.format(act="os.kill(os.getpid(), signal.SIGKILL)").replace(
        "    store.push", "  try:\n    store.push").replace(
        "    if step", "  except mx.MXNetError as error:\n    print('saved:', error, flush=True)\n    sys.exit(0)\n"
                       "  else:\n    if step")
    result = launch(source, tmp_path, "-n", "3", MXNET_KVSTORE_GRACE="5")
    assert len(re.findall(r"saved: .*worker 1 \(rank 1, host \S+, pid \d+\) died; this was worker [02]",
                          result.stdout)) == 2, result.stdout + result.stderr
    assert result.returncode == 137


STUCK = CREATE + """
import os, time
mx.profiler.set_config(profile_all=True, filename='none')
mx.profiler.set_state('run')
values = mx.nd.ones((1000,))
store.init('weight', values)
store.push('weight', values)
store.barrier()
if store.rank == 0:
    mx.profiler.snapshot('all.mxp', profile_process='all')
    while not all(os.path.exists(f'{name}_all.mxp') for name in ('worker0', 'worker1', 'server0')):
        time.sleep(0.05)
    open('seen', 'w').close()
while not os.path.exists('seen'):
    time.sleep(0.05)
"""


@needs_mpi
def test_every_process_takes_a_snapshot_while_its_program_is_elsewhere(tmp_path):
    result = launch(STUCK, tmp_path, "-n", "2", "-s", "1", MXPROF_AUTOSTART="1", MXPROF_FILENAME="none")
    assert result.returncode == 0, result.stderr
    for name in ("worker0", "worker1", "server0"):
        info = run([BUILD / "mxprof", "info", f"{name}_all.mxp"], tmp_path)
        assert info.returncode == 0, info.stderr


SLOW_STEP = CREATE + """
import time
values, out = mx.nd.ones((1000,)), mx.nd.zeros((1000,))
store.init('weight', values)
for step in range(50):
    mx.profiler.step()
    time.sleep(0.5 if (store.rank, step) == (1, 30) else 0.02)
    store.push('weight', values)
    store.pull('weight', out=out)
    out.wait_to_read()
store.barrier()
"""


@needs_mpi
def test_slow_step_of_one_process_is_kept_by_all(tmp_path):
    result = launch(SLOW_STEP, tmp_path, "-n", "2", "-s", "1", MXPROF_AUTOSTART="1", MXPROF_FULL_POLICY="ring",
                    MXPROF_SNAPSHOT_STEP_FACTOR="12", MXPROF_SNAPSHOT_FILENAME="kept.mxp")
    assert result.returncode == 0, result.stderr
    kept = sorted(path.name for path in tmp_path.glob("kept.*/*"))
    assert kept == ["server0_slow_step.mxp", "worker0_slow_step.mxp", "worker1_slow_step.mxp"], result.stderr
    assert len(list(tmp_path.glob("kept*"))) == 1


def test_a_process_alone_has_no_others_to_take_snapshots(tmp_path):
    result = run([sys.executable, "-c", "import mxnet as mx\nmx.profiler.snapshot(profile_process='all')"], tmp_path)
    assert "there are no other processes of a store" in result.stderr


@needs_mpi
def test_profile_in_memory_is_written_before_the_end(tmp_path):
    source = TRAINING.format(act="os.kill(os.getpid(), signal.SIGKILL)")
    result = launch(source, tmp_path, "-n", "3", MXPROF_AUTOSTART="1", MXPROF_STORE="memory",
                    MXPROF_FILENAME=str(tmp_path / "profile.%p.json"))
    assert result.returncode == 137, result.stderr
    died = sorted(tmp_path.glob("profile.*.died.mxp"))
    assert len(died) == 2, (list(tmp_path.iterdir()), result.stderr)
    for path in died:
        text = run([BUILD / "mxprof", "info", path], tmp_path)
        assert text.returncode == 0, text.stderr
