# SPDX-License-Identifier: Apache-2.0
"""The MX* profiler functions through ctypes, shaped as MXNet's Python module, for the programs of
these tests. GOLDEN_BUILD says where libmxnet.so is. Failures raise MXNetError with the C text."""
import ctypes
import os

L = ctypes.CDLL(os.path.join(os.environ["GOLDEN_BUILD"], "libmxnet.so"))
L.MXGetLastError.restype = ctypes.c_char_p
_HANDLE = ctypes.c_void_p
for _name, _types in {
    "MXSetProcessProfilerConfig": [ctypes.c_int, _HANDLE, _HANDLE, _HANDLE],
    "MXSetProfilerConfig": [ctypes.c_int, _HANDLE, _HANDLE],
    "MXSetProcessProfilerState": [ctypes.c_int, ctypes.c_int, _HANDLE],
    "MXProcessProfilePause": [ctypes.c_int, ctypes.c_int, _HANDLE],
    "MXDumpProcessProfile": [ctypes.c_int, ctypes.c_int, _HANDLE],
    "MXSetProfilerScope": [ctypes.c_char_p],
    "MXAggregateProfileStatsPrint": [_HANDLE] + [ctypes.c_int] * 4,
    "MXAggregateProfileStatsPrintEx": [_HANDLE] + [ctypes.c_int] * 4,
    "MXProfileCreateDomain": [ctypes.c_char_p, _HANDLE],
    "MXProfileCreateTask": [_HANDLE, ctypes.c_char_p, _HANDLE],
    "MXProfileCreateFrame": [_HANDLE, ctypes.c_char_p, _HANDLE],
    "MXProfileCreateEvent": [ctypes.c_char_p, _HANDLE],
    "MXProfileCreateCounter": [_HANDLE, ctypes.c_char_p, _HANDLE],
    "MXProfileDestroyHandle": [_HANDLE],
    "MXProfileDurationStart": [_HANDLE],
    "MXProfileDurationStop": [_HANDLE],
    "MXProfileSetCounter": [_HANDLE, ctypes.c_uint64],
    "MXProfileAdjustCounter": [_HANDLE, ctypes.c_int64],
    "MXProfileSetMarker": [_HANDLE, ctypes.c_char_p, ctypes.c_char_p],
}.items():
    getattr(L, _name).argtypes = _types

SORT_KEYS = ("total", "avg", "min", "max", "count")
FORMATS = ("table", "json")


class MXNetError(RuntimeError):
    """What a call that answers -1 raises."""


def last():
    return L.MXGetLastError().decode()


def check_call(answer):
    if answer != 0:
        assert answer == -1, answer
        raise MXNetError(last())


def strings(values):
    return (ctypes.c_char_p * max(len(values), 1))(*values)


def set_config(**pairs):
    keys = strings([key.encode() for key in pairs])
    values = strings([str(value).encode() for value in pairs.values()])
    check_call(L.MXSetProcessProfilerConfig(len(pairs), keys, values, None))


def set_state(state):
    check_call(L.MXSetProcessProfilerState({"stop": 0, "run": 1}[state], 0, None))


def pause():
    check_call(L.MXProcessProfilePause(1, 0, None))


def resume():
    check_call(L.MXProcessProfilePause(0, 0, None))


def dump(finished=True):
    check_call(L.MXDumpProcessProfile(1 if finished else 0, 0, None))


def dumps_c(reset=0, form=0, sort_by=0, ascending=0, function="MXAggregateProfileStatsPrint"):
    text = ctypes.c_char_p()
    answer = getattr(L, function)(ctypes.byref(text), reset, form, sort_by, ascending)
    return answer, text.value


def dumps(reset=False, form="table", sort_by="total", ascending=False):
    answer, text = dumps_c(int(reset), FORMATS.index(form), SORT_KEYS.index(sort_by), int(ascending))
    check_call(answer)
    return text.decode()


class _Object:
    def __init__(self, function, *arguments):
        self.handle = None
        handle = ctypes.c_void_p()
        check_call(getattr(L, function)(*arguments, ctypes.byref(handle)))
        self.handle = handle

    def destroy(self):
        check_call(L.MXProfileDestroyHandle(self.handle))


class _Duration(_Object):
    def start(self):
        check_call(L.MXProfileDurationStart(self.handle))

    def stop(self):
        check_call(L.MXProfileDurationStop(self.handle))


class Domain(_Object):
    def __init__(self, name):
        super().__init__("MXProfileCreateDomain", name.encode())

    def new_task(self, name):
        return Task(self, name)

    def new_frame(self, name):
        return Frame(self, name)

    def new_counter(self, name, value=None):
        return Counter(self, name, value)

    def mark(self, name, scope="process"):
        check_call(L.MXProfileSetMarker(self.handle, name.encode(), scope.encode()))


class Task(_Duration):
    def __init__(self, domain, name):
        super().__init__("MXProfileCreateTask", domain.handle, name.encode())


class Frame(_Duration):
    def __init__(self, domain, name):
        super().__init__("MXProfileCreateFrame", domain.handle, name.encode())


class Event(_Duration):
    def __init__(self, name):
        super().__init__("MXProfileCreateEvent", name.encode())


class Counter(_Object):
    def __init__(self, domain, name, value=None):
        super().__init__("MXProfileCreateCounter", domain.handle, name.encode())
        if value is not None:
            self.set(value)

    def set(self, value):
        check_call(L.MXProfileSetCounter(self.handle, value))

    def add(self, delta=1):
        check_call(L.MXProfileAdjustCounter(self.handle, delta))
