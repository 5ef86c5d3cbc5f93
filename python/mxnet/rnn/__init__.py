# SPDX-License-Identifier: Apache-2.0
"""1.x: recurrent networks of symbols, which cells unroll over sequences."""
from .cell import BaseRNNCell, GRUCell, LSTMCell, RNNCell, RNNParams
from .checkpoint import do_rnn_checkpoint, load_rnn_checkpoint, save_rnn_checkpoint
from .container import (BidirectionalCell, DropoutCell, ModifierCell, ResidualCell, SequentialRNNCell,
                        ZoneoutCell)
from .fused import FusedRNNCell
from .sentences import BucketSentenceIter, encode_sentences

__all__ = ["BaseRNNCell", "BidirectionalCell", "BucketSentenceIter", "DropoutCell", "FusedRNNCell", "GRUCell", "LSTMCell",
           "ModifierCell", "RNNCell", "RNNParams", "ResidualCell", "SequentialRNNCell", "ZoneoutCell", "do_rnn_checkpoint",
           "encode_sentences", "load_rnn_checkpoint", "save_rnn_checkpoint"]
