# SPDX-License-Identifier: Apache-2.0
"""Collections of Python's garbage as spans `garbage collection` of category `python`, while something is recorded."""
import ctypes
import gc
import os
from typing import Any, Dict

from ..base import _LIB
from .objects import Span

_SPAN = Span("garbage collection", "python")


def _told(phase: str, _info: Dict[str, Any]) -> None:
    (_SPAN.start if phase == "start" else _SPAN.stop)()


def watch(is_recording: bool) -> None:
    """Whether the collector tells us. A collection that goes on meanwhile is left out."""
    if is_recording and _told not in gc.callbacks:
        gc.callbacks.append(_told)
    elif not is_recording and _told in gc.callbacks:
        gc.callbacks.remove(_told)


def follow() -> None:
    """As the session is, which the environment may have begun, and a fork ended."""
    session = ctypes.c_void_p(_LIB.mxp_session_get())
    watch(_LIB.mxp_session_is_running(session, None, ctypes.c_size_t(0)) == 1)


_LIB.mxp_session_get.restype = ctypes.c_void_p
follow()
os.register_at_fork(after_in_child=follow)
