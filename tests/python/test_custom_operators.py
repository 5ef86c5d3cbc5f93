# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python: values, gradients, errors, threads, both engines."""
import pytest

from python_program import names, run_python

PRELUDE = """
import threading
import numpy as onp
import mxnet as mx
from mxnet import autograd, nd, profiler


class Scaled(mx.operator.CustomOp):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self.factor + in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor)
        self.assign(in_grad[1], req[1], out_grad[0])


@mx.operator.register('Scaled')
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, factor='3'):
        super().__init__(need_top_grad=True)
        self.factor = float(factor)

    def list_arguments(self):
        return ['data', 'offset']

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0]], [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        assert str(ctx) == 'cpu(0)' and shapes == [[2, 2], [2, 2]], (ctx, shapes)
        return Scaled(self.factor)
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


def run(source, directory, engine="", **keywords):
    return run_python(PRELUDE + source, directory, MXNET_ENGINE_TYPE=engine, **keywords)


@ENGINES
def test_values_and_gradients(tmp_path, engine):
    done = run("""
for kind, call in ((mx.nd, mx.nd.Custom), (mx.np, mx.npx.custom)):
    x, y = kind.ones((2, 2)), kind.full((2, 2), 5.0)
    x.attach_grad()
    y.attach_grad('add')
    for _ in range(2):
        with autograd.record():
            z = call(x, y, op_type='Scaled', factor=4)
            w = call(x, offset=y, op_type='Scaled') if kind is mx.nd else z
        z.backward()
    assert type(z) is type(x)
    assert (z.asnumpy() == 9).all() and (x.grad.asnumpy() == 4).all()
    assert (y.grad.asnumpy() == 2).all()
    if kind is mx.nd:
        assert (w.asnumpy() == 8).all()
print({'Scaled', 'dot'} <= set(mx.operator.get_all_registered_operators()))
""", tmp_path, engine)
    assert (done.code, done.out, done.err) == (0, "True\n", "")


@ENGINES
def test_eight_threads_do_not_lock_up(tmp_path, engine):
    done = run("""
def work(number):
    for _ in range(40):
        x = nd.full((2, 2), number)
        x.attach_grad()
        with autograd.record():
            z = nd.Custom(x, x, op_type='Scaled')
        z.backward()
        assert (z.asnumpy() == 4 * number).all()
        assert (x.grad.asnumpy() == 4).all()
    done.append(number)

done = []
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(done))
""", tmp_path, engine)
    assert (done.code, done.out, done.err) == (0, "[0, 1, 2, 3, 4, 5, 6, 7]\n", "")


@ENGINES
def test_an_exception_inside_reaches_who_waits(tmp_path, engine):
    done = run("""
class Failing(mx.operator.CustomOp):
    def forward(self, *arguments):
        raise ValueError('no result today')

@mx.operator.register('Failing')
class FailingProp(mx.operator.CustomOpProp):
    def create_operator(self, *arguments):
        return Failing()

try:
    nd.Custom(nd.ones((1,)), op_type='Failing').asnumpy()
except mx.MXNetError as error:
    print('raised:', error)
print((nd.Custom(nd.ones((2, 2)), nd.ones((2, 2)), op_type='Scaled') + 1).asnumpy().sum())
""", tmp_path, engine)
    assert done.code == 0
    assert "Custom operator Failing has failed: ValueError: no result today" in done.out
    assert done.out.endswith("20.0\n")
    assert "ValueError: no result today" in done.err


def test_inputs_by_name(tmp_path):
    done = run("""
class Counting(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] - in_data[1])
        aux[0][:] += 1

@mx.operator.register('Counting')
class CountingProp(mx.operator.CustomOpProp):
    def __init__(self, note):  # without a default
        super().__init__()

    def list_arguments(self):
        return ['left', 'right']

    def list_auxiliary_states(self):
        return ['calls']

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [[1]]

    def create_operator(self, ctx, shapes, dtypes):
        return Counting()

left, right, calls = nd.array([5, 7]), nd.array([1, 2]), nd.zeros((1,))
for arguments, named in (((), dict(right=right, calls=calls, left=left)),
                         ((left,), dict(calls=calls, right=right)),
                         ((left, right), dict(calls=calls)), ((left, right, calls), {})):
    out = nd.Custom(*arguments, op_type='Counting', note='x', **named)
    assert out.asnumpy().tolist() == [4, 5]
assert calls.asnumpy().tolist() == [4]
try:
    nd.Custom(left, op_type='Counting', note='x', wrong=right)
except TypeError as error:
    print(error)
""", tmp_path)
    assert "has no input wrong; its inputs are: left, right, calls" in done.out, done.err


def test_wrong_descriptions(tmp_path):
    done = run("""
@mx.operator.register('Short')
class ShortProp(mx.operator.CustomOpProp):
    def infer_shape(self, in_shape):
        return [], [in_shape[0]], []

for call in (lambda: nd.Custom(nd.ones((1,)), op_type='Missing'),
             lambda: nd.Custom(nd.ones((1,)), op_type='Short'),
             lambda: nd.Custom(nd.ones((1,)), op_type='Scaled'),
             lambda: mx.operator.register('x')(int),
             lambda: mx.operator.CustomOp().assign(nd.ones((1,)), 'other', 1)):
    try:
        call()
        nd.waitall()
        print('passed')
    except Exception as error:
        print(type(error).__name__)
""", tmp_path)
    assert done.code == 0
    assert done.out.split() == ["ValueError", "MXNetError", "MXNetError", "TypeError", "ValueError"]
    assert "infer_shape gave [0, 1, 0] inputs, outputs and states; there are [1, 1, 0]" in done.err


@pytest.mark.parametrize("method", ["list_arguments", "list_outputs", "list_auxiliary_states"])
def test_more_names_than_an_operator_has_operands_are_refused(tmp_path, method):
    done = run(f"""
@mx.operator.register('Many')
class ManyProp(mx.operator.CustomOpProp):
    def {method}(self):
        return ['name%d' % number for number in range(5000)]

try:
    nd.Custom(nd.ones((1,)), op_type='Many')
except mx.MXNetError as error:
    print(error)
""", tmp_path)
    assert "has more than 4096 names" in done.out, done.out + done.err


def test_auxiliary_states_and_several_outputs(tmp_path):
    done = run("""
class Split(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + aux[0])
        self.assign(out_data[1], req[1], in_data[0] - aux[0])
        aux[0][:] = 10

@mx.operator.register('Split')
class SplitProp(mx.operator.CustomOpProp):
    def list_outputs(self):
        return ['plus', 'minus']

    def list_auxiliary_states(self):
        return ['state']

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]] * 2, [in_shape[0]]

    def create_operator(self, *arguments):
        return Split()

x, state = nd.array([1, 2]), nd.array([3, 4])
for _ in range(2):
    plus, minus = nd.Custom(x, state, op_type='Split')
    print(plus.asnumpy().tolist(), minus.asnumpy().tolist(), state.asnumpy().tolist())
""", tmp_path)
    assert done.err == ""
    assert done.out.splitlines() == ["[4.0, 6.0] [-2.0, -2.0] [10.0, 10.0]",
                                     "[11.0, 12.0] [-9.0, -8.0] [10.0, 10.0]"]


@ENGINES
def test_profile_has_the_functions_and_what_they_call(tmp_path, engine):
    """As MXNet 1.9.1 records the guide's program, its start-up of random numbers aside."""
    done = run("""
profiler.set_config(profile_all=True, aggregate_stats=True, continuous_dump=False,
                    filename='trace.json')
profiler.set_state('run')
x = nd.ones((2, 2)); x.attach_grad()
with autograd.record():
    w = nd.Custom(x, x, op_type='Scaled')
w.backward()
nd.waitall()
profiler.set_state('stop')
profiler.dump()
""", tmp_path, engine)
    assert (done.code, done.err) == (0, "")
    found = [name for name in names(done.trace(), "Custom Operator")
             if not name.endswith("DeleteVariable")]
    forward = [name for name in found if name.startswith("Scaled::")]
    assert forward[0] == "Scaled::pure_python"
    assert sorted(forward[1:]) == ["Scaled::CopyCPU2CPU", "Scaled::_mul_scalar",
                                   "Scaled::broadcast_add"]
    assert sorted(name for name in found if name.startswith("_backward")) == [
        "_backward_Scaled::CopyCPU2CPU", "_backward_Scaled::CopyCPU2CPU",
        "_backward_Scaled::_mul_scalar", "_backward_Scaled::pure_python"]
    assert "Custom" not in names(done.trace(), "operator")
