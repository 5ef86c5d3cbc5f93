# SPDX-License-Identifier: Apache-2.0
"""mx.nd: arrays of MXNet's 1.x interface and the functions on them.

Every operator of the library whose name does not begin with an underscore is a function here:
`help(mx.nd.Convolution)`. Functions take arrays of mx.np as well and give NDArrays.
"""
import typing
from typing import Any

from .. import _files
from .._functions import lazy
from . import _internal, contrib, image, linalg, random, sparse
from .creation import (arange, array, concatenate, empty, eye, from_dlpack, from_numpy, full, linspace,
                       moveaxis, ones, onehot_encode, to_dlpack_for_read, to_dlpack_for_write, waitall,
                       zeros)
from .ndarray import TRIPLES, NDArray, binary_functions

globals().update(binary_functions(NDArray, TRIPLES, (
    "add", "subtract", "multiply", "divide", "true_divide", "modulo", "power", "equal",
    "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "maximum", "minimum",
    "logical_and", "logical_or", "logical_xor")))

save = _files.save


def load(fname: str) -> _files.Arrays:
    """The list of arrays of a file, or the dict if they were saved with names."""
    return _files.load(NDArray, fname)


def load_frombuffer(buf: bytes) -> _files.Arrays:
    """The same of a file's content."""
    return _files.load_frombuffer(NDArray, buf)


def Custom(*data: Any, op_type: str, **parameters: Any) -> Any:
    """Runs a custom operator of mx.operator.register; other arguments are its parameters."""
    from ..operator import run_custom
    return run_custom(NDArray, data, op_type, parameters)


__all__ = [
    "Custom", "NDArray", "arange", "array", "concatenate", "contrib", "empty", "eye",
    "from_dlpack", "from_numpy", "full", "image", "linalg", "linspace", "load",
    "load_frombuffer", "moveaxis", "onehot_encode", "ones", "random", "save", "sparse",
    "to_dlpack_for_read", "to_dlpack_for_write", "waitall", "zeros"]

_lazy_get, __dir__ = lazy(__name__, ("",), NDArray)


def _get(name: str) -> Any:
    if name == "op":  # the functions of operators alone, as MXNet has them
        import sys
        return sys.modules[__name__]
    return _lazy_get(name)


if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._functions import *  # noqa: F403
    op: Any
else:
    __getattr__ = _get
