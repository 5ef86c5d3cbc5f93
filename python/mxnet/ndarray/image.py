# SPDX-License-Identifier: Apache-2.0
"""mx.nd.image: images."""
import typing

from .._functions import lazy
from .ndarray import NDArray

_get, __dir__ = lazy(__name__, ("_image_",), NDArray)

if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._image_functions import *  # noqa: F403
else:
    __getattr__ = _get
