# SPDX-License-Identifier: Apache-2.0
"""What NumPy computes of our arrays: where it is written, of which type it is."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

CHANGES = {  # of (module, an array of 3 x 3, one of 3)
    "fill_diagonal": lambda m, a, v: m.fill_diagonal(a, 5),
    "put": lambda m, a, v: m.put(a=a, ind=[0, 5], v=[7, 8]),
    "place": lambda m, a, v: m.place(a, onp.eye(3) > 0, [4, 5]),
    "putmask": lambda m, a, v: m.putmask(a, onp.eye(3) > 0, 9),
    "put_along_axis": lambda m, a, v: m.put_along_axis(a, onp.array([[0], [1], [2]]), 6, axis=1),
    "copyto": lambda m, a, v: m.copyto(a, v),
    "copyto of a part": lambda m, a, v: m.copyto(a, v, where=onp.eye(3) > 0),
    "nan_to_num": lambda m, a, v: m.nan_to_num(a, copy=False),
    "nan_to_num by position": lambda m, a, v: m.nan_to_num(a, False, 3.0),
    "to a part": lambda m, a, v: m.fill_diagonal(a[1:], 8),
    **{name: lambda m, a, v, name=name: getattr(m, name)(a, out=a) for name in (
        "round", "around", "positive", "deg2rad", "rad2deg", "exp2")},
    **{name: lambda m, a, v, name=name: getattr(m, name)(v, 1 - v, out=v) for name in (
        "fmod", "copysign", "nextafter", "float_power", "heaviside", "logaddexp2")},
    "by position": lambda m, a, v: m.fmod(v, v - 1, v),
    "a reduction by position": lambda m, a, v: m.median(a, 0, v),
    "a reduction": lambda m, a, v: m.percentile(a, 40, axis=1, out=v),
    "in a tuple": lambda m, a, v: m.frexp(v, out=(v, None))[0],
    "two outputs": lambda m, a, v: m.modf(a, out=(a, None))[0],
    "running": lambda m, a, v: m.cumprod(v, out=v),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CHANGES)
def test_what_numpy_writes_is_written(name, dtype):
    host = [onp.array([[1.4, onp.nan, 3], [4, 5.5, 6], [7, 8, 9.6]], dtype), onp.array([2.5, 3, 4], dtype)]
    ours = [np.array(item, dtype=dtype) for item in host]
    before = [item.copy() for item in host]
    wanted, found = CHANGES[name](onp, *host), CHANGES[name](np, *ours)
    for mine, theirs in zip(ours, host):
        assert mine.dtype == theirs.dtype
        onp.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-6)
    assert any(not onp.array_equal(was, now, equal_nan=True) for was, now in zip(before, host)) or name == "positive"
    assert (found is None) == (wanted is None)
    if any(wanted is item for item in host):
        assert any(found is item for item in ours)


@pytest.mark.parametrize("name, dtype", [("invert", "int32"), ("left_shift", "int32"), ("lcm", "int64"), ("gcd", "int16"),
                                         ("signbit", "float32"), ("ldexp", "float32")])
def test_outputs_of_other_types(name, dtype):
    values = onp.array([6, 4, -2], dtype)
    others = () if name in ("invert", "signbit") else (onp.array([2, 3, 1], "int32"),)
    wanted = getattr(onp, name)(values, *others)
    out = np.zeros(3, dtype=wanted.dtype)
    assert getattr(np, name)(np.array(values), *[np.array(item) for item in others], out=out) is out
    onp.testing.assert_array_equal(out.asnumpy(), wanted)


def test_what_cannot_be_written_is_refused():
    whole, values = np.zeros(3, dtype="int32"), np.array([1.6, 2, 3])
    with pytest.raises(TypeError, match="same_kind"):
        np.fmod(values, 2, out=whole)
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(whole, values)
    np.copyto(whole, values, casting="unsafe")
    assert whole.asnumpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError):
        np.copyto(whole, np.ones((2, 3)), casting="unsafe")
    with pytest.raises(ValueError, match="read-only"):  # the copy of an argument that nobody expects to change
        np.apply_along_axis(lambda row: row.fill(0), 0, values)


def test_only_what_loses_no_gradient_is_written_while_recording():
    x, places = np.array([1.6, 2.4]), np.zeros(2, dtype="int32")
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for call in (lambda: np.round(y, out=y), lambda: np.put(y, [0], [1]), lambda: np.fmod(x, 2, out=np.zeros(2))):
            with pytest.raises(NotImplementedError, match="has no gradient"):
                call()
        np.put(places, [0], [3])
        y = y * places
    y.backward()
    assert places.asnumpy().tolist() == [3, 0] and x.grad.asnumpy().tolist() == [6, 0]


WIDE = {
    "median": lambda m, a: m.median(a), "percentile": lambda m, a: m.percentile(a, 30), "cumprod": lambda m, a: m.cumprod(a),
    "unique": lambda m, a: m.unique(a, return_counts=True), "insert": lambda m, a: m.insert(a, 1, 2.5),
    "cross": lambda m, a: m.cross(a, a[::-1]), "kron": lambda m, a: m.kron(a, a), "around": lambda m, a: m.around(a, 1),
    "fmod": lambda m, a: m.fmod(a, 2), "heaviside": lambda m, a: m.heaviside(a, a), "ediff1d": lambda m, a: m.ediff1d(a),
    "nanmean": lambda m, a: m.nanmean(a), "inv": lambda m, a: m.linalg.inv(m.diag(a)), "svd": lambda m, a: m.linalg.svd(m.outer(a, a))[1],
    "eigvalsh": lambda m, a: m.linalg.eigvalsh(m.diag(a)), "along an axis": lambda m, a: m.apply_along_axis(lambda v: v * 2, 0, a),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "float16"])
@pytest.mark.parametrize("name", WIDE)
def test_types_of_what_numpy_computes(name, dtype):
    """float64 stays what it is; what NumPy widens to float64 is float32."""
    if dtype == "float16" and name in ("inv", "svd", "eigvalsh"):
        pytest.skip("NumPy has no linear algebra of float16")
    values = onp.array([3, 5, 7], dtype)
    found, wanted = WIDE[name](np, np.array(values, dtype=dtype)), WIDE[name](onp, values)
    for mine, theirs in zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]:
        narrow = theirs.dtype == onp.float64 and dtype != "float64"
        assert mine.dtype == ("float32" if narrow else theirs.dtype)
        onp.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-13 if mine.dtype == onp.float64 else 1e-5, atol=1e-5)


def test_an_input_that_may_be_overwritten_stays_what_it_is():
    a = np.array([3.0, 1.0, 2.0])
    assert np.median(a, overwrite_input=True).item() == 2 and np.percentile(a, 50, None, None, True).item() == 2
    assert a.asnumpy().tolist() == [3, 1, 2]


def test_a_type_that_is_asked_for_is_given():
    whole = np.array([1, 2], dtype="int32")
    assert np.median(np.array([1e300], dtype="float64")).item() == 1e300
    for kind in ("float64", float, onp.float64, onp.dtype("float64")):
        assert np.nanmean(whole, dtype=kind).dtype == onp.float64
    assert np.nanmean(whole, None, onp.float64).dtype == onp.float64


def test_arrays_that_share_memory():
    a = np.arange(12).reshape(3, 4)
    for shares in (np.shares_memory, np.may_share_memory, np.share_memory):
        assert shares(a, a) and shares(a, a[1:]) and shares(a[1:], a[:2]) and shares(a, a.detach())
        assert not shares(a[:1], a[1:]) and not shares(a, a.copy()) and not shares(a, a[3:])
        assert not shares(a, onp.ones(3)) and not shares(onp.ones(3), a)
        assert isinstance(shares(a, a), bool)
    host = onp.ones(3)
    assert np.shares_memory(host, host[1:]) and not np.shares_memory(host[:1], host[1:])


def test_an_array_of_bfloat16_takes_numpys_values():
    a = mx.nd.ones((3,)).astype("bfloat16")
    a[:] = onp.array([1.0, 2.0, 3.5])
    assert a.asnumpy().tolist() == [1, 2, 3.5]


def test_samples_of_float64_have_all_its_digits():
    drawn = np.random.gamma(2.0, 1.0, size=(50,), dtype="float64").asnumpy()
    assert drawn.dtype == onp.float64 and (drawn != drawn.astype("float32")).any()


def _writing_functions():
    """NumPy's functions of one array or two that take `out`."""
    for name in sorted(dir(onp)):
        function = getattr(onp, name)
        if isinstance(function, onp.ufunc) and function.nin < 3 and function.nout == 1 and function.signature is None:
            yield name, function.nin
        elif name in ("around", "cumprod", "cumsum", "mean", "median", "nanmean", "nansum", "prod", "ptp", "round", "std", "sum", "var", "nanmax"):
            yield name, 1


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_out_has_what_the_function_gives(dtype):
    values = onp.array([[4, 2, 7], [1, 3, 2]]).astype(dtype)
    tried = 0
    for name, count in _writing_functions():
        function, arguments = getattr(np, name), [np.array(values, dtype=dtype) for _ in range(count)]
        try:
            wanted = function(*arguments)
            wanted.wait_to_read()
        except (TypeError, ValueError, NotImplementedError, mx.MXNetError):
            continue  # not of this type
        out = np.zeros(wanted.shape, dtype=wanted.dtype)
        assert function(*arguments, out=out) is out, name
        onp.testing.assert_array_equal(out.asnumpy(), wanted.asnumpy(), err_msg=name)
        tried += 1
    assert tried > 40
