# SPDX-License-Identifier: Apache-2.0
"""Networks whose operators are fused (MXNET_SUBGRAPH_BACKEND) against the same where none are: the same bits,
and a profile that tells which operators ran as one."""
import pytest

from python_program import run_python

FUSED, PLAIN = {"MXNET_SUBGRAPH_BACKEND": "ONEDNN"}, {"MXNET_SUBGRAPH_BACKEND": "NONE"}
FLAGS = '{"static_alloc": True, "static_shape": True}'

START = f"""
import hashlib
import numpy as onp
import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
FLAGS = {FLAGS}
random = onp.random.RandomState(3)

class Says(nn.HybridBlock):
    def __init__(self, code, **parts):
        super().__init__()
        self.code = code
        for name, part in parts.items():
            setattr(self, name, part)

    def hybrid_forward(self, F, *inputs):
        return self.code(self, F, *inputs)

def tell(name, *arrays):
    for array in arrays:
        values = array.asnumpy()
        assert onp.isfinite(values).all(), name
        print(name, values.shape, hashlib.sha256(values.tobytes()).hexdigest())

def array(*shape, dtype="float32"):
    return nd.array(random.uniform(0.25, 1.75, shape), dtype=dtype)

def made(net, *inputs):
    net.initialize(mx.init.Uniform(0.4))
    net(*inputs)
    for parameter in net.collect_params().values():
        parameter.set_data(array(*parameter.shape))
    net.hybridize(**FLAGS)
    return net
"""

POINTWISE = """
def chain(self, F, x, y):
    a = F.tanh(x * 0.5) * y + 1
    return F.relu(a - y) + F.sqrt(a) / y, F.clip(a, 0.5, 1.5), a

for shape in ((1,), (5, 1), (4096,), (7, 4097), (300001,)):
    for dtype in ("float32", "float64"):
        net = Says(chain)
        net.hybridize(**FLAGS)
        x, y = array(*shape, dtype=dtype), array(*shape, dtype=dtype)
        x.attach_grad()
        y.attach_grad("add")
        for _ in range(2):
            with autograd.record():
                first, second, third = net(x, y)
                loss = first * 2 + second * third
            loss.backward()
            tell((shape, dtype), first, second, third, x.grad, y.grad)
        with autograd.pause():
            tell((shape, dtype), *net(x, y))
"""

CONVOLUTIONS = """
def block(self, F, x):
    shortcut = self.around(x)
    return F.relu(self.second(F.relu(self.norm(self.first(x)))) + shortcut)

for images, side in ((1, 9), (7, 16), (33, 40)):
    x = array(images, 3, side, side)
    parts = {"first": nn.Conv2D(6, 3, padding=1), "norm": nn.BatchNorm(), "around": nn.Conv2D(8, 1),
             "second": nn.Conv2D(8, 3, padding=1, use_bias=False)}
    net = made(Says(block, **parts), x)
    tell((images, "inference"), net(x))
    for _ in range(2):
        with autograd.record():
            out = net(x)
        out.backward()
        tell((images, "training"), out, *(each.grad() for each in net.collect_params().values() if each.grad_req != "null"))
    tell((images, "inference"), net(x))
"""

PRODUCTS = """
def cell(self, F, x, state):
    gates = self.of_input(x) + self.of_state(state)
    take, forget, new = F.split(gates, num_outputs=3, axis=1)
    return F.sigmoid(forget) * state + F.sigmoid(take) * F.tanh(new)

for batch in (1, 32):
    x, state = array(batch, 11), array(batch, 20)
    net = made(Says(cell, of_input=nn.Dense(60), of_state=nn.Dense(60, use_bias=False)), x, state)
    with autograd.record():
        for _ in range(3):
            state = net(x, state)
    state.backward()
    tell(batch, state, *(each.grad() for each in net.collect_params().values()))
"""


@pytest.mark.parametrize("program", (POINTWISE, CONVOLUTIONS, PRODUCTS), ids=("pointwise", "convolutions", "products"))
@pytest.mark.parametrize("threads", ("1", "2"))
def test_numbers_are_the_same(tmp_path, program, threads):
    fused, plain = (run_python(START + program, tmp_path, OMP_NUM_THREADS=threads, **setting) for setting in (FUSED, PLAIN))
    assert (fused.code, plain.code) == (0, 0), fused.err + plain.err
    assert fused.out == plain.out and fused.out.count("\n") >= 6


PROFILED = START + """
from mxnet import profiler
def layer(self, F, x):
    return F.relu(self.norm(self.conv(x)) + x) * 2

class Net(nn.HybridBlock):
    def __init__(self):
        super().__init__(prefix="net_")
        with self.name_scope():
            self.one = Says(layer, conv=nn.Conv2D(3, 3, padding=1), norm=nn.BatchNorm())

    def hybrid_forward(self, F, x):
        return F.tanh(self.one(x))

x = array(4, 3, 8, 8)
net = made(Net(), x)
net(x).wait_to_read()
profiler.set_config(profile_all=True, filename="trace.json", aggregate_stats=True)
profiler.set_state("run")
for _ in range(3):
    net(x)
nd.waitall()
profiler.set_state("stop")
print(profiler.dumps())
profiler.dump()
"""


def test_a_fusion_is_a_parent_whose_parts_share_its_time(tmp_path):
    done = run_python(PROFILED, tmp_path, **FUSED)
    assert done.code == 0, done.err
    items = [item for item in done.trace() if item.get("cat") == "operator" and item["ph"] == "X"]
    parents = [item for item in items if item["name"].startswith("fused[")]
    assert [item["name"] for item in parents] == ["fused[Convolution,BatchNorm,broadcast_add,relu,_mul_scalar,tanh]"] * 3
    for parent in parents:
        parts = [item for item in items if item["args"].get("time") == "shared"
                 and item["args"]["bulk"] == parent["args"]["op"]]
        assert [item["name"] for item in parts] == ["Convolution", "BatchNorm", "broadcast_add", "relu", "_mul_scalar", "tanh"]
        for item in parts:
            assert item["dur"] == 0 and parent["ts"] - 0.002 <= item["ts"] <= parent["ts"] + parent["dur"] + 0.002
        assert all(item["args"]["scope"].startswith(parent["args"].get("scope", "")) for item in parts)
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.startswith(("fused[", "Convolution", "tanh"))}
    assert rows["Convolution"][:2] == ["3", "0.0000"] and rows["tanh"][0] == "3"
    assert float(rows[parents[0]["name"]][1]) > 0


def test_nothing_is_fused_unless_asked_for(tmp_path):
    for setting in ({}, PLAIN, {"MXNET_SUBGRAPH_BACKEND": ""}):
        done = run_python(PROFILED, tmp_path, **setting)
        assert done.code == 0 and "fused[" not in done.out, done.err
        assert "tanh" in done.out


def test_an_error_in_a_fusion_names_its_node(tmp_path):
    program = START + """
net = Says(lambda self, F, x, y: F.relu(x + y) * 2)
net.hybridize(**FLAGS)
try:
    net(array(2, 3), array(4, 5)).wait_to_read()
except mx.MXNetError as error:
    print("(2,3)" in str(error) or "[2,3]" in str(error), "broadcast" in str(error) or "shape" in str(error))
"""
    done = run_python(program, tmp_path, **FUSED)
    assert done.out.split() == ["True", "True"], done.out + done.err
