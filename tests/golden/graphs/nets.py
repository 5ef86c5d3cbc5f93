# SPDX-License-Identifier: Apache-2.0
"""The networks of the programs of this folder, as symbols with explicit names, and their explicit inputs."""
import numpy as onp
import mxnet as mx
sym = mx.sym


def mlp(layers=(8, 6, 3)):
    x = sym.var('data')
    for i, n in enumerate(layers):
        x = sym.FullyConnected(x, num_hidden=n, name='fc%d' % (i + 1))
        if i < len(layers) - 1:
            x = sym.Activation(x, act_type='relu', name='relu%d' % (i + 1))
    return sym.SoftmaxOutput(x, name='softmax')


def lenet_bn():
    x = sym.var('data')
    x = sym.Convolution(x, kernel=(3, 3), num_filter=4, name='conv1')
    x = sym.BatchNorm(x, fix_gamma=False, name='bn1')
    x = sym.Activation(x, act_type='tanh', name='act1')
    x = sym.Pooling(x, pool_type='max', kernel=(2, 2), stride=(2, 2), name='pool1')
    x = sym.Convolution(x, kernel=(3, 3), num_filter=6, name='conv2')
    x = sym.BatchNorm(x, name='bn2')
    x = sym.Activation(x, act_type='relu', name='act2')
    x = sym.Pooling(x, pool_type='avg', kernel=(2, 2), stride=(2, 2), name='pool2')
    x = sym.Flatten(x, name='flat')
    x = sym.FullyConnected(x, num_hidden=10, name='fc1')
    return sym.SoftmaxOutput(x, name='softmax')


def control():
    """Attributes of control: multipliers, context groups, mirroring, free ones."""
    x = sym.var('data', lr_mult=0.5, wd_mult=2.0, shape=(2, 5), dtype='float32', attr={'mood': 'calm'})
    w = sym.var('w', lr_mult=0.1, init=mx.init.One())
    with mx.AttrScope(ctx_group='stage1', force_mirroring='True', mirror_stage='1', __note__='outer'):
        y = sym.FullyConnected(x, weight=w, num_hidden=4, name='fc', attr={'__lr_mult__': '3'})
        with mx.AttrScope(__note__='inner'):
            y = sym.Activation(y, act_type='sigmoid', name='act')
    return sym.SoftmaxOutput(y, name='softmax', normalization='batch', grad_scale=0.25)


def slices():
    x = sym.var('data')
    parts = sym.SliceChannel(x, num_outputs=3, axis=1, squeeze_axis=False, name='cut')
    return sym.Group([parts[2], parts[0] * 2 + parts[1], sym.BlockGrad(parts[1], name='stop')])


def shared():
    """One weight and one layer's output used more than once."""
    x, w, b = sym.var('data'), sym.var('w'), sym.var('b')
    h = sym.FullyConnected(x, w, b, num_hidden=4, name='fc1')
    h = sym.FullyConnected(h, w, b, num_hidden=4, name='fc2')
    return sym.elemwise_add(h, h * h, name='out')


def rnn():
    x = sym.var('data')
    return sym.RNN(x, state_size=3, num_layers=2, mode='lstm', bidirectional=False, state_outputs=True, p=0, name='lstm')


def reshape_chain():
    x = sym.var('data')
    y = sym.transpose(sym.reshape(x, shape=(0, -1), name='flatten'), axes=(1, 0), name='turn')
    y = sym.Concat(y, y + 1, dim=0, name='both')
    return sym.sum(sym.clip(y, a_min=-1, a_max=1.5, name='clip'), axis=(0,), keepdims=True, name='total')


class Double(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register('graph_double')
class DoubleProp(mx.operator.CustomOpProp):
    def __init__(self, note='none'):
        super().__init__(need_top_grad=True)
        self.note = note

    def list_arguments(self):
        return ['data']

    def list_outputs(self):
        return ['output']

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Double()


def custom():
    return sym.Custom(sym.var('data') + 1, op_type='graph_double', note='a "quoted" text', name='double')


NETS = {'mlp': (mlp, {'data': (4, 7)}), 'lenet_bn': (lenet_bn, {'data': (2, 1, 12, 12)}), 'control': (control, {'data': (2, 5)}),
        'slices': (slices, {'data': (2, 6, 4)}), 'shared': (shared, {'data': (3, 4)}), 'rnn': (rnn, {'data': (5, 2, 4)}),
        'reshape_chain': (reshape_chain, {'data': (2, 3, 4)}), 'custom': (custom, {'data': (2, 3)})}


def fill(shape, salt, scale=1.0):
    """Explicit numbers: no generator. Multiples of 1/64 in (-1, 1), spread by a linear congruence, times scale."""
    n = int(onp.prod(shape)) if len(shape) else 1
    k = (onp.arange(n, dtype=onp.int64) * 37 + salt * 11 + 5) % 127 - 63
    return (k.astype('float64') / 64 * scale).reshape(shape).astype('float32')


def inputs(net, shapes, label=None):
    """Arguments and auxiliary states of a network in the order of its lists, filled with explicit numbers."""
    arg_shapes, _, aux_shapes = net.infer_shape(**shapes)
    args, aux = {}, {}
    for i, (name, s) in enumerate(zip(net.list_arguments(), arg_shapes)):
        a = fill(s, i, 1.0 if name == 'data' else 0.5)
        if name.endswith('label'):
            a = (onp.arange(int(onp.prod(s))) % (label or 3)).astype('float32').reshape(s)
        if name.endswith('gamma'):
            a = 1 + a
        args[name] = a
    for i, (name, s) in enumerate(zip(net.list_auxiliary_states(), aux_shapes)):
        aux[name] = fill(s, 50 + i, 0.25) + (1 if name.endswith('var') else 0)
    return args, aux
