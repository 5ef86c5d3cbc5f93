# SPDX-License-Identifier: Apache-2.0
"""Gradients of arrays in the middle of a graph, and of arrays that hold gradients."""
import pytest

from python_program import run_python

PRELUDE = """
import numpy as onp
import mxnet as mx
from mxnet import autograd, nd, np
from mxnet.base import MXNetError

def text(*arrays):
    print(*[a if a is None else a.asnumpy().tolist() for a in arrays])

x = np.array([1., 2., 3.])
x.attach_grad()
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


def run(source, directory, engine="", **keywords):
    done = run_python(PRELUDE + source, directory, MXNET_ENGINE_TYPE=engine, **keywords)
    assert (done.code, done.err) == (0, "")
    return done.out


@ENGINES
def test_an_array_of_a_graph_gets_a_gradient_and_stays_in_the_graph(tmp_path, engine):
    assert run("""
with autograd.record():
    y = x * 2
    y.attach_grad()
    z = y * y
z.backward()
text(x.grad, y.grad)
with autograd.record():
    u = x * x
    u.attach_grad()
    z = u * x
z.backward()
text(x.grad, u.grad)
""", tmp_path, engine) == ("[8.0, 16.0, 24.0] [4.0, 8.0, 12.0]\n"
                           "[3.0, 12.0, 27.0] [1.0, 2.0, 3.0]\n")


@ENGINES
def test_a_gradient_may_be_attached_when_all_is_recorded(tmp_path, engine):
    assert run("""
y = np.array([2., 2., 2.])
y.attach_grad()
with autograd.record():
    u = x * y
    z = u * x
u.attach_grad()
z.attach_grad('add')
head = np.array([10., 10., 10.])
z.backward(head, retain_graph=True)
text(u.grad, z.grad, x.grad, y.grad)
z.backward(head, retain_graph=True)
text(u.grad, z.grad)
u.drop_grad()
z.backward(head)
text(u.grad, z.grad, x.grad)
""", tmp_path, engine) == (
        "[10.0, 20.0, 30.0] [10.0, 10.0, 10.0] [40.0, 80.0, 120.0] [10.0, 40.0, 90.0]\n"
        "[10.0, 20.0, 30.0] [20.0, 20.0, 20.0]\n"
        "None [30.0, 30.0, 30.0] [40.0, 80.0, 120.0]\n")


@ENGINES
def test_when_its_graph_is_gone_the_array_is_a_variable(tmp_path, engine):
    assert run("""
with autograd.record():
    y = x * 2
    y.attach_grad()
    z = y * y
z.backward()
with autograd.record():
    w = y * 5
w.backward()
text(y.grad, x.grad)
""", tmp_path, engine) == "[5.0, 5.0, 5.0] [8.0, 16.0, 24.0]\n"


@ENGINES
def test_gradients_with_respect_to_arrays_of_a_graph(tmp_path, engine):
    assert run("""
with autograd.record():
    y = np.exp(x)
    a, b = np.split(y * 2, [1])
    a.attach_grad()
    b.attach_grad()
    y.attach_grad()
    z = (a * b).sum() + y.sum()
found = autograd.grad(z, [x, b, y, a], retain_graph=True)
e, parts = onp.exp([1., 2., 3.]), 2 * onp.exp([1., 2., 3.])
slope = 1 + 2 * onp.array([parts[1] + parts[2], parts[0], parts[0]])
for item, right in zip(found, (slope * e, [parts[0]] * 2, slope, [parts[1] + parts[2]])):
    onp.testing.assert_allclose(item.asnumpy(), right, rtol=1e-6)
text(a.grad)
with autograd.record():
    try:
        autograd.grad(z, [z])
    except MXNetError as error:
        print('does not require gradient' in str(error))
""", tmp_path, engine) == "[0.0]\nTrue\n"


@ENGINES
def test_an_attached_array_behind_nothing_that_has_a_gradient(tmp_path, engine):
    """Neither an operator without gradient nor one whose gradient is zero is asked behind it."""
    assert run("""
with autograd.record():
    v = np.floor(x)
    v.attach_grad()
    z = v * v
z.backward()
text(v.grad, x.grad)
""", tmp_path, engine) == "[2.0, 4.0, 6.0] [0.0, 0.0, 0.0]\n"


def test_nd_arrays_begin_a_new_graph_as_in_1_9_1(tmp_path):
    assert run("""
x = nd.array([1, 2, 3])
x.attach_grad()
with autograd.record():
    y = x * 2
    y.attach_grad()
    z = y * y
z.backward()
text(x.grad, y.grad)
""", tmp_path) == "[0.0, 0.0, 0.0] [4.0, 8.0, 12.0]\n"


@ENGINES
def test_a_gradient_that_is_written_while_recording_ends_with_its_variable(tmp_path, engine):
    """The gradient's array must not keep the graph that keeps it."""
    assert run("""
def resident():
    return int(open('/proc/self/statm').read().split()[1]) * 4096
def turns(count):
    for _ in range(count):
        x = np.ones(8192)
        x.attach_grad()
        with autograd.record():
            y = x * 2
            x.grad[:] = y
    nd.waitall()
turns(200)
before = resident()
turns(1500)  # 100 MB if they stay
print(resident() - before < 16 << 20)
""", tmp_path, engine) == "True\n"
