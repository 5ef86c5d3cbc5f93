# SPDX-License-Identifier: Apache-2.0
"""Steps along signs (Bernstein and others, 2018)."""
from __future__ import annotations

from typing import Any, Optional

from .. import ndarray as nd
from .optimizer import Optimizer, State, register, zeros_of


@register
class Signum(Optimizer):
    """m = momentum * m - (1 - momentum) * gradient; weight = (1 - lr * wd_lh) * weight + lr * sign(m). Without
    momentum weight = (1 - lr * wd) * weight - lr * sign(gradient): `wd_lh` is not used then. lr: 0.01."""

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.9, wd_lh: float = 0.0,
                 **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: int, weight: Any) -> State:
        return (zeros_of(weight),) if self.momentum != 0 else ()

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        common = self._begin(index)
        if self.momentum != 0:
            nd.signum_update(weight, grad, state[0], out=weight, momentum=self.momentum, wd_lh=self.wd_lh,
                             **common)
        else:
            nd.signsgd_update(weight, grad, out=weight, **common)
