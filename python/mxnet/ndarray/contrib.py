# SPDX-License-Identifier: Apache-2.0
"""mx.nd.contrib: operators beyond the stable ones."""
from .._functions import lazy
from .ndarray import NDArray

__getattr__, __dir__ = lazy(__name__, ("_contrib_",), NDArray)
