# SPDX-License-Identifier: Apache-2.0
"""Files of arrays: MXNet's lists, NumPy's `.npy` and `.npz`. What a file is says its content, not its
name."""
import contextlib
import ctypes
import io
import os
import zipfile
import zlib
from typing import Any, Dict, Iterator, List, Union, cast

import numpy as onp

from .base import (_LIB, MXNetError, c_handle_array, c_str, c_str_array, check_call, py_str)
from .context import choose

_NPY, _NPZ = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")

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


# ---- NumPy's formats ----------------------------------------------------------------------------
def _host(array: Any) -> onp.ndarray:
    if hasattr(array, "_address") and str(array.dtype) == "bfloat16":
        raise TypeError("NumPy's files have no bfloat16: cast the array, or save a list of arrays")
    values = array.asnumpy() if hasattr(array, "_address") else onp.asarray(array)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"what is saved must be an array, a list or a dict of arrays, not {type(array).__name__}")
    return values


def _write(fname: Any, write: Any) -> None:
    """`write` of an open file; a name is taken as it is, without an ending of NumPy's."""
    if hasattr(fname, "write"):
        write(fname)
        return
    try:
        with open(fname, "wb") as file:
            write(file)
    except OSError as error:
        raise MXNetError(f"cannot write '{fname}': {error.strerror}") from error


def save_numpy(file: Any, arr: Any) -> None:
    """Saves an array as NumPy's `.npy`, a list of arrays or a dict of name -> array as MXNet does; waits
    for them first. `file`: a name, which gets no ending, or a file to write a `.npy` to.

    MXNetError if the file cannot be written.
    """
    if isinstance(arr, (list, tuple, dict)):
        save(file, arr)
    else:
        values = _host(arr)
        _write(file, lambda to: onp.save(to, values, allow_pickle=False))


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Saves arrays as NumPy's `.npz`, under their keywords or as arr_0, arr_1, ...; waits for them first.
    `file`: a name, which gets no ending, or a file.

    MXNetError if the file cannot be written.
    """
    values = {key: _host(item) for key, item in kwds.items()}
    for at, item in enumerate(args):
        if f"arr_{at}" in values:
            raise ValueError(f"arr_{at} is the name of an argument by position, and of a keyword")
        values[f"arr_{at}"] = _host(item)
    _write(file, lambda to: onp.savez(to, **cast(Any, values)))


def _from_numpy(kind: Any, values: Any) -> Any:
    if not isinstance(values, onp.ndarray):  # NumPy gives other members of an archive as bytes
        raise ValueError("a member of the archive is no array")
    return kind._from_numpy(values if values.shape or kind._has_scalars else values.reshape(1), choose(None))


def _load_numpy(kind: type, source: Any) -> Any:
    """The array of a `.npy`, the dict of a `.npz`."""
    try:
        found = onp.load(source, allow_pickle=False)
        if isinstance(found, onp.ndarray):
            return _from_numpy(kind, found)
        with found:
            return {key: _from_numpy(kind, found[key]) for key in found.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, MemoryError) as error:
        raise MXNetError(f"no arrays can be read from the file: {error}") from error


def _is_numpys(begin: bytes) -> bool:
    return begin.startswith((_NPY, *_NPZ))


def load(kind: type, fname: Any) -> Any:
    """The list or dict of a file as arrays of `kind`; of NumPy's `.npz` the dict, of a `.npy` the array,
    for MXNet 1.x's arrays in a list. MXNetError if it is missing or damaged."""
    with contextlib.suppress(OSError):  # the library says what is wrong with it
        with open(fname, "rb") as file:
            if _is_numpys(file.read(len(_NPY))):
                file.seek(0)
                return _listed(kind, _load_numpy(kind, file))
    return _loaded(kind, lambda *out: _LIB.MXNDArrayLoad(c_str(os.fspath(fname)), *out))


def _listed(kind: Any, found: Any) -> Any:
    return found if isinstance(found, dict) or kind._has_scalars else [found]


def load_frombuffer(kind: type, buffer: bytes) -> Any:
    """The same of a file's content."""
    if _is_numpys(bytes(buffer[:len(_NPY)])):
        return _listed(kind, _load_numpy(kind, io.BytesIO(buffer)))
    return _loaded(kind, lambda *out: _LIB.MXNDArrayLoadFromBuffer(
        buffer, ctypes.c_size_t(len(buffer)), *out))
