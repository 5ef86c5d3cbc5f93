# SPDX-License-Identifier: Apache-2.0
"""Iterators: MNISTIter (on the files of mnist_small.py in data/mnist_data), CSVIter, NDArrayIter; DataBatch, DataDesc; bad files. One JSON
line per case. Images are told by their label and by the sum of their pixels."""
import os
import shutil
import struct
from cases import *
_case = case
def case(name, own=True, **k): return _case(name, own, **k)      # any of them may end the process
D = 'data/mnist_data/'
TRAIN = dict(image=D + 'train-images-idx3-ubyte', label=D + 'train-labels-idx1-ubyte')
TEST = dict(image=D + 't10k-images-idx3-ubyte', label=D + 't10k-labels-idx1-ubyte')


def batches(it, limit=20, full=False):
    out = []
    for i, b in enumerate(it):
        if i == limit:
            out.append('more')
            break
        d, l = b.data[0].asnumpy(), b.label[0].asnumpy() if b.label else None
        out.append({'data_shape': list(d.shape), 'sums': nested(d.reshape(d.shape[0], -1).astype('float64').sum(1)[:None if full else 12]), 'label': None if l is None else nested(l if full else l[:12]),
                    'pad': b.pad, 'index': None if b.index is None else nested(onp.array(b.index)[:6])})
    return out


def mnist(files=TEST, **k):
    return mx.io.MNISTIter(**dict(files, silent=True, **k))


for _n, _k in (('defaults', {}), ('batch 50 unshuffled', dict(batch_size=50, shuffle=False)), ('flat', dict(batch_size=50, shuffle=False, flat=True)),
               ('batch not dividing the count', dict(batch_size=60, shuffle=False)), ('batch larger than the count', dict(batch_size=300, shuffle=False)),
               ('shuffle seed 0', dict(batch_size=100, shuffle=True, seed=0)), ('shuffle seed 1', dict(batch_size=100, shuffle=True, seed=1)), ('shuffle seed 42', dict(batch_size=100, shuffle=1, seed=42)),
               ('shuffle seed -1', dict(batch_size=100, shuffle=1, seed=-1)), ('part 0 of 3', dict(batch_size=20, shuffle=False, num_parts=3, part_index=0)), ('part 1 of 3', dict(batch_size=20, shuffle=False, num_parts=3, part_index=1)),
               ('part 2 of 3', dict(batch_size=20, shuffle=False, num_parts=3, part_index=2)), ('part 2 of 3 shuffled', dict(batch_size=20, shuffle=True, seed=3, num_parts=3, part_index=2)),
               ('prefetch_buffer 1', dict(batch_size=100, shuffle=False, prefetch_buffer=1)), ('dtype uint8', dict(batch_size=100, shuffle=False, dtype='uint8')), ('dtype float64', dict(batch_size=100, shuffle=False, dtype='float64')),
               ('dtype float16', dict(batch_size=100, shuffle=False, dtype='float16')), ('dtype int32', dict(batch_size=100, shuffle=False, dtype='int32')), ('input_shape', dict(batch_size=100, shuffle=False, input_shape=(1, 28, 28))), ('input_shape that does not fit', dict(batch_size=100, shuffle=False, input_shape=(3, 4))),
               ('data_name and label_name', dict(batch_size=100, shuffle=False, data_name='d', label_name='l')), ('flat as text', dict(batch_size=100, shuffle='0', flat='1')), ('unknown parameter', dict(batch_size=100, shuffle=False, nobody=3)), ('round_batch', dict(batch_size=60, shuffle=False, round_batch=True))):
    @case('MNISTIter: ' + _n, own=True)
    def _(k=_k):
        it = mnist(**k)
        first = batches(it, full='shuffle' in k and k['shuffle'] and k.get('batch_size') == 100)
        it.reset()
        return {'batch_size': it.batch_size, 'provide_data': [list(d) + [str(onp.dtype(d.dtype)), d.layout] for d in it.provide_data], 'provide_label': [list(d) + [str(onp.dtype(d.dtype)), d.layout] for d in it.provide_label],
                'batches': first, 'again_equal': batches(it, full='shuffle' in k and k['shuffle'] and k.get('batch_size') == 100) == first, 'dtype': str(onp.dtype(next(iter((it.reset(), it)[1])).data[0].dtype)) if first else None}

for _n, _k in (('batch_size 0', dict(batch_size=0)), ('batch_size text', dict(batch_size='many')), ('batch_size negative', dict(batch_size=-3)), ('part_index beyond', dict(batch_size=20, num_parts=3, part_index=3)),
               ('num_parts 0', dict(batch_size=20, num_parts=0)), ('prefetch_buffer 0', dict(batch_size=20, prefetch_buffer=0)), ('shuffle text', dict(batch_size=20, shuffle='maybe')), ('dtype unknown', dict(batch_size=20, dtype='float31')), ('image missing', dict(image='nobody', batch_size=20)),
               ('label missing', dict(label='nobody', batch_size=20)), ('image a folder', dict(image='data', batch_size=20)), ('image and label swapped', dict(image=TEST['label'], label=TEST['image'], batch_size=20)),
               ('labels of the other set', dict(label=TRAIN['label'], batch_size=20))):
    @case('MNISTIter error: ' + _n, own=True, timeout=20)
    def _(k=_k):
        return batches(mnist(**k), 2)


def cut(kind, size, fill=None):
    shutil.copy(TEST[kind], 'cut-' + kind)
    with open('cut-' + kind, 'r+b') as f:
        if size is not None:
            f.truncate(size)
        if fill:
            f.seek(fill[0])
            f.write(fill[1])
    return {kind: 'cut-' + kind}


for _n, _a in (('image empty', ('image', 0)), ('image 3 bytes', ('image', 3)), ('image header cut', ('image', 10)), ('image header only', ('image', 16)), ('image cut in the middle', ('image', 16 + 784 * 100 + 5)), ('image one byte short', ('image', 16 + 784 * 200 - 1)),
               ('label empty', ('label', 0)), ('label header cut', ('label', 6)), ('label header only', ('label', 8)), ('label cut', ('label', 58)), ('image magic wrong', ('image', None, (0, b'\1\2\3\4'))), ('image count huge', ('image', None, (4, b'\x7f\xff\xff\xff'))),
               ('image count negative', ('image', None, (4, b'\xff\xff\xff\xff'))), ('image count zero', ('image', None, (4, b'\0\0\0\0'))), ('image rows huge', ('image', None, (8, b'\x7f\xff\xff\xff'))), ('image rows zero', ('image', None, (8, b'\0\0\0\0'))), ('label magic wrong', ('label', None, (0, b'\1\2\3\4'))),
               ('label count less than images', ('label', None, (4, b'\0\0\0\x14'))), ('label count more than bytes', ('label', None, (4, b'\0\0\x7f\xff')))):
    @case('MNISTIter file: ' + _n, own=True, timeout=20)
    def _(a=_a):
        it = mnist(**dict(cut(*a), batch_size=50, shuffle=False))
        b = batches(it, 8)
        return [len(b), b[0]['label'] if b else None, b[-1]['label'] if b else None]


@case('MNISTIter: line at creation', own=True)
def _():
    r, w = os.pipe()
    keep = os.dup(2)
    os.dup2(w, 2)
    try:
        mx.io.MNISTIter(**dict(TEST, batch_size=50, shuffle=False, flat=True))
    finally:
        os.dup2(keep, 2)
        os.close(w)
    return clean(os.read(r, 4096).decode())


@case('MNISTIter: protocol by hand')
def _():
    it = mnist(batch_size=80, shuffle=False)
    out = [it.iter_next(), it.getdata().shape, it.getlabel().shape, it.getpad(), nested(onp.array(it.getindex())[:3]), it.iter_next(), it.iter_next(), it.iter_next()]
    it.reset()
    return out + [it.iter_next()]


@case('MNISTIter: next after the end')
def _():
    it = mnist(batch_size=200, shuffle=False)
    it.next()
    out = []
    for _ in range(2):
        try:
            it.next()
        except StopIteration:
            out.append('StopIteration')
    return out


@case('MNISTIter: data before the first next', own=True, timeout=20)
def _(): return [getattr(mnist(batch_size=50), f)().shape for f in ('getdata', 'getlabel')]


@case('MNISTIter: a batch kept while the iterator goes on', own=True)
def _():
    it = mnist(batch_size=20, shuffle=False, prefetch_buffer=1)
    kept = it.next().label[0]
    before = kept.asnumpy().tolist()
    for _ in range(5):
        it.next()
    mx.nd.waitall()
    return {'still_the_same': kept.asnumpy().tolist() == before}


@case('iterators of the library')
def _(): return sorted(n for n in dir(mx.io) if n.endswith(('Iter', 'Iter_v1')) or n.startswith('ImageRecord'))


@case('MNISTIter: parameters as the C functions tell them')
def _():
    import ctypes as c
    L = mx.base._LIB
    n, l = c.c_uint(), c.POINTER(c.c_void_p)()
    L.MXListDataIters(c.byref(n), c.byref(l))
    out = {}
    for i in range(n.value):
        name, desc, k = c.c_char_p(), c.c_char_p(), c.c_uint()
        a, b, d = (c.POINTER(c.c_char_p)() for _ in range(3))
        L.MXDataIterGetIterInfo(c.c_void_p(l[i]), c.byref(name), c.byref(desc), c.byref(k), c.byref(a), c.byref(b), c.byref(d))
        if name.value in (b'MNISTIter', b'CSVIter'):
            out[name.value.decode()] = [[a[j].decode(), b[j].decode()] for j in range(k.value)]
        else:
            out[name.value.decode()] = k.value
    return out


# ---- CSVIter --------------------------------------------------------------------------------------------------------------------
def csv(rows=10, cols=3, name='x.csv', text=None):
    with open(name, 'w') as f:
        f.write(text if text is not None else ''.join(','.join('%g' % (i + j / 10) for j in range(cols)) + '\n' for i in range(rows)))
    return name


for _n, _k in (('data only', dict(batch_size=4)), ('round_batch off', dict(batch_size=4, round_batch=False)), ('batch dividing', dict(batch_size=5)), ('one batch', dict(batch_size=10)), ('batch larger than the count', dict(batch_size=16)), ('batch larger, round_batch off', dict(batch_size=16, round_batch=False)),
               ('prefetch_buffer 1', dict(batch_size=4, prefetch_buffer=1)), ('dtype int32', dict(batch_size=4, dtype='int32')), ('dtype float64', dict(batch_size=4, dtype='float64')), ('dtype int64', dict(batch_size=4, dtype='int64'))):
    @case('CSVIter: ' + _n, own=True, timeout=20)
    def _(k=_k):
        it = mx.io.CSVIter(data_csv=csv(), data_shape=(3,), **k)
        first = [[b.data[0], b.label[0], b.pad, None if b.index is None else nested(onp.array(b.index)[:5])] for b in it]
        it.reset()
        second = [[b.data[0].asnumpy().tolist(), b.pad] for b in it]
        return {'batches': first, 'second_epoch': second, 'provide_data': [list(d) for d in it.provide_data], 'provide_label': [list(d) for d in it.provide_label]}


@case('CSVIter: with labels', own=True, timeout=20)
def _():
    it = mx.io.CSVIter(data_csv=csv(), data_shape=(3,), label_csv=csv(10, 1, 'y.csv'), batch_size=4)
    return [[b.data[0].shape, b.label[0], b.pad] for b in it]


@case('CSVIter: labels of two columns, data of rank 2', own=True, timeout=20)
def _():
    it = mx.io.CSVIter(data_csv=csv(4, 6), data_shape=(2, 3), label_csv=csv(4, 2, 'y.csv'), label_shape=(2,), batch_size=2)
    return [[b.data[0], b.label[0], b.pad] for b in it]


for _n, _t, _k in (('a column too many', '1,2,3,4\n5,6,7,8\n', {}), ('a column missing', '1,2\n3,4\n', {}), ('rows of different length', '1,2,3\n4,5\n6,7,8\n', {}), ('not a number', '1,2,x\n3,4,5\n', {}), ('empty file', '', {}), ('empty line', '1,2,3\n\n4,5,6\n', {}),
                   ('no newline at the end', '1,2,3\n4,5,6', {}), ('carriage returns', '1,2,3\r\n4,5,6\r\n', {}), ('blanks', ' 1, 2 ,3\n4,5 , 6\n', {}), ('exponents', '1e1,-2.5E-1,+3\n.5,4.,1e-3\n', {}), ('nan and inf', 'nan,inf,-inf\n1,2,3\n', {}), ('a header', 'a,b,c\n1,2,3\n', {}),
                   ('quotes', '"1","2","3"\n4,5,6\n', {}), ('semicolons', '1;2;3\n4;5;6\n', {})):
    @case('CSVIter text: ' + _n, own=True, timeout=20)
    def _(t=_t, k=_k):
        return [[b.data[0], b.pad] for b in mx.io.CSVIter(data_csv=csv(text=t), data_shape=(3,), batch_size=2, **k)]


@case('CSVIter: file missing', own=True, timeout=20)
def _(): return [b.data[0] for b in mx.io.CSVIter(data_csv='nobody.csv', data_shape=(3,), batch_size=2)]


@case('CSVIter: labels fewer than rows', own=True, timeout=20)
def _(): return [[b.data[0].shape, b.label[0], b.pad] for b in mx.io.CSVIter(data_csv=csv(), data_shape=(3,), label_csv=csv(6, 1, 'y.csv'), batch_size=4)]


@case('CSVIter: data_shape left out', own=True, timeout=20)
def _(): return [b.data[0] for b in mx.io.CSVIter(data_csv=csv(), batch_size=2)]


@case('CSVIter: data_csv left out', own=True, timeout=20)
def _(): return [b.data[0] for b in mx.io.CSVIter(data_shape=(3,), batch_size=2)]


# ---- NDArrayIter ----------------------------------------------------------------------------------------------------------------
X = onp.arange(20, dtype='float32').reshape(10, 2)
Y = onp.arange(10, dtype='float32')


def epochs(it, n=3):
    out = []
    for _ in range(n):
        out.append([[b.data[0].asnumpy()[:, 0].tolist(), b.label[0].asnumpy().tolist() if b.label else None, b.pad] for b in it])
        it.reset()
    return out


for _h in ('pad', 'discard', 'roll_over'):
    for _b in (3, 4, 5, 10):
        @case('NDArrayIter: %s, batch %d' % (_h, _b))
        def _(h=_h, b=_b):
            it = mx.io.NDArrayIter(X, Y, batch_size=b, last_batch_handle=h)
            return {'num_data': it.num_data, 'epochs': epochs(it)}

    @case('NDArrayIter: %s, batch larger than the data' % _h)
    def _(h=_h): return epochs(mx.io.NDArrayIter(X, Y, batch_size=16, last_batch_handle=h), 2)


@case('NDArrayIter: shuffle keeps pairs')
def _():
    onp.random.seed(5)
    it = mx.io.NDArrayIter(X, Y, batch_size=5, shuffle=True)
    e = epochs(it, 2)
    return {'pairs': all(d[i] == 2 * l[i] for ep in e for d, l, _ in ep for i in range(5)), 'all': [sorted(v for d, l, _ in ep for v in l) == list(range(10)) for ep in e], 'orders_differ': e[0] != e[1],
            'numpy_seed_0': [(onp.random.seed(0), [v for b in mx.io.NDArrayIter(X, Y, batch_size=5, shuffle=True) for v in b.label[0].asnumpy().tolist()])[1] for _ in range(2)]}


@case('NDArrayIter: descriptions')
def _():
    it = mx.io.NDArrayIter({'b': X, 'a': X * 2}, {'l': Y}, batch_size=5)
    return [[list(d) + [str(onp.dtype(d.dtype)), d.layout] for d in it.provide_data], [list(d) for d in it.provide_label], [d.shape for d in next(it).data]]


@case('NDArrayIter: lists')
def _():
    it = mx.io.NDArrayIter([X, X], [Y, Y], batch_size=5)
    return [[list(d) for d in it.provide_data], [list(d) for d in it.provide_label]]


@case('NDArrayIter: names given')
def _(): return [list(d) for d in mx.io.NDArrayIter(X, Y, 5, data_name='d', label_name='l').provide_data]


@case('NDArrayIter: no labels')
def _():
    it = mx.io.NDArrayIter(X, batch_size=5)
    b = next(it)
    return [it.provide_label, b.label, b.pad]


@case('NDArrayIter: arrays of the library')
def _(): return next(mx.io.NDArrayIter(nd.array(X), nd.array(Y), 5)).data[0]


@case('NDArrayIter: types kept')
def _(): return [str(onp.dtype(next(mx.io.NDArrayIter(X.astype(t), None, 5)).data[0].dtype)) for t in ('float64', 'int32', 'uint8', 'float16')]


@case('NDArrayIter: counts differ')
def _(): return mx.io.NDArrayIter(X, Y[:5], 5)


@case('NDArrayIter: no array')
def _(): return mx.io.NDArrayIter('text', None, 5)


@case('NDArrayIter: nothing')
def _(): return mx.io.NDArrayIter(None, None, 5)


@case('NDArrayIter: unknown last_batch_handle')
def _(): return epochs(mx.io.NDArrayIter(X, Y, 4, last_batch_handle='maybe'), 1)


@case('NDArrayIter: protocol')
def _():
    it = mx.io.NDArrayIter(X, Y, 4)
    out = [it.iter_next(), it.getdata()[0], it.getlabel()[0], it.getpad(), it.getindex(), it.iter_next(), it.iter_next(), it.getpad(), it.iter_next()]
    it.hard_reset()
    return out + [it.iter_next()]


@case('ResizeIter')
def _(): return [len([1 for _ in mx.io.ResizeIter(mx.io.NDArrayIter(X, Y, 4), n)]) for n in (1, 3, 7)]


@case('PrefetchingIter')
def _():
    it = mx.io.PrefetchingIter(mx.io.NDArrayIter(X, Y, 5))
    return [[b.data[0], b.label[0], b.pad] for b in it]


@case('DataBatch')
def _():
    b = mx.io.DataBatch([nd.ones((2, 3))], [nd.zeros((2,))], pad=1, index=[4, 5], bucket_key=7)
    return [str(b), b.pad, b.index, b.bucket_key, b.provide_data, sorted(k for k in vars(b))]


@case('DataBatch of no list')
def _(): return mx.io.DataBatch(nd.ones((2, 3)))


@case('DataDesc')
def _():
    d = mx.io.DataDesc('x', (2, 3), 'float16', 'NC')
    return [str(d), repr(d), d.name, list(d.shape), str(d.dtype), d.layout, list(d), mx.io.DataDesc('y', (4,)).layout, str(mx.io.DataDesc('y', (4,)).dtype), d == mx.io.DataDesc('x', (2, 3)),
            mx.io.DataDesc.get_batch_axis('NCHW'), mx.io.DataDesc.get_batch_axis('TNC'), mx.io.DataDesc.get_batch_axis(None), [list(x) for x in mx.io.DataDesc.get_list([('a', (1,))], [('a', 'float32')])]]


main()
