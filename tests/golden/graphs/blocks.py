# SPDX-License-Identifier: Apache-2.0
"""export, imports, SymbolBlock, hybridize: values, files, errors. One JSON line per case."""
import os
import nets
from cases import *
_case = case
def case(name, own=True, **k): return _case(name, own, **k)      # any of them may end the process
from mxnet import gluon, autograd
if V2:
    mx.npx.set_np()
arr = mx.np.array if V2 else nd.array


def mlp():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(5, activation='relu'), gluon.nn.BatchNorm(), gluon.nn.Dense(3))
    net.initialize()
    net(arr(nets.fill((4, 6), 1)))
    for i, p in enumerate(net.collect_params().values()):
        p.set_data(arr(nets.fill(p.shape, i, 0.25) + (1 if i in (2, 5) else 0)))
    return net


def steps(net, n=3):
    x = arr(nets.fill((4, 6), 1))
    tr = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
    out = []
    for _ in range(n):
        with autograd.record():
            l = (net(x) ** 2).sum()
        l.backward()
        tr.step(4)
        out.append(l.asnumpy())
    return out + [net(x).asnumpy()]


for _n, _k in (('eager', None), ('hybrid', {}), ('static_alloc', dict(static_alloc=True)), ('static', dict(static_alloc=True, static_shape=True)), ('inline_limit 0', dict(inline_limit=0)), ('bulk sizes 1', dict(forward_bulk_size=1, backward_bulk_size=1))):
    @case('three training steps: ' + _n)
    def _(k=_k):
        net = mlp()
        if k is not None:
            net.hybridize(**k)
        return steps(net)


@case('values: static_shape without static_alloc')
def _():
    net = mlp()
    net.hybridize(static_shape=True)
    return net(arr(nets.fill((4, 6), 1))).asnumpy()


@case('unknown flag')
def _():
    net = mlp()
    net.hybridize(nobody=True)
    return net(arr(nets.fill((4, 6), 1))).asnumpy()


@case('flag of another type')
def _():
    net = mlp()
    net.hybridize(inline_limit='many')
    return net(arr(nets.fill((4, 6), 1))).asnumpy()


@case('another shape after static_shape')
def _():
    net = mlp()
    net.hybridize(static_alloc=True, static_shape=True)
    return [net(arr(nets.fill((b, 6), 1))).asnumpy() for b in (4, 2, 8)]


@case('another shape after hybridize')
def _():
    net = mlp()
    net.hybridize()
    return [net(arr(nets.fill((b, 6), 1))).shape for b in (4, 2, 8)]


@case('another width after hybridize')
def _():
    net = mlp()
    net.hybridize()
    return net(arr(nets.fill((4, 5), 1))).asnumpy()


@case('inputs on different devices')
def _():
    class Two(gluon.HybridBlock):
        def forward(self, a, b):
            return a + b

        def hybrid_forward(self, F, a, b):
            return a + b
    if not V2:
        del Two.forward
    net = Two()
    net.hybridize()
    return net(arr([1.0]), arr([1.0], ctx=mx.cpu(1))).asnumpy()


@case('number of inputs')
def _():
    net = mlp()
    net.hybridize()
    x = arr(nets.fill((4, 6), 1))
    net(x)
    return net(x, x)


@case('summary')
def _():
    import io, contextlib
    s = io.StringIO()
    with contextlib.redirect_stdout(s):
        mlp().summary(arr(nets.fill((4, 6), 1)))
    return s.getvalue().split('\n')


@case('summary after hybridize')
def _():
    net = mlp()
    net.hybridize()
    net.summary(arr(nets.fill((4, 6), 1)))


@case('export before the first call')
def _():
    net = mlp()
    net.hybridize()
    return net.export('e')


@case('export without hybridize')
def _(): return mlp().export('e')


@case('export and imports')
def _():
    net = mlp()
    net.hybridize()
    x = arr(nets.fill((4, 6), 1))
    want = net(x).asnumpy()
    net.export('e', epoch=7)
    files = sorted(f for f in os.listdir('.') if f.startswith('e-'))
    names = sorted((mx.npx.load if V2 else nd.load)('e-0007.params'))
    back = gluon.SymbolBlock.imports('e-symbol.json', ['data'], 'e-0007.params')
    got = back(x).asnumpy()
    return {'files': files, 'parameters': names, 'equal': bool((want == got).all()), 'block_parameters': sorted(back.collect_params()), 'values': got}


@case('imports: input name wrong')
def _():
    net = mlp(); net.hybridize(); net(arr(nets.fill((4, 6), 1))); net.export('e')
    return gluon.SymbolBlock.imports('e-symbol.json', ['nobody'], 'e-0000.params')(arr(nets.fill((4, 6), 1))).shape


@case('imports: parameters left out')
def _():
    net = mlp(); net.hybridize(); net(arr(nets.fill((4, 6), 1))); net.export('e')
    return gluon.SymbolBlock.imports('e-symbol.json', ['data'])(arr(nets.fill((4, 6), 1))).shape


@case('imports: symbol file missing')
def _(): return gluon.SymbolBlock.imports('nobody.json', ['data'])


@case('imports: parameter file missing')
def _():
    net = mlp(); net.hybridize(); net(arr(nets.fill((4, 6), 1))); net.export('e')
    return gluon.SymbolBlock.imports('e-symbol.json', ['data'], 'nobody.params')


@case('imports: parameter file cut', own=True)
def _():
    net = mlp(); net.hybridize(); net(arr(nets.fill((4, 6), 1))); net.export('e')
    b = open('e-0000.params', 'rb').read()
    open('e-0000.params', 'wb').write(b[:len(b) // 2])
    return gluon.SymbolBlock.imports('e-symbol.json', ['data'], 'e-0000.params')


@case('SymbolBlock of internals, trained')
def _():
    x = sym.var('data')
    s = nets.mlp().get_internals()['relu1_output']
    if V2:
        s = s.as_np_ndarray()
    b = gluon.SymbolBlock(s, [sym.var('data').as_np_ndarray()] if V2 else [sym.var('data')])
    b.initialize()
    d = arr(nets.fill((4, 7), 1))
    b(d)
    for i, p in enumerate(b.collect_params().values()):
        p.set_data(arr(nets.fill(p.shape, i, 0.25)))
    with autograd.record():
        l = b(d).sum()
    l.backward()
    return {'names': list(b.collect_params()), 'output': b(d).asnumpy(), 'gradients': [p.grad().asnumpy() for p in b.collect_params().values()]}


@case('SymbolBlock with an input that is no variable')
def _(): return gluon.SymbolBlock(nets.mlp(), [sym.exp(sym.var('data'))])


@case('optimize_for and hybridize options')
def _():
    import inspect
    return {n: str(inspect.signature(getattr(gluon.HybridBlock, n))) for n in ('hybridize', 'optimize_for', 'export') if hasattr(gluon.HybridBlock, n)}


main()
