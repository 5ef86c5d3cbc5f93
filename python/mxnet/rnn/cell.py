# SPDX-License-Identifier: Apache-2.0
"""Cells of symbols: a call adds one step to a graph, `unroll` all steps of a sequence."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import initializer, symbol
from .. import ndarray as nd

Arrays = Dict[str, Any]


class RNNParams:
    """Variables by name, made when first asked for; cells that share them share weights."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: Dict[str, Any] = {}

    def get(self, name: str, **settings: Any) -> Any:
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.var(name, **settings)
        return self._params[name]


def steps_of(inputs: Any, length: int, layout: str, prefix: str) -> Tuple[List[Any], int]:
    """A symbol for each step, and the axis of time. `inputs`: a symbol, a list of them, or None for variables."""
    axis = layout.find("T")
    if inputs is None:
        return [symbol.var(f"{prefix}t{i}_data") for i in range(length)], axis
    if isinstance(inputs, (list, tuple)):
        if len(inputs) != length:
            raise ValueError(f"unroll: {length} steps are wanted, the list has {len(inputs)}")
        return list(inputs), axis
    if length == 1:
        return [symbol.reshape(symbol.split(inputs, axis=axis, num_outputs=1), shape=(-3, 0) if axis == 0 else (0, -1))], axis
    return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=True)), axis


def merged(outputs: List[Any], axis: int) -> Any:
    return symbol.stack(*outputs, axis=axis)


class BaseRNNCell:
    """The base of cells. A subclass gives `state_info` and `__call__(inputs, states)`, which returns the output and
    the new states."""

    _gate_names: Sequence[str] = ()

    def __init__(self, prefix: str = "", params: Optional[RNNParams] = None) -> None:
        self._prefix = prefix
        self._params = params if params is not None else RNNParams(prefix)
        self._num_hidden = 0
        self.reset()

    def reset(self) -> None:
        """Before another graph: steps are counted from 0."""
        self._step = 0
        self._made = 0

    @property
    def params(self) -> RNNParams:
        return self._params

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        """Shape and layout of each state; the batch's size, which is not known, is 0."""
        raise NotImplementedError(f"{type(self).__name__} must give state_info")

    @property
    def state_shape(self) -> List[Tuple[int, ...]]:
        return [info["shape"] for info in self.state_info]

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError(f"{type(self).__name__} cannot be stepped")

    def begin_state(self, func: Any = symbol.zeros, batch_size: int = 0, **settings: Any) -> List[Any]:
        """States of a batch of `batch_size`: `func(shape=…)`, or `mx.sym.var` for states that are arguments."""
        states = []
        for info in self.state_info:
            name = f"{self._prefix}begin_state_{self._made}"
            self._made += 1
            if func is symbol.var:
                states.append(func(name, **{**info, **settings}))
                continue
            if batch_size <= 0:
                raise ValueError("begin_state: give batch_size; unroll makes states of zeros by itself")
            shape = tuple(batch_size if size == 0 else size for size in info["shape"])
            states.append(func(shape=shape, name=name, **settings))
        return states

    def _zero_states(self, step: Any) -> List[Any]:
        """Zeros for a step (batch, inputs), whose batch they take."""
        one = symbol.zeros_like(symbol.slice_axis(step, axis=1, begin=0, end=1))
        return [symbol.broadcast_axis(one, axis=1, size=shape[1]) for shape in self.state_shape]

    def unroll(self, length: int, inputs: Any = None, begin_state: Any = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None) -> Tuple[Any, List[Any]]:
        """Outputs of `length` steps, as a list or with `merge_outputs` as one symbol, and the last states."""
        self.reset()
        steps, axis = steps_of(inputs, length, layout, self._prefix)
        states = begin_state if begin_state is not None else self._zero_states(steps[0])
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return (merged(outputs, axis) if merge_outputs else outputs), states

    # ---- weights -----------------------------------------------------------------------------------
    def _parts(self) -> List[Tuple[str, List[str]]]:
        """Each parameter whose rows are those of the gates, and the names of these."""
        return [(f"{self._prefix}{group}_{kind}", [f"{self._prefix}{group}{gate}_{kind}" for gate in self._gate_names])
                for group in ("i2h", "h2h") for kind in ("weight", "bias")]

    def unpack_weights(self, args: Arrays) -> Arrays:
        """The parameters with those of cells taken apart into gates."""
        args = dict(args)
        for whole, gates in self._parts() if len(self._gate_names) > 0 else ():
            array = args.pop(whole)
            rows = array.shape[0] // len(gates)
            for i, gate in enumerate(gates):
                args[gate] = array[i * rows:(i + 1) * rows].copy()
        return args

    def pack_weights(self, args: Arrays) -> Arrays:
        """The way back."""
        args = dict(args)
        for whole, gates in self._parts() if len(self._gate_names) > 0 else ():
            args[whole] = nd.concat(*[args.pop(gate) for gate in gates], dim=0)
        return args


class _GatedCell(BaseRNNCell):
    def __init__(self, num_hidden: int, prefix: str, params: Optional[RNNParams], **bias: Any) -> None:
        super().__init__(prefix, params)
        self._num_hidden = num_hidden
        self._weights = {name: self.params.get(name, **(bias if name == "i2h_bias" else {}))
                         for name in ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")}

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}]

    def _products(self, inputs: Any, state: Any, separator: str = "") -> Tuple[str, Any, Any]:
        name = f"{self._prefix}t{self._step}_{separator}"
        self._step += 1
        rows = self._num_hidden * len(self._gate_names)
        one, other = (symbol.FullyConnected(data, self._weights[kind + "_weight"], self._weights[kind + "_bias"],
                                            num_hidden=rows, name=name + kind)
                      for data, kind in ((inputs, "i2h"), (state, "h2h")))
        return name, one, other


class RNNCell(_GatedCell):
    """h = activation(W x + b + R h' + c)."""

    _gate_names = ("",)

    def __init__(self, num_hidden: int, activation: str = "tanh", prefix: str = "rnn_", params: Optional[RNNParams] = None) -> None:
        self._activation = activation
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name, one, other = self._products(inputs, states[0])
        output = symbol.Activation(one + other, act_type=self._activation, name=name + "out")
        return output, [output]


class LSTMCell(_GatedCell):
    """Long short-term memory; `forget_bias` is what the bias of the forget gate begins with."""

    _gate_names = ("_i", "_f", "_c", "_o")

    def __init__(self, num_hidden: int, prefix: str = "lstm_", params: Optional[RNNParams] = None, forget_bias: float = 1.0) -> None:
        super().__init__(num_hidden, prefix, params, init=initializer.LSTMBias(forget_bias))

    @property
    def state_info(self) -> List[Dict[str, Any]]:
        return super().state_info * 2

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name, one, other = self._products(inputs, states[0])
        into, forget, more, out = symbol.SliceChannel(one + other, num_outputs=4, name=name + "slice")
        into = symbol.Activation(into, act_type="sigmoid", name=name + "i")
        forget = symbol.Activation(forget, act_type="sigmoid", name=name + "f")
        more = symbol.Activation(more, act_type="tanh", name=name + "c")
        out = symbol.Activation(out, act_type="sigmoid", name=name + "o")
        cell = symbol.elemwise_add(forget * states[1], into * more, name=name + "state")
        output = symbol.elemwise_mul(out, symbol.Activation(cell, act_type="tanh"), name=name + "out")
        return output, [output, cell]


class GRUCell(_GatedCell):
    """Gated recurrent unit, whose reset gate acts on the product of the state, as cuDNN's."""

    _gate_names = ("_r", "_z", "_o")

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: Optional[RNNParams] = None) -> None:
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        name, one, other = self._products(inputs, states[0], "_")
        x_reset, x_keep, x_new = symbol.SliceChannel(one, num_outputs=3, name=name + "i2h_slice")
        h_reset, h_keep, h_new = symbol.SliceChannel(other, num_outputs=3, name=name + "h2h_slice")
        reset = symbol.Activation(x_reset + h_reset, act_type="sigmoid", name=name + "r_act")
        keep = symbol.Activation(x_keep + h_keep, act_type="sigmoid", name=name + "z_act")
        new = symbol.Activation(x_new + reset * h_new, act_type="tanh", name=name + "h_act")
        output = symbol.elemwise_add((1 - keep) * new, keep * states[0], name=name[:-1] + "out")
        return output, [output]
