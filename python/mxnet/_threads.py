# SPDX-License-Identifier: Apache-2.0
"""The names that a program gives its threads, for traces.

Before 3.14 Python tells the system none of them. So the first call of a thread that records hands its
name over (`core.thread_seen`), and the first one after a thread was renamed: threading tells nobody
of that, so the property's setter is followed here.
"""
import os
import threading
from typing import Any

from .base import core


def _follow_renaming() -> None:
    name = threading.Thread.name
    if not isinstance(name, property) or name.fset is None:
        return

    def rename(thread: threading.Thread, value: Any) -> None:
        name.fset(thread, value)
        core.thread_renamed()

    threading.Thread.name = property(name.fget, rename, name.fdel, name.__doc__)


def _bind() -> None:
    threads = getattr(threading, "_active", None)  # asking current_thread() would make entries in it
    foreign = getattr(threading, "_DummyThread", None)
    if isinstance(threads, dict) and isinstance(foreign, type):
        core.thread_bind(threads, foreign)
        _follow_renaming()
        os.register_at_fork(after_in_child=core.thread_renamed)


_bind()
