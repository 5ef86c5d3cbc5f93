# SPDX-License-Identifier: Apache-2.0
"""Looks at what one line of computing does: an array, its diagonal, the sum of it.

Prints the table of calls, operators and memory; writes trace_profile.json for a trace viewer.
"""
import numpy as np

import mxnet as mx
from mxnet import profiler

profiler.set_config(profile_all=True, aggregate_stats=True, filename='trace_profile.json')
profiler.set_state('run')

data = np.linspace(1, 9, 9).reshape((3, 3))
a = mx.nd.array(data)
b = mx.nd.diag(a)
c = mx.nd.sum(b, -1)
mx.nd.waitall()

profiler.set_state('stop')
print(profiler.dumps())
profiler.dump()
