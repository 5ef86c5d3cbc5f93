# SPDX-License-Identifier: Apache-2.0
"""Executors, case by case against what the original did. A table holds the cases in which the original is wrong, or
whose difference docs/migration.md tells, with what is right instead."""
import re

from golden_cases import count, differences, golden, reason, same


def value_of(case, line="1"):
    return golden("executors", line)[case]["value"]


def is_value(case, line="1", **instead):
    """Right is what another case of the original gave, but for some of its members."""
    wanted = value_of(case, line)
    return lambda value: same({**wanted, **instead} if instead else wanted, value)


def kept_outputs(value):
    """What a forward returned keeps its values."""
    wanted = value_of("outputs are the same arrays after each forward")[0]
    return same([wanted, wanted], value)


def twice_as_an_output(value):
    """Each head gradient its own: exp(1) * (1 + 2)."""
    wanted = value_of("one node twice as an output")
    right = {"w": {**wanted[1]["w"], "array": [8.15484548, 8.15484548]}}
    return same([wanted[0], right], value)


def forward_text(text):
    """Operators of the backward are not listed, and no temporary memory is."""
    wanted = value_of("debug_str")
    forward = re.sub(r"\toutput\[\d+\]=\w+_backward\(\d+\)\n", "", wanted.split("-" * 20 + "\nOp:_backward_")[0])
    return text == forward + "Total 0 MB allocated\nTotal 0 TempSpace resource requested\n"


def without_backward(rows):
    return [row for row in rows if "_backward_" not in row[-2]]


def forward_calls(case, last):
    """The monitor is told of forward alone, which ends with the output `last`."""
    wanted = value_of(case)
    names = [row[0] for row in wanted]
    return lambda value: same(wanted[:names.index(last) + 1], value)


def forward_statistics(value):
    return same(without_backward(value_of("Monitor")), value)


EXECUTORS = {
    # The gradient of a bias does not depend on whether that of the weight is wanted.
    "request per argument as a dictionary": is_value(
        "request per argument as a dictionary",
        fc2_bias=value_of("mlp: backward without head gradients")["fc2_bias"]),
    "request as a list": is_value("request as a list", b=value_of("head gradients: too many")["b"]),
    "request as a list too short": ("ValueError", "1 requests are given, but there are 3 arguments"),
    # Of an executor without gradients each is None, as in 2.0.
    "gradients left out": is_value("gradients left out", "2"),
    "gradients left out, then backward": lambda value: value == [[None, None, None]],
    "argument of another shape": ("MXNetError", r"operator fc1: .*'weight' has shape \(5,4\), it must be \(4,4\)"),
    "argument of another type": ("MXNetError", "operator fc1: .*'weight' has type float64, it must be float32"),
    "gradient of another shape": (
        "MXNetError", r"operator w: The gradient's array is float32\(2,2\) and the variable is float32\(4,4\)"),
    "head gradients: too many": ("MXNetError", "2 head gradients are given, and the network has 1 outputs"),
    "head gradients: too few": ("MXNetError", "1 head gradients are given, and the network has 3 outputs"),
    "head gradients: another shape": (
        "MXNetError", r"given for output 0 is float32\(2,2\) and the output is float32\(3,4\)"),
    # Ones, as of autograd and of 2.0.
    "head gradients: none where they are needed": is_value("head gradients: too many"),
    "head gradients: no array": ("TypeError", "inputs must be NDArray"),
    "backward before forward": ("MXNetError", "run forward first"),
    "backward twice after one forward": is_value("head gradients: too many"),
    "outputs are the same arrays after each forward": kept_outputs,
    "auxiliary states read at once after backward": is_value("auxiliary states read at once after backward", "2"),
    "one node twice as an output": twice_as_an_output,
    # What follows without any shape is not asked for: a bias has as many elements as there are hidden units.
    "simple_bind without shapes": (
        "RuntimeError", "cannot decide shapes for the following arguments .*\ndata: None, fc1_weight: None, "),
    "simple_bind with an unknown name": ("ValueError", "there is no argument nobody; the arguments are data, fc1_weight"),
    "simple_bind with shapes that do not fit": (
        "RuntimeError", r"\nfc1_weight: \(8, 9\)\n.*'weight' has shape \(8,9\), it must be \(8,7\)"),
    "copy_params_from: another shape": ("MXNetError", r"from.shape = \[2\] to.shape=\[8\]"),
    "reshape: unknown name": ("MXNetError", "InferShapeKeyword argument name nobody not found"),
    "reshape: no shapes": ("MXNetError", "Insufficient argument shapes provided"),
    "monitor, monitor_all=False": forward_calls("monitor, monitor_all=False", "softmax_output"),
    "monitor, monitor_all=True": forward_calls("monitor, monitor_all=True", "softmax_output"),
    "Monitor": forward_statistics,
    "debug_str": forward_text,
    "group2ctx": ("MXNetError", "group2ctx: a network runs on one device"),
    "an index out of range": ("MXNetError", "Operator take: index 7 at place 0 of 'indices' is not one of 0 .. 2"),
}


def test_executors(tmp_path):
    assert count("executors", "1") == 100
    assert not differences("executors", "1", EXECUTORS, tmp_path)


# In 2.0.0b1 these fail, pass silently, are not there, or have an error of Python's instead of a text. Right is what
# 1.9.1 gives, or what the table above has where that is wrong, too.
AS_IN_1 = [
    "request null, backward twice", "request dictionary, one argument missing", "request unknown",
    "arguments as a list too short", "argument missing", "argument that is no array", "auxiliary state missing",
    "outputs before forward", "forward by keyword: unknown name", "forward by keyword: another shape",
    "forward by keyword: a list", "arrays given to bind are used, not copied", "a variable as the whole graph",
    "simple_bind", "simple_bind with requests", "copy_params_from", "reshape: smaller batch",
    "reshape: larger batch without up_sizing", "reshape: larger batch", "reshape: other width without partial_shaping",
    "reshape: other width", "Monitor with a pattern", "string of an executor", "arguments on different devices",
]
# Here 2.0.0b1 is right, or cannot be told from what is.
RIGHT_IN_2 = ["gradients left out", "head gradients: none where they are needed",
              "auxiliary states read at once after backward"]


def as_in_1(case):
    wanted = golden("executors", "1")[case]
    if "error" in wanted:
        return wanted["error"], re.escape(reason(wanted["text"]))
    return is_value(case)


def test_executors_of_2(tmp_path):
    assert count("executors", "2") == 100
    mended = {case: right for case, right in EXECUTORS.items() if case not in RIGHT_IN_2}
    mended.update((case, as_in_1(case)) for case in AS_IN_1)
    assert not differences("executors", "2", mended, tmp_path)
