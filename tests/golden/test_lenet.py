# SPDX-License-Identifier: Apache-2.0
"""A step of LeNet, eager, against what the original recorded of the same step: with and without
statistics, with bulks of other sizes, under NaiveEngine, both lines, both front ends. Threads of the
original meet as they like, so there the order counts under NaiveEngine only."""
import collections
import json
import math

import pytest

from harness import EXPECTED, run_program
from names_calls import NOT_HERE, UNCOUNTED

GOLDEN = json.loads((EXPECTED / "lenet_eager.json").read_text())
CASES = [(line, variant) for line, variants in GOLDEN.items() for variant in variants]
# Of the gradient that the second output of the original's pooling would have; ours has one output.
HIDDEN_OUTPUTS = {"_zeros_without_dtype"}
BULK = "ImperativeBulk"
BULK_SIZES = {"": 15, "bulk3": 3}
ENVIRONMENT = {
    "naive": {"MXNET_ENGINE_TYPE": "NaiveEngine"},
    "nobulk": {"MXNET_EXEC_BULK_EXEC_TRAIN": "0", "MXNET_EXEC_BULK_EXEC_INFERENCE": "0"},
    "bulk3": {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN": "3"},
}
PROGRAM = """
import lenet_program
lenet_program.main({line!r}, {front!r}, {phase!r}, {aggregate})
"""


def counted(names):
    every = []
    for name in names:
        name, _, count = name.partition(" x")
        every += [name] * int(count or 1)
    return [name for name in every if name not in UNCOUNTED | NOT_HERE | HIDDEN_OUTPUTS | {BULK}]


@pytest.mark.parametrize("line,variant", CASES)
def test_lenet(line, variant, tmp_path):
    front, phase, _, *tags = variant.split("_")
    tag = tags[0] if tags else ""
    source = PROGRAM.format(line=line, front=front, phase=phase, aggregate=tag == "aggr")
    done = run_program(source, tmp_path, ENVIRONMENT.get(tag))
    assert done.code == 0, done.stderr
    found, golden = json.loads(done.lines[0]), GOLDEN[line][variant]
    # With statistics the original forms no bulks; here their members are shown.
    operators = counted(found["members" if tag == "aggr" else "operators"])
    wanted = counted(golden["operators"])
    assert collections.Counter(operators) == collections.Counter(wanted)
    if tag == "naive":
        assert operators == wanted
    backward = len(found["members"]) - len(found["operators"]) + found["operators"].count(BULK)
    if phase == "train" and tag in BULK_SIZES:
        assert found["operators"].count(BULK) == math.ceil(backward / BULK_SIZES[tag]) > 0
    else:
        assert backward == 0 or tag == "aggr"
    if "api" in golden:
        calls, wanted = collections.Counter(found["api"]), dict(golden["api"])
        if line == "2.0.0b1":  # the other operators are packed functions there
            assert calls["MXImperativeInvoke"] > wanted.pop("MXImperativeInvoke")
        assert {name: calls[name] for name in wanted} == wanted


def test_members_of_bulks_are_the_operators_without_bulks(tmp_path):
    """What bulks hide in the original's trace stands in ours."""
    source = PROGRAM.format(line="1.9.1", front="nd", phase="train", aggregate=False)
    bulks, single = [json.loads(run_program(source, tmp_path, ENVIRONMENT.get(tag)).lines[0])
                     for tag in ("", "nobulk")]
    assert counted(bulks["members"]) == counted(single["operators"])
