# SPDX-License-Identifier: Apache-2.0
"""Functions that make symbols, from the registry: mx.sym.FullyConnected and all others."""
import ctypes
import functools
import inspect
import textwrap
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from .. import _custom_operator, _registry
from ..attribute import AttrScope
from ..base import _LIB, Default, SymbolHandle, c_str_array, check_call, value_text
from ..name import NameManager
from .symbol import Symbol


@functools.lru_cache(maxsize=None)
def _creator(name: str) -> ctypes.c_void_p:
    creator = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(creator)))
    return creator


def _check_inputs(named: Dict[str, Any]) -> None:
    for name, item in named.items():
        if not isinstance(item, Symbol):
            raise AssertionError(f"Argument {name} must be Symbol instances, but got {item}")


def create(operator: str, inputs: Union[Dict[str, Symbol], Sequence[Symbol]], parameters: Dict[str, Any],
           name: Optional[str] = None, attr: Optional[Dict[str, str]] = None, order: Optional[Sequence[str]] = None) -> Symbol:
    """The symbol of an operator on inputs, by name or position; those that are missing become variables. `order`: the
    names of all inputs, where the library does not know them."""
    keys = {key: value_text(value) for key, value in parameters.items() if not isinstance(value, Default)}
    for key, value in AttrScope.current().get(attr).items():
        if not isinstance(value, str):
            raise ValueError("Set Attr only accepts string values")
        keys.setdefault(key, value)
    symbol = Symbol(SymbolHandle())
    check_call(_LIB.MXSymbolCreateAtomicSymbol(
        _creator(operator), len(keys), c_str_array(keys), c_str_array(keys.values()), ctypes.byref(symbol.handle)))
    name = NameManager.current().get(name, operator.lower())
    if order is not None:
        given = inputs if isinstance(inputs, dict) else dict(zip(order, inputs))
        symbol._compose(*(given[key] if key in given else _variable(f"{name}_{key}", keys) for key in order), name=name)
    elif isinstance(inputs, dict):
        symbol._compose(name=name, **inputs)
    else:
        symbol._compose(*inputs, name=name)
    return symbol


def _variable(name: str, attributes: Dict[str, str]) -> Symbol:
    """For an input that is missing; it has the attributes of the operator."""
    made = Symbol(SymbolHandle())
    check_call(_LIB.MXSymbolCreateVariable(name.encode(), ctypes.byref(made.handle)))
    for key, value in attributes.items():
        check_call(_LIB.MXSymbolSetAttr(made.handle, key.encode(), value.encode()))
    return made


def _custom(info: _registry.OperatorInfo, arguments: tuple, keywords: Dict[str, Any], name: Any, attr: Any) -> Symbol:
    """An operator of the program's own: its class knows what the inputs are called."""
    listed, parameters = _variadic(info, arguments, keywords)
    op_type = parameters.get("op_type")
    if op_type not in _custom_operator.registered:
        return create("Custom", listed, parameters, name, attr)
    named = {key: item for key, item in keywords.items() if isinstance(item, Symbol)}
    settings = {key: value for key, value in parameters.items() if key != "op_type" and not isinstance(value, Default)}
    order = _custom_operator.input_names(op_type, settings, named)
    if len(listed) > len(order):
        return create("Custom", listed, parameters, name, attr)
    return create("Custom", named or listed, parameters, name, attr, order)


def _split(info: _registry.OperatorInfo, order: Sequence[str], arguments: tuple,
           keywords: Dict[str, Any]) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """Inputs by name, and parameters: what is no input is a parameter or an attribute."""
    if len(arguments) > len(order):
        raise TypeError(f"{info.name} takes {len(order)} arguments, but {len(arguments)} are given")
    given = dict(zip(order, arguments))
    for key, value in keywords.items():
        if key in given:
            raise TypeError(f"{info.name} got several values for argument {key}")
        given[key] = value
    names = {item.name for item in info.inputs}
    inputs = {key: value for key, value in given.items() if key in names and value is not None}
    return inputs, {key: value for key, value in given.items() if key not in names}


def _variadic(info: _registry.OperatorInfo, arguments: tuple,
              keywords: Dict[str, Any]) -> Tuple[List[Symbol], Dict[str, Any]]:
    """The inputs of an operator that takes any number of them, and its parameters."""
    if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
        arguments = tuple(arguments[0])
    named = {key: item for key, item in keywords.items() if isinstance(item, Symbol)}
    _check_inputs({f"arg{at}": item for at, item in enumerate(arguments)})
    if arguments and named:
        raise TypeError("Operators with variable length input can only accept input Symbols either as positional "
                        "or keyword arguments, not both")
    parameters = {key: item for key, item in keywords.items() if key not in named}
    if info.count_key:
        parameters.setdefault(info.count_key, len(arguments) or len(named))
    return list(arguments) or list(named.values()), parameters


def _call(operator: str, info: _registry.OperatorInfo, order: Sequence[str], arguments: tuple,
          keywords: Dict[str, Any]) -> Symbol:
    name, attr = keywords.pop("name", None), keywords.pop("attr", None)
    keywords.pop("out", None)
    if info.name == "Custom":
        return _custom(info, arguments, keywords, name, attr)
    if info.takes_list:
        listed, parameters = _variadic(info, arguments, keywords)
        return create(operator, listed, parameters, name, attr)
    inputs, parameters = _split(info, order, arguments, keywords)
    _check_inputs(inputs)
    return create(operator, inputs, parameters, name, attr)


# ---- what is shown -----------------------------------------------------------------------------
def _document(info: _registry.OperatorInfo) -> str:
    """The docstring, in NumPy's form."""
    words, _, returned = info.description.partition("\n\nReturns: ")
    lines = [words or f"The operator {info.name}.", "", "Parameters", "----------"]
    for item in (*info.inputs, *info.parameters):
        lines.append(f"{item.name} : {item.type_text.replace('NDArray-or-Symbol', 'Symbol')}")
        if item.description:
            lines.append(textwrap.indent(textwrap.fill(item.description, 96), "    "))
    lines += ["name : str, optional", "    What the symbol is called; else by NameManager.",
              "attr : dict of str, optional", "    More attributes.", "", "Returns", "-------", "Symbol"]
    if returned:
        lines.append(textwrap.indent(returned, "    "))
    lines += ["", "Raises", "------", "MXNetError",
              "    If there is no such parameter, or it is ill-typed or out of range."]
    return "\n".join(lines)


def _signature(info: _registry.OperatorInfo) -> inspect.Signature:
    kind = inspect.Parameter
    shown = []
    if info.takes_list:
        shown.append(kind("args", kind.VAR_POSITIONAL))
    how = kind.KEYWORD_ONLY if info.takes_list else kind.POSITIONAL_OR_KEYWORD
    shown += [kind(item.name, how, default=None) for item in info.inputs if not info.takes_list]
    shown += [kind(item.name, how, default=default) for item, default in zip(info.parameters, info.defaults)
              if item.name != info.count_key and item.name.isidentifier()]
    shown += [kind(item, how, default=None) for item in ("name", "attr", "out")]
    return inspect.Signature([*shown, kind("kwargs", kind.VAR_KEYWORD)])


def make(operator: str, name: str, module: str, spoken: Optional[Dict[str, Any]] = None) -> Callable[..., Symbol]:
    """The function `name` of `module` that makes symbols of an operator, with these parameters unless told others."""
    info = _registry.operator(operator)
    order = [item.name for item in (*info.inputs, *info.parameters)]

    def function(*arguments: Any, **keywords: Any) -> Symbol:
        given = order[:len(arguments)]
        for key, value in (spoken or {}).items():
            if key not in given:
                keywords.setdefault(key, value)
        return _call(operator, info, order, arguments, keywords)

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = _document(info)
    function.__signature__ = _signature(info)  # type: ignore[attr-defined]
    return function
