# SPDX-License-Identifier: Apache-2.0
"""Small programs whose C calls log_calls.py writes down: callers.py WHAT. eager, hybrid, static, export, symbol, executor, module, mnist, csv, kvstore, custom, dlpack, sparse, autograd"""
import sys
import numpy as onp
import mxnet as mx
from mxnet import autograd, gluon
import nets
what = sys.argv[1]
V2 = mx.__version__.startswith('2')
if V2 and what not in ('eager', 'hybrid', 'static', 'export', 'autograd', 'dlpack', 'trainer_kvstore'):
    mx.npx.reset_np()
elif V2:
    mx.npx.set_np()
arr = mx.np.array if V2 and mx.util.is_np_array() else mx.nd.array


def lenet(flags):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(channels=4, kernel_size=5, activation='relu'), gluon.nn.MaxPool2D(pool_size=2, strides=2), gluon.nn.BatchNorm(), gluon.nn.Flatten(), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    if flags is not None:
        net.hybridize(**flags)
        loss_fn.hybridize(**flags)
    tr = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    x, y = arr(nets.fill((4, 1, 12, 12), 1)), arr(onp.arange(4).astype('float32'))
    for _ in range(3):
        with autograd.record():
            l = loss_fn(net(x), y)
        l.backward()
        tr.step(4)
    l.asnumpy()
    return net, x


def executor():
    s = nets.lenet_bn()
    args, aux = nets.inputs(s, {'data': (2, 1, 12, 12)})
    a = {k: mx.nd.array(v) for k, v in args.items()}
    ex = (s._bind if V2 else s.bind)(mx.cpu(), a, args_grad={k: mx.nd.zeros(v.shape) for k, v in a.items()}, aux_states={k: mx.nd.array(v) for k, v in aux.items()})
    ex.forward(is_train=True)
    ex.backward()
    if not V2:
        ex.reshape(data=(2, 1, 12, 12))
        ex2 = nets.mlp().simple_bind(mx.cpu(), data=(4, 7))
        ex2.set_monitor_callback(lambda n, a: None)
        ex2.forward()
        ex2.debug_str()
    else:
        nets.mlp()._simple_bind(mx.cpu(), data=(4, 7)).forward()
    mx.nd.waitall()


def symbol():
    import copy
    for f, shapes in nets.NETS.values():
        s = f()
        s.list_arguments(), s.list_outputs(), s.list_auxiliary_states(), s.infer_shape(**shapes), s.infer_shape_partial(), s.infer_type(data='float32')
        s.infer_type_partial(data='float32')
        s.get_internals(), s.get_children(), s.attr_dict(), s.list_attr(), copy.deepcopy(s), len(s), s[0], s.name, s.debug_str(), s.list_inputs(), s.attr('x')
        (mx.sym.fromjson if V2 else mx.sym.load_json)(s.tojson())
    s.save('s.json')
    mx.sym.load('s.json')
    mx.sym.Group([s, s])
    mx.sym.exp(mx.sym.var('p'), name='e')(p=s)
    nets.mlp()._set_attr(__a__='b')


def module():
    it = mx.io.NDArrayIter(nets.fill((40, 7), 3), (onp.arange(40) % 3).astype('float32'), 10, label_name='softmax_label')
    m = mx.mod.Module(nets.mlp(), context=mx.cpu())
    m.fit(it, num_epoch=2, optimizer_params={'learning_rate': 0.1}, batch_end_callback=mx.callback.Speedometer(10, 1))
    m.score(it, 'acc')
    m.predict(it)
    m.save_checkpoint('cp', 2, True)
    mx.mod.Module.load('cp', 2)


def kvstore():
    one = mx.nd.ones((2, 2))
    for k in (3, 'w'):
        kv = mx.kv.create('local')
        kv.init(k, one)
        kv.push(k, [one, one])
        kv.pull(k, out=one)
        kv.pushpull(k, one, out=one)
        kv.broadcast(5 if k == 3 else 'v', one, one)
        kv.set_optimizer(mx.optimizer.create('sgd'))
        kv.push(k, one)
        kv.rank, kv.num_workers, kv.type
        kv._barrier()
    mx.nd.waitall()


def drain(it):
    for _ in range(2):
        for b in it:
            b.data[0].asnumpy(), b.label[0].asnumpy(), b.pad, b.index
        it.reset()


def mnist(): drain(mx.io.MNISTIter(image='data/mnist_data/t10k-images-idx3-ubyte', label='data/mnist_data/t10k-labels-idx1-ubyte', batch_size=50, flat=True, shuffle=True))


def csv():
    open('x.csv', 'w').write('1,2\n3,4\n')
    drain(mx.io.CSVIter(data_csv='x.csv', data_shape=(2,), batch_size=1))


def custom():
    a = mx.nd.ones((2,))
    a.attach_grad()
    with autograd.record():
        b = mx.nd.Custom(a, op_type='graph_double')

        class F(autograd.Function):
            def forward(self, x): return x * 2
            def backward(self, g): return g * 2
        b = F()(b)
    b.backward()
    mx.nd.waitall()


def dlpack():
    a = mx.nd.ones((2,))
    mx.nd.from_dlpack(a.to_dlpack_for_read())
    mx.nd.from_dlpack(a.to_dlpack_for_write())
    mx.nd.from_numpy(onp.ones((2,), 'float32'), zero_copy=True)


def static(): lenet(dict(static_alloc=True, static_shape=True))
def eager(): lenet(None)
def hybrid(): lenet({})


def export():
    net, x = lenet({})
    net.export('e')
    gluon.SymbolBlock.imports('e-symbol.json', ['data'], 'e-0000.params')(x).asnumpy()


def trainer_kvstore():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    tr = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1}, kvstore='device', update_on_kvstore=True)
    with autograd.record():
        ls = [net(arr(nets.fill((2, 3), 1), ctx=c)).sum() for c in (mx.cpu(0), mx.cpu(1))]
    autograd.backward(ls)
    tr.step(2)
    mx.nd.waitall()


globals()[what]()
