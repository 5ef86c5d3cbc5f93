# SPDX-License-Identifier: Apache-2.0
"""Small programs that test_whatif_real.py records: whatif_programs.py PROGRAM OUT.mxp"""
import sys
import time

import mxnet as mx
from mxnet import autograd, gluon, nd, profiler

STEPS, BATCH = 14, 16


class Doubled(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2 + 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("doubled")
class DoubledProp(mx.operator.CustomOpProp):
    def create_operator(self, device, shapes, dtypes):
        return Doubled()


class WithCustom(gluon.HybridBlock):
    def forward(self, x):
        return nd.Custom(x, op_type="doubled")


class Branches(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.left, self.right = gluon.nn.Dense(256), gluon.nn.Dense(64)
        self.register_child(self.left)
        self.register_child(self.right)

    def forward(self, x):
        return self.left(x).sum(axis=1, keepdims=True) + self.right(x)


def network(middle=None):
    net = gluon.nn.HybridSequential(prefix="net_")
    net.add(gluon.nn.Conv2D(8, 5, activation="relu"), gluon.nn.MaxPool2D(2, 2), gluon.nn.Flatten())
    if middle is not None:
        net.add(middle)
    net.add(gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def train(net, wait_every, steps, slow_input=False):
    loss_function = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    data, label = nd.random.uniform(shape=(BATCH, 1, 28, 28)), nd.zeros((BATCH,))
    for step in range(steps + 3):
        if step == 3:
            nd.waitall()
            profiler.set_state("run")
        if step >= 3:
            profiler.step()
        if slow_input:
            time.sleep(0.004)
        with autograd.record():
            loss = loss_function(net(data), label)
        loss.backward()
        trainer.step(BATCH)
        if wait_every and step % wait_every == 0:
            loss.asnumpy()
    nd.waitall()
    profiler.step()
    profiler.set_state("stop")
    profiler.dump()


def main():
    program, out = sys.argv[1:]
    profiler.set_config(profile_all=True, filename=out + ".json", native_filename=out)
    net = network({"custom": WithCustom, "branches": Branches}.get(program, lambda: None)())
    if program == "hybridized":
        net.hybridize()
    train(net, {"tenth": 10, "ahead": 0}.get(program, 1), 2 if program == "short" else STEPS, program == "slow_input")


main()
