# SPDX-License-Identifier: Apache-2.0
"""The same computation twice: the second run has none of the work that only a first one has.

Writes trace_profile.json; in a viewer the two runs stand one after the other.
"""
import numpy as np

import mxnet as mx
from mxnet import profiler

profiler.set_config(profile_all=True, aggregate_stats=True, filename='trace_profile.json')
profiler.set_state('run')

first = mx.nd.array(np.linspace(1, 9, 9).reshape((3, 3)))
first_diagonal = mx.nd.diag(first)
first_sum = mx.nd.sum(first_diagonal, -1)
mx.nd.waitall()

second = mx.nd.array(np.linspace(1, 9, 9).reshape((3, 3)))
second_diagonal = mx.nd.diag(second)
second_sum = mx.nd.sum(second_diagonal, -1)
mx.nd.waitall()

profiler.set_state('stop')
print(profiler.dumps())
profiler.dump()
