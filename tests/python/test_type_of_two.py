# SPDX-License-Identifier: Apache-2.0
"""The type and the value of two operands of mx.np: every pair of types against NumPy, whole numbers to
the last digit."""
import itertools
import operator

import numpy as onp
import pytest

from mxnet import MXNetError, _types, np

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = ("bool", *SIGNED, *UNSIGNED)
PAIRS = list(itertools.product((*WHOLE, *FLOATS), repeat=2))
LENGTH = 600  # more than is converted at a time


def type_of_two(a, b):
    """NumPy's type, but whole numbers beside a float take that one's, as in MXNet 2.0."""
    if (a in FLOATS) != (b in FLOATS):
        return a if a in FLOATS else b
    return onp.promote_types(a, b).name


def values_of(dtype, seed):
    """Extremes of a type, and numbers between them."""
    if dtype == "bool":
        return onp.arange(LENGTH) % (2 + seed) == 0
    if dtype in FLOATS:
        return onp.concatenate([[0, -1.5, 2, 3.25, -7, 0.1], onp.linspace(-9, 11, LENGTH - 6)]).astype(dtype)
    limits = onp.iinfo(dtype)
    edges = [limits.min, limits.max, limits.max - 1, limits.max // 2 + 1, 3, 7, 1]
    drawn = onp.random.default_rng(seed).integers(limits.min, limits.max, LENGTH - len(edges), dtype, True)
    return onp.concatenate([onp.roll(onp.array(edges, dtype), seed), drawn])


def same(found, wanted):
    """Equal types and values; whole numbers equal to the last digit."""
    assert found.dtype == wanted.dtype
    if wanted.dtype.kind == "f":
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=4e-3 if wanted.dtype == "float16" else 1e-6)
    else:
        onp.testing.assert_array_equal(found.asnumpy(), wanted)


def as_wanted(function, x, y):
    """What NumPy computes of two arrays in the type that they have together; a float and whole numbers
    are computed as doubles, so that no digit is lost before the result."""
    a, b = x.dtype.name, y.dtype.name
    common = type_of_two(a, b)
    computed = "float64" if (a in FLOATS) != (b in FLOATS) else common
    with onp.errstate(all="ignore"):
        return function(x.astype(computed), y.astype(computed)).astype(common)


@pytest.mark.parametrize("a, b", PAIRS)
def test_arithmetic_of_every_pair_of_types_is_numpy_s(a, b):
    """Sums and products wrap in the type that holds both; nothing passes through another."""
    x, y = values_of(a, 0), values_of(b, 1)
    for function in (operator.add, operator.mul, "maximum", "minimum", "fmax", "fmin"):
        name = function if isinstance(function, str) else function.__name__
        ours = getattr(np, function) if isinstance(function, str) else function
        theirs = getattr(onp, function) if isinstance(function, str) else function
        wanted = as_wanted(theirs, x, y)
        same(ours(np.array(x, dtype=a), np.array(y, dtype=b)), wanted)
        assert wanted.dtype == type_of_two(a, b), name
    if (a, b) != ("bool", "bool"):  # which NumPy refuses or makes int8 of
        for function in (operator.sub, operator.mod, operator.floordiv):
            same(function(np.array(x, dtype=a), np.array(y, dtype=b)), as_wanted(function, x, y))


@pytest.mark.parametrize("a", [*WHOLE, *FLOATS, "bfloat16"])
def test_the_package_and_the_library_find_the_same_type(a):
    """Of every pair, bfloat16 too, in which order they come."""
    for b in (*WHOLE, *FLOATS, "bfloat16"):
        found = str((np.zeros(1, dtype=a) + np.zeros(1, dtype=b)).dtype)
        assert found == str((np.zeros(1, dtype=b) + np.zeros(1, dtype=a)).dtype)
        assert found == _types.common_type((a, b)) == _types.common_type((b, a, b))
        if "bfloat16" in (a, b):
            other = a if b == "bfloat16" else b
            assert found == {"float16": "float32", "float32": "float32", "float64": "float64"}.get(other, "bfloat16")


@pytest.mark.parametrize("a, b", PAIRS)
def test_comparisons_of_every_pair_of_types_are_exact(a, b):
    """Whole numbers are compared as such, int64 with uint64 too; with a float as doubles."""
    x, y = values_of(a, 0), values_of(b, 1)
    both_whole = a in WHOLE and b in WHOLE
    left, right = (x, y) if both_whole else (x.astype("float64"), y.astype("float64"))
    if a in FLOATS and b in FLOATS:
        left, right = x.astype(type_of_two(a, b)), y.astype(type_of_two(a, b))
    for function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        same(function(np.array(x, dtype=a), np.array(y, dtype=b)), function(left, right))
        same(function(np.array(x, dtype=a)[:, None], np.array(y[:5], dtype=b)), function(left[:, None], right[:5]))
    for name in ("logical_and", "logical_or", "logical_xor"):
        same(getattr(np, name)(np.array(x, dtype=a), np.array(y, dtype=b)), getattr(onp, name)(x, y))


@pytest.mark.parametrize("a, b", itertools.product(WHOLE, repeat=2))
def test_bits_of_every_pair_of_whole_types_are_numpy_s(a, b):
    """Where no whole type holds both, as for int64 and uint64, they are refused."""
    x, y = values_of(a, 0), values_of(b, 1)
    for function in (operator.and_, operator.or_, operator.xor):
        if type_of_two(a, b) == "float64":
            with pytest.raises(TypeError, match=f"no whole type holds both {a} and {b}"):
                function(np.array(x, dtype=a), np.array(y, dtype=b))
        else:
            same(function(np.array(x, dtype=a), np.array(y, dtype=b)), function(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_bits_of_floats_are_refused(dtype):
    """Between arrays and with a number on either side, at the call."""
    a, i = np.array([1.5], dtype=dtype), np.array([1], dtype="int32")
    for call in (lambda: a & a, lambda: a & i, lambda: i | a, lambda: a ^ 1, lambda: 1 & a, lambda: i & 1.5,
                 lambda: ~a):
        with pytest.raises(TypeError, match="whole") as caught:
            call()
        assert isinstance(caught.value, MXNetError)


@pytest.mark.parametrize("a, b", itertools.product((*SIGNED, *UNSIGNED), repeat=2))
def test_powers_of_whole_numbers_wrap(a, b):
    """They are products, with all digits."""
    x, y = values_of(a, 0), onp.arange(LENGTH).astype(b) % 23
    if type_of_two(a, b) != "float64":
        same(np.array(x, dtype=a) ** np.array(y, dtype=b), onp.power(x, y))


def test_powers_have_all_digits():
    """3**39 and 7**21 are beyond what a double holds."""
    assert (np.array([3], dtype="int64") ** np.array([39], dtype="int64")).item() == 3 ** 39
    assert (np.array([7], dtype="int64") ** 21).item() == 7 ** 21
    assert (3 ** np.array([39], dtype="int64")).item() == 3 ** 39
    assert (np.array([2 ** 40], dtype="uint64") ** 2).item() == 0


def test_whole_numbers_to_negative_powers_are_refused():
    """As NumPy refuses them; of an array it is found while the operator runs."""
    whole = np.array([2, 3], dtype="int32")
    with pytest.raises(ValueError, match="negative power"):
        whole ** -1
    with pytest.raises(ValueError, match="negative power"):
        (whole ** np.array([1, -1], dtype="int32")).asnumpy()
    with pytest.raises(ValueError, match="negative power"):
        (2 ** np.array([1, -1], dtype="int32")).asnumpy()
    assert (whole ** -1.0).tolist() == [0.5, 1 / 3]


def test_truths_go_to_an_output_of_any_type():
    """0 and 1 of the output's type, as NumPy casts them."""
    for dtype in ("float32", "float16", "int32", "uint8", "bool"):
        out = np.zeros(3, dtype=dtype)
        np.less(np.array([1., 2, 3]), np.array([2., 2, 4]), out=out)
        assert out.dtype == dtype and out.tolist() == [1, 0, 1]
        np.equal(np.array([1., 2, 3]), 2, out=out)
        assert out.tolist() == [0, 1, 0]


# ---- division -----------------------------------------------------------------------------------
DIVIDENDS = [0., -0., 5, -5, 6, 7.5, -7.5, 1e300, 0.3, float("inf"), -float("inf"), float("nan")]
DIVISORS = [0., -0., 2, -2, 0.1, -0.1, 3, 1e-300, float("inf"), -float("inf"), float("nan")]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotient_and_remainder_of_floats_are_numpy_s(dtype):
    """By zero inf and nan; 6 // 0.1 is 59, because 6 % 0.1 is nearly 0.1."""
    with onp.errstate(all="ignore"):
        x, y = onp.meshgrid(onp.array(DIVIDENDS, dtype), onp.array(DIVISORS, dtype))
        ours, theirs = (np.array(x, dtype=dtype), np.array(y, dtype=dtype)), (x, y)
        for function in (operator.floordiv, operator.mod):
            onp.testing.assert_array_equal(function(*ours).asnumpy(), function(*theirs))
            for number in DIVISORS:
                onp.testing.assert_array_equal(function(ours[0], number).asnumpy(), function(x, number))
                onp.testing.assert_array_equal(function(number, ours[1]).asnumpy(), function(number, y))


def test_float16_divides_as_numpy():
    """Half precision is computed wider and rounded once."""
    x = onp.array([5, -5, 0, 7.5], "float16")
    with onp.errstate(all="ignore"):
        for number in (0., 2., -2.):
            onp.testing.assert_array_equal((np.array(x, dtype="float16") // number).asnumpy(), x // number)
            onp.testing.assert_array_equal((np.array(x, dtype="float16") % number).asnumpy(), x % number)


def test_remainders_of_nd_are_0_where_the_divisor_is():
    """As in MXNet 1.9.1."""
    from mxnet import nd
    assert (nd.array([5, -5]) % 0).asnumpy().tolist() == [0, 0]
    assert (nd.array([5, -5]) % nd.array([0, 3])).asnumpy().tolist() == [0, 1]
