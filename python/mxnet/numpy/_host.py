# SPDX-License-Identifier: Apache-2.0
"""Functions that NumPy computes."""
import functools
from typing import Any, Callable, Optional

import numpy as onp

from .. import autograd
from .creation import array

_NOT_OFFERED = frozenset(("save", "savez", "load", "test", "show_config"))


def _to_host(value: Any) -> Any:
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    if isinstance(value, (list, tuple)):
        return type(value)(_to_host(item) for item in value)
    return value


def _from_host(value: Any) -> Any:
    if isinstance(value, (onp.ndarray, onp.generic)) and value.dtype.kind in "fiub":
        return array(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_from_host(item) for item in value)
    return value


def host_function(name: str) -> Optional[Callable[..., Any]]:
    """mx.np's function `name`, computed by NumPy's; None if NumPy has no such function."""
    function = getattr(onp, name, None)
    if name.startswith("_") or name in _NOT_OFFERED or isinstance(function, type) \
            or not callable(function):
        return None

    @functools.wraps(function)
    def through_numpy(*arguments: Any, **keywords: Any) -> Any:
        if autograd.is_recording():
            raise NotImplementedError(f"mx.np.{name} is computed by NumPy and has no gradient: "
                                      "call it under autograd.pause()")
        return _from_host(function(*[_to_host(item) for item in arguments],
                                   **{key: _to_host(item) for key, item in keywords.items()}))

    return through_numpy
