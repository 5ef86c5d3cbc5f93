# SPDX-License-Identifier: Apache-2.0
"""States of optimizers in files: the arrays of parameter 3 are called "3.0", "3.1" …, or "3" if its state
is a single array, and with a float32 copy of the weight "3.0" and "3.1.0", "3.1.1" …; beside them how often each
parameter was updated, and which states were None or lists."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from .. import ndarray as nd
from ..base import MXNetError
from ..context import Context
from .optimizer import Optimizer, State

_COUNTS = "update_counts"
_KINDS = "state_kinds"  # of each parameter; files without it hold arrays and tuples
_TUPLE, _LIST, _NONE = range(3)
_BEHIND_COPY = 3  # added to the kind of a state that comes behind a copy of the weight


def _named(index: Any, state: State) -> Dict[str, Any]:
    if isinstance(state, (tuple, list)):
        return {name: array for place, part in enumerate(state)
                for name, array in _named(f"{index}.{place}", part).items()}
    return {} if state is None else {str(index): state}


def _kind(state: State) -> int:
    if isinstance(state, tuple) and len(state) == 2 and (state[1] is None or isinstance(state[1], (tuple, list))):
        return _BEHIND_COPY + _kind(state[1])
    return _NONE if state is None else _LIST if isinstance(state, list) else _TUPLE


def save_states(filename: str, optimizer: Optimizer, states: Sequence[Optional[State]]) -> None:
    """Writes the states of parameters 0, 1, …; None where there is none yet."""
    arrays: Dict[str, Any] = {}
    for index, state in enumerate(states):
        arrays.update(_named(index, state))
    counts = [optimizer.update_count(index) for index in range(len(states))]
    arrays[_COUNTS] = nd.array(counts, dtype="int64")
    kinds = [_kind(state) for state in states]
    arrays[_KINDS] = nd.array(kinds, dtype="int64")
    nd.save(filename, arrays)


def load_states(filename: str, optimizer: Optimizer, parameters: int) -> List[Optional[State]]:
    """Reads them back and sets the optimizer's counts. MXNetError: not such a file, or one of other
    parameters."""
    arrays = nd.load(filename)
    if not isinstance(arrays, dict) or _COUNTS not in arrays:
        raise MXNetError(f"{filename}: holds no states of an optimizer")
    counts = arrays.pop(_COUNTS).asnumpy().tolist()
    kinds = arrays.pop(_KINDS).asnumpy().tolist() if _KINDS in arrays else [_TUPLE] * len(counts)
    if len(counts) != parameters:
        raise MXNetError(f"{filename}: states of {len(counts)} parameters, not of {parameters}")
    states: List[Optional[State]] = []
    for index, count in enumerate(counts):
        if count > optimizer.begin_num_update:
            optimizer.set_update_count(index, int(count))
            states.append(_state_of(arrays, index, kinds[index]))
        else:
            states.append(None)
    return states


def _state_of(arrays: Dict[str, Any], index: Any, kind: int) -> State:
    if str(index) in arrays:
        return arrays[str(index)]
    if kind >= _BEHIND_COPY:
        return arrays[f"{index}.0"], _state_of(arrays, f"{index}.1", kind - _BEHIND_COPY)
    state: List[Any] = []
    while f"{index}.{len(state)}" in arrays:
        state.append(arrays[f"{index}.{len(state)}"])
    return None if kind == _NONE else state if kind == _LIST else tuple(state)


_KEY = "key "


def save_keyed_states(filename: str, optimizer: Optimizer, states: Dict[Any, State]) -> None:
    """Writes states by keys, which are numbers or texts: the state of the first is called as parameter 0's
    above, and an array "key 0 int 7" or "key 0 str weight" says which key it is, how often it was updated,
    and what kind of state it has."""
    arrays: Dict[str, Any] = {_COUNTS: nd.array([len(states)], dtype="int64")}
    for place, (key, state) in enumerate(states.items()):
        arrays.update(_named(place, state))
        arrays[f"{_KEY}{place} {type(key).__name__} {key}"] = nd.array(
            [optimizer.update_count(key), _kind(state)], dtype="int64")
    nd.save(filename, arrays)


def load_keyed_states(filename: str, optimizer: Optimizer) -> Dict[Any, State]:
    """Reads them back and sets the optimizer's counts. MXNetError: not such a file."""
    arrays = nd.load(filename)
    names = [name for name in arrays if name.startswith(_KEY)] if isinstance(arrays, dict) else []
    if not isinstance(arrays, dict) or _COUNTS not in arrays or arrays[_COUNTS].asnumpy().tolist() != [len(names)]:
        raise MXNetError(f"{filename}: holds no states of a key-value store's optimizer")
    states: Dict[Any, State] = {}
    for name in names:
        place, kind, text = name[len(_KEY):].split(" ", 2)
        key: Any = int(text) if kind == "int" else text
        count, shape = arrays[name].asnumpy().tolist()
        states[key] = _state_of(arrays, int(place), shape)
        optimizer.set_update_count(key, count)
    return states


def copy_state(state: State, ctx: Context) -> State:
    """The state on another device, or a copy on its own."""
    if isinstance(state, (tuple, list)):
        return type(state)(copy_state(part, ctx) for part in state)
    return None if state is None else state.copyto(ctx)
