# SPDX-License-Identifier: Apache-2.0
"""Functions written in Python take numbers, lists and NumPy's arrays as those of operators do."""
import functools
import inspect
from typing import Any, Callable, Dict

from .._array import BaseArray, convert_inputs
from .multiarray import ndarray

ALL = 1 << 30  # of the arguments
COUNTS: Dict[str, int] = {  # of mx.np's functions: how many of the first arguments are arrays
    "append": 1, "argsort": 1, "array_split": 1, "average": 1, "broadcast_arrays": ALL, "delete": 1, "diagonal": 1,
    "clip": 1, "diff": 1, "dsplit": 1, "flip": 1, "fliplr": 1, "flipud": 1, "full_like": 1, "hsplit": 1, "inner": 2,
    "meshgrid": ALL, "ndim": 1, "ones_like": 1, "outer": 2, "pad": 1, "ravel": 1, "repeat": 1, "reshape": 1, "rot90": 1,
    "shape": 1, "size": 1, "split": 1, "std": 1, "take": 1, "take_along_axis": 1, "tensordot": 2, "trace": 1, "var": 1,
    "vsplit": 1, "where": 1, "zeros_like": 1}


def taking_arrays(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function with its first `count` arguments made arrays."""
    names = list(inspect.signature(function).parameters)[:count] if count < ALL else []

    def made(item: Any) -> Any:
        if item is None or isinstance(item, BaseArray):
            return item
        converted = convert_inputs(ndarray, (item,))
        if converted is None:
            raise TypeError(f"{function.__name__} takes arrays, numbers and lists of numbers, not {type(item).__name__}"
                            + (" of arrays" if isinstance(item, (list, tuple)) else ""))
        return converted[0]

    @functools.wraps(function)
    def taking(*arguments: Any, **keywords: Any) -> Any:
        for name in names:
            if name in keywords:
                keywords[name] = made(keywords[name])
        return function(*map(made, arguments[:count]), *arguments[count:], **keywords)

    return taking
