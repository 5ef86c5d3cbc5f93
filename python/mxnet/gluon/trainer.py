# SPDX-License-Identifier: Apache-2.0
"""The trainer: applies an optimizer to parameters after each backward pass."""
from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from .. import _local_batch
from .. import kvstore as kv
from .. import optimizer as opt
from .. import profiler
from ..context import Context
from ..optimizer.updater import Update, groups, update_group
from .parameter import Parameter, ParameterDict


_LARGE = 1024 * 1024 * 16  # elements of a parameter that a store 'local' does not update
_ON_STORE = " when parameters are updated on kvstore is not supported. Try setting `update_on_kvstore` to " \
            "False when creating trainer."


class Trainer:
    """Updates `params` (what `collect_params` returned, or a list) with an optimizer, given by name with
    its parameters or as an object. The update of a parameter belongs to its layer's scope; one of several
    layers' parameters (`aggregate_num`), to that of the block that has them all.

    Gradients of several devices are summed in a store: `kvstore` is 'device', 'local' or one of
    `mx.kv.create`; None sums nothing. With a name one device needs no store. `update_on_kvstore`: the store
    applies the optimizer, once for all devices; without it, each device does. None: the store does, unless
    MXNET_UPDATE_ON_KVSTORE is 0 or there is none. `compression_params`: of the gradients that a store sends, as
    of `KVStore.set_gradient_compression`."""

    def __init__(self, params: Union[ParameterDict, Dict[str, Parameter], Sequence[Parameter]],
                 optimizer: Union[str, opt.Optimizer], optimizer_params: Optional[Dict[str, Any]] = None,
                 kvstore: Any = "device", compression_params: Any = None,
                 update_on_kvstore: Optional[bool] = None) -> None:
        is_known = kvstore is None or isinstance(kvstore, kv.KVStore) or (
            isinstance(kvstore, str) and (kvstore.lower().startswith(("device", "local"))
                                          or "dist" in kvstore.lower()))
        if not is_known:
            raise ValueError(f"Trainer: kvstore {kvstore!r}: valid are 'device', 'local', 'dist_sync', "
                             "'dist_device_sync', 'dist_async', a KVStore and None")
        if kvstore is None and update_on_kvstore:
            raise ValueError("Trainer: update_on_kvstore=True, and kvstore is None: there is no store")
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
        self._store_asked, self._update_asked = kvstore, update_on_kvstore
        self._compression = compression_params
        self._has_store = False  # whether what follows is decided
        self._kvstore: Any = None  # a kv.KVStore, once one is needed
        self._update_on_kvstore: Optional[bool] = None
        if isinstance(kvstore, kv.DistKVStore) or (isinstance(kvstore, str) and "dist" in kvstore.lower()):
            _local_batch.ask()
        self._sent_scale: Optional[float] = None  # rescale_grad of an optimizer on servers

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
        if self._has_store and self._is_on_servers:
            self._kvstore._change_optimizer(learning_rate=lr)

    # ---- the store -----------------------------------------------------------------------------
    def _init_kvstore(self) -> None:
        """At the first step, when parameters are where they will be."""
        if self._has_store:
            return
        devices = max([len(parameter.list_ctx()) for parameter in self._params], default=1)
        store = self._store_asked
        if isinstance(store, str):
            store = kv.create(store) if devices > 1 or "dist" in store.lower() else None
        if store is not None:
            self._update_on_kvstore = self._updates_on(store)
            is_dist = isinstance(store, kv.DistKVStore)
            if self._compression:
                store.set_gradient_compression(self._compression)
            if self._update_on_kvstore and is_dist:  # before any worker can push: init waits for all
                store.set_optimizer(self._optimizer)
                self._sent_scale = self._optimizer.rescale_grad
            for index, parameter in enumerate(self._params):
                values = parameter.list_data()
                store.broadcast(index, values[0], values)
            if self._update_on_kvstore and not is_dist:
                store.set_optimizer(self._optimizer)
        self._kvstore, self._has_store = store, True

    @property
    def _is_on_servers(self) -> bool:
        return bool(self._update_on_kvstore) and isinstance(self._kvstore, kv.DistKVStore)

    def _updates_on(self, store: kv.KVStore) -> bool:
        if "_async" in store.type:
            if self._update_asked is False:
                raise ValueError("Please set update_on_kvstore=True when training in async mode.")
            return True
        if self._update_asked is not None:
            return self._update_asked
        if store.type == "local" and any(value.size > _LARGE for parameter in self._params
                                         for value in parameter.list_data()):
            return False
        return bool(int(os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1")))

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """One update: gradients are divided by `batch_size`. A gradient that no backward pass has
        written since the last step raises UserWarning, unless it is to be ignored."""
        self._begin_update(batch_size, ignore_stale_grad)  # before servers are sent the optimizer, with its scale
        self._init_kvstore()
        self._warn_of_local_batch(batch_size)
        if self._update_on_kvstore:
            self._update_by_store()
        else:
            self._allreduce_grads()
            self._update(ignore_stale_grad)

    def allreduce_grads(self) -> None:
        """Sums the gradients of parameters that are on several devices."""
        self._init_kvstore()
        if self._update_on_kvstore:
            raise AssertionError("allreduce_grads()" + _ON_STORE)
        self._allreduce_grads()

    def _allreduce_grads(self) -> None:
        for index, parameter in enumerate(self._params):
            if self._kvstore is not None and parameter.grad_req != "null":
                gradients = parameter.list_grad()
                self._kvstore._push_and_pull(index, gradients, gradients, priority=-index)

    def _update_by_store(self) -> None:
        self._optimizer.use_copy(0)
        if self._is_on_servers and self._sent_scale != self._optimizer.rescale_grad:
            self._sent_scale = self._optimizer.rescale_grad
            self._kvstore._change_optimizer(rescale_grad=self._sent_scale)
        for index, parameter in enumerate(self._params):
            values = parameter.list_data()
            if parameter.grad_req == "null" or not any(value._fresh_grad for value in values):
                continue
            if self._is_on_servers:
                self._optimizer._update_count(index)  # as servers do: a schedule tells its rate by it
            with profiler.scope(parameter.scope, append_mode=False):
                self._kvstore._push_and_pull(index, parameter.list_grad(), values, priority=-index)
            for value in values:
                value._fresh_grad = False

    # ---- updates by this process -----------------------------------------------------------------
    def update(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """The update without summing gradients."""
        self._init_kvstore()
        if self._update_on_kvstore:
            raise AssertionError("update()" + _ON_STORE)
        self._begin_update(batch_size, ignore_stale_grad)
        self._warn_of_local_batch(batch_size)
        self._update(ignore_stale_grad)

    def _update(self, ignore_stale_grad: bool) -> None:
        copies = max((len(parameter.list_ctx()) for parameter in self._params), default=0)
        for copy in range(copies):
            self._optimizer.use_copy(copy)
            for group in groups(self._optimizer, self._updates(copy, ignore_stale_grad)):
                with profiler.scope(self._scope_of(group), append_mode=False):
                    update_group(self._optimizer, group)
                for update in group:
                    update.weight._fresh_grad = False

    def _begin_update(self, batch_size: int, ignore_stale_grad: bool) -> None:
        if batch_size <= 0:
            raise ValueError(f"Trainer: batch_size must be above 0, not {batch_size}")
        if not ignore_stale_grad:
            self._refuse_stale()  # before anything is changed
        self._optimizer.rescale_grad = self._scale / batch_size

    def _warn_of_local_batch(self, batch_size: int) -> None:
        if _local_batch.seen() != batch_size or not isinstance(self._kvstore, kv.DistKVStore):
            return
        workers = self._kvstore.num_workers
        if workers > 1 and self._kvstore.rank == 0:
            warnings.warn(f"Trainer.step({batch_size}): this is the batch of one worker; gradients are summed over "
                          f"{workers} workers, so steps are {workers} times as long as with the global batch, "
                          f"{batch_size * workers}", stacklevel=4)

    def _refuse_stale(self) -> None:
        for parameter in self._params:
            if parameter.grad_req == "null":
                continue
            for ctx, weight in zip(parameter.list_ctx(), parameter.list_data()):
                if not weight._fresh_grad:
                    raise UserWarning(
                        f"the gradient of {parameter.name} on {ctx} has not been written by a backward "
                        "pass since the last step; is it used in the loss? ignore_stale_grad=True skips it")

    def _updates(self, copy: int, ignore_stale_grad: bool) -> List[Update]:
        """Of the parameters on their device number `copy`. States are made in their layer's scope."""
        updates = []
        for index, parameter in enumerate(self._params):
            contexts = parameter.list_ctx()
            if parameter.grad_req == "null" or copy >= len(contexts):
                continue
            ctx, weight = contexts[copy], parameter.list_data()[copy]
            if ignore_stale_grad and not weight._fresh_grad:
                continue
            states = self._states[index]
            if states is None:
                states = self._states[index] = {}
            if ctx not in states:
                with profiler.scope(parameter.scope, append_mode=False):
                    states[ctx] = self._optimizer.create_state_multi_precision(index, weight)
            updates.append(Update(index, weight, weight.grad, states[ctx]))
        return updates

    def _scope_of(self, group: List[Update]) -> str:
        """The scope of the weights' layer; of several layers, of the block that has them all."""
        scopes = [self._params[update.index].scope for update in group]
        names = os.path.commonprefix([scope.split(":")[:-1] for scope in scopes])
        return "".join(name + ":" for name in names) or "<unk>:"

    def zero_grad(self) -> None:
        for parameter in self._params:
            parameter.zero_grad()

    def save_states(self, fname: str) -> None:
        """Writes the optimizer's states, on the first device, to a file."""
        self._optimizer.use_copy(0)
        if self._is_on_servers:
            self._kvstore.save_optimizer_states(fname)
            return
        if self._update_on_kvstore:
            states = [self._kvstore._updater.states.get(index) for index in range(len(self._params))]
        else:
            states = [None if of is None else next(iter(of.values()), None) for of in self._states]
        opt.save_states(fname, self._optimizer, states)

    def load_states(self, fname: str) -> None:
        """Reads what `save_states` wrote, for the same parameters."""
        is_dist = isinstance(self._store_asked, kv.DistKVStore) or "dist" in str(self._store_asked)
        if is_dist:
            self._init_kvstore()
        if self._is_on_servers:
            self._kvstore.load_optimizer_states(fname)
            return
        loaded = opt.load_states(fname, self._optimizer, len(self._params))
        self._init_kvstore()
        if self._update_on_kvstore:
            self._kvstore._updater.states = {index: state for index, state in enumerate(loaded)
                                             if self._optimizer.update_count(index) > 0}
            return
        for index, (parameter, state) in enumerate(zip(self._params, loaded)):
            if state is not None:
                contexts = parameter.list_ctx()
                self._states[index] = {ctx: opt.copy_state(state, ctx) for ctx in contexts}
                self._optimizer.set_update_count(index, self._optimizer.update_count(index),
                                                 len(contexts))
