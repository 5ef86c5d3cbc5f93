# SPDX-License-Identifier: Apache-2.0
"""Worker processes of the loader. Each is forked with the data set; a batch comes back as the names of
blocks of shared memory, which the parent copies into arrays and removes. The parent has named the
batch, so it can also remove what a worker left that was killed before it could tell."""
from __future__ import annotations

import _posixshmem
import itertools
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.shared_memory import SharedMemory
from typing import Any, Callable, Iterator, List, Optional, Tuple

import numpy as onp

from ... import ndarray as nd
from . import batchify

_dataset: Any = None  # in a worker
_batchify: Optional[Callable] = None
_making = threading.Lock()  # a block, which the resource tracker does not know of yet


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
        _making.acquire()  # the resource tracker outlives us and removes what it knows of
        os._exit(1)


def kill_workers(pool: ProcessPoolExecutor) -> None:
    """Ends workers in the middle of their work, which nobody waits for any more. The thread that
    looks after them has ended as well: at the program's end Python would write to a pipe that it
    closes. It may be the thread that collects the loader: it cannot wait for itself."""
    processes, keeper = list((pool._processes or {}).values()), pool._executor_manager_thread
    pool.shutdown(wait=False, cancel_futures=True)  # first: it fails on cancelled work of dead workers
    for process in processes:
        process.kill()
    if keeper is not None and keeper is not threading.current_thread():
        keeper.join()


def make_shared_batch(indices: List[int], name: str) -> Any:
    """In a worker: the batch of these items, in blocks `name`-0, -1, ..."""
    samples = [_dataset[i] for i in indices]
    batch = _batchify(samples) if _batchify is not None else batchify.stack_on_host(samples)
    return _share(batch, (f"{name}-{i}" for i in itertools.count()))


def _share(batch: Any, names: Iterator[str]) -> Any:
    if isinstance(batch, nd.NDArray):
        batch = batch.asnumpy()
    if isinstance(batch, (list, tuple)):
        return [_share(member, names) for member in batch]
    if not isinstance(batch, onp.ndarray) or batch.dtype.hasobject:
        return batch
    with _making:
        block = SharedMemory(next(names), create=True, size=max(1, batch.nbytes))
    onp.ndarray(batch.shape, batch.dtype, buffer=block.buf)[...] = batch
    block.close()
    return _Shared(block.name, batch.shape, batch.dtype.str)


def take_shared_batch(shared: Any) -> Any:
    """In the parent: the batch as arrays; its shared memory is gone afterwards. Whatever interrupts
    this leaves the blocks from 0 to some number, as `remove_shared_batch` wants them."""
    blocks: List[SharedMemory] = []
    batch = _copy(shared, blocks)
    _remove(blocks)
    return batch


def _copy(shared: Any, blocks: List[SharedMemory]) -> Any:
    if isinstance(shared, list):
        return [_copy(member, blocks) for member in shared]
    if not isinstance(shared, _Shared):
        return shared
    blocks.append(SharedMemory(shared.block))
    view = onp.ndarray(shared.shape, onp.dtype(shared.dtype), buffer=blocks[-1].buf)
    return batchify.to_arrays(view)


def remove_shared_batch(name: str) -> None:
    """In the parent: what is there of the batch, which nobody writes any more."""
    blocks: List[SharedMemory] = []
    try:
        for i in itertools.count():
            blocks.append(SharedMemory(f"{name}-{i}"))
    except FileNotFoundError:
        pass
    except ValueError:  # the last one is empty: its worker was killed before it gave it a size
        _posixshmem.shm_unlink(f"/{name}-{len(blocks)}")  # SharedMemory cannot open it
    _remove(blocks)


def _remove(blocks: List[SharedMemory]) -> None:
    """The tracker first forgets a block: an interrupt before it is gone leaves it for
    `remove_shared_batch`, while SharedMemory's own order leaves a warning of what is not there."""
    for block in reversed(blocks):
        block.close()
        resource_tracker.unregister(f"/{block.name}", "shared_memory")
        _posixshmem.shm_unlink(f"/{block.name}")
