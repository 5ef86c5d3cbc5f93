# SPDX-License-Identifier: Apache-2.0
"""Batches of arrays that are in memory."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as onp

from .. import ndarray as nd
from .._array import BaseArray
from .batches import DataDesc, DataIter


def _named(given: Any, allow_empty: bool, default: str) -> List[Tuple[str, Any]]:
    """Pairs of names and arrays of what a program gives."""
    if given is None:
        assert allow_empty, "data must be given"
        return []
    if isinstance(given, (onp.ndarray, BaseArray)):
        given = [given]
    if isinstance(given, (list, tuple)):
        assert allow_empty or given, "data must be given"
        given = {default: given[0]} if len(given) == 1 else {f"_{at}_{default}": item for at, item in enumerate(given)}
    if not isinstance(given, dict):
        raise TypeError("Input must be NDArray, numpy.ndarray, a list of them or dict with them as values, not "
                        f"{type(given).__name__}")
    for name, item in given.items():
        if not isinstance(item, (onp.ndarray, BaseArray)):
            raise TypeError(f"Invalid type '{type(item)}' for {name}, should be NDArray or numpy.ndarray")
    return sorted(given.items())


def _array(item: Any) -> Any:
    return item if isinstance(item, BaseArray) else nd.array(item)


class NDArrayIter(DataIter):
    """Batches of arrays: rows are what the first axis counts.

    data, label : array of MXNet or NumPy, list or dict of them; NumPy's become float32
    last_batch_handle : what becomes of rows that fill no batch: "pad" (filled up with the first rows, `pad` says how
        many), "discard", "roll_over" (they begin the next epoch)
    """

    def __init__(self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
                 last_batch_handle: str = "pad", data_name: str = "data", label_name: str = "softmax_label") -> None:
        super().__init__(batch_size)
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ValueError(f"last_batch_handle is {last_batch_handle!r}; it may be 'pad', 'discard' or 'roll_over'")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}: it must be at least 1")
        self.data = [(name, _array(item)) for name, item in _named(data, False, data_name)]
        self.label = [(name, _array(item)) for name, item in _named(label, True, label_name)]
        self.num_data = self.data[0][1].shape[0]
        for name, item in self.data + self.label:
            if item.shape[0] != self.num_data:
                raise ValueError(f"{name} has {item.shape[0]} rows, and {self.data[0][0]} has {self.num_data}")
        self.shuffle, self.last_batch_handle = shuffle, last_batch_handle
        self.idx = onp.arange(self.num_data)
        self._tail = onp.arange(0)  # rows that the epoch before has left
        self._rows: Optional[onp.ndarray] = None  # of the current batch
        self._pad = 0
        self._at = self.num_data
        self.reset()

    def _descriptions(self, pairs: List[Tuple[str, Any]]) -> List[DataDesc]:
        return [DataDesc(name, (self.batch_size, *item.shape[1:]), item.dtype) for name, item in pairs]

    @property
    def provide_data(self) -> List[DataDesc]:
        """What its data is."""
        return self._descriptions(self.data)

    @property
    def provide_label(self) -> List[DataDesc]:
        """What its labels are."""
        return self._descriptions(self.label)

    def hard_reset(self) -> None:
        """Begins an epoch at the first row; what was left of the one before is forgotten."""
        self._tail = onp.arange(0)
        if self.shuffle:
            onp.random.shuffle(self.idx)
        self._rows, self._at = None, 0

    def reset(self) -> None:
        """Begins an epoch, shuffled anew."""
        left = self.idx[self._at:] if self.last_batch_handle == "roll_over" else self.idx[:0]
        tail = onp.concatenate([self._tail, left]).astype(self.idx.dtype)
        self.hard_reset()
        self._tail = tail

    def iter_next(self) -> bool:
        wanted = self.batch_size - len(self._tail)
        rows = onp.concatenate([self._tail, self.idx[self._at:self._at + wanted]]).astype(self.idx.dtype)
        if len(rows) == 0 or self._at >= self.num_data or (len(rows) < self.batch_size and self.last_batch_handle == "discard"):
            self._rows = None
            return False
        if len(rows) < self.batch_size and self.last_batch_handle == "roll_over" and len(self._tail) == 0:
            self._rows = None
            return False
        self._pad = len(self._tail) if self.last_batch_handle == "roll_over" else self.batch_size - len(rows)
        self._at += len(rows) - len(self._tail)
        self._tail = self._tail[:0]
        self._rows = onp.resize(onp.concatenate([rows, self.idx]), self.batch_size) if len(rows) < self.batch_size else rows
        return True

    def _take(self, pairs: List[Tuple[str, Any]]) -> List[Any]:
        if self._rows is None:
            raise StopIteration
        first, count = int(self._rows[0]), len(self._rows)
        if onp.array_equal(self._rows, onp.arange(first, first + count)):
            return [item[first:first + count] for _, item in pairs]
        rows = nd.array(self._rows, dtype="int64")
        return [nd.take(item.as_nd_ndarray() if hasattr(item, "as_nd_ndarray") else item, rows, axis=0) for _, item in pairs]

    def getdata(self) -> List[Any]:
        return self._take(self.data)

    def getlabel(self) -> List[Any]:
        return self._take(self.label)

    def getpad(self) -> int:
        return self._pad
