# SPDX-License-Identifier: Apache-2.0
"""Operators, tasks of custom operators, C calls and memory of whole programs against what the original's two lines
recorded of them. Each difference is named below with the words of docs/migration.md that say why, and no other may be:
a row of the table is a program, its differences are `here` minus the original."""
import collections
import json
import struct
from typing import NamedTuple

import pytest

from golden_profile_differences import CALLS_NOT_COUNTED, DIFFERENCES, NOT_COUNTED
from python_program import SOURCE, names, run_file

GOLDEN = json.loads((SOURCE / "tests/golden/expected/profiles.json").read_text(encoding="utf-8"))
NAIVE = {"MXNET_ENGINE_TYPE": "NaiveEngine"}
AUTOSTART = {"MXNET_PROFILER_AUTOSTART": "1"}


class Program(NamedTuple):
    """How a program is run; it leaves one trace."""

    words: list
    environment: dict


def started(**environment):
    return Program(["plain"], AUTOSTART | environment)


PROGRAMS = {
    "seed000_hybrid": Program(["example", "hybrid_network.py"], {}),
    "seed000_trace": Program(["example", "trace_of_a_matrix.py"], {}),
    "seed000_trace_twice": Program(["example", "first_run_effects.py"], {}),
    "seed000_trace_np": Program(["trace_np"], {}),
    "seed002_lenet": Program(["example", "lenet_iteration.py"], {}),
    "seed000_hybrid_v2": Program(["hybrid"], {}),
    "seed001_capi": Program(["capi"], {}),
    **{f"seed002_custom_{way}": Program(["custom", way], {}) for way in ("nd", "grad", "sym", "sym_noimp", "np", "npx")},
    **{f"seed002_custom_{way}_naive": Program(["custom", way], NAIVE) for way in ("nd", "sym")},
    "autostart_1": started(),
    "autostart_1_naive": started(MXNET_PROFILER_MODE="15", **NAIVE),
    **{f"autostart_1_mode{mode}": started(MXNET_PROFILER_MODE=str(mode)) for mode in (0, 1, 2, 4, 8, 15)},
}
# Memory that is freed and taken again makes more than the highest sample, which is all that is known of the original.
FREES_BETWEEN = {"seed000_hybrid", "seed000_hybrid_v2", "seed001_capi"}
# A worker allocates the batch of each iterator; on a busy machine the first one is given back before the second is there.
FREES_FIRST = {"seed001_capi"}
# docs/migration.md, section Profiles: the type of what NumPy made is kept in 1.9.1.
OF_FLOAT64 = {("1.9.1", "seed000_trace_np")}
NOT_IN_TASKS = ("::ResourceParallelRandomSetSeed", "::DeleteVariable")
CASES = [(line, program) for line, programs in GOLDEN.items() for program in programs if program in PROGRAMS]


class Profile(NamedTuple):
    """What is compared of a trace."""

    operators: collections.Counter
    tasks: list
    calls: collections.Counter
    memory: list


def short(name):
    """Functions for 64-bit sizes and with more parameters have names of their own."""
    for end in ("64", "Ex", "EX"):
        name = name.removesuffix(end)
    return name


def counted(counts):
    found = collections.Counter()
    for name, count in counts.items():
        if short(name.rpartition("::")[2]) not in NOT_COUNTED | CALLS_NOT_COUNTED:
            found[short(name)] += count
    return found


def grown(samples, older):
    """All that was allocated, with the first sample and the smallest; what is older than the run counts here, and
    for the original does not."""
    if not samples:
        return None
    before = [older, *samples]
    steps = [after - value for value, after in zip(before, samples)]
    return {"first": samples[0] - older, "min": min(samples) - older, "grown": sum(step for step in steps if step > 0)}


def profile(items):
    tasks = names(items, "Custom Operator")
    called = [name for name in tasks if not name.endswith("::pure_python")]
    memory = [item for item in items if item["ph"] == "C" and item["name"] == "Memory: cpu/0"]
    samples = [item["args"][item["name"]] for item in sorted(memory, key=lambda item: item["ts"])]
    return Profile(counted(collections.Counter(names(items, "operator") + called)),
                   [name for name in tasks if "DeleteVariable" not in name],
                   counted(collections.Counter(names(items, "MXNET_C_API"))), samples)


def write_digits(folder):
    folder.mkdir(parents=True)
    for stem, count in (("train", 600), ("t10k", 200)):
        head = struct.pack(">4I", 2051, count, 28, 28)
        (folder / f"{stem}-images-idx3-ubyte").write_bytes(head + bytes(784 * count))
        (folder / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">2I", 2049, count) + bytes(count))


def recorded(line, program, folder):
    write_digits(folder / "datasets/mnist")
    run = PROGRAMS[program]
    path = SOURCE / "tests/python/golden_profile_programs.py"
    done = run_file([str(path), line, *run.words], folder, 60, MXNET_HOME=str(folder), **run.environment)
    assert (done.code, done.err) == (0, "")
    trace, = folder.glob("*.json")
    return profile(done.trace(trace.name))


def differences(found, golden):
    return {name: found[name] - golden[name] for name in found.keys() | golden.keys() if found[name] != golden[name]}


def added(kind, of):
    found = collections.Counter()
    for difference in of:
        found.update(getattr(difference, kind))
    return {name: count for name, count in found.items() if count}


def assert_memory_of_a_step(samples, first):
    """The network is older than the run, and the first step goes on while it begins: known is the original's first
    block, and that what it takes for 0 is the network."""
    steps = [after - value for value, after in zip(samples, samples[1:])]
    assert first in steps and min(samples) > 0


@pytest.mark.parametrize("line, program", CASES)
def test_a_profile_differs_as_the_table_says(line, program, tmp_path):
    golden, known = GOLDEN[line][program], DIFFERENCES[line, program]
    found = recorded(line, program, tmp_path)
    assert differences(found.operators, counted(golden["operators"])) == added("operators", known)
    if "api" in golden:
        assert differences(found.calls, counted(golden["api"])) == added("calls", known)
    if golden["exit"] != 0 or not golden["memory"]:
        return  # the original's program ended in an error, or no memory is recorded
    wanted = golden["memory"]
    if program == "seed002_lenet":
        assert_memory_of_a_step(found.memory, wanted["first"])
        return
    if (line, program) in OF_FLOAT64:
        wanted = {name: value // 2 for name, value in wanted.items()}
    memory = grown(found.memory, 1000000 if "custom" in program else 0)
    assert memory["first"] == wanted["first"]
    assert memory["min"] == wanted["min"] or (program in FREES_FIRST and memory["min"] == 0)
    if program not in FREES_BETWEEN:
        assert memory["grown"] == wanted["max"] + sum(difference.bytes for difference in known)


@pytest.mark.parametrize("program", [name for name in GOLDEN["1.9.1"] if "tasks" in GOLDEN["1.9.1"][name]])
def test_tasks_of_a_custom_operator_are_in_order(program, tmp_path):
    wanted = [name for name in GOLDEN["1.9.1"][program]["tasks"] if not name.endswith(NOT_IN_TASKS)]
    assert recorded("1.9.1", program, tmp_path).tasks == wanted


def test_each_difference_is_told_in_the_page_of_differences():
    page = (SOURCE / "docs/migration.md").read_text(encoding="utf-8")
    known = {difference for of in DIFFERENCES.values() for difference in map(lambda each: each.words, of)}
    assert [words for words in sorted(known) if words not in page] == []
    assert [name for name in sorted(CALLS_NOT_COUNTED) if f"`{name}`" not in page] == []
    assert set(CASES) == set(DIFFERENCES)


@pytest.mark.parametrize("value, written", [("0", False), ("2", False), ("true", True)])
def test_other_words_of_the_environment(value, written, tmp_path):
    """The original takes 2 for 1, and aborts at true."""
    path = SOURCE / "tests/python/golden_profile_programs.py"
    done = run_file([str(path), "1.9.1", "plain"], tmp_path, 60, MXNET_PROFILER_AUTOSTART=value)
    assert done.code == 0 and ("is ignored" in done.err) == (value == "2")
    assert (tmp_path / "profile.json").exists() == written
