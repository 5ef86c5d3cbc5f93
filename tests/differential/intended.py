# SPDX-License-Identifier: Apache-2.0
"""The differences from NumPy that are meant: the only place where one is allowed.

An entry has the names of the programs it speaks of, the words of compare.py that it allows, the reason, and the
smallest program that shows it, which a test runs to see that the entry is still needed. `when` narrows it to some
cases. Where `instead` is given, the difference is allowed if NumPy gives our result for that program.
"""
import ast
import dataclasses
import fnmatch
import re
from typing import Any, Callable, Optional

import numpy

import worlds

WHOLE = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


@dataclasses.dataclass
class Entry:
    """`names` are patterns of names of programs, `words` those of compare.py."""

    names: str
    words: str
    reason: str
    example: str
    when: Optional[Callable[[Any], Any]] = None
    instead: Optional[Callable[[Any], Any]] = None
    shown_as: str = ""  # the name of the example, where it is not the first

    def speaks_of(self, case):
        return any(fnmatch.fnmatchcase(case.name, name) for name in self.names.split(", "))


# ---- what `when` asks ----------------------------------------------------------------------------
def says(kind, text):
    """One of the two errors is of this kind and has this text in it."""
    def asked(case):
        return any(type(answer).__name__ == kind and re.search(text, str(answer)) for answer in case.answers)
    return asked


def keeps_its_type(case):
    """The result has the type of the whole numbers it was made of; NumPy's has 64 bits."""
    mine, wanted = (answer["r"] for answer in case.answers)
    return mine.dtype == case.inputs["a"].dtype and mine.dtype.name in WHOLE and wanted.dtype.itemsize == 8


def of_whole(case):
    return case.inputs["a"].dtype.name in WHOLE | {"bool"}


def is_empty(case):
    return case.inputs["a"].size == 0


def is_float(case):
    """A float is among the numbers of the program."""
    constants = [node.value for node in ast.walk(ast.parse(case.code)) if isinstance(node, ast.Constant)]
    return any(type(value) is float for value in [*constants, case.inputs.get("n")]) or bool(re.search(r"\b(inf|nan)\b", case.code))


def has_ties(case):
    """Some extreme of the program is taken of equal numbers."""
    scope = {**worlds.NAMES, "np": numpy, **case.inputs}
    exec(case.code, scope)
    calls = [node for node in ast.walk(ast.parse(case.code)) if isinstance(node, ast.Call)
             and getattr(node.func, "attr", "") in ("max", "min", "maximum", "minimum")]
    for call in calls:
        values = [numpy.asarray(eval(ast.unparse(item), scope)) for item in call.args]
        if call.func.attr in ("max", "min"):
            if numpy.unique(values[0]).size < values[0].size:
                return True
        elif (values[0] == values[1]).any():
            return True
    return False


def both(*questions):
    return lambda case: all(question(case) for question in questions)


def with_number(change):
    """The program with another number."""
    return lambda case: {"inputs": {**case.inputs, **{name: change(case, case.inputs[name])
                                                      for name in ("n", "o") if name in case.inputs}}}


def _wrapped(dtype, number):
    kind = numpy.iinfo(dtype)
    return (number - int(kind.min)) % 2 ** kind.bits + int(kind.min)


class _Wrapping(ast.NodeTransformer):
    """Makes whole numbers of a program fit a type, as a cast does."""

    def __init__(self, dtype):
        self.dtype = dtype

    def _fitted(self, node, number):
        fits = numpy.iinfo(self.dtype).min <= number <= numpy.iinfo(self.dtype).max
        return node if fits else ast.Constant(_wrapped(self.dtype, number))

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
            return self._fitted(node, -node.operand.value)
        return self.generic_visit(node)

    def visit_Constant(self, node):
        return self._fitted(node, node.value) if type(node.value) is int else node

    def visit_Subscript(self, node):  # of a key numbers stay
        return node

    def visit_keyword(self, node):
        return node if node.arg == "axis" else self.generic_visit(node)


def numbers_wrapped(case):
    """The program with its whole numbers cut to the type of `a`, or of dtype=."""
    named = re.search(r"dtype='(\w+)'", case.code)
    dtype = named[1] if named else case.inputs["a"].dtype.name
    code = ast.unparse(ast.fix_missing_locations(_Wrapping(dtype).visit(ast.parse(case.code))))
    inputs = {name: _wrapped(dtype, value) if name == "n" and type(value) is int else value
              for name, value in case.inputs.items()}
    return {"code": code, "inputs": inputs}


def is_written_whole(case):
    """Numbers meet an array of whole numbers, or make one."""
    named = re.search(r"dtype='(\w+)'", case.code)
    return (named[1] if named else case.inputs["a"].dtype.name) in WHOLE


REDUCED = ", ".join(f"{name}, method {name}" for name in ("sum", "prod", "cumsum", "trace"))
REMAINDERS = "operator [*][*]*, operator %*, operator //*, power, pow, mod, remainder, floor_divide, square"

ENTRIES = [
    # ---- types -----------------------------------------------------------------------------------
    Entry(REDUCED, "type",
          "sums and products of whole numbers keep their type, and wrap in it, as in 2.0; NumPy's have 64 bits",
          "a = np.array([100, 100], dtype='int8')\nr = np.sum(a)", keeps_its_type),
    Entry("rint, fabs", "type values", "whole numbers are whole already: they stay what they are, as in 2.0",
          "a = np.array([3], dtype='int32')\nr = np.rint(a)", of_whole,
          lambda case: {"code": case.code.replace("rint", "trunc").replace("fabs", "abs")}),
    Entry("reciprocal", "type values", "one over a whole number is a float, as 1 / a is; NumPy cuts it to 0",
          "a = np.array([2], dtype='int32')\nr = np.reciprocal(a)", of_whole,
          lambda case: {"code": "r = np.divide(1, a).astype('float16' if a.dtype.itemsize == 1 else 'float32')"}),
    Entry("array, asarray, arange", "type", "arrays made of numbers are float32 without dtype=, as in 2.0",
          "r = np.arange(3)", lambda case: not case.inputs and case.answers[0]["r"].dtype == "float32"),
    Entry("operator * of NumPy", "type values", "a NumPy number counts as a Python number: the array's type wins",
          "a = np.array([1], dtype='int8')\no = np.uint16(2)\nr = a + o",
          lambda case: numpy.ndim(case.inputs.get("o", ())) == 0,
          with_number(lambda case, number: int(number) if number.dtype == bool else number.item())),
    Entry("operator * of NumPy", "type", "a NumPy array of float64 takes the type of an array of floats: np.array would not keep it either",
          "a = np.array([1], dtype='float32')\no = np.array([2], dtype='float64')\nr = a + o",
          lambda case: numpy.ndim(case.inputs.get("o", 0)) > 0 and case.inputs["o"].dtype == "float64",
          with_number(lambda case, array: array.astype(case.inputs["a"].dtype))),
    Entry("operator [=!<>]* number, equal, not_equal, less, less_equal, greater, greater_equal", "values", "a number is compared as it is, also with float16 and float32 that it does not fit",
          "a = np.array([-inf], dtype='float16')\nn = -65536\nr = a == n",
          lambda case: case.types & {"float16", "float32"},
          lambda case: {"code": re.sub(r"\ba\b", "a.astype('float64')", case.code)}, shown_as="operator == number"),
    Entry("operator % number, operator // number, mod, remainder, floor_divide", "values",
          "a number meets float16 as a float32; what comes out is cut, not the number",
          "a = np.array([65504], dtype='float16')\nn = 0.1\nr = a % n",
          lambda case: case.types == {"float16"},
          lambda case: {"code": re.sub(r"\ba\b", "a.astype('float32')", case.code) + "\nr = r.astype('float16')"}),
    Entry("logical_*", "values", "a number that a type of floats has not, for it is too small, is 0",
          "a = np.array([1], dtype='float32')\nr = np.logical_and(a, 1e-300)", lambda case: "1e-300" in case.code,
          lambda case: {"code": case.code.replace("1e-300", "0.0")}),
    Entry(REMAINDERS, "type", "powers, quotients and remainders of truths are truths; NumPy's are int8",
          "b = np.array([True], dtype='bool')\nr = b ** b", lambda case: case.types == {"bool"}, shown_as="operator **"),
    Entry("operator [*][*], operator [*][*] of NumPy", "type values", "a square has the type of a power; of two arrays of shape () NumPy keeps the first one's",
          "a = np.array(3, dtype='int32')\nb = np.array(2, dtype='uint32')\nr = a ** b",
          lambda case: any(numpy.ndim(value) == 0 and value == 2 for value in (case.inputs.get("b"), case.inputs.get("o"))),
          lambda case: {"code": re.sub(r"(\w+) \*\* (\w+)", r"np.power(\1, \2)", case.code)}, shown_as="operator **"),
    Entry("append, dot", "type values", "a number takes the type of an array of whole numbers, where it fits",
          "a = np.array([1], dtype='int32')\nr = np.append(a, 2)",
          lambda case: "b" not in case.inputs and of_whole(case),
          lambda case: {"code": re.sub(r"\(a, (.*)\)", r"(a, np.asarray(\1, dtype=a.dtype))", case.code)}),
    Entry("append, where", "refused",
          "a number that does not fit the array's type is an error; it is neither cut nor makes a wider array",
          "a = np.array([1], dtype='uint8')\nr = np.append(a, 300)", says("OverflowError", "out of bounds|too large")),
    Entry("clip, method clip", "values", "a bound that is NaN is none",
          "a = np.array([1], dtype='float32')\nr = np.clip(a, nan, 2)", lambda case: "nan" in case.code,
          lambda case: {"code": case.code.replace("(a, nan", "(a, -inf").replace(", nan)", ", inf)")}),
    Entry("linspace", "values", "spaces of whole numbers are cut towards 0, as in 2.0; NumPy rounds down",
          "r = np.linspace(0, -1, 3, dtype='int32')", None,
          lambda case: {"code": re.sub(r", dtype=('\w+')\)", r").astype(\1)", case.code)}),
    Entry("cumsum, sum, prod, mean", "values", "sums in float16 are made in float32 and cut once",
          "a = np.array([0, 3e38, -3e38], dtype='float32')\nr = np.cumsum(a, dtype='float16')",
          lambda case: "dtype='float16'" in case.code,
          lambda case: {"code": case.code.replace("dtype='float16'", "dtype='float32'") + ".astype('float16')"}),
    Entry("arange", "values", "steps of float16 are computed in more digits; NumPy adds a rounded one",
          "r = np.arange(-2, 1, 0.7, dtype='float16')", lambda case: "dtype='float16'" in case.code,
          lambda case: {"code": case.code.replace("dtype='float16')", "dtype='float64').astype('float16')")}),
    Entry("arange", "values shape", "of a whole type the whole parts of start and step count, as in 2.0; NumPy takes the first two numbers",
          "r = np.arange(-1, 0, 0.7, dtype='int32')", lambda case: re.search(r"dtype='u?int", case.code) and is_float(case)),
    Entry("clip", "type", "bounds are numbers, also True and False",
          "a = np.array([True], dtype='bool')\nr = np.clip(a, False, True)", lambda case: case.types == {"bool"}),
    Entry("operator [*][*]=, operator [*][*] number", "values", "a power of 0.5 is a power: of -inf inf, and no square root",
          "a = np.array([-inf], dtype='float32')\nn = 0.5\na **= n", lambda case: case.inputs.get("n") == 0.5,
          lambda case: {"code": case.code.replace("a **= n", "np.power(a, n, out=a)").replace("a ** n", "np.power(a, n)")},
          shown_as="operator **="),
    # ---- what NumPy refuses ----------------------------------------------------------------------
    Entry("*", "accepted",
          "a whole number beside an array of whole numbers is cut to its type, as in 2.0; NumPy refuses one that does not fit",
          "a = np.array([1], dtype='uint8')\nn = 300\nr = a + n", both(says("OverflowError", ""), is_written_whole),
          numbers_wrapped, shown_as="operator + number"),
    Entry("*", "accepted", "numbers beyond 64 bits meet truths and floats as other numbers do",
          "a = np.array([True], dtype='bool')\nn = 18446744073709551615\nr = a < n",
          both(says("OverflowError", "too large to convert"),
               lambda case: not case.types & WHOLE or "logical" in case.name),
          shown_as="operator < number"),
    Entry("*", "accepted", "floats that a type of whole numbers has not are cast as C casts them; NumPy refuses",
          "a = np.array([1], dtype='int32')\na[:] = 1e300", both(lambda case: says("OverflowError", "")(case) or says("ValueError", "cannot convert float")(case), is_float),
          shown_as="a[key] = value"),
    Entry("operator [*][*] number, operator [*][*]=, power, pow", "accepted", "an exponent may be greater than the array's type goes; NumPy refuses",
          "a = np.array([0], dtype='int8')\nn = 255\nr = a ** n", says("OverflowError", "out of bounds|too large"),
          shown_as="operator ** number"),
    Entry("*", "accepted", "truths are added, subtracted and negated; NumPy refuses",
          "a = np.array([True], dtype='bool')\nr = -a", says("TypeError", "numpy boolean"), shown_as="method __neg__"),
    Entry("sign, method __pos__, positive", "accepted", "signs of truths are truths; NumPy refuses",
          "a = np.array([True], dtype='bool')\nr = np.sign(a)",
          both(says("UFuncTypeError", "did not contain a loop"), lambda case: case.types == {"bool"})),
    Entry("*", "accepted", "quotients, remainders and powers of truths are truths, also in place and in `out`",
          "a = np.array([True], dtype='bool')\na //= a",
          both(says("UFuncTypeError", "from dtype.'int8'. to dtype.'bool'"), lambda case: case.types == {"bool"}),
          shown_as="operator //="),
    Entry("einsum", "accepted", "what an ellipsis stands for is summed if the result has none",
          "a = np.array([[1, 2]], dtype='float32')\nr = np.einsum('...j->j', a)",
          says("ValueError", "output has more dimensions than subscripts")),
    Entry("reshape", "accepted", "beside a 0, -1 is what is left over of the other sizes",
          "a = np.zeros((0, 2), dtype='float32')\nr = np.reshape(a, (0, -1))",
          both(says("ValueError", "cannot reshape array of size 0"), is_empty)),
    Entry("*", "accepted", "no error for the extreme of nothing where there is no place for it",
          "a = np.zeros((0, 0), dtype='int32')\nr = np.min(a, axis=0)",
          both(says("ValueError", "zero-size array to reduction|attempt to get arg.* of an empty"), is_empty),
          shown_as="min"),
    Entry("take", "accepted", "no error for a place outside where nothing is taken",
          "a = np.zeros((1, 0), dtype='float32')\nr = np.take(a, [1], axis=0)",
          both(says("IndexError", "out of bounds"), is_empty)),
    Entry("average", "accepted", "weights whose sum is 0 give NaN or infinity; an error would have to wait for the values",
          "a = np.array([1, 2], dtype='float32')\nb = np.array([1, -1], dtype='float32')\nr = np.average(a, weights=b)",
          says("ZeroDivisionError", "")),
    # ---- gradients -----------------------------------------------------------------------------
    Entry("gradient", "values", "the gradient of an extreme goes to every element that is it, as in the originals",
          "a = np.array(0.5, dtype='float64')\nw = np.array(1.0, dtype='float32')\nr = np.max(np.broadcast_to(a, (2,)))",
          has_ties),
    # ---- what is refused here --------------------------------------------------------------------
    Entry("*", "refused", "`out` has the shape of the result, as in the originals; NumPy repeats the result to more",
          "a = np.array([[1]], dtype='int32')\nb = np.array([[1], [2]], dtype='int32')\nr = np.negative(a, out=b)",
          says("MXNetError", "output 0 has shape .* it must be"), shown_as="negative"),
    Entry("*", "refused", "`out`, and an array changed in place, has the type of the result, as in the originals; NumPy casts",
          "a = np.array([1], dtype='int32')\nb = np.array([1], dtype='int64')\na += b",
          says("MXNetError", "output 0 has type .* it must be"), shown_as="operator +="),
    Entry("method __contains__", "refused", "`x in a` is asked of numbers of a vector only",
          "a = np.array([[1, 2]], dtype='int32')\nr = 1 in a",
          lambda case: says("ValueError", "truth value of an array")(case) or says("TypeError", "not iterable")(case)),
    Entry("*", "refused", "an array of shape () has no axis 0; NumPy's reductions take one",
          "a = np.array(1, dtype='int32')\nr = np.sum(a, axis=0)",
          says("MXNetError", "is out of range for 0 dimensions"), shown_as="sum"),
    Entry("*", "refused", "dtype= takes the types that the original's operator names",
          "r = np.arange(3, dtype='int16')", says("MXNetError", "valid values are.*for dtype"), shown_as="arange"),
    Entry("operator [*][*]*, power, pow", "refused", "a power below 0 of no whole numbers is an error as well",
          "a = np.zeros((0,), dtype='int32')\nn = -2\nr = a ** n", says("MXNetError", "a whole number to a negative power"),
          shown_as="operator ** number"),
]
