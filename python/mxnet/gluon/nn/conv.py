# SPDX-License-Identifier: Apache-2.0
"""Convolutions."""
from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple, Union

from ..block import HybridBlock
from ..functions import functions_of
from ..parameter import Parameter
from .activations import Activation

Sizes = Union[int, Sequence[int]]


def as_sizes(value: Sizes, rank: int, what: str) -> Tuple[int, ...]:
    """One number for all dimensions, or one for each."""
    sizes = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(sizes) != rank:
        raise ValueError(f"{what} must be one number or {rank}, not {value}")
    return sizes


class _Convolution(HybridBlock):
    """(N, C, …) to (N, channels, …). Weight: (channels, C / groups, …kernel)."""

    _RANK = 0

    def __init__(self, channels: int, kernel_size: Sizes, strides: Sizes = 1, padding: Sizes = 0,
                 dilation: Sizes = 1, groups: int = 1, layout: Optional[str] = None,
                 activation: Optional[str] = None, use_bias: bool = True,
                 weight_initializer: Any = None, bias_initializer: Any = "zeros",
                 in_channels: int = 0, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix)
        rank = self._RANK
        self._layout = layout if layout is not None else "NC" + "DHW"[3 - rank:]
        if sorted(self._layout) != sorted("NC" + "DHW"[3 - rank:]):
            raise ValueError(f"{type(self).__name__}: layout {layout!r} does not fit")
        self._groups = groups
        self._kernel = as_sizes(kernel_size, rank, "kernel_size")
        self._window: Dict[str, Any] = {
            "kernel": self._kernel, "stride": as_sizes(strides, rank, "strides"),
            "pad": as_sizes(padding, rank, "padding"), "dilate": as_sizes(dilation, rank, "dilation"),
            "num_filter": channels, "num_group": groups, "layout": self._layout, "no_bias": not use_bias}
        self.weight = Parameter("weight", shape=self._weight_shape(channels, in_channels // groups),
                                init=weight_initializer)
        self.bias = Parameter("bias", shape=(channels,), init=bias_initializer) if use_bias else None
        self.act = Activation(activation) if activation is not None else None
        if params is not None:
            self.share_parameters(params)

    def _alias(self) -> str:
        return "conv"

    def _weight_shape(self, outputs: int, inputs: int) -> Tuple[int, ...]:
        if self._layout.endswith("C"):
            return (outputs,) + self._kernel + (inputs,)
        return (outputs, inputs) + self._kernel

    def infer_shape(self, x: Any, *args: Any) -> None:
        channels = x.shape[self._layout.index("C")]
        self.weight.shape = self._weight_shape(self._window["num_filter"], channels // self._groups)

    def forward(self, x: Any) -> Any:
        ctx = x.context
        bias = [] if self.bias is None else [self.bias.data(ctx)]
        y = functions_of(x).convolution(x, self.weight.data(ctx), *bias, **self._window)
        return y if self.act is None else self.act(y)

    def extra_repr(self) -> str:
        window, ones = self._window, (1,) * self._RANK
        inputs = (self.weight.shape or (0, 0))[self._layout.index("C")] * self._groups
        told = [f"{inputs if inputs > 0 else None} -> {window['num_filter']}",
                f"kernel_size={self._kernel}", f"stride={window['stride']}"]
        told += [f"padding={window['pad']}"] if any(window["pad"]) else []
        told += [f"dilation={window['dilate']}"] if window["dilate"] != ones else []
        told += [f"groups={self._groups}"] if self._groups != 1 else []
        told += ["bias=False"] if self.bias is None else []
        return ", ".join(told + ([repr(self.act)] if self.act is not None else []))


class Conv1D(_Convolution):
    """(N, C, W) to (N, channels, W')."""

    _RANK = 1


class Conv2D(_Convolution):
    """(N, C, H, W) to (N, channels, H', W')."""

    _RANK = 2


class Conv3D(_Convolution):
    """(N, C, D, H, W) to (N, channels, D', H', W')."""

    _RANK = 3
