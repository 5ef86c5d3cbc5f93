# SPDX-License-Identifier: Apache-2.0
"""Which switch governs which operators of a prepared network, and what the segments of an executor hold: the programs
mode_bits and executor_bulk of the golden data, with what the original recorded of them."""
import pytest

from python_program import names, run_python

PREPARED = """
import mxnet as mx
from mxnet import profiler
nn = mx.gluon.nn
net = nn.HybridSequential()
net.add(nn.Dense(4, in_units=3), nn.Dense(4, in_units=4), nn.Dense(2, in_units=4))
net.initialize()
net.hybridize(static_alloc=True, static_shape=True)
x = mx.nd.ones((2, 3))
for _ in range(3):
    net(x)
mx.nd.waitall()
profiler.set_config(profile_api=False, profile_memory=False, continuous_dump=False, filename='trace.json', {switches})
profiler.set_state('run')
net(x)
(x + 1).wait_to_read()
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump(True)
"""
NAIVE = {"MXNET_ENGINE_TYPE": "NaiveEngine"}
UNCOUNTED = {"DeleteVariable", "WaitForVar"}


def operators(source, folder, **environment):
    done = run_python(source, folder, **environment)
    assert (done.code, done.err) == (0, "")
    if not (folder / "trace.json").exists():  # nothing was recorded
        return []
    return [name.partition("{")[0] if name.startswith("[") else name
            for name in names(done.trace(), "operator") if name not in UNCOUNTED]


# The data's layer works on an array of the program: it is imperative, as in the original; the other two are the
# segment's. The original records a segment whatever is asked for (docs/migration.md).
@pytest.mark.parametrize("switches, engine, expected", [
    ("profile_imperative=False", {}, ["FullyConnected", "FullyConnected", "[FullyConnected"]),
    ("profile_imperative=False", NAIVE, ["FullyConnected", "FullyConnected"]),
    ("profile_symbolic=False", {}, ["FullyConnected", "ImperativeBulk", "_plus_scalar"]),
    ("profile_symbolic=False", NAIVE, ["FullyConnected", "_plus_scalar"]),
    ("profile_symbolic=False, profile_imperative=False", {}, []),
    ("profile_symbolic=False, profile_imperative=False", NAIVE, []),
])
def test_switches_of_a_prepared_network(switches, engine, expected, tmp_path):
    assert sorted(operators(PREPARED.format(switches=switches), tmp_path, **engine)) == sorted(expected)


EXECUTOR = """
import mxnet as mx
from mxnet import profiler
profiler.set_config(profile_all=True, aggregate_stats={aggregate}, continuous_dump=False, filename='trace.json')
x = mx.sym.var('x')
y = mx.sym.sqrt(x + 1)
profiler.set_state('run')
args = {{'x': mx.nd.ones((2, 2))}}
ex = y.bind(mx.cpu(), args, args_grad={{'x': mx.nd.zeros((2, 2))}}) if {gradients} else y.bind(mx.cpu(), args)
ex.forward(is_train={gradients})
if {gradients}:
    ex.backward(mx.nd.ones((2, 2)))
mx.nd.waitall()
ex.forward(is_train=False)
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump(True)
"""
# What the original lists with statistics, when it forms no segments; without what its executors and random numbers
# set up, and the copy by which it hands head gradients on.
FORWARD = ["_plus_scalar", "sqrt"]
RECORDED = {False: ["_ones", *FORWARD * 2],
            True: ["_ones", "_zeros", "_ones", *FORWARD, "_backward_sqrt", "_copy", *FORWARD]}


@pytest.mark.parametrize("aggregate", [False, True])
@pytest.mark.parametrize("gradients", [False, True])
def test_operators_of_an_executor_are_members_of_its_bulks(aggregate, gradients, tmp_path):
    found = operators(EXECUTOR.format(aggregate=aggregate, gradients=gradients), tmp_path)
    parents = [name for name in found if name == "ImperativeBulk" or name.startswith("[")]
    assert sorted(name for name in found if name not in parents) == sorted(RECORDED[gradients])
    # What makes outputs, which are new arrays, is beside the segment.
    assert sorted(parents) == sorted(["ImperativeBulk", "[_plus_scalar"] * 2 + ["ImperativeBulk", "[_copy"] * gradients)
