# SPDX-License-Identifier: Apache-2.0
"""Samplers: the order in which a loader asks for the items of a data set."""
from __future__ import annotations

from typing import Iterator, List, Sequence, Union

import numpy as onp


class Sampler:
    """The base of samplers: an iterable of indices with a length."""

    def __iter__(self) -> Iterator:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """start, start + 1, … start + length - 1."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._indices = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class RandomSampler(Sampler):
    """0 … length - 1 in an order drawn anew by NumPy's global generator at each iteration."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(onp.random.permutation(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The indices of the items for which `fn(item)` is true."""

    def __init__(self, fn, dataset) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


_LAST_BATCH = ("keep", "discard", "rollover")


class BatchSampler(Sampler):
    """Lists of `batch_size` indices of another sampler. `last_batch` says what becomes of an
    incomplete last one: "keep", "discard", or "rollover" to the begin of the next iteration."""

    def __init__(self, sampler: Union[Sampler, Sequence[int]], batch_size: int,
                 last_batch: str = "keep") -> None:
        if last_batch not in _LAST_BATCH:
            raise ValueError(f"last_batch must be one of {', '.join(_LAST_BATCH)}, not {last_batch!r}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._left: List[int] = []

    def __iter__(self) -> Iterator[List[int]]:
        batch, self._left = self._left, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left = batch

    def __len__(self) -> int:
        count = len(self._sampler)
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        return (count + len(self._left)) // self._batch_size
