# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the functions of mx.npx.random that are made when the package runs.

Made by scripts/make-stubs: do not edit.
"""
from typing import Any, Literal, Optional, Sequence, Union

from .._array_types import ArrayLike, Shape
from ..numpy.multiarray import ndarray

def normal(
    loc: float = 0, scale: float = 1, shape: Optional[Shape] = None, ctx: str = "", dtype: Any = None,
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def randint(
    low: int, high: int, shape: Optional[Shape] = None, ctx: str = "",
    dtype: Optional[Literal["None", "int32", "int64"]] = None, out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def uniform(
    low: float = 0, high: float = 1, shape: Optional[Shape] = None, ctx: str = "", dtype: Any = None,
    out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
