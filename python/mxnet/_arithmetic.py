# SPDX-License-Identifier: Apache-2.0
"""The operators of arrays for `_fallback`, as the extension has them in C: those of _operators.def."""
import pathlib
import re
from typing import Any, Callable, Dict, NamedTuple

_OF_ARRAYS, _OF_NUMBER, _OF_REVERSED = range(3)


class Family(NamedTuple):
    """What computes +, < and the others of one type of arrays."""

    kind: type
    table: Dict[str, tuple]  # word -> operators: of two arrays, array and number, number and array
    typed: bool  # number operators have a parameter is_int
    convert: Callable[[Any, Any], Any]  # makes an array or a number of any other operand


families: Dict[type, Family] = {}


def _family_of(array: Any) -> Any:
    for kind in type(array).__mro__:
        if kind in families:
            return families[kind]
    return None


def _is_number(family: Family, other: Any) -> bool:
    return isinstance(other, (int, float)) and not (family.typed and isinstance(other, bool))


def _apply(word: str, array: Any, other: Any, is_reversed: bool, out: Any) -> Any:
    family = _family_of(array)
    if family is None:
        return NotImplemented
    if not isinstance(other, Arithmetic) and not _is_number(family, other):
        other = family.convert(array, other)
    operators = family.table.get(word, (None, None, None))
    if _is_number(family, other):
        operator = operators[_OF_REVERSED if is_reversed else _OF_NUMBER]
        if operator is None:
            return NotImplemented
        return operator.number(family.kind, array, other, family.typed, out)
    operator = operators[_OF_ARRAYS]
    if operator is None or not isinstance(other, Arithmetic):
        return NotImplemented
    return operator.plain(family.kind, (other, array) if is_reversed else (array, other), out)


class Arithmetic:
    """Gets its operators below."""

    __slots__ = ()


def _add_operator(word: str, name: str) -> None:
    def forward(self, other):
        return _apply(word, self, other, False, None)

    def backward(self, other):
        return _apply(word, self, other, True, None)

    def into(self, other):
        return _apply(word, self, other, False, self)

    setattr(Arithmetic, f"__{name}__", forward)
    setattr(Arithmetic, f"__r{name}__", backward)
    setattr(Arithmetic, f"__i{name}__", into)


def _add_comparison(word: str, name: str) -> None:
    setattr(Arithmetic, f"__{name}__", lambda self, other: _apply(word, self, other, False, None))


for _kind, _word, _name in re.findall(r"^([A-Z]+)\((\w+), (\w+), \w+\)$", pathlib.Path(__file__).with_name(
        "_operators.def").read_text("utf-8"), re.MULTILINE):
    (_add_comparison if _kind == "COMPARISON" else _add_operator)(_word, _name)
