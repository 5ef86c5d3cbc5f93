# SPDX-License-Identifier: Apache-2.0
"""mx.nd.image: images."""
from .._functions import lazy
from .ndarray import NDArray

__getattr__, __dir__ = lazy(__name__, ("_image_",), NDArray)
