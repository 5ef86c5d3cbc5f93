# SPDX-License-Identifier: Apache-2.0
"""The programs whose profiles test_golden_profiles.py compares, chosen by the first word after the line: each does
what the original recorded of the program of that name."""
import ctypes
import pathlib
import runpy
import sys

import numpy as onp

import mxnet as mx
from mxnet import profiler


class AddOne(mx.operator.CustomOp):
    """Adds one; hands its gradient on."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])


class AddOneProp(mx.operator.CustomOpProp):
    """One array in, one of the same shape out."""

    def list_arguments(self):
        return ["data"]

    def infer_shape(self, in_shape):
        return [in_shape[0]], [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return AddOne()


def custom_result(way, array):
    """All that it makes, which lives until the profile is written."""
    if way in ("nd", "np"):
        return mx.nd.Custom(array, op_type="MyAddOne")
    if way == "npx":
        return mx.npx.custom(mx.np.zeros((500, 500)), op_type="MyAddOne")
    if way == "grad":
        x = mx.nd.ones((2, 3))
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.Custom(x, op_type="MyAddOne")
        y.backward()
        return x, y
    if way == "sym_noimp":
        profiler.set_config(profile_symbolic=True, profile_imperative=False, aggregate_stats=True, continuous_dump=True)
    symbol = mx.sym.Custom(data=mx.sym.var("a"), op_type="MyAddOne")
    executor = symbol.bind(mx.cpu(), {"a": array})
    return symbol, executor, executor.forward()


def custom(way):
    mx.operator.register("MyAddOne")(AddOneProp)
    array = mx.np.zeros((500, 500)) if way == "np" else mx.nd.zeros((500, 500))
    array.wait_to_read()  # it is older than the run
    profiler.set_config(profile_all=True, continuous_dump=True, aggregate_stats=True)
    profiler.set_state("run")
    result = custom_result(way, array)
    mx.nd.waitall()
    profiler.set_state("stop")
    profiler.dump(finished=False)
    del result


def hybrid():
    """In the names of 2.0."""
    nn = mx.gluon.nn
    profiler.set_config(profile_symbolic=True, profile_imperative=True, profile_memory=True, profile_api=True,
                        filename="profile.json", continuous_dump=True, aggregate_stats=False)
    profiler.set_state("run")
    net = nn.HybridSequential()
    net.add(nn.Dense(128, activation="tanh"), nn.Dropout(0.5), nn.Dense(64, activation="tanh"),
            nn.Dense(32, in_units=64), nn.Activation("relu"))
    net.initialize(device=mx.cpu())
    net.hybridize()
    with mx.autograd.record():
        out = net(mx.np.zeros((16, 10), device=mx.cpu()))
    out.backward()
    mx.npx.waitall()
    profiler.set_state("stop")
    profiler.dump(True)


def perceptron():
    layers = mx.sym.var("X")
    for i, size in enumerate((128, 64, 10)):
        layers = mx.sym.FullyConnected(layers, weight=mx.sym.var(f"w{i}"), bias=mx.sym.var(f"b{i}"), num_hidden=size)
        if i < 2:
            layers = mx.sym.Activation(layers, act_type="relu")
    return mx.sym.SoftmaxOutput(layers, mx.sym.var("label"), name="softmax")


def train(executor, args, grads, batches):
    batches.reset()
    while batches.iter_next():
        batches.getdata().copyto(args["X"])
        batches.getlabel().copyto(args["label"])
        executor.forward(is_train=True)
        executor.backward()
        for name, array in args.items():
            if name not in ("X", "label"):
                mx.nd.sgd_update(array, grads[name], out=array, lr=.1, wd=.01, rescale_grad=.01)


def measure(executor, args, batches):
    batches.reset()
    while batches.iter_next():
        batches.getdata().copyto(args["X"])
        found = mx.nd.argmax_channel(executor.forward(is_train=False)[0]).asnumpy()
        assert found.shape == batches.getlabel().asnumpy().shape


def capi():
    """The profiler by its C functions; the iterators are made while it runs. Digits lie in a folder."""
    library = ctypes.CDLL(mx.libinfo.find_lib_path()[0])
    config = {b"profile_all": b"True", b"aggregate_stats": b"True", b"continuous_dump": b"True", b"filename": b"profile.json"}
    words = ctypes.c_char_p * len(config)
    assert library.MXSetProfilerConfig(len(config), words(*config), words(*config.values())) == 0
    assert library.MXSetProfilerState(1) == 0
    training, held_out = (
        mx.io.MNISTIter(image=f"{stem}-images-idx3-ubyte", label=f"{stem}-labels-idx1-ubyte", batch_size=100, shuffle=1,
                        flat=1, silent=True) for stem in ("datasets/mnist/train", "datasets/mnist/t10k"))
    net = perceptron()
    shapes = dict(zip(net.list_arguments(), net.infer_shape(X=(100, 784))[0]))
    args = {name: mx.nd.random.uniform(-.01, .01, shape=shape) for name, shape in shapes.items()}
    grads = {name: mx.nd.zeros(array.shape) for name, array in args.items()}
    wanted = {name: "null" if name in ("X", "label") else "write" for name in args}
    executor = net.bind(mx.cpu(), args, args_grad=grads, grad_req=wanted)
    train(executor, args, grads, training)
    measure(executor, args, held_out)
    mx.nd.waitall()
    assert library.MXSetProfilerState(0) == 0
    assert library.MXDumpProfile(1) == 0
    assert library.MXNotifyShutdown() == 0


def plain():
    """Knows nothing of the profiler."""
    a = mx.nd.array([[1, 2, 3], [4, 5, 6]])
    diagonal = mx.nd.diag(a)
    total = mx.nd.sum(diagonal, -1)
    root = mx.sym.sqrt(mx.sym.var("x") + 1)
    print(root.bind(mx.cpu(), {"x": mx.nd.ones((2, 2))}).forward()[0].asnumpy().shape, total.asnumpy())


def trace_np():
    mx.npx.set_np()
    profiler.set_config(profile_all=True, aggregate_stats=True)
    profiler.set_state("run")
    a = mx.np.array(onp.linspace(1, 9, 9).reshape((3, 3)))
    diagonal = mx.np.diag(a)
    total = mx.np.sum(diagonal, -1)
    mx.npx.waitall()
    profiler.set_state("stop")
    profiler.dump()
    del total


def example(name):
    """A program of the guides."""
    runpy.run_path(str(pathlib.Path(__file__).parents[2] / "examples/python" / name), run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1] == "2.0.0b1":
        mx.npx.set_np()
    programs = {each.__name__: each for each in (custom, hybrid, capi, plain, trace_np, example)}
    programs[sys.argv[2]](*sys.argv[3:])
