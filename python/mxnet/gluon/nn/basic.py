# SPDX-License-Identifier: Apache-2.0
"""Containers, dense layers and the small ones."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Sequence, Union

from ... import ndarray as nd
from ... import numpy as np
from ... import numpy_extension as npx
from ...profiler.config import warn
from ..block import Block, HybridBlock
from ..functions import functions_of, is_numpy
from ..parameter import Parameter
from .activations import Activation


class _Members:
    """What both containers share: members in order."""

    def add(self: Any, *blocks: Block) -> None:
        for block in blocks:
            self.register_child(block)

    def forward(self: Any, x: Any, *args: Any) -> Any:
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, (tuple, list)):
                x, args = x[0], tuple(x[1:])
        return (x,) + args if args else x

    def __getitem__(self: Any, key: Union[int, slice]) -> Any:
        members = list(self._children.values())[key]
        if isinstance(key, int):
            return members
        part = type(self)()
        part.add(*members)
        return part

    def __len__(self: Any) -> int:
        return len(self._children)

    def __iter__(self: Any) -> Iterator[Block]:
        return iter(self._children.values())


class Sequential(_Members, Block):
    """Blocks one after the other."""

    def __init__(self, *blocks: Block, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self.add(*blocks)

    def hybridize(self, active: bool = True, **options: Any) -> None:
        """Passes on to its members; a container of hybrid blocks alone had better be hybrid itself."""
        if self._children and all(isinstance(member, HybridBlock) for member in self):
            warn(f"All children of this Sequential layer '{self.name}' are HybridBlocks. Consider using "
                 "HybridSequential for the best performance.")
        super().hybridize(active, **options)


class HybridSequential(_Members, HybridBlock):
    """Hybrid blocks one after the other."""

    def __init__(self, *blocks: HybridBlock, prefix: Optional[str] = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        self.add(*blocks)


class Dense(HybridBlock):
    """activation(x W' + b): (N, in_units), or with `flatten` (N, …), to (N, units). W: (units, in_units).

    `in_units` 0 is found out at the first call.
    """

    def __init__(self, units: int, activation: Optional[str] = None, use_bias: bool = True,
                 flatten: bool = True, dtype: str = "float32", weight_initializer: Any = None,
                 bias_initializer: Any = "zeros", in_units: int = 0, prefix: Optional[str] = None,
                 params: Any = None) -> None:
        super().__init__(prefix)
        self._units = units
        self._flatten = flatten
        self.weight = Parameter("weight", shape=(units, in_units), dtype=dtype, init=weight_initializer)
        self.bias = Parameter("bias", shape=(units,), dtype=dtype, init=bias_initializer) if use_bias else None
        self.act = Activation(activation) if activation is not None else None
        if params is not None:
            self.share_parameters(params)

    def infer_shape(self, x: Any, *args: Any) -> None:
        size = 1
        for length in x.shape[1:] if self._flatten else x.shape[-1:]:
            size *= length
        self.weight.shape = (self._units, size)

    def forward(self, x: Any) -> Any:
        ctx = x.context
        bias = None if self.bias is None else self.bias.data(ctx)
        y = functions_of(x).fully_connected(x, self.weight.data(ctx), *([] if bias is None else [bias]),
                                            num_hidden=self._units, no_bias=bias is None,
                                            flatten=self._flatten)
        return y if self.act is None else self.act(y)

    def extra_repr(self) -> str:
        units, inputs = self.weight.shape or (self._units, 0)
        return f"{inputs if inputs > 0 else None} -> {units}, {self.act or 'linear'}"


class Dropout(HybridBlock):
    """In training, sets elements to zero with probability `rate` and scales the others; `axes` share a
    draw."""

    def __init__(self, rate: float, axes: Sequence[int] = (), prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._rate = rate
        self._axes = tuple(axes)

    def forward(self, x: Any) -> Any:
        return functions_of(x).dropout(x, p=self._rate, axes=self._axes) if self._rate > 0 else x

    def extra_repr(self) -> str:
        return f"p = {self._rate}, axes={self._axes}"


class Embedding(HybridBlock):
    """Rows of a table: indices (…) to (…, output_dim)."""

    def __init__(self, input_dim: int, output_dim: int, dtype: str = "float32",
                 weight_initializer: Any = None, sparse_grad: bool = False,
                 prefix: Optional[str] = None) -> None:
        if sparse_grad:
            raise ValueError("Embedding: sparse_grad=True is not supported")
        super().__init__(prefix)
        self._sizes = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype}
        self.weight = Parameter("weight", shape=(input_dim, output_dim), dtype=dtype,
                                init=weight_initializer)

    def forward(self, x: Any) -> Any:
        return functions_of(x).embedding(x, self.weight.data(x.context), **self._sizes)

    def extra_repr(self) -> str:
        sizes = self._sizes
        return f"{sizes['input_dim']} -> {sizes['output_dim']}, {sizes['dtype']}"


class Flatten(HybridBlock):
    """(N, …) to (N, product of the others)."""

    def forward(self, x: Any) -> Any:
        return functions_of(x).flatten(x)


class Identity(HybridBlock):
    def forward(self, x: Any) -> Any:
        return x


def _name(function: Union[str, Callable]) -> str:
    return function if isinstance(function, str) else getattr(function, "__name__", repr(function))


def _function(function: Union[str, Callable]) -> Callable:
    """A function by name is that of the input's flavour: nd.NAME, or np.NAME, npx.NAME."""
    if not isinstance(function, str):
        return function
    if not any(hasattr(module, function) for module in (nd, np, npx)):
        raise ValueError(f"no function {function!r} in mx.nd, mx.np or mx.npx")

    def call(x: Any, *args: Any) -> Any:
        modules = (np, npx) if is_numpy(x) else (nd,)
        return next(getattr(m, function) for m in modules if hasattr(m, function))(x, *args)
    return call


class Lambda(Block):
    """A function, or the name of one, as a block."""

    def __init__(self, function: Union[str, Callable], prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._name, self._call = _name(function), _function(function)

    def forward(self, *args: Any) -> Any:
        return self._call(*args)

    def extra_repr(self) -> str:
        return self._name


class HybridLambda(HybridBlock):
    """A function of arrays as a hybrid block; one of 1.x takes the module F first: f(F, x, …)."""

    def __init__(self, function: Union[str, Callable], prefix: Optional[str] = None) -> None:
        super().__init__(prefix)
        self._name, self._call = _name(function), _function(function)
        self._takes_module = not isinstance(function, str) and _first_argument(function) == "F"

    def forward(self, *args: Any) -> Any:
        return self._call(nd, *args) if self._takes_module else self._call(*args)

    def extra_repr(self) -> str:
        return self._name


def _first_argument(function: Callable) -> str:
    code = getattr(function, "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount > 0 else ""
