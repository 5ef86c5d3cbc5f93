# SPDX-License-Identifier: Apache-2.0
"""mx.np.linalg: NumPy computes everything but `norm`, as in mx.np; what is here has gradients."""
import functools
import typing
from typing import Any, List, Optional

import numpy as onp

from .. import numpy as _np
from .._names import offered
from ._derivatives import computed, is_recorded
from ._host import host_function, host_names
from ._inputs import taking_arrays
from .averages import Axis, real, root
from .multiarray import ndarray

np: Any = _np  # its functions are made when they are asked for


def norm(x: ndarray, ord: Any = None,  # pylint: disable=redefined-builtin
         axis: Axis = None, keepdims: bool = False) -> ndarray:
    """The root of the sum of squares, or what NumPy's `ord` says."""
    x = real(x)
    is_vector = isinstance(axis, int) or (axis is None and x.ndim == 1)
    if ord is None or ord == ("fro" if not is_vector else 2):
        return root(np.sum(np.square(x), axis=axis, keepdims=keepdims))
    reduce = {1: np.sum, onp.inf: np.max, -onp.inf: np.min}.get(ord) if is_vector else None
    if reduce is not None:
        return reduce(np.abs(x), axis=axis, keepdims=keepdims)
    if not is_recorded(x):
        return host_function("norm", onp.linalg)(x, ord, axis, keepdims)
    if is_vector:
        return _vector_norm(x, ord, axis, keepdims)
    axes: Any = range(x.ndim) if axis is None else axis
    return _matrix_norm(x, ord, tuple(axes), keepdims)


def _vector_norm(x: ndarray, ord: Any, axis: Axis,  # pylint: disable=redefined-builtin
                 keepdims: bool) -> ndarray:
    if ord == 0:
        return np.sum(x != 0, axis=axis, keepdims=keepdims).astype(x.dtype)
    return np.sum(np.abs(x) ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _matrix_norm(x: ndarray, ord: Any, axes: tuple,  # pylint: disable=redefined-builtin
                 keepdims: bool) -> ndarray:
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    x, rank = np.moveaxis(x, axes, (-2, -1)), x.ndim
    if ord in (1, -1, onp.inf, -onp.inf):
        sums = np.sum(np.abs(x), axis=-2 if abs(ord) == 1 else -1)
        made = (np.max if ord > 0 else np.min)(sums, axis=-1)
    elif ord in (2, -2, "nuc"):
        made = {2: np.max, -2: np.min, "nuc": np.sum}[ord](computed("svd", x)[1], axis=-1)
    else:
        raise ValueError("Invalid norm order for matrices.")
    for axis in sorted(item % rank for item in axes) if keepdims else ():
        made = np.expand_dims(made, axis)
    return made


norm = taking_arrays(norm, 1)


def _differentiable(name: str, count: int = 1) -> Any:
    """NumPy's function of `count` arrays, recorded where autograd records and nothing else is asked for."""
    function, names = host_function(name, onp.linalg), _RESULTS.get(name)

    @functools.wraps(getattr(onp.linalg, name))
    def differentiable(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) != count or keywords or not is_recorded(*arguments):
            return function(*arguments, **keywords)
        found = computed(name, *arguments)
        return names(*found) if names is not None else found

    return differentiable


# What NumPy's functions of several results give them as.
_RESULTS = {name: type(result) for name, result in (
    ("slogdet", onp.linalg.slogdet(onp.eye(1))), ("qr", onp.linalg.qr(onp.eye(1))),
    ("eigh", onp.linalg.eigh(onp.eye(1)))) if hasattr(result, "_fields")}

inv, det, slogdet, qr = (_differentiable(name) for name in ("inv", "det", "slogdet", "qr"))
solve = _differentiable("solve", 2)


def svd(a: ndarray, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """NumPy's; its gradient is that of singular values and as many vectors of them."""
    square = a.ndim >= 2 and a.shape[-1] == a.shape[-2]
    if not is_recorded(a) or hermitian or (compute_uv and full_matrices and not square):
        return host_function("svd", onp.linalg)(a, full_matrices, compute_uv, hermitian)
    found = computed("svd", a)
    return found if compute_uv else found[1]


def tensorinv(a: ndarray, ind: int = 2) -> ndarray:
    """The inverse of what takes the axes after `ind` to those before."""
    if not is_recorded(a):
        return host_function("tensorinv", onp.linalg)(a, ind)
    rows = int(onp.prod(a.shape[ind:]))
    return inv(a.reshape(rows, -1)).reshape(a.shape[ind:] + a.shape[:ind])


def tensorsolve(a: ndarray, b: ndarray, axes: Any = None) -> ndarray:
    """x of tensordot(a, x, x.ndim) == b."""
    if not is_recorded(a, b):
        return host_function("tensorsolve", onp.linalg)(a, b, axes)
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    shape = a.shape[b.ndim:]
    return solve(a.reshape(b.size, -1), b.reshape(-1)).reshape(shape)


def cholesky(a: ndarray, *, upper: bool = False) -> ndarray:
    """The lower or upper triangle whose product with its transposed one `a` is."""
    low = computed("cholesky", a) if is_recorded(a) else host_function("cholesky", onp.linalg)(a)
    return np.swapaxes(low, -1, -2) if upper else low


def _of_triangle(name: str) -> Any:
    """NumPy's function with MXNet's way to say which triangle counts."""
    function = host_function(name, onp.linalg)

    @functools.wraps(getattr(onp.linalg, name))
    def of_triangle(a: ndarray, UPLO: str = "L", *, upper: Optional[bool] = None) -> Any:
        triangle = UPLO if upper is None else "U" if upper else "L"
        if not is_recorded(a):
            return function(a, triangle)
        found = computed("eigh", a, UPLO=triangle)
        return found[0] if name == "eigvalsh" else _RESULTS.get(name, lambda *both: both)(*found)

    return of_triangle


eigh, eigvalsh = _of_triangle("eigh"), _of_triangle("eigvalsh")


def _get(name: str) -> Any:
    function = host_function(name, onp.linalg)
    if function is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = function
    return function


if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._linalg_functions import *  # noqa: F403
else:
    __getattr__ = _get


def __dir__() -> List[str]:
    return sorted({*offered(__name__), *host_names(onp.linalg)})
