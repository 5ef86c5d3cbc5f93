# SPDX-License-Identifier: Apache-2.0
"""Calls of a network, one of four recorded: cached_op.py FRONT RUNS, where RUNS is a JSON list of [net, phase, mode,
flags of hybridize, aggregate, classes]. Prints a line per run: its numbers and the spans of its trace."""
import collections
import json
import os
import sys

import mxnet as mx
import nets
from mxnet import autograd, gluon, profiler

CLASSES = ("symbolic", "imperative", "api")
LABELS = [0.0, 1.0, 2.0, 3.0]


def network(kind):
    net, nn = gluon.nn.HybridSequential(), gluon.nn
    if kind == "mlp":
        net.add(nn.Dense(16, activation="relu"), nn.Dropout(0), nn.Dense(8, activation="tanh"), nn.Dense(4))
        return net, (4, 12)
    net.add(nn.Conv2D(4, kernel_size=3), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2, 2),
            nn.Conv2D(6, kernel_size=3, activation="relu"), nn.AvgPool2D(2, 2), nn.Flatten(), nn.Dense(4))
    return net, (4, 1, 12, 12)


def learned(net):
    return [item for item in net.collect_params().values() if item.grad_req != "null"]


def made(kind, array):
    net, shape = network(kind)
    net.initialize()
    data = array(nets.fill(shape, 1))
    net(data)
    for number, item in enumerate(net.collect_params().values()):
        if item.grad_req != "null":
            item.set_data(array(nets.fill(item.shape, 3 * number, 0.25)))
    return net, data


def stepper(run, array):
    """The network of a run and the function that calls it once."""
    kind, phase, mode, flags = run[:4]
    net, data = made(kind, array)
    loss, labels = gluon.loss.SoftmaxCrossEntropyLoss(), array(LABELS)
    if mode == "hybrid":
        net.hybridize(**flags)
        loss.hybridize(**flags)

    def infer():
        return net(data)

    def train():
        with autograd.record():
            out = loss(net(data), labels)
        out.backward()
        return out
    return net, train if phase == "train" else infer


def recorded(step, aggregate, what):
    for _ in range(3):
        step()
    mx.nd.waitall()
    classes = {"profile_all": True} if what == "all" else {
        "profile_memory": False, **{f"profile_{name}": name == what for name in CLASSES}}
    profiler.set_config(aggregate_stats=aggregate, continuous_dump=False, filename="trace.json", **classes)
    profiler.set_state("run")
    out = step()
    mx.nd.waitall()
    profiler.set_state("stop")
    profiler.dump(True)
    return out


def spans(trace, category):
    return sorted((item for item in trace if item.get("cat") == category and item["ph"] == "X"),
                  key=lambda item: item["args"]["op"] if category == "operator" else item["ts"])


def read_trace():
    """Takes the file away: a dump after a recording without a record need not write it anew."""
    if not os.path.exists("trace.json"):
        return []
    with open("trace.json", encoding="utf-8") as file:
        trace = json.load(file)["traceEvents"]
    os.remove("trace.json")
    return trace


def summary():
    """Operators with their bulks in the order they were pushed, and counts of C calls."""
    trace = read_trace()
    operators = spans(trace, "operator")
    names = {item["args"]["op"]: item["name"] for item in operators}
    return {"operators": [[item["name"], item["args"].get("bulk")] for item in operators],
            "parents": {str(key): name for key, name in names.items()},
            "api": collections.Counter(item["name"] for item in spans(trace, "MXNET_C_API")),
            "memory": any(item.get("cat") == "Device Storage" for item in trace)}


def one(run, array):
    net, step = stepper(run, array)
    out = recorded(step, *run[4:])
    gradients = [item.grad() for item in learned(net)] if run[1] == "train" else []
    return {**summary(), "outputs": [float(value) for value in out.asnumpy().ravel()],
            "gradients": [float(abs(item.asnumpy().astype("float64")).sum()) for item in gradients]}


def main():
    array = mx.nd.array
    if sys.argv[1] == "np":
        mx.npx.set_np()
        array = mx.np.array
    for run in json.loads(sys.argv[2]):
        try:
            line = one(run, array)
        except Exception as error:  # pylint: disable=broad-except
            line = {"error": type(error).__name__, "text": str(error).strip()}
        print(json.dumps(line), flush=True)


main()
