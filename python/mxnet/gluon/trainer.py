# SPDX-License-Identifier: Apache-2.0
"""The trainer: applies an optimizer to parameters after each backward pass."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from .. import optimizer as opt
from .. import profiler
from ..context import Context
from .parameter import Parameter, ParameterDict


_KVSTORES = ("device", "local", None)


class Trainer:
    """Updates `params` (what `collect_params` returned, or a list) with an optimizer, given by name with
    its parameters or as an object. `kvstore` "device" and "local" are accepted: one process needs none,
    gradients of several devices are summed. The update of a parameter belongs to its layer's scope."""

    def __init__(self, params: Union[ParameterDict, Dict[str, Parameter], Sequence[Parameter]],
                 optimizer: Union[str, opt.Optimizer], optimizer_params: Optional[Dict[str, Any]] = None,
                 kvstore: Any = "device", compression_params: Any = None,
                 update_on_kvstore: Optional[bool] = None) -> None:
        if kvstore not in _KVSTORES or compression_params is not None:
            raise ValueError(f"Trainer: kvstore {kvstore!r} with compression {compression_params!r}: "
                             "gradients stay in this process; valid are 'device', 'local' and None, "
                             "without compression")
        values: Any = params.values() if isinstance(params, dict) else params
        parameters = list(values) if isinstance(values, Iterable) else [values]
        for parameter in parameters:
            if not isinstance(parameter, Parameter):
                raise ValueError("Trainer: params must be parameters, or a dict of them, not "
                                 f"{type(parameter).__name__}")
        self._params: List[Parameter] = list(dict.fromkeys(parameters))
        self._optimizer = self._make_optimizer(optimizer, optimizer_params)
        self._scale = self._optimizer.rescale_grad
        self._states: List[Optional[Dict[Context, Any]]] = [None] * len(self._params)

    def _make_optimizer(self, optimizer: Any, settings: Optional[Dict[str, Any]]) -> opt.Optimizer:
        if isinstance(optimizer, opt.Optimizer):
            if settings:
                raise ValueError("Trainer: optimizer_params go with the name of an optimizer, not with "
                                 "an Optimizer object")
            optimizer.param_dict = dict(enumerate(self._params))
            return optimizer
        return opt.create(optimizer, param_dict=dict(enumerate(self._params)), **(settings or {}))

    @property
    def optimizer(self) -> opt.Optimizer:
        return self._optimizer

    @property
    def learning_rate(self) -> float:
        return self._optimizer.learning_rate

    def set_learning_rate(self, lr: float) -> None:
        self._optimizer.set_learning_rate(lr)

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """One update: gradients are divided by `batch_size`. A gradient that no backward pass has
        written since the last step raises UserWarning, unless it is to be ignored."""
        self.allreduce_grads()
        self.update(batch_size, ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sums the gradients of parameters that are on several devices."""
        for parameter in self._params:
            if parameter.grad_req == "null" or len(parameter.list_ctx()) == 1:
                continue
            gradients = parameter.list_grad()
            total = gradients[0].copy()
            for gradient in gradients[1:]:
                total += gradient.as_in_context(total.context)
            for gradient in gradients:
                total.copyto(gradient)

    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """The update without summing gradients."""
        if batch_size <= 0:
            raise ValueError(f"Trainer: batch_size must be above 0, not {batch_size}")
        if not ignore_stale_grad:
            self._refuse_stale()  # before anything is changed
        self._optimizer.rescale_grad = self._scale / batch_size
        for index, parameter in enumerate(self._params):
            if parameter.grad_req != "null":
                with profiler.scope(parameter.scope, append_mode=False):
                    self._update_one(index, parameter, ignore_stale_grad)

    def _refuse_stale(self) -> None:
        for parameter in self._params:
            if parameter.grad_req == "null":
                continue
            for ctx, weight in zip(parameter.list_ctx(), parameter.list_data()):
                if not weight._fresh_grad:
                    raise UserWarning(
                        f"the gradient of {parameter.name} on {ctx} has not been written by a backward "
                        "pass since the last step; is it used in the loss? ignore_stale_grad=True skips it")

    def _update_one(self, index: int, parameter: Parameter, ignore_stale_grad: bool) -> None:
        states = self._states[index]
        if states is None:
            states = self._states[index] = {}
        for copy, (ctx, weight) in enumerate(zip(parameter.list_ctx(), parameter.list_data())):
            if ignore_stale_grad and not weight._fresh_grad:
                continue
            if ctx not in states:
                states[ctx] = self._optimizer.create_state(index, weight)
            self._optimizer.use_copy(copy)
            self._optimizer.update(index, weight, weight.grad, states[ctx])
            weight._fresh_grad = False

    def zero_grad(self) -> None:
        for parameter in self._params:
            parameter.zero_grad()

    def save_states(self, fname: str) -> None:
        """Writes the optimizer's states, on the first device, to a file."""
        self._optimizer.use_copy(0)
        opt.save_states(fname, self._optimizer,
                        [None if states is None else next(iter(states.values()), None)
                         for states in self._states])

    def load_states(self, fname: str) -> None:
        """Reads what `save_states` wrote, for the same parameters."""
        loaded = opt.load_states(fname, self._optimizer, len(self._params))
        for index, (parameter, state) in enumerate(zip(self._params, loaded)):
            if state is not None:
                contexts = parameter.list_ctx()
                self._states[index] = {ctx: opt.copy_state(state, ctx) for ctx in contexts}
                self._optimizer.set_update_count(index, self._optimizer.update_count(index),
                                                 len(contexts))
