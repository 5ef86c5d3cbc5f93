# SPDX-License-Identifier: Apache-2.0
"""Iterators around iterators."""
from __future__ import annotations

import queue
import threading
from typing import Any, List, Optional

from ..profiler.waits import blocked_by_input
from .batches import DataBatch, DataDesc, DataIter


class _Wrapper(DataIter):
    """Gives what a batch of another iterator has."""

    current_batch: Optional[DataBatch] = None

    def _batch(self) -> DataBatch:
        assert self.current_batch is not None, "iter_next() comes first"
        return self.current_batch

    def getdata(self) -> Any:
        return self._batch().data

    def getlabel(self) -> Any:
        return self._batch().label

    def getindex(self) -> Any:
        return self._batch().index

    def getpad(self) -> Any:
        return self._batch().pad


class ResizeIter(_Wrapper):
    """`size` batches an epoch, however many the other has: it begins again when that ends.

    reset_internal : whether a reset resets the other too
    """

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal, self.cur = data_iter, size, reset_internal, 0
        self.provide_data: Any = data_iter.provide_data  # type: ignore[attr-defined]
        self.provide_label: Any = data_iter.provide_label  # type: ignore[attr-defined]

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


class _Reader:
    """A thread that is one batch ahead of who takes them."""

    def __init__(self, data_iter: DataIter) -> None:
        self.data_iter = data_iter
        self._orders: "queue.Queue[str]" = queue.Queue()
        self._batches: "queue.Queue[Any]" = queue.Queue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()
        self.order("next")

    def _work(self) -> None:
        while True:
            order = self._orders.get()
            if order == "end":
                return
            try:
                if order == "reset":
                    self.data_iter.reset()
                self._batches.put(self.data_iter.next())
            except BaseException as error:  # pylint: disable=broad-except
                self._batches.put(error)

    def order(self, order: str) -> None:
        self._orders.put(order)

    def take(self) -> Any:
        return blocked_by_input("PrefetchingIter", self._batches.get) if self._batches.empty() else self._batches.get()


class PrefetchingIter(_Wrapper):
    """Takes batches of one iterator or of several, each by a thread of its own that is one batch ahead.

    rename_data, rename_label : for each iterator a dict of its names to others
    """

    def __init__(self, iters: Any, rename_data: Optional[List[dict]] = None, rename_label: Optional[List[dict]] = None) -> None:
        super().__init__()
        self.iters: List[DataIter] = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        if not self.iters:
            raise ValueError("PrefetchingIter needs at least one iterator")
        self._renamed = {"data": rename_data, "label": rename_label}
        self.batch_size = self.provide_data[0].shape[0]
        self._ended = False
        self._readers = [_Reader(item) for item in self.iters]

    def _provided(self, what: str) -> List[DataDesc]:
        found = []
        for at, item in enumerate(self.iters):
            renames = (self._renamed[what] or [{}] * len(self.iters))[at]
            for one in getattr(item, f"provide_{what}"):
                found.append(DataDesc(renames.get(one.name, one.name), one.shape, one.dtype, one.layout))
        return found

    @property
    def provide_data(self) -> List[DataDesc]:
        """Of all of them."""
        return self._provided("data")

    @property
    def provide_label(self) -> List[DataDesc]:
        """Of all of them."""
        return self._provided("label")

    def __del__(self) -> None:
        for reader in getattr(self, "_readers", []):
            reader.order("end")

    def reset(self) -> None:
        for reader in self._readers:
            if not self._ended:
                reader.take()
            reader.order("reset")
        self._ended = False

    def iter_next(self) -> bool:
        if self._ended:
            return False
        batches = [reader.take() for reader in self._readers]
        for batch in batches:
            if isinstance(batch, BaseException) and not isinstance(batch, StopIteration):
                self._ended = True
                raise batch
        ended = [isinstance(batch, StopIteration) for batch in batches]
        self._ended = any(ended)
        if self._ended:
            if not all(ended):
                raise ValueError("Number of entry mismatches between iterators")
            return False
        for reader in self._readers:
            reader.order("next")
        self.current_batch = DataBatch(sum((list(batch.data) for batch in batches), []),
                                       sum((list(batch.label or []) for batch in batches), []), batches[0].pad, batches[0].index,
                                       provide_data=self.provide_data, provide_label=self.provide_label)
        return True

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._batch()
