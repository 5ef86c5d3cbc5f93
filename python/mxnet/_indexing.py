# SPDX-License-Identifier: Apache-2.0
"""a[key] and a[key] = value.

Leading whole numbers and a slice of the first axis are views of the same memory. Other basic keys
are one `slice`; anything else NumPy understands is one `take` with places that NumPy computes.
"""
import ctypes
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as onp

from ._registry import invoke
from .base import _LIB, check_call

_WHOLE = (int, onp.integer)


class Basic(NamedTuple):
    """A key of whole numbers, slices, None and Ellipsis, for a certain shape."""

    begin: Tuple[Optional[int], ...]  # of each axis
    end: Tuple[Optional[int], ...]
    step: Tuple[Optional[int], ...]
    shape: Tuple[int, ...]  # of the result


def is_basic(key: Any) -> bool:
    """Whether a key (a tuple) has no arrays, lists or booleans in it."""
    return all(item is None or item is Ellipsis or isinstance(item, slice)
               or (isinstance(item, _WHOLE) and not isinstance(item, (bool, onp.bool_)))
               for item in key)


def _place(index: int, size: int, axis: int) -> int:
    place = index + size if index < 0 else index
    if not 0 <= place < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")
    return place


def _expanded(key: tuple, rank: int) -> List[Any]:
    """The key with Ellipsis and what is left out at the end spelled out."""
    taken = sum(item is not None and item is not Ellipsis for item in key)
    if taken > rank:
        raise IndexError(f"too many indices: the array has {rank} dimensions, the key has {taken}")
    rest = [slice(None)] * (rank - taken)
    if Ellipsis in key:
        at = key.index(Ellipsis)
        return [*key[:at], *rest, *key[at + 1:]]
    return [*key, *rest]


def basic(key: tuple, shape: Tuple[int, ...]) -> Basic:
    """A basic key as begin, end and step of each axis; IndexError if it does not fit."""
    begin, end, step, result = [], [], [], []
    axis = 0
    for item in _expanded(key, len(shape)):
        if item is None:
            result.append(1)
            continue
        if isinstance(item, slice):
            start, stop, stride = item.indices(shape[axis])
            length = len(range(start, stop, stride))
            result.append(length)
            begin.append(start)
            end.append(None if stride < 0 and stop < 0 else stop)
            step.append(stride)
        else:
            place = _place(int(item), shape[axis], axis)
            begin.append(place)
            end.append(place + 1)
            step.append(1)
        axis += 1
    return Basic(tuple(begin), tuple(end), tuple(step), tuple(result))


# ---- views -------------------------------------------------------------------------------------
def _at(array: Any, index: int) -> Any:
    out = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayAt64(array.handle, ctypes.c_int64(index), ctypes.byref(out)))
    row = type(array)(out.value)
    # A number of a vector: MXNet's arrays have no scalars, NumPy's have.
    return _scalar(row) if array._has_scalars and len(array.shape) == 1 and row.shape else row


def _scalar(array: Any) -> Any:
    out = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayReshape64(array.handle, 0, (ctypes.c_int64 * 1)(),
                                       ctypes.c_bool(False), ctypes.byref(out)))
    return type(array)(out.value)


def _rows(array: Any, begin: int, end: int) -> Any:
    out = ctypes.c_void_p()
    number, call = (ctypes.c_uint32, _LIB.MXNDArraySlice) if end < 2 ** 32 \
        else (ctypes.c_int64, _LIB.MXNDArraySlice64)
    check_call(call(array.handle, number(begin), number(end), ctypes.byref(out)))
    return type(array)(out.value)


def view(array: Any, key: tuple) -> Any:
    """The view of leading whole numbers, then at most one slice; None if the key is another."""
    if len(key) > len(array.shape):
        return None
    for at, item in enumerate(key):
        shape = array.shape
        if isinstance(item, slice):
            start, stop, stride = item.indices(shape[0]) if shape else (0, 0, 0)
            if at + 1 < len(key) or stride != 1 or start >= stop:
                return None
            return array if (start, stop) == (0, shape[0]) else _rows(array, start, stop)
        if not isinstance(item, _WHOLE) or not shape:
            return None
        place = _place(int(item), shape[0], at)
        array = _at(array, place) if len(shape) > 1 or array._has_scalars \
            else _rows(array, place, place + 1)
    return array


# ---- reading -----------------------------------------------------------------------------------
def _take_places(array: Any, key: Any) -> Any:
    places = onp.arange(array.size).reshape(array.shape)[key]
    flat = array.reshape((-1,))
    index = type(array)._from_numpy(places.reshape(-1).astype("int64"), array.ctx)
    return invoke(type(array), "take", flat, index).reshape(places.shape)


def _host_key(item: Any) -> Any:
    """A part of a key with arrays as NumPy's."""
    if isinstance(item, (list, tuple)):
        return onp.asarray(item)
    if hasattr(item, "asnumpy"):
        values = item.asnumpy()
        return values.astype("int64") if values.dtype.kind == "f" else values
    return item


def get(array: Any, key: Any) -> Any:
    """array[key]; IndexError if the key does not fit."""
    keys = key if isinstance(key, tuple) else (key,)
    if not is_basic(keys):
        return _take_places(array, tuple(_host_key(item) for item in keys))
    found = view(array, keys)
    if found is not None:
        return found
    cut = basic(keys, array.shape)
    if 0 in cut.shape:
        return type(array)._empty(cut.shape, array.ctx, array._type_code)
    whole = tuple(zip(cut.begin, cut.end)) == tuple((0, size) for size in array.shape)
    if not whole or any(step != 1 for step in cut.step):
        array = invoke(type(array), "slice", array, begin=cut.begin, end=cut.end, step=cut.step)
    return array if array.shape == cut.shape else array.reshape(cut.shape)


# ---- writing -----------------------------------------------------------------------------------
def _repeated(array: Any, value: Any, shape: tuple) -> Any:
    """An array repeated to a shape; ValueError, as NumPy's, if it does not fit."""
    if value.shape == shape:
        return value
    if value.ndim > len(shape) or any(size not in (1, to) for size, to in
                                      zip(value.shape[::-1], shape[::-1])):
        raise ValueError(f"values of shape {value.shape} do not fit the shape {shape} they are written to")
    value = value.reshape((1,) * (len(shape) - value.ndim) + value.shape)
    return invoke(type(array), "broadcast_to", value, shape=shape)


def _is_recording() -> bool:
    current = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsRecording(ctypes.byref(current)))
    return current.value


def write(array: Any, values: onp.ndarray) -> None:
    """Copies NumPy's values in. While autograd records an operator does it, which refuses to change an
    array that a gradient depends on."""
    if not _is_recording():
        array._copy_from(values)
        return
    made = type(array)._empty(array.shape, array.ctx, array._type_code)
    made._copy_from(values)
    invoke(type(array), "_copyto", made, out=array)


def _set_all(array: Any, value: Any) -> None:
    """array[:] = value."""
    if isinstance(value, (int, float, onp.number, onp.bool_)):
        array._fill(value)
    elif hasattr(value, "_address"):
        value = _repeated(array, value, array.shape)
        if value._address != array._address:
            invoke(type(array), "_copyto", value, out=array)
    else:
        write(array, onp.broadcast_to(onp.asarray(value), array.shape))


def _scatter(array: Any, key: tuple, value: Any) -> None:
    """array[key] = value of an array, by an operator."""
    places = onp.arange(array.size).reshape(array.shape)[key]
    where = onp.stack(onp.unravel_index(places.reshape(-1), array.shape)).astype("int64")
    invoke(type(array), "_scatter_set_nd", array, _repeated(array, value, places.shape).reshape((-1,)),
           type(array)._from_numpy(where, array.ctx), shape=array.shape, out=array)


def _set_through_host(array: Any, keys: tuple, value: Any) -> None:
    key = tuple(_host_key(item) for item in keys)
    if hasattr(value, "_address") and _is_recording():
        _scatter(array, key, value)  # recorded: the host would lose where the value came from
        return
    values = array.asnumpy()
    values[key] = value.asnumpy() if hasattr(value, "asnumpy") else value
    write(array, values)


def set_item(array: Any, key: Any, value: Any) -> None:
    """array[key] = value; the value is repeated to the shape it is written to."""
    keys = key if isinstance(key, tuple) else (key,)
    if not is_basic(keys):
        _set_through_host(array, keys, value)
        return
    cut = basic(keys, array.shape)
    if 0 in cut.shape:
        return
    if all(item is Ellipsis or item == slice(None) for item in keys if item is not None):
        _set_all(array, value)
    elif isinstance(value, (int, float, onp.number, onp.bool_)):
        invoke(type(array), "_slice_assign_scalar", array, out=array, scalar=float(value),
               begin=cut.begin, end=cut.end, step=cut.step)
    else:
        _set_part(array, keys, cut, value)


def _set_part(array: Any, keys: tuple, cut: Basic, value: Any) -> None:
    is_array = hasattr(value, "_address")
    # What is recorded of a view says nothing of the array.
    target = None if is_array and _is_recording() else view(array, keys)
    if target is not None:
        _set_all(target, value)
    elif is_array:
        lengths = tuple(len(range(*slice(*bounds).indices(size)))
                        for *bounds, size in zip(cut.begin, cut.end, cut.step, array.shape))
        shape = cut.shape if cut.shape or array._has_scalars else (1,)
        value = _repeated(array, value, shape)
        invoke(type(array), "_slice_assign", array, value.reshape(lengths), out=array,
               begin=cut.begin, end=cut.end, step=cut.step)
    else:
        _set_through_host(array, keys, value)
