# SPDX-License-Identifier: Apache-2.0
"""Data iterators: batches of arrays and labels, for loops that train."""
from .._absent import refusing
from .arrays import NDArrayIter
from .batches import DataBatch, DataDesc, DataIter
from .native import CSVIter, MNISTIter, MXDataIter
from .wrappers import PrefetchingIter, ResizeIter

__all__ = ["CSVIter", "DataBatch", "DataDesc", "DataIter", "MNISTIter", "MXDataIter", "NDArrayIter", "PrefetchingIter",
           "ResizeIter"]

__getattr__ = refusing(__name__)
