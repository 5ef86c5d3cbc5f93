# SPDX-License-Identifier: Apache-2.0
"""A training of six steps under torch.profiler with everything it can record on a CPU; writes the trace to the path
that is given, and prints what the profiler itself counts of each operator."""
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(7)
torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 6, 5), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3456, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
             schedule=schedule(wait=1, warmup=1, active=4)) as profiler:
    for _ in range(6):
        with record_function("a step of ours"):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(torch.randn(8, 1, 28, 28)),
                                                     torch.zeros(8, dtype=torch.long))
            loss.backward()
            optimizer.step()
        profiler.step()
profiler.export_chrome_trace(sys.argv[1])
print(json.dumps({event.key: event.count for event in profiler.key_averages()}))
