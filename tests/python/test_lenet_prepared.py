# SPDX-License-Identifier: Apache-2.0
"""LeNet eager and prepared in each way, under each variable of bulks and under NaiveEngine: the operators of a
recorded step against the original's, one record for each; the same scopes, phases and numbers in all ways. Where
bulks end is told in docs/migration.md, section Bulks."""
import collections
import json
import math
import re

import pytest

from python_program import SOURCE, run_file

GOLDEN = json.loads((SOURCE / "tests/golden/expected/lenet_prepared.json").read_text(encoding="utf-8"))
ENVIRONMENT = {
    "plain": {},
    "table": {},
    "naive": {"MXNET_ENGINE_TYPE": "NaiveEngine"},
    "nobulk": {"MXNET_EXEC_BULK_EXEC_TRAIN": "0", "MXNET_EXEC_BULK_EXEC_INFERENCE": "0"},
    "bulk3": {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN": "3"},
}
WAYS = [f"{front}_{phase}_{mode}" for front in ("nd", "np") for phase in ("train", "infer")
        for mode in ("eager", "hybrid", "static_alloc", "static")]
NOT_COMPARED = {"DeleteVariable", "WaitForVar"}
NETWORK, LOSS = 10, 4  # operators of the forward


@pytest.fixture(name="recorded", scope="module", params=ENVIRONMENT)
def recorded_steps(request, tmp_path_factory):
    arguments = [str(SOURCE / "tests/python/lenet_prepared_program.py"), *["table"] * (request.param == "table")]
    done = run_file(arguments, tmp_path_factory.mktemp("lenet"), 120, **ENVIRONMENT[request.param])
    assert (done.code, done.err) == (0, "")
    return request.param, json.loads(done.out)


def golden(way):
    line = "1.9.1" if way.startswith("nd") else "2.0.0b1"
    return GOLDEN[line][way.split("_")[1]]


def wanted_operators(way):
    every = []
    for name in golden(way)["operators"]:
        name, _, count = name.partition(" x")
        every += [name] * int(count or 1)
    return every


def is_parent(name):
    return name == "ImperativeBulk" or name.startswith("[")


def members(step):
    """What runs, without its parents."""
    return [each for each in step["operators"] if not is_parent(each[0]) and each[0] not in NOT_COMPARED]


def plain_scope(scope):
    """The scope as another network of the same layers has it."""
    return re.sub(r"\d+", "", scope)


@pytest.mark.parametrize("way", WAYS)
def test_each_operator_of_the_original_has_one_record(recorded, way):
    tag, steps = recorded
    found = [each[0] for each in members(steps[way])]
    assert collections.Counter(found) == collections.Counter(wanted_operators(way))
    if tag == "naive":
        assert found == wanted_operators(way)


@pytest.mark.parametrize("way", WAYS)
def test_parents_hold_members_and_are_as_many_as_the_sizes_say(recorded, way):
    tag, steps = recorded
    _, phase, mode = way.split("_", 2)
    parents = {each[3]: each[0] for each in steps[way]["operators"] if is_parent(each[0])}
    assert {each[4] for each in members(steps[way])} - {None} == set(parents)
    if tag in ("naive", "nobulk"):
        assert parents == {}
    elif mode in ("hybrid", "static_alloc"):
        size = 3 if tag == "bulk3" else 15  # of prepared calls in inference, too
        def bulks(*lengths):
            return sum(math.ceil(length / size) for length in lengths)
        calls = [NETWORK, LOSS] if phase == "train" else [NETWORK]
        gradients = calls[::-1] if phase == "train" else []
        recorded_there = golden(way)["bulks"].get(mode + "_bulk3" * (size == 3))
        assert recorded_there in (None, bulks(*calls, *gradients))
        # Here the bulk of backward goes on past the loss.
        assert len(parents) == bulks(*calls, *[sum(gradients)] * (phase == "train"))
        assert set(parents.values()) == {"ImperativeBulk"}
    elif mode == "static":
        assert all(each[4] in parents for each in members(steps[way])
                   if not each[0].endswith("sgd_update") and each[0] != "SetValueOp")


@pytest.mark.parametrize("way", [way for way in WAYS if not way.endswith("eager")])
def test_scopes_phases_and_numbers_are_those_of_the_eager_step(recorded, way):
    _, steps = recorded
    eager = steps["_".join(way.split("_")[:2]) + "_eager"]

    def by_layer(step):
        return collections.Counter((name, plain_scope(scope), phase) for name, scope, phase, *_ in members(step))
    assert by_layer(steps[way]) == by_layer(eager)
    phases = collections.defaultdict(set)
    for _, scope, phase in by_layer(steps[way]):
        phases[scope].add(phase)
    if way.startswith("np_train"):  # there each weight is updated by itself, in the scope of its layer
        for layer in ("conv", "dense"):
            assert {"forward", "backward", "update"} <= set().union(
                *(found for scope, found in phases.items() if layer in scope))
    assert steps[way]["numbers"] == pytest.approx(eager["numbers"], rel=1e-5, abs=1e-6)
