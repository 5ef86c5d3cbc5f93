# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.np whose arguments are NumPy's and not the operator's."""
from typing import Any, Callable, List, Optional, Sequence, Union

import numpy as onp

from .. import _types
from .._array import BaseArray, promoted
from .._registry import invoke
from .._types import type_beside, type_name
from ._host import host_function
from .creation import array, beside
from .multiarray import ndarray


def _arrays(items: Sequence[Any]) -> Sequence[ndarray]:
    """What is joined, in the type of all; numbers, lists and NumPy's arrays beside the first array."""
    first = next((item for item in items if isinstance(item, BaseArray)), None)
    if first is None:
        return promoted([array(item) for item in items])
    return promoted([item if isinstance(item, BaseArray) else beside(first, item) for item in items])


def concatenate(seq: Sequence[Any], axis: Optional[int] = 0, out: Any = None) -> ndarray:
    """The arrays joined along an axis; None: flattened first."""
    joined = _arrays(seq)
    if axis is None:
        joined, axis = [ravel(item) for item in joined], 0
    return invoke(ndarray, "Concat", *joined, out=out, dim=axis, num_args=len(joined))


def stack(arrays: Sequence[Any], axis: int = 0, out: Any = None) -> ndarray:
    """The arrays joined along a new axis."""
    return invoke(ndarray, "stack", *_arrays(arrays), out=out, axis=axis, num_args=len(arrays))


def _stacked(name: str, document: str) -> Callable[..., ndarray]:
    def stacked(tup: Sequence[Any], out: Any = None) -> ndarray:
        return invoke(ndarray, f"_npi_{name}", *_arrays(tup), out=out, num_args=len(tup))

    stacked.__name__ = stacked.__qualname__ = name
    stacked.__doc__ = document
    return stacked


vstack = row_stack = _stacked("vstack", "The arrays one below the other; vectors are rows.")
hstack = _stacked("hstack", "The arrays side by side; vectors one after the other.")
dstack = _stacked("dstack", "The arrays joined along the third axis.")
column_stack = _stacked("column_stack", "The arrays side by side; vectors are columns.")


def split(ary: ndarray, indices_or_sections: Union[int, Sequence[int]],
          axis: int = 0) -> List[ndarray]:
    """Parts of an array: so many equal ones, or those between the places given."""
    length = ary.shape[axis]
    if isinstance(indices_or_sections, (int, onp.integer)):
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
    if isinstance(indices_or_sections, (int, onp.integer)):
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


def nonzero(a: Any) -> Any:
    """Where elements are not 0: an array of places for each axis."""
    return host_function("nonzero")(a)


def where(condition: ndarray, x: Any = None, y: Any = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere. Numbers are repeated. Without x and y
    the places where it holds, an array for each axis."""
    if x is None and y is None:
        return condition.nonzero()
    like = x if isinstance(x, BaseArray) else y
    if isinstance(like, BaseArray):
        sides = promoted([side if isinstance(side, BaseArray) else beside(like, side) for side in (x, y)])
    else:
        sides = promoted([array(side, ctx=getattr(condition, "ctx", None)) for side in (x, y)])
    return invoke(ndarray, "_npi_where", condition, *sides)


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


def clip(a: ndarray, a_min: Any, a_max: Any, out: Any = None) -> ndarray:
    """Elements below a_min become a_min, then those above a_max a_max; None: no bound. Bounds may be
    arrays. A float as bound makes floats of whole numbers."""
    bounds = [bound.item() if isinstance(bound, onp.generic) else int(bound) if isinstance(bound, bool) else bound
              for bound in (a_min, a_max)]
    if any(not isinstance(bound, (int, float, type(None))) for bound in bounds):
        a = a if bounds[0] is None else _bounded("maximum", a, bounds[0], out if bounds[1] is None else None)
        return a if bounds[1] is None else _bounded("minimum", a, bounds[1], out)
    for bound in bounds:
        a = a if bound is None else a.astype(type_beside(type_name(a.dtype), bound), copy=False)
    low, high = -onp.inf if bounds[0] is None else bounds[0], onp.inf if bounds[1] is None else bounds[1]
    return invoke(ndarray, "clip", a, out=out, a_min=min(low, high), a_max=high)  # of crossed ones the upper


def _bounded(name: str, a: ndarray, bound: Any, out: Any) -> ndarray:
    bound = bound if isinstance(bound, BaseArray) else beside(a, bound)
    return invoke(ndarray, f"_npi_{name}", *promoted((a, bound)), out=out)


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
        return host_function("copyto")(dst, src, casting, where)
    if kind is not None and not onp.can_cast(kind, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {kind} to {dst.dtype} according to the rule '{casting}'")
    dst[...] = src
    return None
