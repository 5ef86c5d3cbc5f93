# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.np that sort and repeat, with NumPy's arguments."""
from typing import Any, Optional

import numpy as onp

from .._array import BaseArray
from .._registry import invoke
from .creation import array
from .functions import take
from .multiarray import ndarray


def _no_order(order: Any) -> None:
    if order is not None:
        raise NotImplementedError("order: arrays have no fields to sort by")


def sort(a: ndarray, axis: Optional[int] = -1, kind: Any = None, order: None = None, *, descending: bool = False,
         stable: Any = None, is_ascend: bool = True, out: Any = None) -> ndarray:
    """A sorted copy; None: flattened first. `kind` and `stable` are NumPy's, and change nothing."""
    _no_order(order)
    return invoke(ndarray, "sort", a, out=out, axis=axis, is_ascend=is_ascend and not descending)


def argsort(a: ndarray, axis: Optional[int] = -1, kind: Any = None, order: None = None, *, descending: bool = False,
            stable: Any = None, is_ascend: bool = True) -> ndarray:
    """Where the sorted elements are, as int64; equal ones stay in their order."""
    _no_order(order)
    return invoke(ndarray, "argsort", a, axis=axis, dtype="int64", is_ascend=is_ascend and not descending)


def repeat(a: ndarray, repeats: Any, axis: Optional[int] = None, out: Any = None) -> ndarray:
    """Each element, or each part along an axis, several times; a list or an array says how often each.

    ValueError if the counts do not fit, or are negative.
    """
    counts = onp.asarray(repeats.asnumpy() if isinstance(repeats, BaseArray) else repeats)
    if counts.ndim == 0:
        return invoke(ndarray, "repeat", a, out=out, repeats=int(counts), axis=axis)
    flat, along = (a.reshape((-1,)), 0) if axis is None else (a, axis)
    places = onp.repeat(onp.arange(flat.shape[along]), counts.astype("int64"))
    return take(flat, array(places, ctx=a.ctx), along, out=out)
