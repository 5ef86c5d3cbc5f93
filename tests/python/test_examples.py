# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python against what MXNet's guides say they show."""
import collections
import pathlib
import re

import pytest

from python_program import SOURCE, names, run_example


def samples(items, name):
    """The values of a counter, in time order."""
    found = [item for item in items if item["name"] == name and item["ph"] == "C"]
    return [value for item in sorted(found, key=lambda item: item["ts"])
            for value in item["args"].values()]


def calls(items):
    return collections.Counter(item["name"] for item in items
                               if item["ph"] == "X" and item["cat"] == "MXNET_C_API")


def operators(items):
    return [name for name in names(items, "operator")
            if name not in ("DeleteVariable", "WaitForVar", "ResourceParallelRandomSetSeed")]


def test_every_example_is_tried():
    for path in (SOURCE / "examples/python").glob("*.py"):
        text = "".join(other.read_text(encoding="utf-8")
                       for other in pathlib.Path(__file__).parent.glob("test_*.py"))
        assert path.stem in text, path.name


def test_trace_of_a_matrix(tmp_path):
    done = run_example("trace_of_a_matrix.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    items = done.trace("trace_profile.json")
    assert operators(items) == ["diag", "sum"]
    assert samples(items, "Memory: cpu/0") == [36, 48, 52]
    # As many as the guide's table has; an array asks for its shape once.
    assert calls(items) == {"MXNDArrayCreate": 1, "MXNDArrayGetShape": 1, "MXNDArrayGetDType": 1,
                            "MXNDArraySyncCopyFromCPU": 1, "MXImperativeInvoke": 2,
                            "MXNDArrayWaitAll": 1}
    for section in ("Device Storage", "MXNET_C_API", "operator"):
        assert f"\n{section}\n====" in done.out


def test_first_run_effects(tmp_path):
    done = run_example("first_run_effects.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    items = done.trace("trace_profile.json")
    assert operators(items) == ["diag", "sum", "diag", "sum"]
    assert samples(items, "Memory: cpu/0")[:6] == [36, 48, 52, 88, 100, 104]
    assert names(items, "operator").count("ResourceParallelRandomSetSeed") <= 1


def test_wrong_timing(tmp_path):
    done = run_example("wrong_timing.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    push, wait = map(float, re.findall(r": ([\d.]+) sec", done.out))
    assert push < wait
    items = done.trace("timing.json")
    assert operators(items) == ["_npi_uniform", "_npi_dot"]
    spans = {item["name"]: item for item in items if item["ph"] == "X"}
    product, copy = spans["_npi_dot"], spans["MXNDArraySyncCopyToCPU"]
    assert copy["ts"] + copy["dur"] >= product["ts"] + product["dur"]


@pytest.mark.parametrize("engine", ["", "NaiveEngine"])
def test_custom_operator(tmp_path, engine):
    done = run_example("custom_operator.py", tmp_path, MXNET_ENGINE_TYPE=engine)
    assert (done.code, done.err) == (0, "")
    items = done.trace("profile.json")
    found = [name for name in names(items, "Custom Operator")
             if not name.endswith(("DeleteVariable", "ResourceParallelRandomSetSeed"))]
    assert found == ["MyAddOne::pure_python", "MyAddOne::_plus_scalar", "MyAddOne::CopyCPU2CPU"]
    assert max(samples(items, "Memory: cpu/0")) == 3 * 10 ** 6


def test_user_objects(tmp_path):
    done = run_example("user_objects.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    items = done.trace("objects.json")
    assert names(items, "Training,frame") == ["epoch"] * 2
    assert names(items, "Training") == ["forward"] * 6
    assert names(items, "event") == ["batch"] * 6
    assert samples(items, "batches") == [0, 1, 2, 3, 4, 5, 6]
    assert calls(items)["MXNDArraySyncCopyToCPU"] == 0


def test_autostart_profiles_an_unchanged_program(tmp_path):
    (tmp_path / "plain.py").write_text("import mxnet as mx\n"
                                       "print(mx.nd.sum(mx.nd.ones((3,)) * 2).asscalar())\n",
                                       encoding="utf-8")
    from python_program import run_file
    done = run_file(["plain.py"], tmp_path, 60, MXNET_PROFILER_AUTOSTART="1")
    assert (done.code, done.out, done.err) == (0, "6.0\n", "")
    assert operators(done.trace("profile.json")) == ["_ones", "_mul_scalar", "sum"]
