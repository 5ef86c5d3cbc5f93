# SPDX-License-Identifier: Apache-2.0
"""Metrics: figures over many batches. `update(labels, preds)` takes arrays or lists of them."""
from __future__ import annotations

import math
import numbers
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Type

import numpy as onp

from .._absent import refusing
from ..base import choices

_registry: Dict[str, Type["EvalMetric"]] = {}


def register(kind: Type["EvalMetric"], name: Optional[str] = None) -> Type["EvalMetric"]:
    """Makes a metric's class known to `create`, by its name in lower case or by `name`."""
    _registry[(name or kind.__name__).lower()] = kind
    return kind


def alias(*names: str) -> Callable[[Type["EvalMetric"]], Type["EvalMetric"]]:
    """For a class that `create` is to know by more names."""
    def enter(kind: Type["EvalMetric"]) -> Type["EvalMetric"]:
        for name in names:
            register(kind, name)
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


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> Tuple[Any, Any]:
    """ValueError if there are not as many labels as predictions or, with `shape`, not of one shape. Returns both; with
    `wrap` a single array becomes a list of it."""
    sizes = [item.shape if shape else len(item) for item in (labels, preds)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"labels of {sizes[0]} do not fit predictions of {sizes[1]}")
    return tuple([item] if wrap and hasattr(item, "asnumpy") else item for item in (labels, preds))  # type: ignore[return-value]


def _listed(names: Any, values: Any) -> List[Tuple[str, float]]:
    return list(zip(*(item if isinstance(item, (list, tuple)) else [item] for item in (names, values))))


class EvalMetric:
    """The base of metrics that are means: `sum_metric` over `num_inst`. A subclass gives `update`, or
    `measure` of NumPy arrays.

    output_names, label_names : which outputs and labels of a module it is of, and in which order; all if left out
    has_global_stats : 1.x: the subclass keeps `global_sum_metric` and `global_num_inst` itself
    settings : what `get_config` says beside the names
    """

    def __init__(self, name: str, output_names: Any = None, label_names: Any = None, has_global_stats: bool = False,
                 **settings: Any) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = has_global_stats
        self._settings = settings
        self.reset()

    def reset(self) -> None:
        self._before: Tuple[float, int] = (0.0, 0)  # what reset_local has put aside
        self.sum_metric = self.global_sum_metric = 0.0
        self.num_inst = self.global_num_inst = 0

    def reset_local(self) -> None:
        """`get` begins anew; `get_global` goes on, but of figures that cannot be put aside."""
        if not self._is_summed():
            self.reset()
            return
        self._before = (self._before[0] + self.sum_metric, self._before[1] + self.num_inst)
        self.sum_metric = 0.0
        self.num_inst = 0

    def _is_summed(self) -> bool:
        """Whether its figures can be put aside: a subclass may have a `reset` of its own, and keep lists."""
        return hasattr(self, "_before") and all(isinstance(item, numbers.Number) for item in (self.sum_metric, self.num_inst))

    def get_global(self) -> Tuple[Any, Any]:
        """Name and value since the last `reset`."""
        if self._has_global_stats:
            total, count = self.global_sum_metric, self.global_num_inst
        elif self._is_summed():
            total, count = self._before[0] + self.sum_metric, self._before[1] + self.num_inst
        else:
            return self.get()
        local = self.sum_metric, self.num_inst
        self.sum_metric, self.num_inst = total, count
        found = self.get()
        self.sum_metric, self.num_inst = local
        return found

    def get_config(self) -> Dict[str, Any]:
        """What it was made with."""
        return {**self._settings, "metric": type(self).__name__, "name": self.name, "output_names": self.output_names,
                "label_names": self.label_names}

    def update_dict(self, labels: Dict[str, Any], preds: Dict[str, Any]) -> None:
        """`update` with the labels and predictions that it is of."""
        chosen = [list(values.values()) if names is None else [values[name] for name in names]
                  for values, names in ((labels, self.label_names), (preds, self.output_names))]
        self.update(*chosen)

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
        """Pairs; a subclass may have several figures, which `get` gives as lists."""
        return _listed(*self.get())

    def get_global_name_value(self) -> List[Tuple[str, float]]:
        return _listed(*self.get_global())

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"


@register
@alias("acc")
class Accuracy(EvalMetric):
    """Part of the samples whose largest prediction along `axis` is at the label."""

    def __init__(self, axis: int = 1, name: str = "accuracy", output_names: Any = None, label_names: Any = None) -> None:
        self.axis = axis
        super().__init__(name, output_names, label_names, axis=axis)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        chosen = pred.argmax(axis=self.axis) if pred.shape != label.shape else pred
        if chosen.size != label.size:
            raise ValueError(f"accuracy: labels {label.shape} do not fit predictions {pred.shape}")
        return (chosen.ravel().astype("int64") == label.ravel().astype("int64")).sum(), label.size


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """Part of the samples whose label is among the `top_k` largest predictions."""

    def __init__(self, top_k: int = 1, name: str = "top_k_accuracy", output_names: Any = None, label_names: Any = None) -> None:
        if top_k < 2:
            raise ValueError("top_k must be at least 2; use Accuracy for 1")
        self.top_k = top_k
        super().__init__(f"{name}_{top_k}", output_names, label_names, top_k=top_k)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        best = onp.argsort(pred, axis=1)[:, -self.top_k:]
        return (best == label.reshape(-1, 1).astype("int64")).any(axis=1).sum(), len(label)


@register
class MAE(EvalMetric):
    """Mean absolute error."""

    def __init__(self, name: str = "mae", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return onp.abs(label.reshape(pred.shape) - pred).sum(), pred.size


@register
class MSE(EvalMetric):
    """Mean square error."""

    def __init__(self, name: str = "mse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return ((label.reshape(pred.shape) - pred) ** 2).sum(), pred.size


@register
class RMSE(MSE):
    """Root of the mean square error."""

    def __init__(self, name: str = "rmse", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def get(self) -> Tuple[str, float]:
        return self.name, math.sqrt(super().get()[1])


@register
@alias("ce", "cross-entropy")
class CrossEntropy(EvalMetric):
    """Mean of -log of the probability predicted for the label."""

    def __init__(self, eps: float = 1e-12, name: str = "cross-entropy", output_names: Any = None, label_names: Any = None) -> None:
        self.eps = eps
        super().__init__(name, output_names, label_names, eps=eps)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        label = label.ravel().astype("int64")
        return -onp.log(pred[onp.arange(len(label)), label] + self.eps).sum(), len(label)


@register
class Loss(EvalMetric):
    """Mean of losses; the labels do not count."""

    def __init__(self, name: str = "loss", output_names: Any = None, label_names: Any = None) -> None:
        super().__init__(name, output_names, label_names)

    def update(self, labels: Any, preds: Any) -> None:
        super().update(preds, preds)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        return pred.sum(), pred.size


@register
class Perplexity(EvalMetric):
    """exp of the mean of -log of the probability predicted for the label, along `axis`; labels that are `ignore_label`
    do not count."""

    def __init__(self, ignore_label: Optional[int] = None, axis: int = -1, name: str = "perplexity", output_names: Any = None,
                 label_names: Any = None) -> None:
        self.ignore_label, self.axis = ignore_label, axis
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, axis=axis)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        rows = onp.moveaxis(pred, self.axis, -1).reshape(-1, pred.shape[self.axis])
        label = label.ravel().astype("int64")
        if len(label) != len(rows):
            raise ValueError(f"perplexity: {len(label)} labels do not fit predictions {pred.shape}")
        counts = onp.full(len(label), True) if self.ignore_label is None else label != self.ignore_label
        chosen = rows[onp.arange(len(label)), label.clip(0, rows.shape[1] - 1)][counts]
        return -onp.log(onp.maximum(chosen, 1e-10)).sum(), counts.sum()

    def get(self) -> Tuple[str, float]:
        return self.name, math.exp(super().get()[1])


class CustomMetric(EvalMetric):
    """The mean of function(label, pred), which returns a value or (sum, count).

    allow_extra_outputs : whether there may be more predictions than labels, of which the first ones count
    """

    def __init__(self, feval: Callable, name: Optional[str] = None, allow_extra_outputs: bool = False,
                 output_names: Any = None, label_names: Any = None) -> None:
        self.function, self._allows_extra = feval, allow_extra_outputs
        if not name:
            name = getattr(feval, "__name__", "custom")
            name = f"custom({name})" if "<" in name else name
        super().__init__(name, output_names, label_names, feval=feval, allow_extra_outputs=allow_extra_outputs)

    def update(self, labels: Any, preds: Any) -> None:
        if self._allows_extra and isinstance(labels, (list, tuple)):
            preds = preds[:len(labels)]
        super().update(labels, preds)

    def measure(self, label: onp.ndarray, pred: onp.ndarray) -> Tuple[float, int]:
        value = self.function(label, pred)
        return value if isinstance(value, tuple) else (value, 1)


class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same data."""

    def __init__(self, metrics: Optional[Iterable[Any]] = None, name: str = "composite", output_names: Any = None,
                 label_names: Any = None) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names)

    def add(self, metric: Any) -> None:
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """One of them, by its place."""
        if not 0 <= index < len(self.metrics):
            raise ValueError(f"metric {index} is not there: there are {len(self.metrics)}")
        return self.metrics[index]

    def reset(self) -> None:
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        for metric in self.metrics:
            metric.reset_local()

    def get_config(self) -> Dict[str, Any]:
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}

    def update(self, labels: Any, preds: Any) -> None:
        for metric in self.metrics:
            metric.update(labels, preds)

    def update_dict(self, labels: Dict[str, Any], preds: Dict[str, Any]) -> None:
        if self.label_names is not None:
            labels = {name: labels[name] for name in labels if name in self.label_names}
        if self.output_names is not None:
            preds = {name: preds[name] for name in preds if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def get_name_value(self) -> List[Tuple[str, float]]:
        return [pair for metric in self.metrics for pair in metric.get_name_value()]

    def get_global_name_value(self) -> List[Tuple[str, float]]:
        return [pair for metric in self.metrics for pair in metric.get_global_name_value()]

    def get(self) -> Tuple[Any, Any]:
        pairs = self.get_name_value()
        return [name for name, _ in pairs], [value for _, value in pairs]

    def get_global(self) -> Tuple[Any, Any]:
        pairs = self.get_global_name_value()
        return [name for name, _ in pairs], [value for _, value in pairs]


np = CustomMetric  # 1.x: mx.metric.np(function)

__getattr__ = refusing(__name__)
