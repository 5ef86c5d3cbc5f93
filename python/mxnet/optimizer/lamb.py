# SPDX-License-Identifier: Apache-2.0
"""LAMB (You and others, 2019): steps of Adam that are as long as the weights' norms say."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

from .. import ndarray as nd
from .optimizer import Optimizer, State, aggregation, register, zeros_of

_MOST = 45  # weights of one operator, as in MXNet


@register
class LAMB(Optimizer):
    """direction = mean / (sqrt(variance) + epsilon) + wd * weight, mean and variance of the gradient running with
    beta1 and beta2, corrected by 1 - beta1^t and 1 - beta2^t with `bias_correction`;
    weight -= lr * |weight| / |direction| * direction, or lr * direction where a norm is 0. The weight's norm counts
    as `lower_bound` if it is less, as `upper_bound` if it is more. lr: 0.001.

    `aggregate_num`: how many weights one operator updates, 45 at most; 1: each has operators of its own,
    lamb_update_phase1 and lamb_update_phase2."""

    _RATE = 0.001

    def __init__(self, learning_rate: Optional[float] = None, beta1: float = 0.9, beta2: float = 0.999,
                 epsilon: float = 1e-6, lower_bound: Optional[float] = None,
                 upper_bound: Optional[float] = None, bias_correction: bool = True,
                 aggregate_num: Optional[int] = None, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = min(aggregation(aggregate_num, _MOST), _MOST)

    def create_state(self, index: int, weight: Any) -> State:
        return zeros_of(weight), zeros_of(weight)

    def update(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        if isinstance(index, (list, tuple)):
            self._update_many(index, weight, grad, state)
        else:
            self._update_one(index, weight, grad, *state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        several = isinstance(index, (list, tuple))
        if not self._is_mixed(weight[0] if several else weight):
            self.update(index, weight, grad, state)
        elif several:
            self._update_many(index, weight, grad, [(*means, exact) for exact, means in state], "mp_")
        else:
            exact, means = state
            self._update_one(index, weight, grad, *means, exact)

    def _bounds(self) -> Dict[str, float]:
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        return {name: bound for name, bound in bounds.items() if bound is not None}

    def _means(self) -> Dict[str, Any]:
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon,
                "bias_correction": self.bias_correction}

    def _update_one(self, index: Any, weight: Any, grad: Any, mean: Any, variance: Any, *exact: Any) -> None:
        """`exact` is the float32 copy of a float16 weight, if there is one."""
        settings = self._begin(index)
        rate = settings.pop("lr")
        phase1: Any = nd.mp_lamb_update_phase1 if exact else nd.lamb_update_phase1
        phase2: Any = nd.mp_lamb_update_phase2 if exact else nd.lamb_update_phase2
        direction = phase1(weight, grad, mean, variance, *exact, t=self.update_count(index), **self._means(),
                           **settings)
        length = nd.norm(exact[0] if exact else weight)
        phase2(weight, direction, length, nd.norm(direction), *exact, out=weight, lr=rate, **self._bounds())

    def _update_many(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                     states: Sequence[State], kind: str = "") -> None:
        settings = self._begin_many(indices)
        for ours, theirs in (("lrs", "learning_rates"), ("num_weights", "num_tensors")):
            settings[theirs] = settings.pop(ours)
        counts = [self.update_count(index) for index in indices]
        arrays = [array for weight, grad, state in zip(weights, grads, states)
                  for array in (weight, grad, *state)]
        update = getattr(nd._internal, f"_multi_{kind}lamb_update")
        update(*arrays, out=list(weights), step_count=counts, **self._means(), **self._bounds(), **settings)
