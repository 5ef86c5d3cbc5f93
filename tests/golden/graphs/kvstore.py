# SPDX-License-Identifier: Apache-2.0
"""Key-value store, local and device: values, keys, updater, optimizer, Trainer, errors. One JSON line per case."""
from cases import *
_case = case
def case(name, own=True, **k): return _case(name, own, **k)      # any of them may end the process


def make(t='local'):
    return mx.kv.create(t)


ONE, TWO = lambda: nd.array([[1, 2], [3, 4]]), lambda: nd.array([[10, 20], [30, 40]])
CPU1 = lambda a: a.as_in_context(mx.cpu(1))


def pulled(kv, key, n=1):
    out = [nd.zeros((2, 2), ctx=mx.cpu(i)) for i in range(n)]
    kv.pull(key, out=out if n > 1 else out[0])
    return out if n > 1 else out[0]


for _t in ('local', 'device'):
    @case(_t + ': type, rank, size')
    def _(t=_t):
        kv = make(t)
        return [kv.type, kv.rank, kv.num_workers, type(kv).__name__, kv.is_capable('optimizer') if hasattr(kv, 'is_capable') else None]

    for _k in (3, 'w'):
        @case('%s: init and pull, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            kv.init(k, ONE())
            return pulled(kv, k)

        @case('%s: push replaces, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            kv.init(k, ONE())
            kv.push(k, TWO())
            a = pulled(kv, k)
            kv.push(k, ONE())
            return [a, pulled(kv, k)]

        @case('%s: several values are summed, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            kv.init(k, ONE())
            kv.push(k, [ONE(), CPU1(TWO()), ONE()])
            return pulled(kv, k, 2)

        @case('%s: pushpull, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            kv.init(k, ONE())
            out = [nd.zeros((2, 2)), nd.zeros((2, 2), ctx=mx.cpu(1))]
            kv.pushpull(k, [ONE(), CPU1(TWO())], out=out)
            return [out, pulled(kv, k)]

        @case('%s: pushpull in place, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            kv.init(k, ONE())
            v = [ONE(), CPU1(TWO())]
            kv.pushpull(k, v)
            return v

        @case('%s: pushpull without init, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            v = [ONE(), CPU1(TWO())]
            kv.pushpull(k, v)
            return v

        @case('%s: broadcast, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            out = [nd.zeros((2, 2)), nd.zeros((2, 2), ctx=mx.cpu(1))]
            kv.broadcast(k, ONE(), out)
            return [out, pulled(kv, k)]

        @case('%s: updater, key %r' % (_t, _k))
        def _(t=_t, k=_k):
            kv = make(t)
            seen = []

            def update(key, recv, local):
                seen.append([key, type(key).__name__, recv.asnumpy().tolist(), local.asnumpy().tolist()])
                local += recv * 2
            kv.init(k, ONE())
            (kv._set_updater if hasattr(kv, '_set_updater') else kv.set_updater)(update)
            kv.push(k, [ONE(), TWO()])
            kv.push(k, ONE())
            return [seen, pulled(kv, k)]

    @case(_t + ': lists of keys')
    def _(t=_t):
        kv = make(t)
        kv.init([5, 7, 9], [ONE()] * 3)
        kv.push([5, 9], [TWO(), [ONE(), ONE()]])
        out = [nd.zeros((2, 2)) for _ in range(3)]
        kv.pull([5, 7, 9], out=out)
        return out

    @case(_t + ': key twice in one push')
    def _(t=_t):
        kv = make(t)
        kv.init(3, ONE())
        kv.push([3, 3], [ONE(), TWO()])
        return pulled(kv, 3)

    for _o, _p in (('sgd', {'learning_rate': 0.5}), ('sgd', {'learning_rate': 0.5, 'momentum': 0.9, 'wd': 0.1}), ('adam', {'learning_rate': 0.1})):
        @case('%s: optimizer %s %s' % (_t, _o, sorted(_p)))
        def _(t=_t, o=_o, p=_p):
            kv = make(t)
            kv.init('w', ONE())
            kv.set_optimizer(mx.optimizer.create(o, **p))
            out = []
            for _ in range(3):
                kv.push('w', [ONE(), TWO()])
                out.append(pulled(kv, 'w').copy())
            return out

    @case(_t + ': optimizer states saved and loaded')
    def _(t=_t):
        kv = make(t)
        kv.init('w', ONE())
        kv.set_optimizer(mx.optimizer.create('sgd', learning_rate=0.5, momentum=0.9))
        kv.push('w', ONE())
        kv.save_optimizer_states('states')
        kv.push('w', ONE())
        a = pulled(kv, 'w').copy()
        kv.load_optimizer_states('states')
        kv.push('w', ONE())
        return [a, pulled(kv, 'w')]

    @case(_t + ': types')
    def _(t=_t):
        kv = make(t)
        out = []
        for i, d in enumerate(('float64', 'float16', 'int32', 'uint8', 'int64')):
            kv.init(i, nd.ones((2,), dtype=d))
            try:
                kv.push(i, [nd.ones((2,), dtype=d), nd.ones((2,), dtype=d)])
                o = nd.zeros((2,), dtype=d)
                kv.pull(i, out=o)
                out.append(o)
            except Exception as e:
                out.append([type(e).__name__, clean(str(e))[:300]])
        return out

    @case(_t + ': pull into another type')
    def _(t=_t):
        kv = make(t)
        kv.init(3, ONE())
        o = nd.zeros((2, 2), dtype='float64')
        kv.pull(3, out=o)
        return o

    @case(_t + ': a copy is kept at init')
    def _(t=_t):
        kv = make(t)
        a = ONE()
        kv.init(3, a)
        a[:] = 0
        return pulled(kv, 3)

ERR = {
    'init twice': lambda kv: (kv.init(3, ONE()), kv.init(3, ONE())),
    'pull unknown integer key': lambda kv: (kv.init(3, ONE()), kv.pull(4, out=ONE())),
    'pull unknown string key': lambda kv: (kv.init('a', ONE()), kv.pull('b', out=ONE())),
    'pull before any init': lambda kv: kv.pull('b', out=ONE()),
    'push unknown key': lambda kv: (kv.init(3, ONE()), kv.push(4, ONE())),
    'string key after integer keys': lambda kv: (kv.init(3, ONE()), kv.init('a', ONE())),
    'integer key after string keys': lambda kv: (kv.init('a', ONE()), kv.init(3, ONE())),
    'mixed keys in one call': lambda kv: kv.init(['a', 3], [ONE(), ONE()]),
    'keys and values of different count': lambda kv: kv.init(['a', 'b'], [ONE()]),
    'push of another shape': lambda kv: (kv.init(3, ONE()), kv.push(3, nd.ones((3, 3))), kv.pull(3, out=nd.zeros((3, 3)))),
    'push of two shapes': lambda kv: (kv.init(3, ONE()), kv.push(3, [ONE(), nd.ones((3, 3))])),
    'pull into another shape': lambda kv: (kv.init(3, ONE()), kv.pull(3, out=nd.ones((3, 3)))),
    'pull without out': lambda kv: (kv.init(3, ONE()), kv.pull(3)),
    'value that is no array': lambda kv: kv.init(3, 5),
    'key that is a fraction': lambda kv: kv.init(3.5, ONE()),
    'negative key': lambda kv: (kv.init(-3, ONE()), pulled(kv, -3))[1],
    'empty string key': lambda kv: (kv.init('', ONE()), pulled(kv, ''))[1],
    'row_sparse_pull of a dense value': lambda kv: (kv.init(3, ONE()), kv.row_sparse_pull(3, out=ONE(), row_ids=nd.array([0]))),
    'set_optimizer of no optimizer': lambda kv: kv.set_optimizer(3),
    'updater that raises': lambda kv: (kv.init(3, ONE()), kv._set_updater(lambda k, r, l: 1 / 0), kv.push(3, ONE())),
    'save states without an updater': lambda kv: kv.save_optimizer_states('states'),
    'gradient compression': lambda kv: kv.set_gradient_compression({'type': '2bit', 'threshold': 0.5}),
    'gradient compression unknown': lambda kv: kv.set_gradient_compression({'type': '9bit'}),
}
for _n, _f in ERR.items():
    @case('local error: ' + _n, own=True, timeout=20)
    def _(f=_f): return f(make()) if not isinstance(f, tuple) else None

for _n in ('nobody', '', 'LOCAL', 'Device', 'local_allreduce_cpu', 'dist_sync', 'dist_async', 'dist_device_sync', 'nccl', 'horovod', 'byteps'):
    @case('create: %r' % _n, own=True, timeout=20)
    def _(n=_n): return mx.kv.create(n).type


@case('create: no string')
def _(): return mx.kv.create(3)


for _kv in ('local', 'device', None, 'KV'):
    for _u in (None, True, False):
        @case('Trainer: kvstore %s, update_on_kvstore %s' % (_kv, _u), own=True)
        def _(k=_kv, u=_u):
            import nets
            if V2:
                mx.npx.set_np()
            arr = mx.np.array if V2 else nd.array
            net = mx.gluon.nn.Dense(2, in_units=3)
            ctxs = [mx.cpu(0), mx.cpu(1)]
            net.initialize(ctx=ctxs)
            net.weight.set_data(arr(nets.fill((2, 3), 1)))
            net.bias.set_data(arr(nets.fill((2,), 2)))
            tr = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.5, 'momentum': 0.9}, kvstore=mx.kv.create('local') if k == 'KV' else k, update_on_kvstore=u)
            for s in range(3):
                with mx.autograd.record():
                    ls = [(net(arr(nets.fill((2, 3), 5 + i)).as_in_ctx(c) if V2 else arr(nets.fill((2, 3), 5 + i), ctx=c)) ** 2).sum() for i, c in enumerate(ctxs)]
                mx.autograd.backward(ls)
                tr.step(4)
            out = [net.weight.data(c).asnumpy() for c in ctxs] + [net.bias.data(c).asnumpy() for c in ctxs]
            return {'values': out, 'kvstore': None if tr._kvstore is None else tr._kvstore.type, 'update_on_kvstore': tr._update_on_kvstore, 'allreduce_allowed': allowed(tr)}


def allowed(tr):
    try:
        tr.allreduce_grads()
        return True
    except Exception as e:
        return [type(e).__name__, clean(str(e))]


main()
