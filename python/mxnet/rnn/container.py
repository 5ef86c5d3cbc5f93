# SPDX-License-Identifier: Apache-2.0
"""Cells made of other cells."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from .. import symbol
from .cell import Arrays, BaseRNNCell, RNNParams, merged, steps_of


class _Container(BaseRNNCell):
    """Its states and weights are those of its cells, in order."""

    def _members(self) -> List[BaseRNNCell]:
        raise NotImplementedError

    def reset(self) -> None:
        super().reset()
        for cell in self._members():
            cell.reset()

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        return [info for cell in self._members() for info in cell.state_info]

    def _zero_states(self, step: Any) -> List[Any]:
        return [state for cell in self._members() for state in cell._zero_states(step)]

    def unpack_weights(self, args: Arrays) -> Arrays:
        for cell in self._members():
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        for cell in self._members():
            args = cell.pack_weights(args)
        return args


class SequentialRNNCell(_Container):
    """Cells one after the other, `add(cell)`."""

    def __init__(self, params: Optional[RNNParams] = None) -> None:
        self._cells: List[BaseRNNCell] = []
        super().__init__("", params)

    def _members(self) -> List[BaseRNNCell]:
        return self._cells

    def add(self, cell: BaseRNNCell) -> None:
        self._cells.append(cell)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        after: List[Any] = []
        for cell in self._cells:
            inputs, new = cell(inputs, states[len(after):len(after) + len(cell.state_info)])
            after.extend(new)
        return inputs, after

    def unroll(self, length: int, inputs: Any = None, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None) -> Tuple[Any, List[Any]]:
        self.reset()
        after: List[Any] = []
        for i, cell in enumerate(self._cells):
            count = len(cell.state_info)
            states = None if begin_state is None else begin_state[len(after):len(after) + count]
            inputs, new = cell.unroll(length, inputs, states, layout, merge_outputs if i + 1 == len(self._cells) else None)
            after.extend(new)
        return inputs, after


class BidirectionalCell(_Container):
    """Two cells: one goes from the first step to the last, one back; outputs are joined. Only `unroll` runs it."""

    def __init__(self, l_cell: BaseRNNCell, r_cell: BaseRNNCell, params: Optional[RNNParams] = None, output_prefix: str = "bi_") -> None:
        self._cells = [l_cell, r_cell]
        self._output_prefix = output_prefix
        super().__init__("", params)

    def _members(self) -> List[BaseRNNCell]:
        return self._cells

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(self, length: int, inputs: Any = None, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None) -> Tuple[Any, List[Any]]:
        self.reset()
        steps, axis = steps_of(inputs, length, layout, self._output_prefix)
        states = begin_state if begin_state is not None else self._zero_states(steps[0])
        left, right = self._cells
        count = len(left.state_info)
        there, after = left.unroll(length, steps, states[:count], layout, False)
        back, more = right.unroll(length, steps[::-1], states[count:], layout, False)
        outputs = [symbol.concat(one, other, dim=1, name=f"{self._output_prefix}t{i}")
                   for i, (one, other) in enumerate(zip(there, back[::-1]))]
        return (merged(outputs, axis) if merge_outputs else outputs), [*after, *more]


class DropoutCell(BaseRNNCell):
    """Drops elements of its input in training; it has no states."""

    def __init__(self, dropout: float, prefix: str = "dropout_", params: Optional[RNNParams] = None) -> None:
        super().__init__(prefix, params)
        self.dropout = dropout

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        return []

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        return (symbol.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs), list(states)


class ModifierCell(_Container):
    """The base of cells around another, `base_cell`."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        self.base_cell = base_cell
        super().__init__("", base_cell.params)

    def _members(self) -> List[BaseRNNCell]:
        return [self.base_cell]


class ResidualCell(ModifierCell):
    """The output of a cell plus its input."""

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, after = self.base_cell(inputs, states)
        return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual"), after


class ZoneoutCell(ModifierCell):
    """In training, parts of the output and of the states stay what they were a step before: each element with this
    probability. Before the first step the output was 0."""

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        if isinstance(base_cell, BidirectionalCell):
            raise ValueError("ZoneoutCell: a BidirectionalCell cannot be stepped; its cells can be zoned out")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._output_before: Any = None

    def reset(self) -> None:
        super().reset()
        self._output_before = None

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, after = self.base_cell(inputs, states)
        before = self._output_before if self._output_before is not None else symbol.zeros_like(output)
        output = _zoned_out(self.zoneout_outputs, output, before)
        self._output_before = output
        return output, [_zoned_out(self.zoneout_states, *pair) for pair in zip(after, states)]


def _zoned_out(share: float, new: Any, old: Any) -> Any:
    if share == 0:
        return new
    return symbol.where(symbol.Dropout(symbol.ones_like(new), p=share), new, old)
