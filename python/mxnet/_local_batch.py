# SPDX-License-Identifier: Apache-2.0
"""How many samples a process works on in a step: what a trainer over several processes compares with the size it
is told, because sums there are over all of them. Looked at once, and only where a trainer asks."""
from typing import Any, List, Optional

_asked: List[Optional[int]] = []  # empty: nobody asks; None: not seen yet


def ask() -> None:
    """The next backward pass is looked at."""
    if not _asked:
        _asked.append(None)


def seen() -> Optional[int]:
    """What it had; None if it was not seen. Nobody asks any more."""
    return _asked.pop() if _asked else None


def look(heads: List[Any]) -> None:
    """At the heads of a backward pass: losses of a sample each."""
    if _asked and _asked[0] is None:
        _asked[0] = sum(head.shape[0] if head.ndim > 0 else 1 for head in heads)
