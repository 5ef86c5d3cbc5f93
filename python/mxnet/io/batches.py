# SPDX-License-Identifier: Apache-2.0
"""What iterators give, and what they are."""
from __future__ import annotations

from collections import namedtuple
from typing import Any, Iterator, List, Optional, Sequence, Tuple

import numpy as onp

from ..profiler.waits import input_span


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name and shape of an array, which it is a pair of, with its type and layout.

    layout : letters of the axes, N that of the batch
    """

    dtype: Any
    layout: Optional[str]

    def __new__(cls, name: str, shape: Sequence[int], dtype: Any = onp.float32, layout: Optional[str] = "NCHW") -> "DataDesc":
        made = super().__new__(cls, name, shape)
        made.dtype, made.layout = dtype, layout
        return made

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    __str__ = __repr__

    @staticmethod
    def get_batch_axis(layout: Optional[str]) -> int:
        """Which axis is the batch's: that of N, 0 without a layout, -1 if there is no N."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes: Sequence[Tuple[str, Tuple[int, ...]]], types: Optional[Sequence[Tuple[str, Any]]] = None) -> List["DataDesc"]:
        """Descriptions of pairs of names and shapes, and of names and types."""
        known = dict(types or [])
        return [DataDesc(name, shape, known[name]) if types is not None else DataDesc(name, shape) for name, shape in shapes]


class DataBatch:
    """Arrays of one step.

    data, label : lists of arrays
    pad : how many rows at the end are filled up, and do not count
    index : numbers of the rows
    """

    def __init__(self, data: Any, label: Any = None, pad: Optional[int] = None, index: Any = None, bucket_key: Any = None,
                 provide_data: Any = None, provide_label: Any = None) -> None:
        if data is not None:
            assert isinstance(data, (list, tuple)), "Data must be list of NDArrays"
        if label is not None:
            assert isinstance(label, (list, tuple)), "Label must be list of NDArrays"
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key, self.provide_data, self.provide_label = bucket_key, provide_data, provide_label

    def __str__(self) -> str:
        data = [array.shape for array in self.data]
        label = [array.shape for array in self.label] if self.label else None
        return f"DataBatch: data shapes: {data} label shapes: {label}"


class DataIter:
    """The base of all iterators. A subclass gives `iter_next`, `getdata`, `getlabel`, `getindex`, `getpad`. In a trace
    each turn of a loop over one is a span of category `input`, with the iterator's name."""

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def reset(self) -> None:
        """Begins an epoch."""

    def next(self) -> DataBatch:
        """The next batch; StopIteration after the last one."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def __next__(self) -> DataBatch:
        with input_span(type(self).__name__):
            return self.next()

    def iter_next(self) -> bool:
        """Moves on; whether there is one more batch."""
        raise NotImplementedError(f"{type(self).__name__} has no iter_next")

    def getdata(self) -> Any:
        """Arrays of the current batch."""
        raise NotImplementedError(f"{type(self).__name__} has no getdata")

    def getlabel(self) -> Any:
        """Labels of the current batch."""
        raise NotImplementedError(f"{type(self).__name__} has no getlabel")

    def getindex(self) -> Any:
        """Numbers of the rows of the current batch, or None."""
        return None

    def getpad(self) -> Any:
        """How many rows of the current batch are filled up."""
        raise NotImplementedError(f"{type(self).__name__} has no getpad")
