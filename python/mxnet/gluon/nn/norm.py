# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from ..block import HybridBlock
from ..functions import functions_of
from ..parameter import Parameter


def _settings(settings: Dict[str, Any], gamma: Parameter) -> str:
    channels = (gamma.shape or (0,))[0]
    return ", ".join(f"{key}={value!r}" for key, value in
                     {**settings, "in_channels": channels if channels > 0 else None}.items())


class BatchNorm(HybridBlock):
    """Normalises each channel over the batch in training, by running statistics otherwise; then scales
    by gamma and shifts by beta. `momentum` is the part of the old statistics that stays. They move in
    the backward pass, once for each, as in MXNet: a forward pass without one leaves them. Without
    `scale` gamma is 1, whatever `gamma_initializer` says."""

    def __init__(self, axis: int = 1, momentum: float = 0.9, epsilon: float = 1e-5, center: bool = True,
                 scale: bool = True, use_global_stats: bool = False, beta_initializer: Any = "zeros",
                 gamma_initializer: Any = "ones", running_mean_initializer: Any = "zeros",
                 running_variance_initializer: Any = "ones", in_channels: int = 0,
                 prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix)
        self._axis = axis
        self._norm = {"axis": axis, "eps": epsilon, "momentum": momentum, "fix_gamma": not scale,
                      "use_global_stats": use_global_stats}
        shape = (in_channels,)
        self.gamma = Parameter("gamma", "write" if scale else "null", shape,
                               init=gamma_initializer if scale else "ones", differentiable=scale)
        self.beta = Parameter("beta", "write" if center else "null", shape, init=beta_initializer,
                              differentiable=center)
        self.running_mean = Parameter("running_mean", "null", shape, init=running_mean_initializer,
                                      differentiable=False)
        self.running_var = Parameter("running_var", "null", shape, init=running_variance_initializer,
                                     differentiable=False)
        if params is not None:
            self.share_parameters(params)

    def extra_repr(self) -> str:
        return _settings(self._norm, self.gamma)

    def _all(self) -> tuple:
        return self.gamma, self.beta, self.running_mean, self.running_var

    def infer_shape(self, x: Any, *args: Any) -> None:
        for parameter in self._all():
            parameter.shape = (x.shape[self._axis],)

    def forward(self, x: Any) -> Any:
        ctx = x.context
        return functions_of(x).batch_norm(x, *(p.data(ctx) for p in self._all()), **self._norm)


class LayerNorm(HybridBlock):
    """Normalises each sample along `axis`, then scales by gamma and shifts by beta."""

    def __init__(self, axis: int = -1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Any = "zeros", gamma_initializer: Any = "ones",
                 in_channels: int = 0, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix)
        self._axis = axis
        self._epsilon = epsilon
        shape = (in_channels,)
        self.gamma = Parameter("gamma", "write" if scale else "null", shape, init=gamma_initializer)
        self.beta = Parameter("beta", "write" if center else "null", shape, init=beta_initializer)
        if params is not None:
            self.share_parameters(params)

    def infer_shape(self, x: Any, *args: Any) -> None:
        self.gamma.shape = self.beta.shape = (x.shape[self._axis],)

    def extra_repr(self) -> str:
        return _settings({"axis": self._axis, "eps": self._epsilon}, self.gamma)

    def forward(self, x: Any) -> Any:
        ctx = x.context
        return functions_of(x).layer_norm(x, self.gamma.data(ctx), self.beta.data(ctx),
                                          axis=self._axis, eps=self._epsilon)


class _GroupedNorm(HybridBlock):
    """What GroupNorm and InstanceNorm have in common: their parameters, of one value for each channel."""

    def __init__(self, axis: int, shown: Dict[str, Any], initializers: Tuple[Any, Any], in_channels: int,
                 prefix: Optional[str], params: Any) -> None:
        super().__init__(prefix)
        self._axis = axis
        self._shown = shown
        shape = (in_channels,)
        self.gamma = Parameter("gamma", "write" if shown["scale"] else "null", shape, init=initializers[0])
        self.beta = Parameter("beta", "write" if shown["center"] else "null", shape, init=initializers[1])
        if params is not None:
            self.share_parameters(params)

    def infer_shape(self, x: Any, *args: Any) -> None:
        self.gamma.shape = self.beta.shape = (x.shape[self._axis],)

    def extra_repr(self) -> str:
        return _settings(self._shown, self.gamma)


class GroupNorm(_GroupedNorm):
    """Normalises groups of channels of each sample (batch, channels, then axes of space), then scales each
    channel by gamma and shifts it by beta.

    Parameters
    ----------
    num_groups : int
        Into how many groups of neighbours the channels go; their number is a multiple of it.
    epsilon : float
        What is added to the variance of a group before its root divides.
    center, scale : bool
        Whether beta, and gamma, are learned. One that is not keeps its initial values.
    beta_initializer, gamma_initializer : initializer or str
        Their first values, by default 0 and 1.
    in_channels : int
        The number of channels; 0: that of the first input.

    Raises
    ------
    MXNetError
        If the number of channels is no multiple of that of the groups.

    Y. Wu, K. He: Group Normalization, 2018. Gamma and beta have a value for each channel, as there and in 2.0.
    """

    def __init__(self, num_groups: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = True,
                 beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", in_channels: int = 0,
                 prefix: Optional[str] = None, params: Any = None) -> None:
        shown = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        super().__init__(1, shown, (gamma_initializer, beta_initializer), in_channels, prefix, params)
        self._epsilon = epsilon
        self._num_groups = num_groups

    def forward(self, x: Any) -> Any:
        ctx = x.context
        return functions_of(x).group_norm(x, self.gamma.data(ctx), self.beta.data(ctx),
                                          num_groups=self._num_groups, eps=self._epsilon)


class InstanceNorm(_GroupedNorm):
    """Normalises each channel of each sample by itself, then scales it by gamma and shifts it by beta.

    Parameters
    ----------
    axis : int
        Where the channels are; axis 0 is the batch.
    epsilon : float
        What is added to the variance of a channel before its root divides.
    center, scale : bool
        Whether beta, and gamma, are learned. One that is not keeps its initial values.
    beta_initializer, gamma_initializer : initializer or str
        Their first values, by default 0 and 1.
    in_channels : int
        The number of channels; 0: that of the first input.

    Raises
    ------
    MXNetError
        If gamma and beta have another number of values than the input has channels.

    D. Ulyanov, A. Vedaldi, V. Lempitsky: Instance Normalization, 2016.
    """

    def __init__(self, axis: int = 1, epsilon: float = 1e-5, center: bool = True, scale: bool = False,
                 beta_initializer: Any = "zeros", gamma_initializer: Any = "ones", in_channels: int = 0,
                 prefix: Optional[str] = None, params: Any = None) -> None:
        shown = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        super().__init__(axis, shown, (gamma_initializer, beta_initializer), in_channels, prefix, params)
        self._epsilon = epsilon

    def forward(self, x: Any) -> Any:
        ctx = x.context
        x = x if self._axis == 1 else x.swapaxes(1, self._axis)
        out = functions_of(x).instance_norm(x, self.gamma.data(ctx), self.beta.data(ctx), eps=self._epsilon)
        return out if self._axis == 1 else out.swapaxes(1, self._axis)
