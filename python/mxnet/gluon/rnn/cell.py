# SPDX-License-Identifier: Apache-2.0
"""Cells of recurrent networks: blocks that take a step's data and states and give its output and new states."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

from ..block import Block, HybridBlock
from ..functions import functions_of
from ..parameter import Parameter
from . import states as parts

Info = List[Dict[str, Any]]


class RecurrentCell(Block):
    """The base of cells. A subclass gives `state_info(batch_size)` and `forward(inputs, states)`, which returns the
    output and the list of new states."""

    def __init__(self, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self.reset()

    def reset(self) -> None:
        """Before a new sequence: forgets what it keeps between steps."""
        for member in self._children.values():
            if isinstance(member, RecurrentCell):
                member.reset()

    def state_info(self, batch_size: int = 0) -> Info:
        """Shape and layout of each state."""
        raise NotImplementedError(f"{type(self).__name__} must give state_info(batch_size)")

    def begin_state(self, batch_size: int = 0, func: Optional[Callable[..., Any]] = None, **settings: Any) -> List[Any]:
        """States to begin a sequence with: zeros, or what `func(shape=…, **settings)` makes."""
        return parts.begin_states(self.state_info(batch_size), func, settings)

    def __call__(self, inputs: Any, states: Any) -> Any:
        return super().__call__(inputs, states)

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def unroll(self, length: int, inputs: Any, begin_state: Optional[List[Any]] = None, layout: str = "NTC",
               merge_outputs: Optional[bool] = None, valid_length: Any = None) -> Tuple[Any, List[Any]]:
        """The outputs of `length` steps and the last states.

        inputs : an array, whose axis T of `layout` are the steps, or a list of steps
        begin_state : zeros if None
        merge_outputs : outputs as one array, or as a list; None: as the inputs
        valid_length : how many steps each sequence has; outputs after them are 0, states those at the end
        """
        self.reset()
        is_list = isinstance(inputs, (list, tuple))
        steps, axis = parts.steps_of(inputs, length, layout)
        states: List[Any] = list(begin_state) if begin_state is not None else parts.zeros_like_of(
            steps[0], self.state_info(steps[0].shape[0]))
        outputs = []
        for step, data in enumerate(steps):
            output, new = self(data, states)
            if valid_length is not None:
                output = output * parts.lives(valid_length, step, output)
                new = [parts.chosen(parts.lives(valid_length, step, after), after, before)
                       for after, before in zip(new, states)]
            states = new
            outputs.append(output)
        merges = not is_list if merge_outputs is None else merge_outputs
        return (parts.stack(outputs, axis) if merges else outputs), states


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """The base of cells that can be hybridized."""

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        if type(self).hybrid_forward is HybridBlock.hybrid_forward:
            return super().forward(inputs, states)
        return HybridBlock.forward(self, inputs, states)


class _GatedCell(HybridRecurrentCell):
    """Cells of gates that are sums of a product of the data and one of the state."""

    _gates = 1

    def __init__(self, hidden_size: int, width: int, initializers: Tuple[Any, Any, Any, Any], input_size: int,
                 prefix: Optional[str], params: Any) -> None:
        super().__init__(prefix)
        self._hidden_size, self._input_size = hidden_size, input_size
        rows = self._gates * hidden_size
        self.i2h_weight = Parameter("i2h_weight", shape=(rows, input_size), init=initializers[0])
        self.h2h_weight = Parameter("h2h_weight", shape=(rows, width), init=initializers[1])
        self.i2h_bias = Parameter("i2h_bias", shape=(rows,), init=initializers[2])
        self.h2h_bias = Parameter("h2h_bias", shape=(rows,), init=initializers[3])
        if params is not None:
            self.share_parameters(params)

    def state_info(self, batch_size: int = 0) -> Info:
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def infer_shape(self, inputs: Any, *args: Any, **kwargs: Any) -> None:
        self.i2h_weight.shape = (self._gates * self._hidden_size, inputs.shape[-1])

    def _products(self, inputs: Any, state: Any) -> Tuple[Any, Any]:
        ctx, functions, rows = inputs.context, functions_of(inputs), self._gates * self._hidden_size
        return (functions.fully_connected(inputs, self.i2h_weight.data(ctx), self.i2h_bias.data(ctx), num_hidden=rows),
                functions.fully_connected(state, self.h2h_weight.data(ctx), self.h2h_bias.data(ctx), num_hidden=rows))

    def extra_repr(self) -> str:
        rows, inputs = self.i2h_weight.shape or (0, 0)
        return f"{inputs if inputs > 0 else None} -> {rows}"


class RNNCell(_GatedCell):
    """h = activation(W x + b + R h' + c)."""

    def __init__(self, hidden_size: int, activation: str = "tanh", i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = "zeros",
                 h2h_bias_initializer: Any = "zeros", input_size: int = 0, prefix: Optional[str] = None,
                 params: Any = None) -> None:
        self._activation = activation
        super().__init__(hidden_size, hidden_size, (i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                                                    h2h_bias_initializer), input_size, prefix, params)

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        one, other = self._products(inputs, states[0])
        output = functions_of(inputs).activation(one + other, act_type=self._activation)
        return output, [output]


class LSTMCell(_GatedCell):
    """Long short-term memory: states h and c."""

    _gates = 4

    def __init__(self, hidden_size: int, i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = "zeros", h2h_bias_initializer: Any = "zeros", input_size: int = 0,
                 prefix: Optional[str] = None, params: Any = None, activation: str = "tanh",
                 recurrent_activation: str = "sigmoid", _width: int = 0) -> None:
        self._activations = (activation, recurrent_activation)
        super().__init__(hidden_size, _width or hidden_size, (i2h_weight_initializer, h2h_weight_initializer,
                                                              i2h_bias_initializer, h2h_bias_initializer),
                         input_size, prefix, params)

    def state_info(self, batch_size: int = 0) -> Info:
        return super().state_info(batch_size) * 2

    def _step(self, inputs: Any, states: Any) -> Tuple[Any, Any]:
        one, other = self._products(inputs, states[0])
        functions, (activation, gate) = functions_of(inputs), self._activations
        into, forget, more, out = functions.slice_channel(one + other, num_outputs=4, axis=1)
        cell = (functions.activation(forget, act_type=gate) * states[1]
                + functions.activation(into, act_type=gate) * functions.activation(more, act_type=activation))
        return functions.activation(out, act_type=gate) * functions.activation(cell, act_type=activation), cell

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        output, cell = self._step(inputs, states)
        return output, [output, cell]


class LSTMPCell(LSTMCell):
    """Long short-term memory whose output is projected to `projection_size` numbers."""

    def __init__(self, hidden_size: int, projection_size: int, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, h2r_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = "zeros", h2h_bias_initializer: Any = "zeros", input_size: int = 0,
                 prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(hidden_size, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                         h2h_bias_initializer, input_size, prefix, _width=projection_size)
        self._projection_size = projection_size
        self.h2r_weight = Parameter("h2r_weight", shape=(projection_size, hidden_size), init=h2r_weight_initializer)
        if params is not None:
            self.share_parameters(params)

    def state_info(self, batch_size: int = 0) -> Info:
        return [{"shape": (batch_size, self._projection_size), "__layout__": "NC"}, *super().state_info(batch_size)[1:]]

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        whole, cell = self._step(inputs, states)
        output = functions_of(inputs).fully_connected(whole, self.h2r_weight.data(inputs.context),
                                                      num_hidden=self._projection_size, no_bias=True)
        return output, [output, cell]


class GRUCell(_GatedCell):
    """Gated recurrent unit, whose reset gate acts on the product of the state, as cuDNN's."""

    _gates = 3

    def __init__(self, hidden_size: int, i2h_weight_initializer: Any = None, h2h_weight_initializer: Any = None,
                 i2h_bias_initializer: Any = "zeros", h2h_bias_initializer: Any = "zeros", input_size: int = 0,
                 prefix: Optional[str] = None, params: Any = None, activation: str = "tanh",
                 recurrent_activation: str = "sigmoid") -> None:
        self._activations = (activation, recurrent_activation)
        super().__init__(hidden_size, hidden_size, (i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                                                    h2h_bias_initializer), input_size, prefix, params)

    def forward(self, inputs: Any, states: Any) -> Tuple[Any, List[Any]]:
        one, other = self._products(inputs, states[0])
        functions, (activation, gate) = functions_of(inputs), self._activations
        x_reset, x_keep, x_new = functions.slice_channel(one, num_outputs=3, axis=1)
        h_reset, h_keep, h_new = functions.slice_channel(other, num_outputs=3, axis=1)
        reset = functions.activation(x_reset + h_reset, act_type=gate)
        keep = functions.activation(x_keep + h_keep, act_type=gate)
        new = functions.activation(x_new + reset * h_new, act_type=activation)
        output = (1 - keep) * new + keep * states[0]
        return output, [output]
