# SPDX-License-Identifier: Apache-2.0
"""Runs the lines of package.txt with whatever package `mxnet` is found:  package_run.py

Writes a line of JSON for each: {"id", "values": [[type, shape, numbers...]...]} or {"id", "error"}."""
import builtins
import json
import pathlib
import sys
import zlib

import numpy

for _name in ("bool", "float", "int", "object"):  # the original asks NumPy for names it no longer has
    if _name not in vars(numpy):
        setattr(numpy, _name, getattr(builtins, _name))

TABLE = pathlib.Path(__file__).resolve().parent / "package.txt"
STEPS = 4


def read():
    """Triples of kind, expression and arguments."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    return [tuple(part.strip() for part in line.split(" | ")) for line in lines]


def name_of(line):
    return " | ".join(line)


def _shape(text):
    return tuple(int(length) for length in text.split("x"))


class Run:
    """One line, with the arrays that belong to it."""

    def __init__(self, mx, line):
        self.mx, self.line = mx, line
        self.random = numpy.random.RandomState(zlib.crc32(name_of(line).encode()))
        self.kept = []
        self.scope = {"mx": mx, "nn": mx.gluon.nn, "loss": mx.gluon.loss, "metric": _metrics(mx), "chain": self.chain}

    def chain(self, *blocks):
        net = self.mx.gluon.nn.HybridSequential()
        net.add(*blocks)
        return net

    def draw(self, shape, low=-2.0, high=2.0, dtype="float32"):
        return (self.random.uniform(low, high, shape).round(3) + 0.0004).astype(dtype)

    def array(self, values):
        return self.mx.nd.array(values, dtype=values.dtype)

    def keep(self, *arrays):
        self.kept += [array.asnumpy() for array in arrays]

    # ---- kinds --------------------------------------------------------------------------------
    def layer(self, expression, arguments):
        block = eval(expression, self.scope)
        shape, _, kind = arguments.partition(" ")
        x = self.random.randint(0, 6, _shape(shape)).astype("float32") if kind else self.draw(_shape(shape))
        x = self.array(x)
        block.initialize()
        block(x)
        parameters = list(block.collect_params().values())
        for parameter in parameters:
            positive = "var" in parameter.name
            parameter.set_data(self.array(self.draw(parameter.shape, 0.2 if positive else -1.0, 1.0)))
        if not kind:
            x.attach_grad()
        for _ in range(2):
            with self.mx.autograd.record():
                y = block(x)
            y.backward(self.array(self.draw(y.shape)))
        self.keep(y, block(x))
        self.keep(*[parameter.data() for parameter in parameters if "running" in parameter.name])
        self.keep(*[parameter.grad() for parameter in parameters if parameter.grad_req != "null"])
        if not kind:
            self.keep(x.grad)

    def _label(self, shape, kind):
        if kind == "class":
            return self.random.randint(0, shape[-1], shape[:-1]).astype("float32")
        if kind == "classes":
            return self.random.randint(0, shape[-1], shape[:1]).astype("float32")
        if kind == "class1":
            return self.random.randint(0, shape[1], (shape[0], 1) + shape[2:]).astype("float32")
        return self.draw(shape, 0.05, 0.95) if kind in ("share", "extreme") else self.draw(shape)

    def loss(self, expression, arguments):
        chosen = eval(expression, self.scope)
        shape, kind, *weights = arguments.replace(" by", "").split()
        prediction = self.draw(_shape(shape))
        if kind == "extreme":
            prediction = (prediction * numpy.array([1e-30, 1e4, 1.0, 80.0], "float32")).astype("float32")
        x, label = self.array(prediction), self.array(self._label(_shape(shape), kind))
        more = [self.array(self.draw(_shape(weights[0]), 0.1, 1.0))] if weights else []
        x.attach_grad()
        with self.mx.autograd.record():
            y = chosen(x, label, *more)
        y.backward(self.array(self.draw(y.shape)))
        self.keep(y, x.grad)

    def optimizer(self, expression, dtype):
        chosen = eval(f"mx.optimizer.create({expression})", self.scope)
        update = self.mx.optimizer.get_updater(chosen)
        weights = [self.array(self.draw(shape, dtype=dtype)) for shape in ((2, 3), (5,))]
        for _ in range(STEPS):
            for index, weight in enumerate(weights):
                update(index, self.array(self.draw(weight.shape, dtype=dtype)), weight)
            self.keep(*weights)

    def aggregated(self, expression, dtype):
        """Lists of more weights than one operator updates."""
        update = self.mx.optimizer.get_updater(eval(f"mx.optimizer.create({expression})", self.scope))
        shapes = (2, 3), (5,), (1,), (4, 2), (3,), (2, 2)
        weights = [self.array(self.draw(shape, dtype=dtype)) for shape in shapes]
        for _ in range(STEPS):
            update(list(range(len(weights))),
                   [self.array(self.draw(shape, dtype=dtype)) for shape in shapes], weights)
            self.keep(*weights)

    def metric(self, expression, arguments):
        chosen = eval(expression, self.scope)
        shape, kind = arguments.split()
        for _ in range(2):
            prediction = self.draw(_shape(shape), 0.1, 1.0)
            chosen.update([self.array(self._label(_shape(shape), kind))], [self.array(prediction)])
        self.kept.append(numpy.float64(chosen.get()[1]))


def _metrics(mx):
    return mx.metric if hasattr(mx, "metric") else mx.gluon.metric


def _packed(values):
    values = numpy.asarray(values)
    return [str(values.dtype), list(values.shape), *[float(str(number)) for number in values.reshape(-1)]]


def run(mx, line):
    """The arrays that a line gives."""
    begun = Run(mx, line)
    getattr(begun, line[0])(*line[1:])
    return begun.kept


def main():
    import mxnet as mx  # pylint: disable=import-outside-toplevel
    for line in read():
        try:
            print(json.dumps({"id": name_of(line), "values": [_packed(values) for values in run(mx, line)]}))
        except Exception as error:  # pylint: disable=broad-except
            print(json.dumps({"id": name_of(line), "error": f"{type(error).__name__}: {error}"[:300]}))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
