# SPDX-License-Identifier: Apache-2.0
"""Cells that change what another cell takes or gives."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ... import autograd
from ... import ndarray as nd
from ... import numpy as np
from ..functions import functions_of, is_numpy
from . import states as parts
from .cell import HybridRecurrentCell, Info


def _ones_like(array: Any) -> Any:
    return (np if is_numpy(array) else nd).ones_like(array)


class DropoutCell(HybridRecurrentCell):
    """Drops elements of its input in training; it has no states."""

    def __init__(self, rate: float, axes: Sequence[int] = (), prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self._rate, self._axes = rate, tuple(axes)

    def state_info(self, batch_size: int = 0) -> Info:
        return []

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        if self._rate > 0:
            inputs = functions_of(inputs).dropout(inputs, p=self._rate, axes=self._axes)
        return inputs, list(states)

    def extra_repr(self) -> str:
        return f"rate={self._rate}, axes={self._axes}"


class ModifierCell(HybridRecurrentCell):
    """The base of cells around another, `base_cell`, whose states they have."""

    def __init__(self, base_cell: Any, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self.base_cell = base_cell

    def state_info(self, batch_size: int = 0) -> Info:
        return self.base_cell.state_info(batch_size)

    def begin_state(self, batch_size: int = 0, func: Optional[Callable[..., Any]] = None, **settings: Any) -> List[Any]:
        return self.base_cell.begin_state(batch_size, func, **settings)


class ZoneoutCell(ModifierCell):
    """In training, elements of the output and of states are drawn to stay what they were the step before."""

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        super().__init__(base_cell)
        self._outputs, self._states = zoneout_outputs, zoneout_states

    def reset(self) -> None:
        super().reset()
        self._output_before: Any = None

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, after = self.base_cell(inputs, states)
        before = self._output_before if self._output_before is not None else output * 0
        output = _zoned(self._outputs, output, before)
        self._output_before = output
        return output, [_zoned(self._states, new, old) for new, old in zip(after, states)]


def _zoned(rate: float, new: Any, old: Any) -> Any:
    if rate == 0 or not autograd.is_training():
        return new
    changes = functions_of(new).dropout(_ones_like(new), p=rate) > 0
    return parts.chosen(changes.astype(new.dtype), new, old)


class ResidualCell(ModifierCell):
    """The output of a cell plus its input."""

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, after = self.base_cell(inputs, states)
        return output + inputs, after


class VariationalDropoutCell(ModifierCell):
    """Dropout of inputs, of the first state and of outputs, with one draw for all steps of a sequence."""

    def __init__(self, base_cell: Any, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0) -> None:
        super().__init__(base_cell)
        self._rates = {"inputs": drop_inputs, "states": drop_states, "outputs": drop_outputs}

    def reset(self) -> None:
        super().reset()
        self._masks: Dict[str, Any] = {}

    def _dropped(self, which: str, array: Any) -> Any:
        rate = self._rates[which]
        if rate == 0:
            return array
        if which not in self._masks:
            self._masks[which] = functions_of(array).dropout(_ones_like(array), p=rate)
        return array * self._masks[which]

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        states = [self._dropped("states", states[0]), *states[1:]]
        output, after = self.base_cell(self._dropped("inputs", inputs), states)
        return self._dropped("outputs", output), after
