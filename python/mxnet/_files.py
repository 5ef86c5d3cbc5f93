# SPDX-License-Identifier: Apache-2.0
"""Files of arrays, as MXNet writes them."""
import contextlib
import ctypes
import os
from typing import Any, Dict, Iterator, List, Union

from .base import (_LIB, c_handle_array, c_str, c_str_array, check_call, py_str)

Arrays = Union[List[Any], Dict[str, Any]]


@contextlib.contextmanager
def _numpy_shapes(needed: bool) -> Iterator[None]:
    """The file format of arrays without dimensions or elements is another one."""
    before = ctypes.c_int()
    if needed:
        check_call(_LIB.MXSetIsNumpyShape(1, ctypes.byref(before)))
    try:
        yield
    finally:
        if needed:
            check_call(_LIB.MXSetIsNumpyShape(before.value, None))


def save(fname: str, data: Any) -> None:
    """Saves an array, a list of arrays or a dict of name -> array; waits for them first.

    MXNetError if the file cannot be written.
    """
    if isinstance(data, dict):
        names, arrays = list(data), list(data.values())
    else:
        names, arrays = None, list(data) if isinstance(data, (list, tuple)) else [data]
    for item in arrays:
        if not hasattr(item, "_address"):
            raise TypeError("what is saved must be an array, a list or a dict of arrays, not "
                            + type(item).__name__)
    with _numpy_shapes(any(0 in item.shape or not item.shape for item in arrays)):
        check_call(_LIB.MXNDArraySave(c_str(os.fspath(fname)), len(arrays),
                                      c_handle_array(arrays),
                                      c_str_array(names) if names is not None else None))


def _loaded(kind: type, call: Any) -> Arrays:
    count, names_count = ctypes.c_uint(), ctypes.c_uint()
    handles, names = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_char_p)()
    with _numpy_shapes(True):
        check_call(call(ctypes.byref(count), ctypes.byref(handles), ctypes.byref(names_count),
                        ctypes.byref(names)))
    addresses = [handles[i] for i in range(count.value)]
    keys = [py_str(names[i]) for i in range(names_count.value)]
    arrays = [kind(address) for address in addresses]
    return dict(zip(keys, arrays)) if keys else arrays


def load(kind: type, fname: str) -> Arrays:
    """The list or dict of a file as arrays of `kind`; MXNetError if it is missing or damaged."""
    return _loaded(kind, lambda *out: _LIB.MXNDArrayLoad(c_str(os.fspath(fname)), *out))


def load_frombuffer(kind: type, buffer: bytes) -> Arrays:
    """The same of a file's content."""
    return _loaded(kind, lambda *out: _LIB.MXNDArrayLoadFromBuffer(
        buffer, ctypes.c_size_t(len(buffer)), *out))
