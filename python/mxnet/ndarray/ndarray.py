# SPDX-License-Identifier: Apache-2.0
"""mx.nd.NDArray."""
import ctypes
import math
from typing import Any, Tuple, cast

import numpy as onp

from .. import _methods, _types
from .._array import BaseArray, convert_inputs, convert_operand, promoted
from .._registry import exists, invoke, operator
from ..base import _LIB, check_call, core


class NDArray(BaseArray):
    """An array of MXNet's 1.x interface: at least one dimension, float32 unless told otherwise.

    Attributes: shape, dtype (a NumPy type), size, ndim, context (also ctx, device), grad, T.
    Operators between arrays repeat dimensions of size 1.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type of an element: numpy.float32 and so on; 'bfloat16'."""
        kind = _types.numpy_type(self._type_code)
        return kind if isinstance(kind, str) else kind.type

    @property
    def T(self) -> "NDArray":
        """The array with its axes reversed."""
        return invoke(NDArray, "transpose", self)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()!s}\n<NDArray {shape} @{self.context}>"

    def __bool__(self) -> bool:
        return self.size > 0 and super().__bool__()  # without elements: False, as in 1.9.1

    def __neg__(self) -> "NDArray":
        return cast(NDArray, self * -1.0)

    def __abs__(self) -> "NDArray":
        return invoke(NDArray, "abs", self)

    def __ipow__(self, other: Any) -> "NDArray":
        return self ** other  # a new array, as in MXNet 1.x, which has no power in place

    def _fill(self, value: Any) -> None:
        invoke(NDArray, "_full", out=self, shape=self.shape, value=value,
               dtype=_types.NAMES[self._type_code], ctx=self.context)

    def reshape(self, *shape: Any, **keywords: Any) -> "NDArray":
        """The same memory in another shape.

        0 copies a dimension, -1 is what is left over, -2 the rest, -3 joins two, -4 splits one;
        `reverse=True` matches from the right. ValueError or MXNetError if the sizes do not fit.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        shape = keywords.pop("shape", shape)
        reverse = keywords.pop("reverse", False)
        keywords.pop("inplace", None)  # it always is
        if keywords:
            raise TypeError("reshape has no argument " + ", ".join(keywords)
                            + "; it has: shape, reverse, inplace")
        sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        out = ctypes.c_void_p()
        check_call(_LIB.MXNDArrayReshape64(self.handle, len(shape), sizes,
                                           ctypes.c_bool(reverse), ctypes.byref(out)))
        reshaped = NDArray(out.value)
        if reshaped.size != self.size:  # the library lets an array of fewer elements be a part
            raise ValueError(f"an array of shape {self.shape} cannot have the shape {reshaped.shape}")
        return reshaped

    def flatten(self, inplace: bool = False) -> "NDArray":
        """The array as a matrix of its rows; `inplace`: the same memory."""
        if not inplace:
            return invoke(NDArray, "Flatten", self)
        return self.reshape((self.shape[0], math.prod(self.shape[1:])))

    def squeeze(self, axis: Any = None, inplace: bool = False) -> "NDArray":
        """Without axes of size 1; `inplace`: the same memory."""
        if not inplace:
            return invoke(NDArray, "squeeze", self, axis=axis)
        return self.reshape(onp.squeeze(onp.broadcast_to(0, self.shape), axis).shape or (1,))

    def expand_dims(self, axis: int, inplace: bool = False) -> "NDArray":
        """With one more axis, of size 1; `inplace`: the same memory."""
        if not inplace:
            return invoke(NDArray, "expand_dims", self, axis=axis)
        return self.reshape(onp.expand_dims(onp.broadcast_to(0, self.shape), axis).shape)

    def reshape_like(self, other: BaseArray) -> "NDArray":
        """The same memory in the shape of another array."""
        return self.reshape(other.shape)

    def broadcast_like(self, other: BaseArray) -> "NDArray":
        """Repeated to the shape of another array."""
        return self.broadcast_to(other.shape)

    def as_np_ndarray(self) -> BaseArray:
        """The same memory as an mx.np.ndarray."""
        from ..numpy import ndarray
        return self._as(ndarray)

    def as_nd_ndarray(self) -> "NDArray":
        """This array."""
        return self

    def tostype(self, stype: str) -> "NDArray":
        """This array; ValueError for anything but 'default'."""
        if stype != "default":
            raise ValueError(f"storage type '{stype}' does not exist; valid is: default")
        return self


def _triples() -> dict:
    names = {"add": ("broadcast_add", "_plus_scalar", "_plus_scalar"),
             "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
             "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
             "divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
             "remainder": ("broadcast_mod", "_mod_scalar", "_rmod_scalar"),
             "power": ("broadcast_power", "_power_scalar", "_rpower_scalar")}
    for word, stem in {"less": "lesser", "less_equal": "lesser_equal", "equal": "equal",
                       "not_equal": "not_equal", "greater": "greater",
                       "greater_equal": "greater_equal"}.items():
        names[word] = (f"broadcast_{stem}", f"_{stem}_scalar", "")
    return names


def operators_of(triples: dict) -> dict:
    """Names of operators as operators; None for one that the library does not have."""
    def found(name: str) -> Any:
        return operator(name).call if name and exists(name) else None

    return {word: tuple(found(name) for name in names) for word, names in triples.items()}


def binary_functions(kind: type, triples: dict, words: Tuple[str, ...]) -> dict:
    """Functions like nd.add(lhs, rhs), of arrays and numbers."""
    def make(word: str, names: Tuple[str, str, str]) -> Any:
        def function(lhs, rhs, out=None, **numpys):
            arrays, number, reverse = names
            if numpys:
                _refuse_keywords(word, kind, numpys)
            if isinstance(lhs, BaseArray) and isinstance(rhs, BaseArray):
                return _with_array(kind, arrays, lhs, rhs, out)
            if isinstance(lhs, BaseArray):
                other = _operand(lhs, rhs, number)
                return _with_array(kind, arrays, lhs, other, out) if isinstance(other, BaseArray) \
                    else _with_number(kind, number, lhs, other, out)
            if out is None and onp.isscalar(lhs) and onp.isscalar(rhs):
                return getattr(onp, _NUMPY_WORDS.get(word, word))(lhs, rhs)
            if not isinstance(rhs, BaseArray):  # neither is
                pair = convert_inputs(kind, (lhs, rhs))
                if pair is None or None in pair:
                    raise TypeError("one of the operands must be an array, a list or a NumPy array")
                return _with_array(kind, arrays, *pair, out)
            other = _operand(rhs, lhs, reverse)
            return _with_array(kind, arrays, other, rhs, out) if isinstance(other, BaseArray) \
                else _with_number(kind, reverse, rhs, other, out)

        function.__name__ = function.__qualname__ = word
        function.__doc__ = (f"{word} of two arrays, or of an array and a number, element by element; of "
                            "two numbers NumPy's.")
        return function

    return {word: make(word, triples[word]) for word in words}


_NUMPY_WORDS = {"modulo": "mod", "lesser": "less", "lesser_equal": "less_equal"}
_ALIKE = frozenset(("_npi_maximum", "_npi_minimum"))  # operators whose operands have one type


def _refuse_keywords(word: str, kind: Any, keywords: dict) -> None:
    """Raises for an argument that only NumPy's function has, unless it says what holds anyway."""
    for key, value in keywords.items():
        if not kind._has_scalars or key not in ("where", "casting", "order", "dtype", "subok", "signature"):
            raise TypeError(f"{word}() got an unexpected keyword argument '{key}'")
        if value is not None and not (key == "where" and value is True):
            raise NotImplementedError(f"mx.np.{word} does not take NumPy's argument '{key}'")


def _operand(array: Any, other: Any, number: str) -> Any:
    """The operand beside an array: a Python number, or an array if it is one, or if there is no operator
    `number`; TypeError for anything else."""
    if not isinstance(array, BaseArray):
        raise TypeError("one of the operands must be an array")
    is_truth = array._promotes and isinstance(other, bool)  # which keeps truths what they are
    other = other if isinstance(other, (int, float)) and not is_truth else convert_operand(array, other)
    if other is NotImplemented:
        raise TypeError("an operand that is no array must be a number, a NumPy array or a list")
    if number or isinstance(other, BaseArray):
        return other
    floats = onp.dtype("float32") if array.dtype.kind != "f" else array.dtype  # there is no array of bfloat16
    return type(array)._from_numpy(onp.asarray(other, floats), array.context)


def _with_array(kind: type, name: str, lhs: BaseArray, rhs: BaseArray, out: Any) -> Any:
    pair = promoted((lhs, rhs)) if name in _ALIKE else (lhs, rhs)
    return invoke(kind, name, *pair, out=out)


def _with_number(kind: type, name: str, array: BaseArray, number: Any, out: Any) -> Any:
    typed = {"is_int": isinstance(number, int)} if name.startswith("_npi") else {}
    return invoke(kind, name, array, out=out, scalar=number, **typed)


TRIPLES = _triples()
core.set_arithmetic(NDArray, operators_of(TRIPLES), False, convert_operand)
TRIPLES.update(true_divide=TRIPLES["divide"], modulo=TRIPLES["remainder"],
               lesser=("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
               lesser_equal=("broadcast_lesser_equal", "_lesser_equal_scalar",
                             "_greater_equal_scalar"),
               greater=("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
               greater_equal=("broadcast_greater_equal", "_greater_equal_scalar",
                              "_lesser_equal_scalar"),
               equal=("broadcast_equal", "_equal_scalar", "_equal_scalar"),
               not_equal=("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
               maximum=("broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
               minimum=("broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
               **{f"logical_{word}": (f"broadcast_logical_{word}",) + (f"_logical_{word}_scalar",) * 2
                  for word in ("and", "or", "xor")})

_methods.add(NDArray, "mxnet.ndarray", """
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort broadcast_axes
    broadcast_to cbrt ceil clip cos cosh degrees depth_to_space diag dot erf exp expm1 fix flip floor log log10 log1p
    log2 log_softmax max mean min nansum norm one_hot ones_like pad pick prod radians rcbrt reciprocal relu
    repeat rint round rsqrt shape_array sigmoid sign sin sinh size_array slice slice_axis slice_like
    softmax sort split square sqrt sum swapaxes take tan tanh tile topk transpose trunc
    zeros_like""".split())
