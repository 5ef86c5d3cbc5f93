#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records spans, four deep, into a native file.

Usage: spans.py LIBMXPROF FILE COUNT"""
import ctypes
import os
import sys

USER, DEPTH, NAMES = 16, 4, 40


def main(library, path, count):
    os.environ.update(MXNET_PROFILER_AUTOSTART="1", MXPROF_NATIVE_FILENAME=path)
    profiler = ctypes.CDLL(library)
    profiler.mxp_begin.restype = ctypes.c_uint64
    profiler.mxp_begin.argtypes = ctypes.c_uint32, ctypes.c_uint32
    profiler.mxp_end.argtypes = ctypes.c_uint32, ctypes.c_uint64
    names = [profiler.mxp_intern(b"bench", f"name {i}".encode(), 1, 0) for i in range(NAMES)]
    for i in range(count // DEPTH):
        inside = [names[(i * (k + 1)) % NAMES] for k in range(DEPTH)]
        tokens = [profiler.mxp_begin(USER, name) for name in inside]
        while tokens:
            profiler.mxp_end(inside[len(tokens) - 1], tokens.pop())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
