# SPDX-License-Identifier: Apache-2.0
"""What the extension `_core` does, through ctypes: same names, same behaviour, slower."""
import ctypes
import threading
from typing import Any, Callable, Dict, List, Set, Tuple

from . import _arithmetic

_lib: Any = None
_recorder: Any = None
_start: Any = None
_stop: Any = None
_gate: Any = None
_error: Any = RuntimeError
_left_out: Any = type(None)
_default: Any = None
_text: Callable[[Any], str] = str
_conversion: Any = None  # what makes arrays of inputs that are none

_NAMES_MAX = 4096  # of threads; the library keeps each for as long as the process lives
_PREPARED_MAX = 1024  # calls that an operator keeps


def bind(library: int, error: type, left_out: type, text: Callable[[Any], str]) -> None:
    """Says which library is called (a dlopen handle), what failures raise, which type stands for a
    parameter's default, and what makes texts of values."""
    global _lib, _recorder, _start, _stop, _gate, _error, _left_out, _default, _text
    _lib = ctypes.CDLL(None, handle=library)
    _lib.MXGetLastError.restype = ctypes.c_char_p
    _recorder = ctypes.PyDLL(None, handle=library)  # keeps the interpreter's lock
    for name, types in {"MXProfileDurationStart": [ctypes.c_void_p],
                        "MXProfileDurationStop": [ctypes.c_void_p],
                        "MXProfileDestroyHandle": [ctypes.c_void_p],
                        "MXProfileSetCounter": [ctypes.c_void_p, ctypes.c_uint64],
                        "MXProfileAdjustCounter": [ctypes.c_void_p, ctypes.c_int64],
                        "MXSetProfilerScope": [ctypes.c_char_p],
                        "mxp_thread_name": [ctypes.c_char_p],
                        "mxp_span_create": [ctypes.c_char_p, ctypes.c_char_p,
                                            ctypes.c_void_p]}.items():
        getattr(_recorder, name).argtypes = types
    _start, _stop = _recorder.MXProfileDurationStart, _recorder.MXProfileDurationStop
    _lib.MXNDArrayFree.argtypes = [ctypes.c_void_p]
    _gate = ctypes.c_uint32.in_dll(_recorder, "mxp_control_2")  # its first member
    _error, _left_out, _text = error, left_out, text
    _default = left_out("<default>")


def _fail() -> None:
    raise _error._taken() or _error(
        _lib.MXGetLastError().decode("utf-8", "replace").removeprefix("MXNetError: "))


def _encoded(text: str) -> bytes:
    if "\0" in text:
        raise ValueError(f"a text must not have a null character: {text!r}")
    return text.encode("utf-8")


def _check(status: int) -> None:
    if status != 0:
        _fail()


# ---- the names of threads ----------------------------------------------------------------------
class _Seen(threading.local):
    names = 0  # how often threads had been renamed when this one's name was handed over; 0: never


_seen = _Seen()
_names = [1]  # how often threads were renamed
_threads: Dict[int, Any] = {}
_foreign: type = type(None)
_handed_over: Set[str] = set()


def thread_bind(threads: Dict[int, Any], foreign: type) -> None:
    """Where threading keeps its threads, and the type of those it did not start."""
    global _threads, _foreign
    _threads, _foreign = threads, foreign


def thread_seen() -> None:
    """Hands the calling thread's name over, if that is to be done."""
    if _seen.names != _names[0] and _gate.value & 31:  # MXP_CLASS_ALL
        _seen.names = _names[0]
        thread = _threads.get(threading.get_ident())
        name = getattr(thread, "_name", None)
        if name is None or name == "MainThread" or isinstance(thread, _foreign):
            return
        if name in _handed_over or len(_handed_over) < _NAMES_MAX:
            _handed_over.add(name)
            _recorder.mxp_thread_name(name.encode("utf-8", "replace"))


def thread_renamed() -> None:
    """A thread has another name; each hands its own over again."""
    _names[0] += 1
    if _seen.names:
        thread_seen()


# ---- arrays ------------------------------------------------------------------------------------
class Array(_arithmetic.Arithmetic):
    """Array(address): owner of an array handle of libmxnet."""

    __slots__ = ("_address", "_shape", "_dtype", "__weakref__")
    __hash__ = None

    def __new__(cls, address: int):
        self = object.__new__(cls)
        self._address, self._shape, self._dtype = address, None, -1
        return self

    def __del__(self):
        if self._address:
            _lib.MXNDArrayFree(self._address)

    @property
    def shape(self) -> Tuple[int, ...]:
        """The size of each dimension."""
        if not self._shape:  # () may stand for an array that has no shape yet
            rank, sizes = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
            handle = ctypes.c_void_p(self._address)
            if _lib.MXNDArrayGetShape(handle, ctypes.byref(rank), ctypes.byref(sizes)) != 0:
                sizes = ctypes.POINTER(ctypes.c_int64)()
                _check(_lib.MXNDArrayGetShape64(handle, ctypes.byref(rank), ctypes.byref(sizes)))
            self._shape = tuple(sizes[i] for i in range(rank.value))
        return self._shape

    @property
    def _type_code(self) -> int:
        if self._dtype < 0:
            code = ctypes.c_int()
            _check(_lib.MXNDArrayGetDType(ctypes.c_void_p(self._address), ctypes.byref(code)))
            self._dtype = code.value
        return self._dtype


# ---- operators ---------------------------------------------------------------------------------
class _Prepared:
    """An operator with its parameters parsed."""

    def __init__(self, creator: int, keys: List[str], values: List[str], inputs: int):
        self.handle = ctypes.c_void_p()
        count = len(keys)
        _check(_lib.MXPreparedCreate(
            ctypes.c_void_p(creator), inputs, count,
            (ctypes.c_char_p * max(count, 1))(*[key.encode() for key in keys]),
            (ctypes.c_char_p * max(count, 1))(*[value.encode() for value in values]),
            ctypes.byref(self.handle)))

    def __del__(self):
        if self.handle:
            _lib.MXPreparedFree(self.handle)


def _addresses(what: str, arrays) -> "ctypes.Array[ctypes.c_void_p]":
    found = []
    for at, array in enumerate(arrays):
        if array is None:
            continue
        if not isinstance(array, Array):
            raise TypeError(f"{what}: item {at} must be an array, not "
                            + type(array).__name__)
        found.append(array._address)
    return (ctypes.c_void_p * max(len(found), 1))(*found), len(found)


class Operator:
    """Operator(address, name, keys): an operator of the registry."""

    def __init__(self, address: int, name: str, keys: Tuple[str, ...]):
        self._address, self._name, self._keys = address, name, keys
        self._prepared: Dict[tuple, _Prepared] = {}

    def __call__(self, kind: type, inputs: tuple, values: tuple, out: Any):
        if len(values) != len(self._keys):
            raise TypeError(f"{self._name}: {len(self._keys)} parameters expected, "
                            f"{len(values)} given")
        try:
            handles, count = _addresses(self._name, inputs)
        except TypeError:
            inputs = _conversion(kind, inputs) if _conversion else None
            if inputs is None:
                raise
            handles, count = _addresses(self._name, inputs)
        texts = [None if isinstance(value, _left_out) else _text(value) for value in values]
        prepared = self._prepare((*texts, count))
        if out is None:
            return _results(kind, _run(prepared, handles, None, 0))
        if not isinstance(out, (Array, list, tuple)):
            raise TypeError("out must be an array or a list of arrays, not "
                            + type(out).__name__)
        given, given_count = _addresses("out", [out] if isinstance(out, Array) else out)
        _run(prepared, handles, given, given_count)
        return out

    def number(self, kind: type, array: Array, number: Any, typed: bool, out: Any):
        """The call with a number as `scalar`; with `typed` also is_int."""
        named = {"scalar": int(number) if isinstance(number, bool) else number}
        if typed:
            named["is_int"] = str(int(isinstance(number, int)))
        values = tuple(named.get(key, _default) for key in self._keys)
        return self(kind, (array,), values, out)

    def plain(self, kind: type, inputs: tuple, out: Any):
        """The call without parameters."""
        return self(kind, inputs, (_default,) * len(self._keys), out)

    def _prepare(self, texts: tuple) -> _Prepared:
        found = self._prepared.get(texts)
        if found is None:
            given = [(key, text) for key, text in zip(self._keys, texts) if text is not None]
            found = _Prepared(self._address, [key for key, _ in given],
                              [text for _, text in given], texts[-1])
            if len(self._prepared) >= _PREPARED_MAX:
                self._prepared.clear()
            self._prepared[texts] = found
        return found


def _run(prepared: _Prepared, inputs, outputs, count: int):
    number = ctypes.c_int(count)
    listed = ctypes.cast(outputs, ctypes.POINTER(ctypes.c_void_p))
    thread_seen()
    _check(_lib.MXPreparedInvoke(prepared.handle, inputs, ctypes.byref(number),
                                 ctypes.byref(listed)))
    return [listed[i] for i in range(number.value)]


def _results(kind: type, addresses: List[int]):
    arrays = [kind(address) for address in addresses]
    return arrays[0] if len(arrays) == 1 else arrays


def set_conversion(function: Callable[[type, tuple], Any]) -> None:
    """What makes arrays of inputs that are none: called with the type of arrays and the tuple of inputs,
    it gives another tuple, or None if it cannot."""
    global _conversion
    _conversion = function


def set_arithmetic(kind: type, table: Dict[str, tuple], typed: bool,
                   convert: Callable[[Array, Any], Any]) -> None:
    """The operators that are +, < and the others of a type."""
    _arithmetic.families[kind] = _arithmetic.Family(kind, table, typed, convert)

# ---- the profiler's objects --------------------------------------------------------------------
class _Object:
    __slots__ = ("_address",)

    def __new__(cls, *arguments, **keywords):
        self = object.__new__(cls)
        self._address = None
        return self

    def __del__(self):
        if self._address:
            _recorder.MXProfileDestroyHandle(self._address)


class Duration(_Object):
    """A span that is started and stopped any number of times."""

    __slots__ = ()

    def start(self) -> None:
        """Begins the span on this thread."""
        thread_seen()
        if _start(self._address) != 0:
            _fail()

    def stop(self) -> None:
        """Ends the span that this thread began last; MXNetError if there is none."""
        if _stop(self._address) != 0:
            _fail()

    def __enter__(self):
        thread_seen()
        if _start(self._address) != 0:
            _fail()
        return self

    def __exit__(self, *exception) -> None:
        if _stop(self._address) != 0:
            _fail()


class Span(Duration):
    """A span of one thread that is begun and ended any number of times."""

    __slots__ = ()

    def _identify(self, category: str, name: str) -> None:
        """What it is called."""
        handle = ctypes.c_void_p()
        _check(_recorder.mxp_span_create(_encoded(category), _encoded(name), ctypes.byref(handle)))
        self._address = handle.value


class Counter(_Object):
    """A value that is recorded whenever it changes."""

    __slots__ = ()

    def set_value(self, value: int) -> None:
        """Sets the counter, 0 to 2**64 - 1."""
        number = int(value)
        if not 0 <= number < 2 ** 64:
            raise ValueError(f"a counter's value is 0 to 2**64 - 1, not {value}")
        thread_seen()
        _check(_recorder.MXProfileSetCounter(self._address, number))

    def _adjust(self, delta: int, given: Any) -> None:
        if not -2 ** 63 <= delta < 2 ** 63:
            raise ValueError("a counter is changed by -2**63 to 2**63 - 1 at a time, not by "
                             f"{given}")
        thread_seen()
        _check(_recorder.MXProfileAdjustCounter(self._address, delta))

    def increment(self, delta: int = 1) -> None:
        """Adds to the counter."""
        self._adjust(int(delta), delta)

    def decrement(self, delta: int = 1) -> None:
        """Subtracts from the counter; it stops at 0, with MXNetError."""
        self._adjust(-int(delta), delta)

    def __iadd__(self, delta):
        self.increment(delta)
        return self

    def __isub__(self, delta):
        self.decrement(delta)
        return self


_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_content = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_deleters: Dict[bytes, Any] = {}


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _end_capsule(address: int) -> None:
    for name, deleter in _deleters.items():
        if _is_capsule(address, name):
            deleter(_capsule_content(address, name))


def capsule(address: int, is_versioned: bool, deleter: int) -> Any:
    """A capsule of a DLPack structure; `deleter` is the address of the function that is given it if nobody
    has taken it."""
    name = _VERSIONED if is_versioned else _PLAIN
    _deleters[name] = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(deleter)
    return _new_capsule(address, name, ctypes.cast(_end_capsule, ctypes.c_void_p))


def set_scope(name: str) -> None:
    """MXSetProfilerScope."""
    thread_seen()
    _check(_recorder.MXSetProfilerScope(_encoded(name)))
