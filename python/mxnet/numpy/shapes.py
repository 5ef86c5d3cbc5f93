# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.np about places in arrays that are made of operators, and so have gradients."""
import functools
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as onp

from .._registry import invoke
from ._host import host_function, to_host
from .creation import array, asarray, full
from .functions import concatenate, place_of, take
from .multiarray import ndarray

Widths = Union[int, Sequence[int], Sequence[Sequence[int]]]
MOVING = ("delete", "dsplit", "fliplr", "flipud", "hsplit", "rot90", "take_along_axis", "vsplit")
_BY_PLACE = ("edge", "reflect", "symmetric", "wrap")


def _per_axis(values: Any, rank: int) -> List[Tuple[Any, Any]]:
    """NumPy's ways to say two values for each axis."""
    return [(pair[0], pair[1]) for pair in onp.broadcast_to(onp.asarray(values), (rank, 2)).tolist()]


def _with_constants(a: ndarray, axis: int, widths: Tuple[int, int], values: Tuple[Any, Any]) -> ndarray:
    def block(length: int, value: Any) -> List[ndarray]:
        shape = a.shape[:axis] + (length,) + a.shape[axis + 1:]
        return [full(shape, value, a.dtype, ctx=a.ctx)] if length else []

    return concatenate([*block(widths[0], values[0]), a, *block(widths[1], values[1])], axis)


def pad(x: ndarray, pad_width: Widths, mode: str = "constant", **settings: Any) -> ndarray:
    """More at the edges. `pad_width`: how much before and after, of each axis or of all; `settings`:
    NumPy's, `constant_values` for one. Without gradients: modes that compute what they add.

    ValueError for negative widths.
    """
    widths = _per_axis(pad_width, x.ndim)
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"pad_width is {pad_width}; it cannot be negative")
    if mode != "constant" and (mode not in _BY_PLACE or settings):
        return host_function("pad")(x, pad_width, mode, **settings)
    constants = _per_axis(settings.pop("constant_values", 0), x.ndim)
    if settings:
        raise ValueError(f"pad has no {', '.join(settings)} in mode 'constant'; it has constant_values")
    for axis, pair in enumerate(widths):
        if not any(pair):
            continue
        if mode == "constant":
            x = _with_constants(x, axis, pair, constants[axis])
        else:
            places = onp.pad(onp.arange(x.shape[axis]), pair, mode)
            x = take(x, array(places, ctx=x.ctx), axis)
    return x


def _moving(name: str) -> Callable[..., Any]:
    """NumPy's function that moves or leaves out elements of its first argument: where they go is what
    it does with their places."""
    function = getattr(onp, name)

    @functools.wraps(function)
    def moved(a: ndarray, *arguments: Any, **keywords: Any) -> Any:
        flat, places = a.reshape((-1,)), onp.arange(a.size).reshape(a.shape)
        found = function(places, *map(to_host, arguments),
                         **{key: to_host(value) for key, value in keywords.items()})
        parts = [take(flat, array(part.reshape(-1), ctx=a.ctx)).reshape(part.shape)
                 for part in (found if isinstance(found, list) else [found])]
        return parts if isinstance(found, list) else parts[0]

    return moved


globals().update({name: _moving(name) for name in MOVING})


def append(arr: ndarray, values: Any, axis: Optional[int] = None) -> ndarray:
    """The arrays joined along an axis; None: flattened first."""
    return concatenate([arr, values], axis)


def diff(a: ndarray, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> ndarray:
    """The differences of neighbours along an axis, `n` times; `prepend` and `append` are put around first.

    ValueError for a negative `n`.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a
    axis = place_of(axis, a.ndim)
    ends = [None if end is None else end if isinstance(end, ndarray) else array(end, a.dtype, ctx=a.ctx)
            for end in (prepend, append)]
    for at, end in enumerate(ends):
        if end is not None and end.ndim == 0:
            ends[at] = invoke(ndarray, "broadcast_to", end.reshape((1,) * a.ndim),
                              shape=tuple(1 if place == axis else size for place, size in enumerate(a.shape)))
    around = [item for item in (ends[0], a, ends[1]) if item is not None]
    a = concatenate(around, axis) if len(around) > 1 else a
    before = (slice(None),) * axis
    for _ in range(n):
        a = a[before + (slice(1, None),)] - a[before + (slice(None, -1),)]
    return a


def broadcast_to(array: Any, shape: Union[int, Sequence[int]],  # pylint: disable=redefined-outer-name
                 subok: bool = False) -> ndarray:
    """An array or a number, repeated to a shape."""
    return invoke(ndarray, "_npi_broadcast_to", asarray(array), shape=shape)


def broadcast_arrays(*args: ndarray) -> List[ndarray]:
    """The arrays repeated to one shape."""
    shape = onp.broadcast_shapes(*[item.shape for item in args])
    return [broadcast_to(item, shape) for item in args]


def diagonal(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """The elements whose places on both axes differ by `offset`, along a new last axis.

    ValueError for vectors and numbers.
    """
    if a.ndim < 2:
        raise ValueError(f"an array of shape {a.shape} has no diagonal: it takes two dimensions")
    if a.shape[axis1] + min(offset, 0) <= 0 or a.shape[axis2] - max(offset, 0) <= 0:  # beyond: no elements
        a, offset = invoke(ndarray, "slice_axis", a, axis=axis1, begin=0, end=0), 0
    return invoke(ndarray, "diag", a, k=offset, axis1=axis1, axis2=axis2)


def flip(m: ndarray, axis: Union[None, int, Sequence[int]] = None) -> ndarray:
    """The elements of some axes, or of all, in the opposite order."""
    axes = range(m.ndim) if axis is None else (axis,) if isinstance(axis, (int, onp.integer)) else axis
    return invoke(ndarray, "_npi_flip", m, axis=tuple(axes))


def trace(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None,
          out: Any = None) -> ndarray:
    """The sum of a diagonal. ValueError for vectors and numbers."""
    return invoke(ndarray, "_np_sum", diagonal(a, offset, axis1, axis2), out=out, axis=-1, dtype=dtype)


def meshgrid(*xi: ndarray, indexing: str = "xy", sparse: bool = False) -> List[ndarray]:
    """Vectors repeated along each other's axes; 'xy' exchanges the first two axes, 'ij' does not.
    `sparse`: the axes of others have size 1."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is '{indexing}'; valid are: 'xy', 'ij'")
    places = list(range(len(xi)))
    if indexing == "xy":
        places[:2] = places[:2][::-1]
    lengths = [xi[places.index(axis)].size for axis in range(len(xi))]
    spread = [x.reshape([x.size if axis == place else 1 for axis in range(len(xi))])
              for x, place in zip(xi, places)]
    return spread if sparse else [broadcast_to(x, tuple(lengths)) for x in spread]
