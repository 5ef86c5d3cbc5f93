# SPDX-License-Identifier: Apache-2.0
"""What one device has of a module: an executor, and which rows of each batch go to it."""
from __future__ import annotations

from typing import Any, Container, Dict, List, Optional, Sequence, Tuple

from .. import ndarray as nd
from ..context import Context
from ..io import DataDesc
from .base_module import as_list


def descriptions(shapes: Any) -> List[DataDesc]:
    """One of each input: as given, or of (name, shape)."""
    return [item if isinstance(item, DataDesc) else DataDesc(*item) for item in as_list(shapes)]


def check_names(given: List[DataDesc], names: Sequence[str], what: str) -> None:
    """ValueError if the inputs are not those that the module was made for."""
    if sorted(item.name for item in given) != sorted(names):
        raise ValueError(f"Data provided by {what}_shapes don't match names specified by {what}_names ({given} vs. {list(names)})")


def gradient_requests(said: Any, names: List[str], learned: Container[str]) -> Dict[str, str]:
    """What the gradient of each argument does: as said for all that learn, by name, or in the order of the names."""
    usual = said if isinstance(said, str) else "write"
    single = said if isinstance(said, dict) else dict(zip(names, said)) if isinstance(said, (list, tuple)) else {}
    return {name: single.get(name, usual if name in learned else "null") for name in names}


class Replica:
    """The network on one device, for some rows of each batch."""

    def __init__(self, context: Context, rows: slice) -> None:
        self.context, self.rows = context, rows
        self.executor: Any = None

    def shape(self, item: DataDesc) -> Tuple[int, ...]:
        """Of this device's part of an input."""
        axis = DataDesc.get_batch_axis(item.layout)
        if axis < 0:
            return tuple(item.shape)
        size = len(range(*self.rows.indices(item.shape[axis])))
        return (*item.shape[:axis], size, *item.shape[axis + 1:])

    def part(self, layout: Optional[str], array: Any) -> Any:
        """This device's rows of an array; all of one that has no rows."""
        axis = DataDesc.get_batch_axis(layout)
        if axis < 0 or self.rows == slice(None):
            return array
        return nd.slice_axis(array, axis=axis, begin=self.rows.start, end=self.rows.stop)


def joined(parts: List[Any], layout: Optional[str]) -> Any:
    """The array of all rows of the devices' parts; of one that has no rows, the first device's."""
    axis = DataDesc.get_batch_axis(layout)
    if len(parts) == 1 or axis < 0:
        return parts[0]
    return nd.concat(*[item.as_in_context(parts[0].context) for item in parts], dim=axis)
