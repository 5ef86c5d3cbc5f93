# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the functions of mx.npx.image that are made when the package runs.

Made by scripts/make-stubs: do not edit.
"""
from typing import Any, Literal, Optional, Sequence, Union

from .._array_types import ArrayLike, Shape
from ..numpy.multiarray import ndarray

def normalize(
    data: ArrayLike, mean: Union[float, Sequence[float]] = [0,0,0,0],
    std: Union[float, Sequence[float]] = [1,1,1,1], out: Any = None, name: Optional[str] = None,
) -> ndarray: ...
def to_tensor(data: ArrayLike, out: Any = None, name: Optional[str] = None) -> ndarray: ...
