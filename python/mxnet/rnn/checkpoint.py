# SPDX-License-Identifier: Apache-2.0
"""Checkpoints with the weights of cells taken apart, so that fused and other cells read each other's."""
from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from .. import ndarray as nd
from .. import symbol as sym


def _cells(cells: Any) -> list:
    return list(cells) if isinstance(cells, (list, tuple)) else [cells]


def save_rnn_checkpoint(cells: Any, prefix: str, epoch: int, symbol: Any, arg_params: Dict[str, Any],
                        aux_params: Dict[str, Any]) -> None:
    """Writes PREFIX-symbol.json and PREFIX-EPOCH.params."""
    for cell in _cells(cells):
        arg_params = cell.unpack_weights(arg_params)
    symbol.save(f"{prefix}-symbol.json")
    named = {f"{kind}:{name}": array for kind, group in (("arg", arg_params), ("aux", aux_params)) for name, array in group.items()}
    nd.save(f"{prefix}-{epoch:04d}.params", named)


def load_rnn_checkpoint(cells: Any, prefix: str, epoch: int) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """The symbol, the arguments with the weights of `cells` packed, the auxiliary states."""
    groups: Dict[str, Dict[str, Any]] = {"arg": {}, "aux": {}}
    values: Any = nd.load(f"{prefix}-{epoch:04d}.params")
    for name, array in values.items():
        kind, _, rest = name.partition(":")
        groups[kind][rest] = array
    args = groups["arg"]
    for cell in _cells(cells):
        args = cell.pack_weights(args)
    return sym.load(f"{prefix}-symbol.json"), args, groups["aux"]


def do_rnn_checkpoint(cells: Any, prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback for the end of epochs, which saves every `period`th."""
    period = max(1, int(period))

    def callback(epoch: int, symbol: Any = None, arg_params: Any = None, aux_params: Any = None) -> None:
        if (epoch + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, epoch + 1, symbol, arg_params, aux_params)
    return callback
