# SPDX-License-Identifier: Apache-2.0
"""What completion and `dir` show of a module: what it offers, and neither what it imports nor what is
private."""
import functools
import sys
from types import ModuleType
from typing import Any, List


_SHARED = {"mxnet._files"}  # what is in there is offered by several modules


def _is_offered(module: str, name: str, value: Any) -> bool:
    if name.startswith("_"):
        return False
    if isinstance(value, ModuleType):  # of its own, also under another name
        return value.__name__.startswith(module + ".") and "._" not in value.__name__
    made_in = getattr(value, "__module__", None)
    if not isinstance(made_in, str):
        return isinstance(value, (int, float, str))  # a constant; others are types for annotations
    return made_in == module or made_in in _SHARED or made_in.startswith(module + ".") and "._" not in made_in


def offered(module: str) -> List[str]:
    """The public names of a module that are there already, those that are made at run time too."""
    names = vars(sys.modules[module])
    made = [name for name, value in names.items() if _is_offered(module, name, value)]
    return sorted({*made, *names.get("__all__", ())})


def _listed(module: str) -> List[str]:
    listed = vars(sys.modules[module]).get("__all__")
    return sorted(listed) if listed is not None else offered(module)


def tidy(package: str) -> None:
    """Gives the public modules of the package that are loaded a `__dir__`, unless they have one."""
    for name, module in list(sys.modules.items()):
        if (name == package or name.startswith(package + ".")) and "._" not in name:
            vars(module).setdefault("__dir__", functools.partial(_listed, name))
