# SPDX-License-Identifier: Apache-2.0
"""mx.nd.random: random numbers as NDArrays. mx.random.seed seeds them."""
import typing
from typing import Any, Optional

import numpy as onp

from .. import _types
from .._functions import lazy
from .._registry import invoke
from ..base import mx_real_t
from ..context import Context, choose
from .creation import Shape, _shape, array
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


def _by_numpy(name: str, parameters: tuple, shape: Optional[Shape], dtype: Any, ctx: Optional[Context],
              out: Any) -> NDArray:
    """Numbers of NumPy's distribution, by a generator that mx.random.seed reaches. For arrays of
    parameters `shape` numbers for each."""
    state = onp.random.RandomState(int(randint(0, 2 ** 31 - 1).asscalar()))
    values = onp.broadcast_arrays(*[onp.asarray(value) for value in parameters])
    more = () if shape is None else _shape(shape)
    size = values[0].shape + more if out is None else out.shape
    spread = [value.reshape(value.shape + (1,) * (len(size) - value.ndim)) for value in values]
    made = array(getattr(state, name)(*spread, size=size or (1,)), ctx=ctx, dtype=dtype)
    return made if out is None else made.copyto(out)


def exponential(scale: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
                ctx: Optional[Context] = None, out: Any = None) -> NDArray:
    """Exponentially distributed numbers of mean `scale`."""
    return _by_numpy("exponential", (scale,), shape, dtype, ctx, out)


def gamma(alpha: float = 1, beta: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
          ctx: Optional[Context] = None, out: Any = None) -> NDArray:
    """Numbers of a gamma distribution of shape `alpha` and scale `beta`: the mean is their product."""
    return _by_numpy("gamma", (alpha, beta), shape, dtype, ctx, out)


def poisson(lam: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, out: Any = None) -> NDArray:
    """Numbers of events where `lam` are expected."""
    return _by_numpy("poisson", (lam,), shape, dtype, ctx, out)


def negative_binomial(k: int = 1, p: float = 1, shape: Optional[Shape] = None, dtype: Any = None,
                      ctx: Optional[Context] = None, out: Any = None) -> NDArray:
    """Numbers of failures before `k` successes of probability `p` each."""
    return _by_numpy("negative_binomial", (k, p), shape, dtype, ctx, out)


def multinomial(data: NDArray, shape: Optional[Shape] = None, dtype: Any = "int32",
                out: Any = None) -> NDArray:
    """Places drawn by probability: of each row of `data`, whose last axis sums to 1, `shape` places."""
    bounds = data.asnumpy().astype("float64").cumsum(axis=-1)
    more = () if shape is None else _shape(shape)
    draws = uniform(shape=(*data.shape[:-1], *more) or (1,), dtype="float64", ctx=data.ctx).asnumpy()
    below = bounds.reshape(data.shape[:-1] + (1,) * len(more) + data.shape[-1:])
    places = (draws[..., None] * below[..., -1:] >= below).sum(axis=-1)
    made = array(places, ctx=data.ctx, dtype=dtype)
    return made if out is None else made.copyto(out)


def shuffle(data: NDArray, out: Any = None) -> NDArray:
    """The array with its rows in random order."""
    return invoke(NDArray, "_shuffle", data, out=out)


_get, __dir__ = lazy(__name__, ("_random_", "random_"), NDArray)

if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._random_functions import *  # noqa: F403
else:
    __getattr__ = _get
