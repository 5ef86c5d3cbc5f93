# SPDX-License-Identifier: Apache-2.0
"""The table that Block.summary prints: each block's outputs and parameters."""
from __future__ import annotations

import math
from typing import Any, List, Tuple

from .. import autograd
from .hooks import HookHandle
from .parameter import Parameter

_ROW = "{:>20}  {:>42} {:>15}"
Row = Tuple[str, Any, List[Parameter]]


def _shapes(outputs: Any) -> Any:
    if isinstance(outputs, (list, tuple)):
        return [_shapes(item) for item in outputs]
    return getattr(outputs, "shape", None)


def _size(parameters: Any) -> int:
    return sum(math.prod(parameter.shape) for parameter in parameters)


def _observe(root: Any, rows: List[Row]) -> List[HookHandle]:
    """Has each call of a block add a row, but for those that only hold others; returns the handles that end that."""
    from .nn import HybridSequential, Sequential  # they are blocks, which know this module

    def hook(called: Any, _: Any, outputs: Any) -> None:
        rows.append((f"{type(called).__name__}-{len(rows)}", _shapes(outputs), list(called._own().values())))

    blocks: List[Any] = []
    root.apply(blocks.append)
    for block in blocks:
        if getattr(block, "_active", False):  # its graph would not call its members
            raise ValueError(f'"{block.name}" must not be hybridized to print summary: hybridize(False)')
    return [block.register_forward_hook(hook) for block in dict.fromkeys(blocks)
            if not isinstance(block, (Sequential, HybridSequential))]


def show(block: Any, *inputs: Any) -> None:
    """Calls the block without training it, and prints what each member made, in order of calls. ValueError if one is
    hybridized."""
    rows: List[Row] = [("Input", _shapes(inputs if len(inputs) != 1 else inputs[0]), [])]
    handles = _observe(block, rows)
    try:
        with autograd.pause(train_mode=False):
            block(*inputs)
    finally:
        for handle in handles:
            handle.detach()
    used = [parameter for _, _, parameters in rows for parameter in parameters]
    trained = [parameter for parameter in used if parameter.grad_req != "null"]
    unique = _size(set(used))
    lines = ["-" * 80, _ROW.format("Layer (type)", "Output Shape", "Param #"), "=" * 80]
    lines += [_ROW.format(name, str(shape), _size(own)) for name, shape, own in rows]
    lines += ["=" * 80, "Parameters in forward computation graph, duplicate included",
              f"   Total params: {_size(used)}", f"   Trainable params: {_size(trained)}",
              f"   Non-trainable params: {_size(used) - _size(trained)}",
              f"Shared params in forward computation graph: {_size(used) - unique}",
              f"Unique parameters in model: {unique}", "-" * 80]
    print("\n".join(lines))
