# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.npx that are made of operators, and so have gradients."""
from typing import Any, Optional

from .. import numpy as np
from .._registry import invoke
from ..numpy import ndarray


def _at_points(a: ndarray, ind: ndarray, val: Any) -> ndarray:
    """Values repeated to the shape of what lies at the points of an array."""
    shape = ind.shape[1:] + a.shape[ind.shape[0]:]
    values = val if isinstance(val, ndarray) else np.array(val, dtype=a.dtype, ctx=a.ctx)
    return np.broadcast_to(values.astype(a.dtype, copy=False), shape)


def index_update(a: ndarray, ind: ndarray, val: Any) -> ndarray:
    """The array with other values at points: `ind` has a row of places for each of its first axes. Of
    several values for one point the last one stays."""
    return invoke(ndarray, "_npi_scatter_set_nd", a, _at_points(a, ind, val), ind, shape=a.shape)


def index_add(a: ndarray, ind: ndarray, val: Any) -> ndarray:
    """The array with values added at points, as index_update has them; of several for one point all."""
    sums = np.zeros_like(a)
    invoke(ndarray, "_backward_gather_nd", _at_points(a, ind, val), ind, out=sums, shape=())
    return a + sums


def nonzero(a: ndarray) -> ndarray:
    """The places of what is not zero, a row for each."""
    return np.stack(a.nonzero(), axis=1)


def constraint_check(condition: ndarray, msg: str = "Constraint violated.") -> ndarray:
    """True if all of the condition holds. ValueError, with the message, if not: it waits for it."""
    if not bool(condition.all()):
        raise ValueError(msg)
    return np.array(True, ctx=condition.ctx)


def _softmax_where(name: str, data: ndarray, mask: ndarray, axis: int, temperature: Optional[float],
                   instead: float) -> ndarray:
    # Beside a number so low that its power is 0; rows without any element have equal ones.
    kept = mask.astype("bool")
    low = np.full((), -1e30 if data.dtype != "float16" else -6e4, data.dtype, ctx=data.ctx)
    found = invoke(ndarray, name, np.where(kept, data, low), axis=axis, temperature=temperature)
    return np.where(kept, found, np.full((), instead, found.dtype, ctx=data.ctx))


def masked_softmax(data: ndarray, mask: ndarray, axis: int = -1, temperature: Optional[float] = None) -> ndarray:
    """The softmax of the elements where the mask holds; 0 elsewhere."""
    return _softmax_where("softmax", data, mask, axis, temperature, 0)


def masked_log_softmax(data: ndarray, mask: ndarray, axis: int = -1, temperature: Optional[float] = None) -> ndarray:
    """The logarithm of the softmax of the elements where the mask holds; -inf elsewhere."""
    return _softmax_where("log_softmax", data, mask, axis, temperature, float("-inf"))
