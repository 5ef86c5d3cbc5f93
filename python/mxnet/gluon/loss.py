# SPDX-License-Identifier: Apache-2.0
"""Losses: (prediction, label) to one number a sample, shape (batch,)."""
from __future__ import annotations

from typing import Any, Optional

from .. import ndarray as nd
from .. import numpy as np
from .._absent import refusing
from .block import HybridBlock
from .functions import functions_of, is_numpy


# What losses of one's own import from MXNet, private though they are.
def _apply_weighting(F: Any, loss: Any, weight: Optional[float] = None, sample_weight: Any = None) -> Any:
    if sample_weight is not None:
        loss = loss * sample_weight if is_numpy(loss) else F.broadcast_mul(loss, sample_weight)
    return loss if weight is None else loss * weight


def _reshape_like(F: Any, x: Any, y: Any) -> Any:
    return x.reshape(y.shape) if is_numpy(x) else F.reshape_like(x, y)


class Loss(HybridBlock):
    """The base of losses. `weight` scales all samples, `sample_weight` of a call each of them; results
    are means over all axes but `batch_axis`."""

    def __init__(self, weight: Optional[float] = 1.0, batch_axis: int = 0,
                 prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._weight = weight
        self._batch_axis = batch_axis

    def _weigh(self, loss: Any, sample_weight: Any, scale: float = 1.0) -> Any:
        if sample_weight is not None:
            loss = loss * sample_weight if is_numpy(loss) else nd.broadcast_mul(loss, sample_weight)
        factor = scale * (1.0 if self._weight is None else self._weight)
        return loss if factor == 1.0 else loss * factor

    def _mean(self, loss: Any) -> Any:
        if not is_numpy(loss):
            return nd.mean(loss, axis=self._batch_axis, exclude=True)
        axes = tuple(i for i in range(loss.ndim) if i != self._batch_axis % loss.ndim)
        return np.mean(loss, axis=axes)

    def extra_repr(self) -> str:
        return f"batch_axis={self._batch_axis}, w={self._weight}"


class L2Loss(Loss):
    """(prediction - label)² / 2."""

    def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        difference = label.reshape(pred.shape) - pred
        square = np.square(difference) if is_numpy(pred) else nd.square(difference)
        return self._mean(self._weigh(square, sample_weight, 0.5))


class L1Loss(Loss):
    """|prediction - label|."""

    def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        difference = label.reshape(pred.shape) - pred
        return self._mean(self._weigh(_abs(difference), sample_weight))


class HuberLoss(Loss):
    """Half the square, over rho, where |prediction - label| is at most rho, else the distance less
    rho / 2."""

    def __init__(self, rho: float = 1.0, weight: Optional[float] = 1.0, batch_axis: int = 0,
                 prefix: Optional[str] = None) -> None:
        super().__init__(weight, batch_axis, prefix)
        self._rho = rho

    def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        distance = _abs(label.reshape(pred.shape) - pred)
        rho, where = self._rho, np.where if is_numpy(pred) else nd.where
        loss = where(distance > rho, distance - 0.5 * rho, (0.5 / rho) * distance * distance)
        return self._mean(self._weigh(loss, sample_weight))


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of labels 0 to 1 with sigmoid(prediction), or with the prediction itself if
    `from_sigmoid`."""

    def __init__(self, from_sigmoid: bool = False, weight: Optional[float] = 1.0, batch_axis: int = 0,
                 prefix: Optional[str] = None) -> None:
        super().__init__(weight, batch_axis, prefix)
        self._from_sigmoid = from_sigmoid

    def forward(self, pred: Any, label: Any, sample_weight: Any = None,
                pos_weight: Any = None) -> Any:
        label = label.reshape(pred.shape)
        positive = label if pos_weight is None else label * pos_weight
        if self._from_sigmoid:
            log = np.log if is_numpy(pred) else nd.log
            tiny = 1e-12
            loss = -(log(pred + tiny) * positive + log(1.0 - pred + tiny) * (1.0 - label))
        else:
            # log(1 + exp(-|x|)) never overflows.
            soft = functions_of(pred).activation(-_abs(pred), act_type="softrelu")
            relu = functions_of(pred).relu
            loss = (relu(pred) - pred * label + soft if pos_weight is None else
                    pred - pred * label + (1.0 + positive - label) * (soft + relu(-pred)))
        return self._mean(self._weigh(loss, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """-log of the softmax of the prediction at the label, along `axis`. `sparse_label`: labels are class
    numbers; else they are probabilities like the prediction. `from_logits`: the prediction is already
    the log of probabilities."""

    def __init__(self, axis: int = -1, sparse_label: bool = True, from_logits: bool = False,
                 weight: Optional[float] = 1.0, batch_axis: int = 0, prefix: Optional[str] = None) -> None:
        super().__init__(weight, batch_axis, prefix)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def forward(self, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        functions = functions_of(pred)
        if not self._from_logits:
            pred = functions.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -functions.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            product = pred * label.reshape(pred.shape)
            loss = -(np.sum(product, axis=self._axis, keepdims=True) if is_numpy(pred) else
                     nd.sum(product, axis=self._axis, keepdims=True))
        return self._mean(self._weigh(loss, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


def _abs(array: Any) -> Any:
    return np.abs(array) if is_numpy(array) else nd.abs(array)


class CTCLoss(Loss):
    """-log of the chance that a sequence of classes, once repetitions are joined and blanks left out, reads as
    the label. The blank is the last class; no softmax is taken before.

    Parameters
    ----------
    layout : 'NTC' or 'TNC'
        Axes of the prediction: samples N, times T, classes C.
    label_layout : 'NT' or 'TN'
        Axes of the labels: whole numbers below C - 1, at most as many as there are times; -1 after the last
        one, unless their lengths are given.
    weight : float, optional
        Scales all samples.

    Raises
    ------
    ValueError
        If a layout is none of these.

    Called with (pred, label, pred_lengths=None, label_lengths=None, sample_weight=None), lengths being vectors
    of one number a sample; gives a vector of one loss a sample. A label or a length that cannot be is an
    MXNetError when the loss is waited for. A. Graves and others: Connectionist Temporal Classification, 2006.
    """

    def __init__(self, layout: str = "NTC", label_layout: str = "NT", weight: Optional[float] = None,
                 prefix: Optional[str] = None) -> None:
        if layout not in ("NTC", "TNC") or label_layout not in ("NT", "TN"):
            raise ValueError(f"layout is {layout!r} and label_layout {label_layout!r}: they can be 'NTC' or 'TNC', "
                             "and 'NT' or 'TN'")
        super().__init__(weight, label_layout.index("N"), prefix)
        self._layout = layout

    def forward(self, pred: Any, label: Any, pred_lengths: Any = None, label_lengths: Any = None,
                sample_weight: Any = None) -> Any:
        pred = pred.swapaxes(0, 1) if self._layout == "NTC" else pred
        label = label.swapaxes(0, 1) if self._batch_axis == 1 else label
        given = {"data_lengths": pred_lengths, "label_lengths": label_lengths}
        lengths = {name: values for name, values in given.items() if values is not None}
        loss = functions_of(pred).ctc_loss(
            pred, label, **lengths, use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None, blank_label="last")
        return self._weigh(loss, sample_weight)


__getattr__ = refusing(__name__)
