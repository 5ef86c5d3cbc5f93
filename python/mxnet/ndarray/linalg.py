# SPDX-License-Identifier: Apache-2.0
"""mx.nd.linalg: linear algebra."""
from .._functions import lazy
from .ndarray import NDArray

__getattr__, __dir__ = lazy(__name__, ("_linalg_", "linalg_",), NDArray)
