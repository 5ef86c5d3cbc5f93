# SPDX-License-Identifier: Apache-2.0
"""Training steps of five networks through Gluon, as a person writes them: forward, loss, backward,
SGD with momentum, and a wait for all. bench/peers/networks_torch.py has the same five in PyTorch;
both tell how many parameters they train.

    networks.py NETWORK LIBRARY [fused]     answers each line "off" with the time of one step

fused: hybridized with memory and operations kept, and operators in a row fused.
"""
import json
import os
import pathlib
import sys
import time

STEPS_TO_LEARN = 20
RATE, MOMENTUM = 0.01, 0.9


def residual_network(mx):
    """ResNet-18's blocks, an eighth of its width, on 32 images of 32 x 32."""
    nn = mx.gluon.nn

    class Block(mx.gluon.HybridBlock):
        """Two convolutions and the way around them."""

        def __init__(self, channels, stride):
            super().__init__()
            self.body = nn.HybridSequential()
            self.body.add(nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(),
                          nn.Activation("relu"),
                          nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm())
            self.around = nn.HybridSequential()
            if stride != 1:
                self.around.add(nn.Conv2D(channels, 1, stride, use_bias=False), nn.BatchNorm())

        def hybrid_forward(self, F, x):
            return F.relu(self.body(x) + self.around(x))

    network = nn.HybridSequential()
    network.add(nn.Conv2D(32, 3, 1, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for stage, channels in enumerate((32, 64, 128, 256)):
        network.add(Block(channels, 1 if stage == 0 else 2), Block(channels, 1))
    network.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
    return network, (32, 3, 32, 32), 10


def plain_convolutions(mx):
    """VGG-11's convolutions, half its width, on 32 images of 32 x 32."""
    nn = mx.gluon.nn
    network = nn.HybridSequential()
    for channels, count in ((32, 1), (64, 1), (128, 2), (256, 2), (256, 2)):
        for _ in range(count):
            network.add(nn.Conv2D(channels, 3, 1, 1, activation="relu"))
        network.add(nn.MaxPool2D(2, 2))
    network.add(nn.Flatten(), nn.Dense(256, activation="relu"), nn.Dense(10))
    return network, (32, 3, 32, 32), 10


def encoder_layer(mx):
    """A layer of a Transformer: 16 sequences of 64, 256 wide, 8 heads, 1,024 between."""
    nn, width, heads = mx.gluon.nn, 256, 8

    class Layer(mx.gluon.HybridBlock):
        """Attention, then two dense layers, each with a way around it and a normalisation."""

        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.joined = (
                nn.Dense(width, flatten=False) for _ in range(4))
            self.wide = nn.Dense(1024, flatten=False)
            self.gelu = nn.GELU()
            self.narrow = nn.Dense(width, flatten=False)
            self.norm_attention, self.norm_dense = nn.LayerNorm(), nn.LayerNorm()

        @staticmethod
        def split(x):
            """(batch, position, width) to (batch * heads, position, width of a head)."""
            return x.reshape((0, 0, heads, -1)).transpose((0, 2, 1, 3)).reshape((-1, 0, 0),
                                                                                reverse=True)

        def attend(self, F, x):
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            weights = F.softmax(F.batch_dot(query, key, transpose_b=True) *
                                (width // heads) ** -0.5)
            mixed = F.batch_dot(weights, value).reshape((-1, heads, 0, 0), reverse=True)
            return self.joined(mixed.transpose((0, 2, 1, 3)).reshape((0, 0, -1)))

        def hybrid_forward(self, F, x):
            x = self.norm_attention(x + self.attend(F, x))
            return self.norm_dense(x + self.narrow(self.gelu(self.wide(x))))

    return Layer(), (16, 64, width), None


def perceptron(mx):
    """784 to 512 to 512 to 10, on 128 images."""
    nn = mx.gluon.nn
    network = nn.HybridSequential()
    network.add(nn.Dense(512, activation="relu"), nn.Dense(512, activation="relu"), nn.Dense(10))
    return network, (128, 784), 10


def recurrent_loop(mx):
    """A cell of long short-term memory, 128 wide, over 32 moments of 32 sequences, in a Python
    loop."""
    nn, width = mx.gluon.nn, 128

    class Loop(mx.gluon.HybridBlock):
        """The cell's four gates come from one dense layer each of the input and the state."""

        def __init__(self):
            super().__init__()
            self.of_input, self.of_state = nn.Dense(4 * width), nn.Dense(4 * width)
            self.output = nn.Dense(10)

        def hybrid_forward(self, F, x):
            state = cell = F.zeros((x.shape[1], width))
            for moment in range(x.shape[0]):
                gates = self.of_input(x[moment]) + self.of_state(state)
                take, forget, new, give = F.split(gates, num_outputs=4, axis=1)
                cell = F.sigmoid(forget) * cell + F.sigmoid(take) * F.tanh(new)
                state = F.sigmoid(give) * F.tanh(cell)
            return self.output(state)

    return Loop(), (32, 32, width), 10


NETWORKS = {"resnet": residual_network, "vgg": plain_convolutions, "encoder": encoder_layer,
            "mlp": perceptron, "lstm": recurrent_loop}


def make_step(mx, name, hybridized=False):
    """One step on the same batch each time; and the number of parameters."""
    import numpy
    network, shape, classes = NETWORKS[name](mx)
    network.initialize(mx.init.Xavier())
    random = numpy.random.default_rng(1)
    data = mx.nd.array(random.standard_normal(shape), dtype="float32")
    count = shape[1] if name == "lstm" else shape[0]
    if classes is None:
        target, loss_of = mx.nd.array(random.standard_normal(shape)), mx.gluon.loss.L2Loss()
    else:
        target = mx.nd.array(random.integers(0, classes, count))
        loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if hybridized:
        network.hybridize(static_alloc=True, static_shape=True)
        loss_of.hybridize(static_alloc=True, static_shape=True)
    network(data)
    parameters = network.collect_params()
    trainer = mx.gluon.Trainer(parameters, "sgd", {"learning_rate": RATE, "momentum": MOMENTUM})

    def step():
        with mx.autograd.record():
            loss = loss_of(network(data), target)
        loss.backward()
        trainer.step(count)
        mx.nd.waitall()
        return loss
    return step, sum(each.data().size for each in parameters.values() if each.grad_req != "null")


def check_that_it_learns(step):
    """What is timed is a training."""
    first = step().mean().asscalar()
    for _ in range(STEPS_TO_LEARN):
        last = step().mean().asscalar()
    if not last < first:
        sys.exit(f"the network does not learn: {first} before, {last} after")


def main():
    name, library, *kinds = sys.argv[1:]
    kind = kinds[0] if kinds else "eager"
    if kind == "fused":
        os.environ["MXNET_SUBGRAPH_BACKEND"] = "ONEDNN"
    if os.environ.get("OMP_NUM_THREADS") == "1":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["MXNET_LIBRARY_PATH"] = library
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    import mxnet
    mxnet.random.seed(1)
    step, parameters = make_step(mxnet, name, kind == "fused")
    check_that_it_learns(step)
    for line in sys.stdin:
        if line != "off\n":
            sys.exit(f"unknown command {line!r}")
        begin = time.perf_counter_ns()
        step()
        print(json.dumps({"ns": time.perf_counter_ns() - begin, "parameters": parameters}),
              flush=True)


if __name__ == "__main__":
    main()
