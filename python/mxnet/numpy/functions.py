# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.np whose arguments are NumPy's and not the operator's."""
from typing import Any, List, Optional, Sequence, Union

import numpy as onp

from .. import _types
from .._array import BaseArray
from .._registry import exists, invoke
from ._host import host_function
from .creation import array, full
from .multiarray import ndarray


def _first(*names: str) -> str:
    """The first of these operators that the library has."""
    return next((name for name in names if exists(name)), names[0])


def concatenate(seq: Sequence[ndarray], axis: Optional[int] = 0, out: Any = None) -> ndarray:
    """The arrays joined along an axis; None: flattened first."""
    if axis is None:
        seq, axis = [ravel(item if isinstance(item, BaseArray) else array(item)) for item in seq], 0
    return invoke(ndarray, "Concat", *seq, out=out, dim=axis, num_args=len(seq))


def stack(arrays: Sequence[ndarray], axis: int = 0, out: Any = None) -> ndarray:
    """The arrays joined along a new axis."""
    return invoke(ndarray, "stack", *arrays, out=out, axis=axis, num_args=len(arrays))


def split(ary: ndarray, indices_or_sections: Union[int, Sequence[int]],
          axis: int = 0) -> List[ndarray]:
    """Parts of an array: so many equal ones, or those between the places given."""
    length = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or length % indices_or_sections:
            raise ValueError(f"{length} rows are no {indices_or_sections} equal parts")
        part = length // indices_or_sections
        places = [part * at for at in range(1, indices_or_sections)]
    else:
        places = list(indices_or_sections)
    parts = [slice(*pair) for pair in zip([0, *places], [*places, length])]
    if ary.size == 0:  # the parts are made by an operator, so that they are recorded
        bounds = [range(length)[part] for part in parts]
        return [invoke(ndarray, "slice_axis", ary, axis=axis, begin=at.start if at else 0, end=at.stop if at else 0)
                for at in bounds]
    before = (slice(None),) * (axis % ary.ndim)
    return [ary[before + (part,)] for part in parts]


def array_split(ary: ndarray, indices_or_sections: Union[int, Sequence[int]],
                axis: int = 0) -> List[ndarray]:
    """As split, but parts may differ by one: the first ones are longer."""
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1:
            raise ValueError(f"{indices_or_sections} parts are none")
        part, longer = divmod(ary.shape[axis], indices_or_sections)
        indices_or_sections = [at * part + min(at, longer) for at in range(1, indices_or_sections)]
    return split(ary, indices_or_sections, axis)


def take(a: ndarray, indices: Any, axis: Optional[int] = None, mode: str = "raise",
         out: Any = None) -> ndarray:
    """Parts by place along an axis; None: elements of the array as a vector. `mode` says what a place
    outside is: 'raise' an error, 'clip' the nearest, 'wrap' counted around."""
    if axis is None:
        a, axis = a.reshape((-1,)), 0
    places = indices if isinstance(indices, BaseArray) else array(indices, dtype="int64")
    return invoke(ndarray, "take", a, places, out=out, axis=axis, mode=mode)


def where(condition: ndarray, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere. Numbers are repeated. Without x and y
    the places where it holds, an array for each axis."""
    if x is None and y is None:
        return condition.nonzero()

    def as_array(value: Any, other: Any) -> ndarray:
        if isinstance(value, BaseArray):
            return value
        like = other if isinstance(other, BaseArray) else None
        dtype = like.dtype if like is not None else "float32"
        return full(condition.shape, value, dtype, ctx=condition.ctx)

    return invoke(ndarray, _first("_npi_where", "where"), condition, as_array(x, y),
                  as_array(y, x))


def transpose(a: ndarray, axes: Optional[Sequence[int]] = None) -> ndarray:
    """The array with its axes in another order, by default reversed. ValueError if an axis is there twice."""
    if axes is not None and len(set(axis % a.ndim for axis in axes)) != len(axes):
        raise ValueError(f"axes is {tuple(axes)}: an axis is there twice")
    return invoke(ndarray, "_npi_transpose", a, axes=axes)


def reshape(a: ndarray, newshape: Any, order: str = "C") -> ndarray:
    """The array in another shape; one size may be -1, what is left over."""
    return a.reshape(newshape, order=order)


def ravel(a: ndarray, order: str = "C") -> ndarray:
    """All elements as a vector."""
    return a.reshape((-1,), order=order)


def copy(a: ndarray, order: str = "C", subok: bool = False) -> ndarray:
    """A new array with the same values. `order`: 'C', or what asks for no other."""
    _types.check_order(order)
    return invoke(ndarray, "_npi_copy", a)


def clip(a: ndarray, a_min: Optional[float], a_max: Optional[float], out: Any = None) -> ndarray:
    """Elements below a_min become a_min, above a_max a_max; None: no bound."""
    return invoke(ndarray, "clip", a, out=out,
                  a_min=float("-inf") if a_min is None else float(a_min),
                  a_max=float("inf") if a_max is None else float(a_max))


def place_of(axis: int, rank: int) -> int:
    """An axis counted from the first; ValueError if there is no such one."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for {rank} dimensions")
    return axis % rank


def shape(a: Any) -> tuple:
    """The size of each dimension."""
    return a.shape


def ndim(a: Any) -> int:
    """The number of dimensions."""
    return a.ndim


def size(a: Any, axis: Optional[int] = None) -> int:
    """The number of elements, or of places on an axis."""
    return a.size if axis is None else a.shape[axis]


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Writes an array, a NumPy array or a number to another array, repeated to its shape; with `where`,
    where that holds. TypeError, as NumPy's, for a type that is not to be cast."""
    kind = src.dtype if hasattr(src, "dtype") else None
    if where is not True or not isinstance(dst, BaseArray):
        return host_function("copyto")(dst, src, casting, where)  # type: ignore[misc]
    if kind is not None and not onp.can_cast(kind, dst.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {kind} to {dst.dtype} according to the rule '{casting}'")
    dst[...] = src
    return None
