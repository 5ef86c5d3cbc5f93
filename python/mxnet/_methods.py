# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays that are functions with the array first: a.sum(axis=0) is nd.sum(a, axis=0)."""
import sys
from typing import Iterable


def _method(module: str, name: str):
    def method(self, *arguments, **keywords):
        return getattr(sys.modules[module], name)(self, *arguments, **keywords)

    method.__name__ = name
    method.__doc__ = f"{module.replace('mxnet.', 'mx.')}.{name} of this array."
    return method


def add(kind: type, module: str, names: Iterable[str]) -> None:
    """Gives a type of arrays the methods `names` of a module."""
    for name in names:
        setattr(kind, name, _method(module, name))

