# SPDX-License-Identifier: Apache-2.0
"""What the sides in Python do. A workload is made once; a call of it is a batch and returns ns per
operation."""
import time

SPANS = 20_000
ADDITIONS = 5_000
IMAGES, SIDE, CLASSES, DATASETS = 64, 28, 10, 16
CHECK_AFTER = 150


# ---- spans -------------------------------------------------------------------------------------
def start_and_stop(span):
    """A pair of calls."""
    def batch():
        begin = time.perf_counter_ns()
        for _ in range(SPANS):
            span.start()
            span.stop()
        return (time.perf_counter_ns() - begin) / SPANS
    return batch


def with_span(span):
    """A span around nothing."""
    def batch():
        begin = time.perf_counter_ns()
        for _ in range(SPANS):
            with span:
                pass
        return (time.perf_counter_ns() - begin) / SPANS
    return batch


# ---- operators ---------------------------------------------------------------------------------
def plus_one(mx):
    """`a + 1` on four numbers; all have run when the time is taken."""
    a = mx.nd.array([1.0, 2.0, 3.0, 4.0])

    def batch():
        begin = time.perf_counter_ns()
        for _ in range(ADDITIONS):
            a + 1  # pylint: disable=pointless-statement
        mx.nd.waitall()
        return (time.perf_counter_ns() - begin) / ADDITIONS
    return batch


def graph_nodes(mx):
    """A network of additions on four numbers, kept between calls; ns of a node."""
    nodes = 500
    symbol = mx.sym.var("x")
    for _ in range(nodes):
        symbol = symbol + 1
    from mxnet._cached_op import CachedOp
    network = CachedOp(symbol, [("static_alloc", True), ("static_shape", True)])
    a = mx.nd.array([1.0, 2.0, 3.0, 4.0])
    if network(a).asnumpy()[0] != 1 + nodes:
        raise SystemExit("the network computes something else")

    def batch():
        calls = 20
        begin = time.perf_counter_ns()
        for _ in range(calls):
            network(a)
        mx.nd.waitall()
        return (time.perf_counter_ns() - begin) / calls / nodes
    return batch


def make_network(mx):
    """The network of bench/runtime/lenet_step.c."""
    layers = mx.gluon.nn
    network = layers.HybridSequential()
    network.add(layers.Conv2D(20, 5, activation="relu"), layers.MaxPool2D(2, 2),
                layers.Conv2D(50, 5, activation="relu"), layers.MaxPool2D(2, 2), layers.Flatten(),
                layers.Dense(512, activation="relu"), layers.Dense(CLASSES))
    network.initialize(mx.init.Xavier())
    return network


def make_images(mx, random):
    """Noise, and a bright stripe where the label says."""
    images = 0.5 * random.random((IMAGES, 1, SIDE, SIDE))
    labels = random.integers(0, CLASSES, IMAGES)
    for image, label in zip(images, labels):
        image[0, 2 * label + 4] += 0.5
    return mx.nd.array(images, dtype="float32"), mx.nd.array(labels, dtype="float32")


def static_step(mx):
    """The same, hybridized with memory and operations kept."""
    return training_step(mx, {"static_alloc": True, "static_shape": True})


def training_step(mx, hybridized=None, store=None):
    """One step through Gluon and the wait for all of it. Over a store, of all its workers together."""
    import numpy
    network = make_network(mx)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if hybridized:
        network.hybridize(**hybridized)
        loss_of.hybridize(**hybridized)
    where = {} if store is None else {"kvstore": store}
    trainer = mx.gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": 0.1}, **where)
    images_of_all = IMAGES * (1 if store is None else store.num_workers)
    random = numpy.random.default_rng(1)
    data = [make_images(mx, random) for _ in range(DATASETS)]
    steps = 0

    def batch():
        nonlocal steps
        images, labels = data[steps % DATASETS]
        begin = time.perf_counter_ns()
        with mx.autograd.record():
            loss = loss_of(network(images), labels)
        loss.backward()
        trainer.step(images_of_all)
        mx.nd.waitall()
        took = time.perf_counter_ns() - begin
        steps += 1
        if steps == CHECK_AFTER and not loss.mean().asscalar() < 1.5:
            raise SystemExit("the network does not learn")
        return took
    return batch
