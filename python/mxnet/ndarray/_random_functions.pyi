# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told of the functions of mx.nd.random that are made when the package runs.

Made by scripts/make-stubs: do not edit.
"""
from typing import Any, Literal, Optional, Sequence, Union

from .._array_types import ArrayLike, Shape
from .ndarray import NDArray

