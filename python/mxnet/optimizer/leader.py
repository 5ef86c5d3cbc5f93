# SPDX-License-Identifier: Apache-2.0
"""Optimizers that follow a leader: the weights that were the best for all gradients so far, FTRL-proximal
(McMahan and others, 2013) and FTML (Zheng and Kwok, 2017)."""
from __future__ import annotations

from typing import Any, Optional

from .. import ndarray as nd
from .optimizer import Optimizer, State, register, zeros_of


@register
class Ftrl(Optimizer):
    """z += gradient - (sqrt(n + gradient^2) - sqrt(n)) * weight / lr, n += gradient^2; the weight is
    (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) where z is farther than lamda1 from 0, else 0. The
    decay wd acts there alone. lr: 0.1."""

    _RATE = 0.1

    def __init__(self, learning_rate: Optional[float] = None, lamda1: float = 0.01, beta: float = 1.0,
                 **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index: int, weight: Any) -> State:
        return zeros_of(weight), zeros_of(weight)

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        asked, squares = state
        nd.ftrl_update(weight, grad, asked, squares, out=weight, lamda1=self.lamda1, beta=self.beta,
                       **self._begin(index))


@register
class FTML(Optimizer):
    """v = beta2 * v + (1 - beta2) * gradient^2, d = (1 - beta1^t) / lr * (sqrt(v / (1 - beta2^t)) + epsilon),
    z = beta1 * z + (1 - beta1) * gradient - (d - beta1 * d before) * weight; the weight is -z / d. The decay is
    added to the gradient before it is clipped. lr: 0.0025."""

    _RATE = 0.0025

    def __init__(self, learning_rate: Optional[float] = None, beta1: float = 0.6, beta2: float = 0.999,
                 epsilon: float = 1e-8, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: int, weight: Any) -> State:
        return zeros_of(weight), zeros_of(weight), zeros_of(weight)

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        if "clip_gradient" in common:
            common["clip_grad"] = common.pop("clip_gradient")
        scale, squares, asked = state
        nd.ftml_update(weight, grad, scale, squares, asked, out=weight, t=self.update_count(index),
                       beta1=self.beta1, beta2=self.beta2, epsilon=self.epsilon, **common)
