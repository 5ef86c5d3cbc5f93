# SPDX-License-Identifier: Apache-2.0
"""Files of NumPy's formats: written for NumPy, read from NumPy."""
import io
import zipfile

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx

TYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
SHAPES = [(), (0,), (2, 0, 3), (2, 3)]


def a_file_of(dtype, shape):
    return (onp.arange(1, 1 + onp.prod(shape, dtype=int)) * 3).reshape(shape).astype(dtype)


@pytest.mark.parametrize("save", [np.save, npx.save], ids=["np", "npx"])
@pytest.mark.parametrize("dtype", TYPES)
def test_numpy_reads_what_is_saved_and_the_other_way_round(save, dtype, tmp_path):
    for shape in SHAPES:
        values = a_file_of(dtype, shape)
        save(tmp_path / "ours", np.array(values, dtype=dtype))
        read = onp.load(tmp_path / "ours")
        assert read.dtype == dtype and read.shape == shape and (read == values).all()
        onp.save(tmp_path / "theirs.npy", values)
        for load in (np.load, npx.load):
            for name in ("ours", "theirs.npy"):
                found = load(str(tmp_path / name))
                assert isinstance(found, np.ndarray) and found.dtype == dtype and found.shape == shape
                assert (found.asnumpy() == values).all()


def test_archives(tmp_path):
    name = str(tmp_path / "f.npz")
    npx.savez(name, np.ones(2), np.zeros((), dtype="int8"), a=np.full((2,), 2 ** 62 + 1), b=onp.array([1.5]))
    read = onp.load(name)
    assert sorted(read.files) == ["a", "arr_0", "arr_1", "b"] and read["a"].tolist() == [2 ** 62 + 1] * 2
    found = npx.load(name)
    assert {key: item.shape for key, item in found.items()} == {"a": (2,), "b": (1,), "arr_0": (2,), "arr_1": ()}
    assert found["arr_1"].dtype == onp.int8 and found["a"].asnumpy().tolist() == [2 ** 62 + 1] * 2
    onp.savez_compressed(name, x=onp.asfortranarray(onp.arange(6.0).reshape(2, 3)))
    assert np.load(name)["x"].asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    np.savez(name)
    assert np.load(name) == {} and onp.load(name).files == []
    with pytest.raises(ValueError, match="arr_0"):
        np.savez(name, np.ones(1), arr_0=np.ones(1))


def test_orders_and_ends_of_other_machines(tmp_path):
    values = onp.arange(6, dtype=">i4").reshape(2, 3)
    onp.save(tmp_path / "big.npy", onp.asfortranarray(values))
    found = np.load(tmp_path / "big.npy")
    assert found.dtype == onp.int32 and found.asnumpy().tolist() == values.tolist()


def test_arrays_of_1x_read_them_too(tmp_path):
    onp.save(tmp_path / "a.npy", onp.float32(3))
    onp.savez(tmp_path / "a.npz", w=onp.arange(3))
    loaded = mx.nd.load(str(tmp_path / "a.npy"))
    assert isinstance(loaded, list) and isinstance(loaded[0], mx.nd.NDArray) and loaded[0].shape == (1,)
    for found in (mx.nd.load(str(tmp_path / "a.npz")), mx.nd.load_frombuffer((tmp_path / "a.npz").read_bytes())):
        assert isinstance(found["w"], mx.nd.NDArray) and found["w"].asnumpy().tolist() == [0, 1, 2]
    mx.nd.save(str(tmp_path / "list"), mx.nd.ones((2,)))
    assert not (tmp_path / "list").read_bytes().startswith(b"\x93NUMPY")
    assert mx.nd.load(str(tmp_path / "list"))[0].shape == (2,)


def test_a_network_reads_its_parameters_from_an_archive(tmp_path):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    values = {key: item.data() for key, item in net.collect_params().items()}
    npx.savez(str(tmp_path / "p.npz"), **values)
    other = mx.gluon.nn.Dense(2, in_units=3)
    other.load_parameters(str(tmp_path / "p.npz"))
    for key, item in other.collect_params().items():
        assert (item.data().asnumpy() == values[key].asnumpy()).all()


def test_open_files(tmp_path):
    for save, value in ((np.save, np.ones(3)), (np.savez, np.ones(3))):
        buffer = io.BytesIO()
        save(buffer, value)
        (tmp_path / "f").write_bytes(buffer.getvalue())
        found = np.load(tmp_path / "f")
        assert (found["arr_0"] if isinstance(found, dict) else found).asnumpy().tolist() == [1, 1, 1]


def test_what_cannot_be_read_or_written(tmp_path):
    onp.save(tmp_path / "a.npy", onp.arange(100.0))
    whole = (tmp_path / "a.npy").read_bytes()
    for count in (6, 8, 20, 127, 128, 500, len(whole) - 1):
        (tmp_path / "cut.npy").write_bytes(whole[:count])
        with pytest.raises(mx.MXNetError):
            np.load(tmp_path / "cut.npy")
    onp.save(tmp_path / "objects.npy", onp.array([{}, []], dtype=object), allow_pickle=True)
    with pytest.raises(mx.MXNetError, match="allow_pickle"):
        np.load(tmp_path / "objects.npy")
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("a.npy", b"no array")
    with pytest.raises(mx.MXNetError):
        np.load(tmp_path / "text.npz")["a"].asnumpy()
    (tmp_path / "cut.npz").write_bytes((tmp_path / "text.npz").read_bytes()[:40])
    with pytest.raises(mx.MXNetError):
        np.load(tmp_path / "cut.npz")
    onp.save(tmp_path / "complex.npy", onp.array([1j]))
    with pytest.raises(TypeError, match="complex128 are not supported"):
        np.load(tmp_path / "complex.npy")
    with pytest.raises(mx.MXNetError, match="cannot write"):
        np.save(tmp_path / "none" / "a", np.ones(1))
    for value in ("text", None, np.ones(1).astype("bfloat16")):
        with pytest.raises(TypeError):
            np.save(tmp_path / "b", value)
