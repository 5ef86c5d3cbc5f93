# SPDX-License-Identifier: Apache-2.0
"""mx.npx.image: images as arrays of mx.np."""
import typing

from .._functions import lazy
from ..numpy import ndarray

_get, __dir__ = lazy(__name__, ("_npx__image_", "_image_"), ndarray)

if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._image_functions import *  # noqa: F403
else:
    __getattr__ = _get
