# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of symbols and their parameters, and what callbacks of a training are given."""
from __future__ import annotations

import logging
from collections import namedtuple
from typing import Any, Dict, Tuple

from . import ndarray as nd
from . import symbol as sym
from ._absent import refusing
from .base import MXNetError

BatchEndParam = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])


def save_checkpoint(prefix: str, epoch: int, symbol: Any, arg_params: Dict[str, Any], aux_params: Dict[str, Any],
                    remove_amp_cast: bool = True) -> None:
    """Writes PREFIX-symbol.json, unless `symbol` is None, and PREFIX-EPOCH.params."""
    del remove_amp_cast
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json")
    file_name = f"{prefix}-{epoch:04d}.params"
    write_params(file_name, arg_params, aux_params)
    logging.info('Saved checkpoint to "%s"', file_name)


def write_params(file_name: str, arg_params: Dict[str, Any], aux_params: Dict[str, Any]) -> None:
    """Writes arguments and auxiliary states into one file."""
    named = {f"arg:{name}": array for name, array in arg_params.items()}
    named.update({f"aux:{name}": array for name, array in aux_params.items()})
    nd.save(file_name, named)


def load_params(prefix: str, epoch: int) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Arguments and auxiliary states of PREFIX-EPOCH.params."""
    return read_params(f"{prefix}-{epoch:04d}.params")


def read_params(file_name: str) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Arguments and auxiliary states that `write_params` wrote."""
    loaded = nd.load(file_name)
    if not isinstance(loaded, dict):
        raise MXNetError(f"{file_name}: its arrays have no names; it is no file of parameters")
    found: Dict[str, Dict[str, Any]] = {"arg": {}, "aux": {}}
    for key, array in loaded.items():
        kind, _, name = key.partition(":")
        if kind in found:
            found[kind][name] = array
    return found["arg"], found["aux"]


def load_checkpoint(prefix: str, epoch: int) -> Tuple[Any, Dict[str, Any], Dict[str, Any]]:
    """Symbol, arguments and auxiliary states that `save_checkpoint` wrote."""
    return (sym.load(f"{prefix}-symbol.json"), *load_params(prefix, epoch))


__getattr__ = refusing(__name__)
