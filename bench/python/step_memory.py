# SPDX-License-Identifier: Apache-2.0
"""The most memory that a training step of the ResNet-18-like network has, hybridized with memory kept between calls.

    step_memory.py LIBRARY      prints {"bytes": N}
"""
import json
import os
import pathlib
import sys
import tempfile

import networks

WARM_STEPS = 3


def main():
    os.environ["MXNET_LIBRARY_PATH"] = sys.argv[1]
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    import mxnet as mx
    network, shape, classes = networks.residual_network(mx)
    network.initialize(mx.init.Xavier())
    network.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": networks.RATE, "momentum": networks.MOMENTUM})
    images, labels = mx.nd.random.uniform(shape=shape), mx.nd.zeros((shape[0],)) + classes // 2

    def step():
        with mx.autograd.record():
            loss = loss_of(network(images), labels)
        loss.backward()
        trainer.step(shape[0])
        mx.nd.waitall()

    for _ in range(WARM_STEPS):
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        mx.profiler.set_config(profile_all=True, filename=str(path))
        mx.profiler.set_state("run")
        step()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        items = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    samples = [value for item in items if item.get("name") == "Memory: cpu/0" and item["ph"] == "C" for value in item["args"].values()]
    print(json.dumps({"bytes": max(samples)}))


if __name__ == "__main__":
    main()
