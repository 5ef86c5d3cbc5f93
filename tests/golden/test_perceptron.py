# SPDX-License-Identifier: Apache-2.0
"""The multilayer perceptron in C and in C++: it learns, and leaves a complete trace with the operators of the original."""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
GOLDEN = pathlib.Path(__file__).parent / "expected" / "graphs_cpp.jsonl"  # line, run, its operators and C calls
PROFILES = GOLDEN.with_name("profiles.json")
LEARNED = 6 * 2 - 6  # parameters of three layers: weight and bias
OPERATORS = {"_random_uniform", "CopyCPU2CPU", "FullyConnected", "Activation", "SoftmaxOutput", "_backward_FullyConnected",
             "_backward_Activation", "_backward_SoftmaxOutput", "sgd_update", "argmax_channel", "MNISTIter"}
# Of the engine, or of one library alone: iterators and bulks are recorded here, and a head gradient has an operator.
NO_OPERATORS = {"WaitForVar", "DeleteVariable", "SetupExec", "SetValueOp", "MNISTIter", "ImperativeBulk", "_zeros_without_dtype"}


def run(program, folder, *arguments, **variables):
    found = subprocess.run([str(program), *map(str, arguments)], cwd=folder, text=True, capture_output=True, timeout=120,
                           env={**{key: value for key, value in os.environ.items() if not key.startswith(("MXNET_", "MXPROF_"))},
                                **variables})
    assert found.returncode == 0, found.stderr
    return found.stdout


def trace(folder):
    """Operators that are no bulks, with their counts."""
    items = json.loads((folder / "profile_output.json").read_text(encoding="utf-8"))["traceEvents"]
    names = [item["name"] for item in items if item.get("cat") == "operator" and item.get("ph") in ("B", "X")]
    return collections.Counter(name for name in names if "[" not in name)


@pytest.mark.parametrize("name", ["mlp", "mlp_cpp"])
def test_the_perceptron_learns_and_leaves_its_trace(name, tmp_path):
    if not (BUILD / name).exists():
        pytest.skip(f"{name} is not built")
    printed = run(BUILD / name, tmp_path, *[])
    epochs = re.findall(r"epoch \d+: (\d+) samples/s, accuracy (0\.\d+|1\.0+)", printed)
    assert len(epochs) == 8 and float(epochs[-1][1]) >= 0.95
    assert "Profile Statistics:" in printed and os.listdir(tmp_path) == ["profile_output.json"]
    found = trace(tmp_path)
    assert OPERATORS <= set(found)
    training, held_out = 8 * 60, 8 * 10  # batches
    assert found["sgd_update"] == training * LEARNED and found["argmax_channel"] == held_out
    assert found["FullyConnected"] == 3 * (training + held_out) and found["_backward_FullyConnected"] == 3 * training
    assert found["SoftmaxOutput"] == training + held_out and found["_backward_SoftmaxOutput"] == training
    for operator in ("FullyConnected", "sgd_update"):
        row = re.search(rf"^{operator} +(\d+) ", printed, re.M)
        assert row and int(row[1]) == found[operator]


def idx(path, magic, sizes, values):
    path.write_bytes(struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + bytes(values))


def operators(counts):
    return {name: count for name, count in counts.items() if name not in NO_OPERATORS}


def golden_naive(line):
    """1.9.1 has two records of each operator of a network under NaiveEngine (docs/migration.md)."""
    counts = json.loads(PROFILES.read_text(encoding="utf-8"))[line]["seed001_mlp_cpp_naive"]["operators"]
    twice = {"FullyConnected", "Activation", "SoftmaxOutput"} if line == "1.9.1" else set()
    return {name: count // (1 + (name.removeprefix("_backward_") in twice)) for name, count in counts.items()}


# Of nnvm: the original counts no call of them.
UNCOUNTED = {"MXSymbolCompose", "MXSymbolCreateVariable", "MXSymbolFree", "MXSymbolListArguments", "MXSymbolListAuxiliaryStates"}


def expected_calls(one, two):
    """Of the wrapper, from the original's two lines: it binds as 1.9.1's, and asks for arrays and shapes as 2.0's."""
    binding = {"MXExecutorBindEX", "MXExecutorForward", "MXExecutorBackwardEx", "MXExecutorOutputs", "MXNDArrayFree",
               "MXAPIGetFunctionRegInfo"}
    wanted = {name: two[name] for name in two if name in one or name in ("MXNDArrayCreate", "MXNDArrayGetShape", "MXSymbolInferShape")}
    wanted.update({name: one[name] for name in binding})
    # Its outputs are made by the operator, not before.
    measured = one["MXNDArraySyncCopyToCPU"] // 2
    wanted["MXNDArrayCreateNone"] = one["MXNDArrayCreateNone"] - measured
    return wanted


def calls(folder):
    items = json.loads((folder / "profile_output.json").read_text(encoding="utf-8"))["traceEvents"]
    counts = collections.Counter(item["name"] for item in items if item.get("cat") == "MXNET_C_API" and item["ph"] == "X")
    assert UNCOUNTED <= set(counts)
    return {name: count for name, count in counts.items() if name not in UNCOUNTED}


def test_a_program_of_the_original_package_compiles_and_runs(tmp_path):
    """As one of the two lines: with three epochs and bulks, and with one epoch without them or under NaiveEngine."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    for stem, count in (("train", 600), ("t10k", 200)):
        idx(tmp_path / f"{stem}-images-idx3-ubyte", 2051, (count, 28, 28), [at % 251 for at in range(784)] * count)
        idx(tmp_path / f"{stem}-labels-idx1-ubyte", 2049, (count,), [at % 10 for at in range(count)])
    program = tmp_path / "perceptron"
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Werror", f"-I{SOURCE / 'include'}",
                    str(SOURCE / "tests/golden/perceptron.cpp"), "-o", str(program), f"-L{BUILD}", "-lmxnet", "-lmxprof",
                    f"-Wl,-rpath,{BUILD}"], check=True, timeout=120)
    rows = list(map(json.loads, GOLDEN.read_text().splitlines()))
    golden = {(row["line"], row["run"]): row["operator_counts"] for row in rows}
    api = {(row["line"], row["run"]): row["api"] for row in rows}
    no_bulks = {"MXNET_EXEC_BULK_EXEC_TRAIN": "0", "MXNET_EXEC_BULK_EXEC_INFERENCE": "0"}
    golden.update({(line, "naive"): golden_naive(line) for line in ("1.9.1", "2.0.0b1")})
    api.update({(line, "naive"): api[line, "seed001_mlp_nobulk"] for line in ("1.9.1", "2.0.0b1")})  # the same there
    naive = {"MXNET_ENGINE_TYPE": "NaiveEngine"}
    for name, epochs, variables in (("seed001_mlp", 3, {}), ("seed001_mlp_nobulk", 1, no_bulks), ("naive", 1, naive)):
        printed = run(program, tmp_path, tmp_path, epochs, **variables)
        for line in ("MXSetProfilerConfig 0", "MXSetProfilerState 0", f"epoch {epochs - 1} batches 6 accuracy measured 1",
                     "MXAggregateProfileStatsPrint 0", "MXDumpProfile 0", "MXNotifyShutdown 0"):
            assert line in printed
        found = trace(tmp_path)
        assert OPERATORS <= set(found) and ("ImperativeBulk" in found) == (not variables)
        assert operators(found) == operators(golden["1.9.1", name]) == operators(golden["2.0.0b1", name])
        assert calls(tmp_path) == expected_calls(api["1.9.1", name], api["2.0.0b1", name])
        table = {row: int(count) for row, count in re.findall(r"^(\w+) +(\d+) ", printed, re.M)}
        assert operators(found).items() <= table.items()


@pytest.mark.parametrize("content, text", [(None, "No such file or directory"), (b"123", "the file ends in its header")])
def test_wrong_files_end_the_program_with_the_reason(content, text, tmp_path):
    for stem in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        if content is not None:
            (tmp_path / stem).write_bytes(content)
    for name in ("mlp", "mlp_cpp"):
        if (BUILD / name).exists():
            ended = subprocess.run([str(BUILD / name), str(tmp_path)], cwd=tmp_path, text=True, capture_output=True, timeout=60)
            assert ended.returncode == 1 and text in ended.stderr
