# SPDX-License-Identifier: Apache-2.0
"""Arrays against NumPy: making, operators, indexing, copies, files."""
import copy
import ctypes
import operator
import pickle

import numpy as onp
import pytest

import mxnet as mx

KINDS = [mx.nd, mx.np]
VALUES = onp.arange(24, dtype="float32").reshape(2, 3, 4)


def kind_name(kind):
    return kind.__name__.rsplit(".", maxsplit=1)[-1]


@pytest.fixture(name="kind", params=KINDS, ids=kind_name)
def kind_fixture(request):
    return request.param


# ---- making ------------------------------------------------------------------------------------
def test_default_types():
    assert mx.nd.array(onp.zeros(3)).dtype == onp.float32
    assert mx.nd.array([1, 2]).dtype == onp.float32
    assert mx.np.array(onp.zeros(3)).dtype == onp.float32
    assert mx.np.array([1, 2]).dtype == onp.float32
    assert mx.np.array(onp.arange(3)).dtype == onp.int64
    for kind in KINDS:
        for source in (mx.nd.array([1, 2], dtype="int8"), mx.np.array([1, 2], dtype="int8")):
            array = kind.array(source)
            assert array.dtype == onp.int8 and array.asnumpy().tolist() == [1, 2]
            assert kind.array(source, dtype="float64").dtype == onp.float64
    assert mx.nd.array(mx.np.array(2.0)).shape == (1,)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32",
                                   "int64"])
def test_values_of_every_type_come_back(kind, dtype):
    values = onp.array([[0, 1, 100], [7, 8, 127]], dtype=dtype)
    array = kind.array(values, dtype=dtype)
    assert array.asnumpy().dtype == values.dtype
    onp.testing.assert_array_equal(array.asnumpy(), values)
    assert (array.shape, array.size, array.ndim) == ((2, 3), 6, 2)
    assert array.nbytes == values.nbytes


def test_creation_functions(kind):
    onp.testing.assert_array_equal(kind.zeros((2, 3)).asnumpy(), onp.zeros((2, 3)))
    onp.testing.assert_array_equal(kind.ones(4).asnumpy(), onp.ones(4))
    onp.testing.assert_array_equal(kind.full((2,), 2.5).asnumpy(), [2.5, 2.5])
    onp.testing.assert_array_equal(kind.arange(2, 8, 2).asnumpy(), [2, 4, 6])
    onp.testing.assert_array_equal(kind.arange(3).asnumpy(), [0, 1, 2])
    onp.testing.assert_array_equal(kind.eye(2).asnumpy(), onp.eye(2))
    onp.testing.assert_allclose(kind.linspace(0, 1, 5).asnumpy(), onp.linspace(0, 1, 5))
    assert kind.empty((3, 0)).shape == (3, 0)


def test_whole_numbers_keep_their_bits():
    for number, dtype in ((2 ** 62 + 1, "int64"), (-2 ** 63, "int64"), (2 ** 64 - 1, "uint64")):
        assert mx.np.full((2,), number, dtype=dtype).asnumpy().tolist() == [number] * 2
    assert mx.np.full((1,), 3).dtype == onp.int64 and mx.np.full((1,), True).dtype == onp.bool_
    array = mx.np.zeros((2,), dtype="int64")
    array[:] = 2 ** 62 + 1
    assert array.asnumpy().tolist() == [2 ** 62 + 1] * 2


def test_scalars_are_numpys_only():
    assert mx.np.array(3.5).shape == () and mx.np.array(3.5).item() == 3.5
    assert mx.nd.array(3.5).shape == (1,) and mx.nd.array(3.5).asscalar() == 3.5


def test_devices_by_either_name(kind):
    for keywords in ({"ctx": mx.cpu(1)}, {"device": mx.cpu(1)}):
        array = kind.zeros((2,), **keywords)
        assert array.ctx == array.device == array.context == mx.cpu(1)
    with mx.cpu(2):
        assert kind.ones((1,)).ctx == mx.cpu(2)
    assert array.as_in_context(mx.cpu(1)) is array
    assert array.to_device(mx.cpu(0)).ctx == mx.cpu(0)


def test_no_gpu_is_said(kind):
    assert mx.num_gpus() == mx.device.num_gpus() == len(mx.test_utils.list_gpus()) == 0
    with pytest.raises(mx.MXNetError, match=r"no device gpu\(0\)"):
        kind.zeros((2,), ctx=mx.gpu())
    with pytest.raises(ValueError, match="valid are: cpu, gpu"):
        mx.Context("tpu")


# ---- operators ---------------------------------------------------------------------------------
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.mark.parametrize("function", BINARY + COMPARISONS, ids=lambda f: f.__name__)
def test_operators(kind, function):
    left = onp.array([[1, 2, 3], [4, 5, 6]], dtype="float32")
    right = onp.array([3, 2, 1], dtype="float32")
    a, b = kind.array(left), kind.array(right)
    for found, wanted in ((function(a, b), function(left, right)),
                          (function(a, 2), function(left, 2)),
                          (function(a, 1.5), function(left, 1.5)),
                          (function(3, b), function(3, right)),
                          (function(a, onp.float32(2)), function(left, 2)),
                          (function(a, right), function(left, right)),
                          (function(left, b), function(left, right))):
        assert type(found) is type(a)
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "imod"])
def test_operators_in_place(kind, name):
    values = VALUES.copy() + 1
    array = kind.array(values)
    same, function = array, getattr(operator, name)
    array = function(array, 2)
    array = function(array, kind.array(values[0]))
    assert array is same
    values = function(values, 2)
    values = function(values, VALUES[0] + 1)
    onp.testing.assert_allclose(same.asnumpy(), values, rtol=1e-6)


def test_numbers_are_told_apart():
    """1, 1.0 and True are equal as keys of a dict."""
    whole = mx.np.array([1, 2], dtype="int32")
    assert (whole + 1).dtype == onp.int32
    assert (whole + 1.0).dtype in (onp.float32, onp.float64)
    assert (whole + 1).dtype == onp.int32
    onp.testing.assert_array_equal((whole + True).asnumpy(), [2, 3])
    tiny = mx.nd.array([0.0])
    for number in (1e-30, 2.5, -0.0, float("inf"), 1 / 3):
        assert (tiny + number).asscalar() == onp.float32(number)


def test_many_different_numbers():
    array = mx.nd.zeros((1,))
    for number in range(3000):
        assert (array + number / 7).asscalar() == onp.float32(number / 7)


def test_unary_and_matrix_operators():
    values = onp.array([[1, -2], [3, 4]], dtype="float32")
    for kind in KINDS:
        array = kind.array(values)
        onp.testing.assert_array_equal((-array).asnumpy(), -values)
        onp.testing.assert_array_equal(abs(array).asnumpy(), abs(values))
        onp.testing.assert_array_equal(array.T.asnumpy(), values.T)
    onp.testing.assert_allclose((mx.np.array(values) @ mx.np.array(values)).asnumpy(),
                                values @ values)


def test_mixed_kinds():
    nd, np = mx.nd.array([1, 2]), mx.np.array([3, 4])
    assert isinstance(nd + np, mx.nd.NDArray) and isinstance(np + nd, mx.np.ndarray)
    onp.testing.assert_array_equal(mx.nd.sqrt(np * np).asnumpy(), [3, 4])
    onp.testing.assert_array_equal(mx.np.exp(nd * 0).asnumpy(), [1, 1])
    assert isinstance(np.as_nd_ndarray(), mx.nd.NDArray)
    assert isinstance(nd.as_np_ndarray(), mx.np.ndarray)


def test_wrong_operands(kind):
    array = kind.ones((2, 3))
    with pytest.raises(TypeError):
        array + "x"
    with pytest.raises(TypeError):
        array + None
    with pytest.raises(mx.MXNetError, match="(?i)shape"):
        array + kind.ones((4, 5))


# ---- reading -----------------------------------------------------------------------------------
KEYS = [0, -1, (0, 1), (1, -1, 2), slice(0, 1), slice(1, None), slice(None), Ellipsis,
        (slice(None), 1), (slice(None), slice(0, 2)), (Ellipsis, 2), (0, slice(None), 3),
        (slice(None, None, -1),), (slice(None), slice(None, None, 2), slice(3, 0, -2)),
        (None, 0), (slice(None), None, 1), (0, Ellipsis, slice(1, 3)), slice(2, 2),
        [1, 0], (onp.array([0, 1]), onp.array([2, 0])), (slice(None), [2, 0]),
        onp.array([True, False])]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing(kind, key):
    found = kind.array(VALUES)[key]
    wanted = VALUES[key]
    if kind is mx.nd and wanted.shape == ():
        wanted = wanted.reshape(1)
    assert found.shape == wanted.shape
    onp.testing.assert_array_equal(found.asnumpy(), wanted)


def test_index_arrays_of_ours(kind):
    index = kind.array([1, 0, 1])
    onp.testing.assert_array_equal(kind.array(VALUES)[index].asnumpy(), VALUES[[1, 0, 1]])


def test_wrong_keys(kind):
    array = kind.array(VALUES)
    for key in (2, -3, (0, 3), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            array[key]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 2"):
        array[5]


def test_rows_are_views(kind):
    array = kind.array(VALUES)
    array[1][0][:] = 9
    array[0:1][:] = -1
    wanted = VALUES.copy()
    wanted[1, 0], wanted[0] = 9, -1
    onp.testing.assert_array_equal(array.asnumpy(), wanted)


def test_iteration_and_numbers(kind):
    rows = list(kind.array(VALUES))
    assert len(rows) == len(kind.array(VALUES)) == 2
    onp.testing.assert_array_equal(rows[1].asnumpy(), VALUES[1])
    one = kind.array([3])
    assert (float(one), int(one), bool(one), one.item()) == (3.0, 3, True, 3.0)
    with pytest.raises(ValueError):
        bool(kind.ones((2,)))
    assert onp.asarray(kind.array(VALUES)).sum() == VALUES.sum()


# ---- writing -----------------------------------------------------------------------------------
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_assignment(kind, key):
    for value in (5, 2.5, "array", "numpy", "broadcast"):
        array, wanted = kind.array(VALUES), VALUES.copy()
        part = wanted[key]
        given = value
        if value == "array":
            given = kind.array(part * 2) if part.shape or kind is mx.np else 7
        elif value == "numpy":
            given = part * 3
        elif value == "broadcast":
            given = onp.float32(4)
        array[key] = given
        wanted[key] = given.asnumpy() if hasattr(given, "asnumpy") else given
        onp.testing.assert_array_equal(array.asnumpy(), wanted)


def test_assignment_converts(kind):
    array = kind.zeros((2, 2), dtype="int32")
    array[:] = onp.array([[1.9, 2.1], [3, 4]])
    onp.testing.assert_array_equal(array.asnumpy(), [[1, 2], [3, 4]])
    with pytest.raises((ValueError, mx.MXNetError)):
        array[:] = onp.zeros((3, 3))


# ---- copies and files --------------------------------------------------------------------------
def test_copies_are_independent(kind):
    array = kind.array(VALUES)
    copies = [array.copy(), copy.copy(array), copy.deepcopy(array), array.copyto(mx.cpu(0)),
              array.copyto(kind.zeros(VALUES.shape)), pickle.loads(pickle.dumps(array))]
    array[:] = 0
    for item in copies:
        assert type(item) is type(array)
        onp.testing.assert_array_equal(item.asnumpy(), VALUES)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "uint8", "bool"])
def test_a_pickle_keeps_the_type(kind, dtype):
    array = kind.ones((2, 3)).astype(dtype)
    found = pickle.loads(pickle.dumps(array))
    assert found.dtype == array.dtype and found.astype("float32").asnumpy().tolist() == [[1] * 3] * 2


def test_conversion_of_types(kind):
    array = kind.array([1.7, -2.2])
    assert array.astype("int32").asnumpy().tolist() == [1, -2]
    assert array.astype("float32", copy=False) is array
    assert array.astype(onp.float64).dtype == onp.float64
    with pytest.raises(TypeError, match="the types are: float32"):
        array.astype("complex64")


def test_reshapes():
    array = mx.nd.array(VALUES)
    assert array.reshape((4, -1)).shape == (4, 6)
    assert array.reshape((0, -1)).shape == (2, 12)
    assert array.reshape(-1).shape == (24,)
    assert array.reshape((-3, 4)).shape == (6, 4)
    assert mx.np.array(VALUES).reshape(4, -1).shape == (4, 6)
    assert mx.np.array([1]).reshape(()).shape == ()
    with pytest.raises(mx.MXNetError):
        array.reshape((5, 5))


def test_files(kind, tmp_path):
    arrays = {"weight": kind.array(VALUES), "bias": kind.zeros((3,), dtype="int64")}
    name = str(tmp_path / "arrays")
    kind.save(name, arrays)
    loaded = kind.load(name)
    assert set(loaded) == set(arrays)
    for key, array in arrays.items():
        assert type(loaded[key]) is type(array) and loaded[key].dtype == array.dtype
        onp.testing.assert_array_equal(loaded[key].asnumpy(), array.asnumpy())
    kind.save(name, list(arrays.values()))
    assert [item.shape for item in kind.load(name)] == [(2, 3, 4), (3,)]
    with pytest.raises(mx.MXNetError):
        kind.load(str(tmp_path / "missing"))
    (tmp_path / "cut").write_bytes((tmp_path / "arrays").read_bytes()[:50])
    with pytest.raises(mx.MXNetError):
        kind.load(str(tmp_path / "cut"))


def test_scalars_in_files(tmp_path):
    name = str(tmp_path / "scalar")
    mx.np.save(name, {"s": mx.np.array(2.5)})
    assert mx.np.load(name)["s"].shape == ()


def test_an_array_takes_the_shape_of_what_is_written_to_it():
    out = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayCreateNone(ctypes.byref(out)))
    array = mx.nd.NDArray(out.value)
    assert array.shape == ()
    mx.nd.sqrt(mx.nd.array([4, 9]), out=array)
    assert array.shape == (2,) and array.asnumpy().tolist() == [2, 3]


def test_shown():
    assert repr(mx.nd.array([1, 2])) == "\n[1. 2.]\n<NDArray 2 @cpu(0)>"
    assert repr(mx.np.array([1, 2])) == "array([1., 2.])"
    assert repr(mx.np.array([1], device=mx.cpu(1))) == "array([1.], device=cpu(1))"


def test_values_that_do_not_fit_are_refused_as_by_numpy(kind):
    array = kind.array(VALUES)
    for key, shape in ((0, (5,)), (slice(None), (3, 3)), ((slice(None), slice(None, None, 2)), (3, 4)),
                       (0, (2, 1, 3, 4)), (slice(5, 9), (7, 1, 1))):
        with pytest.raises(ValueError, match="do not fit"):
            array[key] = kind.ones(shape)
    onp.testing.assert_array_equal(array.asnumpy(), VALUES)


def test_a_reshape_takes_all_elements():
    array = mx.nd.array(VALUES)
    for wrong in ((4,), (2, 3, 2), (0, 0, 2)):
        with pytest.raises(ValueError, match="cannot have the shape"):
            array.reshape(wrong)
    for source, destination in ((0, 2), ([0, 1], [2, 0]), (-1, 0)):
        onp.testing.assert_array_equal(mx.nd.moveaxis(array, source, destination).asnumpy(),
                                       onp.moveaxis(VALUES, source, destination))


def test_types_that_do_not_exist(kind):
    for wrong, name in (("float31", "float31"), (onp.complex64, "complex64"), (3, "3")):
        with pytest.raises(TypeError, match=f"arrays of {name} are not supported; the types are: float32, float64"):
            kind.zeros((2,), dtype=wrong)


def test_words_of_truths():
    a, b = mx.nd.array([0, 2, 0, 3]), mx.nd.array([0, 0, 4, 5])
    for word in ("and", "or", "xor"):
        function, wanted = getattr(mx.nd, "logical_" + word), getattr(onp, "logical_" + word)
        assert function(a, b).asnumpy().tolist() == wanted(a.asnumpy(), b.asnumpy()).tolist()
        assert function(a, 1).asnumpy().tolist() == function(1, a).asnumpy().tolist() \
            == wanted(a.asnumpy(), 1).tolist()
    onp.testing.assert_allclose((a / 5).arcsin().asnumpy(), onp.arcsin(a.asnumpy() / 5), rtol=1e-6)
    with mx.np_shape(True):
        assert mx.is_np_shape()


def test_random_numbers_of_several_distributions():
    low, high = mx.nd.array([0, 10]), mx.nd.array([1, 20])
    drawn = mx.nd.random.uniform(low, high, shape=(200, 3)).asnumpy()
    assert drawn.shape == (2, 200, 3) and mx.nd.random.uniform(low, high).shape == (2,)
    assert (drawn[0] >= 0).all() and (drawn[0] < 1).all() and (drawn[1] >= 10).all()
    drawn = mx.nd.random.normal(low, mx.nd.array([1, 0.001]), shape=5000).asnumpy()
    assert drawn.shape == (2, 5000) and drawn[0].std() == pytest.approx(1, rel=0.1)
    assert drawn[1] == pytest.approx(10, abs=0.01)


DISTRIBUTIONS = {  # name -> parameters, mean, variance
    "exponential": ((2.0,), 2, 4), "gamma": ((2.0, 3.0), 6, 18), "poisson": ((4.0,), 4, 4),
    "negative_binomial": ((3, 0.4), 4.5, 11.25),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_that_numpy_draws(name):
    parameters, mean, variance = DISTRIBUTIONS[name]
    draw = getattr(mx.nd.random, name)
    mx.random.seed(3)
    drawn = draw(*parameters, shape=(100, 80))
    assert drawn.shape == (100, 80) and drawn.dtype == onp.float32
    assert drawn.asnumpy().mean() == pytest.approx(mean, abs=5 * (variance / 8000) ** 0.5)
    assert drawn.asnumpy().var() == pytest.approx(variance, rel=0.1)
    mx.random.seed(3)
    assert (draw(*parameters, shape=(100, 80)) == drawn).asnumpy().all()
    assert draw(*parameters).shape == (1,)
    out = mx.nd.zeros((5,))
    assert draw(*parameters, out=out) is out and out.asnumpy().any()
    arrays = [mx.nd.array([parameter, parameter]) for parameter in parameters]
    assert draw(*arrays, shape=(4, 3), dtype="float64").shape == (2, 4, 3)


def test_places_by_probability():
    mx.random.seed(3)
    rows = mx.nd.array([[0.2, 0.0, 0.8], [0.0, 1.0, 0.0]])
    places = mx.nd.random.multinomial(rows, shape=(40, 50))
    assert places.shape == (2, 40, 50) and places.dtype == onp.int32
    first, second = places.asnumpy()
    assert set(first.ravel()) == {0, 2} and (first == 2).mean() == pytest.approx(0.8, abs=0.045)
    assert (second == 1).all()
    assert mx.nd.random.multinomial(rows).shape == (2,) and mx.nd.random.multinomial(rows[0]).shape == (1,)
