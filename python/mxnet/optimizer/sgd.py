# SPDX-License-Identifier: Apache-2.0
"""Gradient descent, with momentum or Nesterov's."""
from __future__ import annotations

from typing import Any, Optional, Sequence

from .. import ndarray as nd
from .optimizer import Optimizer, State, aggregation, exact_copy, register, zeros_of


class _Descent(Optimizer):
    """State: the momentum, if there is any, and with `multi_precision` a float32 copy of a float16
    weight, which is what is updated."""

    _RATE = 0.1
    _WITH_MOMENTUM = ""

    def __init__(self, learning_rate: Optional[float], momentum: float, multi_precision: bool,
                 **settings: Any) -> None:
        super().__init__(learning_rate, multi_precision=multi_precision, **settings)
        self.momentum = momentum

    def create_state(self, index: int, weight: Any) -> State:
        exact = exact_copy(weight) if self._is_mixed(weight) else weight
        momentum = () if self.momentum == 0 else (zeros_of(exact),)
        return momentum + (() if exact is weight else (exact,))

    # The operators know of the copy.
    def create_state_multi_precision(self, index: Any, weight: Any) -> State:
        return self.create_state(index, weight)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self.update(index, weight, grad, state)

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
    """weight -= lr * gradient; with momentum: m = momentum * m - lr * gradient, weight += m. lr: 0.1.

    `aggregate_num`: how many weights one operator updates, for example multi_sgd_update; 1: each has one of
    its own, sgd_update. Without it that is MXNET_OPTIMIZER_AGGREGATION_SIZE, else 4, as in MXNet 1.9, or 1
    for NumPy's arrays (npx.set_np), as in 2.0."""

    _WITH_MOMENTUM = "sgd_mom_update"

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.0,
                 lazy_update: bool = False, multi_precision: bool = False,
                 aggregate_num: Optional[int] = None, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, multi_precision, **settings)
        self.aggregate_num = aggregation(aggregate_num, 4)

    def update(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        if isinstance(index, (list, tuple)):
            self._update_many(index, weight, grad, state)
        else:
            super().update(index, weight, grad, state)

    def _update_many(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                     states: Sequence[State]) -> None:
        settings = self._begin_many(indices)
        name = "sgd_update"
        if self.momentum != 0:
            name = self._WITH_MOMENTUM
            settings["momentum"] = self.momentum
        update = getattr(nd, "multi_" + ("mp_" if self._is_mixed(weights[0]) else "") + name)
        arrays = [array for weight, grad, state in zip(weights, grads, states)
                  for array in (weight, grad, *state)]
        update(*arrays, out=list(weights), **settings)


@register
class NAG(_Descent):
    """Nesterov: m = momentum * m + gradient, weight -= lr * (gradient + momentum * m). lr: 0.1."""

    _WITH_MOMENTUM = "nag_mom_update"

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.9,
                 multi_precision: bool = False, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, multi_precision, **settings)
