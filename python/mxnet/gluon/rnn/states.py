# SPDX-License-Identifier: Apache-2.0
"""What layers and cells share: states to begin with, and sequences as steps."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from ... import ndarray as nd
from ... import numpy as np
from ...util import is_np_array
from ..functions import is_numpy


def begin_states(infos: List[Dict[str, Any]], func: Optional[Callable[..., Any]], settings: Dict[str, Any]) -> List[Any]:
    """An array for each state, of zeros or what `func(shape=…)` makes."""
    make = func if func is not None else np.zeros if is_np_array() else nd.zeros
    return [make(shape=info["shape"], **settings) for info in infos]


def zeros_like_of(inputs: Any, infos: List[Dict[str, Any]]) -> List[Any]:
    """Zeros of the kind, type and device of `inputs`."""
    make = np.zeros if is_numpy(inputs) else nd.zeros
    return begin_states(infos, make, {"dtype": inputs.dtype, "ctx": inputs.context})


def stack(arrays: List[Any], axis: int) -> Any:
    return np.stack(arrays, axis=axis) if is_numpy(arrays[0]) else nd.stack(*arrays, axis=axis)


def concat(arrays: List[Any], axis: int) -> Any:
    return np.concatenate(arrays, axis=axis) if is_numpy(arrays[0]) else nd.concat(*arrays, dim=axis)


def steps_of(inputs: Any, length: int, layout: str) -> Tuple[List[Any], int]:
    """The steps of a sequence, an array or a list of them already; and the axis of time."""
    axis = layout.find("T")
    if axis < 0 or "N" not in layout:
        raise ValueError(f"layout must have T and N, as 'NTC' and 'TNC', not {layout!r}")
    if isinstance(inputs, (list, tuple)):
        if len(inputs) != length:
            raise ValueError(f"unroll: {length} steps are wanted, the list has {len(inputs)}")
        return list(inputs), axis
    if inputs.shape[axis] != length:
        raise ValueError(f"unroll: {length} steps are wanted, axis {axis} of the array has {inputs.shape[axis]}")
    return [inputs[i] if axis == 0 else inputs[:, i] for i in range(length)], axis


def lives(valid_length: Any, step: int, state: Any) -> Any:
    """1 for each sequence that has this step, else 0; to multiply the state with."""
    flags = (valid_length > step).astype(state.dtype)
    return flags.reshape((-1,) + (1,) * (len(state.shape) - 1))


def chosen(flags: Any, new: Any, old: Any) -> Any:
    return flags * new + (1 - flags) * old
