# SPDX-License-Identifier: Apache-2.0
"""A symbol with parameters on one device, or on several with a part of each batch."""
from __future__ import annotations

import logging
import warnings
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import initializer as init
from .. import kvstore as kv
from .. import model
from .. import ndarray as nd
from .. import optimizer as opt
from ..base import MXNetError
from ..context import Context, current_context
from ..io import DataBatch, DataDesc
from .base_module import BaseModule, as_list, labels_of, unknown_names
from .replica import Replica, check_names, descriptions, gradient_requests, joined


class Module(BaseModule):
    """A network and its parameters.

    data_names, label_names : variables of `symbol` that batches give; those of the symbol that are neither are learned
    context : a device, or several, among which each batch is divided
    fixed_param_names : parameters that are not learned
    state_names : variables that neither are learned nor come with batches; they are 0 until `set_states`
    compression_params : of the gradients that a store sends, as of `KVStore.set_gradient_compression`
    """

    def __init__(self, symbol: Any, data_names: Sequence[str] = ("data",), label_names: Optional[Sequence[str]] = ("softmax_label",),
                 logger: Any = logging, context: Any = None, work_load_list: Any = None,
                 fixed_param_names: Optional[Sequence[str]] = None, state_names: Any = None, group2ctxs: Any = None,
                 compression_params: Any = None) -> None:
        super().__init__(logger)
        del work_load_list, group2ctxs
        self._compression = compression_params
        arguments = symbol.list_arguments()
        for kind, names in (("data", data_names), ("state", state_names)):
            for text in unknown_names(arguments, as_list(names), kind):
                raise ValueError(text)
        for text in unknown_names(arguments, as_list(label_names), "label") if label_names != ("softmax_label",) else ():
            warnings.warn(text, stacklevel=2)
        self._symbol = symbol
        self._data_names = as_list(data_names)
        self._label_names = [name for name in as_list(label_names) if name in arguments]
        self._contexts = [Context(item) for item in as_list(context)] or [current_context()]
        self._fixed = set(fixed_param_names or ())
        self._state_names = as_list(state_names)
        others = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in arguments if name not in others]
        self._states = symbol.list_auxiliary_states()
        self._output_layouts: List[Optional[str]] = [output.attr("__layout__") for output in symbol]
        self._replicas: List[Replica] = []
        self._data: List[DataDesc] = []
        self._label: List[DataDesc] = []
        self._given: Optional[Tuple[Dict[str, Any], Dict[str, Any]]] = None  # of a checkpoint
        self._states_file: Optional[str] = None
        self._optimizer: Any = None
        self._updater: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore = False

    # ---- what it is --------------------------------------------------------------------------------
    @property
    def data_names(self) -> List[str]:
        """Variables that are data."""
        return self._data_names

    @property
    def label_names(self) -> List[str]:
        """Variables that are labels."""
        return self._label_names

    @property
    def output_names(self) -> List[str]:
        """Names of its outputs."""
        return self._symbol.list_outputs()

    @property
    def data_shapes(self) -> List[DataDesc]:
        """Of the data it is bound for."""
        assert self.binded, "bind comes first"
        return self._data

    @property
    def label_shapes(self) -> List[DataDesc]:
        """Of the labels it is bound for."""
        assert self.binded, "bind comes first"
        return self._label

    @property
    def output_shapes(self) -> List[Tuple[str, Tuple[int, ...]]]:
        """Names and shapes of the outputs of a batch."""
        assert self.binded, "bind comes first"
        known = {item.name: item.shape for item in self._data + self._label}
        return list(zip(self.output_names, self._symbol.infer_shape(**known)[1]))

    @property
    def _exec_group(self) -> Any:
        names = self._param_names
        return SimpleNamespace(param_names=names, execs=[item.executor for item in self._replicas],
                               param_arrays=[[item.executor.arg_dict[name] for item in self._replicas] for name in names],
                               grad_arrays=[[item.executor.grad_dict.get(name) for item in self._replicas] for name in names])

    # ---- binding -----------------------------------------------------------------------------------
    def bind(self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True, inputs_need_grad: bool = False,
             force_rebind: bool = False, shared_module: Optional["Module"] = None, grad_req: Any = "write") -> None:
        """Makes arrays for data of these shapes, and for the parameters, or takes those of another module.

        grad_req : what gradients do: "write", "add" or "null"; of single arguments by a dict, of all by a list in
            the order of the symbol's arguments
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        self._data, self._label = descriptions(data_shapes), descriptions(label_shapes)
        check_names(self._data, self._data_names, "data")
        if self._label:
            check_names(self._label, self._label_names, "label")
        values = self.get_params() if self.params_initialized else None
        self.for_training, self.inputs_need_grad, self._grad_req = for_training, inputs_need_grad, grad_req
        self._replicas = self._divided()
        for number, replica in enumerate(self._replicas):
            replica.executor = self._bound(replica, shared_module._replicas[number].executor if shared_module else None)
        self.binded = True
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
        elif values is not None:
            self._given, self.params_initialized = None, False
            self.set_params(*values)

    def _divided(self) -> List[Replica]:
        count = len(self._contexts)
        if count == 1:
            return [Replica(self._contexts[0], slice(None))]
        sizes = [item.shape[axis] for item in self._data if (axis := DataDesc.get_batch_axis(item.layout)) >= 0]
        if not sizes:
            raise ValueError(f"no layout of the data has an N: there is nothing to divide among {count} devices")
        size = sizes[0]
        if size < count:
            raise ValueError(f"a batch of {size} cannot be divided among {count} devices")
        ends = [size * at // count for at in range(count + 1)]
        return [Replica(context, slice(ends[at], ends[at + 1])) for at, context in enumerate(self._contexts)]

    def _bound(self, replica: Replica, shared: Any) -> Any:
        known = {item.name: replica.shape(item) for item in self._data + self._label}
        shapes, _, states = self._symbol.infer_shape(**known)
        if shapes is None:
            raise ValueError("the shapes of the data do not say those of all parameters: " + self._unknown_shapes(known))
        types = self._symbol.infer_type(**{item.name: item.dtype for item in self._data})[0] or ["float32"] * len(shapes)
        arguments: Dict[str, Any] = {}
        gradients: Dict[str, Any] = {}
        parameters = set(self._param_names)
        learned = {*(name for name in self._param_names if name not in self._fixed),
                   *(self._data_names if self.inputs_need_grad else ())}
        requests = gradient_requests(self._grad_req if self.for_training else "null", self._symbol.list_arguments(), learned)
        for name, shape, kind in zip(self._symbol.list_arguments(), shapes, types):
            takes = shared is not None and name in parameters
            arguments[name] = shared.arg_dict[name] if takes else nd.zeros(shape, ctx=replica.context, dtype=kind)
            if requests[name] != "null":
                there = shared.grad_dict.get(name) if takes else None
                gradients[name] = there if there is not None else nd.zeros(shape, ctx=replica.context, dtype=kind)
        auxiliary = {name: shared.aux_dict[name] if shared is not None else nd.zeros(shape, ctx=replica.context)
                     for name, shape in zip(self._states, states)}
        return self._symbol.bind(replica.context, arguments, args_grad=gradients, grad_req=requests, aux_states=auxiliary)

    def _unknown_shapes(self, known: Dict[str, Any]) -> str:
        shapes = self._symbol.infer_shape_partial(**known)[0]
        unknown = [name for name, shape in zip(self._symbol.list_arguments(), shapes) if not shape or 0 in shape]
        return ", ".join(unknown) + "; mx.sym.var(name, shape=...) says one"

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """The same parameters for data of other shapes."""
        assert self.binded, "bind comes first"
        self._data, self._label = descriptions(data_shapes), descriptions(label_shapes)
        before = self._replicas
        self._replicas = self._divided()
        for replica, old in zip(self._replicas, before):
            replica.executor = self._bound(replica, old.executor)

    # ---- parameters --------------------------------------------------------------------------------
    def init_params(self, initializer: Any = init.Uniform(0.01), arg_params: Any = None, aux_params: Any = None,
                    allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False) -> None:
        """Gives parameters values: those of the dicts, or those that the variable's `init` or `initializer` draws.

        allow_missing : whether parameters that a dict lacks are drawn; else RuntimeError
        """
        del allow_extra
        assert self.binded, "call bind before initializing the parameters"
        if self.params_initialized and not force_init:
            return
        said = self._symbol.attr_dict()
        for names, values, what in ((self._param_names, arg_params, "arg_dict"), (self._states, aux_params, "aux_dict")):
            for name in names:
                targets = [getattr(item.executor, what)[name] for item in self._replicas]
                self._init_one(name, targets, values, said.get(name, {}), initializer, allow_missing)
        self.params_initialized = True

    def _init_one(self, name: str, targets: List[Any], values: Any, attributes: Dict[str, str], initializer: Any,
                  allow_missing: bool) -> None:
        if values is not None and name in values:
            if values[name].shape != targets[0].shape:
                raise MXNetError(f"{name} has shape {targets[0].shape}, what it is given has {values[name].shape}")
            for target in targets:
                values[name].astype(target.dtype).copyto(target)
            return
        if values is not None and not allow_missing:
            raise RuntimeError(f"{name} is not presented")
        if initializer is not None:
            own = init._from_text(attributes.get("__init__"))
            init.fill(own, initializer, init.InitDesc(name, attributes), targets[0])
            for target in targets[1:]:
                targets[0].copyto(target)

    def set_params(self, arg_params: Any, aux_params: Any, allow_missing: bool = False, force_init: bool = True,
                   allow_extra: bool = False) -> None:
        """Values of the dicts. With `allow_missing` names that the symbol has not are a ValueError, unless
        `allow_extra`; without it, as by 1.x, they are left out, so that part of a network takes what it needs."""
        if allow_missing and not allow_extra:
            for values, own, what in ((arg_params, self._param_names, "arguments"),
                                      (aux_params, self._states, "auxiliary states")):
                for name in values or ():
                    if name not in own:
                        raise ValueError(f'Find name "{name}" that is not in the {what}')
        self.init_params(None, arg_params, aux_params, allow_missing, force_init, allow_extra)

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Copies of arguments and auxiliary states."""
        assert self.params_initialized, "bind and init_params come first"
        if self._given is not None:  # not bound yet
            return self._given
        first = self._replicas[0].executor
        return ({name: first.arg_dict[name].copy() for name in self._param_names},
                {name: self._mean([item.executor.aux_dict[name] for item in self._replicas]) for name in self._states})

    def _mean(self, arrays: List[Any]) -> Any:
        first = arrays[0].copy()
        for other in arrays[1:]:
            first += other.as_in_context(first.context)
        return first / len(arrays) if len(arrays) > 1 else first

    # ---- checkpoints -------------------------------------------------------------------------------
    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **settings: Any) -> "Module":
        """A module of the files that `save_checkpoint` writes: it has its parameters once it is bound."""
        symbol, arguments, states = model.load_checkpoint(prefix, epoch)
        made = Module(symbol, **settings)
        made._given = (arguments, states)
        made.params_initialized = True
        made._states_file = f"{prefix}-{epoch:04d}.states" if load_optimizer_states else None
        return made

    def save_checkpoint(self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True) -> None:
        """Writes PREFIX-symbol.json, PREFIX-EPOCH.params, and PREFIX-EPOCH.states."""
        model.save_checkpoint(prefix, epoch, self._symbol, *self.get_params(), remove_amp_cast=remove_amp_cast)
        if save_optimizer_states:
            self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")

    def save_optimizer_states(self, fname: str) -> None:
        """Writes the states of the optimizer."""
        assert self.optimizer_initialized, "init_optimizer comes first"
        (self._kvstore.save_optimizer_states if self._update_on_kvstore else self._updater.save)(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` wrote."""
        assert self.optimizer_initialized, "init_optimizer comes first"
        (self._kvstore.load_optimizer_states if self._update_on_kvstore else self._updater.load)(fname)

    # ---- training ----------------------------------------------------------------------------------
    def init_optimizer(self, kvstore: Any = "local", optimizer: Any = "sgd",
                       optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False) -> None:
        """An optimizer by name with its parameters; gradients are divided by the size of a batch unless they say
        `rescale_grad`. Several devices sum theirs in a store."""
        assert self.binded and self.params_initialized, "bind and init_params come first"
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        self._kvstore = self._store(kvstore)
        self._update_on_kvstore = self._kvstore is not None
        is_dist = isinstance(self._kvstore, kv.DistKVStore)
        if self._kvstore is not None and self._compression:
            self._kvstore.set_gradient_compression(self._compression)
        batch = self._batch_size() * (self._kvstore.num_workers if is_dist and "_async" not in self._kvstore.type else 1)
        if isinstance(optimizer, str):
            settings = {"rescale_grad": 1.0 / batch, **dict(optimizer_params)}
            optimizer = opt.create(optimizer, **{"param_dict": self._multipliers(), **settings})
        elif optimizer.rescale_grad != 1.0 / batch:
            warnings.warn(f"the optimizer was made outside of the module and its rescale_grad is {optimizer.rescale_grad}, not 1 / "
                          f"{batch}: gradients are sums over a batch. Is this intended?", stacklevel=2)
        if not optimizer.idx2name:
            optimizer.idx2name = dict(enumerate(self._param_names))
        self._optimizer = optimizer
        self._updater = opt.get_updater(optimizer)
        if is_dist:  # before any worker can push: init waits for all
            self._kvstore.set_optimizer(optimizer)
        if self._kvstore is not None:
            for number, name in enumerate(self._param_names):
                self._kvstore.init(number, self._replicas[0].executor.arg_dict[name])
                if is_dist:  # worker 0's count
                    self._kvstore.pull(number, [item.executor.arg_dict[name] for item in self._replicas])
        if self._kvstore is not None and not is_dist:
            self._kvstore.set_optimizer(optimizer)
        self.optimizer_initialized = True
        if self._states_file is not None:
            self.load_optimizer_states(self._states_file)
            self._states_file = None

    def _multipliers(self) -> Dict[int, Any]:
        """What the symbol says of each parameter's rate and decay. Biases and their like do not decay unless it does."""
        attributes, found = self._symbol.attr_dict(), {}
        for number, name in enumerate(self._param_names):
            said = attributes.get(name, {})
            decay = 1.0 if name.endswith(("_weight", "_gamma")) else 0.0
            found[number] = SimpleNamespace(lr_mult=float(said.get("__lr_mult__", 1)), wd_mult=float(said.get("__wd_mult__", decay)))
        return found

    def _store(self, kvstore: Any) -> Any:
        if kvstore is None or (len(self._replicas) == 1 and not (isinstance(kvstore, str) and "dist" in kvstore)
                               and not isinstance(kvstore, kv.KVStore)):
            return kv.create("local") if kvstore is None and len(self._replicas) > 1 else None
        return kvstore if isinstance(kvstore, kv.KVStore) else kv.create(kvstore)

    def borrow_optimizer(self, shared_module: "Module") -> None:
        """Uses the optimizer of another module."""
        self._optimizer, self._updater = shared_module._optimizer, shared_module._updater
        self._kvstore, self._update_on_kvstore = shared_module._kvstore, shared_module._update_on_kvstore
        self.optimizer_initialized = True

    def _fit_shapes(self, batch: DataBatch) -> None:
        """Reshapes where a batch has another size."""
        data = [DataDesc(item.name, array.shape, item.dtype, item.layout) for item, array in zip(self._data, batch.data)]
        if [tuple(item) for item in data] != [tuple(item) for item in self._data]:
            label = [DataDesc(item.name, array.shape, item.dtype, item.layout)
                     for item, array in zip(self._label, labels_of(batch))]
            if self._label and not label:
                size, before = data[0].shape[0], self._data[0].shape[0]
                label = [DataDesc(item.name, (item.shape[0] * size // before, *item.shape[1:])) for item in self._label]
            self.reshape(data, label)

    def forward(self, data_batch: DataBatch, is_train: Optional[bool] = None) -> None:
        """Runs the network on a batch, whose shapes may be others than before."""
        assert self.binded and self.params_initialized, "bind and init_params come first"
        self._fit_shapes(data_batch)
        for replica in self._replicas:
            for items, arrays in ((self._data, data_batch.data), (self._label, labels_of(data_batch))):
                for item, array in zip(items, arrays):
                    target = replica.executor.arg_dict[item.name]
                    replica.part(item.layout, array).astype(target.dtype).copyto(target)
            replica.executor.forward(is_train=self.for_training if is_train is None else is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Gradients of the latest forward; `out_grads` of its outputs, none of losses."""
        assert self.for_training, "re-bind with for_training=True to run backward"
        for replica in self._replicas:
            parts = [replica.part(layout, item) for layout, item in zip(self._output_layouts, as_list(out_grads))]
            replica.executor.backward(parts or None)

    def update(self) -> None:
        """One step of the optimizer."""
        assert self.optimizer_initialized, "init_optimizer comes first"
        alone = []  # what is updated without a store
        for number, name in enumerate(self._param_names):
            gradients = [item.executor.grad_dict.get(name) for item in self._replicas]
            if gradients[0] is None:
                continue
            weights = [item.executor.arg_dict[name] for item in self._replicas]
            if self._kvstore is not None:
                self._kvstore.push(number, gradients, priority=-number)
                self._kvstore.pull(number, weights, priority=-number)
            else:
                alone.append((number, gradients[0], weights[0]))
        if alone:
            self._updater(*(list(column) for column in zip(*alone)))

    def get_outputs(self, merge_multi_context: bool = True) -> List[Any]:
        """Outputs of the latest forward; not merged, a list of each device's."""
        lists = [list(parts) for parts in zip(*[item.executor.outputs for item in self._replicas])]
        return list(map(joined, lists, self._output_layouts)) if merge_multi_context else lists

    def get_input_grads(self, merge_multi_context: bool = True) -> List[Any]:
        """Gradients of the data, of a module that was bound with `inputs_need_grad`."""
        assert self.inputs_need_grad, "bind with inputs_need_grad=True"
        lists = [[item.executor.grad_dict[name] for item in self._replicas] for name in self._data_names]
        layouts = {item.name: item.layout for item in self._data}
        return list(map(joined, lists, map(layouts.get, self._data_names))) if merge_multi_context else lists

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        """The metric of the latest outputs, of those that it is of."""
        names = [item.name for item in self._label] or self._label_names
        eval_metric.update_dict(dict(zip(names, as_list(labels))), dict(zip(self.output_names, self.get_outputs())))

    def get_states(self, merge_multi_context: bool = True) -> List[Any]:
        """The variables of `state_names`; not merged, a list of each device's."""
        assert self.binded and self.params_initialized, "bind and init_params come first"
        lists = [[item.executor.arg_dict[name] for item in self._replicas] for name in self._state_names]
        return list(map(joined, lists, self._state_layouts())) if merge_multi_context else lists

    def set_states(self, states: Any = None, value: Any = None) -> None:
        """Their values: `states` as `get_states` or `get_outputs` gives them, or a number for all."""
        assert self.binded and self.params_initialized, "bind and init_params come first"
        if (states is None) == (value is None):
            raise ValueError("set_states wants states or a value, one of the two")
        if states is not None and len(states) != len(self._state_names):
            raise ValueError(f"set_states: {len(states)} states are given, there are {len(self._state_names)}")
        for number, (name, layout) in enumerate(zip(self._state_names, self._state_layouts())):
            for place, replica in enumerate(self._replicas):
                if states is None:
                    replica.executor.arg_dict[name][:] = value
                    continue
                given = states[number]
                part = given[place] if isinstance(given, (list, tuple)) else replica.part(layout, given)
                part.copyto(replica.executor.arg_dict[name])

    def _state_layouts(self) -> List[Optional[str]]:
        said = self._symbol.attr_dict()
        return [said.get(name, {}).get("__layout__") for name in self._state_names]

    def install_monitor(self, mon: Any) -> None:
        """The monitor is told of each operator's outputs."""
        for replica in self._replicas:
            mon.install(replica.executor)
