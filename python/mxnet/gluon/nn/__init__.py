# SPDX-License-Identifier: Apache-2.0
"""Layers."""
from ..._absent import refusing
from ..block import Block, HybridBlock
from ..symbol_block import SymbolBlock
from .activations import ELU, GELU, SELU, Activation, LeakyReLU, PReLU, SiLU, Swish
from .basic import (Dense, Dropout, Embedding, Flatten, HybridLambda, HybridSequential, Identity, Lambda,
                    Sequential)
from .conv import Conv1D, Conv2D, Conv3D
from .norm import BatchNorm, GroupNorm, InstanceNorm, LayerNorm
from .pool import (AvgPool1D, AvgPool2D, AvgPool3D, GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D,
                   GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D, MaxPool1D, MaxPool2D, MaxPool3D)

__all__ = ["Activation", "AvgPool1D", "AvgPool2D", "AvgPool3D", "BatchNorm", "Block", "Conv1D", "Conv2D",
           "Conv3D", "Dense", "Dropout", "ELU", "Embedding", "Flatten", "GELU", "GlobalAvgPool1D",
           "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D",
           "GlobalMaxPool3D", "GroupNorm", "HybridBlock", "HybridLambda", "HybridSequential", "Identity",
           "InstanceNorm", "Lambda", "LayerNorm", "LeakyReLU", "MaxPool1D", "MaxPool2D", "MaxPool3D", "PReLU", "SELU",
           "Sequential", "SiLU", "Swish", "SymbolBlock"]

__getattr__ = refusing(__name__)
