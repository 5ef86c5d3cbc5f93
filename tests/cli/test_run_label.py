# SPDX-License-Identifier: Apache-2.0
"""`mxprof run --label`, `--commit`: each file of the run carries them, of a process that died too, and they count more
than the program's own."""
import re
import subprocess
import sys

from run_programs import BUILD, MXPROF, SPANS, recording, run

CONFIGURED = """
pairs = {b"run_label": b"the program's", b"run_commit": b"its own"}
keys, values = (ctypes.c_char_p * 2)(*pairs), (ctypes.c_char_p * 2)(*pairs.values())
lib.mxp_session_get.restype = ctypes.c_void_p
session = ctypes.c_void_p(lib.mxp_session_get())
assert lib.mxp_session_configure_pairs(session, 2, keys, values) == 0
"""
KILLED = "\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"


def told(folder):
    """The lines of `mxprof info` about the run, of the folder's one trace."""
    path, = (folder / "r").glob("*.mxp")
    text = subprocess.run([MXPROF, "info", path], check=False, capture_output=True, text=True, timeout=60).stdout
    return dict(re.findall(r'(run\.\w+) = "([^"]*)"', text))


def program(*more):
    return [sys.executable, "-c", SPANS + "".join(more), str(BUILD / "libmxprof.so"), "3"]


def test_each_file_carries_them(tmp_path):
    done = run(tmp_path, "-q", "-o", "r", "--label", "larger batch", "--commit", "0123abc", *recording(3))
    assert (done.returncode, done.stderr) == (0, "")
    assert told(tmp_path) == {"run.label": "larger batch", "run.commit": "0123abc"}


def test_the_command_counts_more_than_the_program(tmp_path):
    done = run(tmp_path, "-q", "-o", "r", "--label", "the command's", *program(CONFIGURED))
    assert done.returncode == 0
    assert told(tmp_path) == {"run.label": "the command's", "run.commit": "its own"}


def test_a_file_of_a_process_that_died_has_them(tmp_path):
    run(tmp_path, "-q", "-o", "r", "--label", "a crash", *program(KILLED))
    assert told(tmp_path) == {"run.label": "a crash"}
