# SPDX-License-Identifier: Apache-2.0
"""Python functions that the library calls.

Each C function is made once and lives as long as the process: one that frees itself while it runs
would return into nothing. What it works on is told by its last argument, the key of an object kept
here until the library says that it is done with it.
"""
import atexit
import ctypes
import itertools
import threading
import traceback
from typing import Any, Callable, Dict, Sequence

from . import _interrupt
from .base import _LIB, keep_cause

_FAILED = -5  # MXP_ESTATE
_keys = itertools.count(1)
_kept: Dict[int, Any] = {}
_lock = threading.Lock()
_running = [True]  # False once Python ends: then its modules are taken apart


@atexit.register
def _end() -> None:
    _running[0] = False


class CallbackList(ctypes.Structure):
    """MXCallbackList."""

    _fields_ = [("num_callbacks", ctypes.c_int),
                ("callbacks", ctypes.POINTER(ctypes.c_void_p)),
                ("contexts", ctypes.POINTER(ctypes.c_void_p))]


def keep(item: Any) -> int:
    """Keeps an object until forget(); gives its key."""
    with _lock:
        key = next(_keys)
        _kept[key] = item
    return key


def kept(key: int) -> Any:
    """The object of a key."""
    return _kept[key]


def forget(key: int) -> None:
    """The library is done with the object."""
    _kept.pop(key, None)


def tell(error: BaseException) -> None:
    """Prints where it happened; what it says continues in the library's message. What ends a program
    is no failure: the call that waits for the function raises it."""
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        _interrupt.raise_from_call(error)
        _LIB.mxp_set_last_error(_FAILED, b"interrupted")
        return
    traceback.print_exception(type(error), error, error.__traceback__)
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    _LIB.mxp_set_last_error(_FAILED, text.encode("utf-8", "replace"))
    keep_cause(text, error)


def guarded(kind: Any) -> Callable[[Callable], Any]:
    """Decorator: the function as a C function of `kind` that answers 1, or 0 after an exception."""
    running = _running

    def decorate(function: Callable) -> Any:
        def guard(*arguments: Any) -> int:
            if not running[0]:
                return 0
            try:
                function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                tell(error)
                return 0
            return 1

        made = kind(guard)
        # The library may call it while Python takes its modules apart.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        return made

    return decorate


@guarded(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p))
def delete(key: int) -> None:
    """The callback that says that the library is done."""
    forget(key)


def fill(table: CallbackList, functions: Sequence[Any], key: int) -> Any:
    """Writes functions that all work on one object to a table; the caller keeps what is returned
    until the library has copied the table."""
    count = len(functions)
    pointers = (ctypes.c_void_p * count)(*[
        ctypes.cast(function, ctypes.c_void_p) if function is not None else None
        for function in functions])
    contexts = (ctypes.c_void_p * count)(*[key] * count)
    table.num_callbacks = count
    table.callbacks = ctypes.cast(pointers, ctypes.POINTER(ctypes.c_void_p))
    table.contexts = ctypes.cast(contexts, ctypes.POINTER(ctypes.c_void_p))
    return pointers, contexts
