# SPDX-License-Identifier: Apache-2.0
"""Cached operators: a symbol that is called with arrays, like one operator."""
import ctypes
from typing import Any, Callable, Iterable, Optional, Tuple

from . import _callbacks
from .base import _LIB, CachedOpHandle, NDArrayHandle, c_handle_array, c_str_array, check_call, py_str
from .context import Context, current_context

_Hook = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


class CachedOp:
    """A network that is called with an array for each of its variables, in the order of list_inputs.

    sym : Symbol
    flags : pairs of texts, such as ("static_alloc", "True"); MXNetError for one that there is not

    While autograd records, its operators are on the tape.
    """

    __slots__ = ("handle", "is_np_sym", "_hook", "__weakref__")

    def __init__(self, sym: Any, flags: Iterable[Tuple[str, Any]] = (), thread_safe: bool = False) -> None:
        self.handle = CachedOpHandle()
        self._hook: Optional[Any] = None
        self.is_np_sym = False
        pairs = [(key, str(value)) for key, value in flags]
        check_call(_LIB.MXCreateCachedOp(
            sym.handle, len(pairs), c_str_array(key for key, _ in pairs), c_str_array(value for _, value in pairs),
            ctypes.byref(self.handle), thread_safe))

    def __del__(self) -> None:
        if self.handle:
            _LIB.MXFreeCachedOp(self.handle)

    def __call__(self, *arrays: Any, out: Any = None, default_ctx: Any = None, default_device: Any = None) -> Any:
        """One array, or a list. `out`: arrays that the outputs are written to."""
        kind = self._kind(arrays)
        device = Context(default_device or default_ctx or current_context())
        given = [] if out is None else list(out) if isinstance(out, (list, tuple)) else [out]
        listed = ctypes.cast(c_handle_array(given), ctypes.POINTER(NDArrayHandle)) if given \
            else ctypes.POINTER(NDArrayHandle)()
        count = ctypes.c_int(len(given))
        check_call(_LIB.MXInvokeCachedOp(
            self.handle, len(arrays), c_handle_array(arrays), device.device_typeid, device.device_id,
            ctypes.byref(count), ctypes.byref(listed), None))
        if given:
            return out
        made = [kind(listed[i]) for i in range(count.value)]
        return made[0] if len(made) == 1 else made

    @staticmethod
    def _kind(arrays: Tuple[Any, ...]) -> type:
        from .ndarray import NDArray  # pylint: disable=import-outside-toplevel

        for item in arrays:
            if not hasattr(item, "_address"):
                raise TypeError(f"a cached operator takes arrays, not {type(item).__name__}")
        return type(arrays[0]) if arrays else NDArray

    def _register_op_hook(self, callback: Callable[[str, str, Any], None], monitor_all: bool = False) -> None:
        """From now on `callback` is called with the name, the operator and the array of every output, and of
        every input if `monitor_all`."""
        from .ndarray import NDArray  # pylint: disable=import-outside-toplevel

        def tell(name: bytes, operator: bytes, handle: int) -> None:
            array = NDArray(handle)
            try:
                callback(py_str(name), py_str(operator), array)
            except Exception as error:  # pylint: disable=broad-except
                _callbacks.tell(error)

        self._hook = _Hook(tell)
        check_call(_LIB.MXCachedOpRegisterOpHook(self.handle, self._hook, monitor_all))

    def get_optimized_symbol(self) -> Any:
        """The network that runs."""
        from .symbol import Symbol  # pylint: disable=import-outside-toplevel

        handle = CachedOpHandle()
        check_call(_LIB.MXCachedOpGetOptimizedSymbol(self.handle, ctypes.byref(handle)))
        return Symbol(handle)
