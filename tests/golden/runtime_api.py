# SPDX-License-Identifier: Apache-2.0
"""The MX* functions of arrays, operators and gradients through ctypes, for the programs of these
tests. Arrays are plain handles, freed by whoever asked for them: what is called is what a test
counts, so nothing here calls anything on its own account."""
import ctypes as C
import struct

from profiler_api import L, check_call, strings

_P = C.c_void_p
DTYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6}
for _name, _types in {
    "NNGetOpHandle": [C.c_char_p, _P],
    "MXNDArrayCreate": [_P, C.c_uint32, C.c_int, C.c_int, C.c_int, C.c_int, _P],
    "MXNDArrayCreateEx": [_P, C.c_uint32, C.c_int, C.c_int, C.c_int, C.c_int, _P],
    "MXNDArrayCreate64": [_P, C.c_int, C.c_int, C.c_int, C.c_int, C.c_int, _P],
    "MXNDArrayFree": [_P],
    "MXNDArraySyncCopyFromCPU": [_P, _P, C.c_size_t],
    "MXNDArraySyncCopyToCPU": [_P, _P, C.c_size_t],
    "MXNDArrayWaitToRead": [_P],
    "MXNDArrayAt": [_P, C.c_uint32, _P],
    "MXNDArrayAt64": [_P, C.c_int64, _P],
    "MXNDArraySlice": [_P, C.c_uint32, C.c_uint32, _P],
    "MXNDArrayReshape64": [_P, C.c_int, _P, C.c_bool, _P],
    "MXNDArrayGetShape64": [_P, _P, _P],
    "MXNDArrayGetShapeEx": [_P, _P, _P],
    "MXNDArrayGetDType": [_P, _P],
    "MXNDArrayGetContext": [_P, _P, _P],
    "MXNDArrayGetStorageType": [_P, _P],
    "MXNDArrayGetGradState": [_P, _P],
    "MXNDArraySetGradState": [_P, C.c_int],
    "MXNDArraySave": [C.c_char_p, C.c_uint32, _P, _P],
    "MXNDArrayLoad": [C.c_char_p, _P, _P, _P, _P],
    "MXImperativeInvoke": [_P, C.c_int, _P, _P, _P, C.c_int, _P, _P, _P],
    "MXImperativeInvokeEx": [_P, C.c_int, _P, _P, _P, C.c_int, _P, _P, _P],
    "MXAutogradSetIsRecording": [C.c_int, _P],
    "MXAutogradSetIsTraining": [C.c_int, _P],
    "MXAutogradMarkVariables": [C.c_uint32, _P, _P, _P],
    "MXAutogradBackwardEx": [C.c_uint32, _P, _P, C.c_uint32, _P, C.c_int, C.c_int, C.c_int, _P, _P],
    "MXSetIsNumpyShape": [C.c_int, _P],
    "MXEngineSetBulkSize": [C.c_int, _P],
}.items():
    getattr(L, _name).argtypes = _types


def call(name, *arguments):
    check_call(getattr(L, name)(*arguments))


def handles(values):
    return (_P * max(len(values), 1))(*values)


def ask(name, handle, *kinds):
    """A question that answers through pointers to these types."""
    answers = [kind() for kind in kinds]
    call(name, handle, *map(C.byref, answers))
    return [answer.value for answer in answers]


# ---- arrays ------------------------------------------------------------------------------------
def create(shape, dtype="float32", function="MXNDArrayCreate64"):
    side = C.c_int64 if function.endswith("64") else C.c_uint32
    made = _P()
    call(function, (side * max(len(shape), 1))(*shape), len(shape), 1, 0, 0, DTYPES[dtype],
         C.byref(made))
    return made.value


def free(handle):
    call("MXNDArrayFree", handle)


def fill(handle, values):
    """float32 only."""
    call("MXNDArraySyncCopyFromCPU", handle, struct.pack(f"={len(values)}f", *values), len(values))


def array(shape, values):
    made = create(shape)
    fill(made, values)
    return made


def read(handle, count):
    """float32 only."""
    out = (C.c_float * count)()
    call("MXNDArraySyncCopyToCPU", handle, out, count)
    return list(out)


def view(function, handle, *arguments):
    made = _P()
    call(function, handle, *arguments, C.byref(made))
    return made.value


def wait_all():
    call("MXNDArrayWaitAll")


# ---- operators and gradients -------------------------------------------------------------------
_operators = {}


def operator(name):
    if name not in _operators:
        handle = _P()
        check_call(L.NNGetOpHandle(name.encode(), C.byref(handle)))
        _operators[name] = handle
    return _operators[name]


def invoke(name, inputs, params, outputs=(), function="MXImperativeInvoke"):
    """The visible outputs: those given, or new ones."""
    count, given = C.c_int(len(outputs)), handles(outputs)
    list_ = C.cast(given, _P) if outputs else _P()
    check_call(getattr(L, function)(
        operator(name), len(inputs), handles(inputs), C.byref(count), C.byref(list_), len(params),
        strings([str(key).encode() for key in params]),
        strings([str(value).encode() for value in params.values()]), None))
    found = C.cast(list_, C.POINTER(_P))
    return [found[i] for i in range(count.value)]


def attach_grad(variables, requests=None):
    """Gradients of zeros, one for each."""
    grads = [invoke("zeros_like", [variable], {})[0] for variable in variables]
    numbers = (C.c_uint32 * len(grads))(*(requests or [1] * len(grads)))
    call("MXAutogradMarkVariables", len(grads), handles(variables), numbers, handles(grads))
    return grads


class Record:
    """with Record(): what runs is recorded for gradients, in training mode."""

    def __enter__(self):
        self.switch(1)

    def __exit__(self, *unused):
        self.switch(0)

    @staticmethod
    def switch(on):
        before = C.c_int()
        call("MXAutogradSetIsRecording", on, C.byref(before))
        call("MXAutogradSetIsTraining", on, C.byref(before))


def backward(output):
    call("MXAutogradBackwardEx", 1, handles([output]), None, 0, None, 0, 0, 1, None, None)
