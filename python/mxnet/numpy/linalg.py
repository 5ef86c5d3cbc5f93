# SPDX-License-Identifier: Apache-2.0
"""mx.np.linalg: `norm` with gradients; NumPy computes everything else, as in mx.np."""
import functools
from typing import Any, List, Optional

import numpy as onp

from .. import numpy as _np
from .._names import offered
from ._host import host_function, host_names
from ._inputs import taking_arrays
from .averages import Axis, real, root
from .multiarray import ndarray

np: Any = _np  # its functions are made when they are asked for


def norm(x: ndarray, ord: Any = None,  # pylint: disable=redefined-builtin
         axis: Axis = None, keepdims: bool = False) -> ndarray:
    """The root of the sum of squares; of vectors (1-D, or one axis) also ord 1, inf and -inf."""
    x = real(x)
    is_vector = isinstance(axis, int) or (axis is None and x.ndim == 1)
    if ord is None or ord == ("fro" if not is_vector else 2):
        return root(np.sum(np.square(x), axis=axis, keepdims=keepdims))
    reduce = {1: np.sum, onp.inf: np.max, -onp.inf: np.min}.get(ord) if is_vector else None
    if reduce is not None:
        return reduce(np.abs(x), axis=axis, keepdims=keepdims)
    return host_function("norm", onp.linalg)(x, ord, axis, keepdims)


norm = taking_arrays(norm, 1)


def _of_triangle(name: str) -> Any:
    """NumPy's function with MXNet's way to say which triangle counts."""
    function = host_function(name, onp.linalg)

    @functools.wraps(getattr(onp.linalg, name))
    def of_triangle(a: ndarray, UPLO: str = "L", *, upper: Optional[bool] = None) -> Any:
        return function(a, UPLO if upper is None else "U" if upper else "L")

    return of_triangle


eigh, eigvalsh = _of_triangle("eigh"), _of_triangle("eigvalsh")


def __getattr__(name: str) -> Any:
    function = host_function(name, onp.linalg)
    if function is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = function
    return function


def __dir__() -> List[str]:
    return sorted({*offered(__name__), *host_names(onp.linalg)})
