# SPDX-License-Identifier: Apache-2.0
"""`mxprof snapshot`: who gets the signal and who does not, and which file is the answer."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()

PROGRAM = r"""
import ctypes, os, signal, sys, time
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
lib.mxp_intern.argtypes = ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int
work = lib.mxp_intern(b"app", b"work", 1, 0)
def spans(count):
    for _ in range(count):
        lib.mxp_end(work, lib.mxp_begin(16, work))
spans(5)
"""
WAIT = r"""
def wait_for_sign(text, there=True):
    while (text in open("/proc/self/maps").read()) != there:
        time.sleep(0.01)
"""
GOES_ON = r"""
print("ready", flush=True)
while True:
    spans(1)
    time.sleep(0.01)
"""
OWN_HANDLER = 'signal.signal(signal.SIGUSR2, lambda *_: print("got it", flush=True))\n'


def start(program, folder, autostart=True, stderr=None, **variables):
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
    environment.update(variables, MXNET_PROFILER_AUTOSTART="1" if autostart else "0")
    process = subprocess.Popen([sys.executable, "-c", program, BUILD / "libmxprof.so"], cwd=folder,
                               env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def snapshot(*arguments):
    return subprocess.run([BUILD / "mxprof", "snapshot", *map(str, arguments)], capture_output=True,
                          text=True, timeout=60, check=False)


def end(process):
    process.kill()
    return process.communicate()[0]


def name_of(process, number):
    return re.compile(rf"snapshot(\.{process.pid})?\.{number}\.mxp")


def test_a_program_of_another_kind_gets_no_signal(tmp_path):
    process = start("import signal, time\n" + OWN_HANDLER + 'print("ready", flush=True)\ntime.sleep(60)',
                    tmp_path)
    result = snapshot(process.pid)
    time.sleep(0.2)
    assert result.returncode == 1 and "no signal was sent" in result.stderr
    assert end(process) == ""


def test_a_program_with_the_library_and_a_handler_of_its_own_gets_no_signal(tmp_path):
    process = start(PROGRAM + OWN_HANDLER + GOES_ON, tmp_path)
    result = snapshot(process.pid)
    time.sleep(0.2)
    assert result.returncode == 1 and "snapshot_signal on" in result.stderr
    assert end(process) == ""


def test_a_program_that_has_taken_the_signal_over_since_gets_none(tmp_path):
    process = start(PROGRAM + WAIT + "wait_for_sign('mxprof-snapshot')\n" + OWN_HANDLER +
                    "wait_for_sign('mxprof-snapshot', False)\n" + GOES_ON,
                    tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    result = snapshot(process.pid)
    time.sleep(0.2)
    assert result.returncode == 1, result.stdout
    assert end(process) == ""


def test_who_has_taken_the_signal_over_is_told_what_helps(tmp_path):
    process = start(PROGRAM + WAIT + "wait_for_sign('mxprof-snapshot')\n" + OWN_HANDLER +
                    "wait_for_sign('mxprof-snapshot', False)\n" + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    result = snapshot(process.pid)
    end(process)
    assert "although MXPROF_SNAPSHOT_SIGNAL asks for them" in result.stderr and "RTMIN+1" in result.stderr


@pytest.mark.parametrize("value, number", [("RTMIN+3", signal.SIGRTMIN + 3), (str(int(signal.SIGUSR1)), signal.SIGUSR1)])
def test_another_signal_takes_snapshots_beside_the_programs_own(value, number, tmp_path):
    process = start(PROGRAM + OWN_HANDLER + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL=value)
    try:
        result = snapshot(process.pid)
        assert result.returncode == 0, result.stderr
        assert (tmp_path / result.stdout.strip()).exists()
        caught = re.search(r"SigCgt:\s+(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]
        assert int(caught, 16) >> (number - 1) & 1
    finally:
        assert end(process) == ""  # its own signal did not come


@pytest.mark.parametrize("value", ["65", "RTMIN+31", "RTMIN+18446744073709551615", "RTMIN", "USR1", "-1", "1.5", ""])
def test_what_is_no_signal_is_told(value, tmp_path):
    with open(tmp_path / "stderr", "w") as stderr:
        end(start(PROGRAM + GOES_ON, tmp_path, stderr=stderr, MXPROF_SNAPSHOT_SIGNAL=value))
    told = (tmp_path / "stderr").read_text()
    assert ("is ignored: " in told and "SIGUSR2" in told and "RTMIN+1" in told) == (value != "")


def test_a_snapshot_comes_from_the_process_that_was_asked(tmp_path):
    one = start(PROGRAM + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    other = start(PROGRAM + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    try:
        for process in (one, other, one):
            result = snapshot(process.pid)
            assert result.returncode == 0, result.stderr
            info = subprocess.run([BUILD / "mxprof", "info", result.stdout.strip()],
                                  capture_output=True, text=True, check=True).stdout
            assert f"process {process.pid}" in info
    finally:
        end(one)
        end(other)


def test_a_stopped_process_is_told_at_once_and_writes_when_it_goes_on(tmp_path):
    process = start(PROGRAM + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1")
    try:
        assert snapshot(process.pid).returncode == 0
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        before = time.monotonic()
        result = snapshot("--timeout", 60, process.pid)
        assert time.monotonic() - before < 30
        assert result.returncode == 1 and "is stopped" in result.stderr
        process.send_signal(signal.SIGCONT)
        for _ in range(200):
            if any(name_of(process, 2).fullmatch(path.name) for path in tmp_path.iterdir()):
                return
            time.sleep(0.1)
        raise AssertionError(list(tmp_path.iterdir()))
    finally:
        end(process)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes its root")
def test_a_snapshot_of_a_process_with_another_root_is_found(tmp_path):
    (tmp_path / "srv").mkdir()
    program = PROGRAM.replace("spans(5)\n", f"os.chroot({str(tmp_path)!r})\nos.chdir('/')\nspans(5)\n")
    process = start(program + GOES_ON, tmp_path, MXPROF_SNAPSHOT_SIGNAL="1",
                    MXPROF_SNAPSHOT_FILENAME="/srv/snapshot.mxp")
    try:
        result = snapshot(process.pid)
        assert result.returncode == 0, result.stderr
        found = pathlib.Path(result.stdout.strip())
        assert name_of(process, 1).fullmatch(found.name)
        assert [path.name for path in (tmp_path / "srv").iterdir()] == [found.name]
        assert found.exists()
    finally:
        end(process)


def test_a_name_that_is_set_by_a_call_is_known(tmp_path):
    (tmp_path / "called").mkdir()
    name = str(tmp_path / "called" / "snapshot.mxp")
    call = ("lib.mxp_session_get.restype = ctypes.c_void_p\n"
            "lib.mxp_session_configure_pairs.argtypes = [ctypes.c_void_p, ctypes.c_int,"
            " ctypes.c_void_p, ctypes.c_void_p]\n"
            "keys = (ctypes.c_char_p * 1)(b'snapshot_filename')\n"
            f"values = (ctypes.c_char_p * 1)({name.encode()!r})\n"
            "assert lib.mxp_session_configure_pairs(lib.mxp_session_get(), 1, keys, values) == 0\n")
    process = start(PROGRAM + WAIT + call + "wait_for_sign('/called/')\n" + GOES_ON, tmp_path,
                    MXPROF_SNAPSHOT_SIGNAL="1")
    try:
        result = snapshot(process.pid)
        assert result.returncode == 0, result.stderr
        assert pathlib.Path(result.stdout.strip()).parent == tmp_path / "called"
    finally:
        end(process)


@pytest.mark.parametrize("command, example", [
    ("snapshot", "which process? For example: mxprof snapshot 4711"),
    ("merge", "which files? For example: mxprof merge profile.mxp profile.4711.mxp -o all.mxp"),
    ("convert", "which file? For example: mxprof convert profile.mxp -o profile.json")])
def test_examples_in_messages_can_be_typed(command, example):
    result = subprocess.run([BUILD / "mxprof", command], capture_output=True, text=True, check=False)
    assert result.returncode == 2 and example in result.stderr
