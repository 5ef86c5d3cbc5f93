# SPDX-License-Identifier: Apache-2.0
"""Bulks: operators in a row that the engine runs as one."""
import ctypes
from typing import Any

from .base import _LIB, check_call


def set_bulk_size(size: int) -> int:
    """How many operators in a row may be joined, for this thread; returns what was before."""
    before = ctypes.c_int()
    check_call(_LIB.MXEngineSetBulkSize(int(size), ctypes.byref(before)))
    return before.value


class bulk:  # pylint: disable=invalid-name
    """with mx.engine.bulk(size): the bulk size inside."""

    def __init__(self, size: int):
        self._size, self._before = size, 0

    def __enter__(self) -> "bulk":
        self._before = set_bulk_size(self._size)
        return self

    def __exit__(self, *exception: Any) -> None:
        set_bulk_size(self._before)
