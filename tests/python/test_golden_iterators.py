# SPDX-License-Identifier: Apache-2.0
"""Data iterators, case by case against what both lines did. A table holds the cases in which the original is wrong, or
whose difference docs/migration.md tells, with what is right instead."""
import struct

import numpy as onp
import pytest

from golden_cases import count, differences, golden


def first_batch(dtype, total):
    """What a batch of MNISTIter is of another type: the sum of the first image's pixels."""
    return lambda value: value["provide_data"][0][2] == dtype == value["dtype"] and abs(
        value["batches"][0]["sums"][0] - total) < 1e-3


def rows(dtype):
    """Batches that were kept are as they were read: of ten rows four, four, and two with two from the front."""
    def check(value):
        heads = [batch[0]["array"][0][0] for batch in value["batches"]]
        return heads == [0, 4, 8] and all(batch[0]["dtype"] == dtype for batch in value["batches"])
    return check


def original_parameters(found):
    """Those of the original, and: the device's number, pinned memory as a device, the order that a line shuffles in."""
    wanted = golden("iterators", "1")["MNISTIter: parameters as the C functions tell them"]["value"]
    for name, more in (("CSVIter", {"device_id"}), ("MNISTIter", {"device_id", "shuffle_order"})):
        kept = [[key, text.replace("'cpu', 'cpu_pinned',", "'cpu',")] for key, text in found[name] if key not in more]
        if kept != wanted[name]:
            return False
    return found.keys() == wanted.keys()


MENDED = {
    "MNISTIter: batch larger than the count": lambda value: value["batches"] == [],
    "MNISTIter: dtype uint8": first_batch("uint8", 0),
    "MNISTIter: dtype int32": first_batch("int32", 0),
    "MNISTIter: dtype float16": first_batch("float16", 78.3398438),
    "MNISTIter: dtype float64": first_batch("float64", 78.3398438),
    "MNISTIter error: batch_size 0": ("MXNetError", "value 0 for Parameter batch_size should be greater equal to 1"),
    "MNISTIter error: batch_size negative": (
        "MXNetError", "value -3 for Parameter batch_size should be greater equal to 1"),
    "MNISTIter error: prefetch_buffer 0": ("MXNetError", "Prefetch_buffer must be positive number"),
    "MNISTIter error: dtype unknown": ("MXNetError", "dtype .*'float31'"),
    "MNISTIter error: image missing": ("MXNetError", 'Open "nobody": No such file or directory'),
    "MNISTIter error: label missing": ("MXNetError", 'Open "nobody": No such file or directory'),
    "MNISTIter error: image a folder": ("MXNetError", 'Open "data": Is a directory'),
    "MNISTIter error: image and label swapped": (
        "MXNetError", "labels-idx1-ubyte: invalid mnist format at byte 0: .*: expected 2051, is 2049"),
    "MNISTIter error: labels of the other set": ("MXNetError", "images.* has 200 rows, and .*labels.* has 600 labels"),
    "MNISTIter file: image magic wrong": ("MXNetError", "cut-image: .* at byte 0: .*: expected 2051, is 16909060"),
    "MNISTIter file: image count huge": ("MXNetError", "cut-image: .*2147483647 of 28 x 28, and 156800 bytes"),
    "MNISTIter file: image count negative": ("MXNetError", "cut-image: .*4294967295 of 28 x 28, and 156800 bytes"),
    "MNISTIter file: image rows huge": ("MXNetError", "cut-image: .*200 of 2147483647 x 28, and 156800 bytes"),
    "MNISTIter file: image rows zero": ("MXNetError", "cut-image: .* at byte 8: .*at least expected 1, is 0"),
    # Not "no batch, and a line that says so": 200 labels belong to no image, which is refused for other counts too.
    "MNISTIter file: image count zero": ("MXNetError", "cut-image has 0 rows, and .*labels.* has 200 labels"),
    "MNISTIter file: label magic wrong": ("MXNetError", "cut-label: .* at byte 0: .*: expected 2049, is 16909060"),
    "MNISTIter file: label count less than images": ("MXNetError", "has 200 rows, and cut-label has 20 labels"),
    # Neither the time nor the place in the original's sources.
    "MNISTIter: line at creation": lambda text: text == "MNISTIter: load 200 images, shuffle=0, shape=(50,784)\n",
    "MNISTIter: protocol by hand": lambda value: value == [True, [80, 1, 28, 28], [80], 0, [0, 0, 0], True, False,
                                                           False, True],
    # No reader of records or of sparse rows.
    "iterators of the library": lambda names: names == ["CSVIter", "DataIter", "MNISTIter", "MXDataIter",
                                                        "NDArrayIter", "PrefetchingIter", "ResizeIter"],
    "MNISTIter: parameters as the C functions tell them": original_parameters,
    # There, a batch that is kept is overwritten by a later one.
    "CSVIter: prefetch_buffer 1": rows("float32"),
    "CSVIter: dtype int32": rows("int32"),
    "CSVIter: dtype float64": rows("float64"),
    "CSVIter text: empty file": ("MXNetError", "x.csv: it has no rows"),
    "CSVIter: file missing": ("MXNetError", 'Open "nobody.csv": No such file or directory'),
    "NDArrayIter: counts differ": ("ValueError", "softmax_label has 5 rows, and data has 10"),
    "NDArrayIter: no array": (
        "TypeError", "Input must be NDArray, numpy.ndarray, a list of them or dict with them as values, not str"),
    "NDArrayIter: unknown last_batch_handle": ("ValueError", "'maybe'; it may be 'pad', 'discard' or 'roll_over'"),
}


def write_digits(directory):
    """The files that the original read: noise in which the digit d lights a block of rows and columns."""
    directory.mkdir(parents=True)
    for stem, size, seed in (("train", 600, 1), ("t10k", 200, 2)):
        labels = (onp.arange(size) % 10).astype("uint8")
        images = onp.random.RandomState(seed).randint(0, 32, (size, 28, 28)).astype("uint8")
        for image, digit in zip(images, labels.tolist()):
            image[2 + 2 * digit:6 + 2 * digit, 4 + digit:12 + digit] = 255
        (directory / f"{stem}-images-idx3-ubyte").write_bytes(
            struct.pack(">4I", 2051, size, 28, 28) + images.tobytes())
        (directory / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, size) + labels.tobytes())


# The lines shuffle in different orders for the same seed.
AS_THE_SECOND = "import functools, mxnet as mx\nmx.io.MNISTIter = functools.partial(mx.io.MNISTIter, shuffle_order=2.0)"


@pytest.mark.parametrize("line, before", [("1", None), ("2", AS_THE_SECOND)])
def test_iterators(tmp_path, line, before):
    write_digits(tmp_path / "data/mnist_data")
    assert count("iterators", line) == 125
    assert not differences("iterators", line, MENDED, tmp_path, before=before)
