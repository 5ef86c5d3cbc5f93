# SPDX-License-Identifier: Apache-2.0
"""mx.nd.random: random numbers as NDArrays. mx.random.seed seeds them."""
from typing import Any, Optional

from .. import _types
from .._functions import lazy
from .._registry import invoke
from ..base import mx_real_t
from ..context import Context, choose
from .creation import Shape, _shape
from .ndarray import NDArray


def _draw(name: str, shape: Optional[Shape], dtype: Any, ctx: Optional[Context],
          device: Optional[Context], out: Any, **parameters: Any) -> NDArray:
    if out is not None:
        return invoke(NDArray, name, out=out, **parameters)
    return invoke(NDArray, name, shape=_shape(1 if shape is None else shape),
                  dtype=_types.type_name(dtype or mx_real_t), ctx=choose(ctx, device),
                  **parameters)


def _of_each(draw: Any, like: NDArray, shape: Optional[Shape], dtype: Any, ctx: Optional[Context],
             scale: NDArray, offset: NDArray) -> NDArray:
    """offset + scale * standard numbers, of shape like.shape + shape."""
    more = () if shape is None else _shape(shape)
    standard = draw(shape=like.shape + more, dtype=dtype or like.dtype, ctx=ctx)
    spread = like.shape + (1,) * len(more)
    return standard * scale.reshape(spread) + offset.reshape(spread)


def uniform(low: float = 0, high: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, out: Any = None,
            device: Optional[Context] = None) -> NDArray:
    """Numbers of [low, high); for arrays of bounds, `shape` numbers for each."""
    if isinstance(low, NDArray) and isinstance(high, NDArray):
        return _of_each(uniform, low, shape, dtype, ctx or device, high - low, low)
    return _draw("_random_uniform", shape, dtype, ctx, device, out, low=float(low),
                 high=float(high))


def normal(loc: float = 0, scale: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
           ctx: Optional[Context] = None, out: Any = None,
           device: Optional[Context] = None) -> NDArray:
    """Normally distributed numbers of mean `loc` and standard deviation `scale`; for arrays of these,
    `shape` numbers for each."""
    if isinstance(loc, NDArray) and isinstance(scale, NDArray):
        return _of_each(normal, loc, shape, dtype, ctx or device, scale, loc)
    return _draw("_random_normal", shape, dtype, ctx, device, out, loc=float(loc),
                 scale=float(scale))


def randn(*shape: int, loc: float = 0, scale: float = 1, dtype: Any = None,
          ctx: Optional[Context] = None, out: Any = None,
          device: Optional[Context] = None) -> NDArray:
    """normal() with the shape as arguments."""
    return normal(loc, scale, shape or None, dtype, ctx, out, device)


def randint(low: int, high: int, shape: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, out: Any = None,
            device: Optional[Context] = None) -> NDArray:
    """Whole numbers of [low, high), int32 unless told otherwise."""
    return _draw("_random_randint", shape, dtype or "int32", ctx, device, out, low=int(low),
                 high=int(high))


def shuffle(data: NDArray, out: Any = None) -> NDArray:
    """The array with its rows in random order."""
    return invoke(NDArray, "_shuffle", data, out=out)


__getattr__, __dir__ = lazy(__name__, ("_random_", "random_"), NDArray)
