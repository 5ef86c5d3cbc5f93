# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.np against NumPy's: values, types, gradients."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

VALUES = onp.array([[1.5, -2, 3], [0.5, 5, -6]], dtype="float32")
NUMBERS = onp.array([12, 7, 9], dtype="int32")


def same(found, wanted, typed=True):
    """Compares arrays, lists and tuples of them, and numbers."""
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for pair in zip(found, wanted):
            same(*pair, typed)
        return
    assert found.shape == onp.shape(wanted)
    onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
    if typed:
        assert found.dtype == wanted.dtype


# Functions of (module, an array of float32, one of int32).
CALLS = {
    "and, or, xor of conditions": lambda m, a, i: [(a > 1) & (a < 4), (a > 1) | (a < 0), (a > 1) ^ (a < 4)],
    "bits": lambda m, a, i: [i & i[::-1], i | 3, 3 ^ i, 6 & i],
    "not": lambda m, a, i: [~(a > 1), ~i],
    "all, any": lambda m, a, i: [(a > -9).all(), (a > 4).any(axis=0), m.all(a > 0, axis=1, keepdims=True)],
    "argsort": lambda m, a, i: [m.argsort(a), i.argsort(), m.argsort(a, axis=0)],
    "array_split": lambda m, a, i: m.array_split(a, 2, axis=1) + m.array_split(i, [1]) + m.array_split(i, 4),
    "take": lambda m, a, i: [m.take(a, m.array([4, 0], dtype="int64")), m.take(a, [1, 0], axis=1),
                             a.take([7], mode="wrap"), m.take(a, [9], mode="clip")],
    "transpose": lambda m, a, i: [a.transpose(1, 0), a.transpose((1, 0)), a.transpose(), m.transpose(a),
                                  a[None].transpose(1, 2, 0), m.transpose(a[None], (2, 0, 1))],
    "where": lambda m, a, i: list(m.where(a > 1)),
    "of numbers": lambda m, a, i: [m.hypot(a, 2), m.hypot(2, a), m.arctan2(a, 2), m.arctan2(2, a),
                                   m.fmax(a, 1), m.fmin(1, a), m.logical_and(a, 0), m.logical_or(0, a),
                                   m.bitwise_and(i, 3), m.bitwise_or(3, i), m.bitwise_xor(i, i)],
    "products": lambda m, a, i: [m.tensordot(a, a), m.tensordot(a, a, axes=([1], [1])), m.inner(a, a),
                                 m.tensordot(a, a[0], (-1, 0)), m.outer(a[0], a[1]), m.tensordot(a, a, 0)],
    "averages": lambda m, a, i: [m.average(a), m.average(a, axis=0), m.average(a, weights=a * a),
                                 m.average(a, axis=1, weights=a[0]), m.var(a), m.std(a, axis=0, ddof=1)],
    "pad": lambda m, a, i: [
        m.pad(a, 1), m.pad(a, ((1, 0), (0, 2))), m.pad(a, (1, 2), "constant", constant_values=(7, -1)), m.pad(i, (0, 2)),
        m.pad(a, ((0, 0), (3, 2)), "edge"), m.pad(a, 1, mode="reflect"), m.pad(a, (1, 4), "wrap"),
        m.pad(a, ((2, 2), (1, 1)), "symmetric"), m.pad(a, 1, "mean"), m.pad(a, 1, "reflect", reflect_type="odd")],
    "flipped": lambda m, a, i: [m.flip(a), m.flip(a, None), m.flip(a, 0), m.flip(a, (0, -1)), m.flip(i), m.flip(a, ())],
    "diagonals": lambda m, a, i: [m.diagonal(a, 3), m.diagonal(a, -2), m.trace(a, 9), m.diag(a, 5),
                                  m.diagonal(a), m.diagonal(a, 1), m.trace(a), m.trace(a, -1), m.trace(a[None], 0, 1, 2),
                                  m.diagonal(a[:, :, None], 0, 0, 2)],
    "meshgrid": lambda m, a, i: [*m.meshgrid(a[0], i), *m.meshgrid(a[0], i, a[1], indexing="ij"),
                                 *m.meshgrid(a[0], i[:2], sparse=True), *m.meshgrid(i), *m.meshgrid(i, i, a[1])],
    "moved": lambda m, a, i: [
        m.flipud(a), m.fliplr(i[None]), m.rot90(a), m.rot90(a, 2), *m.hsplit(a, 3), *m.vsplit(a, [1]),
        *m.dsplit(a[None], [1]), m.delete(a, 1, axis=1), m.delete(i, [0, 2]),
        m.take_along_axis(a, m.argsort(-a, axis=1), axis=1), *m.broadcast_arrays(a, a[0], i),
        m.append(a, a[:1], axis=0), m.append(a, a[0]), m.diff(a), m.diff(a, 2), m.diff(i), m.diff(a, axis=0)],
    "other names": lambda m, a, i: [m.concat([a, a]), m.permute_dims(a, (1, 0)), m.pow(a, 2), m.atan2(a, 2),
                                    m.acos(a / 9), m.fabs(a), +a, a.trace(), a.diagonal(1)],
    "norms": lambda m, a, i: [m.linalg.norm(a), m.linalg.norm(a, axis=1), m.linalg.norm(a, 1, 0),
                              m.linalg.norm(a[0], onp.inf), m.linalg.norm(a, -onp.inf, 1, True),
                              m.linalg.norm(a, 2), m.linalg.norm(a, "fro"), m.linalg.norm(a[0], 2)],
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_types(name):
    call = CALLS[name]
    same(call(np, np.array(VALUES), np.array(NUMBERS)), call(onp, VALUES, NUMBERS))


def test_functions_of_numbers_alone():
    assert np.finfo(np.float32).eps == onp.finfo("float32").eps and np.iinfo("int8").max == 127
    for word in ("add", "subtract", "multiply", "power", "maximum", "hypot", "less"):
        assert getattr(np, word)(2, 3) == getattr(onp, word)(2, 3)
    assert mx.nd.modulo(7, 4) == 3 and mx.nd.lesser(2, 3) and mx.nd.maximum(2, 3.5) == 3.5
    with pytest.raises(TypeError, match="must be an array"):
        np.add(None, 2)


def test_linear_algebra():
    square = np.array([[2.0, 1.0], [1.0, 4.0]])
    same(np.linalg.inv(square), onp.linalg.inv(square.asnumpy()))
    same(np.linalg.solve(square, np.array([1.0, 2.0])), onp.linalg.solve(square.asnumpy(), [1, 2]), False)
    same(np.linalg.svd(square), tuple(onp.linalg.svd(square.asnumpy())))
    assert float(np.linalg.det(square)) == pytest.approx(7)
    with autograd.record(), pytest.raises(NotImplementedError, match=r"mx\.np\.linalg\.pinv"):
        np.linalg.pinv(square)
    assert not hasattr(np.linalg, "nothing")


# What NumPy computes when nothing is recorded, or has several operators behind it.
GRADIENTS = {
    "var": lambda a: np.var(a, axis=1, ddof=1),
    "std": lambda a: a.std(axis=0, keepdims=True),
    "norm": np.linalg.norm,
    "tensordot": lambda a: np.tensordot(a, a * a, axes=([0], [0])),
    "outer": lambda a: np.outer(a, a),
    "inner": lambda a: np.inner(a, a),
    "average": lambda a: np.average(a, axis=0, weights=np.array([1.0, 3.0])),
    "take": lambda a: np.take(a, np.array([0, 0, 4])),
    "transpose": lambda a: a.transpose(1, 0) * np.array([1.0, 2.0]),
    "array_split": lambda a: np.array_split(a, 2, axis=1)[1],
    "pad": lambda a: np.pad(a, ((1, 0), (2, 1))) + np.pad(a, ((1, 0), (2, 1)), "reflect"),
    "trace": lambda a: np.trace(a, 1),
    "rot90": lambda a: np.rot90(a) * np.array([1.0, 2.0]),
    "take_along_axis": lambda a: np.take_along_axis(a, np.argsort(a, axis=0), axis=0),
    "vsplit": lambda a: np.vsplit(a, 2)[1],
    "diff": np.diff,
    "append": lambda a: np.append(a, a * a),
    "broadcast_arrays": lambda a: np.broadcast_arrays(a[0], a)[0],
    "concat": lambda a: np.concat([a, np.atan(a)]),
    "meshgrid": lambda a: np.meshgrid(a[0], a[1])[0] * np.meshgrid(a[0], a[1])[1],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    function, values = GRADIENTS[name], VALUES.astype("float64")
    a = np.array(values, dtype="float64")
    a.attach_grad()
    with autograd.record():
        y = (function(a) ** 2).sum()
    y.backward()
    step = 1e-5
    wanted = onp.empty_like(values)
    for place in onp.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * step
            ends.append(float((function(np.array(moved, dtype="float64")) ** 2).sum()))
        wanted[place] = (ends[0] - ends[1]) / (2 * step)
    onp.testing.assert_allclose(a.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-7)


MIXED = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: b - a, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: b / a, "power": lambda a, b: a ** b, "remainder": lambda a, b: a % (b + 2),
    "hypot": np.hypot, "arctan2": np.arctan2,
}


@pytest.mark.parametrize("other", ["float16", "float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", MIXED)
def test_gradients_of_mixed_types(name, dtype, other):
    def gradient(kind, other_kind):
        a = np.array([[1, 2, 3], [4, 5, 6]], dtype=kind)
        b = np.array([[1], [0]], dtype=other_kind)
        a.attach_grad()
        if "float" in other_kind:
            b.attach_grad()
        with autograd.record():
            y = MIXED[name](a, b) * 1
        y.backward()
        assert a.grad.dtype == kind and (b.grad is None or b.grad.dtype == other_kind)
        return [item.grad.astype("float64").asnumpy() for item in (a, b) if item.grad is not None]

    wanted = gradient("float64", "float64")
    for found, expected in zip(gradient(dtype, other), wanted):
        onp.testing.assert_allclose(found, expected, rtol=4e-3, atol=1e-3)


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"axes \[1\] of \(2, 3\) and \[0\] of \(2, 3\)"):
        np.tensordot(np.array(VALUES), np.array(VALUES), axes=1)
    with pytest.raises(mx.MXNetError):
        np.take(np.array(VALUES), [6]).wait_to_read()


def test_only_what_would_have_gradients_is_refused_while_recording():
    a, i = np.array(VALUES), np.array(NUMBERS)
    with autograd.record():
        same(np.tri(3), onp.tri(3, dtype="float32"))
        same(np.argwhere(a > 1), onp.argwhere(VALUES > 1))
        same(np.nonzero(a), onp.nonzero(VALUES))
        same(np.median(i), onp.median(NUMBERS).astype("float32"))
        assert np.array_equal(a, a) and not np.isin(a, [7]).asnumpy().any()
        for refused in (lambda: np.median(a), lambda: np.percentile(a, q=50), lambda: np.kron(i, [a[0], a[1]])):
            with pytest.raises(NotImplementedError, match=r"mx\.np\.\w+ is computed by NumPy and has no gradient"):
                refused()
    same(np.median(a), onp.median(VALUES))


@pytest.mark.parametrize("call, message", [
    (lambda a: np.pad(a, -1), "pad_width is -1; it cannot be negative"),
    (lambda a: np.pad(a, 1, value=3), "pad has no value in mode 'constant'; it has constant_values"),
    (lambda a: np.pad(a, 1, "around"), "mode 'around' is not supported"),
    (lambda a: np.trace(a[0]), r"an array of shape \(3,\) has no diagonal"),
    (lambda a: np.meshgrid(a[0], a[1], indexing="yx"), "indexing is 'yx'; valid are: 'xy', 'ij'"),
])
def test_wrong_places(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.array(VALUES))


def test_shown_types():
    shown = {dtype: repr(np.array([1, 2], dtype=dtype)) for dtype in
             ("float32", "float64", "int64", "int32", "bool")}
    assert shown == {"float32": "array([1., 2.])", "float64": "array([1., 2.], dtype=float64)",
                     "int64": "array([1, 2], dtype=int64)", "int32": "array([1, 2], dtype=int32)",
                     "bool": "array([ True,  True])"}


def test_distributions_of_numpy_are_seeded_by_ours():
    def draws():
        mx.random.seed(5)
        return [np.random.choice(9, 4), np.random.multinomial(20, [0.25, 0.75]),
                np.random.gamma(2.0, size=(2, 3)), np.random.choice(np.array([1.5, 2.5]), size=3)]

    first, second = draws(), draws()
    assert [array.asnumpy().tolist() for array in first] == [array.asnumpy().tolist() for array in second]
    assert [array.shape for array in first] == [(4,), (2,), (2, 3), (3,)]
    assert int(first[1].sum()) == 20 and set(first[3].tolist()) <= {1.5, 2.5}
    assert first[2].asnumpy().tolist() != np.random.gamma(2.0, size=(2, 3)).asnumpy().tolist()
    assert not hasattr(np.random, "nothing")


def test_bounds_of_random_numbers_may_be_arrays():
    low, high = np.array([0.0, 10.0]), np.array([1.0, 20.0])
    drawn = np.random.uniform(low, high, size=(500, 2)).asnumpy()
    assert (drawn >= [0, 10]).all() and (drawn < [1, 20]).all()
    assert drawn.mean(axis=0) == pytest.approx([0.5, 15], rel=0.1)
    assert np.random.normal(low, 1).shape == (2,)
    assert np.random.normal(np.array([100.0]), 0.001, size=(3,)).asnumpy() == pytest.approx(100, rel=1e-3)


def test_averages_and_norms_of_small_whole_numbers_do_not_wrap():
    a = np.array([200, 250], dtype="uint8")
    same(np.linalg.norm(a), onp.linalg.norm(a.asnumpy().astype("float32")))
    same(np.average(a, weights=np.array([200, 3], dtype="uint8")),
         onp.average(a.asnumpy(), weights=[200, 3]).astype("float32"))
    same(np.average(np.array([-6], dtype="int32"), weights=np.array([1], dtype="uint64")), onp.float64(-6))


def test_an_axis_that_is_not_there_is_an_error():
    a = np.array(VALUES)
    for call in (lambda: np.diff(a, axis=2), lambda: np.diff(a, axis=-3), lambda: np.tensordot(a, a, axes=([2], [0]))):
        with pytest.raises(ValueError, match="out of range for 2 dimensions"):
            call()


@pytest.mark.parametrize("shape, offset", [((2, 0, 1), -1), ((0, 2, 2), 1), ((2, 3), 3), ((2, 3), -2), ((2, 3), 2)])
def test_diagonals_of_no_elements(shape, offset):
    values = onp.zeros(shape, "float32")
    assert np.diagonal(np.array(values), offset).shape == onp.diagonal(values, offset).shape


def test_names_of_the_array_standard():
    """2.0's: several results are a tuple, and a rank is an array."""
    values = onp.array([3.0, 1.0, 3.0, 2.0], "float32")
    array, table = np.array(values), onp.array([[4.0, 2.0], [2.0, 3.0]], "float32")
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        found, wanted = getattr(np, name)(array), getattr(onp, name)(values)
        for mine, theirs in zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]:
            assert isinstance(mine, np.ndarray) and mine.asnumpy().tolist() == theirs.tolist()
    for name in ("svdvals", "matrix_norm", "matrix_transpose", "vector_norm", "matrix_rank"):
        found = getattr(np.linalg, name)(np.array(table))
        assert isinstance(found, np.ndarray)
        onp.testing.assert_allclose(found.asnumpy(), getattr(onp.linalg, name)(table), rtol=1e-5)
