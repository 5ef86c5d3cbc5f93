# SPDX-License-Identifier: Apache-2.0
"""Element types: their numbers in the library, their names, and NumPy's types."""
from typing import Any, Dict, Iterable

import numpy as onp

NAMES = {0: "float32", 1: "float64", 2: "float16", 3: "uint8", 4: "int32", 5: "int8", 6: "int64",
         7: "bool", 8: "int16", 9: "uint16", 10: "uint32", 11: "uint64", 12: "bfloat16"}
CODES = {name: code for code, name in NAMES.items()}
BFLOAT16 = CODES["bfloat16"]
FLOATS = frozenset(code for code, name in NAMES.items() if "float" in name)
_NUMPY: Dict[int, Any] = {code: onp.dtype(name) for code, name in NAMES.items() if code != BFLOAT16}


def numpy_type(code: int) -> Any:
    """NumPy's dtype of a number; 'bfloat16' for the one that NumPy does not have."""
    return _NUMPY.get(code, NAMES.get(code))


def type_name(dtype: Any) -> str:
    """The name of a dtype given as str, type or numpy.dtype; TypeError lists the valid ones."""
    try:
        name = dtype if isinstance(dtype, str) and dtype in CODES else onp.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in CODES:
        raise TypeError(f"arrays of {name} are not supported; the types are: " + ", ".join(CODES))
    return name


def type_code(dtype: Any) -> int:
    """The number of a dtype."""
    return CODES[type_name(dtype)]


def number(value: Any) -> Any:
    """Python's number for one of any kind: an int keeps all its digits."""
    return int(value) if isinstance(value, (int, onp.integer, onp.bool_)) else float(value)


def check_order(order: Any) -> None:
    """NotImplementedError for orders of memory that are not NumPy's 'C', which all arrays have."""
    if order not in ("C", "K", "A", None):
        raise NotImplementedError(f"order='{order}' is not supported: arrays are in the order 'C'")


def common_type(names: Iterable[str]) -> str:
    """The type that operators of mx.np make of several: the least that holds all; whole numbers beside a
    float take its type. The same as the library's table for two."""
    kinds = set(names)
    floats = {name for name in kinds if "float" in name}
    if "bfloat16" in floats and len(floats) > 1:
        floats = floats - {"bfloat16"} | {"float32"}
    if len(floats) == 1:
        return floats.pop()
    return onp.result_type(*(floats or kinds)).name


def type_beside(name: str, value: Any) -> str:
    """The type that an array of type `name` and a Python number make: the array's, but that of the number
    where the array is of truths, or of whole numbers and the number is a float."""
    if "float" in name or isinstance(value, bool):
        return name
    return "float64" if isinstance(value, float) else "int64" if name == "bool" else name
