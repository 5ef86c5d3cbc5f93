# SPDX-License-Identifier: Apache-2.0
"""The guides' programs of examples/python against what the original recorded of the same programs, with
arrays of both kinds. What is left out: how many DeleteVariable and WaitForVar there are, which is
chance; bulks of hybridized blocks, whose operators are seen here; the gradient of the original's
second output of pooling."""
import collections
import json

import pytest

from python_program import SOURCE, names, run_example, run_file, run_python

GOLDEN = json.loads((SOURCE / "tests/golden/expected/seed_programs.json").read_text(encoding="utf-8"))
UNCOUNTED = {"DeleteVariable", "WaitForVar", "ImperativeBulk", "_zeros_without_dtype"}
SEEN_HERE = {"FullyConnected", "Activation", "Dropout", "_backward_FullyConnected",
             "_backward_Activation", "_backward_Dropout"}
WITH_NUMPYS_ARRAYS = """
import runpy
import mxnet as mx
mx.npx.set_np()
runpy.run_path({path!r}, run_name='__main__')
"""


def run(program, folder, **environment):
    """`name` or `name np`."""
    name, _, kind = program.partition(" ")
    path = SOURCE / f"examples/python/{name}.py"
    if kind:
        return run_python(WITH_NUMPYS_ARRAYS.format(path=str(path)), folder, **environment)
    return run_file([str(path)], folder, 60, **environment)


def operators(items):
    found = collections.Counter(names(items, "operator"))
    return {name: count for name, count in found.items() if name not in UNCOUNTED}


def wanted_operators(program):
    return {name: count for name, count in GOLDEN[program]["operators"].items()
            if name not in UNCOUNTED}


def calls(items):
    found = collections.Counter(item["name"] for item in items
                                if item["ph"] == "X" and item["cat"] == "MXNET_C_API")
    short = collections.Counter()
    for name, count in found.items():
        short[name.removesuffix("Ex").removesuffix("64")] += count
    return short


def memory(items):
    found = [item for item in items if item["name"] == "Memory: cpu/0" and item["ph"] == "C"]
    return [value for item in sorted(found, key=lambda item: item["ts"])
            for value in item["args"].values()]


@pytest.fixture(scope="module", name="digits")
def digits_fixture(tmp_path_factory):
    """A home with few digits: what is drawn there is not what these tests are about."""
    from mxnet.gluon.data.vision import digits, idx
    home = tmp_path_factory.mktemp("home")
    (home / "datasets/mnist").mkdir(parents=True)
    images, labels = digits.make(256, 1)
    idx.write(home / "datasets/mnist/train-images-idx3-ubyte", images)
    idx.write(home / "datasets/mnist/train-labels-idx1-ubyte", labels)
    return {"MXNET_HOME": str(home)}


@pytest.mark.parametrize("program", ["trace_of_a_matrix", "trace_of_a_matrix np", "first_run_effects"])
def test_trace(program, tmp_path):
    done = run(program, tmp_path)
    assert (done.code, done.err) == (0, "")
    name = program.split()[0]  # it is written with mx.nd: so are its operators, in both modes
    items, golden = done.trace("trace_profile.json"), GOLDEN[name]
    assert operators(items) == wanted_operators(name)
    samples = memory(items)[:golden["memory"]["samples"]]
    assert (min(samples), max(samples)) == (golden["memory"]["min"], golden["memory"]["max"])
    found = calls(items)
    for name, count in golden["api"].items():
        assert name == "MXNDArrayGetShape" or found[name] == count, name


NUMPYS_TRACE = """
import numpy as onp
import mxnet as mx
from mxnet import profiler
mx.npx.set_np()
profiler.set_config(profile_all=True, aggregate_stats=True, filename='trace_profile.json')
profiler.set_state('run')
a = mx.np.array(onp.linspace(1, 9, 9).reshape((3, 3)))
b = mx.np.diag(a)
c = mx.np.sum(b, -1)
mx.npx.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def test_trace_with_numpys_functions(tmp_path):
    done = run_python(NUMPYS_TRACE, tmp_path)
    assert (done.code, done.err) == (0, "")
    items = done.trace("trace_profile.json")
    assert operators(items) == wanted_operators("trace_of_a_matrix np")
    assert memory(items)[:3] == [36, 48, 52]


@pytest.mark.parametrize("program", ["hybrid_network", "hybrid_network np"])
def test_hybrid_network(program, tmp_path):
    done = run(program, tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")
    items = done.trace("test_profiler.json")
    found = operators(items)
    assert SEEN_HERE <= set(found)
    plain = {name: count for name, count in found.items() if name not in SEEN_HERE}
    wanted = wanted_operators("hybrid_network")
    if program.endswith("np"):  # the program makes its input with mx.nd.zeros
        wanted.update(_npi_full=wanted.pop("_full"), _npi_uniform=wanted.pop("_random_uniform"),
                      _npi_zeros=wanted["_zeros"] - 1, _zeros=1)
    assert plain == wanted
    golden = GOLDEN["hybrid_network"]["api"]
    for name in ("MXAutogradMarkVariables", "MXAutogradBackward", "MXNDArrayWaitAll"):
        assert calls(items)[name] == golden[name], name
    # Gradients are made by themselves too, as their memory has names of its own.
    assert calls(items)["MXNDArrayCreate"] == 2 * golden["MXNDArrayCreate"]
    assert memory(items)[0] == GOLDEN["hybrid_network"]["memory"]["first"]
    scopes = {item["args"].get("scope") for item in items if item.get("cat") == "operator"}
    assert {"net:dense0:", "net:dropout0:", "net:dense1:tanh0:", "net:dense2:", "net:relu0:"} <= scopes


@pytest.mark.parametrize("program", ["lenet_iteration", "lenet_iteration np"])
# The cells of the guide in its own order: after dump() an empty run, the table, and one more dump.
def test_lenet_iteration(program, tmp_path, digits):
    done = run(program, tmp_path, **digits)
    assert (done.code, done.err) == (0, "")
    items = done.trace("profile_output.json")
    wanted, golden = wanted_operators(program), GOLDEN[program]["api"]
    assert operators(items) == wanted
    if program == "lenet_iteration":  # 2.0's NumPy makes calls of its own
        assert calls(items)["MXImperativeInvoke"] == golden["MXImperativeInvoke"]
    for name in ("MXNDArrayAt", "MXNDArrayGetGradState", "MXNDArraySetGradState", "MXAutogradBackward",
                 "MXAutogradSetIsRecording", "MXAutogradSetIsTraining", "MXNDArrayWaitAll"):
        assert calls(items)[name] == golden[name], name
    for section in ("Device Storage", "MXNET_C_API", "operator"):
        assert f"\n{section}\n====" in done.out
    assert "_backward_Convolution" in done.out


def test_custom_operator(tmp_path):
    done = run_example("custom_operator.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    items, golden = done.trace("profile.json"), GOLDEN["custom_operator"]
    seed = "MyAddOne::ResourceParallelRandomSetSeed"  # made when something first asks for it
    found = [name for name in names(items, "Custom Operator")
             if name not in (seed, "MyAddOne::DeleteVariable")]
    assert found == [name for name in golden["tasks"] if name != seed]


def test_pause_and_resume(tmp_path):
    done = run_example("pause_resume.py", tmp_path)
    assert (done.code, done.err) == (0, "")
    items = done.trace("parts.json")
    found = operators(items)
    found.pop("ResourceParallelRandomSetSeed", None)
    assert found == {"_ones": 1, "sqrt": 1, "sum": 1}
    assert calls(items)["MXImperativeInvoke"] == 3


@pytest.mark.parametrize("mode,recorded", [("", True), ("15", True), ("8", False)])
def test_an_unchanged_script_is_profiled_from_outside(tmp_path, mode, recorded):
    environment = {"MXNET_PROFILER_MODE": mode} if mode else {}
    done = run_example("unchanged_script.py", tmp_path, MXNET_PROFILER_AUTOSTART="1", **environment)
    assert (done.code, done.out, done.err) == (0, "[6.]\n", "")
    found = operators(done.trace("profile.json"))
    found.pop("ResourceParallelRandomSetSeed", None)
    assert found == ({"diag": 1, "sum": 1} if recorded else {})


def test_symbols_are_bound_and_run(tmp_path):
    """What the guide computes with arrays, computed with symbols: the custom operator too."""
    definition = (SOURCE / "examples/python/custom_operator.py").read_text(encoding="utf-8").split("\ninp = ")[0]
    done = run_python(definition + """
x = mx.symbol.Variable('x')
for y in (mx.sym.sqrt(x + 1), mx.symbol.Custom(data=x, op_type='MyAddOne')):
    executor = y.bind(mx.cpu(), {'x': mx.nd.full((2, 2), 3)}, args_grad={'x': mx.nd.zeros((2, 2))})
    print(executor.forward(is_train=True)[0].asnumpy().tolist())
    executor.backward(mx.nd.ones((2, 2)))
    print(executor.grad_dict['x'].asnumpy().tolist())
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == ["[[2.0, 2.0], [2.0, 2.0]]", "[[0.25, 0.25], [0.25, 0.25]]",
                                     "[[4.0, 4.0], [4.0, 4.0]]", "[[1.0, 1.0], [1.0, 1.0]]"]
