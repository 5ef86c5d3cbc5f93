# SPDX-License-Identifier: Apache-2.0
"""a[key] and a[key] = value.

A basic key whose elements lie side by side is a view of the same memory (`view`), to read, to write
and as `out=`. Other basic keys are one `slice`; anything else NumPy understands is one `take` with
places that NumPy computes.
"""
import ctypes
import math
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as onp

from . import _types
from ._registry import invoke
from .base import _LIB, check_call

_WHOLE = (int, onp.integer)
_NUMBERS = (int, float, onp.number, onp.bool_)


class Basic(NamedTuple):
    """A key of whole numbers, slices, None and Ellipsis, for a certain shape."""

    begin: Tuple[Optional[int], ...]  # of each axis
    end: Tuple[Optional[int], ...]
    step: Tuple[Optional[int], ...]
    lengths: Tuple[int, ...]
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
    begin, end, step, lengths, result = [], [], [], [], []
    axis = 0
    for item in _expanded(key, len(shape)):
        if item is None:
            result.append(1)
            continue
        if isinstance(item, slice):
            start, stop, stride = item.indices(shape[axis])
            lengths.append(len(range(start, stop, stride)))
            result.append(lengths[-1])
            begin.append(start)
            end.append(None if stride < 0 and stop < 0 else stop)
            step.append(stride)
        else:
            place = _place(int(item), shape[axis], axis)
            begin.append(place)
            end.append(place + 1)
            step.append(1)
            lengths.append(1)
        axis += 1
    return Basic(tuple(begin), tuple(end), tuple(step), tuple(lengths), tuple(result))


# ---- views -------------------------------------------------------------------------------------
def _at(array: Any, index: int) -> Any:
    out = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayAt64(array.handle, ctypes.c_int64(index), ctypes.byref(out)))
    row = type(array)(out.value)
    # A number of a vector: MXNet's arrays have no scalars, NumPy's have.
    return _scalar(row) if array._has_scalars and len(array.shape) == 1 and row.shape else row


def _scalar(array: Any) -> Any:
    return _reshaped(array, ())


def _reshaped(array: Any, shape: Tuple[int, ...]) -> Any:
    out = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayReshape64(array.handle, len(shape), (ctypes.c_int64 * max(len(shape), 1))(*shape),
                                       ctypes.c_bool(False), ctypes.byref(out)))
    return type(array)(out.value)


def _rows(array: Any, begin: int, end: int) -> Any:
    out = ctypes.c_void_p()
    number, call = (ctypes.c_uint32, _LIB.MXNDArraySlice) if end < 2 ** 32 \
        else (ctypes.c_int64, _LIB.MXNDArraySlice64)
    check_call(call(array.handle, number(begin), number(end), ctypes.byref(out)))
    return type(array)(out.value)


def _leading(array: Any, key: tuple) -> Any:
    """The view of leading whole numbers, then at most one slice, as MXNet makes it; None if the key is
    another."""
    if len(key) > len(array.shape):
        return None
    for at, item in enumerate(key):
        shape = array.shape
        if isinstance(item, slice):
            start, stop, stride = item.indices(shape[0]) if shape else (0, 0, 0)
            if at + 1 < len(key) or stride != 1 or start >= stop:
                return None
            is_array = at > 0 or (item == slice(None) and not array._has_scalars)
            return array if is_array and (start, stop) == (0, shape[0]) else _rows(array, start, stop)
        if not isinstance(item, _WHOLE) or not shape:
            return None
        place = _place(int(item), shape[0], at)
        array = _at(array, place) if len(shape) > 1 or array._has_scalars \
            else _rows(array, place, place + 1)
    return array if key else None


def _run(array: Any, cut: Basic) -> Optional[Tuple[int, int]]:
    """Where the elements of a key begin and end in memory, if they lie side by side."""
    first = next((axis for axis, length in enumerate(cut.lengths) if length > 1), len(cut.lengths))
    if 0 in cut.lengths or cut.lengths[first + 1:] != array.shape[first + 1:] \
            or any(step != 1 and length > 1 for step, length in zip(cut.step, cut.lengths)):
        return None
    begin, size = 0, 1
    places: Any = cut.begin[::-1]
    for place, length in zip(places, array.shape[::-1]):
        begin, size = begin + place * size, size * length
    return begin, begin + math.prod(cut.lengths)


def view(array: Any, key: tuple, cut: Optional[Basic] = None) -> Any:
    """The view that a basic key is; None if its elements do not lie side by side."""
    found = _leading(array, key)
    if found is not None:
        return found
    cut = cut or basic(key, array.shape)
    run = _run(array, cut)
    if run is None:
        return None
    if run != (0, array.size):
        array = _rows(array if len(array.shape) == 1 else _reshaped(array, (array.size,)), *run)
    # The whole array is a view too: an array of its own, which a gradient can be attached to.
    return _reshaped(array, cut.shape if cut.shape or array._has_scalars else (1,))


# ---- reading -----------------------------------------------------------------------------------
def _take_places(array: Any, key: Any) -> Any:
    places = onp.arange(array.size).reshape(array.shape)[key]
    if 0 in places.shape and not array._has_scalars:  # whose shapes cannot say it
        return type(array)._empty(places.shape, array.ctx, array._type_code)
    flat = array.reshape((-1,))
    index = type(array)._from_numpy(places.reshape(-1).astype("int64"), array.ctx)
    return invoke(type(array), "take", flat, index).reshape(places.shape)


def _host_key(item: Any) -> Any:
    """A part of a key with arrays as NumPy's."""
    if isinstance(item, (list, tuple)):
        values = onp.asarray(item)
        return values if values.size else values.astype("int64")  # NumPy's [] are floats
    if hasattr(item, "asnumpy"):
        values = item.asnumpy()
        return values.astype("int64") if values.dtype.kind == "f" else values
    return item


def get(array: Any, key: Any) -> Any:
    """array[key]; IndexError if the key does not fit."""
    keys = key if isinstance(key, tuple) else (key,)
    if not is_basic(keys):
        return _take_places(array, tuple(_host_key(item) for item in keys))
    found = _leading(array, keys)
    if found is not None:
        return found
    cut = basic(keys, array.shape)
    if 0 in cut.shape:
        return type(array)._empty(cut.shape, array.ctx, array._type_code)
    found = view(array, keys, cut)
    if found is not None:
        return found
    array = invoke(type(array), "slice", array, begin=cut.begin, end=cut.end, step=cut.step)
    return array if array.shape == cut.shape else array.reshape(cut.shape)


# ---- writing -----------------------------------------------------------------------------------
def _fitting(given: tuple, shape: tuple) -> tuple:
    """The shape of values without leading ones that the shape they are written to does not have;
    ValueError, as NumPy's, if they do not fit."""
    more = max(len(given) - len(shape), 0)
    if given[:more] != (1,) * more or any(size not in (1, to) for size, to in zip(given[::-1], shape[::-1])):
        raise ValueError(f"values of shape {given} do not fit the shape {shape} they are written to")
    return given[more:]


def _repeated(array: Any, value: Any, shape: tuple) -> Any:
    """An array repeated to a shape."""
    if value.shape == shape:
        return value
    fitting = _fitting(value.shape, shape)
    value = value.reshape((1,) * (len(shape) - len(fitting)) + fitting)
    return invoke(type(array), "broadcast_to", value, shape=shape)


def _typed(array: Any, value: Any) -> Any:
    """An array of the type of another."""
    same = value._type_code == array._type_code
    return value if same else value.astype(_types.NAMES[array._type_code])


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
    if isinstance(value, _NUMBERS):
        array._fill(value.item() if isinstance(value, onp.generic) else value)
    elif hasattr(value, "_address"):
        value = _repeated(array, value, array.shape)
        if value._address != array._address:
            invoke(type(array), "_copyto", value, out=array)
    else:
        # Whole numbers in lists keep their digits: NumPy would make floats of some.
        is_typed = hasattr(value, "dtype") or array._type_code == _types.BFLOAT16
        values = onp.asarray(value, None if is_typed else _types.numpy_type(array._type_code))
        write(array, onp.broadcast_to(values.reshape(_fitting(values.shape, array.shape)), array.shape))


def _scatter(array: Any, key: tuple, value: Any) -> None:
    """array[key] = value of an array, by an operator."""
    places = onp.arange(array.size).reshape(array.shape)[key]
    where = onp.stack(onp.unravel_index(places.reshape(-1), array.shape)).astype("int64")
    invoke(type(array), "_scatter_set_nd", array, _repeated(array, _typed(array, value), places.shape).reshape((-1,)),
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
        _fitting(onp.shape(value) if not hasattr(value, "_address") else value.shape, cut.shape)
    elif all(item is Ellipsis or item == slice(None) for item in keys):
        _set_all(array, value)
    elif isinstance(value, _NUMBERS):
        number = value.item() if isinstance(value, onp.generic) else value
        invoke(type(array), "_slice_assign_scalar", array, out=array, begin=cut.begin, end=cut.end, step=cut.step,
               scalar=int(number) if isinstance(number, int) else float(number))
    else:
        _set_part(array, keys, cut, value)


def _set_part(array: Any, keys: tuple, cut: Basic, value: Any) -> None:
    is_array = hasattr(value, "_address")
    # What is recorded of a view says nothing of the array.
    target = None if is_array and _is_recording() else view(array, keys, cut)
    if target is not None:
        _set_all(target, value)
    elif is_array:
        shape = cut.shape if cut.shape or array._has_scalars else (1,)
        value = _repeated(array, _typed(array, value), shape)
        if value.shape != cut.lengths:
            value = _reshaped(value, cut.lengths)
        invoke(type(array), "_slice_assign", array, value, out=array,
               begin=cut.begin, end=cut.end, step=cut.step)
    else:
        _set_through_host(array, keys, value)
