# SPDX-License-Identifier: Apache-2.0
"""mx.npx.random: more random numbers as arrays of mx.np."""
from .._functions import lazy
from ..numpy import ndarray

__getattr__, __dir__ = lazy(__name__, ("_npx__random_", "_random_"), ndarray)
