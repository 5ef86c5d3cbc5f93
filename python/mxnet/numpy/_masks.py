# SPDX-License-Identifier: Apache-2.0
"""`where=` of sums, means, products, extremes and truths: which elements count. What does not is replaced
by what changes nothing, so that gradients go where the elements are."""
from typing import Any, Callable, Tuple

import numpy as onp

from .._array import BaseArray
from .._registry import invoke
from ..base import Default
from .creation import _float_type, array
from .functions import where as chosen
from .multiarray import ndarray

_NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}
REDUCED = frozenset((*_NEUTRAL, "mean", "max", "min", "amax", "amin"))


def _mask(where: Any, shape: Tuple[int, ...], ctx: Any) -> ndarray:
    """Truths of the shape; TypeError and ValueError as NumPy's for what is none, or does not fit."""
    truths = where if isinstance(where, BaseArray) else onp.asarray(where)
    if truths.dtype != bool:
        raise TypeError(f"Cannot cast array data from {truths.dtype!r} to dtype('bool') according to the rule 'safe'")
    try:
        fits = onp.broadcast_shapes(truths.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"where has the shape {truths.shape}, which is not repeated to {shape}")
    made = truths if isinstance(truths, BaseArray) else array(truths, "bool", ctx)
    return invoke(ndarray, "_npi_broadcast_to", made, shape=shape)


def _least_of(name: str, dtype: Any) -> Any:
    """What is no larger than any number of the type; for a minimum no smaller."""
    is_least = name in ("max", "amax")
    if dtype == bool:
        return not is_least
    if onp.issubdtype(dtype, onp.floating):
        return -onp.inf if is_least else onp.inf
    limits = onp.iinfo(dtype)
    return int(limits.min if is_least else limits.max)


def _divided(a: ndarray, mask: ndarray, axis: Any, keepdims: bool, ddof: int = 0) -> ndarray:
    """The mean of what the mask has, as float64; the divisor is less by `ddof`, but not below 0."""
    count = invoke(ndarray, "_npi_sum", mask.astype("float64"), axis=axis, keepdims=keepdims)
    divisor = invoke(ndarray, "_npi_maximum", count - ddof, array(0, "float64", a.ctx)) if ddof else count
    return invoke(ndarray, "_npi_sum", chosen(mask, a, 0.0), axis=axis, keepdims=keepdims) / divisor


def _given_back(result: ndarray, a: ndarray, dtype: Any, out: Any) -> ndarray:
    if out is not None:
        return invoke(ndarray, "_npi_cast", result, dtype=out.dtype, out=out)
    return result.astype(dtype or (a.dtype if onp.issubdtype(a.dtype, onp.floating) else _float_type(None)))


def spread(a: ndarray, where: Any, axis: Any, dtype: Any, out: Any, ddof: int, keepdims: bool,
           finish: Callable[[ndarray], ndarray]) -> ndarray:
    """The variance of what the mask has; `finish` makes of it what is wanted."""
    mask, wide = _mask(where, a.shape, a.ctx), a.astype("float64")
    squares = (wide - _divided(wide, mask, axis, True)) ** 2
    return _given_back(finish(_divided(squares, mask, axis, keepdims, ddof)), a, dtype, out)


def masked(function: Callable[..., Any], a: Any, where: Any, **given: Any) -> ndarray:
    """A function of REDUCED over those elements for which `where` holds."""
    name = function.__name__
    a = a if isinstance(a, BaseArray) else array(a)
    mask = _mask(where, a.shape, a.ctx)
    if name == "mean":
        mean = _divided(a.astype("float64"), mask, given["axis"], bool(given["keepdims"]))
        return _given_back(mean, a, given["dtype"], given["out"])
    if name not in _NEUTRAL and (given["initial"] is None or isinstance(given["initial"], Default)):
        raise ValueError(f"{name} has no value for no elements: with where it needs initial")
    neutral = _NEUTRAL[name] if name in _NEUTRAL else _least_of(name, a.dtype)
    kept: ndarray = chosen(mask, a, array(neutral, a.dtype, a.ctx))
    return function(kept, **given)
