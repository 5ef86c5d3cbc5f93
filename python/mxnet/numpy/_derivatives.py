# SPDX-License-Identifier: Apache-2.0
"""Gradients of linear algebra that NumPy computes: each function of matrices beside the one that makes the
gradients of its arguments out of those of its results, both of NumPy's arrays.

A, B: arguments; g...: gradients of results. The last two axes are those of a matrix, as in NumPy.
"""
import functools
from typing import Any, Callable, Dict, Tuple

import numpy as onp

from .. import _types, autograd
from .._array import BaseArray
from .creation import array


def _t(a: onp.ndarray) -> onp.ndarray:
    return onp.swapaxes(a, -1, -2)


def _fitted(gradient: onp.ndarray, shape: Tuple[int, ...]) -> onp.ndarray:
    """Summed over what was repeated to make it larger than the argument."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=repeated, keepdims=True) if repeated else gradient


def _differences(values: onp.ndarray) -> onp.ndarray:
    """1 / (values[j] - values[i]); 0 on the diagonal, and where two are equal."""
    between = values[..., None, :] - values[..., :, None]
    return onp.divide(1, between, out=onp.zeros_like(between), where=between != 0)


def _inv(arguments: tuple, results: tuple, g: onp.ndarray) -> tuple:
    return (-_t(results[0]) @ g @ _t(results[0]),)


def _det(arguments: tuple, results: tuple, g: onp.ndarray) -> tuple:
    """By the cofactors, which a singular matrix has too."""
    u, s, vt = onp.linalg.svd(arguments[0])
    others = onp.stack([onp.delete(s, i, -1).prod(axis=-1) for i in range(s.shape[-1])], -1) \
        if s.shape[-1] else s
    sign = onp.linalg.det(u) * onp.linalg.det(vt)
    return ((g * sign)[..., None, None] * ((u * others[..., None, :]) @ vt),)


def _slogdet(arguments: tuple, results: tuple, _: onp.ndarray, g: onp.ndarray) -> tuple:
    return (g[..., None, None] * _t(onp.linalg.inv(arguments[0])),)


def _solve(arguments: tuple, results: tuple, g: onp.ndarray) -> tuple:
    a, b = arguments
    x, is_vector = results[0], b.ndim == 1
    if is_vector:
        x, g = x[..., None], g[..., None]
    by_b = onp.linalg.solve(_t(a), g)
    by_a = -by_b @ _t(x)
    return _fitted(by_a, a.shape), _fitted(by_b[..., 0] if is_vector else by_b, b.shape)


def _cholesky(arguments: tuple, results: tuple, g: onp.ndarray) -> tuple:
    inverse = onp.linalg.inv(results[0])
    inner = onp.tril(_t(results[0]) @ g)
    inner = inner * (1 - 0.5 * onp.eye(inner.shape[-1]))
    by_a = _t(inverse) @ inner @ inverse
    return ((by_a + _t(by_a)) / 2,)


def _eigh(arguments: tuple, results: tuple, gw: onp.ndarray, gv: onp.ndarray) -> tuple:
    w, v = results
    inner = (_t(v) @ gv) * _differences(w) + gw[..., None] * onp.eye(w.shape[-1])
    by_a = v @ inner @ _t(v)
    return ((by_a + _t(by_a)) / 2,)


def _svd(arguments: tuple, results: tuple, gu: onp.ndarray, gs: onp.ndarray, gvt: onp.ndarray) -> tuple:
    u, s, vt = results
    v, gv = _t(vt), _t(gvt)
    factors = _differences(s * s)
    rows, columns = onp.eye(u.shape[-2]), onp.eye(v.shape[-2])
    inverse = onp.divide(1, s, out=onp.zeros_like(s), where=s != 0)
    left = (u @ (factors * (_t(u) @ gu - _t(gu) @ u))) * s[..., None, :] \
        + ((rows - u @ _t(u)) @ gu) * inverse[..., None, :]
    right = s[..., None] * (factors * (vt @ gv - gvt @ v)) @ vt \
        + inverse[..., None] * (gvt @ (columns - v @ vt))
    return (left @ vt + u @ right + (u * gs[..., None, :]) @ vt,)


def _qr_of_tall(q: onp.ndarray, r: onp.ndarray, gq: onp.ndarray, gr: onp.ndarray) -> onp.ndarray:
    inner = r @ _t(gr) - _t(gq) @ q
    low = onp.tril(inner, -1)
    symmetric = low + _t(low) + inner * onp.eye(inner.shape[-1])
    return _t(onp.linalg.solve(r, _t(gq + q @ symmetric)))


def _qr(arguments: tuple, results: tuple, gq: onp.ndarray, gr: onp.ndarray) -> tuple:
    q, r = results
    n = q.shape[-1]
    if r.shape[-1] == n:
        return (_qr_of_tall(q, r, gq, gr),)
    rest, g_rest = arguments[0][..., n:], gr[..., n:]
    first = _qr_of_tall(q, r[..., :n], gq + rest @ _t(g_rest), gr[..., :n])
    return (onp.concatenate([first, q @ g_rest], axis=-1),)


# name: (how NumPy computes it here, its gradients)
_RULES: Dict[str, Tuple[Callable, Callable]] = {
    "inv": (onp.linalg.inv, _inv), "det": (onp.linalg.det, _det), "slogdet": (onp.linalg.slogdet, _slogdet),
    "solve": (onp.linalg.solve, _solve), "cholesky": (onp.linalg.cholesky, _cholesky),
    "eigh": (onp.linalg.eigh, _eigh), "svd": (functools.partial(onp.linalg.svd, full_matrices=False), _svd),
    "qr": (onp.linalg.qr, _qr),
}


class _Computed(autograd.Function):  # type: ignore[misc,valid-type]
    """One call. A second gradient is refused."""

    _depends = True

    def __init__(self, name: str, parameters: Dict[str, Any]):
        super().__init__()
        self._compute, self._gradients = _RULES[name]
        self._parameters = parameters
        self._arguments: tuple = ()
        self._results: tuple = ()

    def forward(self, *inputs: BaseArray) -> Any:
        """What NumPy computes, in the type of the first argument."""
        self._arguments = tuple(item.asnumpy() for item in inputs)
        found = self._compute(*self._arguments, **self._parameters)
        self._results = tuple(found) if isinstance(found, tuple) else (found,)
        made = [array(item, self._arguments[0].dtype, inputs[0].ctx) for item in self._results]
        return made if len(made) > 1 else made[0]

    def backward(self, *output_grads: BaseArray) -> Any:
        """The gradients of the arguments."""
        gradients = [item.asnumpy() for item in output_grads]
        found = self._gradients(self._arguments, self._results, *gradients)
        return [array(item, value.dtype, output_grads[0].ctx) for item, value in zip(found, self._arguments)]


def computed(name: str, *inputs: BaseArray, **parameters: Any) -> Any:
    """The function `name` of linear algebra, recorded."""
    found = _Computed(name, parameters)(*inputs)
    return tuple(found) if isinstance(found, list) else found


def is_recorded(*inputs: Any) -> bool:
    """Whether a function of these must be recorded: they are arrays of floats, all of them, and autograd
    records."""
    return autograd.is_recording() and all(
        isinstance(item, BaseArray) and item._type_code in _types.FLOATS for item in inputs)
