# SPDX-License-Identifier: Apache-2.0
"""Gradient descent, with momentum or Nesterov's."""
from __future__ import annotations

from typing import Any, Optional

import numpy as onp

from .. import ndarray as nd
from .optimizer import Optimizer, State, register


class _Descent(Optimizer):
    """State: the momentum, if there is any, and with `multi_precision` a float32 copy of a float16
    weight, which is what is updated."""

    _RATE = 0.1
    _WITH_MOMENTUM = ""

    def __init__(self, learning_rate: Optional[float], momentum: float, multi_precision: bool,
                 **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum
        self.multi_precision = multi_precision

    def _is_mixed(self, weight: Any) -> bool:
        return self.multi_precision and onp.dtype(weight.dtype) == onp.float16

    def create_state(self, index: int, weight: Any) -> State:
        exact = weight.astype("float32") if self._is_mixed(weight) else weight
        momentum = () if self.momentum == 0 else (nd.zeros_like(exact),)
        return momentum + (() if exact is weight else (exact,))

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        settings = self._begin(index)
        name = "sgd_update"
        if self.momentum != 0:
            name = self._WITH_MOMENTUM
            settings["momentum"] = self.momentum
        update = getattr(nd, "mp_" + name if self._is_mixed(weight) else name)
        update(weight, grad, *state, out=weight, **settings)


@register
class SGD(_Descent):
    """weight -= lr * gradient; with momentum: m = momentum * m - lr * gradient, weight += m. lr: 0.1."""

    _WITH_MOMENTUM = "sgd_mom_update"

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.0,
                 lazy_update: bool = False, multi_precision: bool = False, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, multi_precision, **settings)


@register
class NAG(_Descent):
    """Nesterov: m = momentum * m + gradient, weight -= lr * (gradient + momentum * m). lr: 0.1."""

    _WITH_MOMENTUM = "nag_mom_update"

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.9,
                 multi_precision: bool = False, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, multi_precision, **settings)
