# SPDX-License-Identifier: Apache-2.0
"""Why a clock around a line measures nothing: the call returns before its work is done, and
whoever asks for the values waits for it. The profiler shows both."""
from time import time

import mxnet as mx
from mxnet import np, profiler

profiler.set_config(profile_all=True, aggregate_stats=True, filename='timing.json')
profiler.set_state('run')

start = time()
x = np.random.uniform(size=(2000, 2000))
y = np.dot(x, x)
print('Time for matrix multiplication: %f sec' % (time() - start))

start = time()
y_np = y.asnumpy()
print('Time for converting to numpy: %f sec' % (time() - start))

mx.npx.waitall()
profiler.set_state('stop')
print(profiler.dumps())
profiler.dump()
