# SPDX-License-Identifier: Apache-2.0
"""A program that trains a small network with a profiler scope for each layer: what `mxprof report --by
scope` says of it is what its records add up to, read by a reader that shares nothing with the library,
and the list of memory names the owners."""
import collections
import csv
import json
import subprocess
import sys

import pytest

from harness import BUILD, HERE, run_program

sys.path.insert(0, str(HERE.parent / "format"))
from format_reader import Trace  # noqa: E402

STEPS, BATCH = 5, 4
LAYERS = {"fc1": (8, 16), "fc2": (16, 4)}  # inputs, outputs
PHASES = {1: "forward", 2: "backward", 3: "update"}
PROGRAM = f"""
import runtime_api as mx
LAYERS, STEPS, BATCH = {LAYERS!r}, {STEPS}, {BATCH}
""" + """
def scope(name):
    mx.call('MXSetProfilerScope', (name + ':').encode())
def filled(shape, value):
    made = mx.create(shape)
    mx.fill(made, [value] * shape[0] * (shape[1] if len(shape) > 1 else 1))
    return made
def replace(old, name, inputs, params):
    made, = mx.invoke(name, inputs, params)
    mx.free(old)
    return made
set_config(profile_all=True, aggregate_stats=True, continuous_dump=False, filename='t.json',
           native_filename='t.mxp', gpu_memory_profile_filename_prefix='memory')
set_state('run')
weights, grads = {}, {}
for name, (inputs, outputs) in LAYERS.items():
    scope(name)
    weights[name] = [filled((outputs, inputs), 0.1), filled((outputs,), 0)]
    grads[name] = mx.attach_grad(weights[name])
scope('data')
data, label = filled((BATCH, 8), 1), filled((BATCH,), 2)
for step in range(STEPS):
    with mx.Record():
        scope('fc1')
        hidden, = mx.invoke('FullyConnected', [data] + weights['fc1'], {'num_hidden': 16})
        hidden = replace(hidden, 'Activation', [hidden], {'act_type': 'relu'})
        scope('fc2')
        hidden = replace(hidden, 'FullyConnected', [hidden] + weights['fc2'], {'num_hidden': 4})
        scope('loss')
        loss = replace(hidden, 'SoftmaxOutput', [hidden, label], {})
    scope('<unk>')
    mx.backward(loss)
    for name in LAYERS:
        scope(name)
        for weight, grad in zip(weights[name], grads[name]):
            mx.invoke('sgd_update', [weight, grad], {'lr': 0.1}, [weight])
    mx.free(loss)
mx.wait_all()
set_state('stop')
dump()
"""


@pytest.fixture(scope="module", name="run")
def run_fixture(tmp_path_factory):
    directory = tmp_path_factory.mktemp("scopes")
    done = run_program(PROGRAM, directory)
    assert (done.code, done.stderr) == (0, "")
    trace = Trace((directory / "t.mxp").read_bytes())
    records = [record for chunk in trace.chunks for record in trace.records(chunk)]
    return directory, records


@pytest.fixture(scope="module", name="rows")
def rows_fixture(run):
    printed = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", "--by", "scope", "--json", run[0] / "t.mxp"],
                             check=True, capture_output=True, text=True, timeout=60).stdout
    return json.loads(printed)["Time"]["Scopes"]


def operators_of(records):
    """Scope and phase -> durations in ms. What bulks take themselves is in no layer."""
    found = collections.defaultdict(list)
    for record in records:
        if record["kind"] == "operator" and record["phase"] != 0 and record["scope"]:
            key = f"{record['scope'].rstrip(':')} ({PHASES[record['phase']]})"
            found[key].append((record["end_ns"] - record["begin_ns"]) / 1e6)
    return found


def plain(row):
    """The name of a row without the colon that MXNet's scopes end with."""
    scope, _, phase = row.partition(" (")
    return scope.rstrip(":") + (" (" + phase if phase else "")


def test_each_layer_has_the_time_of_its_operators(run, rows):
    found = operators_of(run[1])
    shown = {plain(name): row for name, row in rows.items()
             if " (" in name and not name.startswith("<no scope>")}
    assert set(shown) == set(found)
    for name, durations in found.items():
        row = shown[name]
        assert row["Count"] == len(durations)
        assert row["Total"] == pytest.approx(sum(durations), abs=2e-4)
        assert row["Min"] == pytest.approx(min(durations), abs=2e-4)
        assert row["Max"] == pytest.approx(max(durations), abs=2e-4)


def test_layers_have_every_phase(rows):
    """Beside a layer's operators the ends of its arrays may count, and what starts at first use."""
    counts = {plain(name): row["Count"] for name, row in rows.items()}
    for layer, operators in {"fc1": 2, "fc2": 1}.items():
        assert counts[f"{layer} (forward)"] >= operators * STEPS
        assert counts[f"{layer} (backward)"] >= operators * STEPS
        assert counts[f"{layer} (update)"] >= 2 * STEPS
    assert counts["loss (forward)"] >= STEPS
    assert counts["loss (backward)"] >= STEPS
    assert "loss (update)" not in counts


def test_rows_add_up_to_the_time_inside_any_span(run, rows):
    """Spans of a thread nest, so what is in no other span is all there is."""
    directory, records = run
    trace = Trace((directory / "t.mxp").read_bytes())
    total = 0
    for thread in {chunk["thread"] for chunk in trace.chunks}:
        spans = sorted((record["begin_ns"], -record["end_ns"])
                       for chunk in trace.chunks if chunk["thread"] == thread
                       for record in trace.records(chunk)
                       if record["kind"] in ("span", "operator"))
        end = 0
        for begin, minus_end in spans:
            if -minus_end > end:
                total += -minus_end - max(begin, end)
                end = -minus_end
    assert records
    assert sum(row["Total"] for row in rows.values()) == pytest.approx(total / 1e6, abs=1e-3)


def test_memory_names_its_owners(run):
    directory, records = run
    file, = directory.glob("memory-pid_*.csv")
    with file.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["Device"] for row in rows} == {"cpu/0"}
    listed, live = collections.Counter(), collections.Counter()
    for row in rows:
        listed[row["Attribute Name"].split(":")[0]] += int(row["Requested Size"])
    for record in records:
        if record["kind"] == "memory":
            sign = -1 if record["flags"] & 1 else 1
            live[record["scope"].rstrip(":") or "<unk>"] += sign * record["requested_bytes"]
    # Weight, bias and their gradients; the data and the labels.
    for layer, (inputs, outputs) in LAYERS.items():
        assert listed[layer] == live[layer] == 2 * 4 * (inputs + 1) * outputs
    assert listed["data"] == live["data"] == 4 * (BATCH * 8 + BATCH)
    last = max((record for record in records if record["kind"] == "memory"),
               key=lambda record: record["ticks"])
    assert sum(listed.values()) == sum(live.values()) == last["live_bytes"]
