# SPDX-License-Identifier: Apache-2.0
"""Worker processes of the loader. Each is forked with the data set; a batch comes back as the names of
blocks of shared memory, which the parent copies into arrays and removes."""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Callable, List, Optional, Tuple

import numpy as onp

from ... import ndarray as nd
from . import batchify

_dataset: Any = None  # in a worker
_batchify: Optional[Callable] = None


@dataclass(frozen=True)
class _Shared:
    """An array in shared memory."""

    block: str
    shape: Tuple[int, ...]
    dtype: str


def make_process_pool(workers: int, dataset: Any,
                      batchify_fn: Optional[Callable]) -> ProcessPoolExecutor:
    """Workers that know `dataset`. They are forked at the first batch asked for."""
    nd.waitall()  # forked processes inherit memory, not work under way
    resource_tracker.ensure_running()  # one for all, or each child starts its own
    return ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin,
                               (dataset, batchify_fn))


def _begin(dataset: Any, batchify_fn: Optional[Callable]) -> None:
    global _dataset, _batchify
    _dataset, _batchify = dataset, batchify_fn
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, who ends the workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent sends nothing: its end of a pipe closes."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends workers in the middle of their work, which nobody waits for any more."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def make_shared_batch(indices: List[int]) -> Any:
    """In a worker: the batch of these items."""
    samples = [_dataset[i] for i in indices]
    batch = _batchify(samples) if _batchify is not None else batchify.stack_on_host(samples)
    return _share(batch)


def _share(batch: Any) -> Any:
    if isinstance(batch, nd.NDArray):
        batch = batch.asnumpy()
    if isinstance(batch, (list, tuple)):
        return [_share(member) for member in batch]
    if not isinstance(batch, onp.ndarray) or batch.dtype.hasobject:
        return batch
    block = SharedMemory(create=True, size=max(1, batch.nbytes))
    onp.ndarray(batch.shape, batch.dtype, buffer=block.buf)[...] = batch
    block.close()
    return _Shared(block.name, batch.shape, batch.dtype.str)


def take_shared_batch(shared: Any, discard: bool = False) -> Any:
    """In the parent: the batch as arrays; its shared memory is gone afterwards."""
    if isinstance(shared, list):
        return [take_shared_batch(member, discard) for member in shared]
    if not isinstance(shared, _Shared):
        return shared
    block = SharedMemory(shared.block)
    try:
        if discard:
            return None
        view = onp.ndarray(shared.shape, onp.dtype(shared.dtype), buffer=block.buf)
        batch = batchify.to_arrays(view)
        del view
        return batch
    finally:
        block.close()
        block.unlink()
