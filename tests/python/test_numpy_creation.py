# SPDX-License-Identifier: Apache-2.0
"""Arrays made of numbers: ranges, grids, what is repeated to a shape, and draws between bounds."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd, np
from mxnet.base import MXNetError


def test_ranges_of_whole_numbers_keep_all_digits():
    for start, stop, step in ((2**53, 2**53 + 9, 1), (-2**63, -2**63 + 3, 1), (2**63 - 3, 2**63 - 1, 1),
                              (5, -2**53, -2**51 - 1), (0, 0, 1), (4, 1, 1), (2**62, 2**62 + 7, 3),
                              (2**53 + 1, 2**53, 1), (2**53, 2**53 + 1, -1), (2**53 + 1, 2**53, -1)):
        wanted = list(range(start, stop, step))  # NumPy counts with doubles
        for found in (np.arange(start, stop, step, dtype="int64"), nd.arange(start, stop, step, dtype="int64")):
            assert found.asnumpy().tolist() == wanted
    assert np.arange(onp.int64(3)).asnumpy().tolist() == [0, 1, 2] == np.arange(3, None).asnumpy().tolist()
    assert np.arange(True).shape == (1,) and np.arange(onp.float32(1.5)).shape == (2,)


def test_ranges_of_a_whole_type_count_the_whole_parts_of_start_and_step():
    assert nd.arange(1.3, 8, 1.3, dtype="int32").asnumpy().tolist() == [1, 2, 3, 4, 5, 6]
    assert np.arange(0, 3, 0.7, dtype="int32").asnumpy().tolist() == [0] * 5
    assert np.arange(1.5, 4).asnumpy().tolist() == [1.5, 2.5, 3.5]


def test_linspace_gives_the_step_too():
    values, step = np.linspace(0, 1, 5, retstep=True)
    assert step == 0.25 and values.asnumpy().tolist() == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("indexing", ("xy", "ij"))
@pytest.mark.parametrize("sparse", (False, True))
def test_grids_of_empty_vectors(indexing, sparse):
    for sizes in ((0, 1), (1, 0), (0, 0), (2, 0, 3), (0,)):
        found = np.meshgrid(*[np.ones(n) for n in sizes], indexing=indexing, sparse=sparse)
        wanted = onp.meshgrid(*[onp.ones(n) for n in sizes], indexing=indexing, sparse=sparse)
        assert [a.shape for a in found] == [a.shape for a in wanted]


def test_arrays_repeated_to_a_shape_with_sizes_of_0():
    for shapes in (((0, 1), (1, 3)), ((3, 0), (1,)), ((), (0,)), ((2, 1), (3,))):
        found = np.broadcast_arrays(*[np.ones(shape) for shape in shapes])
        wanted = onp.broadcast_arrays(*[onp.ones(shape) for shape in shapes])
        assert [a.shape for a in found] == [a.shape for a in wanted]
    assert np.broadcast_to(1.0, (2,)).asnumpy().tolist() == [1, 1]
    assert np.broadcast_to(np.ones((1,)), 3).shape == (3,)


def test_broadcast_like_wants_axes():
    with pytest.raises(MXNetError, match="lhs_axes and rhs_axes are empty"):
        nd.broadcast_like(nd.ones((1, 2)), nd.ones((3, 2)), lhs_axes=(), rhs_axes=())


@pytest.mark.parametrize("dtype", ("float16", "float32", "float64"))
def test_draws_are_never_the_upper_bound(dtype):
    mx.random.seed(5)
    for low, high in ((1, 2), (-1, 0), (0, 1), (-3, -2)):
        drawn = np.random.uniform(low, high, (100000,), dtype=dtype).asnumpy()
        assert drawn.min() >= low and drawn.max() < high and drawn.max() - drawn.min() > 0.99
    assert (np.random.uniform(2, 2, (3,), dtype=dtype).asnumpy() == 2).all()
    assert np.random.uniform(0.1, 0.2, (1000,), dtype="float64").asnumpy().max() < 0.2


def test_other_orders_of_memory_are_refused():
    for call in (lambda order: np.empty((2,), order=order), lambda order: np.zeros((2,), order=order), lambda order: np.eye(2, order=order),
                 lambda order: np.full((2,), 1, order=order), lambda order: np.ones((2,)).copy(order=order), lambda order: np.copy(np.ones(2), order)):
        assert call("C").shape[0] == 2
        with pytest.raises(NotImplementedError, match="order='F'"):
            call("F")


def test_no_sizes_are_an_unknown_shape_unless_shapes_are_those_of_numpy():
    with pytest.raises(MXNetError, match="shape of output 0 cannot be inferred"):
        nd.zeros(())
    assert np.zeros(()).shape == ()
    with mx.util.np_shape(True):
        assert nd.zeros(()).shape == nd.ones(()).shape == ()


def test_numbers_beyond_int64_make_arrays_of_uint64():
    made = np.full((2,), 2**63)
    assert made.dtype == onp.uint64 and made.asnumpy().tolist() == [2**63] * 2
