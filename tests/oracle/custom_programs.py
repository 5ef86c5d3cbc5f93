# SPDX-License-Identifier: Apache-2.0
"""Random programs of custom operators on whatever package `mxnet` is found:  custom_programs.py

An operator is used several times in one graph, by others (nested) and in loops, has several results,
states that change and gradients that are written, added or not wanted; graphs are recorded before
others run backward. Writes a line of JSON for each program: {"id", "values": [[type, shape,
numbers...]...]} or {"id", "error"}."""
import builtins
import collections
import json
import random
import sys

import numpy

for _name in ("bool", "float", "int", "object"):  # the original asks NumPy for names it no longer has
    if _name not in vars(numpy):
        setattr(numpy, _name, getattr(builtins, _name))

import mxnet as mx  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = 120
LENGTH = 3  # of every array
Graph = collections.namedtuple("Graph", "type starts fading requests steps heads")


# ---- operators: each keeps what its backward needs -------------------------------------------------
class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = in_data[0].copy()
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.kept * out_grad[0])


class Bend(mx.operator.CustomOp):
    """Keeps its result, and is told how steep it is."""

    def __init__(self, steep):
        super().__init__()
        self.steep = steep

    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = mx.nd.tanh(in_data[0] * self.steep)
        self.assign(out_data[0], req[0], self.kept)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], (1 - self.kept * self.kept) * self.steep * out_grad[0])


class Product(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = [item.copy() for item in in_data]
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], self.kept[1] * out_grad[0])
        self.assign(in_grad[1], req[1], self.kept[0] * out_grad[0])


class Both(mx.operator.CustomOp):
    """Two results: the product and the sum of squares."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = [item.copy() for item in in_data]
        left, right = in_data
        self.assign(out_data[0], req[0], left * right)
        self.assign(out_data[1], req[1], left * left + right * right)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        for which in (0, 1):
            slope = self.kept[1 - which] * out_grad[0] + 2 * self.kept[which] * out_grad[1]
            self.assign(in_grad[which], req[which], slope)


class Fading(mx.operator.CustomOp):
    """Its factor is a state that halves with every forward; backward has the one of its own."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.kept = aux[0].copy()
        self.assign(out_data[0], req[0], in_data[0] * self.kept)
        aux[0][:] = self.kept * 0.5

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], self.kept * out_grad[0])


class Nested(mx.operator.CustomOp):
    """A graph of its own, with other custom operators in it, as often as it is told."""

    def __init__(self, inner, turns):
        super().__init__()
        self.inner, self.turns = inner, turns

    def forward(self, is_train, req, in_data, out_data, aux):
        self.start = in_data[0].copy()
        self.start.attach_grad()
        with mx.autograd.record():
            self.end = self.start
            for _ in range(self.turns):
                self.end = mx.nd.Custom(self.end, op_type=self.inner)
            self.end = self.end * 1
        self.assign(out_data[0], req[0], self.end)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.end.backward(out_grad[0], retain_graph=True)
        self.assign(in_grad[0], req[0], self.start.grad)


class Cube(mx.autograd.Function):
    def forward(self, x):
        self.kept = x.copy()
        return x * x * x

    def backward(self, dy):
        return 3 * self.kept * self.kept * dy


def register(name, make, arguments=("data",), results=("output",), states=()):
    class Properties(mx.operator.CustomOpProp):
        def __init__(self, **told):
            super().__init__(need_top_grad=True)
            self.told = {key: float(value) for key, value in told.items()}

        def list_arguments(self):
            return list(arguments)

        def list_outputs(self):
            return list(results)

        def list_auxiliary_states(self):
            return list(states)

        def infer_shape(self, in_shape):
            return in_shape, [in_shape[0]] * len(results), [in_shape[0]] * len(states)

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return make(**self.told)

    mx.operator.register(name)(Properties)


register("Square", Square)
register("Bend", Bend)
register("Gentle", lambda: Bend(0.5))
register("Product", Product, ("left", "right"))
register("Both", Both, ("left", "right"), ("product", "squares"))
register("Fading", Fading, states=("factor",))
register("Twice", lambda: Nested("Gentle", 2))
register("Loop", lambda turns: Nested("Twice", int(turns)))  # nested in what is nested
register("Powers", lambda: Nested("Square", 2))


# ---- programs --------------------------------------------------------------------------------------
# Name: how many arrays it takes, and how it is called with them and the graph's changing state.
def custom(name, **told):
    return lambda fading, *items: mx.nd.Custom(*items, op_type=name, **told)


STEPS = {
    "square": (1, custom("Square")), "powers": (1, custom("Powers")),
    "bend": (1, custom("Bend", steep=1.5)), "slight": (1, custom("Bend", steep=0.25)),
    "product": (2, custom("Product")), "both": (2, custom("Both")), "twice": (1, custom("Twice")),
    "loop": (1, custom("Loop", turns=2)), "cube": (1, lambda fading, item: Cube()(item * 1)),
    "fading": (1, lambda fading, item: mx.nd.Custom(item, fading, op_type="Fading")),
    "tanh": (1, lambda fading, item: mx.nd.tanh(item)),
    "add": (2, lambda fading, left, right: left + right),
    "multiply": (2, lambda fading, left, right: left * right),
}
RESULTS = {"both": 2}


def draw_steps(draws, count):
    """Steps, and how many values there are after them. A loop feeds its result back; loops of two
    steps, too. A tanh keeps values small."""
    steps = []
    for _ in range(draws.randint(3, 9)):
        body = [draws.choice(sorted(STEPS)) for _ in range(draws.choice((1, 1, 2)))]
        operands = [[draws.randrange(count) for _ in range(STEPS[name][0])] for name in body]
        for _ in range(draws.choice((1, 1, 1, 3))):
            for name, taken in zip(body, operands):
                steps.append((name, list(taken)))
                count += RESULTS.get(name, 1)
                steps.append(("tanh", [count - 1]))
                count += 1
                taken[0] = count - 1
    return steps, count


def draw_numbers(draws):
    return [round(draws.uniform(-1, 1), 3) for _ in range(LENGTH)]


def reached(steps, variables, wanted):
    """Whether the last value depends on a variable that has a gradient."""
    known = [at in wanted for at in range(variables)]
    for name, operands in steps:
        known += [any(known[at] for at in operands)] * RESULTS.get(name, 1)
    return known[-1]


def draw_graph(draws):
    variables = 3
    steps, count = draw_steps(draws, variables)
    heads = [count - 1] + [draws.randrange(variables, count) for _ in range(draws.choice((0, 0, 1)))]
    requests = ["write"] + [draws.choice(("write", "add", "add", "null")) for _ in range(variables - 1)]
    draws.shuffle(requests)
    wanted = [at for at, request in enumerate(requests) if request != "null"]
    if not reached(steps, variables, wanted):
        return draw_graph(draws)
    return Graph(draws.choice(("float32", "float64")), [draw_numbers(draws) for _ in range(variables)],
                 [0.5 + abs(number) for number in draw_numbers(draws)], requests, steps,
                 [(head, draw_numbers(draws)) for head in sorted(set(heads))])


class Recorded:
    """A graph that has run forward."""

    def __init__(self, graph):
        self.graph = graph
        self.variables = [self.array(start) for start in graph.starts]
        self.fading = self.array(graph.fading)
        for variable, request in zip(self.variables, graph.requests):
            variable.attach_grad(request)
        with mx.autograd.record():
            values = list(self.variables)
            for name, operands in graph.steps:
                given = STEPS[name][1](self.fading, *[values[at] for at in operands])
                values += given if isinstance(given, (list, tuple)) else [given]
        self.results = [values[head] for head, _ in graph.heads]

    def array(self, numbers):
        return mx.nd.array(numpy.array(numbers), dtype=self.graph.type)

    def backward(self):
        """The gradients after it, of those that are wanted."""
        heads = [self.array(numbers) for _, numbers in self.graph.heads]
        mx.autograd.backward(self.results, heads, retain_graph=True)
        return [variable.grad.asnumpy() for variable, request in
                zip(self.variables, self.graph.requests) if request != "null"]


def draw_program(seed):
    """The graphs, and in which order they run backward, some of them twice."""
    draws = random.Random(seed)
    graphs = [draw_graph(draws) for _ in range(draws.choice((1, 1, 2)))]
    order = [at for at in range(len(graphs)) for _ in range(draws.choice((1, 2)))]
    draws.shuffle(order)
    return graphs, order


def run(seed):
    """Results, changed states, and the gradients after each backward."""
    graphs, order = draw_program(seed)
    recorded = [Recorded(graph) for graph in graphs]
    values = [item.asnumpy() for one in recorded for item in one.results + [one.fading]]
    for at in order:
        values += recorded[at].backward()
    return values


# ---- what is written down --------------------------------------------------------------------------
def packed(values):
    number = float if values.dtype == "float64" else lambda value: float(str(value))
    return [str(values.dtype), list(values.shape), *[number(value) for value in values.reshape(-1)]]


def main():
    for seed in range(PROGRAMS):
        try:
            line = {"id": seed, "values": [packed(values) for values in run(seed)]}
        except Exception as error:  # pylint: disable=broad-except
            line = {"id": seed, "error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
