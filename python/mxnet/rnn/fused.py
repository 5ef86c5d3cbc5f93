# SPDX-License-Identifier: Apache-2.0
"""Whole sequences by the operator RNN, and the same as cells."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

from .. import ndarray as nd
from .. import initializer, symbol
from .cell import Arrays, BaseRNNCell, GRUCell, LSTMCell, RNNCell, RNNParams, merged
from .container import BidirectionalCell, DropoutCell, SequentialRNNCell

_GATES = {"rnn_relu": ("",), "rnn_tanh": ("",), "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o")}


class FusedRNNCell(BaseRNNCell):
    """Layers of cells as one operator; only `unroll` runs it. `get_next_state`: whether unroll gives states."""

    def __init__(self, num_hidden: int, num_layers: int = 1, mode: str = "lstm", bidirectional: bool = False,
                 dropout: float = 0.0, get_next_state: bool = False, forget_bias: float = 1.0,
                 prefix: Optional[str] = None, params: Optional[RNNParams] = None) -> None:
        if mode not in _GATES:
            raise ValueError(f"FusedRNNCell: mode must be one of {', '.join(_GATES)}, not {mode!r}")
        super().__init__(prefix if prefix is not None else mode + "_", params)
        self._num_hidden, self._num_layers, self._mode, self._bidirectional = num_hidden, num_layers, mode, bidirectional
        self._dropout, self._get_next_state, self._forget_bias = dropout, get_next_state, forget_bias
        self._gate_names = _GATES[mode]
        self._sides = ["l", "r"] if bidirectional else ["l"]
        self._parameter = self.params.get("parameters", init=initializer.FusedRNN(
            None, num_hidden, num_layers, mode, bidirectional, forget_bias))

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        shape = (len(self._sides) * self._num_layers, 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError("FusedRNNCell cannot be stepped. Please use unroll")

    def _zero_states(self, step: Any) -> List[Any]:
        one = symbol.zeros_like(symbol.slice_axis(symbol.slice_axis(step, axis=0, begin=0, end=1), axis=2, begin=0, end=1))
        return [symbol.broadcast_axis(one, axis=(0, 2), size=(shape[0], shape[2])) for shape in self.state_shape]

    def unroll(self, length: int, inputs: Any = None, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None) -> Tuple[Any, List[Any]]:
        self.reset()
        axis = layout.find("T")
        if inputs is None:
            inputs = [symbol.var(f"{self._prefix}t{i}_data") for i in range(length)]
        if isinstance(inputs, (list, tuple)):
            inputs = merged(list(inputs), 0)
        elif axis == 1:
            inputs = symbol.SwapAxis(inputs, dim1=0, dim2=1)
        states = begin_state if begin_state is not None else self._zero_states(inputs)
        made = symbol.RNN(inputs, self._parameter, *states, state_size=self._num_hidden, num_layers=self._num_layers,
                          bidirectional=self._bidirectional, p=self._dropout, state_outputs=self._get_next_state,
                          mode=self._mode, name=self._prefix + "rnn")
        output = made[0] if self._get_next_state else made
        after = [made[1 + i] for i in range(len(self.state_info))] if self._get_next_state else []
        if merge_outputs is False:
            return list(symbol.split(output, axis=0, num_outputs=length, squeeze_axis=True)) if length > 1 else [
                symbol.reshape(output, shape=(-3, 0))], after
        return (symbol.SwapAxis(output, dim1=0, dim2=1) if axis == 1 else output), after

    def unfuse(self) -> SequentialRNNCell:
        """The same network as cells, which share no weights with it: `unpack_weights` here, `pack_weights` there."""
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._cell(f"{self._prefix}{side}{layer}_") for side in self._sides]
            stack.add(cells[0] if len(cells) == 1 else
                      BidirectionalCell(cells[0], cells[1], output_prefix=f"{self._prefix}bi_l{layer}_"))
            if self._dropout > 0 and layer + 1 < self._num_layers:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _cell(self, prefix: str) -> BaseRNNCell:
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix, forget_bias=self._forget_bias)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, self._mode[len("rnn_"):], prefix)

    # ---- weights -----------------------------------------------------------------------------------
    def _places(self, inputs: int) -> Iterator[Tuple[str, Tuple[int, ...]]]:
        """Name and shape of each gate's part of the vector, in its order."""
        size = self._num_hidden
        for kind in ("weight", "bias"):
            for layer in range(self._num_layers):
                data = inputs if layer == 0 else len(self._sides) * size
                for side in self._sides:
                    for group, columns in (("i2h", data), ("h2h", size)):
                        for gate in self._gate_names:
                            yield (f"{self._prefix}{side}{layer}_{group}{gate}_{kind}",
                                   (size, columns) if kind == "weight" else (size,))

    def _inputs_of(self, elements: int) -> int:
        """How many inputs a vector of so many elements is for."""
        size, sides = self._num_hidden, len(self._sides)
        rows = size * sides * len(self._gate_names)
        return elements // rows - (self._num_layers - 1) * (size * sides + size + 2) - size - 2

    def unpack_weights(self, args: Arrays) -> Arrays:
        args = dict(args)
        vector, at = args.pop(self._prefix + "parameters"), 0
        for name, shape in self._places(self._inputs_of(vector.size)):
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            args[name] = vector[at:at + count].reshape(shape).copy()
            at += count
        if at != vector.size:
            raise ValueError(f"unpack_weights: {self._prefix}parameters has {vector.size} elements, which fit no size of inputs")
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        args = dict(args)
        inputs = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"].shape[1]
        parts = [args.pop(name).reshape((-1,)) for name, _ in self._places(inputs)]
        args[self._prefix + "parameters"] = nd.concat(*parts, dim=0)
        return args
