# SPDX-License-Identifier: Apache-2.0
"""Module of 1.9.1: bind, init_params, fit with metrics and callbacks, score, predict, checkpoints. One JSON line per case."""
import logging
import io as _io
import os
import nets
from cases import *
_case = case
def case(name, own=True, **k): return _case(name, own, **k)      # any of them may end the process
X = nets.fill((40, 7), 3)
Y = (onp.arange(40) % 3).astype('float32')
X[onp.arange(40), onp.arange(40) % 3] += 2


def it(batch=10, **k): return mx.io.NDArrayIter(X, Y, batch, label_name='softmax_label', **k)


def explicit(net=None):
    s = net or nets.mlp()
    shapes = dict(zip(s.list_arguments(), s.infer_shape(data=(10, 7))[0]))
    return {n: nd.array(nets.fill(v, 2 * i, 0.3)) for i, (n, v) in enumerate(shapes.items()) if n not in ('data', 'softmax_label')}


def logged(f):
    s = _io.StringIO()
    h = logging.StreamHandler(s)
    root = logging.getLogger()
    root.addHandler(h)
    old = root.level
    root.setLevel(logging.INFO)
    try:
        f()
    finally:
        root.removeHandler(h)
        root.setLevel(old)
    text = re.sub(r'(Speed: )[\d.]+', r'\1NUMBER', s.getvalue())
    return re.sub(r'(Time cost=)[\d.]+', r'\1NUMBER', text).split('\n')


def module(**k): return mx.mod.Module(nets.mlp(), context=mx.cpu(), **k)


def fit(m, epochs=2, **k):
    args = dict(eval_metric='acc', optimizer='sgd', optimizer_params={'learning_rate': 0.5}, arg_params=explicit(), num_epoch=epochs)
    args.update(k)
    m.fit(it(), **args)


def params(m):
    a, x = m.get_params()
    return {'arg': a, 'aux': x}


@case('before bind')
def _():
    m = module()
    return [m.binded, m.params_initialized, m.optimizer_initialized, m.data_names, m.output_names, m.label_names, m.symbol]


@case('data_shapes before bind')
def _(): return module().data_shapes


@case('forward before bind')
def _(): module().forward(next(it()))


@case('bind and init_params')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.init_params(arg_params=explicit())
    return [m.binded, m.params_initialized, [list(d) for d in m.data_shapes], [list(d) for d in m.label_shapes], [list(o) for o in m.output_shapes], params(m)]


@case('forward, backward, update, outputs')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.init_params(arg_params=explicit())
    m.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.5})
    m.forward(next(it()), is_train=True)
    out = m.get_outputs()[0]
    m.backward()
    grads = {n: g[0] for n, g in zip(m._exec_group.param_names, m._exec_group.grad_arrays)}
    res = {'outputs': out, 'gradients': {k: v.copy() for k, v in grads.items()}}
    m.update()
    return dict(res, after=params(m), input_grads=None)


@case('rescale_grad default is 1 over the batch')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.init_params(arg_params=explicit())
    m.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.5})
    return [m._optimizer.rescale_grad, m._optimizer.lr, m._optimizer.wd, type(m._kvstore).__name__, m._update_on_kvstore, m._optimizer.idx2name]


for _n, _k in (('sgd', {}), ('momentum', dict(optimizer_params={'learning_rate': 0.2, 'momentum': 0.9, 'wd': 0.01})), ('adam', dict(optimizer='adam', optimizer_params={'learning_rate': 0.05})), ('no kvstore', dict(kvstore=None)), ('device kvstore', dict(kvstore='device'))):
    @case('fit: ' + _n)
    def _(k=_k):
        m = module()
        log = logged(lambda: fit(m, **k))
        return {'log': log, 'params': params(m), 'score': m.score(it(), 'acc')}


@case('fit: callbacks and several metrics')
def _():
    m = module()
    seen = []
    log = logged(lambda: fit(m, eval_data=it(), eval_metric=['acc', 'ce'], batch_end_callback=[mx.callback.Speedometer(10, 2), lambda p: seen.append([p.epoch, p.nbatch, [[n, '%.6g' % v] for n, v in p.eval_metric.get_name_value()]])],
                             epoch_end_callback=[lambda e, s, a, x: seen.append(['epoch', e, sorted(a), sorted(x)]), mx.callback.do_checkpoint('cp')], eval_end_callback=lambda p: seen.append(['eval end', p.epoch, p.nbatch])))
    return {'log': log, 'seen': seen, 'files': sorted(f for f in os.listdir('.') if f.startswith('cp'))}


@case('Speedometer: auto_reset off')
def _():
    m = module()
    return logged(lambda: fit(m, batch_end_callback=mx.callback.Speedometer(10, 1, auto_reset=False), epochs=1))


@case('Speedometer without a metric')
def _():
    s = mx.callback.Speedometer(10, 1)
    P = mx.model.BatchEndParam
    return logged(lambda: [s(P(epoch=0, nbatch=i, eval_metric=None, locals=None)) for i in range(4)])


@case('log_train_metric, ProgressBar, LogValidationMetricsCallback')
def _():
    m = module()
    return logged(lambda: fit(m, epochs=1, eval_data=it(), batch_end_callback=[mx.callback.log_train_metric(2), mx.callback.ProgressBar(4, 20)], eval_end_callback=mx.callback.LogValidationMetricsCallback()))


@case('score and predict')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label, for_training=False)
    m.init_params(arg_params=explicit())
    p = m.predict(it())
    return {'score': m.score(it(), ['acc', 'ce', 'mse' if False else 'top_k_accuracy' if False else 'ce']), 'predict': p, 'two_batches': m.predict(it(), num_batch=2).shape, 'not_merged': [[o.shape for o in b] for b in m.predict(it(), merge_batches=False)],
            'batch_not_dividing': m.predict(it(batch=10)).shape}


@case('predict drops the padding')
def _():
    m = module()
    d = mx.io.NDArrayIter(X[:25], Y[:25], 10, label_name='softmax_label')
    m.bind(data_shapes=d.provide_data, label_shapes=d.provide_label, for_training=False)
    m.init_params(arg_params=explicit())
    return [m.predict(d).shape, [[o.shape for o in out] + [i, b.pad] for out, i, b in m.iter_predict(d)]]


@case('backward when bound for prediction')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label, for_training=False)
    m.init_params(arg_params=explicit())
    m.forward(next(it()))
    m.backward()


@case('input gradients')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label, inputs_need_grad=True)
    m.init_params(arg_params=explicit())
    m.forward(next(it()), is_train=True)
    m.backward()
    return m.get_input_grads()[0]


@case('checkpoint')
def _():
    m = module()
    fit(m, optimizer_params={'learning_rate': 0.2, 'momentum': 0.9})
    m.save_checkpoint('cp', 12, save_optimizer_states=True)
    files = sorted(f for f in os.listdir('.') if f.startswith('cp'))
    saved = nd.load('cp-0012.params')
    m2 = mx.mod.Module.load('cp', 12, load_optimizer_states=True)
    m2.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m2.init_params()
    m2.init_optimizer(optimizer='sgd', optimizer_params={'learning_rate': 0.2, 'momentum': 0.9})
    s, a, x = mx.model.load_checkpoint('cp', 12)
    return {'files': files, 'parameters': {k: v.shape for k, v in saved.items()}, 'order': list(saved), 'symbol_is_tojson': open('cp-symbol.json').read() == nets.mlp().tojson(), 'same_prediction': bool((m2.predict(it()).asnumpy() == m.predict(it()).asnumpy()).all()),
            'load_checkpoint': [s, sorted(a), sorted(x)], 'first_bytes': open('cp-0012.params', 'rb').read(32).hex()}


@case('checkpoint missing')
def _(): mx.mod.Module.load('nobody', 1)


@case('set_params: missing')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.set_params({'fc1_weight': nd.ones((8, 7))}, {}, allow_missing=False)


@case('set_params: extra')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.set_params(dict(explicit(), nobody=nd.ones((2,))), {}, allow_extra=False)


@case('set_params: another shape')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.set_params(dict(explicit(), fc1_weight=nd.ones((2, 2))), {})


@case('bind: wrong data name')
def _():
    m = module()
    m.bind(data_shapes=[('nobody', (10, 7))], label_shapes=it().provide_label)


@case('data names that the symbol has not')
def _(): mx.mod.Module(nets.mlp(), data_names=['nobody'])


@case('label names that the symbol has not')
def _():
    return logged(lambda: mx.mod.Module(nets.mlp(), label_names=['nobody']))


@case('bind twice')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    return logged(lambda: m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label))


@case('reshape and a batch of another size')
def _():
    m = module()
    m.bind(data_shapes=it().provide_data, label_shapes=it().provide_label)
    m.init_params(arg_params=explicit())
    m.reshape([('data', (4, 7))], [('softmax_label', (4,))])
    m.forward(mx.io.DataBatch([nd.array(X[:4])], [nd.array(Y[:4])]))
    a = m.get_outputs()[0].shape
    m.forward(mx.io.DataBatch([nd.array(X[:6])], [nd.array(Y[:6])]))
    return [a, m.get_outputs()[0].shape]


@case('fixed_param_names')
def _():
    m = module(fixed_param_names=['fc1_weight'])
    fit(m, epochs=1)
    return bool((m.get_params()[0]['fc1_weight'].asnumpy() == explicit()['fc1_weight'].asnumpy()).all())


@case('two devices')
def _():
    m = mx.mod.Module(nets.mlp(), context=[mx.cpu(0), mx.cpu(1)])
    fit(m)
    return params(m)


@case('init_params: default initializer by name')
def _():
    m = mx.mod.Module(nets.lenet_bn(), context=mx.cpu())
    m.bind(data_shapes=[('data', (2, 1, 12, 12))], label_shapes=[('softmax_label', (2,))])
    m.init_params(mx.init.Constant(0.5))
    a, x = m.get_params()
    return {k: [v.shape, nested(onp.unique(v.asnumpy()))] for k, v in list(a.items()) + list(x.items())}


@case('BucketingModule')
def _():
    def gen(k):
        x = sym.sum(sym.reshape(sym.var('data'), shape=(-1, 7, k)), axis=2)
        return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name='fc'), name='softmax'), ('data',), ('softmax_label',)
    m = mx.mod.BucketingModule(gen, default_bucket_key=4)
    m.bind([('data', (10, 28))], [('softmax_label', (10,))])
    m.init_params(mx.init.Constant(0.5))
    out = []
    for k in (4, 2):
        m.forward(mx.io.DataBatch([nd.ones((10, 7 * k))], [nd.zeros((10,))], bucket_key=k, provide_data=[('data', (10, 7 * k))], provide_label=[('softmax_label', (10,))]))
        out.append(m.get_outputs()[0])
    return out


main()
