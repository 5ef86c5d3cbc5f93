# SPDX-License-Identifier: Apache-2.0
"""What a profiled program may do, and what may happen to the folder of its recording: its own files, its
output and its exit code are as without the profiler, and what it recorded is in the files or counted as
lost; where no file can be left, a line on stderr says so."""
import ctypes
import json
import os
import pathlib
import re
import resource
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
SPANS = 300000  # 4.8 MB: more than the limit of the recording, and than a full folder holds
SMALL_BYTES = 2 << 20
LOG = "".join(f"line {i} of the log of a program\n" for i in range(50000))
OUTPUT = "".join(f"output {i}\n" for i in range(1000))
PRECIOUS = bytes(range(256)) * 1200
PR_SET_CHILD_SUBREAPER = 36

STORES = {
    "grow": {"MXPROF_STORE": "file", "MXPROF_FULL_POLICY": "grow"},
    "ring": {"MXPROF_STORE": "file", "MXPROF_FULL_POLICY": "ring"},
    "drop": {"MXPROF_STORE": "file", "MXPROF_FULL_POLICY": "drop"},
    "memory": {"MXPROF_STORE": "memory", "MXPROF_CONTINUOUS_DUMP": "1", "MXPROF_DUMP_PERIOD": "0.02"},
}


@pytest.fixture(name="program", scope="module")
def compiled_program(tmp_path_factory):
    program = tmp_path_factory.mktemp("harm") / "harm"
    subprocess.run(["cc", "-O1", SOURCE / "tests/cli/harm_program.c", "-o", program, f"-I{SOURCE}/include",
                    f"-L{BUILD}", "-lmxprof", f"-Wl,-rpath,{BUILD}"], check=True)
    return program


@pytest.fixture(name="store", params=STORES)
def each_store(request):
    return request.param


@pytest.fixture(name="code", params=[0, 7])
def each_code(request):
    return request.param


@pytest.fixture(name="world")
def folders(program, tmp_path):
    """A folder for the recording, with a file of somebody else, and one for the program's own."""
    (tmp_path / "trace").mkdir()
    (tmp_path / "own").mkdir()
    # Something is there before: a log is opened to be written over, not made anew.
    (tmp_path / "own/log").write_text("x" * len(LOG))
    (tmp_path / "own/other").write_bytes(PRECIOUS)
    return World(program, tmp_path / "trace", tmp_path / "own")


class World:
    def __init__(self, program, trace, own):
        self.program, self.trace, self.own = program, trace, own
        self.errors = ""

    def precious(self):
        (self.trace / "other.txt").write_bytes(PRECIOUS)

    def run(self, store, how, code, **options):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
        environment.update(STORES[store], MXNET_PROFILER_AUTOSTART="1", MXPROF_NATIVE_FILENAME="t.mxp",
                           MXPROF_MEMORY_LIMIT_BYTES="4M" if store != "memory" else "64M")
        result = subprocess.run([self.program, how, self.trace, self.own / "log", str(SPANS), str(code)],
                                cwd=self.trace, env=environment, capture_output=True, text=True, timeout=120,
                                check=False, **options)
        self.errors = result.stderr
        assert result.stdout == OUTPUT
        return result.returncode

    def assert_unharmed(self):
        assert (self.own / "log").read_text() == LOG
        assert (self.own / "other").read_bytes() == PRECIOUS
        assert sorted(os.listdir(self.own)) in (["log", "other"], ["log", "log.pid", "other"])
        if (self.trace / "other.txt").exists():
            assert (self.trace / "other.txt").read_bytes() == PRECIOUS

    def traces(self):
        return sorted(self.trace.glob("*.mxp"))

    def assert_counted(self, whole=True):
        """All spans are in the files, or lost, or made room in a ring; so are marks of the session."""
        files = self.traces()
        assert files, self.errors
        assert not [name for name in os.listdir(self.trace) if not name.endswith((".mxp", ".txt"))]
        counted = sum(count_of(file, whole) for file in files)
        assert SPANS <= counted <= SPANS + 2 * len(files), self.errors

    def assert_told(self, pattern):
        assert re.search(r"^mxprof: .*" + pattern, self.errors, re.MULTILINE), self.errors


def mxprof(*arguments):
    result = subprocess.run([BUILD / "mxprof", *arguments], capture_output=True, text=True, timeout=60,
                            check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def count_of(file, whole):
    info = mxprof("info", file)
    assert not whole or ", whole" in info
    report = json.loads(mxprof("report", "--layout", "mxnet", "--json", file))
    made_room = re.search(r"(\d+) older records made room", info)
    return (report["Time"]["app"]["work"]["Count"] + report["Report"]["Lost"] +
            (int(made_room[1]) if made_room else 0))


# ---- descriptors -------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["range", "loop"])
def test_program_that_closes_all_descriptors_keeps_its_files_and_its_recording(world, store, code, how):
    world.precious()
    assert world.run(store, how, code) == code
    world.assert_unharmed()
    world.assert_counted()
    assert world.errors == ""


@pytest.fixture(name="orphans")
def adopted_orphans():
    libc = ctypes.CDLL(None)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.mark.usefixtures("orphans")
def test_daemon_writes_its_log_and_records_on(world, store, code):
    world.precious()
    assert world.run(store, "daemon", code) == 0  # the process that was started; its output ends last
    daemon = int((world.own / "log.pid").read_text())
    _, status = os.waitpid(daemon, 0)
    assert os.waitstatus_to_exitcode(status) == code
    world.assert_unharmed()
    if store == "memory":  # a child of it records nothing unasked, and _exit writes nothing
        assert str(daemon) not in "".join(file.name for file in world.traces())
        return
    assert [file.name for file in world.traces()] == [f"t.{daemon}.mxp", "t.mxp"]
    world.assert_counted(whole=False)


# ---- folders -----------------------------------------------------------------------------------
def mount(folder, *options):
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "none", folder],
                          capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("no file system can be mounted here")


@pytest.fixture(name="small_disk")
def mounted_small_disk(world):
    mount(world.trace, f"size={SMALL_BYTES}")
    yield world
    subprocess.run(["umount", "-l", world.trace], check=True)


@pytest.fixture(name="fixed_disk")
def mounted_disk_that_cannot_be_written(world):
    mount(world.trace, f"size={SMALL_BYTES}")
    try:
        world.precious()
        subprocess.run(["mount", "-o", "remount,ro", world.trace], check=True)
        yield world
    finally:
        subprocess.run(["umount", "-l", world.trace], check=True)


def assert_what_did_not_fit_is_counted_or_told(world, store):
    world.assert_unharmed()
    if store == "memory":
        world.assert_told("cannot write .*t.mxp")
        return
    world.assert_counted(whole=False)


def test_full_disk_ends_neither_the_program_nor_the_count(small_disk, store, code):
    small_disk.precious()
    assert small_disk.run(store, "nothing", code) == code
    assert_what_did_not_fit_is_counted_or_told(small_disk, store)


def test_limit_of_a_files_size_ends_neither_the_program_nor_the_count(world, store, code):
    world.precious()
    limit = (SMALL_BYTES, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert world.run(store, "nothing", code,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)) == code
    assert_what_did_not_fit_is_counted_or_told(world, store)


def test_folder_that_cannot_be_written_is_told(fixed_disk, store, code):
    assert fixed_disk.run(store, "nothing", code) == code
    fixed_disk.assert_unharmed()
    fixed_disk.assert_told("t.mxp.*Read-only file system")
    assert os.listdir(fixed_disk.trace) == ["other.txt"]


def test_folder_that_is_removed_while_the_program_records_is_told(world, store, code):
    assert world.run(store, "removed", code) == code
    world.assert_unharmed()
    world.assert_told("removed or replaced" if store != "memory" else "cannot write .*t.mxp")
    assert not world.trace.exists()
