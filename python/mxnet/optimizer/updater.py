# SPDX-License-Identifier: Apache-2.0
"""An optimizer with the states of all weights that it was given."""
from __future__ import annotations

from typing import Any, Dict

from .optimizer import Optimizer, State
from .states import load_keyed_states, save_keyed_states


class Updater:
    """`updater(index, gradient, weight)` updates a weight, or a list of them; `states` by index."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: Dict[Any, State] = {}

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        if isinstance(index, (list, tuple)):
            for one in zip(index, grad, weight):
                self(*one)
            return
        if isinstance(index, bytes):  # a key of a key-value store
            index = index.decode()
        if index not in self.states:
            self.states[index] = self.optimizer.create_state(index, weight)
        self.optimizer.update(index, weight, grad, self.states[index])

    def save(self, filename: str) -> None:
        """Writes the states to a file."""
        save_keyed_states(filename, self.optimizer, self.states)

    def load(self, filename: str) -> None:
        """Reads what `save` wrote, in place of the states there are."""
        self.states = load_keyed_states(filename, self.optimizer)


def get_updater(optimizer: Optimizer) -> Updater:
    """The updater of an optimizer."""
    return Updater(optimizer)
