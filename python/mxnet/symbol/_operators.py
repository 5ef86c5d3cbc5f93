# SPDX-License-Identifier: Apache-2.0
"""Python's operators on symbols, and functions of a symbol or a number and another."""
import numbers
from typing import Any, Callable, Dict, NoReturn, Optional

from ._functions import create
from .symbol import NotImplementedForSymbol, Symbol


def _with_number(operator: str, symbol: Symbol, number: Any) -> Symbol:
    return create(operator, {"data": symbol}, {"scalar": number})


def binary(left: Any, right: Any, both: str, with_number: str, swapped: Optional[str]) -> Symbol:
    """A function of two symbols, or of one and a number on either side; TypeError for anything else."""
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return create(both, {"lhs": left, "rhs": right}, {})
    if isinstance(left, Symbol) and isinstance(right, numbers.Number):
        return _with_number(with_number, left, right)
    if isinstance(right, Symbol) and isinstance(left, numbers.Number):
        return _with_number(swapped or with_number, right, left)
    raise TypeError(f"types ({type(left)}, {type(right)}) not supported")


# name: operators of two symbols, of a symbol and a number, of a number and a symbol
_ARITHMETIC: Dict[str, tuple] = {
    "add": ("_Plus", "_PlusScalar", None), "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", None), "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"), "pow": ("_Power", "_PowerScalar", "_RPowerScalar"),
}
_COMPARISONS: Dict[str, tuple] = {
    "eq": ("_equal", "_equal_scalar", None), "ne": ("_not_equal", "_not_equal_scalar", None),
    "gt": ("_greater", "_greater_scalar", "_lesser_scalar"),
    "ge": ("_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "lt": ("_lesser", "_lesser_scalar", "_greater_scalar"),
    "le": ("_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
}


def _operate(names: tuple, is_swapped: bool = False) -> Callable[[Symbol, Any], Symbol]:
    def operate(self: Symbol, other: Any) -> Symbol:
        return binary(*((other, self) if is_swapped else (self, other)), *names)

    return operate


def _refuse(name: str, alias: str = "") -> Callable[..., NoReturn]:
    def refuse(self: Symbol, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedForSymbol(name, alias)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Of arrays alone: NotImplementedForSymbol."
    return refuse


def add_operators() -> None:
    """Gives Symbol its operators. In place there are none: a symbol never changes. Nor has it values."""
    signs = {"add": "+=", "sub": "-=", "mul": "*=", "truediv": "/=", "mod": "%=", "pow": "**="}
    for name, operators in _ARITHMETIC.items():
        setattr(Symbol, f"__{name}__", _operate(operators))
        setattr(Symbol, f"__r{name}__", _operate(operators, True))
        setattr(Symbol, f"__i{name}__", _refuse(f"__i{name}__", signs[name]))
    for name, operators in _COMPARISONS.items():
        setattr(Symbol, f"__{name}__", _operate(operators))
    for name in ("asnumpy", "asscalar", "as_in_context", "backward", "copy", "detach", "wait_to_read"):
        setattr(Symbol, name, _refuse(name))
    setattr(Symbol, "__hash__", None)
    setattr(Symbol, "__neg__", lambda self: _with_number("_MulScalar", self, -1.0))
    setattr(Symbol, "__abs__", lambda self: create("abs", {"data": self}, {}))


_BY_NUMBERS: Dict[str, Callable[[Any, Any], Any]] = {
    "pow": lambda a, b: a ** b, "maximum": max, "minimum": min, "hypot": lambda a, b: (a * a + b * b) ** 0.5}
_OF_TWO: Dict[str, tuple] = {
    "pow": ("_Power", "_PowerScalar", "_RPowerScalar"), "maximum": ("_Maximum", "_MaximumScalar", None),
    "minimum": ("_Minimum", "_MinimumScalar", None), "hypot": ("_Hypot", "_HypotScalar", None)}


def of_two(name: str) -> Callable[[Any, Any], Any]:
    """pow, maximum, minimum or hypot: of symbols, numbers, or one of each."""
    operators = _OF_TWO[name]

    def function(left: Any, right: Any) -> Any:
        if isinstance(left, numbers.Number) and isinstance(right, numbers.Number):
            return _BY_NUMBERS[name](left, right)
        return binary(left, right, *operators)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of two symbols, or of a symbol and a number on either side, element by element."
    return function
