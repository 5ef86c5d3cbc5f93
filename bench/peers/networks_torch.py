# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of bench/python/networks.py: the same five networks, batches and updates.

    networks_torch.py NETWORK [compiled]    answers each line "off" with the time of one step

compiled: by torch.compile.
"""
import json
import os
import sys
import time

import torch
from torch import nn

STEPS_TO_LEARN = 20
RATE, MOMENTUM = 0.01, 0.9


class Block(nn.Module):
    """Two convolutions and the way around them."""

    def __init__(self, before, channels, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels),
            nn.ReLU(), nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels))
        self.around = nn.Sequential()
        if stride != 1:
            self.around = nn.Sequential(nn.Conv2d(before, channels, 1, stride, bias=False),
                                        nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(self.body(x) + self.around(x))


def residual_network():
    layers = [nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU()]
    before = 32
    for stage, channels in enumerate((32, 64, 128, 256)):
        layers += [Block(before, channels, 1 if stage == 0 else 2), Block(channels, channels, 1)]
        before = channels
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10)]
    return nn.Sequential(*layers), (32, 3, 32, 32), 10


def plain_convolutions():
    layers, before = [], 3
    for channels, count in ((32, 1), (64, 1), (128, 2), (256, 2), (256, 2)):
        for _ in range(count):
            layers += [nn.Conv2d(before, channels, 3, 1, 1), nn.ReLU()]
            before = channels
        layers.append(nn.MaxPool2d(2, 2))
    layers += [nn.Flatten(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)]
    return nn.Sequential(*layers), (32, 3, 32, 32), 10


class EncoderLayer(nn.Module):
    """Attention, then two dense layers, each with a way around it and a normalisation."""

    WIDTH, HEADS = 256, 8

    def __init__(self):
        super().__init__()
        width = self.WIDTH
        self.query, self.key, self.value, self.joined = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 1024), nn.Linear(1024, width)
        self.gelu = nn.GELU()
        self.norm_attention, self.norm_dense = nn.LayerNorm(width), nn.LayerNorm(width)

    def split(self, x):
        """(batch, position, width) to (batch, head, position, width of a head)."""
        return x.reshape(*x.shape[:2], self.HEADS, -1).transpose(1, 2)

    def attend(self, x):
        query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
        scale = (self.WIDTH // self.HEADS) ** -0.5
        weights = torch.softmax(query @ key.transpose(2, 3) * scale, -1)
        return self.joined((weights @ value).transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = self.norm_attention(x + self.attend(x))
        return self.norm_dense(x + self.narrow(self.gelu(self.wide(x))))


def encoder_layer():
    return EncoderLayer(), (16, 64, EncoderLayer.WIDTH), None


def perceptron():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                         nn.Linear(512, 10)), (128, 784), 10


class RecurrentLoop(nn.Module):
    """The cell's four gates come from one dense layer each of the input and the state."""

    WIDTH = 128

    def __init__(self):
        super().__init__()
        self.of_input = nn.Linear(self.WIDTH, 4 * self.WIDTH)
        self.of_state = nn.Linear(self.WIDTH, 4 * self.WIDTH)
        self.output = nn.Linear(self.WIDTH, 10)

    def forward(self, x):
        state = cell = torch.zeros(x.shape[1], self.WIDTH)
        for moment in x:
            gates = self.of_input(moment) + self.of_state(state)
            take, forget, new, give = gates.chunk(4, 1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(take) * torch.tanh(new)
            state = torch.sigmoid(give) * torch.tanh(cell)
        return self.output(state)


def recurrent_loop():
    return RecurrentLoop(), (32, 32, RecurrentLoop.WIDTH), 10


NETWORKS = {"resnet": residual_network, "vgg": plain_convolutions, "encoder": encoder_layer,
            "mlp": perceptron, "lstm": recurrent_loop}


def make_step(name, compiled):
    """One step on the same batch each time; and the number of parameters."""
    network, shape, classes = NETWORKS[name]()
    if compiled:
        network = torch.compile(network)
    data = torch.randn(shape)
    count = shape[1] if name == "lstm" else shape[0]
    if classes is None:
        target, loss_of = torch.randn(shape), nn.MSELoss()
    else:
        target, loss_of = torch.randint(0, classes, (count,)), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM)

    def step():
        optimizer.zero_grad()
        loss = loss_of(network(data), target)
        loss.backward()
        optimizer.step()
        return loss
    return step, sum(each.numel() for each in network.parameters())


def check_that_it_learns(step):
    """What is timed is a training."""
    first = step().item()
    for _ in range(STEPS_TO_LEARN):
        last = step().item()
    if not last < first:
        sys.exit(f"the network does not learn: {first} before, {last} after")


def main():
    threads = int(os.environ["OMP_NUM_THREADS"])
    if threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    torch.manual_seed(1)
    torch.set_num_threads(threads)
    step, parameters = make_step(sys.argv[1], "compiled" in sys.argv[2:])
    check_that_it_learns(step)
    for line in sys.stdin:
        if line != "off\n":
            sys.exit(f"unknown command {line!r}")
        begin = time.perf_counter_ns()
        step()
        print(json.dumps({"ns": time.perf_counter_ns() - begin, "parameters": parameters}),
              flush=True)


main()
