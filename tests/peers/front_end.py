# SPDX-License-Identifier: Apache-2.0
"""Programs for MXNet's published package of 1.9.1, on its own library or, by MXNET_LIBRARY_PATH, on another:

    front_end.py PROGRAM        one of PROGRAMS below

Prints a line of JSON: {"library", "values": {name: [numbers]}, "rows": {section: {row: count}}}. What is drawn at
random comes from NumPy, so that every library begins with the same parameters and data."""
import json
import pickle
import sys
import tempfile

import numpy

import mxnet as mx
from mxnet import autograd, gluon

STEPS = 20
BATCH = 16
CLASSES = 10


def digits(draw, *shape):
    """Images of classes that can be told apart, and their labels."""
    labels = draw.randint(0, CLASSES, STEPS * BATCH)
    patterns = draw.uniform(0, 1, (CLASSES, *shape))
    images = patterns[labels] + draw.normal(0, 0.3, (STEPS * BATCH, *shape))
    return images.astype("float32"), labels.astype("float32")


def drawn(draw, shape):
    return draw.normal(0, 1 / numpy.sqrt(max(1, numpy.prod(shape[1:]))), shape).astype("float32")


# ---- Gluon --------------------------------------------------------------------------------------------
def lenet():
    net = gluon.nn.HybridSequential(prefix="lenet_")
    with net.name_scope():
        for channels in (6, 16):
            net.add(gluon.nn.Conv2D(channels, kernel_size=5, activation="relu"),
                    gluon.nn.MaxPool2D(pool_size=2, strides=2))
        net.add(gluon.nn.Flatten(), gluon.nn.Dense(120, activation="relu"), gluon.nn.Dense(84, activation="relu"),
                gluon.nn.Dense(CLASSES))
    return net


def begin(net, draw, example):
    net.initialize()
    net(example)  # now the shapes of the parameters are known
    for parameter in net.collect_params().values():
        parameter.set_data(mx.nd.array(drawn(draw, parameter.shape)))


def train_gluon(hybrid):
    draw = numpy.random.RandomState(7)
    images, labels = digits(draw, 1, 28, 28)
    net, loss = lenet(), gluon.loss.SoftmaxCrossEntropyLoss()
    begin(net, draw, mx.nd.array(images[:BATCH]))
    if hybrid:
        net.hybridize(static_alloc=hybrid == "static", static_shape=hybrid == "static")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels), batch_size=BATCH)
    losses = []
    for data, label in loader:
        with autograd.record():
            error = loss(net(data), label)
        error.backward()
        trainer.step(BATCH)
        losses.append(float(error.mean().asscalar()))
    return {"losses": losses}


# ---- Module -------------------------------------------------------------------------------------------
def perceptron():
    net = mx.sym.Variable("data")
    for at, units in enumerate((64, 32, CLASSES), 1):
        net = mx.sym.FullyConnected(net, num_hidden=units, name=f"fc{at}")
        if units != CLASSES:
            net = mx.sym.Activation(net, act_type="relu", name=f"relu{at}")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def train_module():
    draw = numpy.random.RandomState(11)
    images, labels = digits(draw, 100)
    data = mx.io.NDArrayIter(images, labels, BATCH)
    net = perceptron()
    shapes, _, _ = net.infer_shape(data=(BATCH, 100))
    start = {name: mx.nd.array(drawn(draw, shape)) for name, shape in zip(net.list_arguments(), shapes)
             if name not in ("data", "softmax_label")}
    losses = []

    def note(parameters):
        outputs = parameters.locals["self"].get_outputs()[0].asnumpy()
        wanted = parameters.locals["data_batch"].label[0].asnumpy().astype(int)
        losses.append(float(-numpy.log(outputs[numpy.arange(BATCH), wanted]).mean()))

    module = mx.mod.Module(net, context=mx.cpu())
    module.fit(data, num_epoch=1, optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
               arg_params=start, batch_end_callback=note, eval_metric="acc")
    return {"losses": losses, "score": [value for _, value in module.score(data, "acc")]}


# ---- what is saved and read back ----------------------------------------------------------------------
def keep():
    draw = numpy.random.RandomState(13)
    data = mx.nd.array(drawn(draw, (BATCH, 8)))
    copy = pickle.loads(pickle.dumps(data))
    net = gluon.nn.HybridSequential(prefix="kept_")
    with net.name_scope():
        net.add(gluon.nn.Dense(CLASSES))
    begin(net, draw, data)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            with autograd.record():
                error = net(data).square().sum()
            error.backward()
            trainer.step(BATCH)
            trainer.save_states(folder + "/states")
            trainer.load_states(folder + "/states")
        net.export(folder + "/net")
        read = gluon.SymbolBlock.imports(folder + "/net-symbol.json", ["data"], folder + "/net-0000.params")
        found = {"copy": copy, "output": net(data), "read": read(data)}
    return {name: array.asnumpy().ravel().tolist() for name, array in found.items()}


PROGRAMS = {
    "keep": keep,
    "lenet": lambda: train_gluon(None),
    "lenet_hybrid": lambda: train_gluon("dynamic"),
    "lenet_static": lambda: train_gluon("static"),
    "module": train_module,
}


def profiled(program):
    with tempfile.TemporaryDirectory() as folder:
        mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=folder + "/profile.json")
        mx.profiler.set_state("run")
        values = program()
        mx.nd.waitall()
        mx.profiler.set_state("stop")
        table = json.loads(mx.profiler.dumps(format="json"))
    return values, {section: {name: row["Count"] for name, row in rows.items()}
                    for section, rows in table["Time"].items()}


def main():
    values, rows = profiled(PROGRAMS[sys.argv[1]])
    print(json.dumps({"library": mx.base._LIB._name, "values": values, "rows": rows}))


if __name__ == "__main__":
    main()
