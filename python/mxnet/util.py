# SPDX-License-Identifier: Apache-2.0
"""Switches between MXNet's own interface and NumPy's. Functions of mx.nd and mx.np work in either
setting; the switches say which arrays Gluon makes where nothing else says it."""
import contextlib
import contextvars
import ctypes
import functools
from typing import Any, Callable, Iterator

from .base import _LIB, check_call

_np_array: "contextvars.ContextVar[bool]" = contextvars.ContextVar("np_array")
_np_array_everywhere = False


def is_np_array() -> bool:
    """Whether Gluon makes mx.np arrays here."""
    return _np_array.get(_np_array_everywhere)


def is_np_shape() -> bool:
    """Whether shapes of arrays follow NumPy: () is a scalar, 0 an empty dimension."""
    current = ctypes.c_int()
    check_call(_LIB.MXIsNumpyShape(ctypes.byref(current)))
    return bool(current.value)


def is_np_default_dtype() -> bool:
    """Whether mx.np makes float64 where no type is given, as NumPy does."""
    current = ctypes.c_bool()
    check_call(_LIB.MXIsNumpyDefaultDtype(ctypes.byref(current)))
    return current.value


def set_np(shape: bool = True, array: bool = True, dtype: bool = False) -> None:
    """Turns NumPy's shapes, arrays and default type on, for all threads.

    ValueError for arrays without shapes.
    """
    global _np_array_everywhere
    if array and not shape:
        raise ValueError("NumPy's arrays need NumPy's shapes: set_np(array=True) goes with "
                         "shape=True only")
    check_call(_LIB.MXSetIsNumpyShape(2 if shape else 0, None))
    check_call(_LIB.MXSetIsNumpyDefaultDtype(ctypes.c_bool(dtype), None))
    _np_array_everywhere = array


def reset_np() -> None:
    """Turns them off."""
    set_np(shape=False, array=False)


def set_np_shape(active: bool) -> bool:
    """Turns NumPy's shapes on or off for this thread; returns what was before."""
    before = ctypes.c_int()
    check_call(_LIB.MXSetIsNumpyShape(int(active), ctypes.byref(before)))
    return bool(before.value)


@contextlib.contextmanager
def np_array(active: bool = True) -> Iterator[None]:
    """Inside, Gluon makes mx.np arrays, or NDArrays."""
    token = _np_array.set(active)
    try:
        yield
    finally:
        _np_array.reset(token)


@contextlib.contextmanager
def np_shape(active: bool = True) -> Iterator[None]:
    """Inside, shapes follow NumPy, or not."""
    before = set_np_shape(active)
    try:
        yield
    finally:
        set_np_shape(before)


def _decorated(function: Any, managers: Callable[[], Any]) -> Any:
    if isinstance(function, type):
        for name in ("__init__", "forward", "hybrid_forward", "__call__"):
            if name in vars(function):
                setattr(function, name, _decorated(vars(function)[name], managers))
        return function

    @functools.wraps(function)
    def inside(*arguments: Any, **keywords: Any) -> Any:
        with managers():
            return function(*arguments, **keywords)

    return inside


@contextlib.contextmanager
def _both() -> Iterator[None]:
    with np_shape(True), np_array(True):
        yield


def use_np(function: Any) -> Any:
    """Decorates a function or a class: inside, NumPy's arrays and shapes are on."""
    return _decorated(function, _both)


def use_np_array(function: Any) -> Any:
    """The same for arrays only."""
    return _decorated(function, np_array)


def use_np_shape(function: Any) -> Any:
    """The same for shapes only."""
    return _decorated(function, np_shape)


def get_gpu_count() -> int:
    """How many GPUs there are: 0."""
    from .context import num_gpus
    return num_gpus()
