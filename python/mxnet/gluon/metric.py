# SPDX-License-Identifier: Apache-2.0
"""Metrics: figures over many batches. `update(labels, preds)` takes arrays or lists of them."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Iterable, List, Tuple, Type

import numpy as onp

from .._absent import refusing
from ..base import choices

_registry: Dict[str, Type["EvalMetric"]] = {}


def _register(*names: str) -> Callable[[Type["EvalMetric"]], Type["EvalMetric"]]:
    def enter(kind: Type["EvalMetric"]) -> Type["EvalMetric"]:
        for name in (kind.__name__.lower(),) + names:
            _registry[name] = kind
        return kind
    return enter


def create(metric: Any, *args: Any, **settings: Any) -> "EvalMetric":
    """A metric by name, of a function(label, pred), or of a list of these."""
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric([create(member) for member in metric])
    if callable(metric):
        return CustomMetric(metric, *args, **settings)
    if str(metric).lower() not in _registry:
        raise ValueError(f"no metric {metric!r}{choices(metric, _registry)}")
    return _registry[metric.lower()](*args, **settings)


def _host(array: Any) -> onp.ndarray:
    return array.asnumpy() if hasattr(array, "asnumpy") else onp.asarray(array)


def _pairs(labels: Any, preds: Any) -> Iterable[Tuple[onp.ndarray, onp.ndarray]]:
    labels = labels if isinstance(labels, (list, tuple)) else [labels]
    preds = preds if isinstance(preds, (list, tuple)) else [preds]
    if len(labels) != len(preds):
        raise ValueError(f"{len(labels)} labels and {len(preds)} predictions")
    return zip(map(_host, labels), map(_host, preds))


def check_label_shapes(labels: Any, preds: Any, shape: bool = False) -> None:
    """ValueError if there are not as many labels as predictions or, with `shape`, not of one shape."""
    sizes = [item.shape if shape else len(item) for item in (labels, preds)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"labels of {sizes[0]} do not fit predictions of {sizes[1]}")


class EvalMetric:
    """The base of metrics that are means: `sum_metric` over `num_inst`. A subclass gives `update`, or
    `measure` of NumPy arrays. 1.x: `output_names` and `label_names` are kept."""

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None) -> None:
        self.name = name
        self.output_names = output_names
        self.label_names = label_names
        self.reset()

    def reset(self) -> None:
        self._before = (0.0, 0)  # what reset_local has put aside
        self.sum_metric = 0.0
        self.num_inst = 0

    def reset_local(self) -> None:
        """`get` begins anew; `get_global` goes on."""
        self._before = (self._before[0] + self.sum_metric, self._before[1] + self.num_inst)
        self.sum_metric = 0.0
        self.num_inst = 0

    def get_global(self) -> Tuple[Any, Any]:
        """Name and value since the last `reset`."""
        local = self.sum_metric, self.num_inst
        self.sum_metric, self.num_inst = self._before[0] + local[0], self._before[1] + local[1]
        found = self.get()
        self.sum_metric, self.num_inst = local
        return found

    def get_global_name_value(self) -> List[Tuple[str, float]]:
        return [self.get_global()]

    def update(self, labels: Any, preds: Any) -> None:
        for label, pred in _pairs(labels, preds):
            total, count = self.measure(label, pred)
            self.sum_metric += float(total)
            self.num_inst += int(count)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        """The sum over a batch and how many it is of."""
        raise NotImplementedError

    def get(self) -> Tuple[str, float]:
        """Name and value; nan before the first update."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else math.nan

    def get_name_value(self) -> List[Tuple[str, float]]:
        return [self.get()]

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"


@_register("acc")
class Accuracy(EvalMetric):
    """Part of the samples whose largest prediction along `axis` is at the label."""

    def __init__(self, axis: int = 1, name: str = "accuracy") -> None:
        self.axis = axis
        super().__init__(name)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        chosen = pred.argmax(axis=self.axis) if pred.shape != label.shape else pred
        if chosen.size != label.size:
            raise ValueError(f"accuracy: labels {label.shape} do not fit predictions {pred.shape}")
        return (chosen.ravel().astype("int64") == label.ravel().astype("int64")).sum(), label.size


@_register("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """Part of the samples whose label is among the `top_k` largest predictions."""

    def __init__(self, top_k: int = 1, name: str = "top_k_accuracy") -> None:
        if top_k < 2:
            raise ValueError("top_k must be at least 2; use Accuracy for 1")
        self.top_k = top_k
        super().__init__(f"{name}_{top_k}")

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        best = onp.argsort(pred, axis=1)[:, -self.top_k:]
        return (best == label.reshape(-1, 1).astype("int64")).any(axis=1).sum(), len(label)


@_register()
class MAE(EvalMetric):
    """Mean absolute error."""

    def __init__(self, name: str = "mae") -> None:
        super().__init__(name)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return onp.abs(label.reshape(pred.shape) - pred).sum(), pred.size


@_register()
class MSE(EvalMetric):
    """Mean square error."""

    def __init__(self, name: str = "mse") -> None:
        super().__init__(name)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return ((label.reshape(pred.shape) - pred) ** 2).sum(), pred.size


@_register()
class RMSE(MSE):
    """Root of the mean square error."""

    def __init__(self, name: str = "rmse") -> None:
        super().__init__(name)

    def get(self) -> Tuple[str, float]:
        return self.name, math.sqrt(super().get()[1])


@_register("ce", "cross-entropy")
class CrossEntropy(EvalMetric):
    """Mean of -log of the probability predicted for the label."""

    def __init__(self, eps: float = 1e-12, name: str = "cross-entropy") -> None:
        self.eps = eps
        super().__init__(name)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        label = label.ravel().astype("int64")
        return -onp.log(pred[onp.arange(len(label)), label] + self.eps).sum(), len(label)


@_register()
class Loss(EvalMetric):
    """Mean of losses; the labels do not count."""

    def __init__(self, name: str = "loss") -> None:
        super().__init__(name)

    def update(self, labels: Any, preds: Any) -> None:
        super().update(preds, preds)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return pred.sum(), pred.size


class CustomMetric(EvalMetric):
    """The mean of function(label, pred), which returns a value or (sum, count)."""

    def __init__(self, feval: Callable, name: str = "") -> None:
        self.function = feval
        super().__init__(name or getattr(feval, "__name__", "custom"))

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        value = self.function(label, pred)
        return value if isinstance(value, tuple) else (value, 1)


class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same data."""

    def __init__(self, metrics: Iterable[Any] = (), name: str = "composite") -> None:
        self.metrics = [create(metric) for metric in metrics]
        super().__init__(name)

    def add(self, metric: Any) -> None:
        self.metrics.append(create(metric))

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        for metric in self.metrics:
            metric.reset_local()

    def get_global(self) -> Tuple[Any, Any]:
        pairs = [metric.get_global() for metric in self.metrics]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_global_name_value(self) -> List[Tuple[str, float]]:
        return [pair for metric in self.metrics for pair in metric.get_global_name_value()]

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def get(self) -> Tuple[Any, Any]:
        pairs = [metric.get() for metric in self.metrics]
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_name_value(self) -> List[Tuple[str, float]]:
        return [pair for metric in self.metrics for pair in metric.get_name_value()]


np = CustomMetric  # 1.x: mx.metric.np(function)

__getattr__ = refusing(__name__)
