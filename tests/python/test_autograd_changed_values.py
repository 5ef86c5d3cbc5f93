# SPDX-License-Identifier: Apache-2.0
"""Values that a gradient needs and that were changed after they were recorded are an error."""
import pytest

from python_program import run_python

PRELUDE = """
import numpy as onp
import mxnet as mx
from mxnet import autograd, gluon, nd, np
from mxnet.base import MXNetError

def refused(head, *words):
    try:
        head.backward()
    except MXNetError as error:
        assert all(word in str(error) for word in words), error
        return True
    return False

x = np.array([1., 2., 3.])
x.attach_grad()
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


def run(source, directory, engine="", **environment):
    done = run_python(PRELUDE + source, directory, MXNET_ENGINE_TYPE=engine, **environment)
    assert (done.code, done.err) == (0, "")
    return done.out


@ENGINES
@pytest.mark.parametrize("change", [
    "x += 1", "x[:] = 100", "x[1] = 5", "x[1:] = np.ones(2)", "x[:] = onp.ones(3)",
    "np.add(x, 1, out=x)", "b = x[0:2]; b += 1"])
def test_a_changed_input_is_an_error_that_names_it(tmp_path, engine, change):
    assert run(f"""
with autograd.record():
    y = x * x
{change}
print(refused(y, 'multiply', 'input 0 (lhs)', '(3,)', 'changed'), x.grad.asnumpy().tolist())
""", tmp_path, engine) == "True [0.0, 0.0, 0.0]\n"


@ENGINES
def test_a_changed_output_is_an_error(tmp_path, engine):
    assert run("""
with autograd.record():
    y = np.exp(x)
y[:] = 0
print(refused(y, 'exp', 'output 0'))
""", tmp_path, engine) == "True\n"


@ENGINES
def test_what_an_operator_writes_over_itself_is_an_error(tmp_path, engine):
    assert run("""
c = np.array([2., 2., 2.])
with autograd.record():
    np.multiply(x, c, out=c)
print(refused(c, 'multiply', 'input 1 (rhs)'))
""", tmp_path, engine) == "True\n"


@ENGINES
def test_what_no_gradient_needs_may_change(tmp_path, engine):
    """A sum needs no values, nor does what was used before it changed and used again after."""
    assert run("""
with autograd.record():
    y = (x + 1) * 3
x += 1
y.backward()
print(x.grad.asnumpy().tolist())
for _ in range(3):
    with autograd.record():
        y = x * x
    y.backward()
    x -= 0.5 * x.grad
    print(x.asnumpy().tolist())
""", tmp_path, engine) == ("[3.0, 3.0, 3.0]\n" + 3 * "[0.0, 0.0, 0.0]\n")


@ENGINES
def test_what_only_says_a_shape_or_belongs_to_no_wanted_gradient_may_change(tmp_path, engine):
    assert run("""
with autograd.record():
    y = x + x
x += 1
y.backward()
print(x.grad.asnumpy().tolist())
data, weight = np.ones((2, 3)), np.ones((1, 3))
data.attach_grad()
with autograd.record():
    y = np.dot(data, weight.T) * np.array([2.]) + mx.npx.fully_connected(
        data, weight, num_hidden=1, no_bias=True)
data[:] = 7
y.backward()
print(data.grad.asnumpy().tolist())
with autograd.record():
    y = mx.npx.fully_connected(data, weight, num_hidden=1, no_bias=True)
weight += 1
print(refused(y, 'FullyConnected', 'input 1 (weight)'))
""", tmp_path, engine) == "[2.0, 2.0, 2.0]\n[[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]\nTrue\n"


@ENGINES
def test_waits_copies_and_reads_change_nothing(tmp_path, engine):
    assert run("""
with autograd.record():
    y = np.exp(x * x)
x.asnumpy(); y.wait_to_read(); mx.nd.waitall(); x.copy(); x.astype('int32'); float(x[0])
x.tolist(); repr(y)
from mxnet.base import _LIB
_LIB.MXNDArrayWaitToWrite(x.handle)
z = np.sum(x)
y.backward()
print(onp.allclose(x.grad.asnumpy(), 2 * x.asnumpy() * onp.exp(x.asnumpy() ** 2)))
""", tmp_path, engine) == "True\n"


@ENGINES
def test_bulks_are_counted_as_single_writes_are(tmp_path, engine):
    assert run("""
for size in (2, 3, 5, 50):
    x[:] = 1
    with mx.engine.bulk(size), autograd.record():
        y = x
        for _ in range(4):
            y = y * x
    with mx.engine.bulk(size):
        y.backward()
    assert (x.grad.asnumpy() == 5).all(), x.grad
    with mx.engine.bulk(size):
        with autograd.record():
            y = x * x
        x += 1
        x -= 1
    assert refused(y, 'multiply')
print('good')
""", tmp_path, engine) == "good\n"


def test_layers_that_write_their_states_train(tmp_path):
    assert run("""
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(4), gluon.nn.BatchNorm(), gluon.nn.Dropout(0.5), gluon.nn.Dense(1))
net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'adam')
for _ in range(3):
    with autograd.record():
        loss = gluon.loss.L2Loss()(net(np.ones((5, 3))), np.ones((5, 1)))
    autograd.backward(loss, retain_graph=True)
    loss.backward()
    trainer.step(5)
print('trained')
""", tmp_path) == "trained\n"


def test_weights_that_a_step_has_changed_are_an_error(tmp_path):
    assert run("""
net = gluon.nn.Dense(1)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), 'sgd')
x = np.ones((2, 3))
x.attach_grad()
with autograd.record():
    first = net(x)
first.backward(retain_graph=True)
trainer.step(1)
print(refused(first, 'FullyConnected', 'input 1 (weight)'))
""", tmp_path) == "True\n"


def test_a_program_may_ask_for_the_changed_values(tmp_path):
    assert run("""
with autograd.record():
    y = x * x
x[:] = 100
y.backward()
print(x.grad.asnumpy().tolist())
""", tmp_path, MXNET_AUTOGRAD_CHECK_VALUES="0") == "[200.0, 200.0, 200.0]\n"


def test_an_ill_formed_switch_is_told(tmp_path):
    assert run("""
with autograd.record():
    y = x * x
x[:] = 100
print(refused(y, 'MXNET_AUTOGRAD_CHECK_VALUES', 'never'))
""", tmp_path, MXNET_AUTOGRAD_CHECK_VALUES="never") == "True\n"
