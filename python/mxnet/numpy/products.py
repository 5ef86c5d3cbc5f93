# SPDX-License-Identifier: Apache-2.0
"""Products of mx.np that are made of others, and so have gradients."""
import math
from typing import Any, Sequence, Tuple, Union

from .._array import BaseArray
from .._registry import invoke
from .functions import place_of
from .multiarray import ndarray

Axes = Union[int, Tuple[Any, Any]]


def dot(a: Any, b: Any, out: Any = None) -> ndarray:
    """The dot product of two arrays; with a number, the product."""
    if not isinstance(a, BaseArray) or not isinstance(b, BaseArray):
        return a * b
    return invoke(ndarray, "_npi_dot", a, b, out=out)


def _summed(axes: Any, rank: int) -> list:
    return [place_of(axis, rank) for axis in (axes if isinstance(axes, (list, tuple)) else (axes,))]


def _lengths(array: ndarray, axes: Sequence[int]) -> tuple:
    return tuple(array.shape[axis] for axis in axes)


def tensordot(a: ndarray, b: ndarray, axes: Axes = 2) -> ndarray:
    """Products summed over axes: the last `axes` of a and the first of b, or those of two lists.

    ValueError if their sizes differ.
    """
    if isinstance(axes, int):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    left, right = _summed(axes[0], a.ndim), _summed(axes[1], b.ndim)
    if _lengths(a, left) != _lengths(b, right):
        raise ValueError(f"tensordot over axes {left} of {a.shape} and {right} of {b.shape}: their "
                         "sizes differ")
    kept_left = [axis for axis in range(a.ndim) if axis not in left]
    kept_right = [axis for axis in range(b.ndim) if axis not in right]
    count = math.prod(_lengths(a, left))
    rows = a.transpose(kept_left + left).reshape((math.prod(_lengths(a, kept_left)), count))
    columns = b.transpose(right + kept_right).reshape((count, math.prod(_lengths(b, kept_right))))
    return dot(rows, columns).reshape(_lengths(a, kept_left) + _lengths(b, kept_right))


def inner(a: ndarray, b: ndarray) -> ndarray:
    """Products summed over the last axis of both."""
    return tensordot(a, b, (-1, -1))


def outer(a: ndarray, b: ndarray) -> ndarray:
    """The product of each element of a with each of b."""
    return a.reshape((-1, 1)) * b.reshape((1, -1))
