# SPDX-License-Identifier: Apache-2.0
"""Names of operators in graphs that are given none."""
import threading
from typing import Any, Dict, List, Optional


class NameManager:
    """Gives a symbol without a name the hint and a number: fullyconnected0, fullyconnected1.

        with mx.name.NameManager():  # numbers begin at 0 again
            net = mx.sym.FullyConnected(x, num_hidden=10)

    A subclass may override get. Managers are the thread's own.
    """

    _of_thread = threading.local()

    def __init__(self) -> None:
        self._counts: Dict[str, int] = {}

    @classmethod
    def _stack(cls) -> List["NameManager"]:
        stack = getattr(NameManager._of_thread, "stack", None)
        if stack is None:
            stack = NameManager._of_thread.stack = [NameManager()]
        return stack

    @classmethod
    def current(cls) -> "NameManager":
        """The manager of the innermost `with`."""
        return cls._stack()[-1]

    def get(self, name: Optional[str], hint: str) -> str:
        """`name`, or one made of `hint` if it is None or empty."""
        if name:
            return name
        count = self._counts.get(hint, 0)
        self._counts[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> "NameManager":
        self._stack().append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack().pop()


class Prefix(NameManager):
    """Begins every name with a text, given names too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: Optional[str], hint: str) -> str:
        return self._prefix + super().get(name, hint)
