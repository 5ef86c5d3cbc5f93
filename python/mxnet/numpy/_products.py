# SPDX-License-Identifier: Apache-2.0
"""Products that NumPy computes, made of operators where autograd records."""
from typing import Any

from .. import numpy as _np
from ._derivatives import is_recorded
from ._host import host_function
from .multiarray import ndarray

np: Any = _np  # its functions are made when they are asked for


def vdot(a: ndarray, b: ndarray) -> ndarray:
    """The sum of the products of all elements."""
    if not is_recorded(a, b):
        return host_function("vdot")(a, b)
    return np.dot(a.reshape(-1), b.reshape(-1))


def kron(a: ndarray, b: ndarray) -> ndarray:
    """Blocks: `b` times each element of `a`."""
    if not is_recorded(a, b):
        return host_function("kron")(a, b)
    rank = max(a.ndim, b.ndim)
    shapes = [(1,) * (rank - item.ndim) + tuple(item.shape) for item in (a, b)]
    apart = [tuple(size for pair in zip(shape, (1,) * rank) for size in (pair if first else pair[::-1]))
             for shape, first in zip(shapes, (True, False))]
    product = a.reshape(apart[0]) * b.reshape(apart[1])
    return product.reshape(tuple(int(m * n) for m, n in zip(*shapes)))


def _part(a: ndarray, place: int) -> ndarray:
    return a[..., place]


def cross(a: ndarray, b: ndarray, axisa: int = -1, axisb: int = -1, axisc: int = -1,
          axis: Any = None) -> ndarray:
    """The product of vectors of three elements (or two, whose third is 0)."""
    if not is_recorded(a, b):
        return host_function("cross")(a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if not {a.shape[-1], b.shape[-1]} <= {2, 3}:
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    last = _part(a, 0) * _part(b, 1) - _part(a, 1) * _part(b, 0)
    if a.shape[-1] == b.shape[-1] == 2:
        return last
    a_rest, b_rest = [_part(item, 2) if item.shape[-1] == 3 else _part(item, 0) * 0 for item in (a, b)]
    made = np.stack([_part(a, 1) * b_rest - a_rest * _part(b, 1), a_rest * _part(b, 0) - _part(a, 0) * b_rest,
                     last], axis=-1)
    return np.moveaxis(made, -1, axisc)


__all__ = ["cross", "kron", "vdot"]
