# SPDX-License-Identifier: Apache-2.0
"""What a process was at when it was killed stands in its file, as docs/format.md says, and the
command tells it."""
import ctypes
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import format_reader

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()


class Arg(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint32), ("type", ctypes.c_uint32), ("value", ctypes.c_uint64)]


class Context(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("high", ctypes.c_uint64)]


class Async(ctypes.Structure):
    _fields_ = [("begin_ticks", ctypes.c_uint64), ("id", ctypes.c_uint64), ("context", Context),
                ("name", ctypes.c_uint32), ("place", ctypes.c_uint32)]


class Module(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("bias", "begin", "bytes", "from_ticks", "to_ticks")] \
        + [(name, ctypes.c_uint32) for name in ("name", "path", "build_id_bytes", "reserved")] \
        + [("build_id", ctypes.c_uint8 * 32)]


def work_and_die():
    """The killed program: two requests are open, a third has ended, and the thread is in two spans."""
    lib = ctypes.CDLL(str(BUILD / "libmxprof.so"))
    lib.mxp_begin_args.restype = lib.mxp_begin.restype = ctypes.c_uint64
    lib.mxp_async_begin.restype = Async
    lib.mxp_async_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64, Context
    user, span, overlapping = 16, 1, 2
    lib.mxp_thread_name(b"main")
    handle, load = (lib.mxp_intern(b"server", name, span, 0) for name in (b"handle", b"load"))
    request = lib.mxp_intern(b"server", b"request", overlapping, 0)
    key, path = (lib.mxp_intern(b"", name, 0, 0) for name in (b"key", b"path"))
    begun = [lib.mxp_async_begin(user, request, number, context)
             for number, context in ((1246, Context()), (696, Context()), (0, Context(77, 1)))]
    lib.mxp_async_end(ctypes.byref(begun[1]), None, 0)
    text = ctypes.create_string_buffer(b"/data/003.blob")
    told = (Arg * 2)(Arg(key, 1, 3), Arg(path, 5 | 14 << 8, ctypes.addressof(text)))
    lib.mxp_begin_args(user, handle, told, 2)
    lib.mxp_begin(user, load)
    plain, by_address = 0, 7
    category, where = (lib.mxp_intern(b"", name, plain, 0) for name in (b"server", b"/bin/server"))
    lib.mxp_intern(b"server", b"1a40", by_address, 0)
    module = Module(bias=0x5000, begin=0x6000, bytes=0x7000, name=category, path=where, build_id_bytes=2)
    module.build_id[0], module.build_id[1] = 0xab, 0x4c
    lib.mxp_module(ctypes.byref(module))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(name="file", scope="module")
def killed_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    process = subprocess.run([sys.executable, __file__], cwd=folder, check=False, timeout=60,
                             env=dict(os.environ, MXNET_PROFILER_AUTOSTART="1", MXPROF_STORE="file",
                                      PYTHONPATH=str(pathlib.Path(__file__).parent)))
    assert process.returncode == -signal.SIGKILL
    return folder / "profile.mxp"


def test_the_file_has_what_was_told_of_open_spans(file):
    trace = format_reader.Trace(file.read_bytes())
    recorder, = (one for one in trace.recorders if one["open"])
    assert [trace.text(name) for _, name in recorder["open"]] == ["handle", "load"]
    (begin, told), = recorder["told"]
    assert begin == recorder["open"][0][0]
    assert [(trace.text(name), value) for name, value in told] == [("key", 3), ("path", b"/data/003.blob")]


def test_the_file_has_the_asynchronous_spans_that_were_open(file):
    trace = format_reader.Trace(file.read_bytes())
    found = sorted((one["id"], one["context"]) for one in trace.open)
    assert found == [(0, 77 | 1 << 64), (1246, 0)]
    assert {trace.text(one["name"]) for one in trace.open} == {"request"}
    assert {trace.text(one["key"]) for one in trace.open} == {"id"}


def test_the_command_tells_them(file):
    printed = subprocess.run([BUILD / "mxprof", "info", file], capture_output=True, text=True,
                             check=True).stdout
    running, = (line for line in printed.splitlines() if line.startswith("  running"))
    assert '"main": "handle" (key=3, path="/data/003.blob") for ' in running
    assert ', in it "load" for ' in running
    still = sorted(line for line in printed.splitlines() if line.startswith("  open"))
    assert len(still) == 2
    assert '"request" (context=77) for ' in still[0] and still[0].endswith(", begun on thread 0")
    assert '"request" (id=1246) for ' in still[1]


def test_a_recovered_file_has_them_as_records(file, tmp_path):
    whole = tmp_path / "whole.mxp"
    subprocess.run([BUILD / "mxprof", "recover", file, "-o", whole], capture_output=True, check=True)
    trace = format_reader.Trace(whole.read_bytes())
    records = [record for chunk in trace.chunks for record in trace.records(chunk)]
    spans = {(r["name"], str(r.get("args"))) for r in records if r["kind"].startswith("span")}
    assert ("request", "[['id', 1246]]") in spans and ("request", "[['id', 696]]") in spans
    assert trace.open == []


@pytest.mark.parametrize("recovered", [False, True], ids=["killed", "recovered"])
def test_the_file_has_modules_and_names_by_address(file, tmp_path, recovered):
    if recovered:
        whole = tmp_path / "whole.mxp"
        subprocess.run([BUILD / "mxprof", "recover", file, "-o", whole], capture_output=True, check=True)
        file = whole
    trace = format_reader.Trace(file.read_bytes())
    module, = trace.modules
    assert (module["bias"], module["begin"], module["bytes"]) == (0x5000, 0x6000, 0x7000)
    assert (module["path"], module["build_id"], module["to_ticks"]) == ("/bin/server", "ab4c", 0)
    assert module["from_ticks"] > 0
    by_address, = (name for name in trace.names if name["style"] == 7)
    # The command puts the module's name before what it could not name.
    text = b"server+0x1a40" if recovered else b"1a40"
    assert (by_address["text"], by_address["category"]) == (text, module["name"])


if __name__ == "__main__":
    work_and_die()
