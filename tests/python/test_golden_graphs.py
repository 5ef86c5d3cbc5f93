# SPDX-License-Identifier: Apache-2.0
"""Modules, case by case against what 1.9.1 did, and drawings of networks against both lines. A table holds the cases
in which the original is wrong, or whose difference docs/migration.md tells, with what is right instead."""
import importlib.util

import pytest

from golden_cases import count, differences, golden

MODULE = {
    # The text has no path of the original's sources.
    "checkpoint missing": ("MXNetError", "nobody-symbol.json.*: No such file or directory"),
    # Both shapes, of the array that is given and of the parameter.
    "set_params: another shape": ("MXNetError", r"fc1_weight has shape \(8, 7\), what it is given has \(2, 2\)"),
    # No colours of a terminal in the text of an error.
    "data names that the symbol has not": (
        "ValueError", r"^You created Module with Module\(..., data_names=\['nobody'\]\) but input with name 'nobody'"),
}


def has_line(start, end):
    return lambda lines: any(line.startswith(start) and line.rstrip().endswith(end) for line in lines)


VIZ = {
    # The parameters of a fused recurrent operator are counted.
    "print_summary: rnn": has_line("Total params:", " 228"),
    # Without shapes nothing is known of the weights: what the biases have alone is no count.
    "print_summary without shapes": has_line("Total params:", " 0"),
    "plot_network of no symbol": ("TypeError", "symbol must be Symbol"),
}
NO_GRAPHVIZ = ("ImportError", "package graphviz, which is not installed")


def test_modules(tmp_path):
    assert count("module", "1") == 33
    assert not differences("module", "1", MODULE, tmp_path)


@pytest.mark.parametrize("line", ["1", "2"])
def test_drawings(tmp_path, line):
    assert count("viz", line) == 25
    mended = dict(VIZ)
    if not importlib.util.find_spec("graphviz"):
        mended.update({name: NO_GRAPHVIZ for name, case in golden("viz", line).items()
                       if name.startswith("plot_network") and "value" in case})
    assert not differences("viz", line, mended, tmp_path)
