# SPDX-License-Identifier: Apache-2.0
"""A C++ program that finds its operators through the C interface builds a network of them, which learns."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
STEPS = 60
LAYERS = 3  # each with weight and bias


def trace(path):
    """Operators that are no bulks, with their counts."""
    items = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    names = [item["name"] for item in items if item.get("cat") == "operator" and item.get("ph") in ("B", "X")]
    return collections.Counter(name for name in names if "[" not in name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the program was compiled and has run: its printed lines are in `printed`."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    path = tmp_path_factory.mktemp("discover")
    program = path / "discover"
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror", f"-I{SOURCE / 'include'}",
                    str(SOURCE / "tests/golden/discover.cpp"), "-o", str(program), f"-L{BUILD}", "-lmxnet", f"-Wl,-rpath,{BUILD}"],
                   check=True, timeout=120)
    ended = subprocess.run([str(program)], cwd=path, text=True, capture_output=True, timeout=60,
                           env={key: value for key, value in os.environ.items() if not key.startswith(("MXNET_", "MXPROF_"))})
    assert ended.returncode == 0, ended.stderr
    (path / "printed").write_text(ended.stdout, encoding="utf-8")
    return path


def test_operators_are_found_with_what_they_take(folder):
    printed = (folder / "printed").read_text(encoding="utf-8")
    assert int(re.search(r"^operators (\d+)$", printed, re.M)[1]) > 400
    assert re.findall(r"^uses (\w+) of (\d) inputs", printed, re.M) == [
        ("FullyConnected", "3"), ("Activation", "1"), ("FullyConnected", "3"), ("Activation", "1"), ("Concat", "1"),
        ("FullyConnected", "3"), ("SoftmaxOutput", "2")]
    assert re.findall(r"counted by (\w+)", printed) == ["num_args"]


def test_the_network_learns(folder):
    losses = [float(text) for text in re.findall(r"^step \d+ loss (\S+)$", (folder / "printed").read_text(encoding="utf-8"), re.M)]
    assert len(losses) == STEPS and losses[0] == pytest.approx(0.7, abs=0.3)
    assert losses[-1] < losses[0] / 3 and losses[STEPS // 2] < losses[0]


def test_the_trace_has_its_operators(folder):
    found = trace(folder / "discover.json")
    for name, count in {"FullyConnected": LAYERS, "Activation": 2, "Concat": 1, "SoftmaxOutput": 1, "sgd_update": 2 * LAYERS}.items():
        assert found[name] == count * STEPS
        if name != "sgd_update":
            assert found[f"_backward_{name}"] == count * STEPS
    assert found["_random_uniform"] == 2 * LAYERS
