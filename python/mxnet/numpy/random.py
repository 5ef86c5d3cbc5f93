# SPDX-License-Identifier: Apache-2.0
"""mx.np.random: random numbers as arrays of mx.np. `size`: the shape, () for one number."""
from typing import Any, Optional

import numpy as onp

from .. import _types
from .._registry import exists, invoke
from ..context import Context, choose
from ..random import seed  # noqa: F401
from .creation import Shape, _float_type, _shape, array
from .multiarray import ndarray


def _draw(names: tuple, size: Optional[Shape], dtype: Any, ctx: Optional[Context],
          device: Optional[Context], out: Any, **parameters: Any) -> ndarray:
    """With the first operator of `names` that exists; they call the shape `size` or `shape`."""
    name = next(item for item in names if exists(item))
    if out is not None:
        return invoke(ndarray, name, out=out, **parameters)
    shape = _shape(size)
    key = "size" if name.startswith("_npi_") and name not in _SHAPED else "shape"
    drawn = invoke(ndarray, name, ctx=choose(ctx, device), dtype=dtype,
                   **{key: shape or (1,)}, **parameters)
    return drawn if shape else drawn.reshape(())


_SHAPED = ("_npi_random_randint",)  # takes `shape`, as mx.nd's


def uniform(low: float = 0.0, high: float = 1.0, size: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, device: Optional[Context] = None,
            out: Any = None) -> ndarray:
    """Numbers of [low, high)."""
    return _draw(("_npi_uniform", "_random_uniform"), size, _float_type(dtype), ctx, device, out,
                 low=float(low), high=float(high))


def normal(loc: float = 0.0, scale: float = 1.0, size: Optional[Shape] = None, dtype: Any = None,
           ctx: Optional[Context] = None, device: Optional[Context] = None,
           out: Any = None) -> ndarray:
    """Normally distributed numbers of mean `loc` and standard deviation `scale`."""
    return _draw(("_npi_normal", "_random_normal"), size, _float_type(dtype), ctx, device, out,
                 loc=float(loc), scale=float(scale))


def randint(low: int, high: Optional[int] = None, size: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, device: Optional[Context] = None,
            out: Any = None) -> ndarray:
    """Whole numbers of [low, high), or [0, low)."""
    if high is None:
        low, high = 0, low
    return _draw(("_npi_random_randint", "_random_randint"), size,
                 _types.type_name(dtype or "int64"), ctx, device, out, low=int(low),
                 high=int(high))


def rand(*size: int, **keywords: Any) -> ndarray:
    """uniform() of [0, 1) with the shape as arguments."""
    return uniform(size=size, **keywords)


def randn(*size: int, **keywords: Any) -> ndarray:
    """normal() with the shape as arguments."""
    return normal(size=size, **keywords)


def permutation(x: Any, ctx: Optional[Context] = None,
                device: Optional[Context] = None) -> ndarray:
    """The numbers below x, or the rows of an array, in random order."""
    rows = x if hasattr(x, "_address") else array(onp.arange(x, dtype="int64"), ctx=ctx,
                                                  device=device)
    order = uniform(size=(len(rows),)).asnumpy().argsort()
    return rows[order]


def shuffle(x: ndarray) -> None:
    """Puts the rows of an array into random order, in place."""
    x[:] = permutation(x)
