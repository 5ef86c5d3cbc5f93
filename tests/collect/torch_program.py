# SPDX-License-Identifier: Apache-2.0
"""A small training whose operators PyTorch sends as ITT marks, on one thread and on two."""
import os
import threading

import torch

torch.manual_seed(7)


def train(steps):
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with torch.autograd.profiler.emit_itt():
        for _ in range(steps):
            with torch.profiler.record_function("a step of ours"):
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(net(torch.ones(2, 1, 8, 8)), torch.tensor([1, 2]))
                loss.backward()
                optimizer.step()
    return loss.item()


torch.set_num_threads(1)
print(train(20))
other = threading.Thread(target=train, args=(5,))
other.start()
other.join()
if os.environ.get("DIES"):
    os.kill(os.getpid(), 9)
