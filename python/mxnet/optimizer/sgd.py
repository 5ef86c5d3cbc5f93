# SPDX-License-Identifier: Apache-2.0
"""Gradient descent, with momentum or Nesterov's."""
from __future__ import annotations

from typing import Any

from .. import ndarray as nd
from .optimizer import Optimizer, State, register


@register
class SGD(Optimizer):
    """weight -= lr * gradient; with momentum: m = momentum * m - lr * gradient, weight += m."""

    def __init__(self, learning_rate: float = 0.1, momentum: float = 0.0, lazy_update: bool = False,
                 multi_precision: bool = False, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum

    def create_state(self, index: int, weight: Any) -> State:
        return () if self.momentum == 0 else (nd.zeros_like(weight),)

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        if state:
            nd.sgd_mom_update(weight, grad, *state, out=weight, momentum=self.momentum, **common)
        else:
            nd.sgd_update(weight, grad, out=weight, **common)


@register
class NAG(Optimizer):
    """Nesterov: m = momentum * m + gradient, weight -= lr * (gradient + momentum * m)."""

    def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9, multi_precision: bool = False,
                 **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum

    def create_state(self, index: int, weight: Any) -> State:
        return () if self.momentum == 0 else (nd.zeros_like(weight),)

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        if state:
            nd.nag_mom_update(weight, grad, *state, out=weight, momentum=self.momentum, **common)
        else:
            nd.sgd_update(weight, grad, out=weight, **common)
