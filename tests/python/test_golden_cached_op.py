# SPDX-License-Identifier: Apache-2.0
"""Prepared calls by flag, variable and class, against what both lines of the original gave: numbers of every run,
bulks, operators and C calls of one recorded step. Where the original's profile is wrong, what is right is told here."""
import collections
import json
import re

import pytest

from cached_op_borders import ORIGINAL, OURS, records
from golden_cases import LINES, reason, same
from python_program import SOURCE, run_file

SWITCHES = ("static_alloc", "static_shape")


def read(line):
    path = SOURCE / f"tests/golden/expected/graphs_cached_op_{LINES[line]}.jsonl"
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["run"]: row for row in rows}


def parsed(name):
    """The run of a line's name: variables, front, and what the program is asked."""
    net, front, phase, mode, *rest = name.split()
    flags, variables = {}, {}
    for key, value in (word.split("=") for word in rest if "=" in word):
        if key.startswith("MXNET_"):
            variables[key] = value
        else:
            flags[key] = bool(int(value)) if key in SWITCHES else int(value)
    what = next((word[5:] for word in rest if word.startswith("only_")), "all")
    return variables, front, [net, phase, mode, flags, "aggregate" in rest, what]


def run_all(line, names, directory):
    groups = collections.defaultdict(list)
    for name in names:
        variables, front, run = parsed(name)
        groups[tuple(variables.items()), front].append((name, run))
    seen = {}
    for (variables, front), runs in groups.items():
        program = str(SOURCE / "tests/golden/graphs/cached_op.py")
        done = run_file([program, front, json.dumps([run for _, run in runs])], directory, 300,
                        GOLDEN_LINE=line, **dict(variables))
        lines = done.out.splitlines()
        assert len(lines) == len(runs), done.err
        seen.update((name, json.loads(text)) for (name, _), text in zip(runs, lines))
    return seen


_RUNS = {}


@pytest.fixture(name="runs", params=list(LINES))
def _runs(request, tmp_path_factory):
    """Line, what the original gave, what we give."""
    if request.param not in _RUNS:
        wanted = read(request.param)
        _RUNS[request.param] = wanted, run_all(request.param, wanted, tmp_path_factory.mktemp("runs"))
    return (request.param, *_RUNS[request.param])


def test_numbers_and_errors(runs):
    line, wanted, seen = runs
    assert len(wanted) == {"1": 200, "2": 188}[line]
    for name, row in wanted.items():
        ours = seen[name]
        if "error" in row:
            assert ours["error"] == row["error"] and reason(row["text"].split(": ", 3)[-1]) in ours["text"], name
            continue
        assert "error" not in ours, (name, ours)
        assert same([float(value) for value in row["outputs"]], ours["outputs"]), name
        assert same([float(value) for value in row["gradient_abs_sums"]], ours["gradients"]), name


ENGINES = {"DeleteVariable", "WaitForVar", "SetValueOp", "Reorder"}
# The original copies where Dropout(0) does nothing, and fills gradients that nobody wants.
LEFT_OUT = {"_copy", "_np_copy", "_npi_copy", "_zeros_without_dtype"}
API = ("MXAutogradBackwardEx", "MXAutogradSetIsRecording", "MXAutogradSetIsTraining", "MXNDArrayWaitAll")


def is_segment(name):
    return name.startswith("[")


def original_operators(row):
    """Counts of the original's records that stand for operators."""
    found = collections.Counter()
    for text in row["operators"]:
        name, times = re.fullmatch(r"(.*?)(?: x(\d+))?", text).groups()
        if name not in ENGINES | LEFT_OUT:
            found[name] += int(times or 1)
    return found


def operators(run):
    """Counts of the single operators, wherever they ran."""
    return collections.Counter(name for name, _ in run["operators"]
                               if name not in ENGINES | {"ImperativeBulk"} and not is_segment(name))


def recorded(runs, *words, without=()):
    """The runs with all of these words, and none of those, that gave values."""
    _, _, seen = runs
    found = {name: run for name, run in seen.items() if "error" not in run
             and all(word in name for word in words) and not any(word in name for word in without)}
    assert found
    return found


def test_every_operator_is_recorded_by_any_flag(runs):
    """As in the original's run without a bulk: its other profiles of prepared calls leave out the members of bulks."""
    _, wanted, _ = runs
    for name, run in recorded(runs, "hybrid", without=("only_",)).items():
        plain = " ".join(name.split()[:4]) + " MXNET_ENGINE_TYPE=NaiveEngine"
        if plain in wanted:
            assert operators(run) == original_operators(wanted[plain]), name


def test_eager_operators(runs):
    line, wanted, _ = runs
    negative = {"_npi_negative": "_npi_multiply_scalar"} if line == "1" else {}
    for name, run in recorded(runs, "eager", without=("only_",)).items():
        forward = collections.Counter({negative.get(key, key): number for key, number in operators(run).items()
                                       if "backward" not in key and key != "negative"})
        assert forward == original_operators(wanted[name]) - collections.Counter({"ImperativeBulk": 99}), name


def test_segments_have_full_names_and_their_members_inside(runs):
    """The original's names miss the bracket and end after 127 bytes; members are not there."""
    for name, run in recorded(runs, "static_shape", without=("only_",)).items():
        members = collections.Counter(parent for _, parent in run["operators"] if parent is not None)
        for number, parent in run["parents"].items():
            if is_segment(parent):
                assert parent.endswith("}]") and parent.count("{name=") == members[int(number)], (name, parent)


def recorded_names(row):
    """Of the original: how often there is which name, with the members of segments; those that are cut apart."""
    whole, cut = collections.Counter(), []
    for text in row["operators"]:
        name, times = re.fullmatch(r"(.*?)(?: x(\d+))?", text).groups()
        if name in ENGINES - {"SetValueOp"}:
            continue
        members = re.sub(r"\{[^}]*(\}|$)", "", name).strip("[]")
        is_cut = len(name) >= 127 or "{" in name and not name.endswith("]")
        if is_cut:
            cut += [members] * int(times or 1)
        else:
            whole[members] += int(times or 1)
    return whole, cut


def told_names(told):
    names = collections.Counter()
    for item in told:
        names[item if isinstance(item, str) else "ImperativeBulk" if item[0] == "bulk" else ",".join(item[1])] += 1
    return names


def test_the_rules_tell_where_bulks_of_the_original_begin_and_end(runs):
    line, wanted, _ = runs
    compared = 0
    for name, row in wanted.items():
        if "error" in row:
            continue
        whole, cut = recorded_names(row)
        rest = told_names(records(line, parsed(name), ORIGINAL))
        rest.subtract(whole)
        for begin in cut:
            rest[next((key for key in rest if rest[key] > 0 and key.startswith(begin)), begin)] -= 1
        assert not any(rest.values()), (name, {key: number for key, number in rest.items() if number})
        compared += 1
    assert compared == {"1": 196, "2": 184}[line]


def our_records(run):
    """Operators without a parent, and bulks and segments with their members in order."""
    kinds = {int(key): "segment" if is_segment(name) else "bulk" for key, name in run["parents"].items()
             if is_segment(name) or name == "ImperativeBulk"}
    members = {key: [] for key in kinds}
    alone = []
    for name, parent in run["operators"]:
        if parent is not None:
            members[parent].append(name)
        elif not is_segment(name) and name not in ENGINES - {"SetValueOp"} | {"ImperativeBulk"}:
            alone.append(name)
    return alone + [(kind, tuple(members[key])) for key, kind in kinds.items()]


def test_bulks_begin_and_end_where_the_rules_tell(runs):
    """By the rules that docs/migration.md says in "Bulks"; all else is as in the original."""
    line, _, _ = runs
    for name, run in recorded(runs).items():
        assert sorted(map(str, our_records(run))) == sorted(map(str, records(line, parsed(name), OURS))), name


def test_classes(runs):
    """Segments of a static graph are of the class symbolic alone, and a dynamic one is imperative."""
    for name, run in recorded(runs, "hybrid", "only_").items():
        segments = sum(is_segment(operator) for operator, _ in run["operators"])
        assert bool(segments) == ("static_shape" in name and "only_symbolic" in name), name
    for name, run in recorded(runs, "only_symbolic", without=("static_shape",)).items():
        assert not run["operators"] and not run["api"], name
    for name, run in recorded(runs, "only_api").items():
        assert run["api"] and not operators(run), name


def test_calls_of_c_functions_are_counted_once(runs):
    """The original counts a call of a cached operator twice, in 1.9.1."""
    _, wanted, _ = runs
    for name, run in recorded(runs, without=("only_symbolic", "only_imperative")).items():
        expected = wanted[name]["api"]
        assert {key: run["api"].get(key) for key in API} == {key: expected.get(key) for key in API}, name
        calls = 0 if "eager" in name else 2 if " train" in name else 1
        assert run["api"].get("MXInvokeCachedOp", 0) == calls, name
        assert expected.get("MXInvokeCachedOpEx", calls) == calls, name
    for name, run in recorded(runs, "only_").items():
        assert "only_api" in name or not run["api"], name


def test_memory_is_recorded_when_asked(runs):
    for name, run in recorded(runs).items():
        assert run["memory"] == ("only_" not in name), name
