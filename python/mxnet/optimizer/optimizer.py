# SPDX-License-Identifier: Apache-2.0
"""What optimizers share: rates, decay, counts of updates, and finding one by name."""
from __future__ import annotations

import os
from typing import Any, Dict, Optional, Tuple, Type

import numpy as onp

from .. import ndarray as nd
from .._given import Given, options
from ..base import choices
from ..lr_scheduler import LRScheduler
from ..util import is_np_array

State = Any  # arrays of the weight's shape: a tuple of them; of one's own optimizers also one, or None

_registry: Dict[str, Type["Optimizer"]] = {}


def register(kind: Type["Optimizer"]) -> Type["Optimizer"]:
    """Makes an optimizer's class known to `create` by its name."""
    _registry[kind.__name__.lower()] = kind
    return kind


def create(name: Any, **settings: Any) -> "Optimizer":
    """The optimizer called `name`, in any case; one that is an optimizer already is returned."""
    if isinstance(name, Optimizer):
        return name
    if str(name).lower() not in _registry:
        raise ValueError(f"no optimizer {name!r}{choices(name, _registry)}")
    return _registry[name.lower()](**settings)


def zeros_of(weight: Any) -> Any:
    """What states begin with: of the weight's shape and type, on its device."""
    return nd.zeros(weight.shape, ctx=weight.context, dtype=weight.dtype)


def exact_copy(weight: Any) -> Any:
    """As float32; by a copy, which MXNet's profiles show, not by an operator."""
    copy = nd.empty(weight.shape, ctx=weight.context, dtype="float32")
    weight.copyto(copy)
    return copy


def aggregation(asked: Optional[int], usual: int) -> int:
    """How many weights one operator updates: `asked`, or MXNET_OPTIMIZER_AGGREGATION_SIZE, or as MXNet does
    it: its line 1.9 `usual` of them, its line 2.0, whose arrays are NumPy's, one."""
    if asked is not None:
        return asked
    text = os.environ.get("MXNET_OPTIMIZER_AGGREGATION_SIZE")
    if text is None:
        return 1 if is_np_array() else usual
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"MXNET_OPTIMIZER_AGGREGATION_SIZE={text!r}: how many weights one operator "
                         "updates; it must be a number") from None


class Optimizer(Given):
    """The base of optimizers.

    The gradient that is applied is rescale_grad * gradient, clipped to ±clip_gradient, plus
    wd * weight; Adam and RMSProp clip the sum. `lr_scheduler` gives the rate by the number of updates.
    `param_dict` maps indices to parameters, whose lr_mult and wd_mult count. `update` runs inside the
    scope of the caller. Without a `learning_rate` it is that of the schedule, or of the class.

    With `multi_precision` a float16 weight has a float32 copy, which is updated and comes first in the state
    that `create_state_multi_precision` gives: (copy, what `create_state` gives for the copy).

    With an `aggregate_num` above 1, `update_multi_precision` gets lists: indices, weights, gradients and
    states of up to so many weights of one type.

    `param_idx2name` maps indices to names. Of weights that it names, those that are neither weights nor gammas do not
    decay. Where there is no `param_dict`, `set_lr_mult` and `set_wd_mult` give multipliers by name or index.
    """

    _RATE = 0.01
    _DECAYS: Tuple[str, ...] = ("_weight", "_gamma")  # ends of names of weights that decay, where one is told

    def __init__(self, learning_rate: Optional[float] = None, wd: float = 0.0,
                 rescale_grad: float = 1.0, clip_gradient: Optional[float] = None,
                 lr_scheduler: Optional[LRScheduler] = None, begin_num_update: int = 0,
                 param_dict: Optional[Dict[int, Any]] = None,
                 param_idx2name: Optional[Dict[int, str]] = None, multi_precision: bool = False,
                 **unknown: Any) -> None:
        if unknown:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(sorted(unknown))}; "
                            f"there are {', '.join(options(type(self)))}")
        self.rescale_grad = rescale_grad
        self.wd = wd
        self.clip_gradient = clip_gradient
        self.lr_scheduler = lr_scheduler
        self.lr = self._RATE if learning_rate is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            lr_scheduler.base_lr = learning_rate
        self.param_dict = param_dict or {}
        self.idx2name: Dict[Any, str] = dict(param_idx2name or {})
        self.lr_mult: Dict[Any, float] = {}
        self.set_wd_mult({})
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.begin_num_update = self.num_update = begin_num_update
        self._counts: Dict[int, int] = {}
        self._counts_by_copy = {0: self._counts}

    register = staticmethod(register)
    create_optimizer = staticmethod(create)

    # ---- for subclasses --------------------------------------------------------------------------
    def create_state(self, index: int, weight: Any) -> State:
        """The arrays that an update keeps beside a weight; here none."""
        return ()

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        raise NotImplementedError

    def _is_mixed(self, weight: Any) -> bool:
        """Whether there is a float32 copy of it."""
        return self.multi_precision and onp.dtype(weight.dtype) == onp.float16

    def create_state_multi_precision(self, index: Any, weight: Any) -> State:
        """What updaters and trainers call: the state of one weight."""
        if not self._is_mixed(weight):
            return self.create_state(index, weight)
        exact = exact_copy(weight)
        return exact, self.create_state(index, exact)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """What updaters and trainers call: of one weight, or of several if there is an `aggregate_num`."""
        several = isinstance(index, (list, tuple))
        weights, grads, states = (weight, grad, state) if several else ([weight], [grad], [state])
        if not self._is_mixed(weights[0]):
            self.update(index, weight, grad, state)
            return
        exact, inner = ([pair[place] for pair in states] for place in (0, 1))
        exact_grads = [one.astype("float32") for one in grads]
        if several:
            self.update(index, exact, exact_grads, inner)
        else:
            self.update(index, exact[0], exact_grads[0], inner[0])
        for to, updated in zip(weights, exact):
            updated.copyto(to)

    def _update_count(self, index: Any) -> None:
        """Counts an update of parameter `index`, or of each of a list: what an update begins with."""
        if isinstance(index, (list, tuple)):
            for one in index:
                self._update_count(one)
            return
        count = self._counts.get(index, self.begin_num_update) + 1
        self._counts[index] = count
        self.num_update = max(self.num_update, count)

    def _get_lr(self, index: int) -> float:
        """The rate of parameter `index` now."""
        return self.learning_rate * self._factor(index, "lr_mult")

    def _get_wd(self, index: int) -> float:
        """The decay of parameter `index`."""
        return self.wd * self._factor(index, "wd_mult")

    def _factor(self, index: int, kind: str) -> float:
        """The multiplier `kind` of parameter `index`: the parameter's own, or what was set for index or name."""
        parameter = self.param_dict.get(index)
        if parameter is not None:
            return getattr(parameter, kind)
        said = getattr(self, kind)
        return said[index] if index in said else said.get(self.idx2name.get(index), 1.0)

    def _begin(self, index: int) -> Dict[str, Any]:
        """Counts an update of parameter `index`; what every update operator takes."""
        self._update_count(index)
        return {"lr": self._get_lr(index), "wd": self._get_wd(index), **self._gradient_settings()}

    def _begin_many(self, indices: Any) -> Dict[str, Any]:
        """The same of several, for an operator that updates them all."""
        self._update_count(indices)
        return {"lrs": [self._get_lr(index) for index in indices],
                "wds": [self._get_wd(index) for index in indices],
                "num_weights": len(indices), **self._gradient_settings()}

    def _gradient_settings(self) -> Dict[str, Any]:
        settings = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient is not None:
            settings["clip_gradient"] = self.clip_gradient
        return settings

    # ---- for users -------------------------------------------------------------------------------
    @property
    def learning_rate(self) -> float:
        """The rate of the next update."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        if self.lr_scheduler is not None:
            raise UserWarning("the lr_scheduler sets the learning rate of this optimizer")
        self.lr = lr

    def set_lr_mult(self, args_lr_mult: Dict[Any, float]) -> None:
        """Multipliers of the rate, by name or index; 1 for all others."""
        self.lr_mult = dict(args_lr_mult)

    def set_wd_mult(self, args_wd_mult: Dict[Any, float]) -> None:
        """Multipliers of the decay, by name or index. Of others, biases and their like have 0 if `idx2name` names them."""
        self.wd_mult: Dict[Any, float] = {name: 0.0 for name in self.idx2name.values() if not name.endswith(self._DECAYS)}
        self.wd_mult.update(args_wd_mult)

    def use_copy(self, number: int) -> None:
        """Updates that follow are of copy `number` of the parameters: each device's are counted by
        themselves."""
        self._counts = self._counts_by_copy.setdefault(number, {})

    def update_count(self, index: int) -> int:
        """How often parameter `index` was updated."""
        return self._counts.get(index, self.begin_num_update)

    def set_update_count(self, index: int, count: int, copies: int = 1) -> None:
        for number in range(copies):
            self._counts_by_copy.setdefault(number, {})[index] = count
        self.num_update = max(self.num_update, count)
