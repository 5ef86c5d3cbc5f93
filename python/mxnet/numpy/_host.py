# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy computes."""
import functools
from typing import Any, Callable, Optional

import numpy as onp

from .. import _types, autograd
from .._array import BaseArray
from .creation import array

_FLOATS = frozenset(code for name, code in _types.CODES.items() if "float" in name)
_NOT_OFFERED = frozenset(("save", "savez", "load", "test", "show_config"))


def to_host(value: Any) -> Any:
    """Our arrays as NumPy's, also in lists and tuples."""
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(to_host(item) for item in value)
    return value


def from_host(value: Any) -> Any:
    """NumPy's arrays and numbers as our arrays, also in lists and tuples."""
    if isinstance(value, (onp.ndarray, onp.generic)) and value.dtype.kind in "fiub":
        return array(value)
    if isinstance(value, (list, tuple)):
        items = [from_host(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def _has_floats(value: Any) -> bool:
    """Whether there is an array of floats of ours, also in lists and tuples."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_floats, value))
    return isinstance(value, BaseArray) and value._type_code in _FLOATS


def host_function(name: str, module: Any = onp) -> Optional[Callable[..., Any]]:
    """The function `name` of NumPy or a module of it, on our arrays; None if there is no such one."""
    function = getattr(module, name, None)
    if name.startswith("_") or name in _NOT_OFFERED or isinstance(function, type) \
            or not callable(function):
        return None

    shown = module.__name__.replace("numpy", "np")

    @functools.wraps(function)
    def through_numpy(*arguments: Any, **keywords: Any) -> Any:
        result = from_host(function(*[to_host(item) for item in arguments],
                                    **{key: to_host(item) for key, item in keywords.items()}))
        # Where one of the two is whole numbers, there would be no gradient anyway.
        if autograd.is_recording() and _has_floats((*arguments, *keywords.values())) \
                and _has_floats(result):
            raise NotImplementedError(f"mx.{shown}.{name} is computed by NumPy and has no gradient: "
                                      "call it under autograd.pause()")
        return result

    return through_numpy
