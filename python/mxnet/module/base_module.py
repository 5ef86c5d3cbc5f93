# SPDX-License-Identifier: Apache-2.0
"""What all modules do by their few basic calls: train, evaluate, predict."""
from __future__ import annotations

import logging
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import initializer as init
from .. import model
from .. import ndarray as nd
from ..gluon import metric as metrics
from ..io import DataBatch
from ..model import BatchEndParam


def as_list(item: Any) -> List[Any]:
    """A list of what may be one, none or several."""
    return [] if item is None else list(item) if isinstance(item, (list, tuple)) else [item]


def labels_of(batch: Any) -> List[Any]:
    """Those of a batch; of data to predict from, which may have no such attribute, none."""
    return as_list(getattr(batch, "label", None))


def unknown_names(arguments: List[str], names: List[str], kind: str) -> List[str]:
    """A sentence for each name that the network has not."""
    candidates = "\n\t".join(item for item in arguments if not item.endswith(("weight", "bias", "gamma", "beta")))
    return [f"You created Module with Module(..., {kind}_names={names}) but input with name '{name}' is not found in "
            f"symbol.list_arguments(). Did you mean one of:\n\t{candidates}" for name in names if name not in arguments]


def _call_all(callbacks: Any, *arguments: Any) -> None:
    for callback in as_list(callbacks):
        callback(*arguments)


def _in_batches(data: Any, batch_size: int) -> Any:
    """An iterator, also of an array."""
    from ..io import NDArrayIter  # pylint: disable=import-outside-toplevel

    return data if hasattr(data, "reset") else NDArrayIter(data, batch_size=batch_size)


class BaseModule:
    """A subclass gives bind, init_params, init_optimizer, forward, backward, update, get_outputs, get_params."""

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = self.params_initialized = self.optimizer_initialized = False
        self.for_training = self.inputs_need_grad = False
        self._symbol: Any = None

    @property
    def symbol(self) -> Any:
        """The network."""
        return self._symbol

    # ---- steps -------------------------------------------------------------------------------------
    def forward_backward(self, data_batch: DataBatch) -> None:
        """Forward, as in training, and backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def forward(self, data_batch: DataBatch, is_train: Optional[bool] = None) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, out_grads: Any = None) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def update(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def get_outputs(self, merge_multi_context: bool = True) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no get_outputs")

    def get_params(self) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        raise NotImplementedError(f"{type(self).__name__} has no get_params")

    def set_params(self, arg_params: Any, aux_params: Any, allow_missing: bool = False, force_init: bool = True,
                   allow_extra: bool = False) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no set_params")

    def save_params(self, fname: str) -> None:
        """Writes the parameters into a file, as checkpoints have them."""
        model.write_params(fname, *self.get_params())

    def load_params(self, fname: str) -> None:
        """Reads what `save_params` wrote."""
        self.set_params(*model.read_params(fname))

    def prepare(self, data_batch: DataBatch, sparse_row_id_fn: Any = None) -> None:
        """What programs call before `forward`; there is nothing to do."""

    def update_metric(self, eval_metric: Any, labels: Any) -> None:
        """The metric of the latest outputs."""
        eval_metric.update(as_list(labels), self.get_outputs())

    # ---- evaluation --------------------------------------------------------------------------------
    def _batches(self, data: Any, num_batch: Optional[int], reset: bool) -> Iterator[Tuple[int, DataBatch]]:
        assert self.binded and self.params_initialized, "bind and init_params come first"
        if reset:
            data.reset()
        for number, batch in enumerate(data):
            if num_batch is not None and number == num_batch:
                return
            self.forward(batch, is_train=False)
            yield number, batch

    def score(self, eval_data: Any, eval_metric: Any, num_batch: Optional[int] = None, batch_end_callback: Any = None,
              score_end_callback: Any = None, reset: bool = True, epoch: int = 0) -> List[Tuple[str, float]]:
        """Names and values of the metric over the data."""
        metric, batches = metrics.create(eval_metric), 0
        metric.reset()
        for number, batch in self._batches(eval_data, num_batch, reset):
            self.update_metric(metric, labels_of(batch))
            _call_all(batch_end_callback, BatchEndParam(epoch, number, metric, locals()))
            batches += 1
        _call_all(score_end_callback, BatchEndParam(epoch, batches, metric, locals()))
        return metric.get_global_name_value()

    def iter_predict(self, eval_data: Any, num_batch: Optional[int] = None, reset: bool = True) -> Iterator[Tuple[List[Any], int, DataBatch]]:
        """Outputs without padding, number and batch, one after the other."""
        for number, batch in self._batches(eval_data, num_batch, reset):
            yield [item[0:item.shape[0] - (getattr(batch, "pad", 0) or 0)] for item in self.get_outputs()], number, batch

    def predict(self, eval_data: Any, num_batch: Optional[int] = None, merge_batches: bool = True, reset: bool = True,
                always_output_list: bool = False, sparse_row_id_fn: Any = None) -> Any:
        """Outputs of all batches as one array, or a list of each batch's."""
        del sparse_row_id_fn
        data = _in_batches(eval_data, self._batch_size())
        listed = [[item.copy() for item in outputs] for outputs, _, _ in self.iter_predict(data, num_batch, reset)]
        if not listed or not merge_batches:
            return listed
        merged = [nd.concat(*parts, dim=0) if len(parts) > 1 else parts[0] for parts in zip(*listed)]
        return merged if len(merged) > 1 or always_output_list else merged[0]

    def _batch_size(self) -> int:
        return self.data_shapes[0].shape[0]  # type: ignore[attr-defined]

    # ---- training ----------------------------------------------------------------------------------
    def fit(self, train_data: Any, eval_data: Any = None, eval_metric: Any = "acc", epoch_end_callback: Any = None,
            batch_end_callback: Any = None, kvstore: Any = "local", optimizer: Any = "sgd",
            optimizer_params: Any = (("learning_rate", 0.01),), eval_end_callback: Any = None,
            eval_batch_end_callback: Any = None, initializer: Any = init.Uniform(0.01), arg_params: Any = None,
            aux_params: Any = None, allow_missing: bool = False, force_rebind: bool = False, force_init: bool = False,
            begin_epoch: int = 0, num_epoch: Optional[int] = None, validation_metric: Any = None, monitor: Any = None,
            sparse_row_id_fn: Any = None) -> None:
        """Trains on all batches of `train_data`, epoch after epoch, and logs the metric of each.

        Binds and initialises what is not. `batch_end_callback` and its like: a function or several, given a
        BatchEndParam; `epoch_end_callback`: given epoch, symbol, arguments, states.
        """
        del sparse_row_id_fn
        assert num_epoch is not None, "please specify number of epochs"
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)  # type: ignore[attr-defined]
        if monitor is not None:
            self.install_monitor(monitor)  # type: ignore[attr-defined]
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)  # type: ignore[attr-defined]
        self.init_optimizer(kvstore, optimizer, optimizer_params)  # type: ignore[attr-defined]
        metric = metrics.create(eval_metric)
        validation = metric if validation_metric is None else metrics.create(validation_metric)
        for epoch in range(begin_epoch, num_epoch):
            begin = time.time()
            self._train_epoch(train_data, epoch, metric, batch_end_callback, monitor)
            for name, value in metric.get_global_name_value():
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - begin)
            _call_all(epoch_end_callback, epoch, self.symbol, *self.get_params())
            if eval_data is not None:
                found = self.score(eval_data, validation, batch_end_callback=eval_batch_end_callback,
                                   score_end_callback=eval_end_callback, epoch=epoch)
                for name, value in found:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(self, data: Any, epoch: int, metric: Any, callback: Any, monitor: Any) -> None:
        metric.reset()
        for number, batch in enumerate(data):
            if monitor is not None:
                monitor.tic()
            self.forward_backward(batch)
            self.update()
            self.update_metric(metric, batch.label)
            if monitor is not None:
                monitor.toc_print()
            _call_all(callback, BatchEndParam(epoch, number, metric, locals()))


