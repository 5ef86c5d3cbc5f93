# SPDX-License-Identifier: Apache-2.0
"""mx.nd.sparse: the names MXNet has for sparse arrays; ours are dense."""
from .._functions import lazy
from .ndarray import NDArray

__getattr__, __dir__ = lazy(__name__, ("_sparse_",), NDArray)
