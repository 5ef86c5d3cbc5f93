# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy computes: of copies of our arrays. What it writes to the copy of an argument is
written back to the array; a copy that nothing should be written to is read-only, so that nothing is
lost in silence."""
import ctypes
import functools
import inspect
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as onp

from .. import _indexing, _types, autograd
from .._array import BaseArray
from ..base import _LIB, check_call
from .creation import array

_NOT_OFFERED = frozenset(("save", "savez", "load", "test", "show_config"))
# Functions that change their first argument, and how they call it.
_CHANGED = {"copyto": "dst", "fill_diagonal": "a", "nan_to_num": "x", "place": "arr", "put": "a",
            "put_along_axis": "arr", "putmask": "a"}


def to_host(value: Any) -> Any:
    """Our arrays as NumPy's, also in lists and tuples."""
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(to_host(item) for item in value)
    return value


def from_host(value: Any, wide: bool = False, ctx: Any = None) -> Any:
    """NumPy's arrays and numbers as our arrays, also in lists and tuples. `wide`: float64 stays what it
    is; else it becomes the default type."""
    if isinstance(value, (onp.ndarray, onp.generic)) and value.dtype.kind in "fiub":
        return array(value, "float64" if wide and value.dtype == onp.float64 else None, ctx)
    if isinstance(value, (list, tuple)):
        items = [from_host(item, wide, ctx) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def _arrays(value: Any) -> list:
    """The arrays of ours in lists, tuples and arguments."""
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in _arrays(part)]
    return [value] if isinstance(value, BaseArray) else []


def _has_floats(value: Any) -> bool:
    return any(item._type_code in _types.FLOATS for item in _arrays(value))


def _is_wide(arguments: tuple, keywords: Dict[str, Any]) -> bool:
    """Whether a result of float64 is one: an array is, or the type that is asked for."""
    asked = [keywords.get("dtype"), *[item for item in arguments if isinstance(item, (type, onp.dtype))]]
    return any(item.dtype == onp.float64 for item in _arrays((*arguments, *keywords.values()))) \
        or any(kind is not None and onp.dtype(kind) == onp.float64 for kind in asked)


class _Written:
    """The arguments of one call that the function writes to."""

    def __init__(self) -> None:
        self._pairs: Dict[int, Tuple[onp.ndarray, Any]] = {}  # the copy, and what it is of

    def copy_of(self, value: Any) -> Any:
        """As to_host; what is written to the copies will be written back."""
        if isinstance(value, (list, tuple)):
            return type(value)(self.copy_of(item) for item in value)
        values = to_host(value)
        if isinstance(values, onp.ndarray):
            self._pairs[id(values)] = (values, value)
        return values

    def arrays(self) -> list:
        """Those of ours."""
        return [value for _, value in self._pairs.values() if isinstance(value, BaseArray)]

    def write_back(self) -> None:
        """Writes what the copies hold to their arrays."""
        for values, value in self._pairs.values():
            if isinstance(value, BaseArray):
                _indexing.write(value, values)

    def result(self, value: Any, wide: bool, ctx: Any) -> Any:
        """As from_host; a copy that was written to is the array it is of."""
        if isinstance(value, (list, tuple)):
            items = [self.result(item, wide, ctx) for item in value]
            return items if isinstance(value, list) else tuple(items)
        if id(value) in self._pairs:
            return self._pairs[id(value)][1]
        return from_host(value, wide, ctx)


def _read_only(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_read_only(item) for item in value)
    values = to_host(value)
    if isinstance(value, BaseArray):
        values.flags.writeable = False
    return values


@functools.lru_cache(maxsize=None)
def _names_of(function: Any) -> Tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except ValueError:  # NumPy says nothing of it
        return ()


def _place_of_out(function: Any) -> Optional[int]:
    """Which argument by position is the first of `out`; None: there is none."""
    if isinstance(function, onp.ufunc):
        return function.nin
    names = _names_of(function)
    return names.index("out") if "out" in names else None


def _changes_first(name: str, arguments: tuple, keywords: Dict[str, Any]) -> bool:
    copies = name == "nan_to_num" and (arguments[1] if len(arguments) > 1 else keywords.get("copy", True))
    return name in _CHANGED and not copies


def _computed(name: str, function: Any, arguments: tuple, keywords: Dict[str, Any], shown: str) -> Any:
    written = _Written()
    changed = _changes_first(name, arguments, keywords)
    out = _place_of_out(function)

    def is_written(at: int) -> bool:
        return (changed and at == 0) or (
            out is not None and (at >= out if isinstance(function, onp.ufunc) else at == out))

    values = [(written.copy_of if is_written(at) else _read_only)(item) for at, item in enumerate(arguments)]
    if values and "overwrite_input" in _names_of(function):
        values[0] = to_host(arguments[0])  # what it becomes then is nobody's
    named = {key: (written.copy_of if key == "out" or (changed and key == _CHANGED[name]) else _read_only)(item)
             for key, item in keywords.items()}
    found = function(*values, **named)
    given = _arrays((*arguments, *keywords.values()))
    wide, ctx = _is_wide(arguments, keywords), given[0].ctx if given else None
    result = written.result(found, wide, ctx)
    # Where one of the two is whole numbers, there would be no gradient anyway.
    if autograd.is_recording() and _has_floats(given) and (_has_floats(result) or _has_floats(written.arrays())):
        raise NotImplementedError(f"mx.{shown}.{name} is computed by NumPy and has no gradient: "
                                  "call it under autograd.pause()")
    written.write_back()
    return result


def _is_host_function(name: str, module: Any) -> bool:
    function = getattr(module, name, None)
    return not (name.startswith("_") or name in _NOT_OFFERED or isinstance(function, type)
                or not callable(function))


def host_names(module: Any = onp) -> List[str]:
    """The names that `host_function` knows."""
    return [name for name in dir(module) if _is_host_function(name, module)]


def host_function(name: str, module: Any = onp) -> Any:
    """The function `name` of NumPy or a module of it, on our arrays; None if there is no such one.

    Results of float64 are float32 unless an argument, or the type that is asked for, is float64.
    """
    if not _is_host_function(name, module):
        return None
    function = getattr(module, name)
    shown = module.__name__.replace("numpy", "np")

    @functools.wraps(function)
    def through_numpy(*arguments: Any, **keywords: Any) -> Any:
        return _computed(name, function, arguments, keywords, shown)

    return through_numpy


# ---- memory ------------------------------------------------------------------------------------
def _bounds(value: Any) -> Optional[Tuple[int, int]]:
    """Where the memory of an array of ours begins and ends; waits for what is pending."""
    begin = ctypes.c_void_p()
    if isinstance(value, BaseArray) and value.size:
        check_call(_LIB.MXNDArrayGetData(value.handle, ctypes.byref(begin)))
    return (begin.value, begin.value + value.nbytes) if begin.value else None


def shares_memory(a: Any, b: Any, max_work: Optional[int] = None) -> bool:
    """Whether an element of one array is an element of the other. Memory is contiguous, so that this is
    exact; NumPy's arrays and ours never share it."""
    first, second = _bounds(a), _bounds(b)
    if first is None and second is None and not isinstance(a, BaseArray) and not isinstance(b, BaseArray):
        return bool(onp.shares_memory(a, b, max_work))
    return first is not None and second is not None and first[0] < second[1] and second[0] < first[1]


may_share_memory = share_memory = shares_memory
