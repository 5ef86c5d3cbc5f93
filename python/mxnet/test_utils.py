# SPDX-License-Identifier: Apache-2.0
"""Helpers of tests: comparing arrays of any kind."""
from typing import Any, Optional, Tuple

import numpy as onp

from ._absent import refusing
from .context import Context, current_context, num_gpus
from .ndarray import NDArray, array

_TOLERANCES = {"float16": (1e-2, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}


def default_context() -> Context:
    """The device that tests use."""
    return current_context()


default_device = default_context


def list_gpus() -> range:
    """The numbers of the GPUs: none."""
    return range(num_gpus())


def _values(item: Any) -> onp.ndarray:
    return item.asnumpy() if hasattr(item, "asnumpy") else onp.asarray(item)


def _tolerances(a: onp.ndarray, b: onp.ndarray, rtol: Optional[float],
                atol: Optional[float]) -> Tuple[float, float]:
    loosest = max((_TOLERANCES.get(str(item.dtype), (0.0, 0.0)) for item in (a, b)))
    return (loosest[0] if rtol is None else rtol, loosest[1] if atol is None else atol)


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and values."""
    return onp.array_equal(_values(a), _values(b))


def almost_equal(a: Any, b: Any, rtol: Optional[float] = None, atol: Optional[float] = None,
                 equal_nan: bool = False) -> bool:
    """Whether two arrays are equal within tolerances, which depend on their types."""
    a, b = _values(a), _values(b)
    rtol, atol = _tolerances(a, b, rtol, atol)
    return a.shape == b.shape and bool(onp.allclose(a, b, rtol, atol, equal_nan))


def assert_almost_equal(a: Any, b: Any, rtol: Optional[float] = None,
                        atol: Optional[float] = None, names: Tuple[str, str] = ("a", "b"),
                        equal_nan: bool = False) -> None:
    """AssertionError with the largest difference unless almost_equal."""
    a, b = _values(a), _values(b)
    rtol, atol = _tolerances(a, b, rtol, atol)
    assert a.shape == b.shape, f"{names[0]} has shape {a.shape}, {names[1]} {b.shape}"
    onp.testing.assert_allclose(a, b, rtol, atol, equal_nan, err_msg=" and ".join(names))


def rand_ndarray(shape: Tuple[int, ...], dtype: Any = "float32",
                 ctx: Optional[Context] = None) -> NDArray:
    """Uniform numbers of [-1, 1) as an NDArray."""
    return array(onp.random.uniform(-1, 1, shape), ctx=ctx, dtype=dtype)


def rand_shape_nd(num_dim: int, dim: int = 10) -> Tuple[int, ...]:
    """A shape of sizes from 1 to `dim`."""
    return tuple(int(size) for size in onp.random.randint(1, dim + 1, num_dim))


__getattr__ = refusing(__name__)
