# SPDX-License-Identifier: Apache-2.0
"""Makes a program that shows a difference smaller: less text, fewer elements, simpler values and types."""
import ast
import copy

import numpy

TRIES = 600
SIMPLER_TYPES = ("float32", "int32", "int64", "float64")


def _edits(tree):
    """Trees that are smaller by one thing."""
    def edited(path, change):
        fresh = copy.deepcopy(tree)
        node = fresh
        for field, at in path:
            node = getattr(node, field) if at is None else getattr(node, field)[at]
        change(node)
        return fresh

    def replaced(path, value):
        def change(parent):
            field, at = path[-1]
            if at is None:
                setattr(parent, field, copy.deepcopy(value))
            else:
                getattr(parent, field)[at] = copy.deepcopy(value)
        return edited(path[:-1], change)

    def walk(node, path):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                yield from visit(value, [*path, (field, None)])
            elif isinstance(value, list):
                for at, item in enumerate(value):
                    if field in ("body", "keywords", "elts") and (field != "body" or len(value) > 1):
                        yield edited(path, lambda parent, field=field, at=at: getattr(parent, field).pop(at))
                    if isinstance(item, ast.AST):
                        yield from visit(item, [*path, (field, at)])

    def visit(node, path):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") != "part":
            for item in node.args[1:2] if getattr(node.func, "attr", "") == "where" else node.args[:2]:
                yield replaced(path, item)
        elif isinstance(node, ast.BinOp):
            yield replaced(path, node.left)
            yield replaced(path, node.right)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield replaced(path, node.value)
        elif isinstance(node, ast.Slice):
            for field in ("lower", "upper", "step"):
                if getattr(node, field) is not None:
                    yield edited(path, lambda item, field=field: setattr(item, field, None))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            for value in (0, 1, 2):
                if abs(node.value) > value or type(node.value) is float:
                    yield replaced(path, ast.Constant(value))
        yield from walk(node, path)

    yield from walk(tree, [])


def _inlined(tree):
    """Trees without one of the variables: its value is where it was read."""
    for at, line in enumerate(tree.body):
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name) and line.targets[0].id != "r":
            class Inliner(ast.NodeTransformer):
                name, value = line.targets[0].id, line.value

                def visit_Name(self, node):
                    is_read = node.id == self.name and isinstance(node.ctx, ast.Load)
                    return copy.deepcopy(self.value) if is_read else node

            fresh = copy.deepcopy(tree)
            del fresh.body[at]
            if fresh.body:
                yield Inliner().visit(fresh)


def _smaller_code(case):
    tree = ast.parse(case.code)
    for tree in (*_edits(tree), *_inlined(tree)):
        try:
            yield case.changed(code=ast.unparse(ast.fix_missing_locations(tree)))
        except Exception:  # pylint: disable=broad-except
            continue


def _cut(case, length, keep):
    """All arrays whose axes have this length, cut there."""
    def cut(value):
        if not isinstance(value, numpy.ndarray) or length not in value.shape:
            return value
        return value[tuple(keep if size == length else slice(None) for size in value.shape)].copy()
    return case.changed(inputs={name: cut(value) for name, value in case.inputs.items()})


def _fewer_elements(case):
    arrays = {name: value for name, value in case.inputs.items() if isinstance(value, numpy.ndarray)}
    for length in sorted({length for value in arrays.values() for length in value.shape if length > 1}, reverse=True):
        yield _cut(case, length, slice(0, length // 2))
        yield _cut(case, length, slice(length // 2, None))
        yield _cut(case, length, slice(0, length - 1))
    ranks = max((value.ndim for value in arrays.values()), default=0)
    if ranks:
        dropped = {name: value[0].copy() if value.ndim == ranks and len(value) else value
                   for name, value in arrays.items()}
        yield case.changed(inputs={**case.inputs, **{name: numpy.asarray(value) for name, value in dropped.items()}})
    for name, value in arrays.items():
        for axis, length in enumerate(value.shape):
            if length > 1:
                for keep in (slice(0, length // 2), slice(length // 2, None), slice(0, 1), slice(1, None)):
                    key = (slice(None),) * axis + (keep,)
                    yield case.changed(inputs={**case.inputs, name: value[key].copy()})
        if value.ndim and len(value):
            yield case.changed(inputs={**case.inputs, name: numpy.asarray(value[0]).copy()})


def _simpler_values(case):
    if case.heads is not None:
        return  # where numbers are equal, differences of results are no derivatives
    for name, value in case.inputs.items():
        if isinstance(value, numpy.generic):
            continue
        if not isinstance(value, numpy.ndarray):
            for number in (0, 1, 2, 0.5):
                if type(value) is not type(number) or abs(value) > abs(number):
                    yield case.changed(inputs={**case.inputs, name: number})
            continue
        for to in SIMPLER_TYPES[:SIMPLER_TYPES.index(value.dtype.name) if value.dtype.name in SIMPLER_TYPES else None]:
            with numpy.errstate(all="ignore"):
                yield case.changed(inputs={**case.inputs, name: value.astype(to)})
        for number in (0, 1):
            if (value != number).any():
                yield case.changed(inputs={**case.inputs, name: numpy.full_like(value, number)})
        for place in range(min(value.size, 12)):
            for number in (0, 1, 2):
                was = value.reshape(-1)[place]
                if was != was or abs(float(was)) > number:
                    fresh = value.copy()
                    fresh.reshape(-1)[place] = number
                    yield case.changed(inputs={**case.inputs, name: fresh})


def shrink(case, shows):
    """The smallest case found of which `shows` still holds."""
    tries = TRIES
    while True:
        for candidate in (*_smaller_code(case), *_fewer_elements(case), *_simpler_values(case)):
            tries -= 1
            if tries < 0:
                return case
            try:
                found = shows(candidate)
            except Exception:  # pylint: disable=broad-except
                continue
            if found:
                case = candidate
                break
        else:
            return case
