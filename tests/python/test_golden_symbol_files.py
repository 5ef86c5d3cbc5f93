# SPDX-License-Identifier: Apache-2.0
"""Files of symbols: what is written is what 1.9.1 writes, to the last byte, and both lines' files are read."""
import json
import re

import pytest

from golden_cases import LINES, cases, count, differences, golden, parsed, unscoped
from python_program import SOURCE, run_file

NETS = ("mlp", "lenet_bn", "control", "slices", "shared", "rnn", "reshape_chain", "custom")


def folder(line):
    return SOURCE / f"tests/golden/expected/symbol_files_{LINES[line]}"


def made(program, line, directory, *arguments):
    """Runs a program that writes its files to the folder `made`; gives what it printed."""
    (directory / "made").mkdir()
    done = run_file([str(SOURCE / f"tests/golden/graphs/{program}.py"), *arguments, "made"], directory, 300,
                    GOLDEN_LINE=line)
    assert done.code == 0, done.err
    return done.out


def test_files_are_those_of_1x(tmp_path):
    made("symbols", "1", tmp_path, "--json")
    for name in NETS:
        assert (tmp_path / f"made/{name}.json").read_bytes() == (folder("1") / f"{name}.json").read_bytes()


def test_files_say_what_those_of_2x_say(tmp_path):
    made("symbols", "2", tmp_path, "--json")
    for name in NETS:
        wanted = unscoped(parsed((folder("2") / f"{name}.json").read_text(encoding="utf-8")))
        assert parsed((tmp_path / f"made/{name}.json").read_text(encoding="utf-8")) == wanted


def nameless(value):
    """What export left without the names of parameters, which are ours (docs/migration.md)."""
    kinds = sorted((name.partition(":")[0], *shape) for name, shape in value["parameters"].items())
    return value["files"], kinds


def operators(text):
    return [node["op"] for node in json.loads(text)["nodes"]]


@pytest.mark.parametrize("line,exports", [("1", 6), ("2", 3)])
def test_networks_of_gluon_are_exported_with_the_same_operators_and_shapes(tmp_path, line, exports):
    out, wanted = cases(made("exports", line, tmp_path)), golden("json_gluon", line)
    assert len(wanted) == exports
    wanted["export rnn np"] = golden("json_gluon", "1")["export rnn np"]  # weights apart: docs/migration.md
    assert {name: nameless(case["value"]) for name, case in out.items()} == {
        name: nameless(case["value"]) for name, case in wanted.items()}
    written = sorted((tmp_path / "made").iterdir())
    assert len(written) == exports
    for path in written:
        if path.name == "gluon_rnn_np.json":
            assert "RNN" in operators(path.read_text(encoding="utf-8"))
            continue
        assert sorted(operators(path.read_text(encoding="utf-8"))) == sorted(
            operators((folder(line) / path.name).read_text(encoding="utf-8"))), path.name


# ---- the other line's files --------------------------------------------------------------------
def crossed(line):
    """The original's values, and: no scope where there is none, and the text of both lines is one."""
    table = {}
    for name, case in golden("json_cross", line).items():
        value = unscoped(case.get("value"))
        if value is not None:
            value.update({"same_text_when_saved": True} if "same_text_when_saved" in value else {})
            table[name] = lambda seen, wanted=value: differ(wanted, seen) == []
    return table


def differ(wanted, seen):
    from golden_cases import same
    return [key for key in wanted.keys() | seen.keys() if not same(wanted.get(key), seen.get(key))]


def doubled(value):
    """A custom operator of a file of 2.0, which ends a process of 1.9.1."""
    own = golden("symbols", "1")["net custom: lists"]["value"]
    return value["attr_dict"] == own["attr_dict"] and value["same_text_when_saved"] is True and (
        value["lists"]["arguments"] == own["arguments"]) and len(value["outputs"]) == 1


def pooled(value):
    """A parameter of Pooling that 1.9.1 does not know."""
    return value["lists"]["arguments"] == ["data", "0.weight", "0.bias", "1.gamma", "1.beta", "5.weight", "5.bias"] and (
        value["attr_dict"]["node_7"]["output_size"] == "None")


def test_files_of_2x_are_read(tmp_path):
    assert count("json_cross", "1") == 11
    table = {**crossed("1"), "load custom.json": doubled, "load gluon_lenet_bn_np.json": pooled}
    assert not differences("json_cross", "1", table, tmp_path, folder("2"))


def test_files_of_1x_are_read(tmp_path):
    assert count("json_cross", "2") == 14
    assert not differences("json_cross", "2", crossed("2"), tmp_path, folder("1"))
