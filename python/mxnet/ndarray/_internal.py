# SPDX-License-Identifier: Apache-2.0
"""mx.nd._internal: the operators whose names begin with an underscore."""
from .._functions import lazy
from .ndarray import NDArray

__getattr__, __dir__ = lazy(__name__, ("",), NDArray, private=True)
