# SPDX-License-Identifier: Apache-2.0
"""torch_trace.py OUT.json: a trace of PyTorch's own profiler, twenty steps of LeNet, for the pictures of its page."""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

torch.manual_seed(1)
torch.set_num_threads(2)
network = nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
                        nn.Flatten(), nn.Linear(800, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer, loss_of = torch.optim.SGD(network.parameters(), lr=0.1), nn.CrossEntropyLoss()
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=1, active=20, repeat=1),
             on_trace_ready=lambda made: made.export_chrome_trace(sys.argv[1])) as profiler:
    for _ in range(22):
        images, labels = torch.rand(64, 1, 28, 28), torch.randint(0, 10, (64,))
        optimizer.zero_grad()
        loss_of(network(images), labels).backward()
        optimizer.step()
        profiler.step()
