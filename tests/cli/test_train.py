# SPDX-License-Identifier: Apache-2.0
"""examples/train.c as `make demo-train` runs it: the network learns, and what the profile tells agrees with what
the program is known to do, batch by batch and layer by layer. JSON is read by Python's parser."""
import collections
import csv
import json
import os
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
BATCHES = 40  # of the profiled epoch
# Operators of a step, of layers that learn two arrays each.
LAYERS = {"conv1": ["Convolution", "Activation"], "pool1": ["Pooling"], "conv2": ["Convolution", "Activation"],
          "pool2": ["Pooling"], "dense1": ["FullyConnected", "Activation"], "dense2": ["FullyConnected"]}
# Weight and bias; each is kept with its gradient and its momentum.
ELEMENTS = {"conv1": 8 * 9 + 8, "conv2": 16 * 8 * 9 + 16, "dense1": 64 * 256 + 64, "dense2": 10 * 64 + 10}
LEARNING = list(ELEMENTS)


@pytest.fixture(scope="module", name="demo")
def demo_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    result = subprocess.run([BUILD / "train", folder], cwd=folder, check=True, capture_output=True, text=True,
                            timeout=120)
    return folder, result


@pytest.fixture(scope="module", name="events")
def events_fixture(demo):
    return json.loads((demo[0] / "profile.json").read_text())["traceEvents"]


def report(demo, *options):
    printed = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--json", *options, demo[0] / "profile.mxp"],
                             check=True, capture_output=True, text=True, timeout=60).stdout
    return json.loads(printed)


def test_loss_decreases_and_new_pictures_are_told_apart(demo):
    epochs = re.findall(r"^epoch \d+: loss ([\d.]+), ([\d.]+) % right; of new pictures ([\d.]+) %",
                        demo[1].stdout, re.MULTILINE)
    losses = [float(loss) for loss, _, _ in epochs]
    assert len(losses) == 6
    assert losses == sorted(losses, reverse=True)
    assert losses[0] < 2.2 and losses[-1] < 0.5 * losses[0]  # log 10 = 2.3 is guessing
    assert float(epochs[-1][1]) > 90 and float(epochs[-1][2]) > 85


def test_leaves_its_files_and_names_them(demo):
    folder, result = demo
    names = sorted(path.name for path in folder.iterdir())
    assert names[1:] == ["profile.json", "profile.mxp", "profile.txt"]
    assert re.fullmatch(r"memory-pid_\d+\.csv", names[0])
    for name in names[1:]:
        assert str(folder / name) in result.stdout


def test_screen_shows_the_beginning_of_each_section(demo):
    table = (demo[0] / "profile.txt").read_text()
    for section in re.findall(r"^(\S.*)\n====", table, re.MULTILINE):
        assert section in demo[1].stdout
        rows = re.search(rf"^{section}\n=+\n(?:.*\n){{2}}(.*)\n", table, re.MULTILINE)
        assert rows[1] in demo[1].stdout
    assert "\n...\n" in demo[1].stdout


def test_operators_are_those_of_the_program(demo):
    expected = collections.Counter(name for names in LAYERS.values() for name in names)
    operators = report(demo)["Time"]["operator"]
    for name, count in expected.items():
        assert operators[name]["Count"] == count * BATCHES
        assert operators[f"_backward_{name}"]["Count"] == count * BATCHES
    assert operators["SoftmaxOutput"]["Count"] == BATCHES
    assert operators["sgd_mom_update"]["Count"] == 2 * len(LEARNING) * BATCHES


def test_layers_have_rows_for_forward_backward_and_update(demo):
    scopes = report(demo, "--by", "scope")["Time"]["Scopes"]
    for layer, names in LAYERS.items():
        # The first operator that needs it sets up the random generators.
        assert scopes[f"{layer} (forward)"]["Count"] - len(names) * BATCHES in ((0, 1) if layer == "conv1" else (0,))
        assert scopes[f"{layer} (backward)"]["Count"] >= len(names) * BATCHES
        assert scopes[f"{layer} (forward)"]["Total"] > 0
        assert (f"{layer} (update)" in scopes) == (layer in LEARNING)
    for layer in LEARNING:
        assert scopes[f"{layer} (update)"]["Count"] == 2 * BATCHES


def test_layers_own_at_least_what_they_learn(demo):
    owners = report(demo, "--by", "scope")["Memory"]["Device Storage"]
    assert set(LAYERS) | {"loss", "<no scope>"} <= set(owners)
    for layer, count in ELEMENTS.items():
        assert owners[layer]["Max"] >= 3 * 4 * count / 1000  # kB
    assert owners["<no scope>"]["Max"] >= 48 * 64 * 16 * 16 * 4 / 1000  # the pictures


def test_steps_have_a_rate(demo):
    step, = report(demo)["Frames"]
    assert (step["Section"], step["Name"], step["Count"]) == ("Training,frame", "step", BATCHES)


def test_operators_run_apart_from_the_calls(events):
    threads = collections.defaultdict(set)
    for event in events:
        # The end of an array nobody uses any more needs no worker.
        if event["ph"] == "X" and event["name"] != "DeleteVariable":
            threads[event["cat"]].add(event["tid"])
    assert len(threads["MXNET_C_API"]) == 1
    assert not threads["MXNET_C_API"] & threads["operator"]


def test_nothing_is_copied_before_the_operator_that_makes_it_has_ended(events):
    """A step ends with a copy of the probabilities: the call returns after the step's SoftmaxOutput."""
    copies, losses = (sorted((event["ts"] + event["dur"] for event in events
                              if event["ph"] == "X" and event["name"] == name))
                      for name in ("MXNDArraySyncCopyToCPU", "SoftmaxOutput"))
    assert len(copies) == len(losses) == BATCHES
    assert all(loss <= copy for loss, copy in zip(losses, copies))


def test_allocations_name_the_layer_that_keeps_them(demo):
    file, = demo[0].glob("memory-pid_*.csv")
    with file.open() as stream:
        rows = list(csv.DictReader(stream))
    kept = collections.Counter()
    for row in rows:
        kept[row["Attribute Name"].split(":")[0]] += int(row["Requested Size"])
    assert {layer: kept[layer] for layer in LEARNING} == {layer: 3 * 4 * n for layer, n in ELEMENTS.items()}
