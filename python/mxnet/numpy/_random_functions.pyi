# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the functions of mx.np.random that are made when the package runs.

Made by scripts/make-stubs: do not edit.
"""
from typing import Any, Literal, Optional, Sequence, Union

from .._array_types import ArrayLike, Shape
from .multiarray import ndarray

def beta(
    a: Any, b: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def binomial(
    n: Any, p: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def chisquare(
    df: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def choice(
    a: Any, size: Any = None, replace: Any = True, p: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def exponential(
    scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def gamma(
    shape: Any, scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def geometric(
    p: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def gumbel(
    loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def laplace(
    loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def logistic(
    loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def lognormal(
    mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None,
    device: Any = None,
) -> Any: ...
def multinomial(
    n: Any, pvals: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def multivariate_normal(
    mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-08, *,
    dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def pareto(a: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None) -> Any: ...
def poisson(
    lam: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def power(a: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None) -> Any: ...
def rayleigh(
    scale: Any = 1.0, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None,
) -> Any: ...
def weibull(a: Any, size: Any = None, *, dtype: Any = None, ctx: Any = None, device: Any = None) -> Any: ...
