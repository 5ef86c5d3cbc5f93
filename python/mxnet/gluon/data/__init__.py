# SPDX-License-Identifier: Apache-2.0
"""Data sets, samplers and the loader that makes batches of them."""
from ..._absent import refusing
from .dataloader import DataLoader
from .dataset import ArrayDataset, Dataset, SimpleDataset
from .sampler import BatchSampler, FilterSampler, RandomSampler, Sampler, SequentialSampler
from . import vision

__all__ = ["ArrayDataset", "BatchSampler", "DataLoader", "Dataset", "FilterSampler", "RandomSampler",
           "Sampler", "SequentialSampler", "SimpleDataset", "vision"]

__getattr__ = refusing(__name__)
