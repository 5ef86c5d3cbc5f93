# SPDX-License-Identifier: Apache-2.0
"""The table of cases: the lines of cases/*.txt.

    operators | inputs | parameters | options

Several operators make a case each. An input is SHAPE[:DTYPE][@LOW..HIGH] or SHAPE[:DTYPE]=VALUES;
"-" is the shape of a scalar. Without values an input has numbers that differ from one another and
from 0, spread evenly over -2..2 or the range given. Parameters are KEY=VALUE. Options:

    view      inputs begin in the middle of other values; results are also written to such places
    np        NumPy's shapes, where rank and dimension 0 mean what they say (always for _np*)
    train     in training mode
    nograd    no gradients are asked for; grad=0,2: only those of these inputs
    nodiff    differences say nothing about the gradient (a loss layer, a kink)
    by=L      only line L of the original is right
    keeps=I   an input that the original writes, where it should only read
    writes=I  an input that the original should write and does not
    wronggrad the original's gradient is not what differences say, so it is left out
    tol=T     relative tolerance other than 1e-4
    out=0,2   results are written to these inputs
    gives=R   the original fails or dies here: the results, written as inputs are, between them ";"
"""
import collections
import pathlib
import zlib

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
OPTIONS = {"view", "np", "train", "nograd", "grad", "nodiff", "tol", "out", "gives", "wronggrad", "by",
           "keeps", "writes"}


class Input:
    def __init__(self, text):
        head, _, values = text.partition("=")
        head, _, span = head.partition("@")
        shape, _, dtype = head.partition(":")
        self.shape = () if shape == "-" else tuple(int(dim) for dim in shape.split("x"))
        self.dtype = dtype or "float32"
        self.size = int(numpy.prod(self.shape, dtype=int))
        self.values = [float(value) for value in values.split(",")] if values else None
        self.low, self.high = (float(end) for end in (span or self._usual_span()).split(".."))

    def _usual_span(self):
        return {"uint8": "0..255", "bool": "0..2"}.get(
            self.dtype, "-2..2" if self.dtype.startswith("float") else "-9..9")

    def make(self, random):
        if self.values is not None:
            return numpy.array(self.values).reshape(self.shape).astype(self.dtype)
        if self.size == 0:
            return numpy.empty(self.shape, self.dtype)
        places = (random.permutation(self.size) + 0.37) / self.size
        numbers = self.low + (self.high - self.low) * places
        if self.dtype.startswith("float"):
            numbers = numbers.round(4)
        else:
            numbers = numpy.floor(numbers)
        return numbers.astype(self.dtype).reshape(self.shape)


class Case:
    def __init__(self, operator, inputs, parameters, options):
        self.operator, self.family = operator, None
        self.inputs = [Input(text) for text in inputs.split()]
        self.parameters = dict(pair.split("=", 1) for pair in parameters.split())
        self.options = dict(pair.partition("=")[::2] for pair in options.split())
        unknown = set(self.options) - OPTIONS
        assert not unknown, f"{operator}: unknown options {unknown}"
        self.id = "-".join([operator] + ["_".join(part.split()) for part in
                                         (parameters, inputs, options) if part.strip()])
        self.view, self.train = "view" in self.options, "train" in self.options
        self.tolerance = float(self.options.get("tol", 1e-4))

    @property
    def numpy_shapes(self):
        return "np" in self.options or self.operator.startswith("_np") or \
            any(item.size == 0 or item.shape == () for item in self.inputs)

    @property
    def written(self):
        """Inputs that the results are written to."""
        return [int(index) for index in self.options.get("out", "").split(",") if index]

    @property
    def variables(self):
        """Inputs whose gradients are asked for."""
        if "nograd" in self.options:
            return []
        if "grad" in self.options:
            return [int(index) for index in self.options["grad"].split(",")]
        return [index for index, item in enumerate(self.inputs) if item.dtype.startswith("float")]

    def make_inputs(self):
        random = numpy.random.RandomState(zlib.crc32(self.id.encode()))
        return [item.make(random) for item in self.inputs]


def _fields(line):
    fields = [field.strip() for field in line.split("|")]
    assert 2 <= len(fields) <= 4, line
    return fields + [""] * (4 - len(fields))


def read(path):
    """The cases of one table."""
    cases = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            operators, inputs, parameters, options = _fields(line)
            for operator in operators.split():
                cases.append(Case(operator, inputs, parameters, options))
                cases[-1].family = path.stem
    return cases


def load():
    """All cases that the fixture has, in the order of the tables."""
    cases = [case for path in sorted((FOLDER / "cases").glob("*.txt")) for case in read(path)]
    count = collections.Counter(case.id for case in cases)
    assert len(count) == len(cases), f"the same case twice: {count.most_common(3)}"
    return cases
