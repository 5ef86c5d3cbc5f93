# SPDX-License-Identifier: Apache-2.0
"""Marks of the program's own: tasks, frames, events, counters, markers, and a pause."""
import mxnet as mx
from mxnet import profiler

profiler.set_config(profile_all=True, aggregate_stats=True, filename='objects.json')
profiler.set_state('run')

domain = profiler.Domain('Training')
epoch = domain.new_frame('epoch')
batches = domain.new_counter('batches', 0)
saved = domain.new_marker('saved')


@domain.new_task('forward')
def forward(data):
    return mx.nd.relu(mx.nd.dot(data, data))


for _ in range(2):
    with epoch:
        for _ in range(3):
            with profiler.Event('batch'):
                result = forward(mx.nd.ones((64, 64)))
                result.wait_to_read()
            batches += 1
    saved.mark('process')
    profiler.pause()
    result.asnumpy()  # leaves no record
    profiler.resume()

profiler.set_state('stop')
print(profiler.dumps())
profiler.dump()
