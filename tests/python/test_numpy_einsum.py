# SPDX-License-Identifier: Apache-2.0
"""Einstein sums against NumPy's: values, types, gradients, refusals."""
import numpy as onp
import pytest

from mxnet import autograd, np
from python_program import names, run_python

SUMS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,kj": [(2, 3), (4, 3)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "bqhd,bkhd->bhqk": [(2, 3, 4, 5), (2, 6, 4, 5)],  # the scores of attention
    "i,i->": [(3,), (3,)],
    "i,j->ij": [(3,), (4,)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "ij,ij->j": [(2, 3), (2, 3)],
    "ba": [(2, 3)],
    "ij->": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iijj->ji": [(2, 2, 3, 3)],
    "iij,j->i": [(3, 3, 2), (2,)],
    "ij,jk,kl->li": [(2, 3), (3, 4), (4, 5)],
    ",ij->ij": [(), (2, 3)],
    "ij,k->": [(2, 3), (4,)],
    "...ij, ...jk -> ...ik": [(5, 1, 2, 3), (6, 3, 4)],
    "...ij,...jk": [(5, 2, 3), (3, 4)],
    "i...->...": [(2, 3, 4)],
    "ij,jk->ki": [(1, 3), (3, 4)],
    "ab,bc->c": [(2, 1), (3, 4)],  # b is repeated
    "ij,jk->ik ": [(0, 3), (3, 2)],
}


def drawn(name):
    """The arrays of a sum, as NumPy's float64."""
    random = onp.random.RandomState(3)
    return [random.randint(-4, 5, size=shape).astype("float64") for shape in SUMS[name]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("name", SUMS)
def test_values_and_types(name, dtype):
    arrays = [array.astype(dtype) for array in drawn(name)]
    wanted = onp.einsum(name, *arrays)
    found = np.einsum(name, *[np.array(array, dtype=dtype) for array in arrays])
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    assert found.asnumpy().tolist() == wanted.tolist()  # whole numbers: no rounding


@pytest.mark.parametrize("name", SUMS)
def test_gradients(name):
    arrays = [np.array(array, dtype="float64") for array in drawn(name)]
    for array in arrays:
        array.attach_grad()
    with autograd.record():
        y = np.einsum(name, *arrays)
    head = onp.random.RandomState(4).normal(size=y.shape)
    y.backward(np.array(head, dtype="float64"))
    for at, array in enumerate(arrays):  # the sum is linear in each array: its part is a directional one
        moved = onp.random.RandomState(5 + at).normal(size=array.shape)
        others = [item.asnumpy() for item in arrays]
        others[at] = moved
        wanted = (onp.einsum(name, *others) * head).sum()
        assert (array.grad.asnumpy() * moved).sum() == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_other_types_and_forms():
    x, y = onp.ones((2, 3), "float32"), onp.arange(3)
    found = np.einsum("ij,j->i", np.array(x), np.array(y, dtype="int64"))
    assert found.asnumpy().tolist() == [3, 3]
    assert np.einsum("ij,j->i", np.array(x), [1, 2, 3]).asnumpy().tolist() == [6, 6]
    assert np.einsum(np.array(x), [0, 1], [1]).asnumpy().tolist() == [2, 2, 2]


@pytest.mark.parametrize("name, shapes, message", [
    ("ij,jk->ik", [(2, 3)], "2 terms, but 1 arrays"),
    ("ij->ij", [(2, 3, 4)], "'ij' does not fit an array of 3 dimensions"),
    ("ijk...->i", [(2, 3)], "does not fit an array of 2"),
    ("ij,jk->ik", [(2, 3), (4, 5)], "'j' has the sizes 3 and 4"),
    ("ii", [(2, 3)], "'i' has the sizes 2 and 3"),
    ("ij->ik", [(2, 3)], "'ik' may have each label"),
    ("ij->ii", [(2, 3)], "'ii' may have each label"),
    ("i1->i", [(2, 3)], "'i1' is not made of letters"),
])
def test_wrong_sums(name, shapes, message):
    with pytest.raises(ValueError, match="einsum '.*" + message):
        np.einsum(name, *[np.ones(shape) for shape in shapes])


PROFILED = """
from mxnet import np, profiler
profiler.set_config(profile_all=True, filename="trace.json")
a, b = np.ones((2, 3)), np.ones((3, 4))
profiler.set_state("run")
np.einsum("ij,jk->ik", a, b).wait_to_read()
profiler.set_state("stop")
profiler.dump()
"""


def test_a_sum_is_recorded_as_its_operators(tmp_path):
    done = run_python(PROFILED, tmp_path)
    assert done.code == 0, done.err
    operators = names(done.trace(), "operator")
    assert operators.count("_npi_matmul") == 1 and "_npi_transpose" not in operators
