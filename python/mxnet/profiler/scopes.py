# SPDX-License-Identifier: Apache-2.0
"""Scopes: the names that memory and operators are attributed to."""
import contextvars
import functools
from typing import Any, Callable, List

from ..base import core

_NONE = "<unk>:"

# initially: no scope
_current_scope: "contextvars.ContextVar[str]" = contextvars.ContextVar("profilerscope",
                                                                       default=_NONE)


class scope:  # pylint: disable=invalid-name
    """with profiler.scope(name) as full_name: what is made and called inside belongs to NAME.

    Parameters
    ----------
    name : str
        Ends with ':'; that is added where it is missing.
    append_mode : bool
        Inside another scope: OUTER:NAME: rather than NAME:.

    Also a decorator. The scope before is restored however the body ends.
    """

    __slots__ = ("_name", "_append", "_before")

    def __init__(self, name: str = _NONE, append_mode: bool = True):
        self._name = name if name.endswith(":") else name + ":"
        self._append = append_mode
        self._before: List[str] = []

    def __enter__(self) -> str:
        before = _current_scope.get()
        full = before + self._name if self._append and before != _NONE else self._name
        core.set_scope(full)
        self._before.append(before)
        _current_scope.set(full)
        return full

    def __exit__(self, *exception: Any) -> None:
        before = self._before.pop()
        _current_scope.set(before)
        core.set_scope(before)

    def __call__(self, function: Callable) -> Callable:
        """Decorates a function: its calls are inside of the scope."""
        @functools.wraps(function)
        def scoped(*arguments: Any, **keywords: Any) -> Any:
            with scope(self._name, self._append):
                return function(*arguments, **keywords)

        return scoped
