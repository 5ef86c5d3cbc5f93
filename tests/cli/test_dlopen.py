# SPDX-License-Identifier: Apache-2.0
"""libmxprof.so loaded into a running Python, as other languages use it: threads that exist before it is
loaded record through it, and their thread-local part has room."""
import json
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()

PROGRAM = r"""
import ctypes, sys, threading

loaded, recorded = threading.Event(), threading.Barrier(4)

def work(number):
    loaded.wait()
    lib.mxp_thread_name(f"early {number}".encode())
    name = lib.mxp_intern(b"python", b"work", 1, 0)
    for _ in range(100):
        lib.mxp_end(name, lib.mxp_begin(USER, name))
    recorded.wait()

threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()

USER = 16
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_session_get.restype = ctypes.c_void_p
lib.mxp_begin.restype = ctypes.c_uint64
lib.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
lib.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
lib.mxp_intern.restype = ctypes.c_uint32
lib.mxp_last_error.restype = ctypes.c_char_p
session = ctypes.c_void_p(lib.mxp_session_get())

def check(code):
    assert code == 0, lib.mxp_last_error()

def texts(*words):
    return (ctypes.c_char_p * len(words))(*words)

check(lib.mxp_session_configure_pairs(session, 2, texts(b"filename", b"aggregate_stats"),
                                      texts(b"dlopen.json", b"1")))
check(lib.mxp_session_run(session))
loaded.set()
recorded.wait()
check(lib.mxp_session_stop(session))
table = ctypes.c_char_p()
check(lib.mxp_session_dumps(session, 0, 0, 0, 0, ctypes.byref(table)))
print(table.value.decode())
check(lib.mxp_session_dump(session, 1))
for thread in threads:
    thread.join()
"""


def test_dlopened_library_records_on_threads_older_than_itself(tmp_path):
    printed = subprocess.run([sys.executable, "-c", PROGRAM, BUILD / "libmxprof.so"], cwd=tmp_path,
                             check=True, capture_output=True, text=True, timeout=60).stdout
    assert re.search(r"^work +300 ", printed, re.MULTILINE)
    events = json.loads((tmp_path / "dlopen.json").read_text())["traceEvents"]
    rows = [event["tid"] for event in events if event["ph"] == "X" and event["name"] == "work"]
    assert len(rows) == 300 and all(rows.count(row) == 100 for row in set(rows))
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert sorted(names[row] for row in set(rows)) == ["early 0", "early 1", "early 2"]
