# SPDX-License-Identifier: Apache-2.0
"""Attributes that all symbols made in a `with` get."""
import threading
from typing import Any, Dict, List, Optional


class AttrScope:
    """Adds attributes to the symbols that are made inside of it.

        with mx.AttrScope(ctx_group="dev1"):
            x = mx.sym.Variable("x")

    Values must be str (ValueError). What a symbol is given itself counts more than the scope, an inner scope
    more than an outer one. Scopes are the thread's own.
    """

    _of_thread = threading.local()

    def __init__(self, **attributes: str) -> None:
        if not all(isinstance(value, str) for value in attributes.values()):
            raise ValueError("Attributes need to be string")
        self._own = attributes
        self._all = attributes

    @classmethod
    def _stack(cls) -> List["AttrScope"]:
        stack = getattr(AttrScope._of_thread, "stack", None)
        if stack is None:
            stack = AttrScope._of_thread.stack = [AttrScope()]
        return stack

    @classmethod
    def current(cls) -> "AttrScope":
        """The innermost scope."""
        return cls._stack()[-1]

    def get(self, attributes: Optional[Dict[str, str]]) -> Dict[str, str]:
        """The scope's attributes, and these."""
        return {**self._all, **(attributes or {})}

    def __enter__(self) -> "AttrScope":
        self._all = {**self.current()._all, **self._own}
        self._stack().append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack().pop()
        self._all = self._own
