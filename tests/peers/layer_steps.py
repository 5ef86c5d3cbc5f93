# SPDX-License-Identifier: Apache-2.0
"""A training step of each layer and each loss of Gluon in MXNet's published package of 1.9.1:

    layer_steps.py            prints a line of JSON, {"cases": {case: {"values": {name: [numbers]}} or {"error": text}},
                              "names": [layers and losses that there are]}

Each is run as it is and hybridized. The values are what it gave, the gradient of its first input and its parameters
after the step; what is drawn comes from NumPy. Shapes of parameters are those that the first batch tells."""
import json
import warnings

import numpy

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import contrib, loss, nn, rnn

RATE = 0.1
WHOLE = "whole"  # of an input: whole numbers that are 0 .. 3

# Of each: what makes it, the shapes of its inputs.
LAYERS = {
    "Activation relu": (lambda: nn.Activation("relu"), [(2, 3)]),
    "Activation sigmoid": (lambda: nn.Activation("sigmoid"), [(2, 3)]),
    "Activation softrelu": (lambda: nn.Activation("softrelu"), [(2, 3)]),
    "Activation softsign": (lambda: nn.Activation("softsign"), [(2, 3)]),
    "Activation tanh": (lambda: nn.Activation("tanh"), [(2, 3)]),
    "AvgPool1D": (lambda: nn.AvgPool1D(3, 2, 1), [(2, 3, 8)]),
    "AvgPool1D ceil": (lambda: nn.AvgPool1D(3, 2, ceil_mode=True), [(2, 3, 8)]),
    "AvgPool2D": (lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False), [(2, 3, 6, 7)]),
    "AvgPool3D": (lambda: nn.AvgPool3D(2), [(2, 3, 4, 6, 5)]),
    "BatchNorm": (nn.BatchNorm, [(4, 3, 5)]),
    "BatchNorm unscaled": (lambda: nn.BatchNorm(center=False, scale=False), [(4, 3, 5)]),
    "BatchNorm last axis": (lambda: nn.BatchNorm(axis=-1, momentum=0.5), [(4, 5, 3)]),
    "BatchNormReLU": (nn.BatchNormReLU, [(4, 3, 5)]),
    "Conv1D": (lambda: nn.Conv1D(4, 3, padding=1, activation="relu"), [(2, 3, 8)]),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(4, 3, 2, 1, 1), [(2, 3, 8)]),
    "Conv2D": (lambda: nn.Conv2D(4, 3, 2, 1), [(2, 3, 6, 7)]),
    "Conv2D groups": (lambda: nn.Conv2D(4, 3, dilation=2, groups=2, use_bias=False), [(2, 4, 6, 7)]),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(4, 3, 2, 1, 1), [(2, 3, 6, 7)]),
    "Conv3D": (lambda: nn.Conv3D(4, 2), [(2, 3, 4, 5, 4)]),
    "Conv3DTranspose": (lambda: nn.Conv3DTranspose(4, 2), [(2, 3, 3, 4, 3)]),
    "Dense": (lambda: nn.Dense(4, activation="tanh"), [(2, 3, 5)]),
    "Dense of rows": (lambda: nn.Dense(4, use_bias=False, flatten=False), [(2, 3, 5)]),
    "Dropout": (lambda: nn.Dropout(0.0), [(2, 3)]),
    "ELU": (nn.ELU, [(2, 3)]),
    "Embedding": (lambda: nn.Embedding(4, 5), [(2, 3, WHOLE)]),
    "Embedding sparse": (lambda: nn.Embedding(4, 5, sparse_grad=True), [(2, 3, WHOLE)]),
    "Flatten": (nn.Flatten, [(2, 3, 4)]),
    "GELU": (nn.GELU, [(2, 3)]),
    "GlobalAvgPool1D": (nn.GlobalAvgPool1D, [(2, 3, 8)]),
    "GlobalAvgPool2D": (nn.GlobalAvgPool2D, [(2, 3, 6, 7)]),
    "GlobalAvgPool3D": (nn.GlobalAvgPool3D, [(2, 3, 4, 6, 5)]),
    "GlobalMaxPool1D": (nn.GlobalMaxPool1D, [(2, 3, 8)]),
    "GlobalMaxPool2D": (nn.GlobalMaxPool2D, [(2, 3, 6, 7)]),
    "GlobalMaxPool3D": (nn.GlobalMaxPool3D, [(2, 3, 4, 6, 5)]),
    "GroupNorm": (lambda: nn.GroupNorm(2), [(2, 4, 5)]),
    "HybridLambda": (lambda: nn.HybridLambda(lambda F, x: F.exp(x) + F.square(x)), [(2, 3)]),
    "HybridSequential": (lambda: sequence(nn.HybridSequential), [(2, 3)]),
    "InstanceNorm": (lambda: nn.InstanceNorm(center=True, scale=True), [(2, 4, 5)]),
    "InstanceNorm last axis": (lambda: nn.InstanceNorm(axis=2), [(2, 4, 5)]),
    "Lambda": (lambda: nn.Lambda("tanh"), [(2, 3)]),
    "LayerNorm": (nn.LayerNorm, [(2, 4, 5)]),
    "LayerNorm axis 1": (lambda: nn.LayerNorm(axis=1), [(2, 4, 5)]),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), [(2, 3)]),
    "MaxPool1D": (lambda: nn.MaxPool1D(3, 2, 1), [(2, 3, 8)]),
    "MaxPool2D": (lambda: nn.MaxPool2D(3, 2, ceil_mode=True), [(2, 3, 6, 8)]),
    "MaxPool3D": (nn.MaxPool3D, [(2, 3, 4, 6, 5)]),
    "PReLU": (nn.PReLU, [(2, 3)]),
    "ReflectionPad2D": (lambda: nn.ReflectionPad2D(2), [(2, 3, 4, 5)]),
    "SELU": (nn.SELU, [(2, 3)]),
    "Sequential": (lambda: sequence(nn.Sequential), [(2, 3)]),
    "Swish": (lambda: nn.Swish(1.5), [(2, 3)]),
    "contrib Concurrent": (lambda: sequence(contrib.nn.Concurrent), [(2, 3)]),
    "contrib HybridConcurrent": (lambda: sequence(contrib.nn.HybridConcurrent), [(2, 3)]),
    "contrib Identity": (contrib.nn.Identity, [(2, 3)]),
    "contrib PixelShuffle1D": (lambda: contrib.nn.PixelShuffle1D(2), [(2, 4, 3)]),
    "contrib PixelShuffle2D": (lambda: contrib.nn.PixelShuffle2D((2, 3)), [(2, 12, 3, 2)]),
    "contrib PixelShuffle3D": (lambda: contrib.nn.PixelShuffle3D(2), [(1, 16, 2, 3, 2)]),
    "contrib SparseEmbedding": (lambda: contrib.nn.SparseEmbedding(4, 5), [(2, 3, WHOLE)]),
    "contrib SyncBatchNorm": (lambda: contrib.nn.SyncBatchNorm(num_devices=1), [(4, 3, 5)]),
    "GRU": (lambda: rnn.GRU(4), [(3, 2, 5)]),
    "GRU two ways": (lambda: rnn.GRU(4, 2, "NTC", bidirectional=True), [(2, 3, 5)]),
    "LSTM": (lambda: rnn.LSTM(4), [(3, 2, 5)]),
    "LSTM two ways": (lambda: rnn.LSTM(4, 2, "NTC", bidirectional=True), [(2, 3, 5)]),
    "LSTM projected": (lambda: rnn.LSTM(4, projection_size=3), [(3, 2, 5)]),
    "RNN": (lambda: rnn.RNN(4), [(3, 2, 5)]),
    "RNN tanh two ways": (lambda: rnn.RNN(4, 2, "tanh", "NTC", bidirectional=True), [(2, 3, 5)]),
    "BidirectionalCell": (lambda: rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4)), [(2, 3, 5)]),
    "DropoutCell": (lambda: rnn.DropoutCell(0.0), [(2, 3, 5)]),
    "GRUCell": (lambda: rnn.GRUCell(4), [(2, 3, 5)]),
    "HybridSequentialRNNCell": (lambda: sequence_of_cells(rnn.HybridSequentialRNNCell), [(2, 3, 5)]),
    "LSTMCell": (lambda: rnn.LSTMCell(4), [(2, 3, 5)]),
    "RNNCell": (lambda: rnn.RNNCell(4), [(2, 3, 5)]),
    "ResidualCell": (lambda: rnn.ResidualCell(rnn.GRUCell(5)), [(2, 3, 5)]),
    "SequentialRNNCell": (lambda: sequence_of_cells(rnn.SequentialRNNCell), [(2, 3, 5)]),
    "ZoneoutCell": (lambda: rnn.ZoneoutCell(rnn.RNNCell(4)), [(2, 3, 5)]),
    "contrib Conv1DGRUCell": (lambda: contrib.rnn.Conv1DGRUCell((2, 6), 4, 3, 3, i2h_pad=1), [(2, 3, 2, 6)]),
    "contrib Conv1DLSTMCell": (lambda: contrib.rnn.Conv1DLSTMCell((2, 6), 4, 3, 3, i2h_pad=1), [(2, 3, 2, 6)]),
    "contrib Conv1DRNNCell": (lambda: contrib.rnn.Conv1DRNNCell((2, 6), 4, 3, 3, i2h_pad=1), [(2, 3, 2, 6)]),
    "contrib Conv2DGRUCell": (lambda: contrib.rnn.Conv2DGRUCell((2, 6, 5), 4, 3, 3, (1, 1)), [(2, 3, 2, 6, 5)]),
    "contrib Conv2DLSTMCell": (lambda: contrib.rnn.Conv2DLSTMCell((2, 6, 5), 4, 3, 3, (1, 1)), [(2, 3, 2, 6, 5)]),
    "contrib Conv2DRNNCell": (lambda: contrib.rnn.Conv2DRNNCell((2, 6, 5), 4, 3, 3, (1, 1)), [(2, 3, 2, 6, 5)]),
    "contrib Conv3DGRUCell": (lambda: contrib.rnn.Conv3DGRUCell((2, 4, 5, 4), 3, 3, 3, (1, 1, 1)), [(1, 2, 2, 4, 5, 4)]),
    "contrib Conv3DLSTMCell": (lambda: contrib.rnn.Conv3DLSTMCell((2, 4, 5, 4), 3, 3, 3, (1, 1, 1)),
                               [(1, 2, 2, 4, 5, 4)]),
    "contrib Conv3DRNNCell": (lambda: contrib.rnn.Conv3DRNNCell((2, 4, 5, 4), 3, 3, 3, (1, 1, 1)),
                              [(1, 2, 2, 4, 5, 4)]),
    "contrib LSTMPCell": (lambda: contrib.rnn.LSTMPCell(4, 3), [(2, 3, 5)]),
    "contrib VariationalDropoutCell": (lambda: contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(4)), [(2, 3, 5)]),
}
LOSSES = {
    "CTCLoss": (loss.CTCLoss, [(2, 6, 5), (2, 2, WHOLE)]),
    "CosineEmbeddingLoss": (loss.CosineEmbeddingLoss, [(4, 5), (4, 5), (4, "signs")]),
    "HingeLoss": (loss.HingeLoss, [(4, 5), (4, 5, "signs")]),
    "HuberLoss": (lambda: loss.HuberLoss(0.7), [(4, 5), (4, 5)]),
    "KLDivLoss": (lambda: loss.KLDivLoss(from_logits=False), [(4, 5), (4, 5, "parts")]),
    "L1Loss": (loss.L1Loss, [(4, 5), (4, 5)]),
    "L2Loss": (loss.L2Loss, [(4, 5), (4, 5)]),
    "LogisticLoss": (loss.LogisticLoss, [(4, 5), (4, 5, "signs")]),
    "PoissonNLLLoss": (lambda: loss.PoissonNLLLoss(compute_full=True), [(4, 5), (4, 5, WHOLE)]),
    "SDMLLoss": (loss.SDMLLoss, [(4, 5), (4, 5)]),
    "SigmoidBinaryCrossEntropyLoss": (loss.SigmoidBinaryCrossEntropyLoss, [(4, 5), (4, 5, "parts")]),
    "SoftmaxCrossEntropyLoss": (loss.SoftmaxCrossEntropyLoss, [(4, 5), (4, WHOLE)]),
    "SoftmaxCrossEntropyLoss dense": (lambda: loss.SoftmaxCrossEntropyLoss(sparse_label=False),
                                      [(4, 5), (4, 5, "parts")]),
    "SquaredHingeLoss": (loss.SquaredHingeLoss, [(4, 5), (4, 5, "signs")]),
    "TripletLoss": (loss.TripletLoss, [(4, 5), (4, 5), (4, 5)]),
}
# What is the base of others, wraps another, or has another name too.
NO_LAYERS = {"Block", "HybridBlock", "SymbolBlock", "RecurrentCell", "HybridRecurrentCell", "ModifierCell", "Loss",
             "SigmoidBCELoss", "SoftmaxCELoss"}


def sequence(kind):
    net = kind()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(3))
    return net


def sequence_of_cells(kind):
    net = kind()
    net.add(rnn.LSTMCell(4))
    net.add(rnn.GRUCell(3))
    return net


def drawn(draw, shape):
    kind = shape[-1] if isinstance(shape[-1], str) else None
    shape = shape[:-1] if kind else shape
    if kind == WHOLE:
        return draw.randint(0, 4, shape).astype("float32")
    if kind == "signs":
        return (2 * draw.randint(0, 2, shape) - 1).astype("float32")
    return draw.uniform(*((0, 1) if kind == "parts" else (-1, 1)), shape).astype("float32")


def called(net, inputs):
    if isinstance(net, rnn.RecurrentCell):
        net.reset()
        given, _ = net.unroll(inputs[0].shape[1], inputs[0], merge_outputs=True)
        return given
    return net(*inputs)


def step(make, shapes, hybrid):
    draw = numpy.random.RandomState(23)
    net = make()
    inputs = [mx.nd.array(drawn(draw, shape)) for shape in shapes]
    net.initialize()
    if hybrid:
        net.hybridize()
    called(net, inputs)
    parameters = list(net.collect_params().values())
    for parameter in parameters:
        if parameter.grad_req != "null":
            parameter.set_data(mx.nd.array(drawn(draw, parameter.shape)))
    differentiable = shapes[0][-1] != WHOLE  # the original refuses gradients of an embedding's indices
    if differentiable:
        inputs[0].attach_grad()
    with autograd.record():
        given = called(net, inputs)
        error = (given * mx.nd.array(drawn(draw, given.shape))).sum()
    error.backward()
    if parameters:
        gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE}).step(1)
    values = {"given": given}
    if differentiable:
        values["gradient"] = inputs[0].grad
    values.update((f"{at} {parameter.name.split('_', 1)[-1]}", parameter.data())
                  for at, parameter in enumerate(parameters))
    return {name: array.asnumpy().astype("float64").ravel().tolist() for name, array in values.items()}


def names():
    """`Dense`, `contrib PixelShuffle1D`: every layer that the package offers."""
    modules = {nn: "", rnn: "", loss: "", contrib.nn: "contrib ", contrib.rnn: "contrib "}
    return [before + name for module, before in modules.items() for name, kind in vars(module).items()
            if isinstance(kind, type) and issubclass(kind, gluon.Block) and name not in NO_LAYERS]


def main():
    warnings.simplefilter("ignore")
    found = {}
    for name, (make, shapes) in {**LAYERS, **LOSSES}.items():
        for hybrid in False, True:
            case = name + (" hybridized" if hybrid else "")
            try:
                found[case] = {"values": step(make, shapes, hybrid)}
            except Exception as error:  # whatever it is, it is told and compared
                found[case] = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"cases": found, "names": names()}))


if __name__ == "__main__":
    main()
