# SPDX-License-Identifier: Apache-2.0
"""Networks of gluon written by export: exports.py FOLDER. Leaves gluon_*.json there (parameters only as a list of names and shapes)."""
import os
import sys
import warnings
warnings.simplefilter('ignore')
import json
import mxnet as mx
from mxnet import gluon
V2 = os.environ.get("GOLDEN_LINE", mx.__version__[0]) == "2"
import nets
out = sys.argv[1]
for front in ('nd', 'np') if not V2 else ('np',):
    (mx.npx.set_np if front == 'np' else mx.npx.reset_np)()
    arr = mx.np.array if front == 'np' else mx.nd.array
    for kind in ('mlp', 'lenet_bn', 'rnn'):
        with mx.name.NameManager():
            if kind == 'rnn':
                net, shape = gluon.rnn.LSTM(3, num_layers=1), (5, 2, 4)
            elif kind == 'mlp':
                net, shape = gluon.nn.HybridSequential(), (4, 12)
                net.add(gluon.nn.Dense(16, activation='relu'), gluon.nn.Dropout(0.5), gluon.nn.Dense(4))
            else:
                net, shape = gluon.nn.HybridSequential(), (4, 1, 12, 12)
                net.add(gluon.nn.Conv2D(4, kernel_size=3), gluon.nn.BatchNorm(), gluon.nn.Activation('relu'), gluon.nn.MaxPool2D(2, 2),
                        gluon.nn.Flatten(), gluon.nn.Dense(4))
            net.initialize()
            net.hybridize()
            net(arr(nets.fill(shape, 1)))
            net.export('e', epoch=3)
            files = sorted(f for f in os.listdir('.') if f.startswith('e'))
            params = mx.nd.load('e-0003.params') if not V2 else mx.npx.load('e-0003.params')
            stem = os.path.join(out, 'gluon_%s_%s' % (kind, front))
            open(stem + '.json', 'w').write(open('e-symbol.json').read() + '\n')
            print(json.dumps({'case': 'export %s %s' % (kind, front), 'value': {'files': files, 'parameters': {k: list(v.shape) for k, v in params.items()}}}))
            for f in files:
                os.remove(f)
