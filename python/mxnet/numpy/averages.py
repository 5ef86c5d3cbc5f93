# SPDX-License-Identifier: Apache-2.0
"""Averages and deviations of mx.np."""
import math
from typing import Any, Sequence, Union, cast

import numpy as onp

from .. import _types, autograd
from .._array import BaseArray, promoted
from .._registry import invoke
from . import _masks
from .creation import beside, ones_like
from .functions import place_of
from .multiarray import ndarray

Axis = Union[None, int, Sequence[int]]


def _spread(a: ndarray, axis: Axis, dtype: Any, ddof: int, keepdims: bool) -> ndarray:
    """The variance, made of functions that have gradients, which the operator has not."""
    values = a if dtype is None else a.astype(dtype)
    squares = (values - values.mean(axis=axis, keepdims=True)) ** 2
    spread = squares.mean(axis=axis, keepdims=keepdims)
    if ddof == 0:
        return spread
    count = values.size // max(math.prod(spread.shape), 1)
    return spread * count / max(count - ddof, 0)


def root(squares: ndarray) -> ndarray:
    """The square root, whose gradient is 0 and not NaN where a sum of squares is 0."""
    if not autograd.is_recording():
        return invoke(ndarray, "_npi_sqrt", squares)
    none = cast(ndarray, squares == 0).astype(squares.dtype)
    return invoke(ndarray, "_npi_sqrt", squares + none) - none


def var(a: ndarray, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0,
        keepdims: bool = False, *, where: Any = True) -> ndarray:
    """The mean of the squares of distances from the mean; the divisor is the number less `ddof`, but
    not below 0. `where`: which elements count."""
    if where is not True:
        return _masks.spread(a, where, axis, dtype, out, ddof, keepdims, lambda squares: squares)
    if not autograd.is_recording():
        return invoke(ndarray, "_npi_var", a, out=out, axis=axis, dtype=dtype, ddof=ddof,
                      keepdims=keepdims)
    spread = _spread(a, axis, dtype, ddof, keepdims)
    return spread if out is None else invoke(ndarray, "_copy", spread, out=out)


def std(a: ndarray, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: int = 0,
        keepdims: bool = False, *, where: Any = True) -> ndarray:
    """The root of the variance. Its gradient is 0 where that is 0. `where`: which elements count."""
    if where is not True:
        return _masks.spread(a, where, axis, dtype, out, ddof, keepdims, root)
    if not autograd.is_recording():
        return invoke(ndarray, "_npi_std", a, out=out, axis=axis, dtype=dtype, ddof=ddof,
                      keepdims=keepdims)
    deviation = root(_spread(a, axis, dtype, ddof, keepdims))
    return deviation if out is None else invoke(ndarray, "_copy", deviation, out=out)


def real(a: ndarray) -> ndarray:
    """The array; of whole numbers and truths float32, in which sums and squares do not wrap."""
    return a if a._type_code in _types.FLOATS else a.astype("float32")


def _along(weights: ndarray, a: ndarray, axis: Axis) -> ndarray:
    """The weights of one axis, in a shape that is repeated to a's."""
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if not isinstance(axis, (int, onp.integer)) or weights.shape != (a.shape[place_of(int(axis), a.ndim)],):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return weights.reshape((-1,) + (1,) * (a.ndim - 1 - int(axis) % a.ndim))


def average(a: ndarray, axis: Axis = None, weights: Any = None, returned: bool = False, *,
            keepdims: bool = False) -> Any:
    """The mean; with `weights`, of a's shape or of that of the axis, each element counts as much.
    `returned`: also the sums of the weights. TypeError and ValueError, as NumPy's, for weights of
    another shape."""
    if weights is None:
        mean = a.mean(axis=axis, keepdims=keepdims)
        return (mean, ones_like(mean) * (a.size / max(mean.size, 1))) if returned else mean
    weights = weights if isinstance(weights, BaseArray) else beside(a, weights)
    if weights.shape != a.shape:
        weights = _along(weights, a, axis)
    a, weights = (real(item) for item in promoted((a, weights)))
    sums = (ones_like(a) * weights).sum(axis=axis, keepdims=keepdims)
    mean = (a * weights).sum(axis=axis, keepdims=keepdims) / sums
    return (mean, sums) if returned else mean
