# SPDX-License-Identifier: Apache-2.0
"""Helpers of training loops."""
from __future__ import annotations

import math
from typing import Any, List, Sequence

import numpy as onp

from .._absent import refusing
from .. import ndarray as nd
from .. import numpy as np
from ..context import Context
from ..profiler.config import warn
from ..util import is_np_array


def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> List[Any]:
    """`num_slice` parts along `batch_axis`; uneven ones, of which the first have one more, only without
    `even_split`."""
    size = data.shape[batch_axis]
    if num_slice < 1 or size < num_slice or (even_split and size % num_slice != 0):
        raise ValueError(f"data of shape {data.shape} cannot be split into {num_slice} parts along axis "
                         f"{batch_axis}" + ("" if even_split is False else "; even_split=False "
                                            "allows unequal parts"))
    least, longer = divmod(size, num_slice)
    ends = [least * i + min(i, longer) for i in range(num_slice + 1)]
    index = (slice(None),) * batch_axis
    return [data[index + (slice(begin, end),)] for begin, end in zip(ends, ends[1:])]


def split_and_load(data: Any, ctx_list: Sequence[Context], batch_axis: int = 0,
                   even_split: bool = True) -> List[Any]:
    """As `split_data`, each part on its device."""
    if not isinstance(data, nd.NDArray):
        data = (np if is_np_array() else nd).array(onp.asarray(data))
    return [part.as_in_context(ctx)
            for part, ctx in zip(split_data(data, len(ctx_list), batch_axis, even_split), ctx_list)]


def clip_global_norm(arrays: Sequence[Any], max_norm: float, check_isfinite: bool = True) -> float:
    """Scales the arrays together so that the norm of them all is at most `max_norm`; returns what it
    was. A norm that is not finite is warned of, and the arrays are then undefined."""
    norm = math.sqrt(sum(float((array * array).sum()) for array in arrays))
    if check_isfinite and not math.isfinite(norm):
        warn("nan or inf is detected. Clipping results will be undefined.")
    if norm > max_norm:
        for array in arrays:
            array *= max_norm / (norm + 1e-8)
    return norm


__getattr__ = refusing(__name__)
