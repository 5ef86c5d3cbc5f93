# SPDX-License-Identifier: Apache-2.0
"""Adam (Kingma and Ba, 2015)."""
from __future__ import annotations

import math
from typing import Any, Optional

from .. import ndarray as nd
from .optimizer import Optimizer, State, register, zeros_of


@register
class Adam(Optimizer):
    """weight -= lr * mean / (sqrt(variance) + epsilon), mean and variance of the gradient running with
    beta1 and beta2; the rate of update t is corrected by sqrt(1 - beta2^t) / (1 - beta1^t). lr: 0.001."""

    _RATE = 0.001

    def __init__(self, learning_rate: Optional[float] = None, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-8, lazy_update: bool = False, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: int, weight: Any) -> State:
        return zeros_of(weight), zeros_of(weight)

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        count = self.update_count(index)
        common["lr"] *= math.sqrt(1 - self.beta2 ** count) / (1 - self.beta1 ** count)
        mean, variance = state
        nd.adam_update(weight, grad, mean, variance, out=weight, beta1=self.beta1, beta2=self.beta2,
                       epsilon=self.epsilon, **common)
