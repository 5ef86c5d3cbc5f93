# SPDX-License-Identifier: Apache-2.0
"""Ranges for Nvidia's tools (Nsight Systems), whether or not the profiler runs. Without a tool, which the variable
NVTX_INJECTION64_PATH names, each call raises MXNetError."""
import contextlib
import ctypes
from typing import Iterator

from ..base import _LIB, c_str, check_call

RED, GREEN, BLUE = 0xFFFF0000, 0xFF00FF00, 0xFF0000FF
YELLOW, ORANGE, RED1, MAGENTA, VIOLET = 0xFFB58900, 0xFFCB4B16, 0xFFDC322F, 0xFFD33682, 0xFF6C71C4
BLUE1, CYAN, GREEN1 = 0xFF268BD2, 0xFF2AA198, 0xFF859900


def range_push(name: str, color: int = ORANGE) -> None:
    """Begins a range on this thread, in a colour of the form 0xAARRGGBB."""
    check_call(_LIB.MXNVTXRangePush(c_str(name), ctypes.c_uint32(color)))


def range_pop() -> None:
    """Ends this thread's newest range."""
    check_call(_LIB.MXNVTXRangePop())


@contextlib.contextmanager
def range(name: str, color: int = ORANGE) -> Iterator[None]:  # pylint: disable=redefined-builtin
    """with mx.cuda.nvtx.range(name): a range for the block."""
    range_push(name, color)
    try:
        yield
    finally:
        range_pop()
