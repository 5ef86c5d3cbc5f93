# SPDX-License-Identifier: Apache-2.0
"""mx.np: NumPy's interface on libmxnet.

Operators of the library named _npi_NAME and _np_NAME are functions here, with gradients. Functions
of NumPy that the library does not have are computed by NumPy itself: they wait for their arrays,
write to `out=` and to what they change, and refuse to run while autograd records.
"""
import typing
from typing import Any, List

import numpy as _onp
from numpy import (bool_, dtype, e, finfo, float16, float32, float64, iinfo, inf, int8, int16, int32, int64,
                   nan, newaxis, pi, uint8, uint16, uint32, uint64)

from .. import _files
from .._functions import lazy
from ..ndarray.ndarray import binary_functions
from . import _inputs, _masks, random, shapes
from ._host import host_function, host_names, may_share_memory, share_memory, shares_memory
from .creation import (arange, array, asarray, empty, eye, from_dlpack, full, full_like, identity,
                       linspace, ones, ones_like, zeros, zeros_like)
from .averages import average, std, var
from .einsum import einsum
from .functions import (array_split, clip, column_stack, concatenate, copy, copyto, dstack, hstack, ndim, nonzero,
                        ravel, reshape, row_stack, shape, size, split, stack, take, transpose, vstack, where)
from .multiarray import TRIPLES, ndarray
from .products import dot, inner, matmul, outer, tensordot
from .shapes import append, broadcast_arrays, broadcast_to, diagonal, diff, flip, meshgrid, pad, trace
from .sorting import argsort, repeat, sort

globals().update({name: getattr(shapes, name) for name in shapes.MOVING})
globals().update({name: _inputs.taking_arrays(globals()[name], count) for name, count in _inputs.COUNTS.items()})
bool = _onp.bool_  # pylint: disable=redefined-builtin
globals().update(binary_functions(ndarray, TRIPLES, (
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "mod", "remainder",
    "power", "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "maximum",
    "minimum", "fmax", "fmin", "hypot", "arctan2", "bitwise_and", "bitwise_or", "bitwise_xor",
    "logaddexp", "logical_and", "logical_or", "logical_xor")))

save, savez = _files.save_numpy, _files.savez


def load(file: str) -> Any:
    """The array of a file of NumPy's, the list of arrays of MXNet's, or the dict if they were saved with
    names; MXNetError if it is missing or damaged."""
    return _files.load(ndarray, file)


from . import linalg  # uses functions from above
from ._products import cross, kron, vdot

__all__ = [
    "append", "arange", "argsort", "array", "array_split", "asarray", "average", "bool", "bool_",
    "broadcast_arrays", "broadcast_to", "clip", "column_stack", "concatenate", "copy", "copyto",
    "diagonal", "diff", "dot", "dstack", "dtype", "e", "einsum", "empty", "eye", "finfo", "flip",
    "float16", "float32", "float64", "from_dlpack", "full", "full_like", "hstack", "identity", "iinfo",
    "inf", "inner", "int16", "int32", "int64", "int8", "linalg", "linspace", "load", "matmul",
    "may_share_memory", "meshgrid", "nan", "ndarray", "ndim", "newaxis", "nonzero", "ones",
    "ones_like", "outer", "pad", "pi", "random", "ravel", "repeat", "reshape", "row_stack", "shape", "shapes",
    "share_memory", "shares_memory", "size", "sort", "split", "stack", "std", "take", "tensordot",
    "trace", "transpose", "uint16", "uint32", "uint64", "uint8", "var", "vstack", "where", "zeros",
    "zeros_like"]

_lazy_get, _lazy_dir = lazy(__name__, ("_npi_", "_np_"), ndarray, like=_onp,
                            masks=dict.fromkeys(_masks.REDUCED, _masks.masked))


_OTHER_NAMES = {  # of functions with gradients
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "bitwise_not", "concat": "concatenate",
    "fabs": "abs", "permute_dims": "transpose", "pow": "power"}


def _get(name: str) -> Any:
    name = _OTHER_NAMES.get(name, name)
    if name in globals():
        return globals()[name]
    try:
        return _lazy_get(name)
    except AttributeError:
        function = host_function(name)
        if function is None:
            raise
        globals()[name] = function
        return function


if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._functions import *  # noqa: F403
else:
    __getattr__ = _get


def __dir__() -> List[str]:
    return sorted({*_lazy_dir(), *host_names(), *_OTHER_NAMES})
