# SPDX-License-Identifier: Apache-2.0
"""One step of LeNet under the profiler after one without, operator by operator as Gluon runs them:
`main(LINE, FRONT, PHASE, AGGREGATE)` with FRONT nd or np, PHASE train or infer. Prints what the
trace holds as JSON. What numbers are in the arrays is of no importance, nor how large a batch is."""
import json

import profiler_api as profiler
import runtime_api as mx
from names_program import recorded

BATCH = 2
_CONVOLUTION = {"kernel": "(5,5)", "stride": "(1,1)", "dilate": "(1,1)", "pad": "(0,0)",
                "num_group": 1, "no_bias": False, "layout": "NCHW"}
_POOLING = {"kernel": "(2,2)", "stride": "(2,2)", "pad": "(0,0)", "global_pool": False,
            "pool_type": "max", "pooling_convention": "valid", "layout": "NCHW"}
_RELU = {"act_type": "relu"}
# Operator, its parameters, the shapes of what it learns.
LAYERS = [
    ("Convolution", {**_CONVOLUTION, "num_filter": 20}, [(20, 1, 5, 5), (20,)]),
    ("Activation", _RELU, []),
    ("Pooling", _POOLING, []),
    ("Convolution", {**_CONVOLUTION, "num_filter": 50}, [(50, 20, 5, 5), (50,)]),
    ("Activation", _RELU, []),
    ("Pooling", _POOLING, []),
    ("Flatten", {}, []),
    ("FullyConnected", {"num_hidden": 512, "no_bias": False, "flatten": True}, [(512, 800), (512,)]),
    ("Activation", _RELU, []),
    ("FullyConnected", {"num_hidden": 10, "no_bias": False, "flatten": True}, [(10, 512), (10,)]),
]
NPX = {"Convolution": "_npx_convolution", "Activation": "_npx_activation", "Pooling": "_npx_pooling",
       "Flatten": "_npx_batch_flatten", "FullyConnected": "_npx_fully_connected"}
LOSS = {
    ("1.9.1", "nd"): [("_mul_scalar", {"scalar": -1}), ("mean", {"axis": 0, "exclude": True})],
    ("1.9.1", "np"): [("_npi_multiply_scalar", {"scalar": -1}), ("_npi_mean", {"axis": "(1,)"})],
    ("2.0.0b1", "np"): [("_npi_negative", {}), ("_npi_mean", {"axis": "(1,)"})],
}


def filled(shape):
    made = mx.create(shape)
    mx.invoke("_full", [], {"shape": shape, "value": 0.01}, [made])
    return made


class Net:
    def __init__(self, line, front):
        self.line, self.front = line, front
        self.invoke_function = "MXImperativeInvokeEx" if line == "1.9.1" else "MXImperativeInvoke"
        self.weights = [[filled(shape) for shape in shapes] for _, _, shapes in LAYERS]
        self.flat = [weight for layer in self.weights for weight in layer]
        self.grads = mx.attach_grad(self.flat)
        self.data = filled((BATCH, 1, 28, 28))
        self.label = mx.array((BATCH,), [i % 10 for i in range(BATCH)])

    def run(self, name, inputs, params, outputs=()):
        """One output; inputs that nothing else needs are the caller's to free."""
        return mx.invoke(name, inputs, params, outputs, self.invoke_function)[0]

    def then(self, name, before, params, others=()):
        """Runs on what the operator before has made, which goes away."""
        made = self.run(name, [before, *others], params)
        if before != self.data:
            mx.free(before)
        return made

    def forward(self):
        made = self.data
        for (name, params, _), weights in zip(LAYERS, self.weights):
            made = self.then(NPX[name] if self.front == "np" else name, made, params, weights)
        return made

    def loss(self, predicted):
        prefix = "_npx_" if self.front == "np" else ""
        made = self.then(prefix + "log_softmax", predicted, {"axis": -1})
        made = self.then(prefix + "pick", made, {"axis": -1, "keepdims": True}, [self.label])
        for name, params in LOSS[self.line, self.front]:
            made = self.then(name, made, params)
        return made

    def update(self):
        numbers = {"rescale_grad": 1 / BATCH}
        if self.line == "2.0.0b1":
            for weight, grad in zip(self.flat, self.grads):
                self.run("sgd_update", [weight, grad], {"lr": 0.1, "wd": 0, **numbers}, [weight])
            return
        for first in range(0, len(self.flat), 4):
            some = self.flat[first:first + 4]
            pairs = [array for pair in zip(some, self.grads[first:]) for array in pair]
            self.run("multi_sgd_update", pairs, {"lrs": (0.1,) * 4, "wds": (0,) * 4,
                                                 "num_weights": 4, **numbers}, some)

    def train(self):
        with mx.Record():
            loss = self.loss(self.forward())
        mx.backward(loss)
        self.update()
        mx.free(loss)

    def infer(self):
        mx.free(self.forward())


def main(line, front, phase, aggregate):
    if front == "np":
        mx.call("MXSetIsNumpyShape", 1, None)
    net = Net(line, front)
    step = net.train if phase == "train" else net.infer
    step()
    mx.wait_all()
    profiler.set_config(profile_all=True, continuous_dump=False, aggregate_stats=aggregate,
                        filename="t.json")
    profiler.set_state("run")
    step()
    mx.wait_all()
    profiler.set_state("stop")
    profiler.dump(True)
    print(json.dumps(recorded()))
