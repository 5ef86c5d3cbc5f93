# SPDX-License-Identifier: Apache-2.0
"""Reductions of mx.np and mx.nd: exact in every whole type, and their gradients."""
import numpy as onp
import pytest

from mxnet import autograd, nd, np

WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SHAPES = ((3,), (4, 5), (2, 300, 3), (700,), (3, 1, 500), (0, 3), (2, 0))


def same(found, wanted):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    onp.testing.assert_array_equal(found.asnumpy(), wanted)


@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_are_reduced_exactly_and_wrap_in_their_type(dtype):
    limits, random = onp.iinfo(dtype), onp.random.default_rng(7)
    for shape in SHAPES:
        values = random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        array = np.array(values, dtype=dtype)
        for axis in (None, 0, -1, tuple(range(len(shape)))[:2]):
            for name in ("sum", "prod", "max", "min"):
                if name in ("max", "min") and 0 in shape:
                    continue
                typed = {"dtype": dtype} if name in ("sum", "prod") else {}
                wanted = onp.asarray(getattr(onp, name)(values, axis=axis, **typed))
                same(getattr(np, name)(array, axis=axis), wanted)


def test_numbers_beyond_53_bits_keep_their_digits():
    assert nd.array([2**53 + 1, 5], dtype="int64").max().asscalar() == 2**53 + 1
    assert nd.array([2**53 + 1], dtype="int64").prod().asscalar() == 2**53 + 1
    values = np.array([6, -3], dtype="int64")
    assert int(values.sum(initial=1)) == 4
    assert int(np.sum(values, initial=2**53 + 1)) == 2**53 + 4
    assert int(np.max(values, initial=2**53 + 1)) == 2**53 + 1
    assert int(np.min(values, initial=-2**63)) == -2**63
    assert int(np.array([1], dtype="uint64").max(initial=2**64 - 1)) == 2**64 - 1
    assert float(np.sum(np.array([0.5]), initial=2)) == 2.5


def test_values_become_the_type_of_the_result_before_they_are_combined():
    values = onp.array([1.5, 1.5, 2.5])
    wide = onp.array([onp.inf, 1.0, -1e300])
    with onp.errstate(over="ignore", invalid="ignore"):
        same(np.sum(np.array(wide, dtype="float64"), dtype="float32"), onp.asarray(onp.sum(wide, dtype="float32")))
    for dtype in ("int8", "int32", "int64", "bool"):
        for name in ("sum", "prod"):
            same(getattr(np, name)(np.array(values), dtype=dtype), onp.asarray(getattr(onp, name)(values, dtype=dtype)))
    same(np.mean(np.array(values), dtype="int32"), onp.asarray(onp.mean(values, dtype="int32")))
    wide = np.array([300, 300], dtype="int64")
    same(np.sum(wide, dtype="int8"), onp.asarray(onp.sum(wide.asnumpy(), dtype="int8")))
    assert nd.array([2**31 - 1, 2**31 - 1], dtype="int32").mean().asscalar() == 2**31 - 1


def test_truths():
    values = onp.array([[True, False], [True, True], [False, False]])
    array = np.array(values)
    for dtype in (None, "bool"):
        for axis in (None, 0, 1):
            for name in ("sum", "prod"):
                wanted = getattr(onp, name)(values, axis=axis, dtype=dtype)
                same(getattr(np, name)(array, axis=axis, dtype=dtype), onp.asarray(wanted))
    for axis in (None, 0, 1):
        same(array.max(axis=axis), onp.asarray(values.max(axis=axis)))
        same(array.min(axis=axis), onp.asarray(values.min(axis=axis)))


def test_einsum_of_truths_is_one():
    values = onp.array([[True, False], [True, True]])
    for subscripts in ("ij,ij->", "ij,jk->ik", "ij,kj->k", "ij,ij->ij"):
        same(np.einsum(subscripts, np.array(values), np.array(values)), onp.asarray(onp.einsum(subscripts, values, values)))
    same(np.einsum("ij->i", np.array(values)), onp.einsum("ij->i", values))
    for types in (("float32", "bool"), ("int8", "float32"), ("bool", "int16")):
        left, right = onp.full((3, 2), 100, types[0]), onp.ones((2, 4), types[1])
        found = np.einsum("ij,jk->", np.array(left, dtype=types[0]), np.array(right, dtype=types[1]))
        same(found, onp.asarray(onp.einsum("ij,jk->", left, right, dtype=found.dtype)))
    large = onp.array([2**31 - 1, 2], dtype="int32")
    same(np.einsum("i,i->", np.array(large), np.array(large)), onp.asarray(onp.einsum("i,i->", large, large)))


def gradient(function, values, dtype="float32", head=None):
    x = np.array(values, dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward(None if head is None else np.array(head, dtype=y.dtype))
    assert x.grad.dtype == x.dtype
    return x.grad.asnumpy().tolist()


def test_the_gradient_of_a_product_is_the_product_of_the_others():
    assert gradient(np.prod, [2, 0, 3]) == [0, 6, 0]
    assert gradient(np.prod, [2, 0, 0]) == [0, 0, 0]
    assert gradient(np.prod, [2, -4, 5]) == [-20, 10, -8]
    rows = [[2, 0, 3], [1, 4, 5], [0, 7, 0]]
    assert gradient(lambda x: np.prod(x, axis=1), rows, head=[1, 2, 3]) == [[0, 6, 0], [40, 10, 8], [0, 0, 0]]
    assert gradient(lambda x: np.prod(x, axis=0), rows, "float64") == [[0, 28, 0], [0, 0, 0], [2, 0, 15]]
    many = onp.ones((3, 100), "float32")
    many[1, :70] = 0
    assert gradient(lambda x: np.prod(x, axis=0), many) == onp.where(many.min(0) == 0, many == 0, 1).tolist()
    x = nd.array([2, 0, 3])
    x.attach_grad()
    with autograd.record():
        y = nd.prod(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 6, 0]


def test_gradients_of_whole_numbers_and_of_mixed_types():
    for dtype in ("int32", "int64", "uint8", "float16"):
        assert gradient(np.sum, [[1, 2], [3, 4]], dtype) == [[1, 1], [1, 1]]
        assert gradient(lambda x: np.max(x, axis=0), [[1, 5], [3, 4]], dtype) == [[0, 1], [1, 0]]
        assert gradient(np.prod, [2, 3], dtype) == [3, 2]
    for dtype in ("float16", "float64", "int32"):
        assert gradient(lambda x: np.sum(x, dtype=dtype), [1, 2], "float32") == [1, 1]
        assert gradient(lambda x: np.prod(x, dtype=dtype), [2, 3], "float32") == [3, 2]
    assert gradient(lambda x: np.sum(x, dtype="float16"), [1, 2], "int8") == [1, 1]
    assert gradient(lambda x: np.mean(x, dtype="float64"), [1, 2], "float32") == [0.5, 0.5]
    long = [[1.0] * 200] * 3
    assert gradient(lambda x: np.mean(x, axis=0, dtype="float64"), [[1.0] * 200] * 4) == [[0.25] * 200] * 4
    assert gradient(lambda x: np.sum(x, axis=0), long) == long


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
@pytest.mark.parametrize("name", ("var", "std"))
@pytest.mark.parametrize("recorded", (False, True))
def test_deviations_divide_by_the_count_less_ddof_and_never_below_0(name, recorded):
    ours, theirs = getattr(np, name), getattr(onp, name)
    with onp.errstate(all="ignore"):
        for values, ddof in (([1.0, 3.0], 1), ([1.0, 3.0], 2), ([1.0, 3.0], 3), ([5.0], 2), ([5.0], -1)):
            with autograd.record() if recorded else autograd.pause():
                found = ours(np.array(values), ddof=ddof)
            onp.testing.assert_allclose(found.asnumpy(), theirs(onp.array(values, "float32"), ddof=ddof), rtol=1e-6)
    assert onp.isnan(ours(np.array([5], dtype="uint8"), ddof=2).asnumpy())


@pytest.mark.parametrize("recorded", (False, True))
def test_deviations_are_written_to_out(recorded):
    x, values = np.array([[1.0, 2, 6], [4, 4, 4]]), onp.array([[1.0, 2, 6], [4, 4, 4]], "float32")
    for name in ("var", "std"):
        out = np.zeros(2)
        with autograd.record() if recorded else autograd.pause():
            found = getattr(np, name)(x, axis=1, out=out)
        assert found is out
        onp.testing.assert_allclose(out.asnumpy(), getattr(onp, name)(values, axis=1), rtol=1e-6)


def test_gradients_of_norms_and_deviations_at_zero_are_zero():
    assert gradient(np.std, [3, 3]) == [0, 0]
    assert gradient(np.linalg.norm, [0, 0]) == [0, 0]
    assert gradient(lambda x: np.linalg.norm(x, axis=1), [[0, 0], [3, 4]], head=[1, 5]) == [[0, 0], [3, 4]]
    onp.testing.assert_allclose(gradient(np.std, [1, 3]), [-0.5, 0.5])
    onp.testing.assert_allclose(gradient(lambda x: np.std(x, ddof=1), [1, 3]), [-0.5**0.5, 0.5**0.5], rtol=1e-6)


def test_averages_have_the_type_of_values_and_weights_together():
    for of_values, of_weights, together in (("int32", "float64", "float64"), ("float16", "uint8", "float16"),
                                            ("float32", "float64", "float64"), ("int32", "bool", "float32")):
        values = onp.array([3, 5] if of_values == "float16" else [1658369854, 3]).astype(of_values)
        weights = onp.array([1, 1]).astype(of_weights)
        found = np.average(np.array(values, dtype=of_values), weights=np.array(weights, dtype=of_weights))
        assert found.dtype == together
        digits = 1e-7 if together == "float32" else 0
        onp.testing.assert_allclose(found.asnumpy(), onp.average(values, weights=weights).astype(together), rtol=digits)


# ---- where= ------------------------------------------------------------------------------------
VALUES = onp.array([[3, 0, 7, 1], [2, 2, 0, 5], [9, 4, 6, 8]])
MASKS = (VALUES > 2, VALUES[:1] > 0, VALUES[:, :1] == 2, onp.array(False), onp.array(True), VALUES[0] % 2 == 0)
EXTREMES = ("max", "min", "amax", "amin")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint8", "int64", "bool"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "std", "var", "all", "any", *EXTREMES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_only_elements_where_it_holds_are_reduced(name, dtype):
    values = VALUES.astype(dtype)
    settings = {"initial": 4} if name in EXTREMES else {}
    for mask in MASKS:
        for axis in (None, 0, -1, (0, 1)):
            for keepdims in (False, True):
                wanted = getattr(onp, name)(values, axis=axis, where=mask, keepdims=keepdims, **settings)
                array = np.array(values, dtype=dtype)
                for where in (mask, np.array(mask), mask.tolist()):
                    found = getattr(np, name)(array, axis=axis, where=where, keepdims=keepdims, **settings)
                    assert found.shape == wanted.shape and found.dtype == getattr(np, name)(array).dtype
                    onp.testing.assert_allclose(found.asnumpy(), onp.asarray(wanted).astype(found.dtype),
                                                1e-6 if found.dtype != "float16" else 1e-3)


def test_arrays_have_where_too_and_write_to_out():
    array, mask = np.array(VALUES, dtype="float32"), np.array(VALUES > 2)
    assert array.sum(where=mask).item() == VALUES[VALUES > 2].sum()
    assert array.mean(where=mask).item() == pytest.approx(VALUES[VALUES > 2].mean())
    out = np.zeros((4,))
    assert np.sum(array, axis=0, where=mask, out=out) is out and out.tolist() == [12, 4, 13, 13]
    assert np.mean(array, axis=0, where=mask, out=out) is out and out.tolist() == [6, 4, 6.5, 6.5]
    assert np.sum([1.0, 2.0, 4.0], where=[True, False, True]).item() == 5
    assert np.sum(array, where=mask, initial=100).item() == 100 + VALUES[VALUES > 2].sum()


def test_gradients_go_where_the_elements_are():
    mask = VALUES > 2
    for function, wanted in (
            (lambda x: np.sum(x, where=mask), mask * 1.0), (lambda x: np.mean(x, where=mask), mask / mask.sum()),
            (lambda x: np.max(x, where=mask, initial=0), (VALUES == 9) * 1.0),
            (lambda x: np.var(x, where=mask), mask * 2 * (VALUES - VALUES[mask].mean()) / mask.sum()),
            (lambda x: np.mean(x, axis=0, where=mask), mask / mask.sum(axis=0))):
        x = np.array(VALUES, dtype="float64")
        x.attach_grad()
        with autograd.record():
            result = function(x)
        result.backward()
        onp.testing.assert_allclose(x.grad.asnumpy(), wanted, 1e-12)


def test_what_is_no_mask_is_refused_as_numpy_does():
    array = np.array(VALUES, dtype="float32")
    for mask, kind in ((onp.array([1, 0, 1, 1]), TypeError), (onp.array(1.0), TypeError), (onp.ones((2, 3, 4), bool), ValueError),
                       ([True, False], ValueError)):
        for module, values in ((np, array), (onp, VALUES)):
            with pytest.raises(kind):
                module.sum(values, where=mask)
            with pytest.raises(kind):
                module.mean(values, where=mask)
    for name in EXTREMES:
        with pytest.raises(ValueError, match="initial"):
            getattr(np, name)(array, where=array > 2)
