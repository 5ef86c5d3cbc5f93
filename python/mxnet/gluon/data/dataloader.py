# SPDX-License-Identifier: Apache-2.0
"""The loader: batches of a data set, made by the caller, by threads or by worker processes."""
from __future__ import annotations

import functools
import itertools
import os
import secrets
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import (Any, Callable, Deque, Generator, Iterator, List, NamedTuple, Optional, Sequence,
                    Union)

from ...base import MXNetError
from ...profiler.waits import blocked_by_input, input_span
from . import batchify
from .dataset import Dataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from .worker import (kill_workers, make_process_pool, make_shared_batch, remove_shared_batch,
                     take_shared_batch)


default_batchify_fn = batchify.stack  # MXNet's name of what a loader makes batches with


class _Batch(NamedTuple):
    """On its way; `name` is its blocks of shared memory's."""

    name: str
    future: Future


class DataLoader:
    """An iterable of batches of `dataset`.

    Give either `batch_size` with `shuffle` or `sampler`, and `last_batch` ("keep", "discard" or
    "rollover"), or a `batch_sampler` alone. `batchify_fn` makes a batch of a list of items; by
    default arrays are stacked and tuples become lists of arrays.

    `num_workers` 0 makes batches in the calling thread. More are forked processes that read and
    transform ahead, `prefetch` batches (default twice the workers) at a time, and hand them over in
    shared memory; with `thread_pool` they are threads. A batch that takes longer than `timeout`
    seconds, or a worker that dies, raises MXNetError. `pin_memory`, `pin_device_id` and
    `try_nopython` are accepted for MXNet's sake and change nothing on CPUs.

    Each `next` is a span `DataLoader` of category `input` in a trace.
    """

    def __init__(self, dataset: Union[Dataset, Sequence[Any]], batch_size: Optional[int] = None,
                 shuffle: bool = False, sampler: Optional[Sampler] = None,
                 last_batch: Optional[str] = None, batch_sampler: Optional[Sampler] = None,
                 batchify_fn: Optional[Callable] = None, num_workers: int = 0,
                 pin_memory: bool = False, pin_device_id: int = 0,
                 prefetch: Optional[int] = None, thread_pool: bool = False, timeout: float = 120,
                 try_nopython: Optional[bool] = None) -> None:
        if num_workers < 0:
            raise ValueError(f"num_workers must be at least 0, not {num_workers}")
        if timeout <= 0:
            raise ValueError(f"timeout must be above 0 seconds, not {timeout}")
        self._dataset = dataset
        self._batches = batch_sampler if batch_sampler is not None else _batch_sampler(
            len(dataset), batch_size, shuffle, sampler, last_batch)
        if batch_sampler is not None and (batch_size is not None or shuffle or sampler is not None
                                          or last_batch is not None):
            raise ValueError("batch_sampler excludes batch_size, shuffle, sampler and last_batch")
        self._batchify = batchify_fn
        self._workers = num_workers
        self._threads = thread_pool
        self._timeout_s = timeout
        self._prefetch = max(1, prefetch if prefetch is not None else 2 * num_workers)
        self._pool: Any = None  # an executor
        self._name = f"mxnet-{os.getpid()}-{secrets.token_hex(3)}"  # of shared memory
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        return self._timed(self._read_ahead() if self._workers > 0 else self._read())

    @staticmethod
    def _timed(batches: Generator[Any, None, None]) -> Iterator[Any]:
        """Each `next` is a span of the trace: how long the program waited for its input."""
        span, end = input_span("DataLoader"), object()
        try:
            while True:
                with span:
                    batch = next(batches, end)
                if batch is end:
                    return
                yield batch
        finally:
            batches.close()

    def __del__(self) -> None:
        if getattr(self, "_pool", None) is not None:
            self._end_pool()

    def _make(self, indices: List[int]) -> Any:
        make = self._batchify if self._batchify is not None else batchify.stack
        return make([self._dataset[i] for i in indices])

    def _read(self) -> Generator[Any, None, None]:
        for indices in self._batches:
            yield self._make(indices)

    def _read_ahead(self) -> Generator[Any, None, None]:
        waiting: Deque[_Batch] = deque()
        try:
            for indices in self._batches:
                waiting.append(self._submit(indices))
                if len(waiting) > self._prefetch:
                    yield self._next(waiting)
            while waiting:
                yield self._next(waiting)
        except KeyboardInterrupt:
            self._end_pool()
            raise
        finally:
            self._drop(waiting)

    def _submit(self, indices: List[int]) -> _Batch:
        if self._pool is None:
            self._pool = (ThreadPoolExecutor(self._workers) if self._threads else
                          make_process_pool(self._workers, self._dataset, self._batchify))
        try:
            if self._threads:
                return _Batch("", self._pool.submit(self._make, indices))
            name = f"{self._name}-{next(self._numbers)}"
            return _Batch(name, self._pool.submit(make_shared_batch, indices, name))
        except BrokenExecutor as error:
            raise self._dead(error) from error

    def _next(self, waiting: Deque[_Batch]) -> Any:
        """Whatever interrupts this, the batch still counts as waiting."""
        result = self._result(waiting[0].future)
        waiting.popleft()
        return result

    def _result(self, future: Future) -> Any:
        try:
            wait = functools.partial(future.result, self._timeout_s)
            result = wait() if future.done() else blocked_by_input("DataLoader", wait)
        except BrokenExecutor as error:
            raise self._dead(error) from error
        except FutureTimeout as error:
            if future.done():
                raise  # the data set's own
            self._end_pool()
            raise MXNetError(f"DataLoader: no batch from the {self._workers} workers within "
                             f"{self._timeout_s} s; raise `timeout` if the data set is that slow"
                             ) from error
        return result if self._threads else take_shared_batch(result)

    def _end_pool(self) -> None:
        """Whatever the workers are at: nobody waits for it. The next iteration starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None and self._threads:
            pool.shutdown(wait=False)
        elif pool is not None:
            kill_workers(pool)

    def _dead(self, error: BaseException) -> MXNetError:
        self._end_pool()
        return MXNetError("DataLoader: a worker process died; it was killed, or out of memory, or "
                          f"crashed in the data set ({error})")

    def _drop(self, waiting: Deque[_Batch]) -> None:
        """What was made and not asked for: shared memory must not stay behind."""
        for batch in waiting:
            if not batch.future.cancel() and not self._threads:
                batch.future.add_done_callback(functools.partial(_remove, batch.name))


def _remove(name: str, _: Future) -> None:
    remove_shared_batch(name)


def _batch_sampler(length: int, batch_size: Optional[int], shuffle: bool,
                   sampler: Optional[Sampler], last_batch: Optional[str]) -> BatchSampler:
    if batch_size is None:
        raise ValueError("DataLoader needs a batch_size, or a batch_sampler")
    if sampler is not None and shuffle:
        raise ValueError("shuffle and sampler exclude each other")
    if sampler is None:
        sampler = RandomSampler(length) if shuffle else SequentialSampler(length)
    return BatchSampler(sampler, batch_size, last_batch if last_batch is not None else "keep")
