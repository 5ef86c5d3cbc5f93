# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays of mx.np. `dtype`: float32 unless told otherwise; `ctx` and `device`
are two names of one argument."""
from typing import Any, Optional, Sequence, Union

import numpy as onp

from .. import _dlpack, _types
from .._array import BaseArray, convert_operand
from .._registry import invoke
from ..context import Context, choose
from ..util import is_np_default_dtype
from .multiarray import filled, ndarray

Shape = Union[int, Sequence[int]]


def _shape(shape: Optional[Shape]) -> tuple:
    if shape is None:
        return ()
    return (int(shape),) if isinstance(shape, (int, onp.integer)) else tuple(shape)


def _float_type(dtype: Any) -> str:
    if dtype is not None:
        return _types.type_name(dtype)
    return "float64" if is_np_default_dtype() else "float32"


def _made(name: str, ctx: Optional[Context], device: Optional[Context], dtype: Any,
          **parameters: Any) -> ndarray:
    return invoke(ndarray, name, ctx=choose(ctx, device), dtype=_float_type(dtype), **parameters)


def from_dlpack(x: Any, /, *, device: Optional[Context] = None, copy: Optional[bool] = None) -> ndarray:
    """The array on the memory of an object that has `__dlpack__`, or of a DLPack capsule; with `copy` on
    memory of its own."""
    return _dlpack.import_from(ndarray, x, device, copy)


def empty(shape: Shape, dtype: Any = None, order: str = "C", ctx: Optional[Context] = None,
          device: Optional[Context] = None) -> ndarray:
    """An array whose values are undefined."""
    _types.check_order(order)
    return ndarray._empty(_shape(shape), choose(ctx, device),
                          _types.type_code(_float_type(dtype)))


def zeros(shape: Shape, dtype: Any = None, order: str = "C", ctx: Optional[Context] = None,
          device: Optional[Context] = None) -> ndarray:
    """An array of zeros."""
    _types.check_order(order)
    return _made("_npi_zeros", ctx, device, dtype, shape=_shape(shape))


def ones(shape: Shape, dtype: Any = None, order: str = "C", ctx: Optional[Context] = None,
         device: Optional[Context] = None) -> ndarray:
    """An array of ones."""
    _types.check_order(order)
    return _made("_npi_ones", ctx, device, dtype, shape=_shape(shape))


def full(shape: Shape, fill_value: Any, dtype: Any = None, order: str = "C",
         ctx: Optional[Context] = None, out: Optional[ndarray] = None,
         device: Optional[Context] = None) -> ndarray:
    """An array filled with a number, or with the values of an array repeated to the shape; its type is
    that of the number or the array if none is given."""
    _types.check_order(order)
    if isinstance(fill_value, (BaseArray, onp.ndarray, list, tuple)):
        made = empty(shape, dtype or getattr(fill_value, "dtype", None), ctx=ctx, device=device) if out is None else out
        made[...] = fill_value
        return made
    if dtype is None and isinstance(fill_value, (bool, onp.bool_)):
        dtype = "bool"
    elif dtype is None and isinstance(fill_value, (int, onp.integer)):
        dtype = "int64" if fill_value < 2 ** 63 else "uint64"
    return filled(_shape(shape), fill_value, _float_type(dtype), choose(ctx, device), out)


def zeros_like(a: ndarray, dtype: Any = None, order: str = "C", subok: bool = True, shape: Optional[Shape] = None,
               ctx: Optional[Context] = None, device: Optional[Context] = None) -> ndarray:
    """Zeros of the shape, and if none is given the type and the device, of another array."""
    return zeros(a.shape if shape is None else shape, dtype or a.dtype, order, ctx=ctx or device or a.ctx)


def ones_like(a: ndarray, dtype: Any = None, order: str = "C", subok: bool = True, shape: Optional[Shape] = None,
              ctx: Optional[Context] = None, device: Optional[Context] = None) -> ndarray:
    """Ones of the shape, and if none is given the type and the device, of another array."""
    return ones(a.shape if shape is None else shape, dtype or a.dtype, order, ctx=ctx or device or a.ctx)


def full_like(a: ndarray, fill_value: Any, dtype: Any = None, order: str = "C", subok: bool = True,
              shape: Optional[Shape] = None, ctx: Optional[Context] = None, device: Optional[Context] = None) -> ndarray:
    """An array filled with a number, of the shape and type of another unless they are given."""
    return full(a.shape if shape is None else shape, fill_value, dtype or a.dtype, order, ctx=ctx or device or a.ctx)


def arange(start: float, stop: Optional[float] = None, step: float = 1, dtype: Any = None,
           ctx: Optional[Context] = None, device: Optional[Context] = None) -> ndarray:
    """start, start + step ... below stop; with one number, from 0 below it. Of a whole `dtype` the
    whole parts of start and step count."""
    if stop is None:
        start, stop = 0, start
    return _made("_npi_arange", ctx, device, dtype, start=_types.number(start), stop=_types.number(stop),
                 step=_types.number(step))


def eye(N: int, M: Optional[int] = None, k: int = 0, dtype: Any = None, order: str = "C",
        ctx: Optional[Context] = None, device: Optional[Context] = None) -> ndarray:
    """N x M (or N x N) zeros with ones on the diagonal k."""
    _types.check_order(order)
    return _made("_npi_eye", ctx, device, dtype, N=N, M=M, k=k)


def identity(n: int, dtype: Any = None, ctx: Optional[Context] = None,
             device: Optional[Context] = None) -> ndarray:
    """n x n zeros with ones on the diagonal."""
    return eye(n, dtype=dtype, ctx=ctx, device=device)


def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0, ctx: Optional[Context] = None,
             device: Optional[Context] = None) -> Any:
    """`num` numbers evenly spaced from start to stop; with `retstep` their distance too."""
    values, step = onp.linspace(start, stop, num, endpoint, retstep=True, axis=axis)
    made = array(values, _float_type(dtype), ctx=ctx, device=device)
    return (made, step) if retstep else made


def array(object: Any, dtype: Any = None,  # pylint: disable=redefined-builtin
          ctx: Optional[Context] = None, device: Optional[Context] = None, *, copy: bool = True,
          ndmin: int = 0) -> ndarray:
    """An array with the values of an array, a NumPy array, a number or nested lists.

    `dtype`: that of an array, but float32 in place of NumPy's float64; float32 for the others. `copy`:
    False gives an array of ours back that is as it is asked for. `ndmin`: at least so many dimensions.
    """
    if ndmin > 0:
        made = array(object, dtype, ctx, device, copy=copy)
        return made.reshape((1,) * max(ndmin - made.ndim, 0) + made.shape)
    target = choose(ctx, device)
    if not copy and isinstance(object, ndarray) and dtype in (None, object.dtype) and target == object.ctx:
        return object
    if isinstance(object, BaseArray):
        made = empty(object.shape, dtype or object.dtype, ctx=target)
        made[...] = object
        return made
    has_type = hasattr(object, "dtype")
    whole = not has_type and dtype is not None and _types.type_name(dtype) in ("int64", "uint64")
    values = onp.asarray(object, dtype if whole else None)  # NumPy makes floats of lists up to 2**64
    if values.dtype.kind not in "fiub":
        raise ValueError("an array cannot be made of values of unequal lengths or of no numbers")
    if dtype is None and (not has_type or values.dtype == onp.float64):
        dtype = "bool" if values.dtype == bool else _float_type(None)
    made = ndarray._empty(values.shape, target, _types.type_code(dtype or values.dtype))
    made._copy_from(values)
    return made


def asarray(a: Any, dtype: Any = None) -> ndarray:
    """`a` if it is an array of the type already, else array(a, dtype)."""
    if isinstance(a, ndarray) and (dtype is None or a.dtype == onp.dtype(dtype)):
        return a
    return array(a, dtype)


def beside(a: ndarray, other: Any) -> ndarray:
    """An array of a number, a list or a NumPy array, in the type that it has as operand beside `a`.

    TypeError for what is no operand.
    """
    if isinstance(other, (onp.bool_, onp.number)):
        other = other.item()
    if isinstance(other, (int, float)):
        name = _types.type_beside(_types.type_name(a.dtype), other)
        return ndarray._from_numpy(onp.asarray(other, name.replace("bfloat16", "float32")), a.ctx)
    made = convert_operand(a, other)
    if made is NotImplemented:
        raise TypeError(f"no array can be made of a {type(other).__name__}")
    return made
