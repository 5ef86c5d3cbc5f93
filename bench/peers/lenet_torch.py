# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of the training step: the network, batch and update of bench/runtime/lenet_step.c.
Answers each line "off" with the time of one step, as runtime_side does.
"""
import json
import sys
import time

import torch
from torch import nn

IMAGES, SIDE, CLASSES, DATASETS = 64, 28, 10, 16


def make_network():
    return nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
                         nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2, 2),
                         nn.Flatten(), nn.Linear(800, 512), nn.ReLU(), nn.Linear(512, CLASSES))


def make_batch():
    """Noise, and a bright stripe where the label says."""
    images = 0.5 * torch.rand(IMAGES, 1, SIDE, SIDE)
    labels = torch.randint(0, CLASSES, (IMAGES,))
    for image, label in zip(images, labels):
        image[0, 2 * int(label) + 4] += 0.5
    return images, labels


def main():
    torch.manual_seed(1)
    torch.set_num_threads(2)
    network = make_network()
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    batches = [make_batch() for _ in range(DATASETS)]
    for number, line in enumerate(sys.stdin):
        if line != "off\n":
            sys.exit(f"unknown command {line!r}")
        images, labels = batches[number % DATASETS]
        begin = time.perf_counter_ns()
        optimizer.zero_grad()
        loss_of(network(images), labels).backward()
        optimizer.step()
        print(json.dumps({"ns": time.perf_counter_ns() - begin}), flush=True)


main()
