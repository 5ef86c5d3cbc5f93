# SPDX-License-Identifier: Apache-2.0
"""Symbols: variables by name. Graphs are not built yet, so nothing can be computed from them."""
from __future__ import annotations

from typing import Any, Dict, List, NoReturn, Optional

from ._absent import AbsentError
from .base import MXNetError


class Symbol:
    """A variable of a graph."""

    def __init__(self, name: str, attributes: Dict[str, str]) -> None:
        self._name = name
        self._attributes = attributes

    @property
    def name(self) -> str:
        return self._name

    def attr(self, key: str) -> Optional[str]:
        """One attribute; None if it has no such."""
        return self._attributes.get(key)

    def list_attr(self) -> Dict[str, str]:
        return dict(self._attributes)

    def list_arguments(self) -> List[str]:
        return [self._name]

    def list_outputs(self) -> List[str]:
        return [self._name]

    def __repr__(self) -> str:
        return f"<Symbol {self._name}>"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise MXNetError(f"symbol {self._name}: there are no graphs yet; compute with mx.nd or mx.np")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __getitem__ = _refuse
    bind = simple_bind = eval = infer_shape = _refuse


def var(name: str, attr: Optional[Dict[str, str]] = None, shape: Any = None, dtype: Any = None,
        **settings: Any) -> Symbol:
    """A variable called `name`; the rest becomes attributes."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a variable is a str, not {type(name).__name__}")
    attributes = dict(attr or {})
    for key, value in (("shape", shape), ("dtype", dtype), *settings.items()):
        if value is not None:
            attributes[f"__{key}__"] = str(value)
    return Symbol(name, attributes)


Variable = var


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    raise AbsentError(f"mx.sym.{name}: there are no graphs yet; mx.nd.{name} computes at once")
