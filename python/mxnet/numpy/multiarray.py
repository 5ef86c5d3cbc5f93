# SPDX-License-Identifier: Apache-2.0
"""mx.np.ndarray."""
import ctypes
from typing import Any

import numpy as onp

from .. import _methods, _types
from .._array import BaseArray, convert_operand, promoted
from .._registry import invoke
from ..base import _LIB, check_call, core
from ..ndarray.ndarray import operators_of

_SIGNED, _UNSIGNED, _DOUBLE = range(3)  # which value an operator takes


class ndarray(BaseArray):  # pylint: disable=invalid-name
    """An array with NumPy's interface: shapes may be (), operators give NumPy's types.

    Attributes: shape, dtype (numpy.dtype), size, ndim, ctx (also device, context), grad, T.
    """

    __slots__ = ()
    _has_scalars = True
    _promotes = True

    @property
    def dtype(self) -> Any:
        """The type of an element, a numpy.dtype; 'bfloat16' as text."""
        return _types.numpy_type(self._type_code)

    @property
    def T(self) -> "ndarray":
        """The array with its axes reversed."""
        return invoke(ndarray, "_npi_transpose", self)

    def _mark(self, request: int, gradient: BaseArray) -> None:
        """Made by recorded operators, it stays in their graph."""
        check_call(_LIB.MXAutogradAttachGradient(self.handle, ctypes.c_uint(request),
                                                 gradient.handle))

    def __repr__(self) -> str:
        text = repr(self.asnumpy()).replace(", dtype=float32", "")
        if self.dtype in (onp.float64, onp.int64):  # what NumPy leaves out
            text = f"{text[:-1]}, dtype={self.dtype})" if "dtype=" not in text else text
        context = self.context
        return text if str(context) == "cpu(0)" else f"{text[:-1]}, device={context})"

    def __str__(self) -> str:
        return str(self.asnumpy())

    def __neg__(self) -> "ndarray":
        return invoke(ndarray, "_npi_negative", self)

    def __abs__(self) -> "ndarray":
        return invoke(ndarray, "_npi_absolute", self)

    def __format__(self, form: str) -> str:
        return format(self.item() if not self.shape else self.asnumpy(), form)

    def __matmul__(self, other: Any) -> Any:
        other = other if isinstance(other, BaseArray) else convert_operand(self, other)
        return matmul(self, other) if isinstance(other, BaseArray) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        other = convert_operand(self, other)
        return matmul(other, self) if isinstance(other, BaseArray) else NotImplemented

    def __invert__(self) -> "ndarray":
        return invoke(ndarray, "_npi_bitwise_not", self)

    def _fill(self, value: Any) -> None:
        filled(self.shape, value, _types.NAMES[self._type_code], self.context, self)

    def reshape(self, *shape: Any, order: str = "C") -> "ndarray":
        """The array in another shape; one size may be -1, what is left over."""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        sizes = tuple(int(size) for size in shape)
        if order != "C":
            raise ValueError(f"order is '{order}'; valid is: 'C'")
        return invoke(ndarray, "_npx_reshape" if 0 not in sizes else "_np_reshape", self,
                      newshape=sizes)

    def flatten(self, order: str = "C") -> "ndarray":
        """All elements as a vector."""
        return self.reshape((-1,), order=order)

    ravel = flatten

    def transpose(self, *axes: Any) -> "ndarray":
        """The array with its axes in another order, by default reversed."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return invoke(ndarray, "_npi_transpose", self, axes=order)

    def as_nd_ndarray(self) -> BaseArray:
        """The same memory as an mx.nd.NDArray; one of shape () becomes one of (1,)."""
        from ..ndarray import NDArray
        return self._as(NDArray)

    def as_np_ndarray(self) -> "ndarray":
        """This array."""
        return self


def filled(shape: Any, value: Any, dtype: str, context: Any, out: Any = None) -> ndarray:
    """An array of one number; whole numbers keep all their bits."""
    number = value.item() if isinstance(value, onp.generic) else value
    whole = isinstance(number, int) and -2 ** 63 <= number < 2 ** 64
    kind = _DOUBLE if not whole else _SIGNED if number < 2 ** 63 else _UNSIGNED
    return invoke(ndarray, "_npi_full", out=out, shape=shape, dtype=dtype, ctx=context,
                  value_type=kind, double_value=0.0 if whole else float(number),
                  int_value=int(number) if kind == _SIGNED else 0,
                  uint_value=int(number) if kind == _UNSIGNED else 0)


def matmul(a: ndarray, b: ndarray, out: Any = None) -> ndarray:
    """The product of two matrices, or of lists of them."""
    return invoke(ndarray, "_npi_matmul", *promoted((a, b)), out=out)


def _triples() -> dict:
    names = {word: (f"_npi_{word}", "", "") for word in ("matmul", "hypot", "logaddexp")}
    for word, stem, scalar, reverse in (
            ("add", "add", "add", "add"), ("subtract", "subtract", "subtract", "rsubtract"),
            ("multiply", "multiply", "multiply", "multiply"),
            ("divide", "true_divide", "true_divide", "rtrue_divide"),
            ("floor_divide", "floor_divide", "floor_divide", "rfloor_divide"),
            ("remainder", "mod", "mod", "rmod"), ("power", "power", "power", "rpower"),
            ("maximum", "maximum", "maximum", "maximum"),
            ("minimum", "minimum", "minimum", "minimum"),
            ("less", "less", "less", "greater"),
            ("less_equal", "less_equal", "less_equal", "greater_equal"),
            ("equal", "equal", "equal", "equal"),
            ("not_equal", "not_equal", "not_equal", "not_equal"),
            ("greater", "greater", "greater", "less"),
            ("greater_equal", "greater_equal", "greater_equal", "less_equal"),
            ("arctan2", "arctan2", "arctan2", "rarctan2"),
            *[(word, word, word, word) for word in (
                "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_and",
                "logical_or", "logical_xor")]):
        names[word] = (f"_npi_{stem}", f"_npi_{scalar}_scalar", f"_npi_{reverse}_scalar")
    return names


TRIPLES = _triples()
core.set_arithmetic(ndarray, operators_of(TRIPLES), True, convert_operand)
TRIPLES.update(true_divide=TRIPLES["divide"], mod=TRIPLES["remainder"])

_methods.add_operators(ndarray, "mxnet.numpy", {"lshift": "left_shift", "rshift": "right_shift"})
_methods.add(ndarray, "mxnet.numpy", """
    all any argmax argmin argsort clip cumsum diag diagonal dot expand_dims max mean min nonzero prod repeat round
    sort split squeeze std sum swapaxes take tile trace var""".split())
