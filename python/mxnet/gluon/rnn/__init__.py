# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: layers over whole sequences, and cells of one step."""
from ..block import Block, HybridBlock
from .cell import GRUCell, HybridRecurrentCell, LSTMCell, LSTMPCell, RecurrentCell, RNNCell
from .container import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell
from .layer import GRU, LSTM, RNN
from .modifier import (DropoutCell, ModifierCell, ResidualCell, VariationalDropoutCell, ZoneoutCell)

__all__ = ["BidirectionalCell", "Block", "DropoutCell", "GRU", "GRUCell", "HybridBlock", "HybridRecurrentCell",
           "HybridSequentialRNNCell", "LSTM", "LSTMCell", "LSTMPCell", "ModifierCell", "RNN", "RNNCell",
           "RecurrentCell", "ResidualCell", "SequentialRNNCell", "VariationalDropoutCell", "ZoneoutCell"]
