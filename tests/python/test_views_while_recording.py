# SPDX-License-Identifier: Apache-2.0
"""Random programs that take views and write to them while autograd records: an error, or NumPy's values
and the gradients of central differences."""
import contextlib
import random

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

KEYS = [0, 1, slice(0, 1), slice(None), (slice(None), slice(0, 2)), (0, slice(1, 3)), slice(None, None, 2), None, (1, None), (slice(None), 0),
        (0, [0, 2]), Ellipsis]
VALUES = ["x", "x squared", "constants", "another", "another doubled"]


def draw(chance):
    """A program: views taken before, steps, and which arrays the result is of."""
    names, steps = ["a", "b"], []
    before = [(f"before{i}", chance.choice(KEYS)) for i in range(chance.randint(0, 2))]
    for number in range(chance.randint(1, 6)):
        target = chance.choice(names + [name for name, _ in before])
        step = chance.choice(["view", "set", "set", "add", "add to a part", "new", "fill"])
        steps.append((step, target, chance.choice(KEYS), chance.choice(VALUES), chance.choice(names), f"view{number}"))
        if step == "view":
            names.append(f"view{number}")
    return before, steps, [chance.choice(names + [name for name, _ in before]) for _ in range(2)]


def part(module, array, key):
    """array[key]; of NumPy a copy where ours is none of the same memory, and a view where it has a number."""
    if module is np:
        return array[key]
    key = key if isinstance(key, tuple) else (key,)
    found = array[key if Ellipsis in key else (*key, Ellipsis)]
    return found if found.flags.c_contiguous else found.copy()


def value(module, arrays, name, other, shape):
    x = arrays["x"]
    found = {"x": lambda: x, "x squared": lambda: x * x, "constants": lambda: module.array([3.0, 4.0, 5.0], dtype="float64"),
             "another": lambda: arrays[other], "another doubled": lambda: arrays[other] * 2}[name]()
    with contextlib.suppress(ValueError):
        if onp.broadcast_shapes(found.shape, shape) == tuple(shape):
            return found
    return found.sum()


def run(module, x, program):
    before, steps, used = program
    arrays = {"x": x, "a": module.array([[1, 2, 3], [4, 5, 6]], dtype="float64"), "b": module.array([[0.5] * 3] * 2, dtype="float64")}
    arrays.update({name: part(module, arrays["a"], key) for name, key in before})
    with autograd.record() if module is np else contextlib.nullcontext():
        for step, name, key, source, other, view in steps:
            target = arrays[name]
            inside = target.shape if step in ("add", "new", "view") else onp.empty(target.shape)[key].shape
            if step == "view":
                arrays[view] = part(module, target, key)
            elif step == "set":
                target[key] = value(module, arrays, source, other, inside)
            elif step == "add":
                target += value(module, arrays, source, other, inside)
            elif step == "add to a part":
                target[key] += value(module, arrays, source, other, inside)
            elif step == "new":
                arrays[name] = target * 1.5 + value(module, arrays, source, other, inside)
            else:
                target[key] = 7.0
        return sum(((arrays[name] * arrays[name]).sum() * (at + 1) for at, name in enumerate(used)), (x * x).sum())


@pytest.mark.parametrize("seed", range(4))
def test_views_written_to_are_right_or_an_error(seed):
    x, right, refused = onp.array([1.5, -2.0, 0.7]), 0, 0
    for number in range(150):
        program = draw(random.Random(1000 * seed + number))
        try:
            wanted = run(onp, x.copy(), program)
        except (IndexError, ValueError, TypeError):
            continue  # no program of NumPy's
        slopes = [(run(onp, x + step, program) - run(onp, x - step, program)) / 2e-4 for step in onp.eye(3) * 1e-4]
        ours = np.array(x, dtype="float64")
        ours.attach_grad()
        try:
            loss = run(np, ours, program)
            loss.backward()
        except mx.MXNetError:
            refused += 1
            continue
        onp.testing.assert_allclose(loss.item(), wanted, err_msg=str(program))
        onp.testing.assert_allclose(ours.grad.asnumpy(), slopes, rtol=1e-4, atol=1e-4, err_msg=str(program))
        right += 1
    assert right > 40 and refused > 10
