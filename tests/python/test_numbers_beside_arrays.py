# SPDX-License-Identifier: Apache-2.0
"""Numbers, lists and NumPy's arrays beside arrays: which type they have, and that whole numbers keep all
their digits."""
import operator
import os
import subprocess
import sys

import numpy as onp
import pytest

from mxnet import MXNetError, autograd, nd, np

BIG = 2 ** 53 + 1  # no double
TRUTHS = onp.array([True, False])


def check(found, wanted, dtype=None):
    """The values, and the type: by default NumPy's."""
    wanted = onp.asarray(wanted)
    assert onp.dtype(found.dtype) == (dtype or wanted.dtype)
    assert found.asnumpy().tolist() == wanted.astype(found.dtype).tolist()


# ---- numbers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_whole_numbers_beside_whole_numbers_keep_all_digits(dtype):
    """In arithmetic, comparisons and bits, on both sides; two that are one double are told apart."""
    values = onp.array([3, 2 ** 53, BIG, 2 ** 62], dtype)
    ours = np.array(values, dtype=dtype)
    for number in (2 ** 53, BIG, 2 ** 53 + 2, 1):  # one after the other: the calls are kept
        for function in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.eq,
                         operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.and_,
                         operator.or_, operator.xor):
            with onp.errstate(all="ignore"):
                check(function(ours, number), function(values, onp.array(number, dtype)))
                check(function(number, ours), function(onp.array(number, dtype), values))
        check(np.maximum(ours, number), onp.maximum(values, onp.array(number, dtype)))
        check(np.minimum(number, ours), onp.minimum(values, onp.array(number, dtype)))


def test_numbers_that_only_uint64_holds():
    """They are whole numbers too, and are compared with any type."""
    values = onp.array([0, 2 ** 64 - 1], "uint64")
    check(np.array(values) + 0, values)
    check(np.array(values) - (2 ** 64 - 1), values - onp.uint64(2 ** 64 - 1))
    check(np.array(values) == 2 ** 64 - 1, [False, True])
    check(np.array([-1, 2 ** 63 - 1], dtype="int64") == 2 ** 64 - 1, [False, False])
    check(np.array(values) > -1, [True, True])
    check(np.array(values) < 2 ** 70, [True, True])


def test_numbers_without_a_place_in_the_type_are_compared_as_they_are():
    """A comparison does not cut the number, in no type."""
    for dtype in ("bool", "int8", "uint8", "int16", "uint32"):
        values = onp.array([1, 0, 44 % (2 if dtype == "bool" else 99)]).astype(dtype)
        for number in (2, 7, -1, 300, 2 ** 31, 2 ** 40, -2 ** 40, 0.5):
            for function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
                check(function(np.array(values, dtype=dtype), number), function(values.astype("float64"), number))
                check(function(number, np.array(values, dtype=dtype)), function(number, values.astype("float64")))


def test_numbers_of_the_old_arrays_keep_all_digits_too():
    """mx.nd computes in the array's type, as 1.9.1, but not by way of a double."""
    a = nd.array([1], dtype="int64")
    assert (a + BIG).asnumpy().tolist() == [BIG + 1]
    assert (a * 2 ** 53 + 1 == BIG).asnumpy().tolist() == [1]
    assert (nd.array([1, 2], dtype="int32") + 1.5).asnumpy().tolist() == [2, 3]
    assert (nd.array([1, 2], dtype="int32") == 1.5).asnumpy().tolist() == [1, 0]


def test_numbers_keep_their_digits_without_the_extension():
    """The module that stands in for it hands the same texts over."""
    program = ("from mxnet import np\n"
               "a = np.array([0], dtype='int64')\n"
               f"assert (a + {2 ** 53}).item() == {2 ** 53} and (a + {BIG}).item() == {BIG}\n"
               "assert (a == True).item() is False and (a.astype('bool') != 2).item() is True\n"
               "assert (a + [1.5]).item() == 1.5 and (np.array([[1]]) @ np.array([[2]])).item() == 2\n")
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "MXNET_PYTHON_CORE": "ctypes",
                        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})


def test_truths_are_numbers_of_functions():
    """True is 1, on either side."""
    a = np.array([0., 2.])
    check(np.logical_and(a, True), [False, True])
    check(np.multiply(True, a), [0., 2.], "float32")
    check(np.array([1, 2], dtype="int32") ^ True, [0, 3], "int32")
    check(np.bitwise_or(False, np.array([1, 2], dtype="int32")), [1, 2], "int32")


def test_truths_beside_truths_stay_truths():
    """A condition turned round is one; beside numbers a truth is 0 or 1."""
    mask = np.array(TRUTHS)
    for function in (operator.xor, operator.and_, operator.or_, operator.add, operator.mul, operator.eq, operator.ge):
        for truth in (True, False, onp.True_):
            check(function(mask, truth), function(TRUTHS, bool(truth)))
            check(function(truth, mask), function(bool(truth), TRUTHS))
    check(np.logical_xor(mask, True), ~TRUTHS)
    check(np.array([1, 2])[mask ^ True], [2], "float32")
    check(np.array([1, 2]) + True, [2, 3], "float32")
    check(np.array([1, 2], dtype="int8") * True, [1, 2], "int8")
    mask ^= True
    check(mask, ~TRUTHS)


def test_functions_of_reals_take_numbers_on_both_sides():
    """hypot and logaddexp make floats of whole numbers; the number is in the array's precision."""
    check(np.hypot(np.array([3], dtype="int32"), 4), [5.], "float32")
    check(np.hypot(4, np.array([3.], dtype="float64")), [5.], "float64")
    for dtype in ("float32", "float64"):
        for x, y in ((np.array([1.], dtype=dtype), 0.1), (0.1, np.array([1.], dtype=dtype))):
            assert np.logaddexp(x, y).dtype == dtype
            onp.testing.assert_allclose(np.logaddexp(x, y).asnumpy(), onp.logaddexp(1, 0.1),
                                        rtol=1e-6 if dtype == "float32" else 1e-15)


# ---- NumPy's arrays and lists -------------------------------------------------------------------
OPERANDS = [("int32", onp.array([1.5, 2.5]), "float64"), ("int32", onp.array([1.5, 2.5], "float32"), "float32"),
            ("int32", [1.5, 2.], "float64"), ("int8", [300, 1], "int64"), ("bool", [2, 3], "int64"),
            ("bool", onp.array([2, 3], "int8"), "int8"), ("int8", (True, False), "int8"),
            ("float32", onp.array([1.5, 2.5]), "float32"), ("float32", [1, 2], "float32"),
            ("float16", onp.array([1, 2], "int64"), "float16"), ("float32", onp.array([1.5, 2], "float16"), "float32")]


@pytest.mark.parametrize("dtype, other, wanted", OPERANDS)
def test_operands_of_numpy_are_not_cut(dtype, other, wanted):
    """They have their own type beside whole numbers, and at most the array's precision beside floats."""
    values = onp.array([1, 2]).astype(dtype)
    a = np.array(values, dtype=dtype)
    check(a * other, values.astype(wanted) * onp.asarray(other).astype(wanted), wanted)
    check(other + a, values.astype(wanted) + onp.asarray(other).astype(wanted), wanted)
    check(a == other, values.astype(wanted) == onp.asarray(other))
    check(np.add(a, other), values.astype(wanted) + onp.asarray(other).astype(wanted), wanted)


def test_operands_that_an_old_array_does_not_hold_are_refused():
    """mx.nd keeps the array's type, and does not cut in silence."""
    a = nd.array([1, 2], dtype="int32")
    check(a + onp.array([1., 2.]), [2, 4], "int32")
    for other in (onp.array([1.5, 2.5]), [0.5, 1], [2 ** 40, 0]):
        with pytest.raises(TypeError, match="int32"):
            a + other
    check(nd.array([1, 2]) * onp.array([1.5, 2.5]), [1.5, 5], "float32")


# ---- functions of several arrays ----------------------------------------------------------------
def test_append_where_and_clip_have_the_type_of_what_they_are_given():
    """A float beside whole numbers makes float64, as for operators."""
    whole = np.array([1, 2], dtype="int32")
    condition = np.array(TRUTHS)
    check(np.append(whole, 0.5), [1, 2, 0.5], "float64")
    check(np.append(whole, [3]), [1, 2, 3], "int64")
    check(np.append(whole, 3), [1, 2, 3], "int32")
    check(np.where(condition, whole, 0.5), [1, 0.5], "float64")
    check(np.where(condition, 7, whole), [7, 2], "int32")
    check(np.where(condition, np.array([BIG, 1], dtype="int64"), BIG), [BIG, BIG], "int64")
    check(np.where(condition, whole, np.array([0.5, 1.5])), [1, 1.5], "float32")
    check(np.where(condition, 1, 0), [1, 0], "float32")


def test_numbers_of_where_keep_their_digits():
    """Of the operators with a number on one side, which the registry offers too."""
    condition, whole = np.array(TRUTHS), np.array([1, 2], dtype="int64")
    check(np.where_lscalar(condition, whole, scalar=BIG), [BIG, 2], "int64")
    check(np.where_rscalar(condition, whole, scalar=BIG), [1, BIG], "int64")


def test_clip_keeps_digits_and_takes_any_bounds():
    """Floats make floats of whole numbers; whole bounds are exact, or the nearest that the type has."""
    whole = np.array([1, 2, 3], dtype="int32")
    check(np.clip(whole, 0.5, 2.5), [1, 2, 2.5], "float64")
    check(np.clip(np.array([BIG, 5], dtype="int64"), BIG - 1, BIG), [BIG, BIG - 1], "int64")
    check(np.clip(np.array([7, 200], dtype="uint8"), -5, 300), [7, 200], "uint8")
    check(np.clip(np.array([7, 200], dtype="uint8"), None, 9), [7, 9], "uint8")
    check(np.clip(np.array([0, 2 ** 64 - 1], dtype="uint64"), 1, 2 ** 64 - 2),
          onp.array([1, 2 ** 64 - 2], "uint64"))
    check(np.clip(np.array([0.2], dtype="float64"), 0.1, 0.1), [0.1], "float64")
    check(np.clip(np.array(TRUTHS), 0, 2), [1, 0], "int64")
    check(np.clip(np.array([1., 5.]), np.array([2., 2.]), None), [2, 5], "float32")
    check(np.clip(whole, [2, 0, 0], np.array([9, 1, 1], dtype="int32")), [2, 1, 1], "int64")
    check(whole.clip(2, None), [2, 2, 3], "int32")


def test_clip_with_crossed_bounds_gives_the_upper_one():
    """As NumPy has it."""
    check(np.clip(np.array([-3., 0.7, 9.]), 0.5, -1), [-1, -1, -1], "float32")
    assert onp.isnan(np.clip(np.array([float("nan")]), 0, 1).item())


def test_gradient_of_clip_is_that_of_the_bounds_type():
    """An element that is the bound, rounded as the array is, hands its gradient on."""
    x = np.array([0.1, 0.5, 2.])
    x.attach_grad()
    with autograd.record():
        y = np.clip(x, 0, 0.1)
    y.backward()
    check(x.grad, [1, 0, 0], "float32")


@pytest.mark.parametrize("name", ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"])
def test_arrays_of_several_types_are_joined_in_that_of_all(name):
    """The type that their sum would have; one that holds every whole number."""
    ours, theirs = getattr(np, name), getattr(onp, name)
    parts = [onp.array([1, 2], "int8"), onp.array([3, 200], "uint8"), onp.array([5, -6], "int16")]
    check(ours([np.array(part) for part in parts]), theirs(parts), "int16")
    mixed = [onp.array([1, 2], "int32"), onp.array([0.5, 1.5], "float32")]
    check(ours([np.array(part) for part in mixed]), theirs(mixed), "float32")
    check(ours([np.array(mixed[0]), [7, 8]]), theirs([mixed[0], [7, 8]]), "int64")


def test_gradients_go_to_each_part_in_its_type():
    """Through what made the types common."""
    x, y = np.array([1., 2.]), np.array([3., 4.], dtype="float64")
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        total = (np.concatenate([x, y]) * 2).sum() + np.maximum(x, y).sum() + np.where(np.array(TRUTHS), x, y).sum()
    total.backward()
    check(x.grad, [3, 2], "float32")
    check(y.grad, [3, 4], "float64")


def test_maximum_and_minimum_of_every_operand():
    """Arrays of two types, numbers and lists."""
    whole = np.array([1, 2], dtype="int32")
    check(np.maximum(whole, np.array([1.5, 1.5])), [1.5, 2], "float32")
    check(np.minimum(whole, 1.5), [1, 1.5], "float64")
    check(np.maximum(whole, [0, 5]), [1, 5], "int64")
    with pytest.raises(MXNetError, match="float32"):
        nd.maximum(nd.array([1.]), nd.array([1], dtype="int32"))


# ---- products -----------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_products_of_whole_matrices_are_numpy_s(dtype):
    """They wrap; of truths any pair makes one. Every form, transposed too."""
    drawn = onp.random.default_rng(3)
    limits = onp.iinfo("uint8" if dtype == "bool" else dtype)
    x, y = (drawn.integers(limits.min, limits.max, (7, 7), limits.dtype, True).astype(dtype) for _ in range(2))
    if dtype == "bool":
        x, y = x & (drawn.random((7, 7)) < 0.3), y & (drawn.random((7, 7)) < 0.3)
    a, b = np.array(x, dtype=dtype), np.array(y, dtype=dtype)
    check(a @ b, x @ y)
    check(a @ b[0], x @ y[0])
    check(np.matmul(np.stack([a, b]), b), onp.matmul(onp.stack([x, y]), y))
    check(np.dot(a, b), onp.dot(x, y))
    check(np.inner(a, b), onp.inner(x, y))
    check(np.tensordot(a, b, ([0], [1])), onp.tensordot(x, y, ([0], [1])))
    check(nd.dot(nd.array(x, dtype=dtype), nd.array(y, dtype=dtype), transpose_b=True), x @ y.T)


def test_products_of_two_types_have_that_of_both():
    """Of matrices, of vectors, of a list or NumPy's array; gradients go through."""
    a, b = np.array([[1, 2], [3, 4]], dtype="int32"), np.array([[0.5, 1], [2, 4]])
    check(a @ b, [[4.5, 9], [9.5, 19]], "float32")
    check(np.dot(np.array([200, 3], dtype="uint8"), np.array([-2, 1], dtype="int8")), -397, "int16")
    check(a @ onp.array([0.5, 1]), [2.5, 5.5], "float64")
    check([1, 2] @ a, [7, 10], "int64")
    check(np.tensordot(a, b, 2), 24.5, "float32")
    b.attach_grad()
    with autograd.record():
        y = np.matmul(a, b).sum()
    y.backward()
    check(b.grad, [[4, 4], [6, 6]], "float32")


# ---- rounding -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "fix", "rint"])
def test_whole_numbers_are_rounded_to_themselves(name):
    """With all their digits."""
    for dtype in ("int64", "uint64", "int8", "bool"):
        values = onp.array([BIG, 1]).astype(dtype)
        check(getattr(np, name)(np.array(values, dtype=dtype)), values)
    check(getattr(nd, name)(nd.array([BIG], dtype="int64")), [BIG], "int64")


def test_halves_are_rounded_to_even_numbers():
    """As NumPy's rint and round do; mx.nd's goes down, as it says."""
    check(np.rint(np.array([1.5, -0.5, 2.5, 0.7])), [2, -0., 2, 1], "float32")
    check(nd.rint(nd.array([1.5, -0.5])), [1, -1], "float32")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_functions_of_whole_numbers_are_exact_in_their_type(dtype):
    """The extremes of the type, which wrap as in NumPy."""
    limits = onp.iinfo(dtype)
    values = onp.array([limits.min, limits.max, 0, 1, 3, limits.max - 1] * 50, dtype)
    with onp.errstate(all="ignore"):
        for name in ("absolute", "negative", "square", "sign"):
            check(getattr(np, name)(np.array(values, dtype=dtype)), getattr(onp, name)(values))
    check(np.logical_not(np.array(values, dtype=dtype)), values == 0)


def test_truths_and_numbers_are_computed_as_numbers():
    truths = onp.array([False, True] * 20)
    a = np.array(truths, dtype="bool")
    for number in (1, -1, 2, 300, 2 ** 40):
        check(a - number, truths - number)
        check(number - a, number - truths)
        check(a * number, truths * number)
    check(np.clip(np.array([-1.0, 0.5, 3.0]), False, True), [0, 0.5, 1], "float32")
    check(np.full((1,), 2 ** 63), [2 ** 63], "uint64")
    check(np.einsum("ij,jk->", np.array([[True], [True]]), np.array([[1.5]])), 3, "float32")


def test_whole_ranges_of_old_arrays_are_exact():
    """The step is a whole number unless told otherwise."""
    check(nd.arange(BIG, BIG + 3, dtype="int64"), [BIG, BIG + 1, BIG + 2], "int64")
    check(nd.arange(1.3, 8, 1.3, dtype="int32"), [1, 2, 3, 4, 5, 6], "int32")


def test_logaddexp_of_infinities_and_nan_is_numpy_s():
    """NaN beside an infinity stays NaN."""
    values = onp.array([onp.inf, -onp.inf, onp.nan, 0, 700, -3])
    x, y = onp.meshgrid(values, values)
    with onp.errstate(all="ignore"):
        onp.testing.assert_allclose(np.logaddexp(np.array(x, dtype="float64"), np.array(y, dtype="float64")).asnumpy(),
                                    onp.logaddexp(x, y), rtol=1e-15)


def test_sums_of_many_arrays_wrap():
    """In the type that they have; truths are added as conditions are."""
    most = nd.array([2 ** 31 - 1], dtype="int32")
    check(nd.add_n(most, most, most), [2 ** 31 - 3], "int32")
    check(nd.add_n(nd.array([BIG], dtype="int64"), nd.array([1], dtype="int64")), [BIG + 1], "int64")
    check(nd.add_n(nd.array([1, 0], dtype="bool"), nd.array([1, 0], dtype="bool")), TRUTHS)
