# SPDX-License-Identifier: Apache-2.0
"""mx.npx.random: more random numbers as arrays of mx.np."""
import typing

from .._functions import lazy
from ..numpy import ndarray

_get, __dir__ = lazy(__name__, ("_npx__random_", "_random_"), ndarray)

if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._random_functions import *  # noqa: F403
else:
    __getattr__ = _get
