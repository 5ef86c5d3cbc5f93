# SPDX-License-Identifier: Apache-2.0
"""Cells made of cells: one after the other, and one in each direction."""
from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

from ... import ndarray as nd
from ... import numpy as np
from ..functions import is_numpy
from . import states as parts
from .cell import HybridRecurrentCell, Info, RecurrentCell


class _Stack(RecurrentCell):
    """Cells one after the other; the states are those of all, in order."""

    def add(self, *cells: Any) -> None:
        for cell in cells:
            self.register_child(cell)

    def _cells(self) -> List[Any]:
        return list(self._children.values())

    def state_info(self, batch_size: int = 0) -> Info:
        return [info for cell in self._cells() for info in cell.state_info(batch_size)]

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        after: List[Any] = []
        for cell in self._cells():
            count = len(cell.state_info())
            inputs, new = cell(inputs, list(states[len(after):len(after) + count]))
            after.extend(new)
        return inputs, after

    def unroll(self, length: int, inputs: Any, begin_state: Optional[List[Any]] = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None, valid_length: Any = None) -> Tuple[Any, List[Any]]:
        """Cell by cell, since one of both directions cannot go step by step."""
        self.reset()
        cells, after, begin = self._cells(), [], 0
        for i, cell in enumerate(cells):
            count = len(cell.state_info())
            states = None if begin_state is None else list(begin_state[begin:begin + count])
            begin += count
            inputs, new = cell.unroll(length, inputs, states, layout, merge_outputs if i == len(cells) - 1 else None,
                                      valid_length)
            after.extend(new)
        return inputs, after

    def __getitem__(self, key: int) -> Any:
        return self._cells()[key]

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cells())


class SequentialRNNCell(_Stack):
    """Cells one after the other, `add(cell)`."""


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Hybrid cells one after the other, `add(cell)`."""


class BidirectionalCell(HybridRecurrentCell):
    """Two cells: one goes from the first step to the last, one back; outputs are joined. Only `unroll` runs it."""

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_", prefix: Optional[str] = None,
                 params: Any = None) -> None:
        super().__init__(prefix, params)
        self._output_prefix = output_prefix
        self.l_cell, self.r_cell = l_cell, r_cell

    def __call__(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError("BidirectionalCell cannot be stepped; use unroll")

    def state_info(self, batch_size: int = 0) -> Info:
        return [*self.l_cell.state_info(batch_size), *self.r_cell.state_info(batch_size)]

    def unroll(self, length: int, inputs: Any, begin_state: Optional[List[Any]] = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None, valid_length: Any = None) -> Tuple[Any, List[Any]]:
        self.reset()
        is_list = isinstance(inputs, (list, tuple))
        steps, axis = parts.steps_of(inputs, length, layout)
        states = begin_state
        if states is None:
            states = parts.zeros_like_of(steps[0], self.state_info(steps[0].shape[0]))
        count = len(self.l_cell.state_info())
        there, after = self.l_cell.unroll(length, steps, list(states[:count]), layout, False, valid_length)
        back, more = self.r_cell.unroll(length, _turned(steps, valid_length), list(states[count:]), layout, False,
                                        valid_length)
        outputs = [parts.concat([one, other], 1) for one, other in zip(there, _turned(back, valid_length))]
        merges = not is_list if merge_outputs is None else merge_outputs
        return (parts.stack(outputs, axis) if merges else outputs), [*after, *more]


def _turned(steps: List[Any], valid_length: Any) -> List[Any]:
    """The steps from the last to the first, of each sequence by itself; what comes after its end stays there."""
    if valid_length is None:
        return steps[::-1]
    count, batch = len(steps), steps[0].shape[0]
    module: Any = np if is_numpy(steps[0]) else nd
    rows = parts.stack(steps, 1).reshape((-1,) + tuple(steps[0].shape[1:]))
    first = module.arange(batch, dtype="int32", ctx=steps[0].context) * count
    turned = []
    for step in range(count):
        place = valid_length.astype("int32") - 1 - step
        place = place * (place >= 0).astype("int32") + step * (place < 0).astype("int32")
        turned.append(module.take(rows, first + place, axis=0))
    return turned
