# SPDX-License-Identifier: Apache-2.0
"""A library with MXNet's C ABI through ctypes, ours or the original of either line: arrays from and
to NumPy, operators, gradients. Failures raise RuntimeFailure with the library's text."""
import ctypes

import numpy

DTYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6,
          "bool": 7}
DTYPE_NAMES = {number: name for name, number in DTYPES.items()}
REQUEST_WRITE = 1
# A view begins in the middle of other values: between so many before it and behind it.
GUARDS = 3
GUARD = 77
_H = ctypes.c_void_p


class RuntimeFailure(RuntimeError):
    """What a call that answers -1 raises."""


class Array:
    """One reference to an array of the library."""

    def __init__(self, runtime, handle, base=None):
        self.runtime, self.handle, self.base = runtime, handle, base

    def __del__(self):
        self.runtime.library.MXNDArrayFree(self.handle)

    def shape(self):
        count, dims = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
        self.runtime.call(("MXNDArrayGetShapeEx", "MXNDArrayGetShape"), self.handle,
                          ctypes.byref(count), ctypes.byref(dims))
        return tuple(dims[axis] for axis in range(count.value))

    def numpy(self):
        number = ctypes.c_int()
        self.runtime.call("MXNDArrayGetDType", self.handle, ctypes.byref(number))
        values = numpy.empty(self.shape(), DTYPE_NAMES[number.value])
        # Of an array without elements there is nothing to copy, but errors to be seen.
        if values.size == 0:
            self.runtime.call("MXNDArrayWaitToRead", self.handle)
        else:
            self.runtime.call("MXNDArraySyncCopyToCPU", self.handle,
                              values.ctypes.data_as(_H), ctypes.c_size_t(values.size))
        return values

    def set(self, values):
        values = numpy.ascontiguousarray(values)
        if values.size:
            self.runtime.call("MXNDArraySyncCopyFromCPU", self.handle,
                              values.ctypes.data_as(_H), ctypes.c_size_t(values.size))

    def guards_hold(self):
        """Whether the values around a view are still there."""
        whole = self.base.numpy()
        around = numpy.concatenate([whole[:GUARDS], whole[-GUARDS:]])
        return (around == numpy.array(GUARD).astype(whole.dtype)).all()


class Runtime:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.MXGetLastError.restype = ctypes.c_char_p
        self.library.MXNDArrayFree.argtypes = [_H]
        self._functions, self._operators = {}, {}
        # The original's older operators can be run only after a list of them was asked for.
        self.call("MXListAllOpNames", ctypes.byref(ctypes.c_uint()),
                  ctypes.byref(ctypes.POINTER(ctypes.c_char_p)()))

    def call(self, names, *arguments):
        """The first of the names that this line of the library has."""
        function = self._functions.get(names)
        if function is None:
            of_both = (names,) if isinstance(names, str) else names
            function = next(getattr(self.library, name) for name in of_both
                            if hasattr(self.library, name))
            self._functions[names] = function
        if function(*arguments) != 0:
            raise RuntimeFailure(self.library.MXGetLastError().decode())

    def has(self, operator):
        handle = _H()
        return self.library.NNGetOpHandle(operator.encode(), ctypes.byref(handle)) == 0

    def numpy_shapes(self, on):
        self.call("MXSetIsNumpyShape", int(on), ctypes.byref(ctypes.c_int()))

    def seed(self, number):
        self.call("MXRandomSeed", number)

    def _empty(self, shape, dtype):
        handle = _H()
        dims = (ctypes.c_uint32 * max(len(shape), 1))(*shape)
        self.call(("MXNDArrayCreateEx", "MXNDArrayCreate"), dims, len(shape), 1, 0, 0,
                  DTYPES[str(dtype)], ctypes.byref(handle))
        return Array(self, handle)

    def array(self, values):
        array = self._empty(values.shape, values.dtype)
        array.set(values)
        return array

    def view(self, values):
        """The values in the middle of a larger array."""
        whole = numpy.full(values.size + 2 * GUARDS, GUARD).astype(values.dtype)
        whole[GUARDS:GUARDS + values.size] = values.reshape(-1)
        base = self.array(whole)
        part, shaped = _H(), _H()
        self.call("MXNDArraySlice", base.handle, GUARDS, GUARDS + values.size, ctypes.byref(part))
        part = Array(self, part)
        dims = (ctypes.c_int64 * max(values.ndim, 1))(*values.shape)
        self.call("MXNDArrayReshape64", part.handle, values.ndim, dims, ctypes.c_bool(False),
                  ctypes.byref(shaped))
        return Array(self, shaped, base)

    def invoke(self, operator, inputs, parameters, outputs=()):
        """Runs an operator; returns its visible outputs, or writes the given ones."""
        handle = self._operators.get(operator)
        if handle is None:
            handle = _H()
            self.call("NNGetOpHandle", operator.encode(), ctypes.byref(handle))
            self._operators[operator] = handle
        count = ctypes.c_int(len(outputs))
        given = _handles(outputs)
        results = ctypes.cast(given if outputs else None, ctypes.POINTER(_H))
        self.call(("MXImperativeInvokeEx", "MXImperativeInvoke"), handle, len(inputs),
                  _handles(inputs), ctypes.byref(count), ctypes.byref(results), len(parameters),
                  _strings(parameters.keys()), _strings(parameters.values()),
                  ctypes.byref(ctypes.POINTER(ctypes.c_int)()))
        if outputs:
            return list(outputs)
        return [Array(self, _H(results[index])) for index in range(count.value)]

    def train_mode(self, recording, training):
        self.call("MXAutogradSetIsRecording", int(recording), ctypes.byref(ctypes.c_int()))
        self.call("MXAutogradSetIsTraining", int(training), ctypes.byref(ctypes.c_int()))

    def mark(self, variables, gradients):
        requests = (ctypes.c_uint32 * len(variables))(*[REQUEST_WRITE] * len(variables))
        self.call("MXAutogradMarkVariables", len(variables), _handles(variables), requests,
                  _handles(gradients))

    def backward(self, outputs, heads, training):
        self.call("MXAutogradBackwardEx", len(outputs), _handles(outputs), _handles(heads), 0, None,
                  0, 0, int(training), None, None)


def _handles(arrays):
    return (_H * max(len(arrays), 1))(*[array.handle for array in arrays])


def _strings(texts):
    texts = [text.encode() for text in texts]
    return (ctypes.c_char_p * max(len(texts), 1))(*texts)
