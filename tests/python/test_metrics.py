# SPDX-License-Identifier: Apache-2.0
"""Metrics as programs write and name them: of one's own, of chosen outputs, with figures since the last reset."""
import logging
import math

import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd, sym


class Twice(mx.metric.EvalMetric):
    """Has a `reset` of its own that knows nothing of the base's, and two figures."""

    def __init__(self):
        super().__init__("twice")

    def reset(self):
        self.num_inst, self.sum_metric = [0, 0], [0.0, 0.0]

    def update(self, labels, preds):
        for at in (0, 1):
            self.sum_metric[at] += float((preds[0] * (at + 1)).sum().asscalar())
            self.num_inst[at] += preds[0].size

    def get(self):
        return [f"{self.name}-{at}" for at in (0, 1)], [total / max(count, 1) for total, count
                                                        in zip(self.sum_metric, self.num_inst)]


class Counting(mx.metric.EvalMetric):
    """Keeps the figures since the last reset itself, as metrics of 1.5 to 1.9 do."""

    def __init__(self, name="counting", **settings):
        super().__init__(name, has_global_stats=True, **settings)

    def update(self, labels, preds):
        labels, preds = mx.metric.check_label_shapes(labels, preds, True)
        for label, pred in zip(labels, preds):
            right = float((label == pred).sum().asscalar())
            self.sum_metric += right
            self.global_sum_metric += right
            self.num_inst += label.size
            self.global_num_inst += label.size


def test_a_metric_of_several_figures_trains_and_logs(caplog):
    caplog.set_level(logging.INFO)
    module = mx.mod.Module(sym.LinearRegressionOutput(sym.FullyConnected(sym.var("data"), num_hidden=1, name="fc"),
                                                      sym.var("label"), name="out"), label_names=["label"])
    data = mx.io.NDArrayIter(onp.ones((4, 2)), {"label": onp.ones((4, 1))}, 2)
    module.fit(data, num_epoch=1, eval_metric=Twice(), initializer=mx.init.Zero(), optimizer_params={"learning_rate": 0.0},
               batch_end_callback=mx.callback.Speedometer(2, 1))
    assert "Epoch[0] Train-twice-0=0.000000" in caplog.messages
    assert any(text.endswith("\ttwice-0=0.000000\ttwice-1=0.000000") for text in caplog.messages)
    assert dict(module.score(data, [Twice(), "mse"])) == {"twice-0": 0, "twice-1": 0, "mse": 1}


def test_figures_since_the_last_reset_may_be_the_metric_s_own():
    metric = Counting()
    metric.update(nd.ones(2), nd.array([1, 0]))
    metric.reset_local()
    assert math.isnan(metric.get()[1])
    metric.update([nd.ones(2)], [nd.ones(2)])
    assert metric.get() == ("counting", 1) and metric.get_global() == ("counting", 0.75)
    assert metric.get_global_name_value() == [("counting", 0.75)] and metric.get() == ("counting", 1)
    with pytest.raises(ValueError, match="labels of 1 do not fit predictions of 2"):
        metric.update([nd.ones(2)], [nd.ones(2)] * 2)


def test_classes_are_known_by_the_names_they_are_given():
    mx.metric.register(Counting)
    mx.metric.alias("cnt", "count")(Counting)
    mx.metric.register(Twice, "two-times")
    for name in ("counting", "CNT", "count"):
        assert type(mx.metric.create(name)) is Counting
    assert type(mx.metric.create("two-times")) is Twice
    assert mx.metric.create("counting", depth=3).get_config() == {
        "depth": 3, "metric": "Counting", "name": "counting", "output_names": None, "label_names": None}
    assert mx.metric.create("acc", axis=0).get_config()["axis"] == 0


def test_metrics_are_of_the_outputs_they_name():
    data = sym.var("data")
    kind = sym.SoftmaxOutput(sym.FullyConnected(data, num_hidden=2, name="fa"), sym.var("a_label"), name="a")
    size = sym.LinearRegressionOutput(sym.FullyConnected(data, num_hidden=1, name="fb"), sym.var("b_label"), name="b")
    more = sym.BlockGrad(data, name="c")
    module = mx.mod.Module(sym.Group([kind, size, more]), label_names=["a_label", "b_label"])
    data = mx.io.NDArrayIter(onp.ones((4, 2)), {"a_label": onp.zeros(4), "b_label": onp.full((4, 1), 2.0)}, 2)
    metric = mx.metric.CompositeEvalMetric([mx.metric.MSE(output_names=["b_output"], label_names=["b_label"]),
                                            mx.metric.Accuracy(output_names=["a_output"], label_names=["a_label"])])
    module.fit(data, num_epoch=1, eval_metric=metric, initializer=mx.init.Zero(), optimizer_params={"learning_rate": 0.0})
    assert metric.get_name_value() == [("mse", 4), ("accuracy", 1)]
    assert metric.get_metric(1).name == "accuracy"
    for index in (2, -1):
        with pytest.raises(ValueError, match="there are 2"):
            metric.get_metric(index)


def test_a_function_may_leave_outputs_out():
    def error(label, pred):
        return ((label - pred) ** 2).sum()

    metric = mx.metric.CustomMetric(error, allow_extra_outputs=True)
    metric.update([nd.ones(2)], [nd.zeros(2), nd.ones(3)])
    assert metric.get() == ("error", 2)
    with pytest.raises(ValueError, match="1 labels and 2 predictions"):
        mx.metric.np(error).update([nd.ones(2)], [nd.zeros(2), nd.ones(3)])
    assert mx.metric.create(lambda label, pred: 0.0).name == "custom(<lambda>)"


def test_perplexity_leaves_out_what_is_padding():
    preds = onp.array([[0.3, 0.7], [0, 1.0], [0.4, 0.6]], "float32")
    metric = mx.metric.Perplexity(ignore_label=None)
    metric.update([nd.array([0, 1, 1])], [nd.array(preds)])
    assert metric.get() == ("perplexity", pytest.approx(1.77109762852))
    metric = mx.metric.create("perplexity", 1)
    for label in ([0, 1, 1], [1, 1, 0]):
        metric.update([nd.array(label)], [nd.array(preds)])
    assert metric.get()[1] == pytest.approx(math.exp(-(math.log(0.3) + math.log(0.4)) / 2), rel=1e-6)
    columns = mx.metric.Perplexity(None, axis=0)
    columns.update([nd.array([0, 1, 1])], [nd.array(preds.T)])
    assert columns.get()[1] == pytest.approx(1.77109762852)
    with pytest.raises(ValueError, match="2 labels do not fit"):
        metric.update([nd.array([0, 1])], [nd.array(preds)])


def test_one_list_of_metrics_has_both_names():
    import mxnet.metric  # pylint: disable=import-outside-toplevel
    from mxnet.metric import Accuracy, EvalMetric  # pylint: disable=import-outside-toplevel

    assert mxnet.metric is mx.gluon.metric is mx.metric
    assert Accuracy is mx.gluon.metric.Accuracy and issubclass(Accuracy, EvalMetric)
    with pytest.raises(ImportError, match="F1 is not there yet"):
        from mxnet.metric import F1  # pylint: disable=import-outside-toplevel, unused-import
