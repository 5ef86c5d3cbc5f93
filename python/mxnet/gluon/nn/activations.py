# SPDX-License-Identifier: Apache-2.0
"""Layers that apply a function to each element."""
from __future__ import annotations

from typing import Any, Optional

from ... import initializer
from ..block import HybridBlock
from ..functions import functions_of
from ..parameter import Parameter


class Activation(HybridBlock):
    """relu, sigmoid, tanh, softrelu or softsign of each element."""

    def __init__(self, activation: str, prefix: Optional[str] = None) -> None:
        self._kind = activation
        super().__init__(prefix)

    def _alias(self) -> str:
        return self._kind

    def forward(self, x: Any) -> Any:
        return functions_of(x).activation(x, act_type=self._kind)

    def extra_repr(self) -> str:
        return self._kind


class LeakyReLU(HybridBlock):
    """x where positive, alpha * x elsewhere."""

    def __init__(self, alpha: float, prefix: Optional[str] = None) -> None:
        if alpha < 0:
            raise ValueError(f"LeakyReLU: alpha must be at least 0, not {alpha}")
        super().__init__(prefix)
        self._alpha = alpha

    def forward(self, x: Any) -> Any:
        return functions_of(x).leaky_relu(x, act_type="leaky", slope=self._alpha)

    def extra_repr(self) -> str:
        return str(self._alpha)


class PReLU(HybridBlock):
    """As LeakyReLU with a slope that is learnt, one or one a channel."""

    def __init__(self, alpha_initializer: Any = None, in_channels: int = 1,
                 prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        init = alpha_initializer if alpha_initializer is not None else initializer.Constant(0.25)
        self.alpha = Parameter("alpha", shape=(in_channels,), init=init)

    def forward(self, x: Any) -> Any:
        return functions_of(x).leaky_relu(x, self.alpha.data(x.context), act_type="prelu")


class ELU(HybridBlock):
    """x where positive, alpha * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0, prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._alpha = alpha

    def forward(self, x: Any) -> Any:
        return functions_of(x).leaky_relu(x, act_type="elu", slope=self._alpha)

    def extra_repr(self) -> str:
        return str(self._alpha)


class SELU(HybridBlock):
    """ELU with the scale and slope that keep mean 0 and variance 1."""

    def forward(self, x: Any) -> Any:
        return functions_of(x).leaky_relu(x, act_type="selu")


class GELU(HybridBlock):
    """x times the normal distribution function of x."""

    def __init__(self, approximation: str = "erf", prefix: Optional[str] = None) -> None:
        if approximation != "erf":
            raise ValueError(f"GELU: approximation must be 'erf', not {approximation!r}")
        super().__init__(prefix)

    def forward(self, x: Any) -> Any:
        return functions_of(x).leaky_relu(x, act_type="gelu")


class Swish(HybridBlock):
    """x * sigmoid(beta * x)."""

    def __init__(self, beta: float = 1.0, prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._beta = beta

    def forward(self, x: Any) -> Any:
        return x * functions_of(x).sigmoid(x * self._beta)


class SiLU(Swish):
    """x * sigmoid(x)."""

    def __init__(self, prefix: Optional[str] = None) -> None:
        super().__init__(1.0, prefix)
