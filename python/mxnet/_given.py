# SPDX-License-Identifier: Apache-2.0
"""Objects that know what they were made with, so that a text can say it."""
from __future__ import annotations

import inspect
from typing import Any, Dict, List


def options(kind: type) -> List[str]:
    """The names that the initialisers of a class and its bases take."""
    parameters = [parameter for base in kind.__mro__ if "__init__" in vars(base) and base is not object
                  for parameter in inspect.signature(base).parameters.values()]
    return sorted({parameter.name for parameter in parameters
                   if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)} - {"self"})


class Given:
    """A base whose objects keep the arguments of their making by name."""

    _given: Dict[str, Any]

    def __new__(cls, *arguments: Any, **settings: Any) -> Any:
        made = object.__new__(cls)
        bound: Any
        try:
            bound = inspect.signature(cls.__init__).bind(made, *arguments, **settings).arguments
        except TypeError:  # the initialiser will say so; a copy is made without any
            bound = {}
        made._given = {}
        for name, value in list(bound.items())[1:]:
            kind = inspect.signature(cls.__init__).parameters[name].kind
            made._given.update(value if kind is inspect.Parameter.VAR_KEYWORD else {name: value})
        return made

    def _arguments(self, attributes: Dict[str, str], leave_out: Any = ()) -> Dict[str, Any]:
        """What an equal object would be made with: attributes of today where they are called as options, or
        as `attributes` says, else what was given."""
        found = {}
        for name in sorted(set(options(type(self))) | set(self._given)):
            place = attributes.get(name, name)
            if name in leave_out:
                continue
            if hasattr(self, place):
                found[name] = getattr(self, place)
            elif name in self._given:
                found[name] = self._given[name]
        return found
