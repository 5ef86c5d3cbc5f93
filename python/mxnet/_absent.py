# SPDX-License-Identifier: Apache-2.0
"""Names that MXNet has and this package does not."""
from typing import Any, Callable

from .base import MXNetError


class AbsentError(MXNetError, AttributeError):
    """A part of MXNet that is not there. `hasattr` is False for it."""


def refusing(module: str, names: str) -> Callable[[str], Any]:
    """`__getattr__` of a module: AbsentError for MXNet's `names`, AttributeError for all others."""
    known = frozenset(names.split())

    def get_attribute(name: str) -> Any:
        if name in known:
            raise AbsentError(f"{module.replace('mxnet', 'mx')}.{name} is not there yet; docs/migration.md "
                              "says what is not")
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    return get_attribute
