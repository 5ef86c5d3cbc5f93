# SPDX-License-Identifier: Apache-2.0
"""What tests of `mxprof run` share: the call, and a program that records spans."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
MXPROF = BUILD / "mxprof"

SPANS = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.mxp_begin.restype = ctypes.c_uint64
name = lib.mxp_intern(b"app", b"work", 1, 0)
for _ in range(int(sys.argv[2])):
    lib.mxp_end(name, ctypes.c_uint64(lib.mxp_begin(16, name)))
"""


def environment(**more):
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("MXPROF_", "MXNET_", "INTEL_", "NVTX_", "OMP_", "LD_PRELOAD"))}
    return dict(clean, **more)


def run(folder, *arguments, stdin="", **more):
    return subprocess.run([MXPROF, "run", *arguments], cwd=folder, env=environment(**more), input=stdin,
                          capture_output=True, text=True, timeout=60, check=False)


def recording(count):
    return [sys.executable, "-c", SPANS, str(BUILD / "libmxprof.so"), str(count)]


def compiled(folder, name, text, *flags):
    """A program of a text in C."""
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", "-O1", "-std=gnu11", f"{name}.c", "-o", name, *flags], cwd=folder, check=True)
    return folder / name
