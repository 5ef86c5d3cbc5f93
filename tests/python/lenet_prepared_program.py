# SPDX-License-Identifier: Apache-2.0
"""A step of LeNet in each way that Gluon prepares it, recorded after three others, in one process:
prints for each FRONT_PHASE_MODE the operators, `[name, scope, phase, id, parent]` in the order of
their begins, and the loss and the gradient of the first weight. Arguments: ways with which to do."""
import itertools
import json
import sys

import numpy

import mxnet as mx
from mxnet import autograd, gluon, profiler

FLAGS = {"eager": None, "hybrid": {}, "static_alloc": {"static_alloc": True},
         "static": {"static_alloc": True, "static_shape": True}}
BATCH = 4


def network(flags):
    nn = gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels=20, kernel_size=5, activation="relu"), nn.MaxPool2D(pool_size=2, strides=2),
            nn.Conv2D(channels=50, kernel_size=5, activation="relu"), nn.MaxPool2D(pool_size=2, strides=2),
            nn.Flatten(), nn.Dense(512, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    if flags is not None:
        net.hybridize(**flags)
        loss.hybridize(**flags)
    return net, loss


def steps(front, phase, flags):
    """The function that does a step, and what tells its numbers."""
    mx.npx.set_np() if front == "np" else mx.npx.reset_np()
    array = mx.np.array if front == "np" else mx.nd.array
    mx.random.seed(1)
    net, loss_of = network(flags)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    data = array(numpy.random.RandomState(0).rand(BATCH, 1, 28, 28).astype("float32"))
    label = array((numpy.arange(BATCH) % 10).astype("float32"))
    last = {}

    def train():
        with autograd.record():
            last["loss"] = loss_of(net(data), label)
        last["loss"].backward()
        trainer.step(BATCH)

    def infer():
        last["loss"] = net(data)

    def numbers():
        weights = [value.data().asnumpy().astype("float64").sum() for value in net.collect_params().values()]
        return [*last["loss"].asnumpy().astype("float64").ravel().tolist(), *map(float, weights)]
    return (train if phase == "train" else infer), numbers


def operators():
    with open("trace.json", encoding="utf-8") as file:
        items = [item for item in json.load(file)["traceEvents"] if item["ph"] == "X" and item["cat"] == "operator"]
    told = []
    for item in sorted(items, key=lambda item: item["ts"]):
        args = item["args"]
        told.append([item["name"], args.get("scope", ""), args.get("phase", ""), args["op"], args.get("bulk")])
    return told


def record(front, phase, mode, aggregate):
    step, numbers = steps(front, phase, FLAGS[mode])
    for _ in range(3):
        step()
    mx.nd.waitall()
    profiler.set_config(profile_all=True, aggregate_stats=aggregate, continuous_dump=False, filename="trace.json")
    profiler.set_state("run")
    step()
    mx.nd.waitall()
    profiler.set_state("stop")
    profiler.dump(True)
    return {"operators": operators(), "numbers": numbers()}


def main(aggregate):
    print(json.dumps({f"{front}_{phase}_{mode}": record(front, phase, mode, aggregate)
                      for front, phase, mode in itertools.product(("nd", "np"), ("train", "infer"), FLAGS)}))


main(len(sys.argv) > 1)
