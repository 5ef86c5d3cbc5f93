# SPDX-License-Identifier: Apache-2.0
"""Averages and deviations of mx.np."""
import math
from typing import Any, Optional, Sequence, Union

from .. import autograd
from .._registry import invoke
from .creation import ones_like
from .multiarray import ndarray

Axis = Union[None, int, Sequence[int]]


def var(a: ndarray, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0,
        keepdims: bool = False) -> ndarray:
    """The mean of the squares of distances from the mean; the divisor is the number less `ddof`."""
    if not autograd.is_recording():
        return invoke(ndarray, "_npi_var", a, out=out, axis=axis, dtype=dtype, ddof=ddof,
                      keepdims=keepdims)
    # The operator has no gradient; what it is made of has.
    values = a if dtype is None else a.astype(dtype)
    squares = (values - values.mean(axis=axis, keepdims=True)) ** 2
    spread = squares.mean(axis=axis, keepdims=keepdims)
    count = values.size // max(math.prod(spread.shape), 1)
    return spread if ddof == 0 else spread * (count / (count - ddof))


def std(a: ndarray, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0,
        keepdims: bool = False) -> ndarray:
    """The root of the variance."""
    if autograd.is_recording():
        return var(a, axis, dtype, None, ddof, keepdims) ** 0.5
    return invoke(ndarray, "_npi_std", a, out=out, axis=axis, dtype=dtype, ddof=ddof,
                  keepdims=keepdims)


def average(a: ndarray, axis: Axis = None, weights: Optional[ndarray] = None) -> ndarray:
    """The mean; with `weights`, of a's shape or of that of the axis, each element counts as much."""
    if weights is None:
        return a.mean(axis=axis)
    if weights.shape != a.shape and isinstance(axis, int):
        weights = weights.reshape((-1,) + (1,) * (a.ndim - 1 - axis % a.ndim))
    return (a * weights).sum(axis=axis) / (ones_like(a) * weights).sum(axis=axis)
