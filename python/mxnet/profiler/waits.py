# SPDX-License-Identifier: Apache-2.0
"""What a program waits for that no operator does: its input."""
import ctypes
import functools
from typing import Any, Callable

from ..base import _LIB, c_str
from .objects import Span

_CLASS_USER, _STYLE_SPAN, _UNIT_NONE = 16, 1, 0  # of mxprof/gate.h and mxprof/format.h
_WAIT_INPUT, _BLOCKED_AND_SLEPT = 6, 3  # of mxprof/format_operator.h


class _Wait(ctypes.Structure):
    """mxp_wait of mxprof/wait.h."""

    _fields_ = [("name", ctypes.c_uint32), ("what", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("ended_by", ctypes.c_uint32), ("variable", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("begin_ticks", ctypes.c_uint64), ("end_ticks", ctypes.c_uint64)]


@functools.lru_cache(maxsize=64)
def input_span(name: str) -> Span:
    """The span of what takes batches: one of each name, for all threads."""
    return Span(name, "input")


def blocked_by_input(name: str, take: Callable[[], Any]) -> Any:
    """What `take` returns, which is not there yet: the trace has that this thread waited for it."""
    _LIB.mxp_clock_read.restype = ctypes.c_uint64
    begin_ticks = _LIB.mxp_clock_read()
    try:
        return take()
    finally:
        span = ctypes.c_uint32(_LIB.mxp_intern(c_str("input"), c_str(name), _STYLE_SPAN, _UNIT_NONE))
        wait = _Wait(span, _WAIT_INPUT, _BLOCKED_AND_SLEPT, 0, 0, 0, begin_ticks, 0)
        _LIB.mxp_wait_emit(_CLASS_USER, ctypes.byref(wait))
