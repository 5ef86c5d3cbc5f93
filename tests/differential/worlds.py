# SPDX-License-Identifier: Apache-2.0
"""Runs a program in two worlds: with the arrays of this package, and with NumPy's.

A program is text; it sees `np` (mx.np or NumPy), `onp` (NumPy in both), `rec` (autograd.record, or nothing), its
inputs, and `part(a)[key]`, which is a[key]: a view where the part is contiguous memory, else a copy, as this package
promises. What it leaves in its variables is the result.
"""
import contextlib
import functools
import os
import pathlib
import sys
import warnings

import numpy

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", SOURCE / "build/release")).resolve()
os.environ.setdefault("MXNET_LIBRARY_PATH", str(BUILD / "libmxnet.so"))
sys.path.insert(0, os.environ.get("MXPROF_PACKAGE", str(SOURCE / "python")))

import mxnet  # noqa: E402  (the path above is where it lies)

NAMES = {"nan": numpy.nan, "inf": numpy.inf, "onp": numpy}


class _Parts:
    """part(a) in NumPy's world."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        found = self.array[key if Ellipsis in key else (*key, ...)]  # with ... it is an array, and no number
        return found if found.flags.c_contiguous else found.copy()


@functools.lru_cache(maxsize=4096)
def compiled(code):
    return compile(code, "<program>", "exec")


def _run(code, scope, read):
    try:
        exec(compiled(code), scope)
        return {name: read(value) for name, value in scope.items() if name not in _HIDDEN and not name.startswith("__")}
    except Exception as error:  # pylint: disable=broad-except
        return error


_OURS = {"np": mxnet.np, "part": lambda array: array, "rec": mxnet.autograd.record, **NAMES}
_HIDDEN = {*_OURS, "grad"}
_THEIRS = {"np": numpy, "part": _Parts, "rec": contextlib.nullcontext, **NAMES}


def _read_ours(value):
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return [_read_ours(item) for item in value]
    return value


def _read_theirs(value):
    if isinstance(value, (list, tuple)):
        return [_read_theirs(item) for item in value]
    return value


def _as_ours(name, value):
    """An array of this package; what is named o stays NumPy's."""
    if name == "o" or not isinstance(value, numpy.ndarray):
        return value
    return mxnet.np.array(value, dtype=value.dtype)


def ours(code, inputs, more=()):
    """Variable -> value, or the exception."""
    return _run(code, {**_OURS, **dict(more), **{name: _as_ours(name, value) for name, value in inputs.items()}}, _read_ours)


def theirs(code, inputs):
    """The same by NumPy."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        copies = {name: value.copy() if isinstance(value, numpy.ndarray) else value for name, value in inputs.items()}
        return _run(code, {**_THEIRS, **copies}, _read_theirs)
