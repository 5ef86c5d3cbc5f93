# SPDX-License-Identifier: Apache-2.0
"""DLPack: the same memory as an array here and in NumPy or PyTorch."""
import ctypes
import gc
import importlib.util
import os
import sys

import numpy as onp
import pytest

import mxnet as mx
from python_program import SOURCE, run_python

TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16",
         "uint32", "uint64"]


class Plain:
    """A producer from before versions of the structure."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("kind", [mx.nd, mx.np])
@pytest.mark.parametrize("dtype", TYPES)
def test_numpy_sees_the_memory_of_an_array(kind, dtype):
    array = kind.array([[0, 1, 2], [3, 4, 5]], dtype=dtype)
    seen = onp.from_dlpack(array)
    assert seen.shape == (2, 3) and seen.dtype == dtype
    assert (seen == array.asnumpy()).all()
    seen[1, 0] = 1 if dtype == "bool" else 9
    assert array.asnumpy()[1, 0] == seen[1, 0]


@pytest.mark.parametrize("kind", [mx.nd, mx.np])
@pytest.mark.parametrize("dtype", TYPES)
def test_an_array_on_the_memory_of_numpy(kind, dtype):
    values = onp.array([[0, 1, 2], [3, 4, 5]], dtype)
    array = kind.from_dlpack(values)
    assert type(array) is type(kind.array([1])) and array.shape == (2, 3) and onp.dtype(array.dtype) == dtype
    array[:] = 1
    array.wait_to_read()
    assert (values == 1).all()


def test_an_array_that_comes_back_is_ordered_with_itself():
    array = mx.nd.arange(6).reshape(2, 3)
    again = mx.nd.from_dlpack(mx.nd.to_dlpack_for_write(array))
    again += 1
    assert array.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert mx.nd.from_dlpack(array.to_dlpack_for_read()).asnumpy().tolist() == array.asnumpy().tolist()
    half = mx.nd.ones((2,), dtype="bfloat16")
    assert mx.nd.from_dlpack(half).dtype == half.dtype and mx.nd.from_dlpack(half).asnumpy().tolist() == [1, 1]


def test_reading_waits_for_pending_writes():
    array = mx.nd.ones((400, 400))
    for _ in range(10):
        array = mx.nd.dot(array, array) / 400
    assert (onp.from_dlpack(array) == 1).all()


def test_an_error_of_a_pending_write_is_raised():
    class Failing(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise ValueError("on purpose")

    @mx.operator.register("dlpack_failing")
    class _(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Failing()

    with pytest.raises(mx.MXNetError, match="on purpose"):
        mx.nd.Custom(mx.nd.ones((2,)), op_type="dlpack_failing").to_dlpack_for_read()


def test_exported_memory_outlives_its_array():
    array = mx.nd.arange(1000)
    seen = onp.from_dlpack(array)
    address = seen.ctypes.data
    del array
    gc.collect()
    others = [mx.nd.zeros((1000,)) for _ in range(8)]
    mx.nd.waitall()
    assert (seen == onp.arange(1000)).all()
    assert all(other.__dlpack__() and onp.from_dlpack(other).ctypes.data != address for other in others)


def test_memory_of_a_capsule_that_nobody_takes_goes_back():
    array = mx.nd.zeros((123, 457))
    address = onp.from_dlpack(array).ctypes.data
    capsules = [array.to_dlpack_for_read(), array.__dlpack__(max_version=(1, 0))]
    del array, capsules
    mx.nd.waitall()
    assert onp.from_dlpack(mx.nd.zeros((123, 457))).ctypes.data == address  # from the pool


def test_memory_of_others_lives_as_long_as_its_array():
    ended = []

    class Values(onp.ndarray):
        def __del__(self):
            ended.append(self.shape)

    array = mx.nd.from_dlpack(onp.zeros((5, 7), "float32").view(Values))
    view = array[1:3]
    del array
    gc.collect()
    view += 2
    assert view.asnumpy().tolist() == [[2] * 7] * 2 and (5, 7) not in ended
    del view
    mx.nd.waitall()
    gc.collect()
    assert (5, 7) in ended


def test_operators_and_gradients_take_imported_arrays():
    values = onp.array([1, 2, 3], "float32")
    array = mx.np.from_dlpack(values)
    array.attach_grad()
    with mx.autograd.record():
        loss = (array * array).sum()
    loss.backward()
    assert array.grad.asnumpy().tolist() == [2, 4, 6]
    values[0] = 5  # nothing is pending
    assert (array + 1).asnumpy().tolist() == [6, 3, 4]


def test_a_view_is_exported_with_its_own_place():
    array = mx.nd.arange(12).reshape(3, 4)
    assert onp.from_dlpack(array[1:]).tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]
    assert onp.from_dlpack(mx.np.array(3.5)).tolist() == 3.5
    assert onp.from_dlpack(mx.np.zeros((0, 3))).shape == (0, 3)


def test_strided_memory_is_refused():
    values = onp.arange(12, dtype="float32").reshape(3, 4)
    with pytest.raises(mx.MXNetError, match=r"shape \(4, ?3\) is not row-major"):
        mx.np.from_dlpack(values.T)
    with pytest.raises(mx.MXNetError, match="row-major"):
        mx.np.from_dlpack(values[:, ::2])
    assert mx.np.from_dlpack(values[1:2, :][:, None]).shape == (1, 1, 4)  # steps of a dimension of 1
    with pytest.raises(ValueError, match="C-contiguous"):
        mx.nd.from_numpy(values.T, zero_copy=True)


def test_read_only_memory_is_refused():
    values = onp.ones(3, "float32")
    values.flags["WRITEABLE"] = False
    with pytest.raises((mx.MXNetError, BufferError), match="(?i)read-?only"):
        mx.np.from_dlpack(values)
    with pytest.raises(ValueError, match="read-only"):
        mx.nd.from_numpy(values, zero_copy=True)


def test_types_that_arrays_have_not_are_refused():
    with pytest.raises(mx.MXNetError, match="code 5 with 64 bits"):
        mx.np.from_dlpack(onp.ones(2, "complex64"))


def test_a_capsule_is_used_once():
    capsule = mx.nd.ones((2,)).to_dlpack_for_read()
    mx.nd.from_dlpack(capsule)
    with pytest.raises(ValueError, match="has been used"):
        mx.nd.from_dlpack(capsule)
    with pytest.raises(TypeError, match="int has no __dlpack__"):
        mx.nd.from_dlpack(5)


def test_a_producer_without_versions_is_taken():
    array = mx.np.arange(3)
    again = mx.np.from_dlpack(Plain(array))
    again[:] = 7
    assert array.asnumpy().tolist() == [7, 7, 7]


def test_memory_of_other_devices_is_refused():
    class Elsewhere(Plain):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(BufferError, match="kind 2"):
        mx.np.from_dlpack(Elsewhere(mx.np.ones(2)))
    with pytest.raises(BufferError, match="not on"):
        mx.np.ones(2).__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream"):
        mx.np.ones(2).__dlpack__(stream=1)
    assert mx.nd.ones((2,), ctx=mx.cpu(1)).__dlpack_device__() == (1, 1)


def test_a_copy_is_asked_for():
    array = mx.np.zeros((2,))
    onp.from_dlpack(array, copy=True)[:] = 1
    mx.np.from_dlpack(array, copy=True)[:] = 1
    assert array.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("of", [lambda v, z: mx.nd.from_numpy(v, zero_copy=z),
                                lambda v, z: mx.npx.from_numpy(v, zero_copy=z)])
def test_from_numpy_shares_or_copies(of):
    values = onp.ones((2, 2), "float32")
    assert (of(values, False) + 1).asnumpy().tolist() == [[2, 2], [2, 2]] and values.flags["WRITEABLE"]
    array = of(values, True)
    array += 4
    array.wait_to_read()
    assert (values == 5).all() and not values.flags["WRITEABLE"]


def test_a_damaged_structure_is_refused():
    """The structure of a versioned capsule, changed by hand: another version."""
    capsule = mx.np.ones(2).__dlpack__(max_version=(1, 0))
    content = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, b"dltensor_versioned")
    ctypes.c_uint32.from_address(content).value = 2
    with pytest.raises(mx.MXNetError, match="version 2.0"):
        mx.np.from_dlpack(capsule)


TORCH = """
import torch
import mxnet as mx

array = mx.np.arange(6).reshape(2, 3)
tensor = torch.from_dlpack(array)
assert tensor.data_ptr() == torch.utils.dlpack.from_dlpack(array.__dlpack__()).data_ptr()
tensor += 1
assert array.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]
again = mx.np.from_dlpack(torch.ones(2, 2))
assert (again * 2).asnumpy().tolist() == [[2, 2], [2, 2]]
half = mx.nd.from_dlpack(torch.full((2,), 1.5, dtype=torch.bfloat16))
assert half.dtype == "bfloat16" and half.asnumpy().tolist() == [1.5, 1.5]
source = torch.zeros(3)
shared = mx.nd.from_dlpack(torch.utils.dlpack.to_dlpack(source))
shared += 2
back = torch.utils.dlpack.from_dlpack(mx.nd.to_dlpack_for_read(shared))
assert back.data_ptr() == source.data_ptr() and source.tolist() == back.tolist() == [2, 2, 2]
del source, back
assert shared.asnumpy().tolist() == [2, 2, 2]
"""


def torch_folder():
    """Where PyTorch is: "" in this environment, or in the one that `scripts/setup peers` makes; else None."""
    if importlib.util.find_spec("torch") is not None:
        return ""
    found = (SOURCE / "build/peers-torch").glob(f"lib/python3.{sys.version_info.minor}/site-packages/torch")
    return next((str(path.parent) for path in found), None)


@pytest.mark.skipif(torch_folder() is None, reason="PyTorch is not installed: scripts/setup peers")
def test_pytorch_and_back(tmp_path):
    done = run_python(TORCH, tmp_path, PYTHONPATH=os.pathsep.join([str(SOURCE / "python"), torch_folder()]))
    assert done.code == 0, done.err
