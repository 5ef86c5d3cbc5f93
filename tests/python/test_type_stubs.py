# SPDX-License-Identifier: Apache-2.0
"""What completion and type checkers are told of the functions that are made when the package runs."""
import ast
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from python_program import SOURCE

STUBS = sorted((SOURCE / "python/mxnet").glob("*/_*functions.pyi"))


def module_of(stub):
    """The module that a stub is about."""
    name = stub.stem[1:].replace("functions", "").strip("_")
    return importlib.import_module(".".join(("mxnet", stub.parent.name, *([name] if name else []))))


def declared(stub):
    """name -> its declaration."""
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def parameter_names(node):
    """The names of a declaration's parameters."""
    arguments = node.args
    return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]),
                                  *arguments.kwonlyargs, *filter(None, [arguments.kwarg]))]


def test_there_is_a_stub_for_each_module_with_made_functions():
    assert {module_of(stub) for stub in STUBS} == {
        mx.nd, mx.nd.image, mx.nd.random, mx.nd.sparse, mx.np, mx.np.linalg, mx.np.random,
        mx.npx, mx.npx.image, mx.npx.random}


def test_the_stubs_are_what_the_script_makes_of_the_package():
    pinned = (SOURCE / "scripts/requirements.txt").read_text(encoding="utf-8").split("numpy==")[1].split()[0]
    if onp.__version__ != pinned:
        pytest.skip(f"mx.np has what NumPy {onp.__version__} has; the stubs have NumPy {pinned}'s")
    done = subprocess.run([sys.executable, str(SOURCE / "scripts/make-stubs"), "--check"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: f"{stub.parent.name}{stub.stem}")
def test_operators_are_declared_with_the_parameters_that_they_have(stub):
    module, found = module_of(stub), declared(stub)
    for name, node in found.items():
        function = getattr(module, name)
        if "_info" in getattr(function, "__globals__", {}):
            assert parameter_names(node) == list(inspect.signature(function).parameters), name
            returned = ast.unparse(node.returns)
            assert returned in (function.__globals__["_kind"].__name__, "Any"), name
    modules_own = ast.parse(pathlib.Path(module.__file__).read_text(encoding="utf-8"))
    imported = [ast.unparse(node) for node in ast.walk(modules_own) if isinstance(node, ast.ImportFrom)]
    assert f"from .{stub.stem} import *" in imported


def test_what_one_types_first_is_there_with_types():
    found = {stub.parent.name + stub.stem: declared(stub) for stub in STUBS}
    convolution = found["ndarray_functions"]["Convolution"]
    told = {item.arg: ast.unparse(item.annotation) for item in convolution.args.args}
    assert told["kernel"] == "Shape" and told["num_filter"] == "int" and told["no_bias"] == "bool"
    assert told["layout"].startswith("Optional[Literal['NCDHW', 'NCHW'")
    assert ast.unparse(convolution.returns) == "NDArray"
    numpys = found["numpy_functions"]
    assert parameter_names(numpys["sum"])[:5] == list(inspect.signature(onp.sum).parameters)[:5]
    assert parameter_names(numpys["median"]) == list(inspect.signature(onp.median).parameters)
    assert {"exp", "add", "percentile", "arctan2"} <= set(numpys) and "softmax" in found["numpy_extension_functions"]
    assert "gamma" in found["numpy_random_functions"] and "pinv" in found["numpy_linalg_functions"]
