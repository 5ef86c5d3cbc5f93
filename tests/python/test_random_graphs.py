# SPDX-License-Identifier: Apache-2.0
"""Random networks: as a cached operator with any flags, by an executor and after a round trip through JSON they give the same
bits, outputs and gradients; run operator by operator too, but for the order in which gradients are summed. Their profiles
have the same operators."""
import collections
import json
import os
import random

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd, profiler, sym
from mxnet._cached_op import CachedOp

SEEDS = range(400 if os.environ.get("MXPROF_TEST_LONG") else 40)
ROWS, COLUMNS = 4, 6
FLAGS = [[], [("static_alloc", True)], [("static_alloc", True), ("static_shape", True)],
         [("static_alloc", True), ("static_shape", True), ("forward_bulk_size", 2), ("backward_bulk_size", 3)],
         [("static_alloc", True), ("static_shape", True), ("forward_bulk_size", 0), ("backward_bulk_size", 0)],
         [("forward_bulk_size", 4)]]


class Network:
    """What a generator decided: steps that either kind of array carries out."""

    def __init__(self, seed):
        self.seed, choose = seed, random.Random(seed)
        self.names = [f"v{at}" for at in range(choose.randint(1, 4))]
        self.steps, values = [], len(self.names)  # (what, inputs, numbers); each gives some values of ROWS x COLUMNS
        for at in range(choose.randint(1, 14)):
            what = choose.choice(["unary", "binary", "scalar", "dense", "norm", "reduce", "join", "parts", "view", "where", "same"])
            inputs = [choose.randrange(values) for _ in range(3)]
            self.steps.append((what, inputs, (at, choose.randrange(100))))
            values += 2 if what == "parts" else 1
        self.outputs = sorted(choose.sample(range(values), choose.randint(1, min(3, values))))

    def run(self, kind, values):
        """`kind`: mx.nd or mx.sym; the outputs of `values`."""
        values = list(values)
        for what, inputs, numbers in self.steps:
            made = getattr(self, "_" + what)(kind, *[values[at] for at in inputs], numbers)
            values.extend(made if isinstance(made, tuple) else [made])
        return [values[at] for at in self.outputs]

    def _name(self, kind, numbers):
        return {"name": f"n{numbers[0]}"} if kind is sym else {}

    def _unary(self, kind, a, _b, _c, numbers):
        function = [kind.tanh, kind.sigmoid, kind.relu, kind.square, kind.abs, kind.exp, kind.negative][numbers[1] % 7]
        return function(kind.tanh(a), **self._name(kind, numbers))

    def _binary(self, kind, a, b, _c, numbers):
        function = [kind.elemwise_add, kind.elemwise_sub, kind.elemwise_mul, kind.broadcast_maximum, kind.broadcast_mul][numbers[1] % 5]
        return function(a, b, **self._name(kind, numbers))

    def _scalar(self, _kind, a, _b, _c, numbers):
        return [a + 2, a * 0.5, 1 - a, a / 3][numbers[1] % 4]

    def _dense(self, kind, a, b, _c, numbers):
        weight = kind.slice_axis(kind.concat(b, b, dim=0), axis=0, begin=0, end=COLUMNS)
        return kind.FullyConnected(a, weight, no_bias=True, num_hidden=COLUMNS, **self._name(kind, numbers))

    def _norm(self, kind, a, _b, _c, numbers):
        if numbers[1] % 2 == 0:
            return kind.softmax(a, axis=-1, **self._name(kind, numbers))
        return kind.L2Normalization(a, **self._name(kind, numbers)) if hasattr(kind, "L2Normalization") else kind.log_softmax(a)

    def _reduce(self, kind, a, b, _c, numbers):
        function = [kind.sum, kind.mean, kind.max][numbers[1] % 3]
        return kind.broadcast_add(function(a, axis=numbers[1] % 2, keepdims=True), b, **self._name(kind, numbers))

    def _join(self, kind, a, b, _c, numbers):
        return kind.slice_axis(kind.concat(a, b, dim=1), axis=1, begin=numbers[1] % COLUMNS, end=numbers[1] % COLUMNS + COLUMNS)

    def _parts(self, kind, a, b, _c, numbers):
        made = kind.split(kind.concat(a, b, dim=0), num_outputs=2, axis=0, **self._name(kind, numbers))
        return made[1], made[0]

    def _view(self, kind, a, _b, _c, numbers):
        return kind.reshape(kind.transpose(kind.reshape(a, shape=(COLUMNS, ROWS))), shape=(ROWS, COLUMNS), **self._name(kind, numbers))

    def _where(self, kind, a, b, c, numbers):
        return kind.where(a > 0, b, c, **self._name(kind, numbers))

    def _same(self, _kind, a, _b, _c, _numbers):
        return a


def arrays(network, requests=None):
    numbers = onp.random.RandomState(network.seed)
    made = [nd.array(numbers.uniform(-1, 1, (ROWS, COLUMNS))) for _ in network.names]
    for at, array in enumerate(made):
        array.attach_grad("write" if requests is None else requests[at])
    return made


def heads(outputs):
    return [nd.array(onp.random.RandomState(at).uniform(-1, 1, item.shape)) for at, item in enumerate(outputs)]


def copies(items):
    return [item.asnumpy() for item in items]


def same_bits(found, expected):
    return [item.tobytes() for item in found] == [item.tobytes() for item in expected]


def train(call, variables, steps=3):
    """Outputs and gradients of some steps."""
    found = []
    for _ in range(steps):
        with autograd.record():
            outputs = call(variables)
        autograd.backward(outputs, heads(outputs))
        found += copies(outputs) + copies([item.grad for item in variables])
    return found


def graph(network):
    return sym.Group(network.run(sym, [sym.var(name) for name in network.names]))


def caller(network, symbol, flags):
    op, used = CachedOp(symbol, flags), symbol.list_inputs()

    def call(variables):
        by_name = dict(zip(network.names, variables))
        outputs = op(*[by_name[name] for name in used])
        return outputs if isinstance(outputs, list) else [outputs]
    return call


@pytest.mark.parametrize("seed", SEEDS)
def test_all_ways_to_run_a_network_give_the_same_bits(seed):
    network = Network(seed)
    requests = [random.Random(seed).choice(["write", "add"]) for _ in network.names]
    by_operators = train(lambda variables: network.run(nd, variables), arrays(network, requests))
    symbol = graph(network)
    expected = train(caller(network, symbol, FLAGS[0]), arrays(network, requests))
    for ours, theirs in zip(expected, by_operators):
        onp.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5)
    for flags in FLAGS[1:]:
        assert same_bits(train(caller(network, symbol, flags), arrays(network, requests)), expected), flags
    again = sym.load_json(symbol.tojson())
    assert same_bits(train(caller(network, again, FLAGS[2]), arrays(network, requests)), expected)
    executed(network, symbol, requests, expected)


def executed(network, symbol, requests, expected):
    """An executor's steps, whose gradients are those of its arguments."""
    made = dict(zip(network.names, arrays(network)))
    used = symbol.list_arguments()
    gradients = {name: nd.zeros((ROWS, COLUMNS)) for name in used}
    executor = symbol.bind(mx.cpu(), {name: made[name] for name in used}, args_grad=gradients,
                           grad_req={name: requests[network.names.index(name)] for name in used})
    found = []
    for _ in range(3):
        outputs = executor.forward(is_train=True)
        executor.backward(heads(outputs))
        found += copies(outputs) + copies([gradients.get(name, nd.zeros((ROWS, COLUMNS))) for name in network.names])
    assert same_bits(found, expected)


def recorded(call, variables, path):
    train(call, variables, 2)
    nd.waitall()
    profiler.set_config(filename=str(path), profile_all=True)
    profiler.set_state("run")
    train(call, variables, 1)
    nd.waitall()
    profiler.set_state("stop")
    profiler.dump()
    items = [item for item in json.loads(path.read_text())["traceEvents"] if item.get("cat") == "operator"]
    return collections.Counter(item["name"] for item in items if item["ph"] in ("B", "X")), items


@pytest.mark.parametrize("seed", list(SEEDS)[::10])
def test_profiles_have_the_same_operators_and_bulks_hold_their_members(seed, tmp_path):
    network = Network(seed)
    symbol = graph(network)

    def operators(counted):
        return {name: count for name, count in counted.items()
                if "[" not in name and name not in ("ImperativeBulk", "DeleteVariable", "WaitForVar")}

    expected = None
    for number, flags in enumerate(FLAGS):
        counted, items = recorded(caller(network, symbol, flags), arrays(network), tmp_path / f"{number}.json")
        expected = expected or operators(counted)
        assert operators(counted) == expected, flags
        hold_their_members(items)


def hold_their_members(items):
    """Members lie inside of their bulk, one after the other, and a bulk with a name lists them."""
    bulks = {item["args"]["op"]: item for item in items if "[" in item["name"] or item["name"] == "ImperativeBulk"}
    members = collections.defaultdict(list)
    for item in items:
        if "bulk" in item["args"]:
            members[item["args"]["bulk"]].append(item)
    assert set(members) <= set(bulks)
    for number, listed in members.items():
        bulk, slack_us = bulks[number], 0.002
        listed.sort(key=lambda item: item["ts"])
        ends = [item["ts"] + item["dur"] for item in listed]
        assert bulk["ts"] <= listed[0]["ts"] + slack_us and ends[-1] <= bulk["ts"] + bulk["dur"] + slack_us
        assert all(end <= item["ts"] + slack_us for end, item in zip(ends, listed[1:]))
        if "[" in bulk["name"]:
            assert [name.split("{")[0] for name in bulk["name"].strip("[]").split(",")] == [item["name"] for item in listed]
