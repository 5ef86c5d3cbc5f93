# SPDX-License-Identifier: Apache-2.0
"""Deferred compute: a symbol taken down from what a thread computes.

Unlike in MXNet the operators run at once; what they give is right whether or not there is a graph of it.
"""
import ctypes
from contextlib import contextmanager
from typing import Any, Iterator, Sequence

from .base import _LIB, SymbolHandle, c_handle_array, check_call


def is_deferred_compute() -> bool:
    """Whether this thread's operators are taken down."""
    state = ctypes.c_int()
    check_call(_LIB.MXNDArrayIsDeferredCompute(ctypes.byref(state)))
    return bool(state.value)


def set_deferred_compute(state: bool) -> bool:
    """The thread's switch; returns what it was."""
    before = ctypes.c_int()
    check_call(_LIB.MXNDArraySetIsDeferredCompute(bool(state), ctypes.byref(before)))
    return bool(before.value)


@contextmanager
def context(state: bool = True) -> Iterator[None]:
    """With the switch on, or off."""
    before = set_deferred_compute(state)
    try:
        yield
    finally:
        set_deferred_compute(before)


def _list(arrays: Any) -> Sequence[Any]:
    return arrays if isinstance(arrays, (list, tuple)) else [arrays]


def set_variable(arrays: Any, variables: Any) -> None:
    """Each array is the variable at its place."""
    arrays, variables = _list(arrays), _list(variables)
    if len(arrays) != len(variables):
        raise ValueError(f"set_variable: {len(arrays)} arrays and {len(variables)} variables")
    check_call(_LIB.MXNDArraySetDeferredComputeVariable(
        c_handle_array(arrays), (SymbolHandle * len(variables))(*[item.handle for item in variables]), len(arrays)))


def get_symbol(output_arrays: Any, *, sym_cls: Any = None) -> Any:
    """What the arrays are, as one symbol with an output for each; MXNetError says why there is none."""
    from .symbol import Symbol  # pylint: disable=import-outside-toplevel

    handle, arrays = SymbolHandle(), _list(output_arrays)
    check_call(_LIB.MXNDArrayGetDeferredComputeSymbol(c_handle_array(arrays), len(arrays), ctypes.byref(handle)))
    return (sym_cls or Symbol)(handle)


def clear(arrays: Any) -> None:
    """The arrays are no part of a graph any more, and the next operators begin another one."""
    arrays = _list(arrays)
    check_call(_LIB.MXNDArrayClearDeferredCompute(c_handle_array(arrays), len(arrays)))
