# SPDX-License-Identifier: Apache-2.0
"""What the library says of its operators: names, arguments, documentation."""
import ctypes
import functools
from typing import Any, List, NamedTuple, NoReturn, Tuple

from .base import _LIB, Default, check_call, core, py_str, string_list

_INPUTS = ("NDArray-or-Symbol", "NDArray-or-Symbol[]", "NDArray", "Symbol")
_NUMPYS_OWN = ("where", "casting", "order", "subok", "signature")


class Argument(NamedTuple):
    """One argument of an operator."""

    name: str
    type_text: str
    description: str


class OperatorInfo(NamedTuple):
    """An operator of the registry."""

    name: str  # primary name
    description: str
    inputs: Tuple[Argument, ...]
    parameters: Tuple[Argument, ...]
    count_key: str  # the parameter that counts the inputs, "" if their number is fixed
    call: Any  # core.Operator
    defaults: Tuple[Default, ...]  # of the parameters

    @property
    def takes_list(self) -> bool:
        """Whether the inputs are a list of any length."""
        return any(item.type_text.endswith("[]") for item in self.inputs)


@functools.lru_cache(maxsize=None)
def names() -> Tuple[str, ...]:
    """All names of operators, aliases among them."""
    count, listed = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(listed)))
    return tuple(sorted(string_list(count.value, listed)))


@functools.lru_cache(maxsize=None)
def exists(name: str) -> bool:
    """Whether there is an operator of this name."""
    return name in frozenset(names())


def _default_of(type_text: str) -> Default:
    """What the signature shows: the default as Python writes it, or that it is required."""
    kind, found, default = type_text.partition("default=")
    if not found:
        return Default("<required>")
    if kind.startswith("boolean") and default in ("0", "1"):
        return Default(str(default == "1"))
    if default == "'None'" or not kind.startswith(("{", "string")):
        default = default.strip("'").replace("[]", "()")
    return Default(default)


def _arguments(count: int, listed_names, types, descriptions) -> List[Argument]:
    return [Argument(*fields) for fields in zip(string_list(count, listed_names),
                                                string_list(count, types),
                                                string_list(count, descriptions))]


@functools.lru_cache(maxsize=None)
def operator(name: str) -> OperatorInfo:
    """The operator of a name or alias; MXNetError if there is none."""
    creator = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(creator)))
    primary, description, count_key, result = (ctypes.c_char_p() for _ in range(4))
    count = ctypes.c_uint()
    lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(
        creator, ctypes.byref(primary), ctypes.byref(description), ctypes.byref(count),
        *[ctypes.byref(item) for item in lists], ctypes.byref(count_key), ctypes.byref(result)))
    arguments = _arguments(count.value, *lists)
    inputs = tuple(item for item in arguments if item.type_text in _INPUTS)
    parameters = tuple(item for item in arguments if item.type_text not in _INPUTS)
    call = core.Operator(creator.value, py_str(primary.value or b""),
                         tuple(item.name for item in parameters))
    return OperatorInfo(py_str(primary.value or b""), py_str(description.value or b""), inputs, parameters,
                        py_str(count_key.value or b""), call,
                        tuple(_default_of(item.type_text) for item in parameters))


def refuse(info: OperatorInfo, key: str) -> NoReturn:
    """Raises MXNetError, with the library's list, for a parameter the operator does not have;
    NotImplementedError for one that only NumPy's function has."""
    if key in _NUMPYS_OWN and info.name.startswith("_np"):
        raise NotImplementedError(f"{info.name} does not take NumPy's argument '{key}'")
    creator, prepared = ctypes.c_void_p(), ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(info.name.encode(), ctypes.byref(creator)))
    check_call(_LIB.MXPreparedCreate(creator, len(info.inputs), 1, (ctypes.c_char_p * 1)(key.encode()),
                                     (ctypes.c_char_p * 1)(b""), ctypes.byref(prepared)))
    raise AssertionError(f"{info.name} takes {key}, but the registry does not say so")


def invoke(kind: type, name: str, *inputs: Any, out: Any = None, **parameters: Any) -> Any:
    """Runs an operator by name; results are arrays of `kind`, one or a list.

    MXNetError for a parameter that it does not have.
    """
    info = operator(name)
    values = list(info.defaults)
    for key, value in parameters.items():
        for at, item in enumerate(info.parameters):
            if item.name == key:
                values[at] = value
                break
        else:
            refuse(info, key)
    return info.call(kind, inputs, tuple(values), out)
