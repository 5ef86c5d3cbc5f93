# SPDX-License-Identifier: Apache-2.0
"""Products of mx.np that are made of others, and so have gradients."""
import math
from typing import Any, Sequence, Tuple, Union

import numpy as onp

from .._array import BaseArray, promoted
from .._registry import invoke
from ..ndarray.ndarray import binary_functions
from .creation import array, beside
from .functions import place_of
from .multiarray import TRIPLES, ndarray

Axes = Union[int, Tuple[Any, Any]]


_multiply = binary_functions(ndarray, TRIPLES, ("multiply",))["multiply"]


def _pair(a: Any, b: Any) -> Sequence[ndarray]:
    """Two operands as arrays of one type."""
    like = next((item for item in (a, b) if isinstance(item, BaseArray)), None)
    return promoted([item if isinstance(item, BaseArray) else array(item) if like is None else beside(like, item)
                     for item in (a, b)])


def dot(a: Any, b: Any, out: Any = None) -> ndarray:
    """The dot product of two arrays; with a number, the product."""
    if isinstance(a, (int, float)) or isinstance(b, (int, float)):
        return _multiply(a, b, out=out)
    return invoke(ndarray, "_npi_dot", *_pair(a, b), out=out)


def matmul(a: Any, b: Any, out: Any = None) -> ndarray:
    """The product of two matrices, or of lists of them."""
    return invoke(ndarray, "_npi_matmul", *_pair(a, b), out=out)


def _summed(axes: Any, rank: int) -> list:
    return [place_of(axis, rank) for axis in (axes if isinstance(axes, (list, tuple)) else (axes,))]


def _lengths(array: ndarray, axes: Sequence[int]) -> tuple:
    return tuple(array.shape[axis] for axis in axes)


def tensordot(a: ndarray, b: ndarray, axes: Axes = 2) -> ndarray:
    """Products summed over axes: the last `axes` of a and the first of b, or those of two lists.

    ValueError if their sizes differ.
    """
    if isinstance(axes, (int, onp.integer)):
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


def outer(a: ndarray, b: ndarray, out: Any = None) -> ndarray:
    """The product of each element of a with each of b."""
    return _multiply(a.reshape((-1, 1)), b.reshape((1, -1)), out)
