# SPDX-License-Identifier: Apache-2.0
"""Transforms of images: blocks that take one image (H, W, C) or a batch (N, H, W, C)."""
from __future__ import annotations

from typing import Any, Sequence, Union

from ...._absent import refusing
from ...block import Block, HybridBlock
from ...functions import functions_of
from ...nn import HybridSequential, Sequential


class Compose(Sequential):
    """Transforms one after the other."""

    def __init__(self, transforms: Sequence[Block]) -> None:
        super().__init__()
        self.add(*transforms)


class HybridCompose(HybridSequential):
    """As Compose; all members are hybrid blocks."""

    def __init__(self, transforms: Sequence[HybridBlock]) -> None:
        super().__init__()
        self.add(*transforms)


class Cast(HybridBlock):
    """To another type, float32 by default."""

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def forward(self, x: Any) -> Any:
        return x.astype(self._dtype)


class ToTensor(HybridBlock):
    """uint8 (H, W, C) in 0 … 255 to float32 (C, H, W) in [0, 1]; batches alike."""

    def forward(self, x: Any) -> Any:
        return functions_of(x).image_to_tensor(x)


class Normalize(HybridBlock):
    """(x - mean) / std per channel of float32 images (C, H, W) or (N, C, H, W)."""

    def __init__(self, mean: Union[float, Sequence[float]] = 0.0,
                 std: Union[float, Sequence[float]] = 1.0) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def forward(self, x: Any) -> Any:
        return functions_of(x).image_normalize(x, mean=self._mean, std=self._std)


__getattr__ = refusing(__name__)
