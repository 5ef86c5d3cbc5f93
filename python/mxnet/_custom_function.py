# SPDX-License-Identifier: Apache-2.0
"""mx.autograd.Function: a gradient written in Python."""
import ctypes
from ctypes import CFUNCTYPE, POINTER, c_int, c_void_p
from typing import Any, Tuple

from . import _callbacks
from ._callbacks import CallbackList, guarded, kept
from .autograd import is_recording, pause
from .base import _LIB, c_handle_array, check_call

_NULL, _ADD = 0, 3


class Function:
    """A function whose gradient is computed by Python as well.

        class Sigmoid(mx.autograd.Function):
            def forward(self, x):
                y = 1 / (1 + mx.nd.exp(-x))
                self.save_for_backward(y)
                return y

            def backward(self, dy):
                y, = self.saved_tensors
                return dy * y * (1 - y)

        y = Sigmoid()(x)
    """

    # Whether the gradient depends on the values of the inputs: then a second gradient is an error.
    # Otherwise it is zero, as in the originals: straight-through estimators rely on that.
    _depends = False

    def __init__(self) -> None:
        self._saved: Tuple[Any, ...] = ()

    @property
    def saved_tensors(self) -> Tuple[Any, ...]:
        """What forward kept for backward."""
        return self._saved

    def save_for_backward(self, *arrays: Any) -> None:
        """Keeps arrays for backward."""
        self._saved = arrays

    def forward(self, *inputs: Any) -> Any:
        """One array or several, of the inputs; nothing in it is recorded."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, *output_grads: Any) -> Any:
        """The gradient of each input, of those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def __call__(self, *inputs: Any) -> Any:
        with pause():
            result = self.forward(*inputs)
        if not is_recording():
            return result
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        known = {item._address for item in inputs}
        # What is recorded holds this function, which may hold what forward made: that is not recorded
        # itself, or the two would keep each other for ever.
        outputs = [item.copy() if item._address in known else item.detach() for item in outputs]
        table = CallbackList()
        key = _callbacks.keep((self, type(outputs[0]), len(inputs)))
        depends = _backward if self._depends else None
        memory = _callbacks.fill(table, (_backward, _callbacks.delete, depends), key)
        try:
            check_call(_LIB.MXCustomFunctionRecord(
                len(inputs), c_handle_array(inputs), len(outputs), c_handle_array(outputs),
                ctypes.byref(table)))
        except Exception:
            _callbacks.forget(key)
            raise
        del memory
        return type(result)(outputs) if isinstance(result, (list, tuple)) else outputs[0]


@guarded(CFUNCTYPE(c_int, c_int, c_int, POINTER(c_void_p), POINTER(c_int), c_int, c_void_p))
def _backward(heads: int, count: int, handles: Any, requests: Any, is_train: int,
              key: int) -> None:
    function, kind, _ = kept(key)
    arrays = [kind(handles[i]) for i in range(heads + count)]
    with pause(bool(is_train)):
        answer = function.backward(*arrays[:heads])
        gradients = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        if len(gradients) != count:
            raise ValueError(f"{type(function).__name__}.backward gave {len(gradients)} "
                             f"gradients; there are {count} inputs")
        for i, (target, gradient) in enumerate(zip(arrays[heads:], gradients)):
            if gradient is None and requests[i] != _NULL:
                raise TypeError(f"{type(function).__name__}.backward gave None for the gradient of input "
                                f"{i}, which is asked for: zeros are none")
            if requests[i] == _ADD:
                target[...] += gradient
            elif requests[i] != _NULL:
                target[...] = gradient
