# SPDX-License-Identifier: Apache-2.0
"""Training: the trainer, metrics, and LeNet against a NumPy one."""
import math
import os

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
from numpy_lenet import NumpyLeNet

KINDS = pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
LONG = pytest.mark.skipif(not os.environ.get("MXPROF_TEST_LONG"), reason="MXPROF_TEST_LONG=1 runs it")


def one_weight(**settings):
    net = nn.Dense(1, use_bias=False, in_units=2, weight_initializer="ones")
    net.initialize(**settings)
    return net


def backward(net, x):
    with autograd.record():
        y = net(x).sum()
    y.backward()


# ---- the trainer ---------------------------------------------------------------------------------
@KINDS
def test_steps_divide_by_the_batch(kind):
    net = one_weight()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    backward(net, kind.array([[1.0, 2.0], [3.0, 4.0]]))
    trainer.step(2)
    assert net.weight.data().asnumpy().tolist() == [[1 - 0.5 * 4 / 2, 1 - 0.5 * 6 / 2]]
    assert trainer.learning_rate == 0.5
    trainer.set_learning_rate(0.25)
    backward(net, kind.array([[1.0, 2.0]]))
    trainer.step(1)
    assert net.weight.data().asnumpy().tolist() == [[-0.25, -1.0]]


def test_a_refused_step_changes_nothing():
    used, unused = one_weight(), one_weight()
    trainer = gluon.Trainer([used.weight, unused.weight], "sgd", {"learning_rate": 0.5})
    before = used.weight.data().asnumpy().tolist()
    backward(used, mx.nd.array([[1.0, 2.0]]))
    with pytest.raises(UserWarning):
        trainer.step(1)
    assert used.weight.data().asnumpy().tolist() == before
    trainer.step(1, ignore_stale_grad=True)
    assert used.weight.data().asnumpy().tolist() != before
    assert unused.weight.data().asnumpy().tolist() == before


def test_gradients_that_no_backward_wrote():
    net = one_weight()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    with pytest.raises(UserWarning, match="gradient of dense.*weight on cpu.0. has not been written"):
        trainer.step(1)
    trainer.step(1, ignore_stale_grad=True)
    assert net.weight.data().asnumpy().tolist() == [[1, 1]]
    backward(net, mx.nd.ones((1, 2)))
    trainer.step(1)
    with pytest.raises(UserWarning):
        trainer.step(1)


def test_gradients_can_be_added_up():
    net = one_weight()
    net.setattr("grad_req", "add")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    for _ in range(3):
        backward(net, mx.nd.ones((1, 2)))
    trainer.step(1)
    assert net.weight.data().asnumpy().tolist() == [[-2, -2]]
    net.zero_grad()
    assert net.weight.grad().asnumpy().tolist() == [[0, 0]]
    net.setattr("grad_req", "null")
    trainer.step(1)
    assert net.weight.data().asnumpy().tolist() == [[-2, -2]]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_several_devices_stay_the_same(optimizer):
    """Two halves of a batch on two devices move the weights as the batch on one."""
    devices, whole = [mx.cpu(0), mx.cpu(1)], onp.array([[1.0, 2.0], [3.0, -4.0]])
    nets = [one_weight(), one_weight(ctx=devices)]
    for net, where in zip(nets, ([mx.cpu(0)], devices)):
        trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1})
        for _ in range(3):
            for part in gluon.utils.split_and_load(whole, where):
                backward(net, part)
            trainer.step(2)
    wanted = nets[0].weight.data().asnumpy()
    for found in nets[1].weight.list_data():
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


class Descent(mx.optimizer.Optimizer):
    """Of a program's own: `made` makes a state, `seen` has those that updates were given."""

    def __init__(self, made, **settings):
        super().__init__(**settings)
        self.made, self.seen = made, []

    def create_state(self, index, weight):
        return self.made(weight)

    def update(self, index, weight, grad, state):
        self._begin(index)
        self.seen.append(state)


@pytest.mark.parametrize("made", (lambda w: None, lambda w: [w + 1], lambda w: (w + 1,), lambda w: (), lambda w: w + 1),
                         ids=("none", "list", "tuple", "empty", "array"))
def test_states_of_own_optimizers_come_back_as_they_were(tmp_path, made):
    layer, file = mx.gluon.nn.Dense(1, in_units=2, use_bias=False), str(tmp_path / "states")
    layer.initialize()
    optimizer = Descent(made)
    trainer = mx.gluon.Trainer(layer.collect_params(), optimizer)
    for _ in range(2):
        with mx.autograd.record():
            layer(mx.nd.ones((1, 2))).sum().backward()
        trainer.step(1)
        trainer.save_states(file)
        trainer.load_states(file)
    before, after = optimizer.seen
    assert type(after) is type(before)
    if isinstance(before, (list, tuple)):
        assert len(after) == len(before)
    for ours, theirs in zip([after] if hasattr(after, "asnumpy") else after or (), [before] if hasattr(before, "asnumpy") else before or ()):
        assert (ours == theirs).asnumpy().all()


@pytest.mark.parametrize("devices", [1, 2])
def test_states_in_files(tmp_path, devices):
    """Training that continues from files is the same training."""
    where, x, file = [mx.cpu(i) for i in range(devices)], mx.nd.ones((1, 2)), str(tmp_path / "states")
    ends = []
    for interrupted in (False, True):
        net = one_weight(ctx=where)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        for step in range(4):
            if interrupted and step == 2:
                trainer.save_states(file)
                trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
                trainer.load_states(file)
            for device in where:
                backward(net, x.as_in_context(device) * (step + 1))
            trainer.step(1)
        ends.append([data.asnumpy().tolist() for data in net.weight.list_data()])
    assert ends[0] == ends[1] and len(ends[0]) == devices
    other = gluon.Trainer(nn.Dense(1).collect_params(), "adam")
    with pytest.raises(mx.MXNetError, match="states of 1 parameters, not of 2"):
        other.load_states(file)
    mx.nd.save(file, [x])
    with pytest.raises(mx.MXNetError, match="holds no states of an optimizer"):
        trainer.load_states(file)


def test_wrong_trainers():
    net = one_weight()
    for make, text in ((lambda: gluon.Trainer([net], "sgd"), "not Dense"),
                       (lambda: gluon.Trainer(3, "sgd"), "parameters, or a dict of them, not int"),
                       (lambda: gluon.Trainer(net.collect_params(), "sdg"), "no optimizer 'sdg'"),
                       (lambda: gluon.Trainer(net.collect_params(), mx.optimizer.SGD(), {"wd": 1}),
                        "go with the name"),
                       (lambda: gluon.Trainer(net.collect_params(), "sgd", kvstore="nearby"),
                        "kvstore 'nearby'.*valid are 'device', 'local', 'dist_sync', .*, a KVStore and None"),
                       (lambda: gluon.Trainer(net.collect_params(), "sgd").step(0), "above 0, not 0")):
        with pytest.raises(ValueError, match=text):
            make()


def test_norms_are_clipped_together():
    arrays = [mx.nd.array([3.0]), mx.nd.array([4.0])]
    assert gluon.utils.clip_global_norm(arrays, 1.0) == pytest.approx(5)
    assert [array.asscalar() for array in arrays] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("values", [[1, math.nan], [1, math.inf]])
def test_a_norm_that_is_not_finite_is_warned_of_and_returned(values):
    with pytest.warns(UserWarning, match="nan or inf is detected. Clipping results will be undefined."):
        norm = gluon.utils.clip_global_norm([mx.np.array(values)], 2.0)
    assert not math.isfinite(norm)
    assert gluon.utils.clip_global_norm([mx.np.array([3.0, 4.0])], 9.0) == 5


# ---- metrics -------------------------------------------------------------------------------------
PRED, LABEL = onp.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]]), onp.array([1, 2])
METRICS = {
    "acc": ("accuracy", 0.5),
    "ce": ("cross-entropy", -(math.log(0.7) + math.log(0.2)) / 2),
}


@pytest.mark.parametrize("name", METRICS)
def test_metrics_of_classes(name):
    metric = mx.metric.create(name)
    assert math.isnan(metric.get()[1])
    metric.update([mx.nd.array(LABEL)], [mx.nd.array(PRED)])
    metric.update(mx.np.array(LABEL), mx.np.array(PRED))
    assert metric.get() == (METRICS[name][0], pytest.approx(METRICS[name][1]))
    metric.reset()
    assert math.isnan(metric.get()[1])


class Distance(mx.metric.EvalMetric):
    """As programs for 1.x write one."""

    def __init__(self, name="distance", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)

    def update(self, labels, preds):
        mx.metric.check_label_shapes(labels, preds)
        for label, pred in zip(labels, preds):
            mx.metric.check_label_shapes(label, pred, shape=True)
            self.sum_metric += (label - pred).abs().sum().asscalar()
            self.num_inst += label.size


def test_ones_own_metric():
    metric = Distance()
    metric.update([mx.nd.array([1, 2])], [mx.nd.array([1, 5])])
    assert metric.get() == ("distance", 1.5) and metric.label_names is None
    with pytest.raises(ValueError, match="labels of 1 do not fit predictions of 2"):
        metric.update([mx.nd.ones(2)], [mx.nd.ones(2), mx.nd.ones(2)])
    with pytest.raises(ValueError, match=r"labels of \(2,\) do not fit predictions of \(3,\)"):
        metric.update([mx.nd.ones(2)], [mx.nd.ones(3)])


def test_arguments_have_the_names_of_mxnet():
    numbers = gluon.data.SimpleDataset([1, 2, 3])
    assert list(numbers.transform(fn=lambda x: -x)) == list(numbers.transform_first(fn=lambda x: -x)) == [-1, -2, -3]
    assert list(numbers.filter(fn=lambda x: x > 1)) == [2, 3]
    assert list(gluon.data.FilterSampler(fn=lambda x: x > 1, dataset=numbers)) == [1, 2]
    net, seen = nn.Dense(1, in_units=1), []
    net.apply(fn=seen.append)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    trainer.set_learning_rate(lr=0.25)
    assert seen == [net] and trainer.learning_rate == 0.25


def test_other_metrics():
    pred, label = mx.nd.array([1.0, 4.0]), mx.nd.array([2.0, 2.0])
    for name, wanted in (("mae", 1.5), ("mse", 2.5), ("rmse", math.sqrt(2.5)), ("loss", 2.5)):
        metric = gluon.metric.create(name)
        metric.update(label, pred)
        assert metric.get() == (name, pytest.approx(wanted))
    top = gluon.metric.TopKAccuracy(2)
    top.update(mx.nd.array([2, 0]), mx.nd.array(PRED))
    assert top.get() == ("top_k_accuracy_2", 1.0)
    both = gluon.metric.create(["acc", lambda label, pred: 3.0])
    both.update(mx.nd.array(LABEL), mx.nd.array(PRED))
    assert both.get()[1] == [0.5, 3.0]
    with pytest.raises(ValueError, match="no metric 'accurate'; did you mean 'accuracy'. There are acc, accuracy"):
        gluon.metric.create("accurate")
    with pytest.raises(ValueError, match="do not fit"):
        gluon.metric.Accuracy().update(mx.nd.array([1, 2, 3]), mx.nd.array(PRED))
    with pytest.raises(ValueError, match="1 labels and 2 predictions"):
        gluon.metric.Accuracy().update([mx.nd.array(LABEL)], [mx.nd.array(PRED)] * 2)


# ---- LeNet ---------------------------------------------------------------------------------------
def lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2),
            nn.Conv2D(50, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Flatten(),
            nn.Dense(512, activation="relu"), nn.Dense(10))
    return net


@KINDS
def test_the_loss_curve_is_numpys(kind):
    images, labels = gluon.data.vision.digits.make(320, 7)
    images = images[:, None].astype("float32") / 255
    mx.random.seed(1)
    net = lenet()
    net.initialize(mx.init.Xavier())
    net(kind.array(images[:1]))
    reference = NumpyLeNet({name: parameter.data().asnumpy()
                            for name, parameter in net.collect_params().items()})
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    found, wanted = [], []
    for step in range(20):
        part = slice(16 * step, 16 * step + 16)
        x, y = kind.array(images[part]), kind.array(labels[part], dtype="float32")
        with autograd.record():
            loss = loss_function(net(x), y)
        loss.backward()
        trainer.step(16)
        found.append(float(loss.mean()))
        wanted.append(reference.step(images[part], labels[part], 0.05, 0.9))
    onp.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert wanted[-1] < wanted[0]


def accuracy_of(net, epochs, rate, count=None):
    """The part of the held-out digits that a network knows after so many epochs."""
    (images, labels), (held_out, answers) = [
        gluon.data.vision.digits.make(*size) for size in ((count or 12000, 1), (2000, 2))]
    images, held_out = [x[:, None].astype("float32") / 255 for x in (images, held_out)]
    onp.random.seed(1)
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": rate, "momentum": 0.9})
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(onp.arange(len(labels))), 64, shuffle=True)
    for _ in range(epochs):
        for chosen in loader:
            chosen = chosen.asnumpy()
            x, y = mx.nd.array(images[chosen]), mx.nd.array(labels[chosen])
            with autograd.record():
                loss = loss_function(net(x), y)
            loss.backward()
            trainer.step(len(chosen))
    metric = gluon.metric.Accuracy()
    for begin in range(0, 2000, 200):
        metric.update(mx.nd.array(answers[begin:begin + 200]), net(mx.nd.array(held_out[begin:begin + 200])))
    return metric.get()[1]


def test_a_network_learns_from_a_part_of_the_digits():
    assert accuracy_of(lenet(), 1, 0.05, count=3200) > 0.5


@LONG
def test_lenet_knows_the_held_out_digits_and_a_linear_classifier_does_not():
    assert accuracy_of(lenet(), 3, 0.05) >= 0.97
    linear = nn.HybridSequential()
    linear.add(nn.Flatten(), nn.Dense(10))
    assert accuracy_of(linear, 12, 0.02) < 0.93
