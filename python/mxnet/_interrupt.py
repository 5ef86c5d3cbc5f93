# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, and whatever else the program handles signals for, while the library waits.

The handlers are Python's and stay what they are. A wait of the main thread has Python run them some
twenty times a second; it ends if one of them raises, and then that is what the waiting call raises.
What was waited for continues, but what has not begun when an interrupted program ends is dropped.
"""
import ctypes
import os
import sys
import threading
from typing import Any, Iterator, List

_raised: List[BaseException] = []  # by a handler, during the wait that is ending


def _watch() -> Iterator[int]:
    """1 for each time that a handler has raised, else 0. Handlers run where this continues, so they
    always find a `try` around them: at the begin of a function, or after its last `try`, they would
    not. The outer one is for a signal that comes while the inner one keeps the error of another."""
    answer = 0
    while True:
        try:
            while True:
                try:
                    while True:
                        yield answer
                        answer = 0
                except GeneratorExit:
                    return
                except BaseException as error:  # pylint: disable=broad-except
                    _raised[:] = [error]
                    answer = 1
        except BaseException as error:  # pylint: disable=broad-except
            _raised[:] = [error]
            answer = 1


_watching = _watch()
next(_watching)
_wanted = ctypes.CFUNCTYPE(ctypes.c_int)(_watching.__next__)


def taken() -> Any:
    """What a handler has raised during the wait that has failed just now, None if nothing did."""
    return _raised.pop().with_traceback(None) if _raised else None


def raise_from_call(error: BaseException) -> None:
    """A function of the program was ended by it inside of a call, which fails and then raises it."""
    _raised[:] = [error]


def bind(library: ctypes.CDLL) -> None:
    """Waits of the main thread can be interrupted from now on."""
    def watch() -> None:
        library.MXEngineSetInterrupt(_wanted, ctypes.c_size_t(threading.main_thread().ident or 0))

    watch()
    os.register_at_fork(after_in_child=watch)  # there may be another main thread


def _ends_interrupted() -> bool:
    """Whether the program ends with a KeyboardInterrupt that nobody has caught."""
    ended_by = getattr(sys, "last_type", None)
    return ended_by is not None and issubclass(ended_by, KeyboardInterrupt)


def shut_down(library: ctypes.CDLL) -> None:
    """What is pending is finished while Python can still run what it calls back; of an interrupted
    program only what has begun.

    Python ends such a program with a signal, so the library does not see the end of the process: its
    profile is written here.
    """
    interrupted = _ends_interrupted()
    if getattr(sys, "last_type", None) is not None:
        library.MXKVStoreAbandon(b"this process ended with an exception")
    if interrupted:
        library.MXEngineDropPending()
    library.MXNotifyShutdown()
    error = taken()  # of the wait for what was pending; the rest is dropped
    library.MXEngineSetInterrupt(None, ctypes.c_size_t(0))
    if interrupted or error is not None:
        library.MXSetProfilerState(0)
        library.MXDumpProfile(1)  # fails, and does nothing, unless something was recorded
    if error is not None:
        raise error
