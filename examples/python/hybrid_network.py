# SPDX-License-Identifier: Apache-2.0
"""The guide's network: what is worked out at its first call, the operators of forward and backward,
and the layer that each operator and each block of memory belongs to.

Writes test_profiler.json. The graph is taken down during the first call, whose operators are pushed
one by one; those of the backward are joined in one ImperativeBulk.
"""
import mxnet as mx
from mxnet import profiler
from mxnet.gluon import nn


def enable_profiler(profile_filename, run=True, continuous_dump=False, aggregate_stats=False):
    profiler.set_config(profile_symbolic=True,
                        profile_imperative=True,
                        profile_memory=True,
                        profile_api=True,
                        filename=profile_filename,
                        continuous_dump=continuous_dump,
                        aggregate_stats=aggregate_stats)
    if run:
        profiler.set_state('run')


enable_profiler(profile_filename='test_profiler.json', run=True, continuous_dump=True)
profiler.set_state('run')

model = nn.HybridSequential(prefix='net_')
with model.name_scope():
    model.add(nn.Dense(128, activation='tanh'))
    model.add(nn.Dropout(0.5))
    model.add(nn.Dense(64, activation='tanh'),
              nn.Dense(32, in_units=64))
    model.add(nn.Activation('relu'))
model.initialize(ctx=mx.cpu())
model.hybridize()

inputs = mx.sym.var('data')

with mx.autograd.record():
    out = model(mx.nd.zeros((16, 10), ctx=mx.cpu()))
out.backward()
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump(True)
