# SPDX-License-Identifier: Apache-2.0
"""mxprof run with programs that few profilers expect: each does what it does alone, and what it recorded is there."""
import csv
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest

from run_programs import BUILD, MXPROF, compiled, environment, run

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
HERE = pathlib.Path(__file__).parent
COLLECT = HERE.parent / "collect"


@pytest.fixture(name="program", scope="module")
def odd_program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("odd"), "odd", (HERE / "odd_program.c").read_text(), f"-I{SOURCE}/include",
                    f"-L{BUILD}", "-lmxprof", f"-Wl,-rpath,{BUILD}", "-pthread")


def counts_of(path):
    table = subprocess.run([MXPROF, "convert", path, "-o", "-", "--to", "csv"], capture_output=True, text=True,
                           timeout=60, check=True).stdout
    return {row["name"]: int(row["count"]) for row in csv.DictReader(table.splitlines()) if row["section"] == "odd"}


def files_of(folder):
    return [counts_of(file) for file in sorted(folder.glob("*.mxp"))]


# ---- ends --------------------------------------------------------------------------------------
@pytest.mark.parametrize("code", [0, 3, 125, 126, 127, 137])
def test_each_exit_code_is_the_programs_even_those_that_mean_something_here(program, tmp_path, code):
    result = run(tmp_path, "-o", "out", program, "exits", str(code))
    assert (result.returncode, result.stdout) == (code, "output\n")
    assert f"ended with {code} after" in result.stderr
    assert counts_of(tmp_path / "out") == {"work": 10, "around": 1}


def test_every_span_that_had_ended_is_there_when_the_program_is_killed(program, tmp_path):
    for number in range(5):
        page, folder = tmp_path / f"page{number}", tmp_path / f"out{number}"
        page.write_bytes(bytes(8))
        with subprocess.Popen([MXPROF, "run", "-o", folder, program, "counts", page], env=environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while page.read_bytes() == bytes(8):
                time.sleep(0.001)
            time.sleep(random.random() * 0.05)
            child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
            os.kill(child, signal.SIGKILL)
            said = process.communicate(timeout=60)[1]
        assert process.returncode == -signal.SIGKILL and "was ended by signal 9 after" in said
        ended, = struct.unpack("Q", page.read_bytes())
        assert ended <= counts_of(folder)["work"] <= ended + 1


def test_spans_that_a_thread_leaves_open_end_with_it(program, tmp_path):
    assert run(tmp_path, "-o", "out", program, "thread").returncode == 0
    assert counts_of(tmp_path / "out") == {"work": 20, "around": 2}


def test_a_fork_within_a_span_leaves_both_with_theirs(program, tmp_path):
    result = run(tmp_path, "-o", "out", program, "forks")
    assert (result.returncode, result.stdout) == (0, "output\n") and "lost nothing" in result.stderr
    first, second = files_of(tmp_path / "out")
    assert first["work"] == 20 and second["work"] == 10 and first["around"] == 1


# ---- what it does to its own process -------------------------------------------------------------
def test_files_of_a_program_that_closes_all_descriptors_stay_as_it_wrote_them(program, tmp_path):
    result = run(tmp_path, "-o", "out", program, "closes")
    assert (result.returncode, result.stdout) == (0, "output\n")
    own = [file for file in tmp_path.iterdir() if file.name.startswith("own")]
    assert len(own) == 12 and {file.read_bytes() for file in own} == {b"x" * 100}
    assert counts_of(tmp_path / "out") == {"work": 601000}


def test_a_program_that_begins_itself_anew_has_a_file_for_each(program, tmp_path):
    result = run(tmp_path, "-o", "out", program, "anew")
    assert (result.returncode, result.stdout) == (0, "output\n" * 2)
    assert sorted(file["work"] for file in files_of(tmp_path / "out")) == [10, 20]
    assert counts_of(tmp_path / "out") == {"work": 30}


def test_a_daemon_is_not_waited_for_and_records_on(program, tmp_path):
    result = run(tmp_path, "-o", "out", program, "daemon")
    assert result.returncode == 0 and not (tmp_path / "ended").exists()
    (tmp_path / "end").touch()
    until = time.monotonic() + 30
    while (found := counts_of(tmp_path / "out")) != {"work": 40} and time.monotonic() < until:
        time.sleep(0.05)
    assert found == {"work": 40}


def test_what_is_left_behind_may_record_first_when_the_program_has_ended(program, tmp_path):
    script = '(while [ ! -e end ]; do sleep 0.01; done; exec "$@") >/dev/null 2>&1 &'
    result = run(tmp_path, "-o", "out", "sh", "-c", script, "sh", program, "spans", "10")
    assert result.returncode == 0
    left, = re.findall(r"nothing was recorded yet\nmxprof: process (\d+) still runs: what it records comes into 'out'\n",
                       result.stderr)
    assert f"MXPROF_RUN={tmp_path / 'out'}" in pathlib.Path(f"/proc/{left}/environ").read_text().split("\0")
    assert "sent no marks" not in result.stderr
    (tmp_path / "end").touch()
    until = time.monotonic() + 30
    while (found := list((tmp_path / "out").glob("*.mxp")) and counts_of(tmp_path / "out")) != {"work": 10} \
            and time.monotonic() < until:
        time.sleep(0.05)
    assert found == {"work": 10}


def test_a_program_without_the_preload_has_its_marks_by_the_other_variables(program, tmp_path):
    marks = compiled(tmp_path, "marks", (COLLECT / "itt_program.c").read_text(), f"-I{COLLECT}", "-ldl", "-pthread")
    result = run(tmp_path, "-o", "out", program, "clears", marks, "tasks")
    assert result.returncode == 0 and "outer" in result.stderr


# ---- what cannot be recorded ---------------------------------------------------------------------
PLAIN = '#include <stdio.h>\nint main(void) { puts("output"); return 4; }\n'


def test_a_static_program_runs_and_is_told(tmp_path):
    program = compiled(tmp_path, "plain", PLAIN, "-static")
    result = run(tmp_path, program)
    assert (result.returncode, result.stdout) == (4, "output\n")
    assert "is linked statically" in result.stderr and "nothing was recorded" in result.stderr


def test_a_program_for_another_c_library_starts_and_is_told(tmp_path):
    if shutil.which("musl-gcc") is None:
        pytest.skip("there is no other C library")
    (tmp_path / "plain.c").write_text(PLAIN)
    subprocess.run(["musl-gcc", "plain.c", "-o", "plain"], cwd=tmp_path, check=True)
    for options in ([], ["--python", "--dnnl"]):
        result = run(tmp_path, *options, "./plain")
        assert (result.returncode, result.stdout) == (4, "output\n")
        assert "is for another C library than mxprof" in result.stderr and "nothing was recorded" in result.stderr


def test_a_program_for_another_c_library_may_be_started_by_others(tmp_path):
    if shutil.which("musl-gcc") is None:
        pytest.skip("there is no other C library")
    (tmp_path / "plain.c").write_text(PLAIN)
    subprocess.run(["musl-gcc", "plain.c", "-o", "plain"], cwd=tmp_path, check=True)
    for options in ([], ["--python", "--dnnl"]):
        result = run(tmp_path, *options, "sh", "-c", "./plain")
        assert (result.returncode, result.stdout) == (4, "output\n") and "rror" not in result.stderr


def test_a_program_with_more_rights_runs_as_it_does_alone(program, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to give the program to somebody else")
    owned = tmp_path / "owned"
    shutil.copy(program, owned)
    os.chown(owned, 65534, 65534)
    owned.chmod(0o4755)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    result = run(tmp_path, "-o", "out", owned, "spans", "10")
    if result.returncode == 127:
        pytest.skip("its library cannot be reached by somebody else")
    assert (result.returncode, result.stdout) == (0, "output\n")
    assert "has more rights than who starts it" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_script_without_its_first_line_is_no_program(tmp_path):
    (tmp_path / "script").write_text("echo output\n")
    (tmp_path / "script").chmod(0o755)
    result = run(tmp_path, "./script")
    assert (result.returncode, result.stdout) == (126, "")
    assert "cannot run './script': Exec format error; a script needs a first line like #!/bin/sh" in result.stderr
    result = run(tmp_path, "sh", "./script")
    assert (result.returncode, result.stdout) == (0, "output\n")


def test_an_interpreter_that_is_not_there_is_told(tmp_path):
    (tmp_path / "script").write_text("#!/nowhere/python\nprint()\n")
    (tmp_path / "script").chmod(0o755)
    result = run(tmp_path, "./script")
    assert result.returncode == 127 and "it is there, but not the interpreter of its first line" in result.stderr
    assert "interpreter" not in run(tmp_path, "./nothing").stderr


def test_a_program_for_another_processor_is_told(tmp_path):
    head = bytearray(pathlib.Path(sys.executable).resolve().read_bytes()[:4096])
    head[18:20] = (20 if head[18] != 20 else 21).to_bytes(2, sys.byteorder)  # a PowerPC
    (tmp_path / "other").write_bytes(head)
    (tmp_path / "other").chmod(0o755)
    result = run(tmp_path, "./other")
    assert result.returncode == 126 and "is for another processor or word size" in result.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "other"]


# ---- where it cannot be written ------------------------------------------------------------------
def test_without_a_folder_the_program_does_not_begin(program, tmp_path):
    result = run(tmp_path, "-o", "/proc/run", program, "spans")
    assert (result.returncode, result.stdout) == (125, "")
    assert "cannot make the folder '/proc/run'" in result.stderr


@pytest.fixture(name="disk")
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", disk], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_not_the_programs_trouble(program, disk, tmp_path):
    """Nor does it work on what is lost, or wait for each: counted, because how long it takes is the machine's affair."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run(tmp_path, "-o", disk / "out", program, "spans", "300000")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (result.returncode, result.stdout) == (0, "output\n")
    lost = int(next(word for word in result.stderr.partition("; lost ")[2].split()).replace(",", ""))
    # A mark of the session's may be among the lost.
    assert 300000 <= counts_of(disk / "out")["work"] + lost <= 300002 and lost > 100000
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2
    assert after.ru_nvcsw - before.ru_nvcsw < 1000
    assert re.search(r"after [0-9.]+ s", result.stderr)


def test_a_folder_that_cannot_be_written_any_more_is_not_the_programs_trouble(program, disk, tmp_path):
    script = f'umask 0; mount -o remount,ro {disk} && exec "$@"'
    result = run(tmp_path, "-o", disk / "out", "sh", "-c", script, "sh", program, "spans")
    assert (result.returncode, result.stdout) == (0, "output\n") and "nothing was recorded" in result.stderr
    assert "Read-only file system" in result.stderr


def test_a_limit_of_memory_is_the_programs(program, tmp_path):
    """An address space that has room for the program and little else."""
    result = run(tmp_path, "-o", "out", "sh", "-c", 'ulimit -v 60000; exec "$@"', "sh", program, "spans", "100000")
    assert (result.returncode, result.stdout) == (0, "output\n")


def test_records_that_found_no_memory_at_all_are_told(program, tmp_path):
    result = run(tmp_path, "-o", "out", program, "starves")
    assert (result.returncode, result.stdout) == (0, "output\n")
    assert "10 records are lost: there was no memory for the first one of a thread" in result.stderr
    assert "nothing was recorded" in result.stderr
