# SPDX-License-Identifier: Apache-2.0
"""Symbols: creating, composing, names, attributes, lists, inference, outputs, JSON, errors. Prints one JSON line per case."""
import json
import os
import sys
from cases import *
import nets
load_json = sym.fromjson if V2 and hasattr(sym, 'fromjson') else sym.load_json        # renamed in 2.0

# ---- creating and composing ---------------------------------------------------------------------------------------------------


@case('variable')
def _(): return sym.var('x')


@case('variable with everything')
def _():
    return sym.var('x', shape=(2, 0), dtype='float16', lr_mult=2, wd_mult=3, init=mx.init.Zero(), attr={'a': 'b'}, __k__='v').list_attr()


@case('variable free keyword without underscores')
def _(): return sym.var('x', mood='calm')


@case('variable attr not a string')
def _(): return sym.var('x', attr={'a': 3})


@case('variable name not a string')
def _(): return sym.var(3)


@case('variable empty name')
def _(): return sym.var('')


@case('positional inputs')
def _(): return sym.FullyConnected(sym.var('x'), sym.var('w'), sym.var('b'), num_hidden=3, name='fc')


@case('keyword inputs in another order')
def _(): return sym.FullyConnected(bias=sym.var('b'), data=sym.var('x'), weight=sym.var('w'), num_hidden=3, name='fc')


@case('inputs left out become variables')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='fc')


@case('all inputs left out')
def _(): return sym.Convolution(kernel=(3, 3), num_filter=2, name='conv')


@case('no_bias removes an argument')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, no_bias=True, name='fc')


@case('automatic names count per operator')
def _():
    x = sym.var('x')
    a, b, c = sym.FullyConnected(x, num_hidden=2), sym.FullyConnected(x, num_hidden=2), sym.Activation(x, act_type='relu')
    d = x + 1
    e = x + x
    f = sym.Group([a, b])
    return [s.name for s in (a, b, c, d, e, f, -x, 1 - x, x * 2, x / 2, 2 / x, x ** 2, x > 1, x == x, sym.exp(x), sym.FullyConnected(num_hidden=2))]


@case('automatic names of inputs')
def _(): return sym.FullyConnected(num_hidden=2).list_arguments()


@case('prefix')
def _():
    with mx.name.Prefix('net_'):
        a = sym.FullyConnected(sym.var('x'), num_hidden=2)
        b = sym.FullyConnected(sym.var('x'), num_hidden=2, name='mine')
        with mx.name.Prefix('inner_'):
            c = sym.FullyConnected(sym.var('x'), num_hidden=2)
        d = sym.FullyConnected(sym.var('x'), num_hidden=2)
    return [s.list_arguments() + [s.name] for s in (a, b, c, d)]


@case('own name manager')
def _():
    class Numbers(mx.name.NameManager):
        def get(self, name, hint):
            return name or 'n_%s_%d' % (hint, len(hint))
    with Numbers():
        return [sym.FullyConnected(num_hidden=2).name, sym.Activation(act_type='relu', name='z').name]


@case('compose by call with keyword')
def _():
    a = sym.Activation(sym.var('p'), act_type='relu', name='act')
    b = sym.FullyConnected(sym.var('x'), num_hidden=2, name='fc')
    c = a(p=b, name='joined')
    return [c, a, c.list_arguments()]


@case('compose by call with position')
def _():
    a = sym.elemwise_add(sym.var('p'), sym.var('q'), name='add')
    return a(sym.var('x'), sym.var('y') * 2)


@case('compose by call, one of two')
def _():
    a = sym.elemwise_add(sym.var('p'), sym.var('q'), name='add')
    return a(q=sym.var('y') * 2)


@case('compose keeps the original')
def _():
    a = sym.exp(sym.var('p'), name='e')
    b = a(p=sym.var('z'))
    return [a.list_arguments(), b.list_arguments()]


@case('compose mixes positions and keywords')
def _():
    a = sym.elemwise_add(sym.var('p'), sym.var('q'), name='add')
    return a(sym.var('x'), q=sym.var('y'))


@case('compose unknown keyword')
def _(): return sym.exp(sym.var('p'), name='e')(nobody=sym.var('x'))


@case('compose with a value that is no symbol')
def _(): return sym.exp(sym.var('p'), name='e')(p=3)


@case('compose a variable')
def _(): return sym.var('p')(sym.var('x'))


@case('compose too many positions')
def _(): return sym.exp(sym.var('p'), name='e')(sym.var('x'), sym.var('y'))


@case('variadic operator')
def _(): return sym.Concat(sym.var('a'), sym.var('b'), sym.var('c'), dim=1, name='cat')


@case('variadic operator, attributes')
def _(): return sym.add_n(sym.var('a'), sym.var('b'), name='s').attr_dict()


@case('variadic operator without inputs')
def _(): return sym.Concat(dim=1, name='cat')


@case('arithmetic with numbers: operators')
def _():
    x, y = sym.var('x'), sym.var('y')
    out = []
    for e in (x + 1, 1 + x, x - 1, 1 - x, x * 2, x / 2, 2 / x, x % 2, 2 % x, x ** 2, -x, abs(x), x + y, x - y, x * y, x / y, x ** y, x % y, x == 1, x != 1,
              x > 1, x >= 1, x < 1, x <= 1, x == y, x != y, x > y, x >= y, x < y, x <= y):
        out.append([json.loads(e.tojson())['nodes'][-1][k] for k in ('op', 'name')] + [e.list_attr()])
    return out


@case('in-place arithmetic')
def _():
    x = sym.var('x')
    x += 1
    return x


@case('truth of a symbol')
def _(): return bool(sym.var('x'))


@case('functions of the module')
def _():
    out = {}
    for text in ('sym.zeros((2,3))', 'sym.ones((2,3), dtype="int32")', 'sym.full((2,), 3)', 'sym.arange(1, 5, 2)', 'sym.arange(3, repeat=2)',
                 'sym.pow(sym.var("x"), 2)', 'sym.maximum(sym.var("x"), 1)', 'sym.minimum(2, sym.var("x"))', 'sym.hypot(sym.var("x"), sym.var("y"))',
                 'sym.eye(3)', 'sym.linspace(0, 1, 5)', 'sym.random.uniform(shape=(2,))', 'sym.random.normal(0, 1, shape=(2,))', 'sym.var("x").reshape((2, -1))',
                 'sym.var("x").sum(axis=0)', 'sym.var("x").T if hasattr(sym.Symbol, "T") else None', 'sym.var("x")[0:2] if False else sym.slice_axis(sym.var("x"), axis=0, begin=0, end=2)',
                 'sym.concat(sym.var("x"), sym.var("y"), dim=0)', 'sym.stack(sym.var("x"), sym.var("y"))', 'sym.broadcast_add(sym.var("x"), sym.var("y"))'):
        try:
            s = eval(text)
            out[text] = None if s is None else [json.loads(s.tojson())['nodes'][-1]['op'], s.name, s.list_arguments(), s.list_attr()]
        except Exception as e:
            out[text] = [type(e).__name__, clean(str(e))]
    return out


@case('missing required parameter')
def _(): return sym.FullyConnected(sym.var('x'), name='fc')


@case('unknown parameter')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=2, nobody=1, name='fc')


@case('ill-typed parameter')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden='many', name='fc')


@case('parameter out of range')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=0, name='fc')


@case('enumeration unknown')
def _(): return sym.Activation(sym.var('x'), act_type='wave', name='a')


@case('input that is no symbol')
def _(): return sym.FullyConnected(3, num_hidden=2)


@case('array given to a symbol function')
def _(): return sym.FullyConnected(nd.ones((2, 2)), num_hidden=2)


@case('symbol given to an array function')
def _(): return nd.FullyConnected(sym.var('x'), num_hidden=2)


@case('too many inputs')
def _(): return sym.exp(sym.var('x'), sym.var('y'))


# ---- groups, internals, children, outputs -------------------------------------------------------------------------------------
@case('group')
def _():
    x = sym.var('x')
    g = sym.Group([sym.exp(x, name='a'), sym.log(x, name='b'), x])
    return [g, len(g), [o.name for o in g], g[1], g['a_output'], g.name, g.list_outputs()]


@case('group of one')
def _(): return sym.Group([sym.exp(sym.var('x'), name='a')])


@case('group of nothing')
def _(): return sym.Group([])


@case('group of wrong things')
def _(): return sym.Group([sym.var('x'), 3])


@case('group of groups')
def _():
    x = sym.var('x')
    return sym.Group([sym.Group([x, sym.exp(x, name='e')]), sym.SliceChannel(x, num_outputs=2, name='c')]).list_outputs()


@case('group as an input')
def _():
    x = sym.var('x')
    return sym.exp(sym.Group([x, x]))


@case('variadic with a symbol of several outputs')
def _(): return sym.Concat(sym.SliceChannel(sym.var('x'), num_outputs=3, name='c'), dim=1, num_args=3, name='cat')


@case('several outputs')
def _():
    s = sym.SliceChannel(sym.var('x'), num_outputs=3, name='cut')
    return [s, len(s), s.list_outputs(), s[0].name, s[1], s['cut_output2'], s[-1] if False else None, [o.list_outputs() for o in s]]


@case('output index too large')
def _(): return sym.SliceChannel(sym.var('x'), num_outputs=3, name='cut')[3]


@case('output index negative')
def _(): return sym.SliceChannel(sym.var('x'), num_outputs=3, name='cut')[-1]


@case('output slice')
def _(): return sym.SliceChannel(sym.var('x'), num_outputs=3, name='cut')[0:2]


@case('output slice with step')
def _(): return sym.SliceChannel(sym.var('x'), num_outputs=4, name='cut')[0:4:2]


@case('output name unknown')
def _(): return sym.exp(sym.var('x'), name='e')['nobody']


@case('output name twice')
def _():
    x = sym.var('x')
    return sym.Group([sym.exp(x, name='e'), sym.log(x, name='e')])['e_output']


@case('hidden outputs of BatchNorm')
def _():
    b = sym.BatchNorm(sym.var('x'), name='bn')
    return [b.list_outputs(), b.get_internals().list_outputs(), len(b), sym.BatchNorm(sym.var('x'), output_mean_var=True, name='bm').list_outputs()]


@case('hidden outputs as an input')
def _(): return sym.exp(sym.BatchNorm(sym.var('x'), output_mean_var=True, name='bm'), name='e')


for _name, (_net, _shapes) in nets.NETS.items():
    @case('net %s: lists' % _name)
    def _(net=_net):
        s = net()
        i = s.get_internals()
        c = s.get_children()
        return {'name': s.name, 'repr': repr(s), 'arguments': s.list_arguments(), 'outputs': s.list_outputs(), 'aux': s.list_auxiliary_states(),
                'inputs': s.list_inputs(), 'internals': i.list_outputs(), 'internal_arguments': i.list_arguments(), 'children': c.list_outputs() if c is not None else None,
                'grandchildren': c.get_children().list_outputs() if c is not None and c.get_children() is not None else None, 'attr_dict': s.attr_dict(), 'list_attr': s.list_attr(),
                'debug_str': s.debug_str()}

    @case('net %s: shapes' % _name)
    def _(net=_net, shapes=_shapes):
        s = net()
        return {'full': s.infer_shape(**shapes), 'partial': s.infer_shape_partial(**shapes), 'partial_unknown': s.infer_shape_partial(), 'internals': list(zip(
                    s.get_internals().list_outputs(), s.get_internals().infer_shape(**shapes)[1]))}

    @case('net %s: shapes by position' % _name)
    def _(net=_net, shapes=_shapes):
        s = net()
        return s.infer_shape(*[shapes.get(n) for n in s.list_arguments()])

    @case('net %s: types' % _name)
    def _(net=_net):
        s = net()
        out = {}
        for t in ('float32', 'float64', 'float16', 'int32'):
            try:
                out[t] = s.infer_type(data=t)
            except Exception as e:
                out[t] = [type(e).__name__, clean(str(e))]
        out['unknown'] = s.infer_type()
        out['partial_unknown'] = s.infer_type_partial()
        return out

    @case('net %s: copy and JSON twice' % _name)
    def _(net=_net):
        s = net()
        j = s.tojson()
        import copy
        return {'json_again': load_json(j).tojson() == j, 'copy': copy.copy(s).tojson() == j, 'deepcopy': copy.deepcopy(s).tojson() == j,
                'same_names': load_json(j).list_arguments() == s.list_arguments()}


@case('children of a variable')
def _(): return sym.var('x').get_children()


@case('internal by name')
def _():
    i = nets.mlp().get_internals()
    return [i['fc1_output'], i['relu1_output'].list_arguments(), len(i)]


@case('name of a group')
def _(): return sym.Group([sym.var('x'), sym.var('y')]).name


@case('equality and hashing')
def _():
    x = sym.var('x')
    return [repr(x == x), hash(x) == hash(x), x is x]


# ---- attributes ---------------------------------------------------------------------------------------------------------------
@case('attr, list_attr, attr_dict')
def _():
    s = sym.Convolution(sym.var('x'), kernel=(3, 3), num_filter=2, name='c', attr={'__mood__': 'calm', '__shape__': '(1,1)'})
    return [s.attr('mood'), s.attr('kernel'), s.attr('nobody'), s.list_attr(), s.attr_dict()]


@case('list_attr recursive')
def _(): return nets.control().list_attr(recursive=True)


@case('_set_attr')
def _():
    s = sym.exp(sym.var('x'), name='e')
    s._set_attr(mood='calm', lr_mult='3', __wd_mult__='4')
    return [s.list_attr(), s.attr('lr_mult'), s.attr('__lr_mult__'), s.attr('wd_mult')]


@case('_set_attr not a string')
def _(): sym.var('x')._set_attr(mood=3)


@case('_set_attr on a group')
def _():
    g = sym.Group([sym.var('x'), sym.var('y')])
    g._set_attr(mood='calm')
    return [g.attr('mood'), g[0].attr('mood'), g.list_attr()]


@case('_set_attr of an operator parameter')
def _():
    s = sym.FullyConnected(sym.var('x'), num_hidden=2, name='f')
    s._set_attr(num_hidden='5')
    return [s.list_attr(), s.infer_shape(x=(1, 3))]


@case('_set_attr on a custom operator', own=True)
def _():
    s = nets.custom()
    s._set_attr(a='b')
    return s.list_attr()


@case('hidden keys on an operator')
def _():
    s = sym.FullyConnected(sym.var('x'), num_hidden=2, name='f', lr_mult=2, wd_mult=3, ctx_group='g', force_mirroring=True, mirror_stage=1)
    return [s.list_attr(), s.attr('lr_mult'), s.attr('__lr_mult__'), json.loads(s.tojson())['nodes']]


@case('weight_lr_mult goes to the variable made for it')
def _():
    s = sym.FullyConnected(sym.var('x'), num_hidden=2, name='f', attr={'weight_lr_mult': '7', '__bias_wd_mult__': '5'})
    return [s.attr_dict(), json.loads(s.tojson())['nodes']]


@case('an attribute that is no parameter, on an operator')
def _(): return sym.exp(sym.var('x'), name='e', attr={'mood': 'calm'}).list_attr()


@case('AttrScope with such an attribute')
def _():
    with mx.AttrScope(mood='calm'):
        return sym.FullyConnected(sym.var('x'), num_hidden=2, name='f').attr_dict()


@case('AttrScope')
def _():
    with mx.AttrScope(__group__='1', __x__='y'):
        a = sym.var('a')
        with mx.AttrScope(__group__='2', __more__='z'):
            b = sym.var('b', attr={'__more__': 'own'})
            c = sym.exp(b, name='c')
        d = sym.var('d')
    e = sym.var('e')
    return [s.list_attr() for s in (a, b, c, d, e)]


@case('AttrScope reaches variables made for inputs')
def _():
    with mx.AttrScope(__group__='1', ctx_group='g'):
        s = sym.FullyConnected(sym.var('x'), num_hidden=2, name='f')
    return s.attr_dict()


@case('AttrScope not a string')
def _(): mx.AttrScope(group=1)


@case('NameManager and AttrScope current')
def _():
    cur = mx.name.NameManager._current.value if hasattr(mx.name.NameManager, '_current') else None
    return cur is not None or True


# ---- inference ----------------------------------------------------------------------------------------------------------------
@case('shape from known weight')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape(f_weight=(3, 5))


@case('shape partial from known weight')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape_partial(f_weight=(3, 5))


@case('shape unknown: nothing given')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape()


@case('shape with zero dimension')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape_partial(x=(0, 5))


@case('shape full with zero dimension')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape(x=(0, 5))


@case('shape backward through elementwise')
def _():
    a, b = sym.var('a'), sym.var('b')
    return (sym.exp(a) + b).infer_shape(b=(2, 3))


@case('shape backward through partial merge')
def _():
    a, b = sym.var('a'), sym.var('b')
    return sym.elemwise_add(a, b).infer_shape(a=(2, 0), b=(0, 3))


@case('shape from the variable')
def _(): return (sym.var('a', shape=(2, 3)) * 2).infer_shape()


@case('shape from the variable against the argument')
def _(): return (sym.var('a', shape=(2, 3)) * 2).infer_shape(a=(4, 5))


@case('shape of label from output layer')
def _(): return sym.SoftmaxOutput(sym.var('x'), name='s').infer_shape(x=(4, 3))


@case('shape of regression label')
def _(): return sym.LinearRegressionOutput(sym.var('x'), sym.var('label')).infer_shape(x=(4, 1))


@case('shape backward through reshape')
def _(): return (sym.reshape(sym.var('x'), shape=(6, 4)) + sym.var('y')).infer_shape_partial(y=(6, 4))


@case('shape unknown argument name')
def _(): return sym.exp(sym.var('x')).infer_shape(nobody=(2, 3))


@case('shape not a tuple')
def _(): return sym.exp(sym.var('x')).infer_shape(x=3)


@case('shape with a fraction')
def _(): return sym.exp(sym.var('x')).infer_shape(x=(1.5, 2))


@case('shape negative')
def _(): return sym.exp(sym.var('x')).infer_shape(x=(-1, 2))


@case('shape too many positions')
def _(): return sym.exp(sym.var('x')).infer_shape((2,), (3,))


@case('shape positions and keywords')
def _(): return (sym.var('x') + sym.var('y')).infer_shape((2,), y=(2,))


@case('shape conflict elementwise')
def _(): return sym.elemwise_add(sym.var('x'), sym.var('y'), name='add').infer_shape(x=(2, 3), y=(3, 2))


@case('shape conflict rank')
def _(): return sym.elemwise_add(sym.var('x'), sym.var('y'), name='add').infer_shape(x=(2, 3), y=(2, 3, 1))


@case('shape conflict broadcast')
def _(): return sym.broadcast_add(sym.var('x'), sym.var('y'), name='add').infer_shape(x=(2, 3), y=(4, 3))


@case('shape conflict weight')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_shape(x=(2, 5), f_weight=(3, 4))


@case('shape conflict deep in a net')
def _(): return nets.mlp().infer_shape(data=(4, 7), fc2_weight=(6, 9))


@case('shape conflict convolution rank')
def _(): return sym.Convolution(sym.var('x'), kernel=(3, 3), num_filter=2, name='c').infer_shape(x=(2, 5))


@case('shape convolution kernel larger than input')
def _(): return sym.Convolution(sym.var('x'), kernel=(5, 5), num_filter=2, name='c').infer_shape(x=(1, 1, 3, 3))


@case('shape concat conflict')
def _(): return sym.Concat(sym.var('a'), sym.var('b'), dim=0, name='cat').infer_shape(a=(2, 3), b=(2, 4))


@case('shape slice channel not divisible')
def _(): return sym.SliceChannel(sym.var('x'), num_outputs=3, axis=1, name='cut').infer_shape(x=(2, 7))


@case('shape dot conflict')
def _(): return sym.dot(sym.var('a'), sym.var('b'), name='d').infer_shape(a=(2, 3), b=(4, 5))


@case('shape reshape conflict')
def _(): return sym.reshape(sym.var('x'), shape=(5, 5), name='r').infer_shape(x=(2, 3))


@case('shape of a group, one part unknown')
def _():
    g = sym.Group([sym.exp(sym.var('a'), name='ea'), sym.exp(sym.var('b'), name='eb')])
    return [g.infer_shape_partial(a=(2, 3)), g.infer_shape(a=(2, 3))]


@case('type conflict')
def _(): return sym.elemwise_add(sym.var('x'), sym.var('y'), name='add').infer_type(x='float32', y='float64')


@case('type from weight')
def _(): return sym.FullyConnected(sym.var('x'), num_hidden=3, name='f').infer_type(f_weight='float64')


@case('type through Cast')
def _(): return (sym.Cast(sym.var('x'), dtype='float64') + sym.var('y')).infer_type(x='int32')


@case('type of the variable')
def _(): return (sym.var('x', dtype='float64') + 1).infer_type()


@case('type unknown name')
def _(): return sym.exp(sym.var('x')).infer_type(x='float31')


@case('type unknown argument')
def _(): return sym.exp(sym.var('x')).infer_type(nobody='float32')


@case('type of indices')
def _(): return [sym.argmax(sym.var('x'), axis=1).infer_type(x='float16'), sym.Embedding(sym.var('x'), input_dim=3, output_dim=2, name='e').infer_type(x='int32'),
                 sym.one_hot(sym.var('x'), depth=3).infer_type(x='int64'), sym.topk(sym.var('x'), ret_typ='both').infer_type(x='float64')]


# ---- duplicate names, cycles --------------------------------------------------------------------------------------------------
@case('two variables of one name: lists')
def _():
    s = sym.elemwise_add(sym.var('x'), sym.var('x'), name='s')
    return [s.list_arguments(), s.infer_shape_partial((2, 3), (2, 3))]


@case('two variables of one name: infer by keyword')
def _(): return sym.elemwise_add(sym.var('x'), sym.var('x'), name='s').infer_shape(x=(2, 3))


@case('two variables of one name: bind')
def _():
    s = sym.elemwise_add(sym.var('x'), sym.var('x'), name='s')
    b = s._bind if V2 else s.bind
    return b(mx.cpu(), {'x': nd.ones((2,))}).forward()[0]


@case('two operators of one name: lists')
def _():
    s = sym.exp(sym.log(sym.var('x'), name='e'), name='e')
    return [s.list_outputs(), s.get_internals().list_outputs(), s.attr_dict()]


@case('two operators of one name: attr_dict')
def _():
    s = sym.FullyConnected(sym.FullyConnected(sym.var('x'), num_hidden=2, name='f'), num_hidden=3, name='f')
    return [s.list_arguments(), s.attr_dict()]


@case('cycle by composing a symbol with itself', own=True)
def _():
    a = sym.exp(sym.var('p'), name='e')
    a._compose(p=a)
    return [a.list_arguments(), a.list_outputs()]


@case('cycle by composing with what depends on it', own=True)
def _():
    a = sym.exp(sym.var('p'), name='e')
    b = sym.log(a, name='l')
    a._compose(p=b)
    return [a.list_arguments(), b.list_arguments()]


# ---- JSON -----------------------------------------------------------------------------------------------------------------------
OK = {'nodes': [{'op': 'null', 'name': 'x', 'inputs': []}, {'op': 'exp', 'name': 'e', 'inputs': [[0, 0, 0]]}], 'arg_nodes': [0],
      'node_row_ptr': [0, 1, 2], 'heads': [[1, 0, 0]], 'attrs': {'mxnet_version': ['int', 10901]}}


def changed(f):
    d = json.loads(json.dumps(OK))
    f(d)
    return json.dumps(d)


BAD = {
    'as it is': lambda d: None,
    'unknown operator': lambda d: d['nodes'][1].update(op='nobody'),
    'no nodes': lambda d: d.pop('nodes'),
    'no heads': lambda d: d.pop('heads'),
    'no arg_nodes': lambda d: d.pop('arg_nodes'),
    'no node_row_ptr': lambda d: d.pop('node_row_ptr'),
    'no attrs': lambda d: d.pop('attrs'),
    'empty nodes': lambda d: d.update(nodes=[], arg_nodes=[], heads=[]),
    'heads empty': lambda d: d.update(heads=[]),
    'head index too large': lambda d: d.update(heads=[[7, 0, 0]]),
    'head output too large': lambda d: d.update(heads=[[1, 5, 0]]),
    'head negative': lambda d: d.update(heads=[[-1, 0, 0]]),
    'head of two numbers': lambda d: d.update(heads=[[1, 0]]),
    'head of one number': lambda d: d.update(heads=[[1]]),
    'input index too large': lambda d: d['nodes'][1].update(inputs=[[7, 0, 0]]),
    'input of itself (cycle)': lambda d: d['nodes'][1].update(inputs=[[1, 0, 0]]),
    'input of a later node (cycle)': lambda d: d.update(nodes=[d['nodes'][0], {'op': 'exp', 'name': 'a', 'inputs': [[2, 0, 0]]},
                                                               {'op': 'exp', 'name': 'b', 'inputs': [[1, 0, 0]]}], heads=[[2, 0, 0]], node_row_ptr=[0, 1, 2, 3]),
    'input of a later node': lambda d: d.update(nodes=[d['nodes'][1], d['nodes'][0]], heads=[[0, 0, 0]], arg_nodes=[1]),
    'input output too large': lambda d: d['nodes'][1].update(inputs=[[0, 3, 0]]),
    'input negative': lambda d: d['nodes'][1].update(inputs=[[-1, 0, 0]]),
    'input of two numbers': lambda d: d['nodes'][1].update(inputs=[[0, 0]]),
    'no inputs for exp': lambda d: d['nodes'][1].update(inputs=[]),
    'two inputs for exp': lambda d: d['nodes'][1].update(inputs=[[0, 0, 0], [0, 0, 0]]),
    'node without op': lambda d: d['nodes'][1].pop('op'),
    'node without name': lambda d: d['nodes'][1].pop('name'),
    'node without inputs': lambda d: d['nodes'][1].pop('inputs'),
    'node with an unknown key': lambda d: d['nodes'][1].update(mood='calm'),
    'unknown key on top': lambda d: d.update(mood='calm'),
    'attrs not strings': lambda d: d['nodes'][1].update(attrs={'a': 3}),
    'attrs unknown parameter': lambda d: d['nodes'][1].update(attrs={'nobody': '3'}),
    'attrs under attr': lambda d: d['nodes'][0].update(attr={'__lr_mult__': '3'}),
    'attrs under param': lambda d: d['nodes'][0].update(param={'__lr_mult__': '3'}),
    'all three kinds of attrs': lambda d: d['nodes'][0].update(attr={'a': '1'}, attrs={'b': '2'}, param={'c': '3'}),
    'bad parameter': lambda d: d['nodes'][1].update(op='Activation', attrs={'act_type': 'wave'}),
    'missing parameter': lambda d: d['nodes'][1].update(op='Activation'),
    'arg_nodes wrong': lambda d: d.update(arg_nodes=[1]),
    'arg_nodes too large': lambda d: d.update(arg_nodes=[9]),
    'node_row_ptr wrong': lambda d: d.update(node_row_ptr=[0]),
    'newer version': lambda d: d['attrs'].update(mxnet_version=['int', 990000]),
    'older version 0.8': lambda d: d['attrs'].update(mxnet_version=['int', 800]),
    'version as a string': lambda d: d['attrs'].update(mxnet_version=['str', 'new']),
    'two heads, one node': lambda d: d.update(heads=[[1, 0, 0], [1, 0, 0]]),
    'a variable with inputs': lambda d: d['nodes'][0].update(inputs=[[1, 0, 0]]),
    'names equal': lambda d: d['nodes'][1].update(name='x'),
    'backward_source_id': lambda d: d['nodes'][1].update(backward_source_id=-1),
    'control_deps': lambda d: d['nodes'][1].update(control_deps=[0]),
    'control_deps too large': lambda d: d['nodes'][1].update(control_deps=[9]),
    'subgraphs on an operator without': lambda d: d['nodes'][1].update(subgraphs=[json.loads(json.dumps(OK))]),
}
for _name, _f in BAD.items():
    @case('json: ' + _name, own=True, timeout=20)
    def _(f=_f):
        s = load_json(changed(f))
        return [s, json.loads(s.tojson())['nodes']]

TEXTS = {'empty text': '', 'blank': '  ', 'a number': '3', 'null': 'null', 'a list': '[]', 'empty object': '{}', 'cut in the middle': json.dumps(OK)[:60],
         'cut at the end': json.dumps(OK)[:-1], 'text after the end': json.dumps(OK) + 'xyz', 'deep nesting of lists': '[' * 100000,
         'deep nesting in a node': '{"nodes": ' + '[' * 20000 + ']' * 20000 + '}', 'binary': '\x01\x02', 'wrong quote': "{'nodes': []}",
         'number too large': json.dumps(OK).replace('[[0, 0, 0]]', '[[99999999999999999999, 0, 0]]'), 'nan': json.dumps(OK).replace('[0, 1, 2]', 'NaN'),
         'unicode name': json.dumps(OK, ensure_ascii=False).replace('"x"', '"\u00e4\u4e2d"'), 'escaped unicode name': json.dumps(OK).replace('"x"', '"\\u00e4"'),
         'escaped name': json.dumps(OK).replace('"x"', '"a\\"b\\n\\\\c"'), 'tab in a name': json.dumps(OK).replace('"x"', '"a\tb"'), 'member twice': json.dumps(OK)[:-1] + ', "heads": [[0, 0, 0]]}'}
for _name, _t in TEXTS.items():
    @case('json text: ' + _name, own=True, timeout=20)
    def _(t=_t):
        s = load_json(t)
        return [s, s.tojson()]


@case('json of a name with special characters')
def _():
    s = sym.exp(sym.var('a"b\\c\nd\u00e4'), name='e', attr={'k': 'v"\t\\'})
    j = s.tojson()
    return [j, load_json(j).list_arguments(), load_json(j).attr_dict()]


@case('load_json of no string')
def _(): return load_json(3)


@case('load of a missing file')
def _(): return sym.load('nobody.json')


@case('save and load')
def _():
    nets.mlp().save('mlp.json')
    return [sym.load('mlp.json'), open('mlp.json').read() == nets.mlp().tojson(), os.path.getsize('mlp.json')]


@case('save without the file name of a string')
def _(): nets.mlp().save(3)


@case('save into a missing folder')
def _(): nets.mlp().save('nobody/mlp.json')


@case('remove_amp_cast')
def _():
    import inspect
    return [str(inspect.signature(sym.Symbol.save)), str(inspect.signature(sym.Symbol.tojson))]


@case('pickle')
def _():
    import pickle
    s = pickle.loads(pickle.dumps(nets.mlp()))
    return [s, s.tojson() == nets.mlp().tojson()]


@case('signatures')
def _():
    import inspect
    out = {}
    for n in ('FullyConnected', 'Convolution', 'Activation', 'SoftmaxOutput', 'BatchNorm', 'SliceChannel', 'Concat', 'Custom', 'RNN', 'var', 'Group', 'load', 'zeros', 'ones', 'arange', 'full'):
        f = getattr(sym, n)
        out[n] = str(inspect.signature(f))
    for n in ('infer_shape', 'infer_shape_partial', 'infer_type', 'simple_bind', 'bind', '_simple_bind', '_bind', 'eval', 'list_attr', 'attr_dict', 'get_internals', 'get_children', 'list_inputs', 'save', 'tojson', 'debug_str', 'gradient', 'optimize_for', 'get_backend_symbol', 'attr', 'reshape', 'as_np_ndarray', 'as_nd_ndarray'):
        f = getattr(sym.Symbol, n, None)
        out['Symbol.' + n] = None if f is None else str(inspect.signature(f))
    return out


@case('names of the module')
def _(): return sorted(n for n in dir(sym) if not n.startswith('__'))


@case('members of a symbol')
def _(): return sorted(n for n in dir(sym.Symbol) if not n.startswith('__') or n in ('__getitem__', '__iter__', '__len__', '__call__', '__copy__', '__deepcopy__', '__getstate__', '__setstate__', '__bool__'))


@case('docstring of a generated function')
def _(): return sym.FullyConnected.__doc__.split('\n')[-40:]


@case('eval')
def _(): return (sym.var('a') + sym.var('b')).eval(ctx=mx.cpu(), a=nd.ones((2, 3)), b=nd.ones((2, 3)) * 2)


@case('eval with an argument missing')
def _(): return (sym.var('a') + sym.var('b')).eval(ctx=mx.cpu(), a=nd.ones((2, 3)))


@case('eval with an argument unknown')
def _(): return (sym.var('a') + 1).eval(ctx=mx.cpu(), a=nd.ones((2, 3)), z=nd.ones((2, 3)))


@case('gradient')
def _(): return sym.exp(sym.var('a')).gradient(['a'])


@case('numpy symbol', only='2')
def _():
    x = mx.sym.var('x').as_np_ndarray()
    y = mx.sym.np.dot(x, x) + 1
    return [type(y).__name__, json.loads(y.tojson())['nodes'], y.list_outputs()]


if '--json' in sys.argv:                          # python symbols.py --json FOLDER: the symbol files
    out = sys.argv[sys.argv.index('--json') + 1]
    for _name, (_net, _shapes) in nets.NETS.items():
        with mx.name.NameManager():
            open(os.path.join(out, _name + '.json'), 'w').write(_net().tojson() + '\n')
else:
    main()
