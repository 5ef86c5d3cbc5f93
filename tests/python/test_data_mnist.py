# SPDX-License-Identifier: Apache-2.0
"""MNIST: its files, whole, cut, missing; and the built-in digits."""
import concurrent.futures
import gzip
import hashlib

import numpy as onp
import pytest

import mxnet as mx
from mxnet.gluon.data.vision import MNIST, digits, idx

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
PIXELS = onp.random.RandomState(0).randint(0, 256, (5, 28, 28)).astype("uint8")
DIGITS = onp.array([3, 1, 4, 1, 5], "uint8")


@pytest.fixture
def folder(tmp_path):
    idx.write(tmp_path / IMAGES, PIXELS)
    idx.write(tmp_path / LABELS, DIGITS)
    return tmp_path


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
def test_files_are_read(folder, compressed, kind):
    if compressed:
        for name in (IMAGES, LABELS):
            with gzip.open(folder / f"{name}.gz", "wb") as file:
                file.write((folder / name).read_bytes())
            (folder / name).unlink()
    with mx.util.np_array(kind is mx.np):
        data = MNIST(str(folder), transform=None)
    image, label = data[2]
    assert len(data) == 5 and data.source == str(folder)
    assert type(image) is type(kind.zeros((1,))) and image.shape == (28, 28, 1)
    assert (image.asnumpy()[..., 0] == PIXELS[2]).all() and int(label) == 4
    assert label.dtype == onp.int32
    assert MNIST(str(folder), transform=lambda x, y: (x.shape, y + 1))[0] == ((28, 28, 1), 4)


def broken(folder, change):
    change(folder)
    with pytest.raises(mx.MXNetError) as caught:
        MNIST(str(folder))
    return str(caught.value)


def cut(name, length):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:length])


@pytest.mark.parametrize("change,text", [
    (cut(IMAGES, 1000), f"{IMAGES}: cut short: 1000 bytes, 3936 were announced"),
    (cut(IMAGES, 10), "cut short in its header, 10 bytes long"),
    (cut(LABELS, 0), "not an IDX file (it begins with nothing)"),
    (lambda folder: (folder / LABELS).write_bytes(b"<html>"), "not an IDX file (it begins with 3c68746d)"),
    (lambda folder: (folder / LABELS).write_bytes(b"\0\0\x0d\1\0\0\0\0"), "IDX type 0xd with 1 dimensions"),
    (lambda folder: idx.write(folder / LABELS, DIGITS[:3]), "are not those of images and their labels"),
    (lambda folder: idx.write(folder / IMAGES, DIGITS), "are not those of images and their labels"),
    (lambda folder: (folder / LABELS).unlink(), f"{LABELS} is missing beside its twin; put MNIST's four"),
    (lambda folder: [(folder / name).unlink() for name in (IMAGES, LABELS)],
     f"no MNIST files there; put {IMAGES} and {LABELS} (plain or .gz) into it"),
    (lambda folder: (folder / IMAGES).rename(folder / f"{IMAGES}.gz"), f"{IMAGES}.gz: cannot be read"),
])
def test_broken_files_are_named(folder, change, text):
    assert text in broken(folder, change)


def test_where_files_are_looked_for(folder, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(folder))
    (folder / "datasets").mkdir()
    (folder / "datasets/mnist").symlink_to(folder)
    assert len(MNIST()) == 5
    test = MNIST(train=False)  # whose files are not there
    assert (len(test), test.source) == (2000, "built-in")


def test_only_bytes_are_written(tmp_path):
    with pytest.raises(ValueError, match="hold uint8"):
        idx.write(tmp_path / "x", onp.zeros(3))
    assert list(tmp_path.iterdir()) == []


def test_the_digits_are_the_same_everywhere():
    """Whoever trains on them trains on these bytes."""
    images, labels = digits.make(300, 1)
    assert images.shape == (300, 28, 28) and images.dtype == labels.dtype == onp.uint8
    assert hashlib.sha256(images.tobytes()).hexdigest()[:16] == "b25adc105c4b1bb9"
    assert hashlib.sha256(labels.tobytes()).hexdigest()[:16] == "78472eb2bcddc357"
    assert sorted(set(labels.tolist())) == list(range(10))
    assert not (digits.make(300, 2)[0] == images).all()


def test_writers_of_one_file_do_not_meet(tmp_path):
    values = onp.arange(100_000).astype(onp.uint8)

    def write_often(_):
        for _ in range(30):
            idx.write(tmp_path / "digits", values)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(write_often, range(4)))
    assert [path.name for path in tmp_path.iterdir()] == ["digits"]
    assert (idx.read(tmp_path / "digits") == values).all()


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "digits").mkdir()
    with pytest.raises(OSError):
        idx.write(tmp_path / "digits", onp.zeros(3, onp.uint8))
    assert [path.name for path in tmp_path.iterdir()] == ["digits"]
