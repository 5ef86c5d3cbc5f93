# SPDX-License-Identifier: Apache-2.0
"""An optimizer with the states of all weights that it was given."""
from __future__ import annotations

import pickle
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

from .optimizer import Optimizer, State
from .states import load_keyed_states, save_keyed_states


class Update(NamedTuple):
    """What an optimizer is told of one weight."""

    index: Any
    weight: Any
    grad: Any
    state: State


def groups(optimizer: Optimizer, updates: Sequence[Update]) -> Iterator[List[Update]]:
    """The updates in the order and the groups in which they are made: up to the optimizer's aggregate_num of
    one type; one by one if that is not above 1."""
    size = max(optimizer.aggregate_num, 1)
    if size == 1:
        yield from ([update] for update in updates)
        return
    by_type: Dict[Any, List[Update]] = {}
    for update in updates:
        by_type.setdefault(update.weight.dtype, []).append(update)
    for alike in by_type.values():
        yield from (alike[begin:begin + size] for begin in range(0, len(alike), size))


def update_group(optimizer: Optimizer, group: List[Update]) -> None:
    """Makes the updates of a group: the optimizer gets lists if it aggregates."""
    if optimizer.aggregate_num > 1:
        optimizer.update_multi_precision(*(list(column) for column in zip(*group)))
    else:
        optimizer.update_multi_precision(*group[0])


class Updater:
    """`updater(index, gradient, weight)` updates a weight, or a list of them; `states` by index."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: Dict[Any, State] = {}

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        # A key of a key-value store comes as bytes.
        keys = [key.decode() if isinstance(key, bytes) else key for key in index]
        for key, one in zip(keys, weight):
            if key not in self.states:
                self.states[key] = self.optimizer.create_state_multi_precision(key, one)
        updates = [Update(*item, self.states[item[0]]) for item in zip(keys, weight, grad)]
        for group in groups(self.optimizer, updates):
            update_group(self.optimizer, group)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states, and with `dump_optimizer` the optimizer, pickled."""
        return pickle.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    def set_states(self, states: bytes) -> None:
        """Takes what `get_states` gave in place of its own. Whoever unpickles bytes runs what they say: only one's own."""
        found = pickle.loads(states)
        self.states, self.optimizer = found if isinstance(found, tuple) else (found, self.optimizer)

    def save(self, filename: str) -> None:
        """Writes the states to a file."""
        save_keyed_states(filename, self.optimizer, self.states)

    def load(self, filename: str) -> None:
        """Reads what `save` wrote, in place of the states there are."""
        self.states = load_keyed_states(filename, self.optimizer)


def get_updater(optimizer: Optimizer) -> Updater:
    """The updater of an optimizer."""
    return Updater(optimizer)
