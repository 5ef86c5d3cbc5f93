# SPDX-License-Identifier: Apache-2.0
"""mx.nd.sparse: the names MXNet has for sparse arrays; ours are dense."""
import typing

from .._functions import lazy
from .ndarray import NDArray

_get, __dir__ = lazy(__name__, ("_sparse_",), NDArray)

if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._sparse_functions import *  # noqa: F403
else:
    __getattr__ = _get
