# SPDX-License-Identifier: Apache-2.0
"""Gradients against differences, and the switches of recording."""
import gc
import threading
import time
import weakref

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd


def differences(function, values, step=1e-3):
    """The gradient of a function of a NumPy array, element by element."""
    gradient = onp.zeros_like(values)
    for place in onp.ndindex(values.shape):
        up, down = values.copy(), values.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (function(up) - function(down)) / (2 * step)
    return gradient


VALUES = onp.array([[0.3, -1.2, 2.0], [0.7, 1.5, -0.4]])
FUNCTIONS = {
    "arithmetic": lambda x, m: (3 * x * x - x / 2 + 1).sum(),
    "functions": lambda x, m: (m.exp(x) + m.tanh(x)).sum(),
    "mean of rows": lambda x, m: x.mean(axis=1).sum() * 2,
    "product": lambda x, m: m.dot(x, x.T).sum(),
    "a row and a column": lambda x, m: (x[0] * x[0]).sum() + (x[:, 1] * 3).sum(),
    "chosen elements": lambda x, m: (x[[1, 0, 1]] * x[[0, 0, 1]]).sum(),
    "shapes": lambda x, m: (x.reshape((3, 2)).T * 2 + 1).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
def test_gradients_are_those_of_differences(kind, name):
    function = FUNCTIONS[name]
    x = kind.array(VALUES, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = function(x, kind)
    y.backward()
    wanted = differences(lambda values: float(function(values, onp)), VALUES)
    onp.testing.assert_allclose(x.grad.asnumpy(), wanted, atol=1e-5)
    assert type(x.grad) is type(x)


def test_requests():
    x = mx.nd.array([1, 2])
    for request, wanted in (("write", [2, 2]), ("add", [4, 4]), ("null", [0, 0])):
        x.attach_grad(request)
        for _ in range(2):
            with autograd.record():
                y = x * 2
            if request != "null":
                y.backward()
        if request != "null":
            assert x.grad.asnumpy().tolist() == wanted
    with pytest.raises(ValueError, match="valid are: null, write, add"):
        x.attach_grad("other")


def test_requests_of_a_function():
    """What is added is added, and an input without a gradient leaves the next one its own."""
    class Product(autograd.Function):
        def forward(self, left, right):
            self.kept = left, right
            return left * right

        def backward(self, dy):
            left, right = self.kept
            return right * dy, left * dy

    for request, wanted in (("write", [2, 3]), ("add", [14, 16])):
        left, right = mx.nd.array([2, 3]), mx.nd.array([5, 7])
        right.attach_grad(request)
        if request == "add":
            right.grad[:] = 10
        for _ in range(2):
            with autograd.record():
                y = Product()(left, right)
            y.backward()
        assert right.grad.asnumpy().tolist() == wanted


def test_switches_nest():
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
        with autograd.record(train_mode=False):
            assert not autograd.is_training()
        assert autograd.is_training()
    with autograd.train_mode():
        assert autograd.is_training() and not autograd.is_recording()
    with pytest.raises(KeyError):
        with autograd.record():
            raise KeyError
    assert not autograd.is_recording()


def test_recording_is_the_threads_own():
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_recording()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_head_gradients_and_retained_graphs():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x
    y.backward(mx.nd.array([1, 10, 100]), retain_graph=True)
    assert x.grad.asnumpy().tolist() == [2, 40, 600]
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(mx.MXNetError):
        y.backward()


def test_grad_gives_new_arrays_and_gradients_of_gradients():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x * x
        [first] = autograd.grad(y, x, create_graph=True)
        assert first.asnumpy().tolist() == [3, 12, 27]
        z = first.sum()
    z.backward()
    assert x.grad.asnumpy().tolist() == [6, 12, 18]
    with autograd.record():
        y = x * 2
    gradients = autograd.grad(y, [x])
    assert len(gradients) == 1 and gradients[0].asnumpy().tolist() == [2, 2, 2]


def test_marked_variables():
    x, gradient = mx.nd.array([1, 2]), mx.nd.zeros((2,))
    autograd.mark_variables([x], [gradient])
    with autograd.record():
        y = x * 5
    autograd.backward([y])
    assert gradient.asnumpy().tolist() == [5, 5]
    with pytest.raises(ValueError, match="1 variables, 2 gradients"):
        autograd.mark_variables([x], [gradient, gradient])


def test_detached_arrays_have_no_past():
    x = mx.nd.array([3])
    x.attach_grad()
    with autograd.record():
        y = x * x
        z = y.detach() * x
    z.backward()
    assert x.grad.asscalar() == 9
    assert mx.nd.zeros((1,)).grad is None


def test_numpys_functions_refuse_to_be_recorded():
    x = mx.np.array([1.0, 2.0])
    assert mx.np.median(x).item() == 1.5
    with autograd.record(), pytest.raises(NotImplementedError, match="mx.np.median"):
        mx.np.median(x)


class Doubled(autograd.Function):
    """y = 2 x, with a wrong gradient that a test can tell: 7."""

    def forward(self, x, y):
        self.save_for_backward(x)
        return x * 2, y + x

    def backward(self, first, second):
        x, = self.saved_tensors
        return first * 7 + x, second


def test_function():
    x, y = mx.nd.array([1, 2]), mx.nd.array([3, 4])
    x.attach_grad()
    y.attach_grad("add")
    with autograd.record():
        a, b = Doubled()(x, y)
        c = a + b * 3
    assert c.asnumpy().tolist() == [14, 22]
    c.backward()
    assert x.grad.asnumpy().tolist() == [8, 9]
    assert y.grad.asnumpy().tolist() == [3, 3]
    assert [item.asnumpy().tolist() for item in Doubled()(x, y)] == [[2, 4], [4, 6]]


def test_a_graph_may_end_while_an_exception_is_on_its_way():
    x = mx.nd.array([1, 2])
    x.attach_grad()
    kept = set(mx._callbacks._kept)
    with autograd.record(), pytest.raises(ZeroDivisionError):
        [Doubled()(x, x), 1 / 0]
    mx.nd.waitall()
    # Ends are told on a thread of their own, maybe later.
    deadline = time.monotonic() + 20
    while set(mx._callbacks._kept) - kept and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not set(mx._callbacks._kept) - kept


class Kept(autograd.Function):
    """Keeps its result in both ways."""

    def forward(self, x):
        self.result = mx.nd.exp(x)
        self.save_for_backward(self.result)
        return self.result

    def backward(self, head):
        y, = self.saved_tensors
        return head * y + 0 * self.result


@pytest.mark.parametrize("is_differentiated", [True, False])
def test_a_function_that_keeps_its_result_is_freed(is_differentiated):
    x = mx.nd.array([0, 1])
    x.attach_grad()
    function = Kept()
    with autograd.record():
        y = function(x) * 1
    if is_differentiated:
        y.backward()
        assert onp.allclose(x.grad.asnumpy(), onp.exp([0, 1]))
    known = weakref.ref(function)
    del function, y
    deadline = time.monotonic() + 20
    while known() is not None and time.monotonic() < deadline:  # ends may be told on another thread
        mx.nd.waitall()
        gc.collect()
        time.sleep(0.01)
    assert known() is None


class Half(autograd.Function):
    """Has a gradient for its first input alone."""

    def forward(self, x, y):
        return x * y

    def backward(self, head):
        return head, None


def test_a_gradient_that_is_none_is_refused_where_it_is_asked_for():
    x, y = mx.nd.array([1, 2]), mx.nd.array([3, 4])
    x.attach_grad()
    with autograd.record():
        z = Half()(x, y)
    z.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]
    y.attach_grad()
    with autograd.record():
        z = Half()(x, y)
    z.backward()
    with pytest.raises(mx.MXNetError, match="Half.backward gave None for the gradient of input 1"):
        y.grad.asnumpy()


class Failing(autograd.Function):
    """A gradient that fails."""

    def forward(self, x):
        return x * 1

    def backward(self, *heads):
        raise RuntimeError("no gradient today")


def test_failing_function(capfd):
    x = mx.nd.array([1])
    x.attach_grad()
    with autograd.record():
        y = Failing()(x)
    with pytest.raises(mx.MXNetError):
        y.backward()
        x.grad.wait_to_read()
    assert "no gradient today" in capfd.readouterr().err


WRITES = {
    "mask": lambda y, m: y.__setitem__(y > 1, 0), "list": lambda y, m: y.__setitem__([0], 0),
    "places": lambda y, m: y.__setitem__(m.array([0], dtype="int32"), 5),
    "numbers": lambda y, m: y.__setitem__(slice(None), onp.ones(2)),
    "number": lambda y, m: y.__setitem__(slice(0, 1), [3]),
    "every second": lambda y, m: y.__setitem__(slice(None, None, 2), onp.ones(1)),
    "one": lambda y, m: y.__setitem__(0, 1), "array": lambda y, m: y.__setitem__(slice(None), m.ones(2)),
}


@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
@pytest.mark.parametrize("name", WRITES)
def test_what_a_gradient_depends_on_is_not_changed(name, kind):
    x = kind.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y, other = x * 2, kind.array([1.0, 2.0])
        with pytest.raises(mx.MXNetError, match="already in a computational graph"):
            WRITES[name](y, kind)
        WRITES[name](other, kind)  # no gradient depends on it
        WRITES[name](other, kind)
        z = (y * y * other).sum()
    z.backward()
    assert x.grad.asnumpy().tolist() == (8 * other.asnumpy() * [1, 2]).tolist()


PARTS = {
    "one": lambda y, v: y.__setitem__((1, 2), v[0]), "row": lambda y, v: y.__setitem__(1, v),
    "rows": lambda y, v: y.__setitem__(slice(0, 2), v), "column": lambda y, v: y.__setitem__((slice(None), 1), v[:2]),
    "places": lambda y, v: y.__setitem__((slice(None), [0, 2]), v[:2]), "mask": lambda y, v: y.__setitem__(onp.arange(6).reshape(2, 3) < 2, v[:1]),
}


@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
@pytest.mark.parametrize("name", PARTS)
def test_parts_written_while_recording(name, kind):
    values, new = onp.arange(6.0).reshape(2, 3), onp.array([7.0, 8.0, 9.0])
    PARTS[name](values, new)
    x, given = kind.array(new), kind.array(new)
    x.attach_grad()
    with autograd.record():
        y = kind.array(onp.arange(6.0).reshape(2, 3))
        PARTS[name](y, given)  # no gradient depends on it
        assert y.asnumpy().tolist() == values.tolist()
        z = kind.array(onp.arange(6.0).reshape(2, 3))
        PARTS[name](z, x * 1)
        loss = (x * x).sum() + z.sum()
    assert z.asnumpy().tolist() == values.tolist()
    loss.backward()
    uses = onp.array([(values == value).sum() for value in new])  # once for each place it went to
    assert x.grad.asnumpy().tolist() == (2 * new + uses).tolist()


STEPS = {  # what is made of truths and whole numbers, and its gradient
    "mask first": (lambda m, x: (x > 0) * x, lambda v: v > 0),
    "mask second": (lambda m, x: x * (x > 0), lambda v: v > 0),
    "masks joined": (lambda m, x: (x > 0) * (x < 1) * x, lambda v: (v > 0) & (v < 1)),
    "not": (lambda m, x: ~(x > 0) * x, lambda v: v <= 0),
    "sums of truths": (lambda m, x: (x > 0).sum(axis=0) * x, lambda v: (v > 0).sum(axis=0)),
    "quotient": (lambda m, x: x / ((x > 0) + 1), lambda v: 1 / ((v > 0) + 1)),
    "whole part": (lambda m, x: m.floor(x).astype("int32") * x, onp.floor),
    "truths by a cast": (lambda m, x: m.floor(abs(x)).astype("bool") * x + x.astype("bool") * x, lambda v: 1 + (abs(v) >= 1)),
    "place": (lambda m, x: m.argmax(x) * x, lambda v: v.argmax()),
    "infinite?": (lambda m, x: m.isnan(x) * x + x, lambda v: 1),
    "only truths": (lambda m, x: (x > 0) * 1.0, lambda v: 0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STEPS)
def test_nothing_goes_back_through_truths_and_places(name, dtype):
    function, gradient = STEPS[name]
    x = mx.np.array(VALUES, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = function(mx.np, x)
    y.backward()
    onp.testing.assert_allclose(x.grad.asnumpy(), onp.broadcast_to(gradient(x.asnumpy()), VALUES.shape), rtol=1e-6)


def test_a_cast_hands_gradients_on():
    x = mx.nd.array([0.2, 2.7])
    x.attach_grad()
    with autograd.record():
        y = x.astype("int32").astype("float32") * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 3]


def test_whole_numbers_of_whole_numbers_have_gradients():
    x = mx.np.array([1, 2, 3], dtype="int32")
    x.attach_grad()
    with autograd.record():
        y = x.reshape(3, 1).astype("float32") * 2
    y.backward()
    assert x.grad.dtype == "int32" and x.grad.asnumpy().tolist() == [2, 2, 2]
