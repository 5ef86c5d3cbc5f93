# SPDX-License-Identifier: Apache-2.0
"""Seeds of random numbers; the functions are those of mx.nd.random."""
from typing import Any, Union

from .base import _LIB, check_call
from .context import Context
from .ndarray import random as _random


def seed(seed_state: int, ctx: Union[str, Context] = "all", device: Any = None) -> None:
    """Seeds the generators of all devices, or of one, after what was called before."""
    target = device if device is not None else ctx
    number = int(seed_state)
    if not -2 ** 31 <= number < 2 ** 31:
        raise ValueError(f"a seed is a number of 32 bits, not {seed_state}")
    if isinstance(target, str) and target == "all":
        check_call(_LIB.MXRandomSeed(number))
    else:
        target = Context(target)
        check_call(_LIB.MXRandomSeedContext(number, target.device_typeid, target.device_id))


def __getattr__(name: str) -> Any:
    return getattr(_random, name)
