# SPDX-License-Identifier: Apache-2.0
"""Pooling: the largest or the mean of each window."""
from __future__ import annotations

from typing import Any, Optional

from ..block import HybridBlock
from ..functions import functions_of
from .conv import Sizes, as_sizes


class _Pooling(HybridBlock):
    """(N, C, …) to (N, C, …'). `ceil_mode` keeps windows that lie only partly inside."""

    _RANK = 0
    _KIND = ""

    def __init__(self, pool_size: Sizes = 2, strides: Optional[Sizes] = None, padding: Sizes = 0,
                 layout: Optional[str] = None, ceil_mode: bool = False, prefix: Optional[str] = None,
                 **options: Any) -> None:
        super().__init__(prefix)
        kernel = as_sizes(pool_size, self._RANK, "pool_size")
        self._window = {"kernel": kernel, "pool_type": self._KIND,
                        "stride": kernel if strides is None else as_sizes(strides, self._RANK, "strides"),
                        "pad": as_sizes(padding, self._RANK, "padding"),
                        "pooling_convention": "full" if ceil_mode else "valid", **options}
        if layout is not None:
            self._window["layout"] = layout

    def _alias(self) -> str:
        return "pool"

    def forward(self, x: Any) -> Any:
        return functions_of(x).pooling(x, **self._window)

    def extra_repr(self) -> str:
        window = self._window
        return (f"size={window['kernel']}, stride={window['stride']}, padding={window['pad']}, ceil_mode="
                f"{window['pooling_convention'] == 'full'}, global_pool={window.get('global_pool', False)}, "
                f"pool_type={self._KIND}, layout={window.get('layout', 'NC' + 'DHW'[3 - self._RANK:])}")


class _MaxPooling(_Pooling):
    _KIND = "max"


class _AvgPooling(_Pooling):
    """`count_include_pad`: whether padding counts in the mean."""

    _KIND = "avg"

    def __init__(self, pool_size: Sizes = 2, strides: Optional[Sizes] = None, padding: Sizes = 0,
                 layout: Optional[str] = None, ceil_mode: bool = False, count_include_pad: bool = True,
                 prefix: Optional[str] = None) -> None:
        super().__init__(pool_size, strides, padding, layout, ceil_mode, prefix,
                         count_include_pad=count_include_pad)


class MaxPool1D(_MaxPooling):
    _RANK = 1


class MaxPool2D(_MaxPooling):
    _RANK = 2


class MaxPool3D(_MaxPooling):
    _RANK = 3


class AvgPool1D(_AvgPooling):
    _RANK = 1


class AvgPool2D(_AvgPooling):
    _RANK = 2


class AvgPool3D(_AvgPooling):
    _RANK = 3


class _GlobalPooling(_Pooling):
    """(N, C, …) to (N, C, 1, …): one window over all."""

    def __init__(self, layout: Optional[str] = None, prefix: Optional[str] = None) -> None:
        super().__init__(1, layout=layout, ceil_mode=True, prefix=prefix, global_pool=True)


class GlobalMaxPool1D(_GlobalPooling):
    _RANK, _KIND = 1, "max"


class GlobalMaxPool2D(_GlobalPooling):
    _RANK, _KIND = 2, "max"


class GlobalMaxPool3D(_GlobalPooling):
    _RANK, _KIND = 3, "max"


class GlobalAvgPool1D(_GlobalPooling):
    _RANK, _KIND = 1, "avg"


class GlobalAvgPool2D(_GlobalPooling):
    _RANK, _KIND = 2, "avg"


class GlobalAvgPool3D(_GlobalPooling):
    _RANK, _KIND = 3, "avg"
