# SPDX-License-Identifier: Apache-2.0
"""The start's probe, and what `explain DIR` makes of it, with real processes of this machine: over a way that is slowed down
beneath the library the network is named, with the rate that the program's own stamps tell; whoever dies while a probe goes on is
named by the others, and nothing waits."""
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

import local_job
import pytest

MB = 1e6
STEPS, BYTES, LINK, JOBS = 24, 1_000_000, 20_000_000, 4

needs_runtime = pytest.mark.skipif(not local_job.HAS_RUNTIME, reason="the runtime is not built")
has_mpi = shutil.which("mpirun") is not None and (local_job.BUILD / "libmxnet_mpi.so").is_file()

# Over a slow way processes ask for precedence, because what is measured is the way, not who else has the machine. What the clock read before each
# push and after the pull goes to a file of its rank.
PROGRAM = f"""
import json, os, pathlib, sys, time
try:
    if "MXPROF_TEST_LINK" in os.environ:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
except PermissionError:
    pass
import mxnet as mx
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((int(sys.argv[2]) // 4,)), mx.nd.zeros((int(sys.argv[2]) // 4,))
kv.init("a", value)
stamps = []
for step in range({STEPS}):
    mx.profiler.step()
    begin = time.monotonic_ns()
    kv.push("a", value)
    kv.pull("a", out)
    out.wait_to_read()
    stamps.append([begin, time.monotonic_ns()])
    assert out.asnumpy()[-1] == kv.num_workers
kv.barrier()
pathlib.Path(sys.argv[1], "stamps%d.json" % kv.rank).write_text(json.dumps(stamps))
"""


@pytest.fixture(scope="module")
def slow_link(tmp_path_factory):
    library = tmp_path_factory.mktemp("link") / "throttled.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).with_name("throttled_link.c")], check=True)
    return str(library)


def between(folder):
    result = subprocess.run([local_job.BUILD / "mxprof", "explain", "--json", folder], capture_output=True, text=True,
                            timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["between_ranks"]


def seen_rates(at):
    """By rank: bytes there and back over the time between the stamps, of each step."""
    stamps = [json.loads((at / f"stamps{rank}.json").read_text()) for rank in (0, 1)]
    return [[2 * BYTES / (end - begin) * 1e9 for begin, end in of] for of in stamps]


def was_let_run(rates, found):
    """A way that carries LINK bytes a second was used as such in nearly all steps, and by the probe: else somebody else had the
    machine, and the way was not what was slow."""
    steps = min(statistics.quantiles(of, n=10)[0] for of in rates) > 0.88 * LINK
    return steps and all(abs(link["probe"]["bytes_per_s"] - LINK) < 0.1 * LINK for link in found["links"])


@needs_runtime
def test_a_slow_way_is_named_with_the_rate_that_the_program_sees(tmp_path, slow_link):
    for job in range(JOBS):
        at = tmp_path / str(job)
        local_job.run(PROGRAM, at, BYTES, folder=at / "job", LD_PRELOAD=slow_link, MXPROF_TEST_LINK=str(LINK))
        found, rates = between(at / "job"), seen_rates(at)
        for link in found["links"]:
            # There and back by the program's own clock: what the messages took cannot be longer, nor their rate lower.
            seen = statistics.median(rates[int(link["worker"].split()[1])])
            assert seen * 0.98 <= link["bytes_per_s"]["median"] <= 1.25 * seen
            assert link["network_ns"]["median"] <= 1.02 * link["step_ns"]
        if was_let_run(rates, found):
            assert found["bound"] == "network" and found["full_links"] == 2
            return
    pytest.skip(f"others had the machine in all of {JOBS} jobs")


@needs_runtime
def test_with_two_levels_the_ways_of_hosts_sums_are_named(tmp_path, slow_link):
    """Two hosts of two workers: a sum of each goes to the server, so two ways are full, and what workers of a host send one another
    is no way, though it is as slow here."""
    for job in range(JOBS):
        at = tmp_path / str(job)
        local_job.run(PROGRAM, at, BYTES, folder=at / "job", workers=4, LD_PRELOAD=slow_link, MXPROF_TEST_LINK=str(LINK),
                      MXNET_KVSTORE_LEVELS="2", MXNET_KVSTORE_HOSTS="0,0,1,1")
        found = between(at / "job")
        assert found["links_of_hosts"] and len(found["links"]) == 4
        used = [link for link in found["links"] if link["bytes_per_s"]["median"] > 0]
        assert len({int(link["worker"].split()[1]) // 2 for link in used}) == len(used) == 2
        for link in used:
            # By the bytes that a link carries a second, a megabyte there and back.
            assert link["network_ns"]["median"] >= 0.95 * 2 * BYTES / LINK * 1e9
        if all(link["bytes_per_s"]["median"] > 0.88 * LINK and abs(link["probe"]["bytes_per_s"] - LINK) < 0.1 * LINK for link in used):
            assert found["bound"] == "network" and found["full_links"] == 2
            return
    pytest.skip(f"others had the machine in all of {JOBS} jobs")


@needs_runtime
def test_a_way_that_is_not_slow_is_not_named(tmp_path):
    folder = tmp_path / "job"
    local_job.run(PROGRAM, tmp_path, 4000, folder=folder)
    found = between(folder)
    assert found["bound"] != "network" and found["full_links"] == 0
    assert all(link["probe"]["bytes_per_s"] > 0 for link in found["links"])


# The first worker that comes is not profiled.
SOME = """
import os, sys
if os.environ["DMLC_ROLE"] == "worker":
    try:
        os.mkdir(os.path.join(sys.argv[1], "first"))
        os.environ.pop("MXPROF_RUN")
    except FileExistsError:
        pass
""" + PROGRAM


@needs_runtime
@pytest.mark.parametrize("variables", [{}, {"MXPROF_DISTRIBUTED_DETAIL": "statistics"}])
def test_some_may_be_profiled_and_others_not(tmp_path, variables):
    local_job.run(SOME, tmp_path, 4000, folder=tmp_path / "job", **variables)
    assert (tmp_path / "stamps0.json").exists() and (tmp_path / "stamps1.json").exists()
    assert probes(tmp_path / "job") == 1


def probes(folder):
    """How many of the files have a probe."""
    count = 0
    for file in sorted(folder.iterdir()):
        subprocess.run([local_job.BUILD / "mxprof", "convert", file, "-o", folder.parent / "one.json"], check=True, timeout=60)
        trace = json.loads((folder.parent / "one.json").read_text())
        count += sum(event.get("name") == "KVStore probe" and event["ph"] == "b" for event in trace["traceEvents"])
    return count


@needs_runtime
def test_a_probe_can_be_left_out(tmp_path):
    local_job.run(PROGRAM, tmp_path, 4000, folder=tmp_path / "job", MXNET_KVSTORE_PROBE="0")
    assert probes(tmp_path / "job") == 0
    found = between(tmp_path / "job")
    assert found["bound"] == "unknown" and found["network_unknown"] == "no probe was recorded"


# Says when its store is there: then its probe goes on, for seconds.
DYING = """
import os, pathlib, sys
import mxnet as mx
if os.environ["DMLC_ROLE"] == "worker":
    kv = mx.kv.create("dist_sync")
    pathlib.Path(sys.argv[1], "rank%d" % kv.rank).write_text(str(os.getpid()))
    kv.init("a", mx.nd.ones((10,)))
    kv.barrier()
    print("not reached")
"""


@needs_runtime
@pytest.mark.parametrize("victim", ["rank0", "rank1", "server"])
def test_a_death_while_it_goes_on_is_told_by_all(tmp_path, slow_link, victim):
    environment = {**os.environ, "PYTHONPATH": str(local_job.SOURCE / "python"), "MXNET_LIBRARY_PATH": str(local_job.BUILD),
                   "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(local_job.free_port()), "DMLC_NUM_WORKER": "2",
                   "DMLC_NUM_SERVER": "1", "MXPROF_RUN": str(tmp_path / "job"), "LD_PRELOAD": slow_link, "MXPROF_TEST_LINK": "2000000"}
    (tmp_path / "job").mkdir()
    started = [subprocess.Popen([sys.executable, "-c", DYING, tmp_path], cwd=tmp_path, env={**environment, "DMLC_ROLE": role},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for role in ("scheduler", "server", "worker", "worker")]
    try:
        ranks = [tmp_path / "rank0", tmp_path / "rank1"]
        end = time.monotonic() + 50
        while not all(rank.exists() and rank.read_text() for rank in ranks):
            assert time.monotonic() < end
            time.sleep(0.01)
        pid = started[1].pid if victim == "server" else int((tmp_path / victim).read_text())
        os.kill(pid, signal.SIGKILL)
        for process in started:
            out, err = process.communicate(timeout=40)
            assert "not reached" not in out
            assert process.returncode != 0
            if process.pid != pid:
                assert f"pid {pid}" in err and ("died" in err or "ended without a word" in err)  # the latter where news are late
    finally:
        for process in started:
            process.kill()
    assert probes(tmp_path / "job") == 0


def launch(at, program, *arguments):
    """Two processes that mpirun starts, with owners inside; their files are in `at` / "job"."""
    environment = {**os.environ, "PYTHONPATH": str(local_job.SOURCE / "python"), "MXNET_LIBRARY_PATH": str(local_job.BUILD),
                   "MXPROF_RUN": str(at / "job"), "OMP_NUM_THREADS": "1"}
    (at / "job").mkdir()
    return subprocess.run([sys.executable, "-m", "mxnet.launch", "-n", "2", "--allow-run-as-root", "--", sys.executable, "-c", program,
                           *map(str, arguments)], cwd=at, env=environment, capture_output=True, text=True, timeout=100, check=False)


needs_mpi = pytest.mark.skipif(not has_mpi, reason="needs mpirun and libmxnet_mpi.so")


@needs_runtime
@needs_mpi
def test_processes_that_mpirun_starts_probe_too(tmp_path):
    result = launch(tmp_path, PROGRAM, tmp_path, 8_000_000)  # long enough for both owners
    assert result.returncode == 0, result.stderr
    assert probes(tmp_path / "job") == 2
    found = between(tmp_path / "job")
    for link in found["links"]:
        assert link["probe"]["least"] <= link["probe"]["bytes_per_s"] <= link["probe"]["most"]
        assert link["bytes_per_s"]["median"] > 0 and link["probe"]["elsewhere"] is False


# The probe begins 5 ms after the store at the earliest, and takes some 30 ms.
KILLED = """
import os, pathlib, sys, time
import mxnet as mx
kv = mx.kv.create("dist_sync")
time.sleep(float(sys.argv[2]))
if kv.rank == int(sys.argv[1]):
    os.kill(os.getpid(), 9)
kv.init("a", mx.nd.ones((10,)))
kv.barrier()
pathlib.Path("reached").touch()
"""


@needs_runtime
@needs_mpi
@pytest.mark.parametrize("victim, seconds", [(0, 0.006), (1, 0.01), (1, 0.02)])
def test_a_death_at_the_start_ends_them_too(tmp_path, victim, seconds):
    result = launch(tmp_path, KILLED, victim, seconds)
    assert result.returncode != 0
    assert f"worker {victim} (rank {victim}, " in result.stderr and "died" in result.stderr
    assert not (tmp_path / "reached").exists()


SLOW = """
import time
import mxnet as mx
@mx.optimizer.register
class Slow(mx.optimizer.Optimizer):
    def update(self, index, weight, grad, state):
        time.sleep(0.05)
        weight[:] = weight + grad
"""
OWNED = f"""
import json, os, pathlib, sys, time
sys.path.insert(0, sys.argv[1])
import mxnet as mx
import slow_optimizer
kv = mx.kv.create("dist_sync")
value, out = mx.nd.ones((1000,)), mx.nd.zeros((1000,))
kv.init("a", value)
kv.set_optimizer(mx.optimizer.create("slow"))
for step in range({STEPS}):
    mx.profiler.step()
    kv.push("a", value)
    kv.pull("a", out)
    out.wait_to_read()
kv.barrier()
"""


@needs_runtime
def test_an_owner_that_takes_longest_is_named(tmp_path):
    (tmp_path / "slow_optimizer.py").write_text(SLOW)
    path = f"{tmp_path}:{local_job.SOURCE / 'python'}"
    local_job.run(OWNED, tmp_path, folder=tmp_path / "job", PYTHONPATH=path, MXNET_KVSTORE_OPTIMIZER_MODULES="slow_optimizer")
    found = between(tmp_path / "job")
    assert found["bound"] == "owners" and found["owner_bound"] is True and found["full_links"] == 0
    # The optimizer sleeps 50 ms, and a step is hardly more. Its share of all is told of the middle step:
    # one step that is long because others have the cores makes it less.
    assert 30e6 <= found["owner_ns"] <= found["step_ns"] * 1.1
