# SPDX-License-Identifier: Apache-2.0
"""Only parts of a program: what runs between pause and resume leaves no record.

Writes parts.json; `sqrt` is in it, `exp` is not.
"""
import mxnet as mx
from mxnet import profiler

profiler.set_config(profile_all=True, aggregate_stats=True, filename='parts.json')
profiler.set_state('run')

a = mx.nd.sqrt(mx.nd.ones((64, 64)))
mx.nd.waitall()

profiler.pause()
b = mx.nd.exp(a)
mx.nd.waitall()  # or `exp` would run after the resume
profiler.resume()

c = mx.nd.sum(b)
c.wait_to_read()

profiler.set_state('stop')
print(profiler.dumps())
profiler.dump()
