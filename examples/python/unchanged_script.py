# SPDX-License-Identifier: Apache-2.0
"""A script that knows nothing of the profiler. All of it is profiled, into profile.json, by

    MXNET_PROFILER_AUTOSTART=1 python unchanged_script.py
"""
import mxnet as mx

a = mx.nd.array([[1, 2, 3], [4, 5, 6]])
b = mx.nd.diag(a)
c = mx.nd.sum(b, -1)
print(c.asnumpy())
