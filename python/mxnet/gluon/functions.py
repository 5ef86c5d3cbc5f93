# SPDX-License-Identifier: Apache-2.0
"""The operators that layers use, for arrays of either flavour: `mx.nd` arrays get `mx.nd` functions
and `mx.np` arrays those of `mx.npx`. Both run the same operators."""
from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

from .. import ndarray as nd
from .. import numpy as np
from .. import numpy_extension as npx

# What layers call it: its path below nd, its path below npx.
_PATHS: Dict[str, Tuple[str, str]] = {
    "activation": ("Activation", "activation"),
    "batch_norm": ("BatchNorm", "batch_norm"),
    "convolution": ("Convolution", "convolution"),
    "ctc_loss": ("CTCLoss", "ctc_loss"),
    "dropout": ("Dropout", "dropout"),
    "embedding": ("Embedding", "embedding"),
    "flatten": ("Flatten", "batch_flatten"),
    "fully_connected": ("FullyConnected", "fully_connected"),
    "group_norm": ("GroupNorm", "group_norm"),
    "image_normalize": ("image.normalize", "image.normalize"),
    "image_to_tensor": ("image.to_tensor", "image.to_tensor"),
    "instance_norm": ("InstanceNorm", "instance_norm"),
    "layer_norm": ("LayerNorm", "layer_norm"),
    "leaky_relu": ("LeakyReLU", "leaky_relu"),
    "log_softmax": ("log_softmax", "log_softmax"),
    "pick": ("pick", "pick"),
    "pooling": ("Pooling", "pooling"),
    "relu": ("relu", "relu"),
    "rnn": ("RNN", "rnn"),
    "sigmoid": ("sigmoid", "sigmoid"),
    "slice_channel": ("SliceChannel", "slice_channel"),
}


class _Functions:
    """Looks a function up when it is first used: what a library lacks is missed only then."""

    def __init__(self, module: Any, column: int) -> None:
        self._module = module
        self._column = column

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Any = self._module
        for part in _PATHS[name][self._column].split("."):
            function = getattr(function, part)
        setattr(self, name, function)
        return function


_nd_functions = _Functions(nd, 0)
_np_functions = _Functions(npx, 1)


def is_numpy(array: Any) -> bool:
    """Whether `array` is an `mx.np` array."""
    return isinstance(array, np.ndarray)


def functions_of(array: Any) -> Any:
    """The functions of the array's flavour."""
    return _np_functions if isinstance(array, np.ndarray) else _nd_functions
