# SPDX-License-Identifier: Apache-2.0
"""What is different between two results, as a set of words:

    refused    an error here, none from NumPy        accepted   NumPy's error, none here
    parts      another number of results, or another kind of thing
    shape, type, values
    died       the process ended

Two rules of this package are part of the comparison, because nearly every function has them; everything else that
is meant to differ is in intended.txt. Where NumPy makes float64 of arguments without floats, this package makes
float32; and beside a float array whole numbers, truths and numbers take its type.

Values need not be NumPy's to the last digit: they are compared with NumPy's in the types given, with NumPy's in
float64, and, for what sums and multiplies, with what NumPy gives for arguments changed by the last digit.
"""
import numpy

import worlds

DIGITS = {"float16": 2e-3, "float32": 4e-6, "float64": 1e-11}
STEPS = 6


def _is_number(value):
    return isinstance(value, (numpy.ndarray, numpy.generic, bool, int, float))


def _leaves(value, path=""):
    if isinstance(value, list):
        yield f"{path}[{len(value)}]", len(value)
        for at, item in enumerate(value):
            yield from _leaves(item, f"{path}[{at}]")
    else:
        yield path, value


def flat(result):
    """Variables, and what lists hold, as pairs of place and value."""
    return [leaf for name in sorted(result) for leaf in _leaves(result[name], name)]


def _float_arguments(case):
    kinds = [value.dtype.name for value in case.inputs.values()
             if isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.kind == "f"]
    return max(kinds, key=lambda name: numpy.dtype(name).itemsize) if kinds else None


def _type_is_right(mine, wanted, case):
    if mine == wanted:
        return True
    if mine.kind != "f" or wanted.kind != "f" or "dtype" in case.code:
        return False
    widest = _float_arguments(case)
    if widest == "float16" and wanted != numpy.float16:
        return mine.name in ("float16", "float32")
    return mine.name == (widest or "float32")


def _close(mine, wanted, dtype):
    """Where two arrays agree; NaN is NaN, and what overflows in the narrow type may be its end."""
    tolerance = DIGITS.get(dtype, 0)
    with numpy.errstate(all="ignore"):
        same = (mine == wanted) | ((mine != mine) & (wanted != wanted))
        if not tolerance:
            return same
        near = numpy.abs(mine.astype("float64") - wanted.astype("float64"))
        return same | (near <= tolerance * numpy.abs(wanted.astype("float64")) + float(numpy.finfo(dtype).tiny))


def _cast(value, dtype):
    with numpy.errstate(all="ignore"):
        return numpy.asarray(value).astype(dtype)


def _other_inputs(case):
    """Arguments that NumPy may be asked with instead, each a pair of these and how far it may be away."""
    def turned(change):
        return {name: change(value) if isinstance(value, (numpy.ndarray, numpy.generic)) else value
                for name, value in case.inputs.items()}

    widest = _float_arguments(case) or "float32"
    yield turned(lambda value: value.astype("float64") if value.dtype.kind == "f" else value)
    yield turned(lambda value: value.astype("float64") if value.dtype.kind in "fiu" else value)
    with numpy.errstate(all="ignore"):
        yield turned(lambda value: value.astype(widest))
        yield turned(lambda value: value.astype(widest).astype("float64"))


def _nudged(case, random):
    def nudge(value):
        if value.dtype.kind != "f":
            return value
        signs = random.choice([-2.0, -1.0, 0.0], value.shape)  # never beyond the end of the type
        with numpy.errstate(all="ignore"):
            return value + (signs * numpy.finfo(value.dtype).eps * value).astype(value.dtype)
    return {name: nudge(value) if isinstance(value, numpy.ndarray) else value for name, value in case.inputs.items()}


def _accepted_otherwise(case, place, mine, wrong):
    """Whether each element that is wrong is what NumPy gives for one of the other arguments."""
    def answer(inputs):
        found = worlds.theirs(case.code, inputs)
        if isinstance(found, Exception):
            return None
        value = dict(flat(found)).get(place)
        return numpy.asarray(value) if _is_number(value) and numpy.shape(value) == mine.shape else None

    for inputs in _other_inputs(case):
        value = answer(inputs)
        if value is not None:
            wrong = wrong & ~_close(mine, _cast(value, mine.dtype), mine.dtype.name)
            if not wrong.any():
                return True
    if not case.smooth or mine.dtype.kind != "f":
        return False
    random = numpy.random.RandomState(1)
    answers = [value for value in (answer(_nudged(case, random)) for _ in range(STEPS)) if value is not None]
    if not answers:
        return False
    with numpy.errstate(all="ignore"):
        stack = numpy.array([value.astype("float64") for value in answers])
        low, high = stack.min(axis=0), stack.max(axis=0)
        room = 4 * (high - low) + DIGITS[mine.dtype.name] * numpy.abs(high)
        inside = (mine >= low - room) & (mine <= high + room)
    return not (wrong & ~inside).any()


def _compare_values(case, place, mine, wanted):
    cast = _cast(wanted, mine.dtype)
    right = _close(mine, cast, mine.dtype.name)
    if right.all() if hasattr(right, "all") else right:
        return False
    return mine.dtype.kind not in "fc" and wanted.dtype.kind != "f" and not case.smooth \
        or not _accepted_otherwise(case, place, mine, ~right)


def _differences_of_leaf(case, place, mine, wanted):
    if not _is_number(wanted) or not _is_number(mine):
        if _is_number(wanted) != _is_number(mine):
            return {"parts"}
        return set() if str(mine) == str(wanted) else {"parts"}
    if type(mine) is int and type(wanted) is int:
        return set() if mine == wanted else {"values"}
    typed = isinstance(mine, numpy.ndarray) and isinstance(wanted, (numpy.ndarray, numpy.generic))
    mine, wanted = numpy.asarray(mine), numpy.asarray(wanted)
    if wanted.dtype.kind not in "fiub":
        return {"parts"}
    found = set()
    if mine.shape != wanted.shape:
        return {"shape"}
    if typed and not _type_is_right(mine.dtype, wanted.dtype, case):
        found.add("type")
    if mine.size and _compare_values(case, place, mine, wanted):
        found.add("values")
    return found


def differences(case, mine=None, without=()):
    """The set of words; empty if the two worlds agree. Variables of the names `without` are not looked at."""
    mine = worlds.ours(case.code, case.inputs) if mine is None else mine
    wanted = worlds.theirs(case.code, case.inputs)
    case.answers = mine, wanted
    if isinstance(mine, Exception) or isinstance(wanted, Exception):
        if isinstance(mine, Exception) and isinstance(wanted, Exception):
            return set()
        return {"refused"} if isinstance(mine, Exception) else {"accepted"}
    first, second = ([leaf for leaf in flat(answer) if leaf[0] not in without] for answer in (mine, wanted))
    if [place for place, _ in first] != [place for place, _ in second]:
        return {"parts"}
    found = set()
    for (place, one), (_, other) in zip(first, second):
        found |= _differences_of_leaf(case, place, one, other)
    return found
