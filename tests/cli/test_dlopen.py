# SPDX-License-Identifier: Apache-2.0
"""libmxprof.so loaded into a running Python, as other languages use it: threads that exist before it is
loaded record through it, and their thread-local part has room."""
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
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


PLUGIN = """
#include <mxprof/record.h>
void plugin(void);
void plugin(void) { MXP_SPAN_SCOPE("plugin", "inside"); }
"""
HOST = """
#include <dlfcn.h>
#include <mxprof/record.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    if (count > 2) {  // the same process, another program
        return execl(arguments[0], arguments[0], arguments[1], (char *)0);
    }
    void *loaded = dlopen(arguments[1], RTLD_NOW);
    void (*call)(void) = (void (*)(void))dlsym(loaded, "plugin");
    MXP_SPAN_SCOPE("host", "outside");
    call();
    return 0;
}
"""


def compiled(text, name, folder, *options):
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", f"{name}.c", "-o", name, f"-I{SOURCE}/include", *options], cwd=folder, check=True)
    return folder / name


def copies_told(folder, library, *more):
    """How often a host that is linked with this library, and loads a plugin, is told of a second copy."""
    shared = (f"-L{BUILD}", "-l:libmxprof.so", f"-Wl,-rpath,{BUILD}")
    plugin = compiled(PLUGIN, "plugin.so", folder, "-shared", "-fPIC", *shared)
    host = compiled(HOST, "host", folder, *(shared if library == "shared" else 
                                           ("-Wl,--whole-archive", BUILD / "libmxprof.a", "-Wl,--no-whole-archive", "-lm", "-ldl")))
    done = subprocess.run([host, plugin, *more], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "MXPROF_AUTOSTART": "1", "MXPROF_NATIVE_FILENAME": "x.mxp"})
    assert done.returncode == 0, done.stderr
    return done.stderr.count("has the library twice")


def test_two_copies_in_one_process_are_told(tmp_path):
    assert copies_told(tmp_path, "static") == 1


def test_one_copy_is_none_too_many(tmp_path):
    assert copies_told(tmp_path, "shared") == 0
    assert copies_told(tmp_path, "shared", "exec") == 0


def test_two_copies_after_an_exec_are_told_once(tmp_path):
    assert copies_told(tmp_path, "static", "exec") == 1
