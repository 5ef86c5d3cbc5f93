# SPDX-License-Identifier: Apache-2.0
"""LARS (You, Gitman, Ginsburg, 2017): gradient descent whose rates follow the sizes of the weights."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence

from .. import ndarray as nd
from .optimizer import State, aggregation, register
from .sgd import SGD

_WITHOUT = ("gamma", "beta", "bias")  # weights that end so have the rate as it is


@register
class LARS(SGD):
    """SGD whose rate for a weight is lr * eta * |weight| / (|gradient| + wd * |weight| + eps), norms of the
    scaled gradient; where one of them is 0, and for weights whose `idx2name` ends with gamma, beta or bias, it
    is lr. `momentum_correction`: when the rate changes, the momentum of that step is scaled alike. lr: 0.1.

    The operators are those of MXNet 1.9: two multi_sum_sq, multi_lars, and preloaded_multi_sgd_update or the
    like for up to `aggregate_num` weights."""

    _DECAYS = ("_weight",)

    def __init__(self, learning_rate: Optional[float] = None, momentum: float = 0.0,
                 lazy_update: bool = True, eta: float = 0.001, eps: float = 0,
                 momentum_correction: bool = True, multi_precision: bool = False,
                 aggregate_num: Optional[int] = None, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, lazy_update, multi_precision,
                         aggregation(aggregate_num, 4), **settings)
        self.eta = eta
        self.eps = eps
        self.momentum_correction = momentum_correction
        self._rate: Optional[float] = None  # of the latest step, and of the one before
        self._rate_before: Optional[float] = None
        self._rate_at = -1

    def _momentum_now(self) -> float:
        """After a step was counted; of all groups of weights that the step has."""
        if self._rate_at != self.num_update:
            rate = self.learning_rate
            self._rate_before = rate if self._rate is None else self._rate
            self._rate, self._rate_at = rate, self.num_update
        if not self.momentum_correction or not self._rate_before or self._rate is None:
            return self.momentum
        return self.momentum * (self._rate / self._rate_before)

    def update(self, index: Any, weight: Any, grad: Any, state: State) -> None:
        if isinstance(index, (list, tuple)):
            self._update_many(index, weight, grad, state)
        else:
            self._update_many([index], [weight], [grad], [state])

    def _follows_norms(self, index: Any) -> bool:
        return not self.idx2name.get(index, str(index)).endswith(_WITHOUT)

    def _update_many(self, indices: Sequence[Any], weights: Sequence[Any], grads: Sequence[Any],
                     states: Sequence[State]) -> None:
        # Those whose rates follow norms come first, so that these are one part of the rates.
        order = sorted(range(len(indices)), key=lambda place: not self._follows_norms(indices[place]))
        settings = self._begin_many([indices[place] for place in order])
        following = sum(map(self._follows_norms, indices))
        rates, decays = (nd.array(settings.pop(name), ctx=weights[0].context, dtype="float32")
                         for name in ("lrs", "wds"))
        parts = [[column[place] for place in order] for column in (weights, grads, states)]
        if following:
            self._scale_rates(rates, decays, parts[0][:following], parts[1][:following])
        name = "sgd_update"
        if self.momentum != 0:
            name = self._WITH_MOMENTUM
            settings["momentum"] = self._momentum_now()
        update = getattr(nd, "preloaded_multi_" + ("mp_" if self._is_mixed(weights[0]) else "") + name)
        arrays = [array for weight, grad, state in zip(*parts) for array in (weight, grad, *state)]
        update(*arrays, rates, decays, out=parts[0], **settings)

    def _scale_rates(self, rates: Any, decays: Any, weights: List[Any], grads: List[Any]) -> None:
        count = len(weights)
        squares = [nd.multi_sum_sq(*arrays, num_arrays=count) for arrays in (weights, grads)]
        nd.multi_lars(rates[:count], squares[0], squares[1], decays[:count], out=rates[:count], eta=self.eta,
                      eps=self.eps, rescale_grad=self.rescale_grad)
