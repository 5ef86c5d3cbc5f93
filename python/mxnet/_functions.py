# SPDX-License-Identifier: Apache-2.0
"""Functions made from the registry, with real signatures and documentation.

A module gets its functions when they are first asked for: making all of them at import would cost
more than most programs ever call.
"""
import inspect
import keyword
import sys
import textwrap
from typing import Any, Callable, Iterable, List, NamedTuple, Tuple

from . import _registry
from ._names import offered
from .base import did_you_mean


def _valid(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _document(info: _registry.OperatorInfo, kind: type, names: "_Names", has_mask: bool) -> str:
    """The docstring, in NumPy's form."""
    words, _, returned = info.description.partition("\n\nReturns: ")
    lines = [words or f"The operator {info.name}.", "", "Parameters", "----------"]

    def describe(head: str, text: str) -> None:
        lines.append(head)
        if text:
            lines.append(textwrap.indent(textwrap.fill(text, 96), "    "))

    for name, item in zip((*names.inputs, *names.parameters), (*info.inputs, *info.parameters)):
        if not (info.takes_list and item.name == info.count_key):
            describe(f"{name} : {item.type_text.replace('NDArray-or-Symbol', 'array')}", item.description)
    describe("out : array or list of arrays, optional", "Where the result is written.")
    describe("name : str, optional", "Has no effect: it is the name of a symbol.")
    absent = [item for item in names.absent if not (item == "where" and has_mask)]
    if len(absent) < len(names.absent):
        describe("where : array of truths, optional", "Which elements count, repeated to the shape; the others are left out.")
    if absent:
        describe(f"{', '.join(absent)} : optional",
                 "Arguments that only NumPy's function has: there is no other choice than the default.")
    lines += ["", "Returns", "-------"]
    describe(kind.__name__ + ("" if returned.startswith("An array") else " or list of them"), returned)
    lines += ["", "Raises", "------"]
    describe("MXNetError", "If shapes, types or parameters do not fit, or there is no such parameter; what goes wrong "
             "while the operator runs is raised by the next call that waits for it.")
    return "\n".join(lines)


def _listed(name: str, arrays: tuple) -> tuple:
    """The inputs of a variadic operator: given one by one, or as one list."""
    if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)):
        arrays = tuple(arrays[0])
    if not arrays:
        raise TypeError(f"{name} needs at least one array")
    return arrays


class _Unset:
    """The default of an argument of NumPy's that the operator does not have."""

    def __repr__(self) -> str:
        return "<default>"


_UNSET = _Unset()
_OTHER_NAMES = {"dim1": "axis1", "dim2": "axis2", "data": "a"}  # what NumPy calls a parameter
_NEUTRAL = {"where": True}  # what an argument may say although only NumPy has it, beside its default


def _unsupported(like: Any, key: str, value: Any) -> None:
    """Raises NotImplementedError for an argument that only NumPy has, unless it says what holds anyway."""
    default = inspect.signature(like).parameters[key].default
    if value is not None and key != "subok" and not any(
            value is item or (isinstance(value, (bool, int, str)) and value == item) for item in (default, _NEUTRAL.get(key))):
        raise NotImplementedError(f"mx.np.{like.__name__} does not take NumPy's argument '{key}'")


def _names_of(function: Any) -> List[str]:
    """The arguments of a function of NumPy, in its order; none if NumPy does not say."""
    try:
        shown = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [item.name for item in shown if item.kind not in (item.VAR_POSITIONAL, item.VAR_KEYWORD)]


class _Names(NamedTuple):
    """What the arguments of a function are called."""

    theirs: List[str]  # by NumPy, in its order
    inputs: List[str]
    parameters: List[str]
    absent: List[str]  # those that only NumPy's function has


def _named(info: _registry.OperatorInfo, like: Any) -> _Names:
    theirs = [] if info.takes_list else _names_of(like)
    parameters = [_OTHER_NAMES[item.name] if _OTHER_NAMES.get(item.name) in theirs else _valid(item.name)
                  for item in info.parameters]
    inputs = [theirs[at] if at < len(theirs) and theirs[at] not in parameters else _valid(item.name)
              for at, item in enumerate(info.inputs)]
    return _Names(theirs, inputs, parameters,
                  [item for item in theirs if item not in (*parameters, *inputs, "out")])


def _source(name: str, info: _registry.OperatorInfo, names: _Names, has_mask: bool) -> str:
    """The function as text. Names with a leading underscore are the surroundings'."""
    theirs, inputs, parameters, absent = names
    arguments = {item: f"{item}=_defaults[{at}]" for at, item in enumerate(parameters)}
    if info.takes_list:
        inputs = ["*" + inputs[0]]
        call_inputs = f"_listed('{name}', {inputs[0][1:]})"
        arguments.pop(info.count_key, None)
    else:
        call_inputs = "(" + "".join(item + ", " for item in inputs) + ")"
    arguments = {**{item: item if at == 0 or info.takes_list else f"{item}=None" for at, item in enumerate(inputs)},
                 **arguments, "out": "out=None", "name": "name=None", **{item: f"{item}=_unset" for item in absent}}
    order = [*theirs, *[item for item in arguments if item not in theirs]]
    mask = (f"    if where is not _unset and where is not None and where is not True:\n        return _masked({_valid(name)}, "
            + ", ".join([inputs[0], "where", *[f"{item}={item}" for item in (*parameters, "out")]]) + ")\n") if has_mask else ""
    values = "".join(("len(_inputs)" if info.takes_list and item == info.count_key else item) + ", " for item in parameters)
    return (f"def {_valid(name)}({', '.join(arguments[item] for item in order)}, **_others):\n"
            "    if _others:\n"
            "        _refuse(_info, next(iter(_others)))\n"
            + mask + "".join(f"    if {item} is not _unset:\n        _unsupported(_like, '{item}', {item})\n" for item in absent)
            + f"    _inputs = {call_inputs}\n"
            f"    return _call(_kind, _inputs, ({values}), out)\n")


def make(operator_name: str, name: str, kind: type, module: str, like: Any = None,
         masked: Any = None) -> Callable[..., Any]:
    """The function `name` of `module` that runs an operator and gives arrays of `kind`. `like`: a
    function of NumPy, whose order of arguments it has. `masked`: what carries out its `where`."""
    info = _registry.operator(operator_name)
    names = _named(info, like)
    surroundings = {"_call": info.call, "_kind": kind, "_defaults": info.defaults,
                    "_listed": _listed, "_refuse": _registry.refuse, "_info": info,
                    "_like": like, "_unset": _UNSET, "_unsupported": _unsupported, "_masked": masked,
                    "__name__": module}
    exec(compile(_source(name, info, names, masked is not None), f"<operator {operator_name}>", "exec"), surroundings)
    function = surroundings[_valid(name)]
    function.__doc__ = _document(info, kind, names, masked is not None)
    function.__qualname__ = name
    shown = inspect.signature(function)
    function.__signature__ = shown.replace(parameters=list(shown.parameters.values())[:-1])
    return function


def lazy(module: str, prefixes: Iterable[str], kind: type,
         private: bool = False, like: Any = None, masks: Any = None) -> Tuple[Callable, Callable]:
    """`__getattr__` and `__dir__` of a module whose functions are the operators with one of the
    prefixes. Names that begin with an underscore after the prefix are left out unless `private`.
    `like`: NumPy's module, whose functions say in which order arguments are. `masks`: for names, what carries
    out `where`.
    """
    prefixes = tuple(prefixes)

    def operator_of(name: str) -> str:
        if name.startswith("__") or (name.startswith("_") and not private):
            return ""
        return next((prefix + name for prefix in prefixes if _registry.exists(prefix + name)), "")

    def get_attribute(name: str) -> Any:
        found = operator_of(name)
        if not found:
            raise AttributeError(f"module '{module}' has no attribute '{name}'" + _advice(name))
        function = make(found, name, kind, module, getattr(like, name, None), (masks or {}).get(name))
        setattr(sys.modules[module], name, function)
        return function

    def _advice(name: str) -> str:
        if name.startswith("_"):
            return ""
        close = did_you_mean(name, list_names(), 0.75)
        if not close and hasattr(like, name):
            return "; NumPy's own takes x.asnumpy()"
        return close or f"; dir({module.replace('mxnet', 'mx')}) lists what there is"

    def list_names() -> List[str]:
        listed = set(offered(module))
        listed.update(name for name in vars(sys.modules[module])
                      if not name.startswith("_") and hasattr(like, name))
        for prefix in prefixes:
            listed.update(name[len(prefix):] for name in _registry.names()
                          if name.startswith(prefix) and operator_of(name[len(prefix):]))
        return sorted(listed)

    return get_attribute, list_names
