# SPDX-License-Identifier: Apache-2.0
"""Programs with gradients. Each is a chain of operators on float arrays; the gradient of it is compared with central
differences of what NumPy computes for the same text in float64."""
import dataclasses
import re

import numpy

import keys
import worlds

STEP = 1e-6
UNARY = ("np.exp({x})", "np.log({x} + 3)", "np.sin({x})", "np.cos({x})", "np.tanh({x})", "np.sqrt({x} + 3)", "np.square({x})",
         "np.abs({x})", "-{x}", "1 / ({x} + 3)", "{x} ** 3", "({x} + 3) ** 0.5", "2 ** {x}", "np.arctan({x})", "np.cbrt({x} + 3)",
         "np.log1p({x} + 3)", "np.expm1({x})", "np.sinh({x})", "np.cosh({x})", "np.arcsinh({x})", "np.maximum({x}, 0.5)",
         "np.minimum(0.5, {x})", "np.clip({x}, -0.5, 0.8)", "{x} * 3 - 1", "{x} / 2", "3 - {x}", "np.reciprocal({x} + 4)",
         "np.where({x} > 0.1, {x}, {x} * 2)", "np.hypot({x}, 2)", "np.arctan2({x}, 2)", "np.degrees({x})", "{x} % 1.7",
         "np.floor({x}) * {x}", "np.sign({x}) * {x}", "{x}.copy()", "np.log2({x} + 3)", "np.power({x} + 3, 1.5)", "+{x}")
BINARY = ("{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / ({y} + 4)", "np.maximum({x}, {y})", "np.minimum({x}, {y})",
          "np.hypot({x} + 3, {y})", "np.arctan2({x} + 3, {y} + 3)", "({x} + 3) ** {y}", "np.where({x} > {y}, {x}, {y})",
          "np.power({x} + 4, {y})")
AXIS = ("{x}.sum(axis={axis})", "np.mean({x}, axis={axis}, keepdims=True)", "np.max({x}, axis={axis})",
        "np.min({x}, axis={axis}, keepdims=True)", "np.prod({x}, axis={axis})", "np.cumsum({x}, axis={axis})",
        "np.sort({x}, axis={axis})", "np.var({x}, axis={axis})", "np.std({x}, axis={axis}, keepdims=True)",
        "np.flip({x}, axis={axis})", "np.concatenate([{x}, {x} * 2], axis={axis})", "np.stack([{x}, {x} + 1], axis={axis})",
        "np.repeat({x}, 2, axis={axis})", "np.roll({x}, 1, axis={axis})", "np.take({x}, [0, 0], axis={axis})",
        "np.expand_dims({x}, {axis})", "np.diff({x}, axis={axis})", "np.split({x}, [1], axis={axis})[-1]",
        "np.linalg.norm({x}, axis={axis})", "np.append({x}, {x}, axis={axis})", "np.delete({x}, 0, axis={axis})")
WHOLE = ("{x}.T", "{x}.reshape(-1)", "np.sum({x})", "np.mean({x})", "np.ravel({x})", "np.tile({x}, 2)", "np.squeeze({x})",
         "{x}[None]", "np.pad({x}, 1)", "np.broadcast_to({x}, (2,) + {x}.shape)", "np.prod({x})", "np.max({x})",
         "np.average({x})", "np.transpose({x})")
MATRIX = ("{x} @ {x}.T", "np.dot({x}, {x}.T)", "np.einsum('ij,kj->ik', {x}, {x})", "np.tensordot({x}, {x}, axes=([0], [0]))",
          "np.inner({x}, {x})", "np.trace({x})", "np.diagonal({x})", "np.tril({x})", "np.rot90({x})", "np.fliplr({x})",
          "np.vstack([{x}, {x}])", "np.outer({x}[0], {x}[-1])", "np.swapaxes({x}, 0, 1)", "np.hstack([{x}, {x}])",
          "np.kron({x}, {x})", "np.vdot({x}, {x})", "np.linalg.norm({x}, 'fro')", "np.linalg.inv({x} @ {x}.T + 3 * np.eye(len({x})))",
          "np.linalg.det({x} @ {x}.T + np.eye(len({x})))")


@dataclasses.dataclass
class Heads:
    """How a gradient is asked for: `request`, and how often `backward` is called with the graph retained."""

    request: str = "write"
    times: int = 1

    def variables(self, case):
        return [name for name in ("a", "b") if name in case.inputs and case.inputs[name].dtype.kind == "f"]

    def text(self, case):
        lines = [f"{name}.attach_grad({self.request!r})" for name in self.variables(case)]
        lines += ["with rec():", *("    " + line for line in case.code.splitlines())]
        for time in range(self.times):
            if "\ns2 = " in case.code:
                lines.append(f"grad.backward([r, s2], [w.astype(r.dtype), s.astype(s2.dtype)], retain_graph={time + 1 < self.times})")
            else:
                lines.append(f"r.backward(w.astype(r.dtype), retain_graph={time + 1 < self.times})")
        return "\n".join([*lines, *(f"g{name} = {name}.grad" for name in self.variables(case))])


def _distinct(draw, dtype, shape, offset=0.371):
    """Numbers that lie apart from one another and from places where functions have corners."""
    count = int(numpy.prod(shape, dtype=int))
    places = list(range(count))
    draw.random.shuffle(places)
    places = numpy.array(places, float)
    values = (places + offset + 0.2 * numpy.sin(5 * places + offset)) / max(count, 1) * 3 - 1.5
    return values.astype(dtype).reshape(shape)


def _statement(draw, known, values):
    x = draw.pick(known[-3:])
    rank = values[x].ndim
    way = draw.random.random()
    if way < 0.3:
        text = draw.pick(UNARY)
    elif way < 0.5:
        text = draw.pick(BINARY).replace("{y}", draw.pick(known))
    elif way < 0.7 and rank:
        text = draw.pick(AXIS).replace("{axis}", str(draw.whole(-rank, rank - 1)))
    elif way < 0.8:
        text = draw.pick(WHOLE)
    elif way < 0.9 and rank == 2:
        text = draw.pick(MATRIX)
    else:
        text = "{x}[" + keys.basic(draw, values[x].shape) + "]"
    return text.replace("{x}", x)


def _evaluated(text, values):
    with numpy.errstate(all="ignore"):
        try:
            found = numpy.asarray(eval(text, {"np": numpy, **values}))
        except Exception:  # pylint: disable=broad-except
            return None
    if found.dtype.kind != "f" or not found.size or found.size > 200 or found.ndim > 5:
        return None
    return found if numpy.isfinite(found).all() and numpy.abs(found).max() < 50 else None


def _depends(lines, name):
    """Whether a variable was made of `a`."""
    made = {"a"}
    for line in lines:
        if made & set(re.findall(r"\w+", line.partition("=")[2])):
            made.add(line.split()[0])
    return name in made


def gradient(draw):
    """Name, text and heads."""
    dtype = draw.pick(("float32", "float64", "float64"))
    shape = tuple(max(length, 1) for length in draw.shape(0, 3) if length < 6)
    known, values, lines = ["a"], {"a": _distinct(draw, dtype, shape)}, []
    if draw.chance(0.4):
        known.append("b")
        other = draw.pick(("float32", "float64", dtype, dtype, "int32"))
        values["b"] = _distinct(draw, other, shape[draw.whole(0, len(shape)):], 0.4177)
    draw.inputs.update(values)
    values = {name: value.astype("float64") if value.dtype.kind == "f" else value for name, value in values.items()}
    for at in range(draw.whole(1, 4)):
        for _ in range(6):
            text = _statement(draw, known, values)
            found = _evaluated(text, values)
            if found is not None:
                name = f"t{at}"
                values[name] = found
                known.append(name)
                lines.append(f"{name} = {text}")
                break
    more = "" if _depends(lines, known[-1]) else " + np.sum(a)"
    lines.append(f"r = {known[-1]} * 1{more}")
    draw.inputs["w"] = draw.values("float32", values[known[-1]].shape, plain=True)
    if draw.chance(0.25):
        also = draw.pick([name for name in known if _depends(lines, name)])
        lines.append(f"s2 = {also} * 2")
        second = values[also]
        draw.inputs["s"] = draw.values("float32", second.shape, plain=True)
    times = draw.pick((1, 1, 1, 2))
    return "gradient", "\n".join(lines), Heads(draw.pick(("write", "write", "add")), times)


# ---- comparison --------------------------------------------------------------------------------
def _ours(case):
    return worlds.ours(case.heads.text(case), case.inputs, {"grad": worlds.mxnet.autograd})


def _total(case, inputs):
    found = worlds.theirs(case.code, inputs)
    if isinstance(found, Exception):
        raise found
    total = numpy.sum(case.inputs["w"].astype("float64") * found["r"])
    if "s2" in found:
        total += numpy.sum(case.inputs["s"].astype("float64") * found["s2"])
    return float(total)


def _slopes(case, name):
    inputs = {key: value.astype("float64") if value.dtype.kind == "f" else value for key, value in case.inputs.items()}
    slopes = numpy.zeros(inputs[name].size)
    for place in range(slopes.size):
        ends = []
        for sign in (1, -1):
            moved = inputs[name].copy()
            moved.reshape(-1)[place] += sign * STEP
            ends.append(_total(case, {**inputs, name: moved}))
        slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
    return slopes.reshape(inputs[name].shape)


def differences(case):
    """As compare.differences, of a gradient."""
    mine = _ours(case)
    variables = case.heads.variables(case)
    times = case.heads.times if case.heads.request == "add" else 1
    wanted = {f"g{name}": times * _slopes(case, name) for name in variables}
    if isinstance(mine, Exception):
        case.answers = mine, wanted
        return {"refused"}
    mine = {key: mine[key] for key in wanted}
    case.answers = mine, wanted
    found = set()
    for name in variables:
        found |= _compare(mine[f"g{name}"], wanted[f"g{name}"], case.inputs[name].dtype, case)
    return found


def _compare(mine, wanted, dtype, case):
    if mine is None:
        return {"parts"}
    if mine.shape != wanted.shape:
        return {"shape"}
    narrow = "float32" in case.types - {"int32"} and any(
        case.inputs[name].dtype == "float32" for name in case.heads.variables(case))
    tolerance = 3e-3 if narrow else 2e-5
    scale = max(1.0, float(numpy.abs(wanted).max(initial=0)))
    with numpy.errstate(all="ignore"):
        right = numpy.abs(mine - wanted) <= tolerance * scale
    found = set() if right.all() else {"values"}
    return found | (set() if mine.dtype == dtype else {"type"})
