# SPDX-License-Identifier: Apache-2.0
"""The library, errors, handles, and the texts of parameters.

Calls that programs make often go through `core`: the C extension, or `_fallback`, which does the
same through ctypes. MXNET_PYTHON_CORE=extension|ctypes chooses; without it the extension is taken
where it was built.
"""
import atexit
import ctypes
import difflib
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from typing import Any, Dict, Iterable, List, Sequence

import numpy as onp

from . import _interrupt, libinfo

NDArrayHandle = ctypes.c_void_p
OpHandle = ctypes.c_void_p
ProfileHandle = ctypes.c_void_p
KVStoreHandle = ctypes.c_void_p
SymbolHandle = ctypes.c_void_p
CachedOpHandle = ctypes.c_void_p
mx_uint = ctypes.c_uint
mx_float = ctypes.c_float
mx_real_t = onp.float32


class MXNetError(RuntimeError):
    """What a call of the library that failed raises, with the library's reason. It is also a Python
    error where the reason begins with one's name, as in "IndexError: ..."."""

    _taken = staticmethod(_interrupt.taken)  # what a failed call raises instead, or None

    def __new__(cls, *arguments: Any) -> "MXNetError":
        kind = str(arguments[0]).partition(":")[0] if arguments else ""
        return super().__new__(_KINDS.get(kind, cls) if cls is MXNetError else cls, *arguments)


_KINDS: Dict[str, type] = {
    kind.__name__: type("MXNetError", (MXNetError, kind), {  # pickled as what it is made from
        "__reduce__": lambda self: (MXNetError, self.args), "__module__": __name__})
    for kind in (IndexError, TypeError, ValueError)}


class Default:
    """Stands for a parameter that a call leaves out; shows as the default it takes."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return False


_Null = Default("<default>")


# ---- the library -------------------------------------------------------------------------------
def _refuse_another_mxnet(ours: str) -> None:
    """Two libraries of this name in one process share symbols, and neither works."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            loaded = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libmxnet.so" in line}
    except OSError:
        return
    for path in sorted(loaded - {os.path.realpath(ours)}):
        raise ImportError(f"another mxnet is loaded in this process already ({path}); only one "
                          f"can be. Import this one ({ours}) in a process of its own.")


def _let_idle_threads_sleep() -> None:
    """OpenMP's idle threads spin for long: on a machine with other work they take the cores from
    whoever has some. A thousand looks outlast the gap between two kernels."""
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ):
        os.environ["GOMP_SPINCOUNT"] = "1000"


def _share_the_mark_of_the_profile() -> None:
    """Autostart leaves its mark in C's environment, which os.environ is a copy of: programs that
    are started with that one must find it too (docs/flight-recorder.md, Children)."""
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_char_p
    mark = library.getenv(b"MXPROF_ROOT_PID")
    if mark is not None:
        os.environ["MXPROF_ROOT_PID"] = os.fsdecode(mark)


def _load() -> ctypes.CDLL:
    path, = libinfo.find_lib_path()
    _let_idle_threads_sleep()
    _refuse_another_mxnet(path)
    library = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    library.MXGetLastError.restype = ctypes.c_char_p
    _share_the_mark_of_the_profile()
    return library


_LIB = _load()


def last_error() -> str:
    """The library's reason for the last failure; that it is an MXNetError Python says itself."""
    return py_str(_LIB.MXGetLastError()).removeprefix("MXNetError: ")


# What Python functions that the library called have raised, by the text that its errors repeat.
_CAUSES_MAX = 8
_causes: Dict[str, BaseException] = {}


def keep_cause(text: str, error: BaseException) -> None:
    """The error of the library that repeats `text` will be raised from `error`."""
    traceback.clear_frames(error.__traceback__)  # its arrays go
    _causes[text] = error
    while len(_causes) > _CAUSES_MAX:
        _causes.pop(next(iter(_causes)), None)


def _failure() -> BaseException:
    text = last_error()
    error = MXNetError(text)
    known = next((key for key in list(_causes) if key in text), None)
    error.__cause__ = _causes.pop(known, None) if known is not None else None
    return error


def check_call(status: int) -> None:
    """Raises MXNetError with the library's reason unless `status` is 0."""
    if status != 0:
        raise MXNetError._taken() or _failure()
    core.thread_seen()


# ---- between Python and C ----------------------------------------------------------------------
def _encoded(text: str) -> bytes:
    """ValueError for a null character, at which C would take the text to end."""
    if "\0" in text:
        raise ValueError(f"a text must not have a null character: {text!r}")
    return text.encode("utf-8", "surrogateescape")  # names of files need not be UTF-8


def c_str(text: str) -> ctypes.c_char_p:
    """A C string of `text`; TypeError if it is no str."""
    if not isinstance(text, str):
        raise TypeError(f"a str is needed, not {type(text).__name__}: {text!r}")
    return ctypes.c_char_p(_encoded(text))


def file_name_str(name: Any) -> str:
    """A file's name, given as str, bytes or path, as str."""
    return os.fsdecode(name) if isinstance(name, (bytes, os.PathLike)) else str(name)


def c_file_name(name: Any) -> ctypes.c_char_p:
    """A C string of a file's name."""
    return c_str(file_name_str(name))


def c_str_array(texts: Iterable[str]) -> "ctypes.Array[ctypes.c_char_p]":
    """A C array of strings."""
    encoded = [_encoded(text) for text in texts]
    return (ctypes.c_char_p * max(len(encoded), 1))(*encoded)


def c_handle_array(objects: Sequence[Any]) -> "ctypes.Array[ctypes.c_void_p]":
    """A C array of the handles of arrays; None becomes null."""
    return (ctypes.c_void_p * max(len(objects), 1))(
        *[None if item is None else item._address for item in objects])


def py_str(text: bytes) -> str:
    """A C string as str."""
    return text.decode("utf-8", "replace")


def string_list(count: int, texts) -> List[str]:
    """`count` C strings as a list."""
    return [py_str(texts[i]) for i in range(count)]


def did_you_mean(word: Any, names: Iterable[str], cutoff: float = 0.6) -> str:
    """What an error says after a word that is not known: "; did you mean 'adam'?", or nothing."""
    close = difflib.get_close_matches(str(word), list(names), 1, cutoff)
    return f"; did you mean {close[0]!r}?" if close else ""


def choices(word: Any, names: Iterable[str]) -> str:
    """The same, and what there is."""
    listed = sorted(names)
    hint = did_you_mean(word, listed)
    return f"{hint} There are {', '.join(listed)}" if hint else f"; there are {', '.join(listed)}"


def value_text(value: Any) -> str:
    """A parameter's value as the library parses it: (2, 3) -> "(2, 3)", numpy.float32 ->
    "float32". TypeError for what has no such text."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, onp.bool_)):
        return str(value)
    if isinstance(value, (int, onp.integer)):
        return str(int(value))
    if isinstance(value, (float, onp.floating)):
        return repr(float(value))
    if isinstance(value, (tuple, list, onp.ndarray)):
        items = [value_text(item) for item in value]
        return "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    if isinstance(value, (type, onp.dtype)):
        return onp.dtype(value).name
    text = getattr(value, "_parameter_text", None)
    if text is None:
        raise TypeError(f"a {type(value).__name__} is no value of a parameter: {value!r}")
    return text()


# ---- the calls made most -----------------------------------------------------------------------
def _load_extension():
    """The module mxnet._core, or None if it was not built."""
    path = libinfo.find_extension(_LIB._name)
    if path is None:
        return None
    loader = importlib.machinery.ExtensionFileLoader("mxnet._core", path)
    spec = importlib.util.spec_from_loader("mxnet._core", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules["mxnet._core"] = module
    return module


def _choose_core():
    wanted = os.environ.get("MXNET_PYTHON_CORE", "")
    if wanted not in ("", "extension", "ctypes"):
        raise ImportError(f"MXNET_PYTHON_CORE is '{wanted}'; valid are: extension, ctypes")
    module = _load_extension() if wanted != "ctypes" else None
    if module is None and wanted == "extension":
        raise ImportError("MXNET_PYTHON_CORE=extension, but mxnet._core was not built for "
                          f"Python {sys.version.split()[0]}")
    if module is None:
        from . import _fallback as module  # needs the library above
    module.bind(_LIB._handle, MXNetError, Default, value_text)
    return module


core: Any = _choose_core()


_interrupt.bind(_LIB)
atexit.register(_interrupt.shut_down, _LIB)
