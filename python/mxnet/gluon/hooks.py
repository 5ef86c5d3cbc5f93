# SPDX-License-Identifier: Apache-2.0
"""Functions that are called before and after blocks."""
from typing import Any, Callable, List


class HookHandle:
    """One such function among those of a block: `detach`, or the end of a `with`, takes it away."""

    def __init__(self, hooks: List[Callable], hook: Callable) -> None:
        self._hooks, self._hook, self._attached = hooks, hook, True
        hooks.append(hook)

    def detach(self) -> None:
        """Takes the function away; again does nothing."""
        if self._attached:
            self._attached = False
            self._hooks.remove(self._hook)

    def __enter__(self) -> "HookHandle":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.detach()
