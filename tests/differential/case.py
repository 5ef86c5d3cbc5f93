# SPDX-License-Identifier: Apache-2.0
"""One program with what it begins with, and how it is shown."""
import dataclasses
import re
from typing import Any, Dict

import numpy

import draw
import programs


@dataclasses.dataclass
class Case:
    """`name` is what intended.py speaks of; `answers` are the two results of the last comparison."""

    name: str
    code: str
    inputs: Dict[str, Any]
    smooth: bool = False
    heads: Any = None  # of a gradient: how it is asked for
    answers: Any = None

    def changed(self, **parts):
        return dataclasses.replace(self, answers=None, **parts)

    @property
    def types(self):
        """The types of the arrays it begins with."""
        return {value.dtype.name for value in self.inputs.values() if isinstance(value, numpy.ndarray)}


def make(seed, number):
    """The program of this number; the same on every machine."""
    drawn = draw.Draw(seed, number)
    name, code, *heads = programs.drawn(drawn)
    smooth = name in programs.SMOOTH or name.startswith("linalg.")
    return Case(name, code, drawn.inputs, smooth, *heads)


def _item(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(_item, value)) + "]"
    return repr(value)


def shown_input(value):
    if isinstance(value, numpy.generic):
        return f"np.{value.dtype.name.replace('bool', 'bool_')}({value.item()!r})"
    if not isinstance(value, numpy.ndarray):
        return repr(value)
    if not value.size:
        return f"np.zeros({value.shape}, dtype='{value.dtype}')"
    # The shortest digits that are the number in its type.
    listed = value.tolist() if value.dtype.kind != "f" else \
        numpy.array([float(str(item)) for item in value.reshape(-1)]).reshape(value.shape).tolist()
    return f"np.array({_item(listed)}, dtype='{value.dtype}')"


def text(case):
    """The program as it can be typed after `from mxnet import autograd, np` and `from numpy import inf, nan`."""
    code = re.sub(r"\bpart\((\w+)\)", r"\1", case.code)
    lines = [f"{name} = {'o' * (name == 'o')}{shown_input(value)}" for name, value in case.inputs.items()
             if re.search(rf"\b{name}\b", code)]
    code = code if case.heads is None else case.heads.text(case)
    return "\n".join([*lines, code.replace("rec()", "autograd.record()").replace("grad.backward(", "autograd.backward(")])


def shown_answer(answer):
    if isinstance(answer, Exception):
        return f"{type(answer).__name__}: {str(answer).splitlines()[0] if str(answer) else ''}"[:300]
    return "; ".join(f"{name} = {_short(value)}" for name, value in sorted(answer.items()))


def _short(value):
    shown = repr(value) if not isinstance(value, numpy.ndarray) else \
        f"{value.tolist()}, {value.dtype}, shape {value.shape}"
    return shown if len(shown) < 300 else shown[:300] + "..."
