# SPDX-License-Identifier: Apache-2.0
"""Samples into batches. Arrays are stacked, tuples member by member, numbers become an array."""
from __future__ import annotations

from typing import Any, List, Sequence

import numpy as onp

from ... import ndarray as nd
from ... import numpy as np
from ...util import is_np_array


def stack(samples: Sequence[Any]) -> Any:
    """The batch of `samples` as arrays of the runtime: one array, or a list of them for tuples."""
    first = samples[0]
    if isinstance(first, np.ndarray):
        return np.stack(list(samples))
    if isinstance(first, nd.NDArray):
        return nd.stack(*samples)
    if isinstance(first, tuple):
        return [stack(member) for member in zip(*samples)]
    values = onp.asarray(samples)
    module = np if is_np_array() else nd
    return module.array(values, dtype=values.dtype)


def stack_on_host(samples: Sequence[Any]) -> Any:
    """The same as NumPy arrays: what a worker process sends."""
    first = samples[0]
    if isinstance(first, nd.NDArray):
        return onp.stack([sample.asnumpy() for sample in samples])
    if isinstance(first, tuple):
        return [stack_on_host(member) for member in zip(*samples)]
    return onp.asarray(samples)


def to_arrays(batch: Any) -> Any:
    """A batch of NumPy arrays as arrays of the runtime. Other things stay what they are."""
    if isinstance(batch, onp.ndarray):
        module = np if is_np_array() else nd
        return module.array(batch, dtype=batch.dtype)
    if isinstance(batch, (list, tuple)):
        members: List[Any] = [to_arrays(member) for member in batch]
        return members
    return batch
