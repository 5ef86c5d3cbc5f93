# SPDX-License-Identifier: Apache-2.0
"""RMSProp (Hinton, 2012), and its centered form (Graves, 2013)."""
from __future__ import annotations

from typing import Any, Optional

from .. import ndarray as nd
from .optimizer import Optimizer, State, register, zeros_of


@register
class RMSProp(Optimizer):
    """weight -= lr * gradient / sqrt(mean square of the gradient + epsilon), the mean running with `rho`;
    `centered` subtracts the square of the mean and adds momentum. 1.x calls rho gamma1 and momentum
    gamma2. `clip_weights` bounds the weights. The decay is added to the gradient before it is clipped, as in
    1.9.1; 2.0 does it afterwards. lr: 0.001."""

    _RATE = 0.001

    def __init__(self, learning_rate: Optional[float] = None, rho: float = 0.9, momentum: float = 0.9,
                 epsilon: float = 1e-8, centered: bool = False, clip_weights: Optional[float] = None,
                 gamma1: Optional[float] = None, gamma2: Optional[float] = None,
                 **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.rho = rho if gamma1 is None else gamma1
        self.momentum = momentum if gamma2 is None else gamma2
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index: int, weight: Any) -> State:
        return tuple(zeros_of(weight) for _ in range(3 if self.centered else 1))

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        common["epsilon"] = self.epsilon
        if self.clip_weights is not None:
            common["clip_weights"] = self.clip_weights
        if self.centered:
            squares, mean, step = state
            nd.rmspropalex_update(weight, grad, squares, mean, step, out=weight, rho=self.rho,
                                  momentum=self.momentum, **common)
        else:
            nd.rmsprop_update(weight, grad, state[0], out=weight, rho=self.rho, **common)
