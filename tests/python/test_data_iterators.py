# SPDX-License-Identifier: Apache-2.0
"""Data iterators: rows, padding and orders are what the original gives; wrong files are told with their place."""
import os
import struct

import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd

IMAGES = onp.random.RandomState(2).randint(0, 256, (200, 5, 4), dtype="uint8")
X = onp.arange(20, dtype="float32").reshape(10, 2)
Y = onp.arange(10, dtype="float32")


# ---- MNISTIter -------------------------------------------------------------------------------------
def idx(path, magic, sizes, values):
    path.write_bytes(struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + bytes(values))
    return str(path)


@pytest.fixture(name="files")
def fixture_files(tmp_path):
    return {"image": idx(tmp_path / "images", 2051, (200, 5, 4), IMAGES.tobytes()),
            "label": idx(tmp_path / "labels", 2049, (200,), [at % 10 for at in range(200)])}


def labels(iterator):
    return [int(label) for batch in iterator for label in batch.label[0].asnumpy()]


def test_images_and_labels_of_mnist(files):
    iterator = mx.io.MNISTIter(batch_size=60, shuffle=False, silent=True, **files)
    batches = list(iterator)
    assert len(batches) == len(iterator) == 3 and [batch.pad for batch in batches] == [0, 0, 0]
    for at, batch in enumerate(batches):
        expected = IMAGES[60 * at:60 * at + 60].reshape(60, 1, 5, 4).astype("float32") / 256
        onp.testing.assert_array_equal(batch.data[0].asnumpy(), expected)
        assert batch.data[0].dtype == onp.float32
    iterator.reset()
    assert labels(iterator) == [at % 10 for at in range(180)]
    assert [tuple(item) for item in iterator.provide_data] == [("data", (60, 1, 5, 4))]
    assert [tuple(item) for item in iterator.provide_label] == [("softmax_label", (60,))]
    with pytest.raises(StopIteration):
        iterator.next()


@pytest.mark.parametrize("order, seed, first", [  # of the originals, for 200 labels 0 to 9 in turn
    ("1.9.1", 0, [9, 2, 1, 5, 4, 1, 8, 3, 6, 8, 5, 7, 5, 9, 8, 2]),
    ("1.9.1", 1, [7, 1, 6, 8, 8, 1, 2, 9, 2, 4, 2, 4, 1, 0, 5, 6]),
    ("2.0", 0, [7, 1, 6, 7, 6, 5, 9, 7, 6, 4, 2, 6, 1, 0, 6, 4]),
    ("2.0", 1, [7, 6, 2, 3, 8, 4, 4, 1, 4, 2, 2, 0, 1, 8, 4, 6])])
def test_a_seed_gives_the_order_of_each_line(files, order, seed, first):
    iterator = mx.io.MNISTIter(batch_size=100, seed=seed, silent=True, shuffle_order=order, **files)
    found = labels(iterator)
    assert found[:16] == first and sorted(found) == sorted(at % 10 for at in range(200))
    iterator.reset()
    assert labels(iterator) == found


def test_parts_and_flat_rows_and_types(files):
    found = [labels(mx.io.MNISTIter(batch_size=20, shuffle=False, silent=True, num_parts=3, part_index=part, **files))
             for part in range(3)]
    assert [len(item) for item in found] == [60, 60, 60] and [item[0] for item in found] == [0, 6, 3]
    whole = [labels(mx.io.MNISTIter(batch_size=1, shuffle=False, silent=True, num_parts=3, part_index=part, **files)) for part in range(3)]
    assert [len(item) for item in whole] == [66, 67, 67] and sum(whole, []) == [at % 10 for at in range(200)]
    shuffled = labels(mx.io.MNISTIter(batch_size=20, seed=3, silent=True, num_parts=3, part_index=2, **files))
    assert shuffled[:12] == [6, 3, 6, 5, 9, 9, 5, 0, 5, 0, 1, 4]  # of the original
    iterator = mx.io.MNISTIter(batch_size=50, flat=True, silent=True, shuffle=False, dtype="float64", data_name="d", **files)
    batch = iterator.next()
    assert batch.data[0].shape == (50, 20) and batch.data[0].dtype == onp.float64
    onp.testing.assert_array_equal(batch.data[0].asnumpy(), IMAGES[:50].reshape(50, 20) / 256)
    assert iterator.provide_data[0].name == "d"
    assert not list(mx.io.MNISTIter(batch_size=500, silent=True, **files))


def test_a_batch_stays_as_it_is(files):
    iterator = mx.io.MNISTIter(batch_size=50, shuffle=False, silent=True, **files)
    first = iterator.next()
    before = first.data[0].asnumpy()
    list(iterator)
    del iterator
    onp.testing.assert_array_equal(first.data[0].asnumpy(), before)


@pytest.mark.parametrize("which, content, text", [
    ("image", b"", "images: invalid mnist format at byte 0: the file ends in its header: bytes expected 16, is 0"),
    ("image", b"\0\0\x08", "at byte 3: the file ends in its header"),
    ("label", b"\0\0\x08\x01\0\0", "labels: invalid mnist format at byte 6: the file ends in its header: bytes expected 8, is 6"),
    ("image", struct.pack(">4I", 2049, 1, 1, 1) + b"1", "at byte 0: the number that says what it is: expected 2051, is 2049"),
    ("image", struct.pack(">4I", 2051, 1, 0, 1), "at byte 8: an image's size: at least expected 1, is 0"),
    ("image", struct.pack(">4I", 2051, 200, 5, 4) + IMAGES.tobytes()[:-1], "header says 200 of 5 x 4, and 3999 bytes are there"),
    ("image", struct.pack(">4I", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1) + b"12", "header says 4294967295 of 4294967295 x"),
    ("label", struct.pack(">2I", 2049, 20) + bytes(20), "images has 200 rows, and .*labels has 20 labels"),
])
def test_wrong_files_are_told_with_their_place(files, which, content, text):
    with open(files[which], "wb") as file:
        file.write(content)
    with pytest.raises(mx.MXNetError, match=text):
        mx.io.MNISTIter(batch_size=10, silent=True, **files)


@pytest.mark.parametrize("settings, text", [
    ({"batch_size": 0}, "value 0 for Parameter batch_size should be greater equal to 1"),
    ({"batch_size": "many"}, "Invalid Parameter format for batch_size expect int but value='many'"),
    ({"shuffle": "maybe"}, "Invalid Parameter format for shuffle expect boolean but value='maybe'"),
    ({"num_parts": 3, "part_index": 3}, "part_index is 3, and there are parts 0 to 2"),
    ({"prefetch_buffer": 0}, "Prefetch_buffer must be positive number"),
    ({"dtype": "float31"}, "dtype"),
    ({"image": "nobody"}, 'Open "nobody": No such file or directory'),
    ({"image": "/"}, 'Open "/": Is a directory'),
])
def test_wrong_parameters_are_refused(files, settings, text):
    with pytest.raises(mx.MXNetError, match=text):
        mx.io.MNISTIter(**{"batch_size": 10, "silent": True, **files, **settings})


# ---- CSVIter ---------------------------------------------------------------------------------------
def csv(tmp_path, rows=10, columns=3, text=None, name="x.csv"):
    lines = [",".join(f"{row + column / 10:g}" for column in range(columns)) for row in range(rows)]
    (tmp_path / name).write_text("\n".join(lines) + "\n" if text is None else text)
    return str(tmp_path / name)


def rows_of(iterator):
    return [([int(row[0]) for row in batch.data[0].asnumpy()], batch.pad, [int(at) for at in batch.index]) for batch in iterator]


def test_rows_of_a_file_of_numbers(tmp_path):
    iterator = mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), batch_size=4)
    assert rows_of(iterator) == [([0, 1, 2, 3], 0, [0, 1, 2, 3]), ([4, 5, 6, 7], 0, [4, 5, 6, 7]),
                                 ([8, 9, 0, 1], 2, [8, 9, 0, 1])]
    iterator.reset()
    assert [item[:2] for item in rows_of(iterator)] == [([2, 3, 4, 5], 0), ([6, 7, 8, 9], 0)]
    iterator = mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), batch_size=4, round_batch=False)
    assert [item[:2] for item in rows_of(iterator)] == [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0), ([8, 9, 6, 7], 2)]
    iterator = mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), batch_size=16, round_batch=False)
    assert [item[:2] for item in rows_of(iterator)] == [([*range(10), 0, 0, 0, 0, 0, 0], 6)]


def test_labels_and_shapes_and_types_of_rows(tmp_path):
    data, label = csv(tmp_path, 4, 6), csv(tmp_path, 4, 2, name="y.csv")
    iterator = mx.io.CSVIter(data_csv=data, data_shape=(2, 3), label_csv=label, label_shape=(2,), batch_size=2, dtype="int32")
    batch = iterator.next()
    assert batch.data[0].shape == (2, 2, 3) and batch.data[0].dtype == onp.int32
    assert batch.label[0].dtype == onp.int32 and batch.label[0].asnumpy().tolist() == [[0, 0], [1, 1]]
    iterator = mx.io.CSVIter(data_csv=data, data_shape=(6,), label_csv=label, label_shape=(2,), batch_size=2)
    onp.testing.assert_allclose(iterator.next().label[0].asnumpy(), [[0, 0.1], [1, 1.1]], rtol=1e-6)
    plain = mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), batch_size=5).next()
    onp.testing.assert_array_equal(plain.label[0].asnumpy(), onp.zeros(5))


@pytest.mark.parametrize("text, expected", [
    ("1,2,3\n\n4,5,6\n", [[1, 2, 3], [4, 5, 6]]), ("1,2,3\n4,5,6", [[1, 2, 3], [4, 5, 6]]),
    ("1,2,3\r\n4,5,6\r\n", [[1, 2, 3], [4, 5, 6]]), (" 1, 2 ,3\n4,5 , 6\n", [[1, 2, 3], [4, 5, 6]]),
    ("1e1,-2.5E-1,+3\n.5,4.,1e-3\n", [[10, -0.25, 3], [0.5, 4, 0.001]]),
    ("nan,inf,-inf\n1,2,3\n", [[onp.nan, onp.inf, -onp.inf], [1, 2, 3]])])
def test_ways_to_write_numbers(tmp_path, text, expected):
    batch = mx.io.CSVIter(data_csv=csv(tmp_path, text=text), data_shape=(3,), batch_size=2).next()
    onp.testing.assert_allclose(batch.data[0].asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("text, said", [
    ("1,2,3,4\n5,6,7,8\n", r"x.csv, row 1: The data size in CSV do not match size of shape: specified shape=\[3\], the csv row-length=4"),
    ("1,2,3\n4,5\n6,7,8\n", "row 2: The data size in CSV do not match.*row-length=2"),
    ("1,2,x\n3,4,5\n", "x.csv, row 1, column 3: 'x' is no number"), ("a,b,c\n1,2,3\n", "row 1, column 1: 'a' is no number"),
    ("1,2,3\n4,,6\n", "row 2, column 2: '' is no number"), ("1,2,\n3,4,5\n", "row 1, column 3: '' is no number"),
    ('"1","2","3"\n4,5,6\n', "row 1, column 1: '\"1\"' is no number"), ("1 2,3,4\n", "row 1, column 1: '1 2' is no number"),
    ("", "x.csv: it has no rows"), ("1,2,3\n\0", "bytes that are no text")])
def test_wrong_texts_are_told_with_row_and_column(tmp_path, text, said):
    with pytest.raises(mx.MXNetError, match=said):
        mx.io.CSVIter(data_csv=csv(tmp_path, text=text), data_shape=(3,), batch_size=1)


@pytest.mark.parametrize("settings, said", [
    ({"data_csv": None}, "Required parameter data_csv of string is not presented"),
    ({"data_shape": None}, r"Required parameter data_shape of Shape\(tuple\) is not presented"),
    ({"batch_size": 16}, "number of input must be bigger than batch size: .*has 10 rows, and batch_size is 16"),
    ({"data_csv": "nobody.csv"}, "No such file or directory"), ({"data_shape": "(0,)"}, "data_shape"),
    ({"data_shape": (3000000000,)}, "do not match size of shape")])
def test_wrong_parameters_of_rows_are_refused(tmp_path, settings, said):
    given = {"data_csv": csv(tmp_path), "data_shape": (3,), "batch_size": 4, **settings}
    with pytest.raises(mx.MXNetError, match=said):
        mx.io.CSVIter(**{key: value for key, value in given.items() if value is not None})


@pytest.mark.parametrize("width, text, said", [
    (2, ",", "row 1, column 1: '' is no number"), (4, ",,,", "row 1, column 1: '' is no number"),
    (3, "1,,", "row 1, column 2: '' is no number"), (300000, "1\n" * 200000, "row 1: The data size .*row-length=1"),
    (2, "1,2\n3,4\n5\n", "row 3: The data size .*row-length=1"), (1, "\v\n2\n", "row 1, column 1"), (1, "\f\n2\n", "row 1, column 1")])
def test_a_file_too_short_for_its_rows_is_told_with_the_first_wrong_one(tmp_path, width, text, said):
    with pytest.raises(mx.MXNetError, match=said):
        mx.io.CSVIter(data_csv=csv(tmp_path, text=text), data_shape=(width,), batch_size=1)


@pytest.mark.parametrize("text", ["1,2", "1,2\n", "1,2\n3,4", "1,2\n3,4\n"])
def test_the_shortest_rows_of_a_width_are_read(tmp_path, text):
    batch = mx.io.CSVIter(data_csv=csv(tmp_path, text=text), data_shape=(2,), batch_size=1).next()
    onp.testing.assert_array_equal(batch.data[0].asnumpy(), [[1, 2]])


@pytest.mark.parametrize("settings", [{"num_parts": 0}, {"num_parts": -3}, {"num_parts": 2, "part_index": 10**9}, {"seed": "x"}])
def test_parameters_of_another_iterator_have_no_effect(tmp_path, settings):
    iterator = mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), batch_size=5, **settings)
    assert [item[0] for item in rows_of(iterator)] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_an_iterator_of_the_library_gives_its_arrays_by_hand(files):
    iterator = mx.io.MNISTIter(batch_size=80, shuffle=False, silent=True, **files)
    assert iterator.getdata().shape == (80, 1, 5, 4) and iterator.getlabel().shape == (80,)
    assert [iterator.iter_next(), iterator.iter_next(), iterator.iter_next()] == [True, True, False]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(mx.MXNetError, match="pipe\": it is no regular file"):
        mx.io.CSVIter(data_csv=str(tmp_path / "pipe"), data_shape=(2,), batch_size=1)


def test_fewer_labels_than_rows_are_an_error(tmp_path):
    with pytest.raises(mx.MXNetError, match="x.csv has 10 rows, and .*y.csv has 6 labels"):
        mx.io.CSVIter(data_csv=csv(tmp_path), data_shape=(3,), label_csv=csv(tmp_path, 6, 1, name="y.csv"), batch_size=4)


# ---- arrays ----------------------------------------------------------------------------------------
def epochs(iterator, count=3):
    found = []
    for _ in range(count):
        found.append([(batch.label[0].asnumpy().astype(int).tolist(), batch.pad) for batch in iterator])
        iterator.reset()
    return found


@pytest.mark.parametrize("handle, batch, expected", [
    ("pad", 3, [[([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 7, 8], 0), ([9, 0, 1], 2)]] * 3),
    ("pad", 5, [[([0, 1, 2, 3, 4], 0), ([5, 6, 7, 8, 9], 0)]] * 3),
    ("pad", 16, [[([*range(10), 0, 1, 2, 3, 4, 5], 6)]] * 3),
    ("discard", 4, [[([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)]] * 3),
    ("discard", 16, [[]] * 3),
    ("roll_over", 4, [[([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)], [([8, 9, 0, 1], 2), ([2, 3, 4, 5], 0), ([6, 7, 8, 9], 0)],
                      [([0, 1, 2, 3], 0), ([4, 5, 6, 7], 0)]]),
    ("roll_over", 3, [[([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 7, 8], 0)], [([9, 0, 1], 1), ([2, 3, 4], 0), ([5, 6, 7], 0)],
                      [([8, 9, 0], 2), ([1, 2, 3], 0), ([4, 5, 6], 0), ([7, 8, 9], 0)]])])
def test_rows_that_fill_no_batch(handle, batch, expected):
    iterator = mx.io.NDArrayIter(X, Y, batch, last_batch_handle=handle)
    assert epochs(iterator) == expected and iterator.num_data == 10


def test_shuffles_keep_pairs_and_take_numpys_seed():
    onp.random.seed(0)
    iterator = mx.io.NDArrayIter(X, Y, 5, shuffle=True)
    assert [label for labels_of, _ in epochs(iterator, 1)[0] for label in labels_of] == [2, 8, 4, 9, 1, 6, 7, 3, 0, 5]
    for batch in iterator:
        onp.testing.assert_array_equal(batch.data[0].asnumpy()[:, 0], 2 * batch.label[0].asnumpy())


def test_names_and_types_of_arrays():
    iterator = mx.io.NDArrayIter({"b": X, "a": X * 2}, {"l": Y}, 5)
    assert [(item.name, item.shape, item.layout) for item in iterator.provide_data] == [("a", (5, 2), "NCHW"), ("b", (5, 2), "NCHW")]
    iterator = mx.io.NDArrayIter([X, X], [Y, Y], 5)
    assert [item.name for item in iterator.provide_data + iterator.provide_label] == \
        ["_0_data", "_1_data", "_0_softmax_label", "_1_softmax_label"]
    assert next(mx.io.NDArrayIter(nd.array(X), None, 5)).label == []
    assert next(mx.io.NDArrayIter(X.astype("float64"), None, 5)).data[0].dtype == onp.float32


@pytest.mark.parametrize("call, kind, text", [
    (lambda: mx.io.NDArrayIter(X, Y[:5], 5), ValueError, "softmax_label has 5 rows, and data has 10"),
    (lambda: mx.io.NDArrayIter("text", None, 5), TypeError, "Input must be NDArray, numpy.ndarray"),
    (lambda: mx.io.NDArrayIter(None, None, 5), AssertionError, ""),
    (lambda: mx.io.NDArrayIter(X, Y, 4, last_batch_handle="maybe"), ValueError, "it may be 'pad', 'discard' or 'roll_over'"),
    (lambda: mx.io.DataBatch(nd.ones((2, 3))), AssertionError, "Data must be list of NDArrays")])
def test_wrong_arrays_are_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_iterators_around_iterators():
    for size in (1, 3, 7):
        assert len(list(mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 4), size))) == size
    iterator = mx.io.PrefetchingIter([mx.io.NDArrayIter(X, Y, 5), mx.io.NDArrayIter(X * 3, None, 5)], [{}, {"data": "more"}])
    assert [item.name for item in iterator.provide_data] == ["data", "more"]
    for _ in range(3):
        batches = list(iterator)
        assert len(batches) == 2
        onp.testing.assert_array_equal(batches[1].data[1].asnumpy(), X[5:] * 3)
        iterator.reset()


def test_errors_of_an_iterator_come_through_its_thread():
    class Broken(mx.io.DataIter):
        provide_data = provide_label = [mx.io.DataDesc("data", (1,))]

        def next(self):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        next(mx.io.PrefetchingIter(Broken()))


def test_descriptions_and_batches():
    made = mx.io.DataDesc("x", (2, 3), "float16", "NC")
    assert str(made) == repr(made) == "DataDesc[x,(2, 3),float16,NC]" and made == ("x", (2, 3))
    assert [mx.io.DataDesc.get_batch_axis(layout) for layout in ("NCHW", "TNC", None)] == [0, 1, 0]
    assert str(mx.io.DataBatch([nd.ones((2, 3))], [nd.zeros((2,))])) == "DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]"
