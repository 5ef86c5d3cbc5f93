# SPDX-License-Identifier: Apache-2.0
"""Programs of operators, methods, keys, views, `out=` and in-place operators. A family is a function of a Draw that
gives a name (what intended.txt speaks of), the text, and whether the result is smooth in its arguments."""
import numpy

import gradients
import keys
import templates

SMOOTH = {"sum", "prod", "mean", "std", "var", "nansum", "nanprod", "nanmean", "nanstd", "nanvar", "cumsum", "cumprod",
          "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod", "average", "dot", "matmul", "inner", "vdot",
          "tensordot", "einsum", "kron", "cross", "vecdot", "matvec", "vecmat", "corrcoef", "cov", "trace", "trapezoid",
          "trapz", "diff", "gradient", "convolve", "correlate", "interp", "percentile", "quantile", "median",
          "nanmedian", "nanpercentile", "nanquantile", "sin", "cos", "tan", "sinc", "exp", "exp2", "expm1", "power",
          "pow", "float_power", "logaddexp", "logaddexp2", "log", "log2", "log10", "log1p", "arccosh", "acosh",
          "arctanh", "atanh", "sinh", "cosh", "poly", "polyval", "polyfit", "polyint", "polydiv", "polymul", "roots",
          "ediff1d", "operator **", "operator @", "vander", "unwrap", "arccos", "acos", "arcsin", "asin", "logspace",
          "geomspace", "linspace", "add", "subtract", "hypot", "method", "histogram", "method mean", "method sum",
          "method std", "method var", "method prod", "method cumsum", "method trace", "method dot", "pad", "i0"}
FUNCTIONS = templates.read()
_NAMES = sorted(FUNCTIONS)

SYMBOLS = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "@")
METHODS = {
    "all any max min sum prod mean std var argmax argmin": "r = a.{f}(<<axis={axis_none}>>)",
    "sum max min mean prod": "r = a.{f}(axis={axes}, keepdims={flag})",
    "cumsum": "r = a.cumsum(<<axis={axis_none}>>)",
    "argsort": "r = np.ravel(a)[a.argsort(axis=None)]",
    "astype": "r = {a:real plain} and None or a.astype({dtype})",
    "copy flatten ravel nonzero tolist transpose squeeze": "r = a.{f}()",
    "T ndim shape size dtype itemsize nbytes": "r = a.{f}",
    "clip": "r = a.clip({d.number(small=True)}, {d.number(small=True)})",
    "reshape": "r = a.reshape({d.factors(a.size)})",
    "repeat": "r = a.repeat({d.whole(0, 3)}<<, axis={axis_none}>>)",
    "swapaxes": "r = a.swapaxes({axis}, {axis})",
    "take": "r = a.take({[d.whole(0, 2) for _ in range(2)]}, mode='clip')",
    "diagonal trace": "r = a.{f}(<<{n}>>)",
    "dot": "r = a.dot({b=a:any plain})",
    "round": "r = a.round(<<{n}>>)",
    "item": "r = a.item(<<0>>)",
    "__len__ __bool__ __int__ __float__ __neg__ __pos__ __abs__ __invert__": "r = a.{f}()",
    "__iter__": "r = [row for row in a]",
    "__contains__": "r = {d.whole(0, 3)} in a",
}
NOT_CALLED = {"sort": "sorts a copy, as in 2.0: np.sort is drawn", "device": "where an array is", "to_device": "the same"}
_METHODS = [(name, text) for names, text in METHODS.items() for name in names.split()]
_METHODS = [(name, text.replace("{a:real plain} and None or ", "")) for name, text in _METHODS]


def function(draw):
    name = draw.pick(_NAMES)
    return name, templates.fill(draw, draw.pick(FUNCTIONS[name]), name)


def operator(draw):
    symbol = draw.pick(SYMBOLS)
    kinds = "any" if draw.chance(0.9) or symbol not in "&|^" else "bits"
    if symbol == "@":
        draw.array("a", kinds, 1, 4, plain=True)
        shape = draw.inputs["a"].shape
        draw.array("b", kinds, shape=draw.pick((shape[-1:], shape[:-2] + (shape[-1], 2))), plain=True)
    else:
        a = draw.inputs[draw.array("a", kinds)]
        draw.fitting("b", a.shape, kinds)
    return f"operator {symbol}", f"r = a {symbol} b"


def operator_number(draw):
    symbol = draw.pick(SYMBOLS[:-1])
    a = draw.array("a", "bits" if symbol in "&|^" and draw.chance(0.7) else "any")
    number = draw.keep("n", draw.number())
    pair = (a, number) if draw.chance(0.6) else (number, a)
    return f"operator {symbol} number", f"r = {pair[0]} {symbol} {pair[1]}"


def operator_numpy(draw):
    """A NumPy array, a list or a NumPy number as the other operand."""
    symbol = draw.pick(SYMBOLS[:13])
    a = draw.inputs[draw.array("a", most=2, plain=True)]
    b = draw.values(draw.dtype(), draw.pick((a.shape, a.shape[1:])), plain=True)
    way = draw.random.random()
    if way < 0.4:
        other = draw.keep("o", b)
    elif way < 0.8:
        other = repr(b.tolist())
    else:
        other = draw.keep("o", b.dtype.type(draw.whole(0, 3)))
    return f"operator {symbol} of NumPy", f"r = a {symbol} {other}"


def in_place(draw):
    symbol = draw.pick(SYMBOLS[:7] + ("&", "|", "^"))
    a = draw.inputs[draw.array("a")]
    way = draw.random.random()
    if way < 0.4:
        other = draw.array("b", shape=a.shape[draw.whole(0, a.ndim):])
    elif way < 0.5:
        other = draw.fitting("b", a.shape)
    elif way < 0.6:
        other = "a"
    else:
        other = draw.keep("n", draw.number(small=draw.chance(0.5)))
    return f"operator {symbol}=", f"c = a\na {symbol}= {other}"


def method(draw):
    name, text = draw.pick(_METHODS)
    draw.array("a", plain=name in ("argsort", "sort", "astype", "dot"))
    return f"method {name}", templates.fill(draw, text, name)


def get(draw):
    a = draw.inputs[draw.array("a")]
    return "a[key]", f"r = a[{keys.key(draw, a.shape)}]"


def _value_for(draw, a, key):
    """What is written to a[key], as text; mostly of a shape that fits."""
    try:
        part = eval(f"a[{key}]", {**draw.inputs, "inf": numpy.inf})
    except Exception:  # pylint: disable=broad-except
        part = a
    way = draw.random.random()
    if way < 0.3:
        return repr(draw.number(small=draw.chance(0.7)))
    shape = numpy.shape(part)
    if way < 0.4:
        shape = (1,) * draw.whole(0, 2) + shape
    elif way < 0.6:
        shape = shape[draw.whole(0, len(shape)):]
    elif way < 0.65:
        shape = (2, *shape)
    dtype = a.dtype.name if draw.chance(0.5) else draw.dtype()
    values = draw.values(dtype, shape, plain=a.dtype.name != dtype)
    if way < 0.8:
        return draw.keep("b", values)
    if way < 0.9:
        return f"onp.array({values.tolist()}, dtype={dtype!r}).reshape({shape})".replace("nan", "onp.nan")
    return repr(values.tolist())


def put(draw):
    a = draw.inputs[draw.array("a")]
    key = keys.key(draw, a.shape)
    return "a[key] = value", f"a[{key}] = {_value_for(draw, a, key)}"


def put_operator(draw):
    a = draw.inputs[draw.array("a")]
    key = keys.key(draw, a.shape)
    return "a[key] += number", f"a[{key}] {draw.pick('+-*')}= {draw.number(small=True)}"


def view(draw):
    """Writes through a view, or to the array under it."""
    a = draw.inputs[draw.array("a", least=1)]
    key = keys.contiguous(draw, a.shape) if draw.chance(0.7) else keys.basic(draw, a.shape)
    lines = [f"v = part(a)[{key}]"]
    try:
        shape = numpy.shape(eval(f"a[{key}]", {"a": a}))
    except IndexError:
        shape = ()
    if draw.chance(0.3):
        second = keys.contiguous(draw, shape)
        lines.append(f"w = part(v)[{second}]")
    name = lines[-1][0]
    number = draw.whole(1, 5)
    lines.append(draw.pick((
        f"{name} += {number}", f"{name} *= {number}", f"{name}[...] = {number}", f"{name}[:] = {number}", f"a += {number}",
        f"{name} -= {name}", f"np.add({name}, {number}, out={name})", f"a[...] = {number}", f"{name}[0] = {number}",
        f"{name} **= 2", f"{name} //= 2", f"np.negative(v, out={name})", f"{name}[-1:] = v[:1]", f"a[0] = v",
        f"np.multiply(a, {number}, out=a)")))
    return "view", "\n".join(lines)


def overlap(draw):
    """Reads and writes of one memory in one step: as if everything were read first."""
    a = draw.inputs[draw.array("a", "any", 1, 3)]
    symbol = draw.pick(("+", "-", "*"))
    return "overlap", draw.pick((
        f"a[1:] {symbol}= a[:-1]", f"a[:-1] {symbol}= a[1:]", "a[1:] = a[:-1]", "a[:-1] = a[1:]", "a[::-1] = a",
        f"a[...] = a[::-1]", f"np.add(a[1:], a[:-1], out=a[1:])", f"np.subtract(a[:-1], a[1:], out=a[1:])",
        f"v = part(a)[1:]\nv {symbol}= a[:-1]", f"a {symbol}= a[0]", f"a[0] {symbol}= a[-1]",
        "np.negative(a[1:], out=a[:-1])", f"a[0], a[-1] = a[-1].copy(), a[0].copy()", f"a {symbol}= a",
        "np.cumsum(a, axis=0, out=a)" if a.ndim == 1 and a.dtype.kind == "f" else "a = a + a[:1]"))


WEIGHTS = {function: 52, operator: 12, operator_number: 10, operator_numpy: 3, in_place: 6, method: 6, get: 7, put: 6,
           put_operator: 2, view: 7, overlap: 3, gradients.gradient: 4}
_FAMILIES = [family for family, weight in WEIGHTS.items() for _ in range(weight)]


def drawn(draw):
    """Name and text of the program; its inputs are the Draw's."""
    return draw.pick(_FAMILIES)(draw)
