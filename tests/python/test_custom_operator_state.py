# SPDX-License-Identifier: Apache-2.0
"""What a custom operator remembers from a forward is there in the backward of that very call.

Random programs use operators that keep their inputs several times in one graph, nested and in loops;
the truth is a reverse pass written down here with NumPy.
"""
import pytest

from python_program import run_python

PRELUDE = """
import random
import numpy as onp
import mxnet as mx
from mxnet import autograd, nd


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = in_data[0].copy()
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.kept * out_grad[0])


class Product(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = [item.copy() for item in in_data]
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], self.kept[1] * out_grad[0])
        self.assign(in_grad[1], req[1], self.kept[0] * out_grad[0])


class Fourth(mx.operator.CustomOp):  # a graph of its own, with custom operators in it
    def forward(self, is_train, req, in_data, out_data, aux):
        self.start = in_data[0].copy()
        self.start.attach_grad()
        with autograd.record():
            half = nd.Custom(self.start, op_type='Square')
            self.end = nd.Custom(half, op_type='Square')
        self.assign(out_data[0], req[0], self.end)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.end.backward(out_grad[0], retain_graph=True)
        self.assign(in_grad[0], req[0], self.start.grad)


def register(name, kind, arguments, only_gradients=False):
    @mx.operator.register(name)
    class Prop(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=True)

        def list_arguments(self):
            return arguments

        def infer_shape(self, in_shape):
            return in_shape, [in_shape[0]], []

        def declare_backward_dependency(self, out_grad, in_data, out_data):
            usual = super().declare_backward_dependency(out_grad, in_data, out_data)
            return list(out_grad) if only_gradients else usual

        def create_operator(self, ctx, shapes, dtypes):
            return kind()


register('Square', Square, ['data'])
register('Alone', Square, ['data'], only_gradients=True)  # has what it kept, and nothing else
register('Product', Product, ['left', 'right'])
register('Fourth', Fourth, ['data'])
"""

PROGRAMS = """
# name: (operator, value, derivatives by each operand)
STEPS = {
    'Square': (lambda a: nd.Custom(a, op_type='Square'), lambda a: a * a, [lambda a: 2 * a]),
    'Alone': (lambda a: nd.Custom(a, op_type='Alone'), lambda a: a * a, [lambda a: 2 * a]),
    'Product': (lambda a, b: nd.Custom(a, b, op_type='Product'), lambda a, b: a * b,
                [lambda a, b: b, lambda a, b: a]),
    'Fourth': (lambda a: nd.Custom(a, op_type='Fourth'), lambda a: a ** 4, [lambda a: 4 * a ** 3]),
    'tanh': (nd.tanh, onp.tanh, [lambda a: 1 - onp.tanh(a) ** 2]),
    'add': (lambda a, b: a + b, lambda a, b: a + b, [lambda a, b: 1.0, lambda a, b: 1.0]),
}


def draw(draws):
    steps, count = [], 2
    for _ in range(draws.randint(3, 14)):
        name = draws.choice(sorted(STEPS))
        operands = [draws.randrange(count) for _ in STEPS[name][2]]
        for _ in range(draws.choice((1, 1, 3))):  # a loop feeds its result back
            steps.append((name, operands))
            steps.append(('tanh', [count]))  # keeps values small
            operands, count = [count + 1] + operands[1:], count + 2
    return steps


def truth(steps, starts, head):
    values = list(starts)
    for name, operands in steps:
        values.append(STEPS[name][1](*[values[i] for i in operands]))
    gradients = [onp.zeros_like(starts[0]) for _ in values]
    gradients[-1] = head
    for at in reversed(range(len(steps))):
        name, operands = steps[at]
        for which, operand in enumerate(operands):
            slope = STEPS[name][2][which](*[values[i] for i in operands])
            gradients[operand] = gradients[operand] + slope * gradients[at + len(starts)]
    return gradients[:len(starts)]


def record(steps, variables):
    with autograd.record():
        values = list(variables)
        for name, operands in steps:
            values.append(STEPS[name][0](*[values[i] for i in operands]))
    return values[-1]


for seed in range(SEEDS):
    draws = random.Random(seed)
    graphs = []
    for _ in range(draws.choice((1, 2))):  # the second is recorded before the first runs backward
        steps = draw(draws)
        starts = [onp.array([draws.uniform(-1, 1) for _ in range(3)]) for _ in range(2)]
        head = onp.array([draws.uniform(-1, 1) for _ in range(3)])
        variables = [nd.array(start, dtype='float64') for start in starts]
        for variable in variables:
            variable.attach_grad()
        graphs.append((steps, starts, head, variables, record(steps, variables)))
    draws.shuffle(graphs)
    for steps, starts, head, variables, result in graphs:
        for _ in range(draws.choice((1, 2))):
            result.backward(nd.array(head, dtype='float64'), retain_graph=True)
            for variable, right in zip(variables, truth(steps, starts, head)):
                onp.testing.assert_allclose(variable.grad.asnumpy(), right, rtol=1e-9, atol=1e-12,
                                            err_msg=f'seed {seed}: {steps}')
print('equal')
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


def run(source, directory, engine):
    done = run_python(PRELUDE + source, directory, MXNET_ENGINE_TYPE=engine)
    assert (done.code, done.err) == (0, "")
    return done.out


@ENGINES
def test_an_operator_used_twice_keeps_both_inputs(tmp_path, engine):
    assert run("""
a, b = nd.array([1, 2]), nd.array([10, 20])
a.attach_grad()
b.attach_grad()
with autograd.record():
    y = nd.Custom(a, op_type='Square') + nd.Custom(b, op_type='Square')
y.backward()
print(a.grad.asnumpy().tolist(), b.grad.asnumpy().tolist())
""", tmp_path, engine) == "[2.0, 4.0] [20.0, 40.0]\n"


@ENGINES
def test_a_loop_keeps_what_each_turn_had(tmp_path, engine):
    assert run("""
x = nd.array([1.5, -1.25])
x.attach_grad()
with autograd.record():
    y = x
    for _ in range(3):
        y = nd.Custom(y, op_type='Square')
y.backward()
print(x.grad.asnumpy().tolist() == (8 * onp.array([1.5, -1.25]) ** 7).tolist())
""", tmp_path, engine) == "True\n"


@ENGINES
def test_operators_end_with_their_graph(tmp_path, engine):
    """One object a call, and none is left when its graph is gone."""
    assert run("""
import gc, weakref
made = []
plain = Square.__init__
def counted(self):
    plain(self)
    made.append(weakref.ref(self))
Square.__init__ = counted
x = nd.array([1.0])
x.attach_grad()
with autograd.record():
    y = nd.Custom(nd.Custom(x, op_type='Square'), op_type='Square')
y.backward()
del y
nd.waitall()
for _ in range(200):
    gc.collect()
    if not any(item() is not None for item in made):
        break
    import time; time.sleep(0.01)
print(len(made), sum(item() is not None for item in made))
""", tmp_path, engine) == "2 0\n"


@ENGINES
def test_random_programs_have_the_right_gradients(tmp_path, engine):
    assert run("SEEDS = 60\n" + PROGRAMS, tmp_path, engine) == "equal\n"
