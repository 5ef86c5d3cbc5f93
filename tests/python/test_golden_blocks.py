# SPDX-License-Identifier: Apache-2.0
"""Blocks of Gluon, case by case against what both lines of the original did. A table holds the cases in which the
original is wrong, or whose difference docs/migration.md tells, with what is right instead."""
import re

import pytest

from golden_cases import count, differences, golden, same


def arguments(text):
    """Of a signature the names and defaults, without types; what takes any other names is **kwargs."""
    text = re.sub(r": '[^']*'", "", text.split(" -> ")[0])
    return re.sub(r"\*\*\w+", "**kwargs", text).replace(" = ", "=")


def has_signatures(values):
    """Those of the first line. optimize_for is there to say that there are no backends."""
    wanted = golden("blocks", "1")["optimize_for and hybridize options"]["value"]
    return values.keys() == wanted.keys() and all(
        arguments(values[name]) == wanted[name] for name in ("hybridize", "export"))


def exported_and_read(value):
    """Names of parameters begin with those of all blocks around them; of both lines the names differ from each other."""
    wanted = golden("blocks", "1")["export and imports"]["value"]
    outer = "hybridsequential0_"
    return same(wanted, {**value, **{key: [re.sub(rf"^((?:arg|aux):)?{outer}", r"\1", name) for name in value[key]]
                                     for key in ("parameters", "block_parameters")}})


BOTH = {
    "unknown flag": ("ValueError", "hybridize: unknown option nobody; the options are static_alloc, static_shape, "),
    "another width after hybridize": (
        "MXNetError", r"Operator FullyConnected: .*'weight' has shape \(5,6\), it must be \(5,5\)"),
    "inputs on different devices": ("ValueError", r"^Find multiple contexts in the input: cpu\(0\), cpu\(1\)\. "),
    # Every number of inputs has a graph of its own, so this is an error of the network.
    "number of inputs": ("TypeError", r"forward\(\) takes 2 positional arguments but 3 were given"),
    "summary after hybridize": ("ValueError", '"hybridsequential0_dense0_relu0" must not be hybridized to print summary'),
    "export and imports": exported_and_read,
    "imports: input name wrong": ("ValueError", "SymbolBlock: nobody is no variable of the outputs; they have data, "),
    "imports: parameters left out": (
        "RuntimeError", "^Parameter 'hybridsequential0_dense0_weight' has not been initialized"),
    "imports: symbol file missing": ("MXNetError", '^Open "nobody.json": No such file or directory'),
    "imports: parameter file missing": ("MXNetError", '^Open "nobody.params": No such file or directory'),
    "SymbolBlock with an input that is no variable": (
        "ValueError", "^Input symbols must be variable, but <Symbol exp0> is an output of operators$"),
    "optimize_for and hybridize options": has_signatures,
}
SECOND = {
    # One form of file, that of the first line, which the second reads.
    "imports: parameter file cut": ("MXNetError", "Invalid NDArray file format: 'e-0000.params' at byte 476: it ends "),
    "SymbolBlock of internals, trained": ("AttributeError", "'Symbol' object has no attribute 'as_np_ndarray'"),
}


@pytest.mark.parametrize("line, more", [("1", {}), ("2", SECOND)])
def test_blocks(tmp_path, line, more):
    assert count("blocks", line) == 27
    assert not differences("blocks", line, {**BOTH, **more}, tmp_path)
