# SPDX-License-Identifier: Apache-2.0
"""CTCLoss, operator and loss of Gluon: against all sequences of classes, counted one by one."""
import itertools

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd
from mxnet.gluon.loss import CTCLoss

KINDS = pytest.mark.parametrize("kind", [mx.nd, mx.np])
TIMES, CLASSES = 4, 3
BLANK = CLASSES - 1
PRED = onp.random.RandomState(3).uniform(-1, 1, (2, TIMES, CLASSES)).astype("float32")
LABEL = onp.array([[0, 1], [1, -1]], "float32")


def reads_as(path):
    joined = [name for name, _ in itertools.groupby(path)]
    return [name for name in joined if name != BLANK]


def expected(pred, labels):
    """Of one sample: (times, classes), and its labels."""
    chances = onp.exp(pred.astype("float64"))
    chances /= chances.sum(-1, keepdims=True)
    total = sum(onp.prod([chances[at, name] for at, name in enumerate(path)])
                for path in itertools.product(range(CLASSES), repeat=len(pred)) if reads_as(path) == labels)
    return -onp.log(total)


def loss_of(kind, block, pred, label, *lengths):
    return block(kind.array(pred), kind.array(label), *[given if given is None else kind.array(given)
                                                       for given in lengths])


@KINDS
def test_it_is_the_chance_of_all_sequences_that_read_as_the_label(kind):
    wanted = [expected(PRED[0], [0, 1]), expected(PRED[1], [1])]
    block = CTCLoss()
    for _ in range(2):
        onp.testing.assert_allclose(loss_of(kind, block, PRED, LABEL).asnumpy(), wanted, rtol=1e-5)
        block.hybridize()
    turned = loss_of(kind, CTCLoss("TNC", "TN", weight=2), PRED.swapaxes(0, 1), LABEL.T)
    onp.testing.assert_allclose(turned.asnumpy(), 2 * onp.array(wanted), rtol=1e-5)


@KINDS
def test_lengths_end_times_and_labels(kind):
    times, labels = onp.array([3, 4], "float32"), onp.array([1, 2], "float32")
    both = onp.array([[0, 1], [1, 1]], "float32")
    for lengths, first, end in (((), [0, 1], TIMES), ((times,), [0, 1], 3), ((None, labels), [0], TIMES),
                                ((times, labels), [0], 3)):
        found = loss_of(kind, CTCLoss(), PRED, both, *lengths).asnumpy()
        onp.testing.assert_allclose(found, [expected(PRED[0][:end], first), expected(PRED[1], [1, 1])], rtol=1e-5)
    weights = onp.array([0.5, 0], "float32")
    found = loss_of(kind, CTCLoss(), PRED, LABEL, None, None, weights).asnumpy()
    onp.testing.assert_allclose(found, [0.5 * expected(PRED[0], [0, 1]), 0], rtol=1e-5)


@KINDS
def test_the_gradient_is_that_of_differences(kind):
    pred, label = kind.array(PRED), kind.array(LABEL)
    pred.attach_grad()
    with autograd.record():
        loss = CTCLoss()(pred, label, kind.array(onp.array([3, 4], "float32")))
    loss.backward(kind.array(onp.array([2, -1], "float32")))
    found = pred.grad.asnumpy()
    assert (found[0, 3] == 0).all()
    for place in itertools.product(range(2), range(3), range(CLASSES)):
        up, down = PRED.astype("float64"), PRED.astype("float64")
        up[place] += 1e-5
        down[place] -= 1e-5
        total = [2 * expected(at[0][:3], [0, 1]) - expected(at[1], [1]) for at in (up, down)]
        assert found[place] == pytest.approx((total[0] - total[1]) / 2e-5, rel=1e-3, abs=1e-4)


def test_a_label_that_no_sequence_reads_as_counts_for_nothing():
    assert mx.nd.CTCLoss(mx.nd.ones((2, 1, 3)), mx.nd.array([[1, 1]])).asnumpy().tolist() == [0]


@pytest.mark.parametrize("label, more, text", [
    ([[7]], {}, "label 7 of sample 0 is none of 3 classes"),
    ([[-2]], {}, "label -2 of sample 0 is none of 3 classes"),
    ([[1]], {"data_lengths": mx.nd.array([5]), "use_data_lengths": True}, "sample 0 has the length 5"),
    ([[1]], {"label_lengths": mx.nd.array([2]), "use_label_lengths": True}, "sample 0 has the length 2")])
def test_labels_and_lengths_that_cannot_be(label, more, text):
    with pytest.raises(mx.MXNetError, match=text):
        mx.nd.CTCLoss(mx.nd.ones((4, 1, 3)), mx.nd.array(label), **more).wait_to_read()


def test_layouts_that_cannot_be():
    for layouts in (("CNT", "NT"), ("NTC", "N")):
        with pytest.raises(ValueError, match="'NTC' or 'TNC'"):
            CTCLoss(*layouts)
