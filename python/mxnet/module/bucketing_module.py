# SPDX-License-Identifier: Apache-2.0
"""A module with a network for each key of a batch, such as its length. All have the same parameters."""
from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import initializer as init
from .. import model
from ..io import DataBatch
from .base_module import BaseModule
from .module import Module


class BucketingModule(BaseModule):
    """`sym_gen(key)` gives symbol, names of the data, names of the labels. `default_bucket_key`: of the largest network,
    whose parameters all have."""

    def __init__(self, sym_gen: Callable[[Any], Tuple[Any, Any, Any]], default_bucket_key: Any = None, logger: Any = logging,
                 context: Any = None, work_load_list: Any = None, fixed_param_names: Any = None, state_names: Any = None,
                 group2ctxs: Any = None, compression_params: Any = None) -> None:
        super().__init__(logger)
        del work_load_list, group2ctxs
        assert default_bucket_key is not None, "default_bucket_key must be given"
        self._sym_gen, self._default_key = sym_gen, default_bucket_key
        self._settings = {"context": context, "fixed_param_names": fixed_param_names, "state_names": state_names,
                          "compression_params": compression_params}
        self._buckets: Dict[Any, Module] = {}
        self._key = default_bucket_key
        self._binding: Dict[str, Any] = {}
        self._monitor: Any = None
        self._given: Optional[Tuple[Dict[str, Any], Dict[str, Any]]] = None  # of a checkpoint

    @property
    def symbol(self) -> Any:
        """The network of the current key."""
        return self._current.symbol

    @property
    def _current(self) -> Module:
        assert self.binded, "bind comes first"
        return self._buckets[self._key]

    @property
    def data_names(self) -> List[str]:
        """Of the current key."""
        return self._current.data_names if self.binded else list(self._sym_gen(self._default_key)[1])

    @property
    def output_names(self) -> List[str]:
        """Of the current key."""
        return self._current.output_names if self.binded else self._sym_gen(self._default_key)[0].list_outputs()

    @property
    def data_shapes(self) -> Any:
        """Of the current key."""
        return self._current.data_shapes

    @property
    def label_shapes(self) -> Any:
        """Of the current key."""
        return self._current.label_shapes

    @property
    def output_shapes(self) -> Any:
        """Of the current key."""
        return self._current.output_shapes

    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True, inputs_need_grad: bool = False,
             force_rebind: bool = False, shared_module: Any = None, grad_req: str = "write") -> None:
        """Binds the network of the default key. Bound anew, it keeps parameters and optimizer."""
        del shared_module
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        self._binding = {"for_training": for_training, "inputs_need_grad": inputs_need_grad, "grad_req": grad_req}
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        values, before = self.get_params() if self.params_initialized else None, self._buckets.get(self._default_key)
        self._buckets = {}
        self._key = self._default_key
        self._add(self._default_key, data_shapes, label_shapes, before)
        self.binded = True
        if values is not None:
            self.set_params(*values)
            self._given = None

    def _add(self, key: Any, data_shapes: Any, label_shapes: Any, optimized: Optional[Module] = None) -> None:
        """The network of a key. It has the parameters of the default key's, if there is one, and the optimizer of
        that or of `optimized`."""
        symbol, data_names, label_names = self._sym_gen(key)
        made = Module(symbol, data_names, label_names, self.logger, **self._settings)
        shared = self._buckets.get(self._default_key)
        made.bind(data_shapes, label_shapes, shared_module=shared, **self._binding)
        optimized = shared or optimized
        if optimized is not None and optimized.optimizer_initialized:
            made.borrow_optimizer(optimized)
        if self._monitor is not None:
            made.install_monitor(self._monitor)
        self._buckets[key] = made

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """From now on the network of this key runs."""
        assert self.binded, "bind comes first"
        if bucket_key not in self._buckets:
            self._add(bucket_key, data_shapes, label_shapes)
        self._key = bucket_key

    def init_params(self, initializer: Any = init.Uniform(0.01), arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """As Module's."""
        assert self.binded, "call bind before initializing the parameters"
        if self.params_initialized and not force_init:
            return
        self._buckets[self._default_key].init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        for module in self._buckets.values():
            module.params_initialized = True
        self.params_initialized = True

    def set_params(self, arg_params: Any, aux_params: Any, allow_missing: bool = False, force_init: bool = True,
                   allow_extra: bool = False) -> None:
        """As Module's."""
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        assert self.params_initialized, "bind and init_params come first"
        if self._given is not None:  # not bound yet
            return self._given
        return self._buckets[self._default_key].get_params()

    def init_optimizer(self, kvstore: Any = "local", optimizer: Any = "sgd",
                       optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False) -> None:
        """One for all of them."""
        first = self._buckets[self._default_key]
        first.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            module.borrow_optimizer(first)
        self.optimizer_initialized = True

    def forward(self, data_batch: DataBatch, is_train: Optional[bool] = None) -> None:
        assert self.binded and self.params_initialized, "bind and init_params come first"
        key = getattr(data_batch, "bucket_key", None)
        if key is not None:
            self.switch_bucket(key, data_batch.provide_data, getattr(data_batch, "provide_label", None))
        self._current.forward(data_batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        self._current.backward(out_grads)

    def update(self) -> None:
        self._current.update()

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        return self._current.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> Any:
        """As Module's."""
        return self._current.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        """As Module's."""
        self._current.update_metric(eval_metric, labels)

    def get_states(self, merge_multi_context: bool = True) -> Any:
        """As Module's."""
        return self._current.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """As Module's."""
        self._current.set_states(states, value)

    @staticmethod
    def load(prefix: str, epoch: int, sym_gen: Any = None, default_bucket_key: Any = None, **settings: Any) -> "BucketingModule":
        """A module with the parameters of PREFIX-EPOCH.params, which it has once it is bound. Its networks are
        those of `sym_gen`."""
        if sym_gen is None:
            raise ValueError("BucketingModule.load wants sym_gen, which makes the network of a key")
        made = BucketingModule(sym_gen, default_bucket_key, **settings)
        made._given = model.load_params(prefix, epoch)
        made.params_initialized = True
        return made

    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False) -> None:
        """Of the default key's network."""
        self._buckets[self._default_key].save_checkpoint(prefix, epoch, save_optimizer_states)

    def install_monitor(self, mon: Any) -> None:
        """As Module's, also of keys that come later."""
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)
