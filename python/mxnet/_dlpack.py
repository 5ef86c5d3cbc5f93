# SPDX-License-Identifier: Apache-2.0
"""DLPack: arrays whose memory other libraries use, and theirs as arrays, without a copy.

What is handed out is ordered by a wait: values that are pending are there before another library sees
them. What is pushed later is not ordered with what the other library does; nor is what it does later
with what was pushed.
"""
import ctypes
from typing import Any, Optional, Tuple

import numpy as onp

from .base import _LIB, check_call, core

_CPU = 1  # DLPack's number
_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_TAKEN = {_PLAIN: b"used_dltensor", _VERSIONED: b"used_dltensor_versioned"}  # lives: capsules point to it

_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_content = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", ctypes.pythonapi))


# ---- out ---------------------------------------------------------------------------------------
def _capsule(array: Any, is_versioned: bool) -> Any:
    word = "Versioned" if is_versioned else ""
    out = ctypes.c_void_p()
    check_call(getattr(_LIB, "MXNDArrayToDLPack" + word)(array.handle, ctypes.byref(out)))
    deleter = ctypes.cast(getattr(_LIB, "MXNDArrayCallDLPackDeleter" + word), ctypes.c_void_p)
    return core.capsule(out.value, is_versioned, deleter.value)


def to_dlpack_for_read(array: Any) -> Any:
    """A capsule of the array's memory, once all pending writes to it are done."""
    array.wait_to_read()
    return _capsule(array, False)


def to_dlpack_for_write(array: Any) -> Any:
    """A capsule of the array's memory, once nothing that is pending reads or writes it."""
    array.wait_to_write()
    return _capsule(array, False)


def _check_asked(stream: Any, device: Optional[Tuple[int, int]], own: Tuple[int, int]) -> None:
    if stream is not None:
        raise ValueError(f"__dlpack__: stream={stream!r}: the CPU has none")
    if device is not None and (int(device[0]), device[1]) not in (own, (_CPU, 0)):
        raise BufferError(f"__dlpack__: the array is on device {own}, not on {tuple(device)}")


def export(array: Any, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
           dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
    """What `__dlpack__` gives. Whoever gets it may write: it waits for pending readers too. `copy`: of a
    copy. `max_version`: the newest structure that the other side knows."""
    _check_asked(stream, dl_device, device_of(array))
    if copy:
        array = array.copy()
    array.wait_to_write()
    return _capsule(array, max_version is not None and max_version[0] >= 1)


def device_of(array: Any) -> Tuple[int, int]:
    """What `__dlpack_device__` gives: the kind of the device, 1 for the CPU, and its number."""
    return _CPU, array.context.device_id


# ---- in ----------------------------------------------------------------------------------------
def _request(source: Any, device: Any) -> Any:
    """The capsule of an object that has `__dlpack__`."""
    kind = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (_CPU, 0)
    if int(kind[0]) not in (_CPU, 3) or (device is not None and device.device_type != "cpu"):
        raise BufferError(f"from_dlpack: the values are on a device of DLPack's kind {int(kind[0])}, "
                          "and only memory of the CPU can be shared")
    try:
        return source.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before versions
        return source.__dlpack__()


def _take(kind: type, capsule: Any) -> Any:
    names = [name for name in _TAKEN if _is_valid(capsule, name)]
    if not names:
        raise ValueError(f"from_dlpack: {capsule!r} is no capsule of a tensor, or has been used: each is "
                         "used once")
    name, = names
    tensor, out = ctypes.c_void_p(_content(capsule, name)), ctypes.c_void_p()
    if name == _VERSIONED:
        check_call(_LIB.MXNDArrayFromDLPackVersioned(tensor, ctypes.byref(out)))
    else:
        check_call(_LIB.MXNDArrayFromDLPackEx(tensor, ctypes.c_bool(False), ctypes.byref(out)))
    _rename(capsule, _TAKEN[name])
    return kind(out.value)


def import_from(kind: type, source: Any, device: Any = None, copy: Optional[bool] = None) -> Any:
    """The array of type `kind` on the memory of `source`: a capsule, or an object with `__dlpack__`."""
    is_capsule = type(source).__name__ == "PyCapsule"
    if not is_capsule and not hasattr(source, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(source).__name__} has no __dlpack__")
    array = _take(kind, source if is_capsule else _request(source, device))
    return array.copy() if copy else array


def import_numpy(kind: type, values: onp.ndarray) -> Any:
    """The array of type `kind` on the memory of a NumPy array, which is read-only from then on."""
    if not isinstance(values, onp.ndarray):
        raise TypeError(f"from_numpy: a NumPy array was expected, not {type(values).__name__}")
    if not values.flags["C_CONTIGUOUS"]:
        raise ValueError("from_numpy: only C-contiguous arrays can be used without a copy; "
                         "zero_copy=False makes one")
    if not values.flags["WRITEABLE"]:
        raise ValueError("from_numpy: the array is read-only, and one of ours could be written to; "
                         "zero_copy=False makes a copy")
    array = import_from(kind, values)
    values.flags["WRITEABLE"] = False
    return array
