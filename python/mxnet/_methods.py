# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays that are functions with the array first: a.sum(axis=0) is nd.sum(a, axis=0)."""
import sys
from typing import Any, Callable, Dict, Iterable


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


def add_operators(kind: type, module: str, names: Dict[str, str]) -> None:
    """Gives a type of arrays the operators __NAME__, __rNAME__ and __iNAME__, by functions of a module:
    name -> function."""
    def into(name: str) -> Callable[[Any, Any], Any]:
        return lambda self, other: getattr(sys.modules[module], name)(self, other, out=self)

    def make(name: str, is_swapped: bool) -> Callable[[Any, Any], Any]:
        def operate(self, other):
            return getattr(sys.modules[module], name)(*((other, self) if is_swapped else (self, other)))

        return operate

    for word, name in names.items():
        setattr(kind, f"__{word}__", make(name, False))
        setattr(kind, f"__r{word}__", make(name, True))
        setattr(kind, f"__i{word}__", into(name))
