# SPDX-License-Identifier: Apache-2.0
"""Executors of MXNet 1.x: a symbol bound to arrays, run forwards and backwards."""
import ctypes
import functools
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as onp

from . import _callbacks
from ._array import BaseArray
from .base import _LIB, MXNetError, c_handle_array, check_call, py_str

REQUESTS = {"null": 0, "write": 1, "add": 3}

_Monitor = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)


class Executor:
    """What Symbol.bind and Symbol.simple_bind give. Belongs to one thread at a time.

    arg_arrays, grad_arrays, aux_arrays: the arrays it was bound to, in the order of the symbol's lists; gradients
    that nobody asked for are None. The same by name: arg_dict, grad_dict, aux_dict.
    """

    def __init__(self, handle: Any, symbol: Any, context: Any, arrays: Tuple[List[Any], List[Any], List[Any]],
                 requests: Sequence[int]) -> None:
        self.handle = handle
        self._symbol = symbol
        self._context = context
        self.arg_arrays, self.grad_arrays, self.aux_arrays = arrays
        self._requests = list(requests)
        self._monitor: Optional[Any] = None

    def __del__(self) -> None:
        if self.handle:
            _LIB.MXExecutorFree(self.handle)

    # ---- arrays ------------------------------------------------------------------------------------
    # Made once: who walks the parameters asks for a dict at each.
    @functools.cached_property
    def arg_dict(self) -> Dict[str, Any]:
        """Arguments by name."""
        return dict(zip(self._symbol.list_arguments(), self.arg_arrays))

    @functools.cached_property
    def grad_dict(self) -> Dict[str, Any]:
        """Gradients by the argument's name."""
        return dict(zip(self._symbol.list_arguments(), self.grad_arrays))

    @functools.cached_property
    def aux_dict(self) -> Dict[str, Any]:
        """Auxiliary states by name."""
        return dict(zip(self._symbol.list_auxiliary_states(), self.aux_arrays))

    @property
    def outputs(self) -> List[Any]:
        """Those of the last forward."""
        from .ndarray import NDArray  # pylint: disable=import-outside-toplevel

        count, listed = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXExecutorOutputs(self.handle, ctypes.byref(count), ctypes.byref(listed)))
        return [NDArray(listed[i]) for i in range(count.value)]

    @property
    def output_dict(self) -> Dict[str, Any]:
        """Outputs by name."""
        return dict(zip(self._symbol.list_outputs(), self.outputs))

    # ---- running -----------------------------------------------------------------------------------
    def forward(self, is_train: bool = False, **arrays: Any) -> List[Any]:
        """Computes the outputs; with `is_train` a backward may follow. Arrays by name are written to arguments before.

        TypeError: no such argument. ValueError: another shape, or no array.
        """
        arguments = self.arg_dict
        for name, array in arrays.items():
            if not isinstance(array, (BaseArray, onp.ndarray)):
                raise ValueError("only accept keyword argument of NDArrays and numpy.ndarray")
            if name not in arguments:
                raise TypeError(f"Unknown argument {name}")
            if arguments[name].shape != array.shape:
                raise ValueError(f"Shape not match! Argument {name}, need: {arguments[name].shape}, received: {array.shape}")
            arguments[name][:] = array
        check_call(_LIB.MXExecutorForward(self.handle, int(is_train)))
        return self.outputs

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Computes the gradients. `out_grads`: those of the outputs, one array, a list, or by name; ones if left out."""
        if isinstance(out_grads, dict):
            out_grads = [out_grads[name] for name in self._symbol.list_outputs()]
        heads = [] if out_grads is None else list(out_grads) if isinstance(out_grads, (list, tuple)) else [out_grads]
        if not all(isinstance(head, BaseArray) for head in heads):
            raise TypeError("inputs must be NDArray")
        check_call(_LIB.MXExecutorBackwardEx(self.handle, len(heads), c_handle_array(heads), int(is_train)))

    def copy_params_from(self, arg_params: Dict[str, Any], aux_params: Optional[Dict[str, Any]] = None,
                         allow_extra_params: bool = False) -> None:
        """Copies values to arguments and auxiliary states by name. ValueError for a name there is not."""
        for given, own, what in ((arg_params, self.arg_dict, "arguments"), (aux_params or {}, self.aux_dict, "auxiliary states")):
            for name, array in given.items():
                if name in own:
                    array.astype(own[name].dtype).copyto(own[name])
                elif not allow_extra_params:
                    quoted = f'"{name}"' if what == "arguments" else name
                    raise ValueError(f"Find name {quoted} that is not in the {what}")

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **shapes: Any) -> "Executor":
        """An executor for other shapes of some arguments. Arrays are shared, smaller ones as their first part; larger
        ones are new.

        MXNetError: the shape of an argument that is not named would change, unless `partial_shaping`; an array would
        become larger, unless `allow_up_sizing`.
        """
        return _reshaped(self, partial_shaping, allow_up_sizing, shapes)

    # ---- what is seen ------------------------------------------------------------------------------
    def set_monitor_callback(self, callback: Callable[[str, Any], None], monitor_all: bool = False) -> None:
        """From now on `callback` gets the name and the array of every output, and of every input if
        `monitor_all`."""
        from .ndarray import NDArray  # pylint: disable=import-outside-toplevel

        def tell(name: bytes, handle: int, _: int) -> None:
            array = NDArray(handle)
            try:
                callback(py_str(name), array)
            except Exception as error:  # pylint: disable=broad-except
                _callbacks.tell(error)

        self._monitor = _Monitor(tell)
        check_call(_LIB.MXExecutorSetMonitorCallbackEX(self.handle, self._monitor, None, ctypes.c_bool(monitor_all)))

    def get_optimized_symbol(self) -> Any:
        """The network as it runs, a new symbol."""
        handle = ctypes.c_void_p()
        check_call(_LIB.MXExecutorGetOptimizedSymbol(self.handle, ctypes.byref(handle)))
        return type(self._symbol)(handle)

    def debug_str(self) -> str:
        """The network as it runs, for people."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXExecutorPrint(self.handle, ctypes.byref(text)))
        return py_str(text.value or b"")


# ---- making ------------------------------------------------------------------------------------
def bind(symbol: Any, context: Any, arguments: List[Any], gradients: List[Any], requests: Sequence[int],
         auxiliary: List[Any]) -> Executor:
    """The executor of arrays in the order of the symbol's lists; None for gradients that nobody wants."""
    handle = ctypes.c_void_p()
    check_call(_LIB.MXExecutorBindEX(
        symbol.handle, context.device_typeid, context.device_id, 0, None, None, None, len(arguments),
        c_handle_array(arguments), c_handle_array(gradients), (ctypes.c_uint * max(len(requests), 1))(*requests),
        len(auxiliary), c_handle_array(auxiliary), None, ctypes.byref(handle)))
    return Executor(handle, symbol, context, (arguments, gradients, auxiliary), requests)


# The words of this and the next text are MXNet's, letter by letter: programs look for them.
def _check_change(name: str, array: Any, shape: Tuple[int, ...], is_named: bool, allow_up_sizing: bool) -> None:
    if not is_named:
        raise MXNetError(f"Shape of unspecifie arg: {name} changed. This can cause the new executor to not share parameters "
                         "with the old one. Please check for error in network.If this is intended, set "
                         "partial_shaping=True to suppress this warning.")
    size = int(onp.prod(shape))
    if size > array.size and not allow_up_sizing:
        raise MXNetError(f"New shape of arg: {name} is larger than original.First making a big executor and then down "
                         "sizing it is more efficient than the reverse.If you really want to up size, set "
                         "allow_up_sizing=True to enable allocation of new arrays.")


def _reshaped(old: Executor, partial_shaping: bool, allow_up_sizing: bool, named: Dict[str, Any]) -> Executor:
    shapes, _, states = old._symbol.infer_shape(**named)
    if shapes is None:
        raise MXNetError("Insufficient argument shapes provided.")
    from . import ndarray as nd  # pylint: disable=import-outside-toplevel

    def fitted(array: Any, shape: Tuple[int, ...]) -> Any:
        if array is None or array.shape == shape:
            return array
        size = int(onp.prod(shape))
        if size > array.size:
            return nd.zeros(shape, ctx=old._context, dtype=array.dtype)
        return array.reshape((-1,))[:size].reshape(shape)

    for name, array, shape in zip(old._symbol.list_arguments(), old.arg_arrays, shapes):
        if array.shape != shape:
            _check_change(name, array, shape, partial_shaping or name in named, allow_up_sizing)
    return bind(old._symbol, old._context, [fitted(*pair) for pair in zip(old.arg_arrays, shapes)],
                [fitted(*pair) for pair in zip(old.grad_arrays, shapes)], old._requests,
                [fitted(*pair) for pair in zip(old.aux_arrays, states)])
