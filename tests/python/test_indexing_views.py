# SPDX-License-Identifier: Apache-2.0
"""Which parts of an array are views of it, and what is written to parts."""
import itertools

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, np

KINDS = [mx.nd, mx.np]
ITEMS = [0, -1, slice(None), slice(0, 1), slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(1, 1), None, Ellipsis]
SHAPES = [(5,), (2, 3), (1, 4), (3, 1), (2, 3, 4), (1, 1, 5), (2, 1, 3)]


@pytest.fixture(name="kind", params=KINDS, ids=["nd", "np"])
def kind_fixture(request):
    return request.param


def keys(shape):
    """Keys of up to three items that fit a shape, and what NumPy makes of them."""
    host = onp.arange(onp.prod(shape), dtype="float32").reshape(shape)
    for count in range(1, min(len(shape) + 1, 3) + 1):
        for key in itertools.product(ITEMS, repeat=count):
            if sum(item is Ellipsis for item in key) < 2 and sum(item is not None and item is not Ellipsis for item in key) <= len(shape):
                yield key, host, host[key]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_key_of_elements_side_by_side_is_a_view(kind, shape):
    for key, host, part in keys(shape):
        array = kind.array(host)
        found = array[key]
        assert found.shape == (part.shape or (() if kind is mx.np else (1,))), key
        onp.testing.assert_array_equal(found.asnumpy().reshape(part.shape), part, err_msg=str(key))
        found += 100
        is_view = part.size > 0 and (not part.shape or part.flags.c_contiguous)
        changed = host.copy()
        if is_view:
            changed[key] += 100
        onp.testing.assert_array_equal(array.asnumpy(), changed, err_msg=str(key))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_parts_take_what_numpys_take(kind, shape):
    for key, host, part in keys(shape):
        values = onp.asarray(50 - onp.arange(part.size, dtype="float32").reshape(part.shape))
        row = onp.float32([7]) if part.ndim == 0 else values[:1]
        for value, given in ((values, values), (values, kind.array(values) if part.size else values), (9, 9), (row, row),
                             (values, values.reshape((1, 1) + part.shape))):
            array, wanted = kind.array(host), host.copy()
            wanted[key] = value if part.ndim or onp.ndim(value) == 0 else value.reshape(())
            array[key] = given
            onp.testing.assert_array_equal(array.asnumpy(), wanted, err_msg=str(key))


def test_outputs_may_be_parts(kind):
    ones, array = kind.ones((1, 3)), kind.zeros((3, 3))
    kind.add(ones, 1, out=array[1:2, 0:3])
    kind.exp(ones * 0, out=array[2, None])
    assert array.asnumpy().tolist() == [[0] * 3, [2] * 3, [1] * 3]


def test_the_whole_is_a_view_of_its_own():
    array = np.ones(3)
    for key in (slice(None), Ellipsis, ()):
        whole = array[key]
        whole.attach_grad()
        assert array.grad is None
        whole += 1
    assert array.asnumpy().tolist() == [4, 4, 4]


def test_a_plus_before_an_array_makes_a_copy(kind):
    array = kind.ones((4,))
    copy = +array
    copy += 1
    assert array.asnumpy().tolist() == [1] * 4 and copy.asnumpy().tolist() == [2] * 4


VIEWS = [(slice(0, 1), slice(0, 3)), (None,), (1, None), (slice(1, 2), 0), (Ellipsis, slice(None)), (1, slice(1, 2)), (0, 0, None)]


@pytest.mark.parametrize("key", VIEWS, ids=str)
def test_gradients_of_views(kind, key):
    x = kind.array(onp.arange(6.0).reshape(2, 3))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        z = (x[key] * y[key]).sum()
    z.backward()
    wanted = onp.zeros((2, 3))
    wanted[key] = 4 * onp.arange(6.0).reshape(2, 3)[key]
    assert x.grad.asnumpy().tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype, number", [("int64", 2 ** 53 + 1), ("int64", -2 ** 63), ("int64", 2 ** 63 - 1), ("uint64", 2 ** 64 - 1),
                                           ("uint64", onp.uint64(2 ** 63 + 1)), ("int64", onp.int64(-2 ** 53 - 1))])
def test_numbers_written_to_parts_keep_their_bits(kind, dtype, number):
    for key in (0, slice(0, 2), slice(None), slice(None, None, 2), (slice(None), 1), [0, 1], (slice(0, 1), slice(0, 1))):
        array, wanted = kind.zeros((3, 3), dtype=dtype), onp.zeros((3, 3), dtype)
        array[key] = number
        wanted[key] = number
        assert array.asnumpy().tolist() == wanted.tolist()
    assert kind.full((2,), number, dtype=dtype).asnumpy().tolist() == [number, number]
    assert kind.full((0,), number, dtype=dtype).shape == (0,)


def test_parts_take_values_of_other_types(kind):
    for key in ((slice(None), 1), 1, slice(None), (slice(None), slice(None, None, 2)), [0, 2]):
        for dtype, given in (("float32", "int32"), ("int8", "float64"), ("float16", "int64")):
            array, wanted = kind.zeros((3, 3), dtype=dtype), onp.zeros((3, 3), dtype)
            values = onp.arange(1, 1 + wanted[key].size).reshape(wanted[key].shape)
            array[key] = kind.array(values, dtype=given)
            wanted[key] = values
            assert onp.dtype(array.dtype) == dtype and array.asnumpy().tolist() == wanted.tolist()


def test_what_does_not_fit_an_empty_part_is_refused(kind):
    array = kind.zeros((3, 2))
    for value in (onp.ones(7), kind.ones((7,)), onp.ones((2, 2)), [1, 2, 3]):
        with pytest.raises(ValueError, match="do not fit"):
            array[10:20] = value
    array[10:20] = onp.ones(2)
    array[10:20] = kind.ones((1, 1, 2))
    array[10:20] = 4
    assert not array.asnumpy().any()


OVERLAPS = {"up": (slice(1, None), slice(None, -1)), "down": (slice(None, -1), slice(1, None)), "reversed": (slice(None), slice(None, None, -1))}


@pytest.mark.parametrize("name", OVERLAPS)
def test_parts_written_from_parts_that_overlap(kind, name):
    to, of = OVERLAPS[name]
    for size in (5, 1001, 300007):
        values = onp.arange(size, dtype="float32")
        array, wanted = kind.array(values), values.copy()
        array[to] = array[of]
        wanted[to] = values[of]
        onp.testing.assert_array_equal(array.asnumpy(), wanted)


# ---- views written to while autograd records ----------------------------------------------------
def _add_to(view, values):
    view += values


LOST = {  # (array, a view of it made before, what a gradient depends on) -> what to use afterwards
    "the array": lambda m, a, v, y: v.__setitem__(slice(None), y) or a * 2,
    "the array, added to": lambda m, a, v, y: _add_to(v, y) or a * 2,
    "through a view without a name": lambda m, a, v, y: a[0].__setitem__(slice(None), y) or a * 2,
    "as out": lambda m, a, v, y: m.add(y, 1, out=a[0]) is None or a.sum(),
    "another view": lambda m, a, v, y: a.__setitem__(0, y) or v * 2,
    "a view of it made later": lambda m, a, v, y: v.__setitem__(slice(None), y) or a[0] * 2,
    "a number over it": lambda m, a, v, y: a.__setitem__(slice(None), m.stack(y, y) if m is mx.nd else m.stack([y, y])) or v.__setitem__(slice(None), 7),
    "written again": lambda m, a, v, y: v.__setitem__(slice(None), y) or a.__setitem__(1, y) or a * 2,
}


@pytest.mark.parametrize("name", LOST)
def test_values_whose_gradient_would_be_lost_are_refused(kind, name):
    x, array = kind.array([1, 2, 3]), kind.zeros((2, 3))
    x.attach_grad()
    view = array[0]
    with autograd.record():
        with pytest.raises(mx.MXNetError, match="shares its memory with another one"):
            LOST[name](kind, array, view, x * 2)
    (x * 1).wait_to_read()


def test_what_a_view_was_given_is_differentiated(kind):
    x, array = kind.array([1, 2, 3]), kind.zeros((2, 3))
    x.attach_grad()
    for _ in range(2):  # the graph is forgotten in between
        view = array[1:2, 0:3]
        with autograd.record():
            view[:] = x * 2
            loss = (view * view).sum()
        loss.backward()
        assert array.asnumpy().tolist() == [[0, 0, 0], [2, 4, 6]]
        assert x.grad.asnumpy().tolist() == [8, 16, 24]
    with autograd.record():
        loss = (array * x).sum()  # values without a past now
    loss.backward()
    assert x.grad.asnumpy().tolist() == [2, 4, 6]


def test_adding_to_a_part_is_no_write_to_another_array(kind):
    x = kind.array([1, 2, 3])
    x.attach_grad()
    for key in (0, slice(0, 1), slice(None)):
        array = kind.ones((1, 3))
        with autograd.record():
            array[key] += x * 2
            loss = (array * array).sum()
        assert array.asnumpy().tolist() == [[3, 5, 7]]
        loss.backward()
        assert x.grad.asnumpy().tolist() == [12, 20, 28]


@pytest.mark.parametrize("length", [2, 5, 257])
def test_values_of_the_memory_that_they_are_written_to_are_read_first(length):
    values = onp.arange(3 * length).reshape(3, length)
    a, wanted = np.array(values, dtype="int32"), values.copy()
    a[:, ::-1] = a
    assert (a.asnumpy() == values[:, ::-1]).all()
    a[:, 1:] = a[:, :-1]
    wanted = values[:, ::-1].copy()
    wanted[:, 1:] = wanted[:, :-1].copy()
    assert (a.asnumpy() == wanted).all()
    b = mx.nd.array(values[0], dtype="int32")
    b[::-1] = b
    assert (b.asnumpy() == values[0, ::-1]).all()


def test_a_key_of_no_places():
    a = np.array([1.0, 2.0])
    assert a[[]].shape == (0,)
    a[[]] = 7
    assert a.tolist() == [1.0, 2.0]


def test_shapes_of_the_same_memory():
    array = mx.nd.array(onp.arange(6.0).reshape(2, 1, 3))
    for view, shape in ((array.flatten(inplace=True), (2, 3)), (array.squeeze(inplace=True), (2, 3)), (array.squeeze(1, inplace=True), (2, 3)),
                        (array.expand_dims(0, inplace=True), (1, 2, 1, 3)), (array.reshape((3, 2), inplace=True), (3, 2)),
                        (mx.nd.ones((4,)).flatten(inplace=True), mx.nd.ones((4,)).flatten().shape), (mx.nd.ones((1, 1)).squeeze(inplace=True), (1,))):
        assert view.shape == shape
    array.flatten(inplace=True)[:] = 7
    array.squeeze(inplace=True)[1] += 1
    array.expand_dims(3, inplace=True)[0, 0, 0] = 9
    assert array.asnumpy().tolist() == [[[9, 7, 7]], [[8, 8, 8]]]
    for copy in (array.flatten(), array.squeeze(), array.expand_dims(0)):
        copy[:] = 0
    assert array.asnumpy().all()
    with pytest.raises(ValueError):
        array.squeeze(0, inplace=True)


def test_numbers_made_arrays_of_1x_have_numpys_shapes_if_asked():
    with mx.util.np_shape(True):
        assert mx.nd.array(3).shape == mx.nd.array(onp.array(3.0)).shape == mx.nd.array(np.array(3.0)).shape == ()
    assert mx.nd.array(3).shape == mx.nd.array(onp.array(3.0)).shape == mx.nd.array(np.array(3.0)).shape == (1,)


def test_keys_of_no_places_have_numpys_shapes(kind):
    host = onp.ones((2, 3, 4))
    for key in ([], (slice(None), []), onp.array([False, False]), (slice(1, 1), [0, 1]), ([0, 1], slice(2, 1)), (None, [], slice(None), 0)):
        assert kind.ones((2, 3, 4))[key].shape == host[key].shape


def test_whole_numbers_in_lists_keep_their_digits():
    a = np.zeros((2,), dtype="uint64")
    a[...] = [3, 2 ** 63 + 2 ** 9 + 1]
    assert a.tolist() == [3, 2 ** 63 + 2 ** 9 + 1]
    b = np.zeros((2,), dtype="int32")
    b[:] = [1.75, -1.75]
    assert b.tolist() == [1, -1]


@pytest.mark.parametrize("kind", [mx.nd, mx.np])
def test_arrays_of_size_zero(kind):
    """1.9.1 makes some of them, and takes none, without NumPy's shapes."""
    empty = kind.zeros((2, 0))
    for made in (empty, kind.ones((2, 0)), kind.full((2, 0), 3.0), kind.ones((2, 3))[:, 3:3], empty + 1, empty * empty,
                 kind.array(onp.zeros((2, 0))), kind.random.uniform(size=(2, 0)) if kind is mx.np
                 else kind.random.uniform(shape=(2, 0)), kind.zeros_like(empty)):
        assert made.shape == (2, 0) and made.asnumpy().tolist() == [[], []] and made.dtype == onp.float32
    assert empty.sum().asnumpy().item() == 0 and kind.eye(0).shape == (0, 0) and kind.arange(0).shape == (0,)


def test_a_size_of_zero_is_not_known_in_a_symbol():
    total = mx.sym.elemwise_add(mx.sym.zeros(shape=(0, 3)), mx.sym.var("b"))
    assert total.infer_shape(b=(2, 3)) == ([(2, 3)], [(2, 3)], [])
    assert total.infer_shape_partial() == ([(0, 3)], [(0, 3)], [])
    assert total.simple_bind(mx.cpu(), b=(2, 3)).forward()[0].shape == (2, 3)
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        assert mx.sym.zeros(shape=(0, 3)).infer_shape() == (None, None, None)
