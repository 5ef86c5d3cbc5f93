# SPDX-License-Identifier: Apache-2.0
"""Normalisations."""
from __future__ import annotations

from typing import Any, Dict, Optional

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
