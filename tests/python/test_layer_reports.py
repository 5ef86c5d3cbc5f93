# SPDX-License-Identifier: Apache-2.0
"""`mxprof report --by scope` of a network that is trained plain and hybridized: the same layers with forward, backward
and update, as many operators in each, and about the same time."""
import collections
import json
import re
import statistics
import subprocess

import pytest

from python_program import BUILD, run_python

STEPS = 30
PROGRAM = """
import mxnet as mx
from mxnet import autograd, gluon, profiler
net = gluon.nn.HybridSequential(prefix='net_')
net.add(gluon.nn.Conv2D(8, 5, activation='relu'), gluon.nn.Flatten(), gluon.nn.Dense(128, 'relu'), gluon.nn.Dense(10))
net.initialize()
if %r:
    net.hybridize(static_alloc=True, static_shape=True)
loss = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.01, 'aggregate_num': 1})
profiler.set_config(continuous_dump=False, filename='trace.json', native_filename='trace.mxp')
data, label = mx.nd.ones((32, 1, 28, 28)), mx.nd.zeros((32,))
for step in range(%d + 3):
    if step == 3:
        mx.nd.waitall()
        profiler.set_state('run')
    with autograd.record():
        cost = loss(net(data), label)
    cost.backward()
    trainer.step(32)
    mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def layer_of(scope):
    """The layer of the network, without blocks inside of it; None for what is of no layer."""
    found = re.match(r"net:(\w+?):", scope or "")
    return found and found[1]


def counts(folder):
    """Operators of each (layer, phase), as the command reports them."""
    printed = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "scope", "--json", "trace.mxp"], cwd=folder, check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    found = collections.Counter()
    for name, row in json.loads(printed)["Time"]["Scopes"].items():
        scope, _, phase = name.rstrip(")").partition(" (")
        if layer_of(scope) and phase:
            found[layer_of(scope), phase] += row["Count"]
    return found


def usual_times(items):
    """Of each (layer, phase) the sum of what each of its operators takes in the better quarter of the steps: whatever else
    the machine does is not in it."""
    durations, found = collections.defaultdict(list), collections.Counter()
    for item in items:
        args = item.get("args", {})
        if item["ph"] == "X" and "phase" in args and layer_of(args.get("scope")):
            durations[layer_of(args["scope"]), args["phase"], item["name"], args.get("shape")].append(item["dur"])
    for (layer, phase, *_), listed in durations.items():
        found[layer, phase] += statistics.quantiles(listed)[0] * len(listed)
    return found


@pytest.fixture(name="networks", scope="module")
def networks_fixture(tmp_path_factory):
    """Plain and hybridized: counts and usual times."""
    found = {}
    for hybridized in (False, True):
        folder = tmp_path_factory.mktemp("layers")
        done = run_python(PROGRAM % (hybridized, STEPS), folder, OMP_NUM_THREADS="1")
        assert (done.code, done.err) == (0, "")
        found[hybridized] = (counts(folder), usual_times(done.trace()))
    return found


def test_layers_of_a_hybridized_network_have_their_phases(networks):
    found, _ = networks[True]
    for layer in ("conv0", "dense0", "dense1"):
        for phase in ("forward", "backward", "update"):
            assert found[layer, phase] >= STEPS


def test_layers_are_those_of_the_plain_network_with_as_many_operators(networks):
    assert networks[True][0] == networks[False][0]


def test_large_layers_take_their_part_of_the_time_as_in_the_plain_network(networks):
    """Of the time of all large ones: two runs may have a machine of different speed."""
    plain, hybridized = networks[False][1], networks[True][1]
    large = [row for row, time in plain.items() if time > plain.total() / 10]
    whole = sum(hybridized[row] for row in large) / sum(plain[row] for row in large)
    assert len(large) > 1 and 1 / 4 < whole < 4
    for row in large:
        assert 1 / 3 < hybridized[row] / plain[row] / whole < 3
