# SPDX-License-Identifier: Apache-2.0
"""Shapes and types of a network through the library."""
import ctypes
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as onp

from .. import _types
from ..base import _LIB, MXNetError, c_str_array, check_call
from ..util import is_np_shape

_UNKNOWN_MAX = 10  # arguments that a warning names


def _given(symbol: Any, by_position: tuple, named: Dict[str, Any], what: str) -> List[Tuple[str, Any]]:
    """Name and value of each that is known."""
    if by_position and named:
        raise ValueError(f"Can only specify known argument {what} either by positional or kwargs way.")
    if not by_position:
        return [item for item in named.items() if item[1] is not None]
    arguments = symbol.list_arguments()
    if len(by_position) > len(arguments):
        raise ValueError(f"{len(by_position)} {what} are given, but there are {len(arguments)} arguments")
    return [(name, value) for name, value in zip(arguments, by_position) if value is not None]


# ---- shapes ------------------------------------------------------------------------------------
def _sizes(name: str, shape: Any) -> List[int]:
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"Arguments need to be shapes (tuple), but {name!r} is {type(shape)}.")
    return [int(size) if isinstance(size, (int, onp.integer)) else _refuse_size(name, size) for size in shape]


def _fits(size: int, bits: int) -> bool:
    return -(1 << bits - 1) <= size < 1 << bits - 1


def _refuse_size(name: str, size: Any) -> int:
    raise TypeError(f"a size of argument {name} is no whole number: {size!r}")


def _taken_shapes(lists: List[Any]) -> Tuple[List[Optional[Tuple[int, ...]]], ...]:
    return tuple([tuple(data[i][k] for k in range(ndim[i])) if ndim[i] >= 0 else None for i in range(count.value)]
                 for count, ndim, data in lists)


class _Widths(NamedTuple):
    """What one of the library's functions takes and gives."""

    ending: str  # of its name
    end: Any
    size: Any
    count: Any


_NARROW = _Widths("", ctypes.c_uint, ctypes.c_int, ctypes.c_uint)
_WIDE = _Widths("64", ctypes.c_int64, ctypes.c_int64, ctypes.c_size_t)


def _call(function: str, widths: _Widths, symbol: Any, names: List[str], sizes: List[int],
          ends: List[int]) -> Tuple[bool, tuple]:
    lists = [(widths.count(), ctypes.POINTER(ctypes.c_int)(), ctypes.POINTER(ctypes.POINTER(widths.size))())
             for _ in range(3)]
    complete = ctypes.c_int()
    check_call(getattr(_LIB, function + widths.ending)(
        symbol.handle, len(names), c_str_array(names), (widths.end * len(ends))(*ends),
        (widths.size * max(len(sizes), 1))(*sizes), *[ctypes.byref(item) for three in lists for item in three],
        ctypes.byref(complete)))
    return bool(complete.value), _taken_shapes(lists)


def _infer_shapes(function: str, symbol: Any, by_position: tuple, named: Dict[str, Any]) -> Tuple[bool, tuple]:
    """By the function of 32 bits, as MXNet does, where they are enough."""
    given = _given(symbol, by_position, named, "shapes")
    sizes: List[int] = []
    ends = [0]
    for name, shape in given:
        sizes += _sizes(name, shape)
        ends.append(len(sizes))
    names = [name for name, _ in given]
    if not all(_fits(size, 64) for size in sizes):
        raise OverflowError(f"a size of these does not fit into 64 bits: {sizes}")
    if all(_fits(size, 32) for size in sizes):
        try:
            return _call(function, _NARROW, symbol, names, sizes, ends)
        except MXNetError as error:
            if "ask for 64" not in str(error):
                raise
    return _call(function, _WIDE, symbol, names, sizes, ends)


def shapes_partial(symbol: Any, by_position: tuple, named: Dict[str, Any]) -> tuple:
    """What is known of all shapes."""
    return _infer_shapes("MXSymbolInferShapePartialEx", symbol, by_position, named)[1]


def _warn(symbol: Any, known: tuple) -> None:
    unknown = [f"{name}: {shape}" for name, shape in zip(symbol.list_arguments(), known[0])
               if shape is None or (-1 in shape if is_np_shape() else not shape or 0 in shape)]
    more = ["..."] if len(unknown) > _UNKNOWN_MAX else []
    sign = "-1" if is_np_shape() else "0s"
    warnings.warn(f"Cannot decide shape for the following arguments ({sign} in shape means unknown dimensions). "
                  "Consider providing them as input:\n\t" + "\n\t".join(unknown[:_UNKNOWN_MAX] + more), stacklevel=4)


def shapes(symbol: Any, by_position: tuple, named: Dict[str, Any]) -> tuple:
    """All shapes, or three times None."""
    complete, found = _infer_shapes("MXSymbolInferShapeEx", symbol, by_position, named)
    if complete:
        return found
    _warn(symbol, found)
    return None, None, None


# ---- types -------------------------------------------------------------------------------------
def _type_of(code: int) -> Any:
    """NumPy's class of a number of the library; None: unknown."""
    found = _types.numpy_type(code) if code >= 0 else None
    return getattr(found, "type", found)


def _infer_types(function: Any, symbol: Any, by_position: tuple, named: Dict[str, Any]) -> Tuple[bool, tuple]:
    given = _given(symbol, by_position, named, "types")
    codes = [_types.type_code(value) for _, value in given]
    lists = [(ctypes.c_uint(), ctypes.POINTER(ctypes.c_int)()) for _ in range(3)]
    complete = ctypes.c_int()
    check_call(function(
        symbol.handle, len(given), c_str_array(name for name, _ in given), (ctypes.c_int * max(len(codes), 1))(*codes),
        *[ctypes.byref(item) for two in lists for item in two], ctypes.byref(complete)))
    return bool(complete.value), tuple([_type_of(data[i]) for i in range(count.value)] for count, data in lists)


def types(symbol: Any, by_position: tuple, named: Dict[str, Any]) -> tuple:
    """All types, or three times None."""
    complete, found = _infer_types(_LIB.MXSymbolInferType, symbol, by_position, named)
    return found if complete else (None, None, None)


def types_partial(symbol: Any, by_position: tuple, named: Dict[str, Any]) -> tuple:
    """What is known of all types."""
    return _infer_types(_LIB.MXSymbolInferTypePartial, symbol, by_position, named)[1]
