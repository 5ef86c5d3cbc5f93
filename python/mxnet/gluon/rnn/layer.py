# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: whole sequences at once, by the operator RNN."""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ..._registry import invoke
from ..block import HybridBlock
from ..functions import functions_of
from ..parameter import Parameter
from . import states as parts

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


class _Layer(HybridBlock):
    """`layer(x)` gives the outputs; `layer(x, states)` gives them and the last states."""

    def __init__(self, mode: str, hidden_size: int, num_layers: int, layout: str, dropout: float, bidirectional: bool,
                 input_size: int, initializers: Dict[str, Any], projection_size: Optional[int] = None,
                 clips: Tuple[Optional[float], Optional[float], bool] = (None, None, False), dtype: Any = "float32",
                 use_sequence_length: bool = False, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix)
        if layout not in ("TNC", "NTC"):
            raise ValueError(f"{type(self).__name__}: layout must be 'TNC' or 'NTC', not {layout!r}")
        self._mode, self._hidden_size, self._num_layers, self._layout = mode, hidden_size, num_layers, layout
        self._dropout, self._dir, self._dtype, self._clips = dropout, 2 if bidirectional else 1, dtype, clips
        self._input_size, self._projection_size = input_size, projection_size
        self._use_sequence_length = use_sequence_length
        self._width = projection_size or hidden_size
        for name, shape in self._shapes(input_size):
            setattr(self, name, Parameter(name, shape=shape, dtype=dtype, init=initializers.get(name.partition("_")[2])))
        if params is not None:
            self.share_parameters(params)

    def _shapes(self, inputs: int) -> Iterator[Tuple[str, Tuple[int, ...]]]:
        """Names and shapes of the parameters, as the operator's vector has them."""
        rows = _GATES[self._mode] * self._hidden_size
        kinds = ["i2h_weight", "h2h_weight"] + (["h2r_weight"] if self._projection_size else [])
        for kinds in (kinds, ["i2h_bias", "h2h_bias"]):
            for layer in range(self._num_layers):
                data = inputs if layer == 0 else self._dir * self._width
                shapes = {"i2h_weight": (rows, data), "h2h_weight": (rows, self._width),
                          "h2r_weight": (self._width, self._hidden_size)}
                for side in ["l", "r"][:self._dir]:
                    for kind in kinds:
                        yield f"{side}{layer}_{kind}", shapes.get(kind, (rows,))

    def infer_shape(self, inputs: Any, *args: Any, **kwargs: Any) -> None:
        for name, shape in self._shapes(inputs.shape[2]):
            self._reg_params[name].shape = shape

    def state_info(self, batch_size: int = 0) -> List[Dict[str, Any]]:
        """Shape, layout and type of each state."""
        layers = self._num_layers * self._dir
        widths = [self._width] + ([self._hidden_size] if self._mode == "lstm" else [])
        return [{"shape": (layers, batch_size, width), "__layout__": "LNC", "dtype": self._dtype} for width in widths]

    def begin_state(self, batch_size: int = 0, func: Optional[Callable[..., Any]] = None, **settings: Any) -> List[Any]:
        """States to begin with: zeros, or what `func(shape=…, **settings)` makes."""
        return parts.begin_states(self.state_info(batch_size), func, settings)

    def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
        if (sequence_length is not None) != self._use_sequence_length:
            raise ValueError(f"{type(self).__name__}: sequence_length is taken with use_sequence_length=True, and then always")
        if len(inputs.shape) != 3:
            raise ValueError(f"{type(self).__name__}: the input has shape {tuple(inputs.shape)}, it must have three dimensions, {self._layout}")
        if states is None:
            given = parts.zeros_like_of(inputs, self.state_info(inputs.shape[self._layout.find("N")]))
        else:
            given = list(states) if isinstance(states, (list, tuple)) else [states]
        self._check(given, inputs)
        lengths = () if sequence_length is None else (sequence_length,)
        output, after = super().__call__(inputs, given, *lengths)
        return output if states is None else (output, after)

    def _check(self, states: List[Any], inputs: Any) -> None:
        infos = self.state_info(inputs.shape[self._layout.find("N")])
        shapes = [tuple(state.shape) for state in states]
        wanted = [info["shape"] for info in infos]
        if shapes != wanted:
            raise ValueError(f"{type(self).__name__}: the states have shapes {shapes}, they must have {wanted}")

    def forward(self, inputs: Any, states: Any, *lengths: Any) -> Tuple[Any, List[Any]]:
        ctx, (least, most, nan) = inputs.context, self._clips
        flat = [self._reg_params[name].data(ctx).reshape((-1,)) for name, _ in self._shapes(0)]
        vector = invoke(type(flat[0]), "_rnn_param_concat", *flat, dim=0)
        if self._layout == "NTC":
            inputs = inputs.transpose((1, 0, 2))
        output, *after = functions_of(inputs).rnn(
            inputs, vector, *states, *lengths, state_size=self._hidden_size, num_layers=self._num_layers,
            bidirectional=self._dir == 2, mode=self._mode, p=self._dropout, state_outputs=True,
            projection_size=self._projection_size, lstm_state_clip_min=least, lstm_state_clip_max=most,
            lstm_state_clip_nan=nan, use_sequence_length=self._use_sequence_length)
        return (output.transpose((1, 0, 2)) if self._layout == "NTC" else output), list(after)

    def extra_repr(self) -> str:
        inputs = (self._reg_params["l0_i2h_weight"].shape or (0, 0))[1]
        words = [f"{inputs if inputs > 0 else None} -> {self._hidden_size}", self._layout]
        words += [f"num_layers={self._num_layers}"] if self._num_layers != 1 else []
        words += [f"dropout={self._dropout}"] if self._dropout != 0 else []
        return ", ".join(words + (["bidirectional"] if self._dir == 2 else []))


class RNN(_Layer):
    """Layers of h = activation(W x + b + R h' + c)."""

    def __init__(self, hidden_size: int, num_layers: int = 1, activation: str = "relu", layout: str = "TNC",
                 dropout: float = 0, bidirectional: bool = False, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = "zeros",
                 h2h_bias_initializer: Any = "zeros", input_size: int = 0, dtype: Any = "float32",
                 **settings: Any) -> None:
        super().__init__("rnn_" + activation, hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         {"i2h_weight": i2h_weight_initializer, "h2h_weight": h2h_weight_initializer,
                          "i2h_bias": i2h_bias_initializer, "h2h_bias": h2h_bias_initializer}, dtype=dtype, **settings)


class LSTM(_Layer):
    """Layers of long short-term memory: states h and c."""

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = "TNC", dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = "zeros",
                 h2h_bias_initializer: Any = "zeros", projection_size: Optional[int] = None,
                 h2r_weight_initializer: Any = None, state_clip_min: Optional[float] = None,
                 state_clip_max: Optional[float] = None, state_clip_nan: bool = False, dtype: Any = "float32",
                 **settings: Any) -> None:
        super().__init__("lstm", hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         {"i2h_weight": i2h_weight_initializer, "h2h_weight": h2h_weight_initializer,
                          "i2h_bias": i2h_bias_initializer, "h2h_bias": h2h_bias_initializer,
                          "h2r_weight": h2r_weight_initializer}, projection_size,
                         (state_clip_min, state_clip_max, state_clip_nan), dtype, **settings)


class GRU(_Layer):
    """Layers of gated recurrent units."""

    def __init__(self, hidden_size: int, num_layers: int = 1, layout: str = "TNC", dropout: float = 0,
                 bidirectional: bool = False, input_size: int = 0, i2h_weight_initializer: Any = None,
                 h2h_weight_initializer: Any = None, i2h_bias_initializer: Any = "zeros",
                 h2h_bias_initializer: Any = "zeros", dtype: Any = "float32", **settings: Any) -> None:
        super().__init__("gru", hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         {"i2h_weight": i2h_weight_initializer, "h2h_weight": h2h_weight_initializer,
                          "i2h_bias": i2h_bias_initializer, "h2h_bias": h2h_bias_initializer}, dtype=dtype, **settings)
