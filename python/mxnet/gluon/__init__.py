# SPDX-License-Identifier: Apache-2.0
"""Gluon: networks as blocks, their losses, training and data."""
from .._absent import refusing
from . import data, loss, metric, nn, rnn, utils
from .block import Block, HybridBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict
from .symbol_block import SymbolBlock
from .trainer import Trainer

__all__ = ["Block", "Constant", "DeferredInitializationError", "HybridBlock", "Parameter",
           "ParameterDict", "SymbolBlock", "Trainer", "data", "loss", "metric", "nn", "rnn",
           "utils"]

__getattr__ = refusing(__name__)
