# SPDX-License-Identifier: Apache-2.0
"""mx.npx.image: images as arrays of mx.np."""
from .._functions import lazy
from ..numpy import ndarray

__getattr__, __dir__ = lazy(__name__, ("_npx__image_", "_image_"), ndarray)
