# SPDX-License-Identifier: Apache-2.0
"""A small training on two Python threads. Without an argument it knows nothing of profilers; "emit" has PyTorch send
its operators as ITT marks; "own" uses PyTorch's own profiler for some steps and tells how many events that saw; "alone"
has one thread, and "profile" profiles that by PyTorch's own and writes the counts into a file."""
import json
import os
import sys
import threading

import torch

WAY = sys.argv[1] if len(sys.argv) > 1 else ""


def step(net, optimizer):
    with torch.profiler.record_function("a step of ours"):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(torch.ones(2, 1, 8, 8)), torch.tensor([1, 2]))
        loss.backward()
        optimizer.step()
    return loss.item()


def train(steps):
    torch.manual_seed(7)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        loss = step(net, optimizer)
    if WAY == "own":
        with torch.profiler.profile() as own:
            step(net, optimizer)
        print(sum(event.count for event in own.key_averages()))
    return loss


def begin(steps):
    if WAY == "emit":
        with torch.autograd.profiler.emit_itt():
            print(train(steps))
    elif WAY == "profile":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as own:
            print(train(steps))
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            json.dump({event.key: event.count for event in own.key_averages()}, file)
    else:
        print(train(steps))


torch.set_num_threads(1)
begin(20)
if WAY not in ("alone", "profile"):
    other = threading.Thread(target=begin, args=(5,))
    other.start()
    other.join()
if os.environ.get("DIES"):
    os.kill(os.getpid(), 9)
