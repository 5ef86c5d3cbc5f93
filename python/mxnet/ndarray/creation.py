# SPDX-License-Identifier: Apache-2.0
"""Functions that make NDArrays."""
from typing import Any, List, Optional, Sequence, Union

import numpy as onp

from .. import _dlpack, _types
from .._array import BaseArray
from .._registry import invoke
from ..base import _LIB, check_call, mx_real_t
from ..context import Context, choose
from ..util import is_np_shape
from .ndarray import NDArray

Shape = Union[int, Sequence[int]]


def _shape(shape: Shape) -> tuple:
    return (shape,) if isinstance(shape, (int, onp.integer)) else tuple(shape)


def _made(name: str, ctx: Optional[Context], device: Optional[Context], dtype: Any,
          out: Any = None, **parameters: Any) -> NDArray:
    return invoke(NDArray, name, out=out, ctx=choose(ctx, device),
                  dtype=_types.type_name(dtype or mx_real_t), **parameters)


def empty(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None,
          device: Optional[Context] = None) -> NDArray:
    """An array whose values are undefined."""
    return NDArray._empty(_shape(shape), choose(ctx, device),
                          _types.type_code(dtype or mx_real_t))


def zeros(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, out: Any = None,
          device: Optional[Context] = None) -> NDArray:
    """An array of zeros."""
    return _made("_zeros", ctx, device, dtype, out, shape=_shape(shape))


def ones(shape: Shape, ctx: Optional[Context] = None, dtype: Any = None, out: Any = None,
         device: Optional[Context] = None) -> NDArray:
    """An array of ones."""
    return _made("_ones", ctx, device, dtype, out, shape=_shape(shape))


def full(shape: Shape, val: float, ctx: Optional[Context] = None, dtype: Any = None,
         out: Any = None, device: Optional[Context] = None) -> NDArray:
    """An array filled with a number."""
    return _made("_full", ctx, device, dtype, out, shape=_shape(shape), value=val if isinstance(val, (int, onp.integer)) else float(val))


def arange(start: float, stop: Optional[float] = None, step: float = 1, repeat: int = 1,
           infer_range: bool = False, ctx: Optional[Context] = None, dtype: Any = None,
           device: Optional[Context] = None) -> NDArray:
    """start, start + step ... below stop; with one number, from 0 below it."""
    if stop is None and not infer_range:
        start, stop = 0, start
    return _made("_arange", ctx, device, dtype, start=_types.number(start),
                 stop=None if stop is None else _types.number(stop), step=_types.number(step),
                 repeat=repeat, infer_range=infer_range)


def eye(N: int, M: int = 0, k: int = 0, ctx: Optional[Context] = None, dtype: Any = None,
        device: Optional[Context] = None) -> NDArray:
    """N x M (or N x N) zeros with ones on the diagonal k."""
    return _made("_eye", ctx, device, dtype, N=N, M=M, k=k)


def linspace(start: float, stop: float, num: int, endpoint: bool = True,
             ctx: Optional[Context] = None, dtype: Any = None,
             device: Optional[Context] = None) -> NDArray:
    """`num` numbers evenly spaced from start to stop."""
    values = onp.linspace(start, stop, num, endpoint)
    return array(values, ctx=ctx, dtype=dtype, device=device)


def _scalar_shape() -> tuple:
    """Of the array of a number: () with NumPy's shapes."""
    return () if is_np_shape() else (1,)


def array(source_array: Any, ctx: Optional[Context] = None, dtype: Any = None,
          device: Optional[Context] = None) -> NDArray:
    """An array with the values of an array, a NumPy array, a number or nested lists.

    `dtype`: that of the source if it is one of ours, else float32.
    """
    target = choose(ctx, device)
    if isinstance(source_array, BaseArray):
        made = empty(source_array.shape or _scalar_shape(), target, dtype or source_array.dtype)
        made[...] = source_array.reshape(made.shape)
        return made
    values = onp.asarray(source_array)
    if values.dtype == object:
        raise ValueError("an array cannot be made of values of unequal lengths or of no numbers")
    made = empty(values.shape or _scalar_shape(), target, dtype)
    made._copy_from(values)
    return made


def from_numpy(ndarray: onp.ndarray, zero_copy: bool = False) -> NDArray:
    """An array with the values and the type of a NumPy array. `zero_copy`: on its memory; the NumPy array
    is read-only from then on."""
    return _dlpack.import_numpy(NDArray, ndarray) if zero_copy else array(ndarray, dtype=ndarray.dtype)


def from_dlpack(dlpack: Any) -> NDArray:
    """The array on the memory of a DLPack capsule, or of an object that has `__dlpack__`."""
    return _dlpack.import_from(NDArray, dlpack)


to_dlpack_for_read, to_dlpack_for_write = _dlpack.to_dlpack_for_read, _dlpack.to_dlpack_for_write


def concatenate(arrays: List[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """The arrays joined along an axis; a single one is not copied unless `always_copy`."""
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return invoke(NDArray, "Concat", *arrays, dim=axis, num_args=len(arrays))


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """The array with some of its axes at other places. ValueError: it has no such axis."""
    def listed(axes: Any) -> tuple:
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        for axis in axes:
            if not -tensor.ndim <= axis < tensor.ndim:
                raise ValueError(f"axis {axis} is out of range for {tensor.ndim} dimensions")
        return axes

    return invoke(NDArray, "_npi_moveaxis", tensor, source=listed(source),
                  destination=listed(destination))


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Writes a row of zeros and a one for each index."""
    return invoke(NDArray, "one_hot", indices, out=out, depth=out.shape[1])


def waitall() -> None:
    """Waits until every operation is done; raises what went wrong in one that nobody asked."""
    check_call(_LIB.MXNDArrayWaitAll())
