# SPDX-License-Identifier: Apache-2.0
"""Executors of both lines (1.x: bind and simple_bind; 2.0: _bind and _simple_bind): values of outputs and gradients for explicit
inputs (nets.inputs), requests, auxiliary states, reshape, monitor, errors. One JSON line per case."""
from cases import *
import nets
CPU = mx.cpu()


def bind(s, *a, **k):
    return (s._bind if V2 else s.bind)(CPU, *a, **k)


def simple_bind(s, **k):
    return (s._simple_bind if V2 else s.simple_bind)(CPU, **k)


def arrays(d):
    return {k: nd.array(v) for k, v in d.items()}


def bound(name, req='write', label=None):
    net, shapes = nets.NETS[name]
    s = net()
    args, aux = nets.inputs(s, shapes, label)
    a, x = arrays(args), arrays(aux)
    return s, bind(s, a, args_grad={k: nd.zeros(v.shape) for k, v in a.items()}, grad_req=req, aux_states=x), args, aux


def grads(ex):
    return {k: v for k, v in ex.grad_dict.items() if v is not None}


for _name in nets.NETS:
    @case('%s: inputs' % _name)
    def _(name=_name):
        net, shapes = nets.NETS[name]
        a, x = nets.inputs(net(), shapes)
        return {'arguments': a, 'auxiliary_states': x}

    @case('%s: forward for prediction' % _name)
    def _(name=_name):
        s, ex, a, x = bound(name)
        return {'outputs': list(ex.forward(is_train=False)), 'aux': dict(ex.aux_dict)}

    @case('%s: forward and backward' % _name)
    def _(name=_name):
        s, ex, a, x = bound(name)
        out = ex.forward(is_train=True)
        ex.backward([nd.array(nets.fill(o.shape, 7 + i)) for i, o in enumerate(out)])
        return {'outputs': list(ex.outputs), 'gradients': grads(ex), 'aux': dict(ex.aux_dict)}

for _name in ('mlp', 'lenet_bn', 'control'):
    @case('%s: backward without head gradients' % _name)
    def _(name=_name):
        s, ex, a, x = bound(name)
        ex.forward(is_train=True)
        ex.backward()
        return grads(ex)

for _req in ('write', 'add', 'null'):
    @case('request %s, backward twice' % _req)
    def _(req=_req):
        s, ex, a, x = bound('shared', req)
        for _ in range(2):
            ex.forward(is_train=True)
            ex.backward(nd.ones((3, 4)))
        return grads(ex)


@case('request per argument as a dictionary')
def _():
    s, ex, a, x = bound('mlp', {'data': 'null', 'softmax_label': 'null', 'fc1_weight': 'add', 'fc1_bias': 'write', 'fc2_weight': 'null', 'fc2_bias': 'write',
                                'fc3_weight': 'write', 'fc3_bias': 'null'})
    for _ in range(2):
        ex.forward(is_train=True)
        ex.backward()
    return {k: (None if v is None else v) for k, v in ex.grad_dict.items()}


@case('request dictionary, one argument missing')
def _():
    s, ex, a, x = bound('shared', {'data': 'write'})
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    return grads(ex)


@case('request as a list')
def _():
    s, ex, a, x = bound('shared', ['write', 'null', 'write'])
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    return grads(ex)


@case('request as a list too short')
def _(): return bound('shared', ['write'])[1].forward()[0].shape


@case('request unknown')
def _(): return bound('shared', 'maybe')[1].forward()[0].shape


@case('gradients left out')
def _():
    s = nets.shared()
    a, x = nets.inputs(s, {'data': (3, 4)})
    ex = bind(s, arrays(a))
    ex.forward(is_train=True)
    return [ex.grad_arrays, ex.outputs[0].shape]


@case('gradients left out, then backward')
def _():
    s = nets.shared()
    a, x = nets.inputs(s, {'data': (3, 4)})
    ex = bind(s, arrays(a))
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    return [ex.grad_arrays]


@case('gradients for a part of the arguments')
def _():
    s = nets.shared()
    a, x = nets.inputs(s, {'data': (3, 4)})
    ex = bind(s, arrays(a), args_grad={'w': nd.zeros((4, 4))})
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    return ex.grad_dict


@case('arguments as a list')
def _():
    s = nets.shared()
    a, x = nets.inputs(s, {'data': (3, 4)})
    return bind(s, [nd.array(a[n]) for n in s.list_arguments()]).forward()[0]


@case('arguments as a list too short')
def _(): return bind(nets.shared(), [nd.ones((3, 4))]).forward()[0]


@case('argument missing')
def _(): return bind(nets.shared(), {'data': nd.ones((3, 4))}).forward()[0]


@case('argument unknown')
def _():
    a, x = nets.inputs(nets.shared(), {'data': (3, 4)})
    return bind(nets.shared(), dict(arrays(a), nobody=nd.ones((2,)))).forward()[0].shape


@case('argument of another shape')
def _():
    a, x = nets.inputs(nets.shared(), {'data': (3, 4)})
    return bind(nets.shared(), dict(arrays(a), w=nd.ones((5, 4)))).forward()[0].shape


@case('argument of another type')
def _():
    a, x = nets.inputs(nets.shared(), {'data': (3, 4)})
    return bind(nets.shared(), dict(arrays(a), w=nd.ones((4, 4), dtype='float64'))).forward()[0]


@case('argument that is no array')
def _(): return bind(nets.shared(), {'data': 3, 'w': 4, 'b': 5}).forward()[0]


@case('gradient of another shape')
def _():
    s = nets.shared()
    a, x = nets.inputs(s, {'data': (3, 4)})
    ex = bind(s, arrays(a), args_grad={'w': nd.zeros((2, 2))})
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    return ex.grad_dict


@case('auxiliary state missing')
def _():
    s = nets.lenet_bn()
    a, x = nets.inputs(s, {'data': (2, 1, 12, 12)})
    return bind(s, arrays(a)).forward()[0].shape


@case('head gradients: too many')
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=True)
    ex.backward([nd.ones((3, 4)), nd.ones((3, 4))])
    return grads(ex)


@case('head gradients: too few', own=True)
def _():
    s, ex, a, x = bound('slices')
    ex.forward(is_train=True)
    ex.backward([nd.ones((2, 2, 4))])
    return grads(ex)


@case('head gradients: another shape', own=True)
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=True)
    ex.backward(nd.ones((2, 2)))
    return grads(ex)


@case('head gradients: none where they are needed', own=True)
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=True)
    ex.backward()
    return grads(ex)


@case('head gradients: no array')
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=True)
    ex.backward(3)


@case('backward before forward', own=True)
def _():
    s, ex, a, x = bound('shared')
    ex.backward(nd.ones((3, 4)))
    return grads(ex)


@case('backward after forward for prediction', own=True)
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=False)
    ex.backward(nd.ones((3, 4)))
    return grads(ex)


@case('backward twice after one forward', own=True)
def _():
    s, ex, a, x = bound('shared')
    ex.forward(is_train=True)
    ex.backward(nd.ones((3, 4)))
    ex.backward(nd.ones((3, 4)))
    return grads(ex)


@case('outputs before forward', own=True)
def _():
    s, ex, a, x = bound('shared')
    return [o.shape for o in ex.outputs]


@case('forward with new values by keyword')
def _():
    s, ex, a, x = bound('shared')
    first = ex.forward(is_train=False)[0].copy()
    second = ex.forward(is_train=False, data=nd.ones((3, 4)))[0]
    return [first, second, ex.arg_dict['data']]


@case('forward by keyword: unknown name')
def _(): return bound('shared')[1].forward(nobody=nd.ones((3, 4)))[0].shape


@case('forward by keyword: another shape')
def _(): return bound('shared')[1].forward(data=nd.ones((2, 4)))[0].shape


@case('forward by keyword: a list')
def _(): return bound('shared')[1].forward(data=[[1, 2]])[0].shape


@case('is_train given as a number')
def _(): return bound('shared')[1].forward(1)[0].shape


@case('outputs are the same arrays after each forward')
def _():
    s, ex, a, x = bound('shared')
    o = ex.forward()[0]
    before = o.copy()
    ex.forward(data=nd.zeros((3, 4)))
    return [before, o]


@case('output_dict')
def _():
    s, ex, a, x = bound('slices')
    ex.forward()
    return {k: v.shape for k, v in ex.output_dict.items()}


@case('auxiliary states after three training steps')
def _():
    s, ex, a, x = bound('lenet_bn', label=10)
    for _ in range(3):
        ex.forward(is_train=True)
        ex.backward()
        nd.waitall()
    ex.forward(is_train=False)
    return {'aux': dict(ex.aux_dict), 'outputs': list(ex.outputs)}


@case('auxiliary states read at once after backward')
def _():
    s, ex, a, x = bound('lenet_bn', label=10)
    for _ in range(3):
        ex.forward(is_train=True)
        ex.backward()
    return {'aux': dict(ex.aux_dict), 'prediction': ex.forward(is_train=False)}


@case('arrays given to bind are used, not copied')
def _():
    w = nd.ones((2, 2))
    ex = bind(sym.var('w') * 2, {'w': w})
    w[:] = 5
    return ex.forward()[0]


@case('one array for two arguments')
def _():
    w = nd.ones((2, 2)) * 3
    g = nd.zeros((2, 2))
    ex = bind(sym.var('a') * sym.var('b') * 2, {'a': w, 'b': w}, args_grad={'a': nd.zeros((2, 2)), 'b': nd.zeros((2, 2))})
    ex.forward(is_train=True)
    ex.backward(nd.ones((2, 2)))
    return ex.grad_dict


@case('a variable as the whole graph')
def _():
    ex = bind(sym.var('w'), {'w': nd.ones((2, 2)) * 3}, args_grad={'w': nd.zeros((2, 2))})
    out = ex.forward(is_train=True)[0]
    ex.backward(nd.ones((2, 2)) * 5)
    return [out, ex.grad_dict]


@case('one node twice as an output')
def _():
    e = sym.exp(sym.var('w'), name='e')
    ex = bind(sym.Group([e, e]), {'w': nd.ones((2,))}, args_grad={'w': nd.zeros((2,))})
    out = ex.forward(is_train=True)
    ex.backward([nd.ones((2,)), nd.ones((2,)) * 2])
    return [list(out), ex.grad_dict]


@case('simple_bind')
def _():
    ex = simple_bind(nets.lenet_bn(), data=(2, 1, 12, 12))
    return {'arguments': {k: [v.shape, v] if v.size < 3 else v.shape for k, v in ex.arg_dict.items()}, 'gradients': {k: None if v is None else v.shape for k, v in ex.grad_dict.items()},
            'aux': dict(ex.aux_dict), 'zeros': all((v.asnumpy() == 0).all() for v in ex.arg_dict.values())}


@case('simple_bind without shapes')
def _(): return simple_bind(nets.mlp())


@case('simple_bind with an unknown name')
def _(): return sorted(simple_bind(nets.mlp(), data=(4, 7), nobody=(2, 2)).arg_dict)


@case('simple_bind with shapes that do not fit')
def _(): return simple_bind(nets.mlp(), data=(4, 7), fc1_weight=(8, 9))


@case('simple_bind with types')
def _(): return {k: v.dtype for k, v in simple_bind(nets.mlp(), type_dict={'data': 'float64'}, data=(4, 7)).arg_dict.items()}


@case('simple_bind with requests')
def _():
    ex = simple_bind(nets.mlp(), grad_req={'data': 'null', 'fc1_weight': 'add'}, data=(4, 7))
    return {k: v is not None for k, v in ex.grad_dict.items()}


@case('simple_bind for prediction')
def _():
    ex = simple_bind(nets.mlp(), grad_req='null', data=(4, 7))
    return [ex.grad_arrays, ex.forward()[0]]


@case('copy_params_from')
def _():
    s = nets.lenet_bn()
    a, x = nets.inputs(s, {'data': (2, 1, 12, 12)})
    ex = simple_bind(s, data=(2, 1, 12, 12))
    ex.copy_params_from(arrays(a), arrays(x))
    return [ex.forward()[0], dict(ex.aux_dict)]


@case('copy_params_from: unknown name')
def _(): simple_bind(nets.mlp(), data=(4, 7)).copy_params_from({'nobody': nd.ones((2,))})


@case('copy_params_from: unknown name allowed')
def _(): return simple_bind(nets.mlp(), data=(4, 7)).copy_params_from({'nobody': nd.ones((2,))}, allow_extra_params=True)


@case('copy_params_from: unknown auxiliary state')
def _(): simple_bind(nets.mlp(), data=(4, 7)).copy_params_from({}, {'nobody': nd.ones((2,))})


@case('copy_params_from: another shape')
def _(): simple_bind(nets.mlp(), data=(4, 7)).copy_params_from({'fc1_bias': nd.ones((2,))})


@case('copy_params_from: another type')
def _():
    ex = simple_bind(nets.mlp(), data=(4, 7))
    ex.copy_params_from({'fc1_bias': nd.ones((8,), dtype='float64')})
    return ex.arg_dict['fc1_bias']


for _n, _k in (('smaller batch', dict(data=(2, 7))), ('larger batch without up_sizing', dict(data=(9, 7))), ('larger batch', dict(data=(9, 7), allow_up_sizing=True)),
               ('other width without partial_shaping', dict(data=(4, 5))), ('other width', dict(data=(4, 5), partial_shaping=True)),
               ('unknown name', dict(nobody=(2, 2))), ('no shapes', {})):
    @case('reshape: ' + _n, own=True)
    def _(k=_k):
        s, ex, a, x = bound('mlp')
        new = ex.reshape(**k)
        out = new.forward(is_train=True)
        new.backward()
        same = {n: bool((v.asnumpy().ravel()[:1] == a[n].ravel()[:1]).all()) for n, v in new.arg_dict.items()}
        return {'arguments': {n: v.shape for n, v in new.arg_dict.items()}, 'outputs': [o.shape for o in out], 'first_value_kept': same,
                'first': ex.forward()[0].shape}

for _all in (False, True):
    @case('monitor, monitor_all=%s' % _all, own=True)
    def _(all_=_all):
        s, ex, a, x = bound('mlp')
        seen = []

        def callback(name, array):
            array = array if isinstance(array, nd.NDArray) else nd.NDArray(mx.base.NDArrayHandle(array), writable=False)
            seen.append([name if isinstance(name, str) else name.decode(), array.shape, float('%.6g' % array.asnumpy().sum())])
        ex.set_monitor_callback(callback, monitor_all=all_)
        ex.forward(is_train=True)
        ex.backward()
        return seen


@case('Monitor', own=True)
def _():
    s, ex, a, x = bound('mlp')
    m = mx.monitor.Monitor(1, stat_func=lambda v: mx.nd.sum(v), pattern='.*', sort=True)
    m.install(ex)
    m.tic()
    ex.forward(is_train=True)
    ex.backward()
    return [[n, name, '%.6g' % float(v.strip())] for n, name, v in m.toc()]


@case('Monitor with a pattern', own=True)
def _():
    s, ex, a, x = bound('mlp')
    m = mx.monitor.Monitor(2, pattern='fc1.*')
    m.install(ex)
    out = []
    for _ in range(3):
        m.tic()
        ex.forward(is_train=True)
        out.append([[n, name, '%.6g' % float(v.strip())] for n, name, v in m.toc()])
    return out


@case('debug_str')
def _(): return bound('mlp')[1].debug_str()


@case('string of an executor')
def _(): return [type(bound('mlp')[1]).__name__, sorted(n for n in dir(bound('mlp')[1]) if not n.startswith('_'))]


@case('group2ctx')
def _():
    with mx.AttrScope(ctx_group='a'):
        x = sym.var('x') * 2
    with mx.AttrScope(ctx_group='b'):
        y = x + 1
    ex = (y._bind if V2 else y.bind)(mx.cpu(0), {'x': nd.ones((2,))}, args_grad={'x': nd.zeros((2,))}, group2ctx={'a': mx.cpu(0), 'b': mx.cpu(1)})
    out = ex.forward(is_train=True)[0]
    ex.backward(nd.ones((2,), ctx=mx.cpu(1)))
    return [out, ex.grad_dict]


@case('arguments on different devices')
def _():
    ex = bind(sym.var('a') + sym.var('b'), {'a': nd.ones((2,)), 'b': nd.ones((2,), ctx=mx.cpu(1))})
    return ex.forward()[0]


@case('shared executor')
def _():
    s, ex, a, x = bound('mlp')
    small = dict(arrays(a), data=nd.ones((2, 7)), softmax_label=nd.zeros((2,)))
    other = nets.mlp()._bind(CPU, small) if V2 else nets.mlp().bind(CPU, small, shared_exec=ex)
    return [other.forward()[0], ex.forward()[0]]


@case('an operator that fails while running', own=True)
def _():
    class Fails(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise ValueError('broken on purpose')

    class FailsProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Fails()
    mx.operator.register('graph_fails')(FailsProp)
    ex = bind(sym.Custom(sym.exp(sym.var('x'), name='before'), op_type='graph_fails', name='bad') + 1, {'x': nd.ones((2,))})
    out = ex.forward()[0]
    return out


@case('an index out of range', own=True)
def _():
    ex = bind(sym.take(sym.var('a'), sym.var('i'), mode='raise', name='pick'), {'a': nd.ones((3,)), 'i': nd.array([7])})
    return ex.forward()[0]


main()
