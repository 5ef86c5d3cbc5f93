# SPDX-License-Identifier: Apache-2.0
"""mx.np.random: random numbers as arrays of mx.np. `size`: the shape, () for one number."""
import typing
from typing import Any, Callable, List, Optional

import numpy as onp

from .. import _types
from .._array import BaseArray
from .._names import offered
from .._registry import exists, invoke
from ..context import Context, choose
from ..random import seed  # noqa: F401
from ._derivatives import is_recorded
from ._host import to_host
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


def _written(drawn: ndarray, out: Any) -> ndarray:
    return drawn if out is None else invoke(ndarray, "_copy", drawn, out=out)


_SHAPED = ("_npi_random_randint",)  # takes `shape`, as mx.nd's


def uniform(low: Any = 0.0, high: Any = 1.0, size: Optional[Shape] = None, dtype: Any = None,
            ctx: Optional[Context] = None, device: Optional[Context] = None,
            out: Any = None) -> ndarray:
    """Numbers of [low, high); bounds may be arrays."""
    if isinstance(low, BaseArray) or isinstance(high, BaseArray):
        shape = (low + high).shape if size is None else size
        return _written(low + (high - low) * uniform(size=shape, dtype=dtype, ctx=ctx, device=device), out)
    return _draw(("_npi_uniform", "_random_uniform"), size, _float_type(dtype), ctx, device, out,
                 low=float(low), high=float(high))


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Optional[Shape] = None, dtype: Any = None,
           ctx: Optional[Context] = None, device: Optional[Context] = None,
           out: Any = None) -> ndarray:
    """Normally distributed numbers of mean `loc` and standard deviation `scale`, which may be arrays."""
    if isinstance(loc, BaseArray) or isinstance(scale, BaseArray):
        _check_parameters("normal", [loc, scale])
        shape = (loc + scale).shape if size is None else size
        return _written(loc + scale * normal(size=shape, dtype=dtype, ctx=ctx, device=device), out)
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
    """The numbers below x, or the rows of an array or a list, in random order."""
    numbers = onp.arange(x, dtype="int64") if isinstance(x, (int, onp.integer)) else x
    rows = x if isinstance(x, BaseArray) else array(numbers, ctx=ctx, device=device)
    order = uniform(size=(len(rows),)).asnumpy().argsort()
    return rows[order]


def shuffle(x: ndarray) -> None:
    """Puts the rows of an array into random order, in place."""
    x[:] = permutation(x)


_DRAWN_BY_NUMPY = frozenset("""
    beta binomial chisquare choice exponential gamma geometric gumbel laplace logistic lognormal
    multinomial multivariate_normal pareto poisson power rayleigh weibull""".split())


# Parameters with their defaults (None: there is none), the distribution without them, and the sample made
# of such a one: it has gradients by the parameters.
_PATHS = {
    "exponential": ({"scale": 1.0}, "standard_exponential", lambda z, scale: z * scale),
    "gumbel": ({"loc": 0.0, "scale": 1.0}, "gumbel", lambda z, loc, scale: loc + z * scale),
    "laplace": ({"loc": 0.0, "scale": 1.0}, "laplace", lambda z, loc, scale: loc + z * scale),
    "logistic": ({"loc": 0.0, "scale": 1.0}, "logistic", lambda z, loc, scale: loc + z * scale),
    "lognormal": ({"mean": 0.0, "sigma": 1.0}, "standard_normal",
                  lambda z, mean, sigma: _power(onp.e, mean + z * sigma)),
    "pareto": ({"a": None}, "standard_exponential", lambda z, a: _power(onp.e, z / a) - 1),
    "power": ({"a": None}, "random_sample", lambda z, a: z ** (1 / a)),
    "rayleigh": ({"scale": 1.0}, "standard_exponential", lambda z, scale: (2 * z) ** 0.5 * scale),
    "weibull": ({"a": None}, "standard_exponential", lambda z, a: z ** (1 / a)),
}


# Samples that change with their parameters as smoothly as the others do, but in no way known here.
_WITHOUT_PATH = frozenset(("beta", "chisquare", "gamma", "multivariate_normal"))

_CHECKER = onp.random.RandomState(0)  # draws nothing


def _power(base: float, exponent: Any) -> Any:
    return base ** exponent


def _check_parameters(name: str, values: List[Any]) -> None:
    """ValueError, in NumPy's words, if its distribution has no such parameters. NumPy says so when it is
    asked for no numbers, too; it waits for the values."""
    hosts = [to_host(value) for value in values]
    getattr(_CHECKER, name)(*hosts, size=(0, *onp.broadcast_shapes(*map(onp.shape, hosts))))


def _drawn_by_path(name: str, arguments: tuple, keywords: Any) -> Optional[ndarray]:
    """The sample with gradients; None where no parameter is a recorded array."""
    path: Any = _PATHS[name]
    defaults, start, made_of = path
    given = {**defaults, **dict(zip((*defaults, "size"), arguments)), **keywords}
    values = [given.get(item) for item in defaults]
    if not any(isinstance(item, BaseArray) and is_recorded(item) for item in values):
        return None
    _check_parameters(name, values)
    like = next(item for item in values if isinstance(item, BaseArray))
    size = given.get("size")
    if size is None:
        size = onp.broadcast_shapes(*(onp.shape(item) if not isinstance(item, BaseArray) else item.shape
                                      for item in values))
    state = onp.random.RandomState(int(randint(2 ** 31 - 1).item()))
    drawn = onp.asarray(getattr(state, start)(size=size))
    return made_of(array(drawn, given.get("dtype") or like.dtype, ctx=like.ctx), *values)


def _by_numpy(name: str) -> Callable[..., ndarray]:
    """NumPy's distribution, by a generator that mx.random.seed reaches."""
    def draw(*arguments: Any, dtype: Any = None, ctx: Any = None, device: Any = None,
             **keywords: Any) -> ndarray:
        path = _drawn_by_path(name, arguments, {**keywords, "dtype": dtype}) if name in _PATHS else None
        if path is not None:
            return path
        if name in _WITHOUT_PATH and any(is_recorded(item) for item in (*arguments, *keywords.values())):
            raise NotImplementedError(f"mx.np.random.{name} is drawn by NumPy and has no gradient by its "
                                      "parameters: call it under autograd.pause()")
        state = onp.random.RandomState(int(randint(2 ** 31 - 1).item()))
        drawn = getattr(state, name)(*map(to_host, arguments),
                                     **{key: to_host(value) for key, value in keywords.items()})
        return array(onp.asarray(drawn), dtype, ctx=ctx, device=device)

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = getattr(onp.random.RandomState, name).__doc__
    return draw


def _get(name: str) -> Any:
    if name not in _DRAWN_BY_NUMPY:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = _by_numpy(name)
    return globals()[name]


if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._random_functions import *  # noqa: F403
else:
    __getattr__ = _get


def __dir__() -> List[str]:
    return sorted({*offered(__name__), *_DRAWN_BY_NUMPY, "seed"})
