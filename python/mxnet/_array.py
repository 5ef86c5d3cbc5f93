# SPDX-License-Identifier: Apache-2.0
"""What mx.nd.NDArray and mx.np.ndarray have in common."""
import ctypes
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Tuple

import numpy as onp

from . import _dlpack, _indexing, _local_batch, _types
from ._registry import invoke
from .base import _LIB, c_handle_array, check_call, core
from .context import Context, choose

GRAD_REQ = {"null": 0, "write": 1, "add": 3}


def make_empty(shape: Sequence[int], ctx: Context, code: int, name: str = "") -> int:
    """The address of a new array with undefined values. `name`: what its memory is called."""
    out = ctypes.c_void_p()
    sizes = [int(size) for size in shape]
    if all(0 <= size < 2 ** 32 for size in sizes):
        create: Any = _LIB.MXNDArrayCreate
        listed: Any = (ctypes.c_uint32 * len(sizes))(*sizes)
    else:
        create, listed = _LIB.MXNDArrayCreate64, (ctypes.c_int64 * len(sizes))(*sizes)
    check_call(create(listed, len(sizes), ctx.device_typeid, ctx.device_id, int(bool(name)),
                      code, ctypes.byref(out)))
    if name:
        check_call(_LIB.MXNDArrayNameMemory(out, name.encode()))
    return out.value or 0


if TYPE_CHECKING:
    from ._array_types import Array as _Array
else:
    _Array = core.Array


class BaseArray(_Array):
    """An array of libmxnet. Operators on it are run by the engine, later; what reads its values
    (asnumpy, item, wait_to_read, printing) waits for them and raises what went wrong in them."""

    __slots__ = ()
    __array_priority__ = 1000.0  # so that numpy_array + array is ours
    _has_scalars = False  # whether an array may have no dimension
    _promotes = False  # whether operators of two types find a common one

    __hash__ = object.__hash__

    # ---- making -------------------------------------------------------------------------------
    @classmethod
    def _empty(cls, shape: Sequence[int], ctx: Context, code: int, name: str = "") -> "BaseArray":
        return cls(make_empty(shape, ctx, code, name))

    @classmethod
    def _from_numpy(cls, values: onp.ndarray, ctx: Context) -> "BaseArray":
        """A new array with the values and the type of a NumPy array."""
        array = cls._empty(values.shape, ctx, _types.type_code(values.dtype))
        array._copy_from(values)
        return array

    def _copy_from(self, values: onp.ndarray) -> None:
        """Copies a NumPy array of the same shape in, after what is pending on this array."""
        if self._type_code == _types.BFLOAT16:  # which NumPy does not have
            self._from_numpy(onp.asarray(values, "float32"), self.context).copyto(self)
            return
        values = onp.ascontiguousarray(values, _types.numpy_type(self._type_code))
        if values.size != self.size:
            raise ValueError(f"values of shape {values.shape} do not fit shape {self.shape}")
        if values.size:
            check_call(_LIB.MXNDArraySyncCopyFromCPU(
                self.handle, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.size)))

    # ---- what it is ---------------------------------------------------------------------------
    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle for calls of the C interface; it stays this object's."""
        return ctypes.c_void_p(self._address)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def context(self) -> Context:
        """The device it is on; also as `ctx` and `device`."""
        kind, number = ctypes.c_int(), ctypes.c_int()
        check_call(_LIB.MXNDArrayGetContext(self.handle, ctypes.byref(kind),
                                            ctypes.byref(number)))
        return Context(Context.devtype2str[kind.value], number.value)

    @property
    def ctx(self) -> Context:
        """The device it is on."""
        return self.context

    @property
    def device(self) -> Context:
        """The device it is on."""
        return self.context

    @property
    def stype(self) -> str:
        """'default': arrays are dense."""
        return "default"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        code = self._type_code
        return 2 if code == _types.BFLOAT16 else _types.numpy_type(code).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __iter__(self) -> Iterator["BaseArray"]:
        return (self[i] for i in range(len(self)))

    # ---- values -------------------------------------------------------------------------------
    def asnumpy(self) -> onp.ndarray:
        """The values as a new NumPy array; waits until they are there."""
        if self._type_code == _types.BFLOAT16:
            return self.astype("float32").asnumpy()
        values = onp.empty(self.shape, _types.numpy_type(self._type_code))
        if values.size:
            check_call(_LIB.MXNDArraySyncCopyToCPU(
                self.handle, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.size)))
        return values

    def __dlpack__(self, stream: Any = None, **asked: Any) -> Any:
        """The array's memory for another library: a capsule of DLPack's, once nothing that is pending
        reads or writes it."""
        return _dlpack.export(self, stream, **asked)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _dlpack.device_of(self)

    def to_dlpack_for_read(self) -> Any:
        """A capsule of its memory, once all pending writes to it are done."""
        return _dlpack.to_dlpack_for_read(self)

    def to_dlpack_for_write(self) -> Any:
        """A capsule of its memory, once nothing that is pending reads or writes it."""
        return _dlpack.to_dlpack_for_write(self)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> onp.ndarray:
        if copy is False:
            raise ValueError("the values of an array are always copied to NumPy")
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def item(self, *place: int) -> Any:
        """One element as a Python number; without a place, the only one."""
        return self.asnumpy().item(*place)

    def asscalar(self) -> Any:
        """The only element as a NumPy number; ValueError if there are several."""
        if self.size != 1:
            raise ValueError(f"an array of {self.size} elements is no scalar")
        return self.asnumpy().reshape(-1)[0]

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self.asnumpy().tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with other than one element is "
                             "ambiguous")
        return bool(self.asscalar())

    def __int__(self) -> int:
        return int(self.asscalar())

    def __float__(self) -> float:
        return float(self.asscalar())

    def __index__(self) -> int:
        value = self.asscalar() if self.size == 1 else None
        if self._has_scalars and self.shape or not isinstance(value, onp.integer):
            raise TypeError("only an array of one whole number is an index")
        return int(value)

    def wait_to_read(self) -> None:
        """Waits until the values are there; raises what went wrong on the way."""
        check_call(_LIB.MXNDArrayWaitToRead(self.handle))

    def wait_to_write(self) -> None:
        """Waits until nothing pending reads or writes the array."""
        check_call(_LIB.MXNDArrayWaitToWrite(self.handle))

    # ---- copies -------------------------------------------------------------------------------
    def copyto(self, other: Any) -> "BaseArray":
        """Copies to another array, or to a new one on a device; gives the copy."""
        if isinstance(other, Context):
            other = self._empty(self.shape, choose(other), self._type_code)
        if other._address == self._address:
            return other
        return invoke(type(self), "_copyto", self, out=other)

    def copy(self, order: str = "C") -> "BaseArray":
        """A new array with the same values. `order`: 'C', or what asks for no other."""
        _types.check_order(order)
        return invoke(type(self), "_copyto", self)

    def as_in_context(self, context: Context) -> "BaseArray":
        """This array if it is on the device, else a copy that is."""
        context = choose(context)
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context
    to_device = as_in_context

    def astype(self, dtype: Any, copy: bool = True) -> "BaseArray":
        """An array of another type; itself if it has the type and `copy` is false."""
        name = _types.type_name(dtype)
        if not copy and _types.CODES[name] == self._type_code:
            return self
        return invoke(type(self), "Cast", self, dtype=name)

    def _as(self, kind: type) -> "BaseArray":
        """The same array as another type of arrays; gradients go through."""
        if isinstance(self, kind):
            return self
        out = ctypes.c_void_p()
        check_call(_LIB.MXShallowCopyNDArray(self.handle, ctypes.byref(out)))
        return kind(out.value)

    def __copy__(self) -> "BaseArray":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "BaseArray":
        return self.copy()

    def __reduce__(self) -> Tuple[Any, tuple]:
        return _from_pickle, (type(self), self.asnumpy(), self.context, _types.NAMES[self._type_code])

    def __pos__(self) -> "BaseArray":
        return self.copy()

    # ---- parts --------------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> "BaseArray":
        return _indexing.get(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _indexing.set_item(self, key, value)

    # ---- gradients ----------------------------------------------------------------------------
    def attach_grad(self, grad_req: str = "write", stype: Optional[str] = None) -> None:
        """Gives the array a gradient, zero at first. `grad_req`: 'write', 'add' or 'null'."""
        if grad_req not in GRAD_REQ:
            raise ValueError(f"grad_req is '{grad_req}'; valid are: " + ", ".join(GRAD_REQ))
        if stype not in (None, "default"):
            raise ValueError(f"gradients of storage type '{stype}' do not exist; valid is: default")
        gradient = invoke(type(self), "zeros_like", self)
        self._mark(GRAD_REQ[grad_req], gradient)

    def _mark(self, request: int, gradient: "BaseArray") -> None:
        """Makes it a variable, whatever it was made of."""
        check_call(_LIB.MXAutogradMarkVariables(
            1, c_handle_array([self]), (ctypes.c_uint * 1)(request), c_handle_array([gradient])))

    def drop_grad(self) -> None:
        """Takes the gradient away again."""
        self.attach_grad("null")

    @property
    def grad(self) -> Optional["BaseArray"]:
        """The array of the gradient; None without attach_grad."""
        out = ctypes.c_void_p()
        check_call(_LIB.MXNDArrayGetGrad(self.handle, ctypes.byref(out)))
        return type(self)(out.value) if out.value else None

    @property
    def _fresh_grad(self) -> bool:
        """Whether backward has written the gradient since this was last set to False."""
        state = ctypes.c_int()
        check_call(_LIB.MXNDArrayGetGradState(self.handle, ctypes.byref(state)))
        return bool(state.value)

    @_fresh_grad.setter
    def _fresh_grad(self, state: bool) -> None:
        check_call(_LIB.MXNDArraySetGradState(self.handle, int(state)))

    def detach(self) -> "BaseArray":
        """The same memory outside of what was recorded."""
        out = ctypes.c_void_p()
        check_call(_LIB.MXNDArrayDetach(self.handle, ctypes.byref(out)))
        return type(self)(out.value)

    def backward(self, out_grad: Optional["BaseArray"] = None, retain_graph: bool = False,
                 train_mode: bool = True) -> None:
        """Computes the gradients of everything this array was recorded to depend on.

        `out_grad`: the gradient of this array, ones by default.
        """
        _local_batch.look([self])
        check_call(_LIB.MXAutogradBackwardEx(
            1, c_handle_array([self]), c_handle_array([out_grad]), 0, None, int(retain_graph), 0,
            int(train_mode), None, None))


# `dtype`: None in pickles of before; NumPy's values of bfloat16 are float32.
def _from_pickle(kind: Any, values: onp.ndarray, context: Context, dtype: Optional[str] = None) -> BaseArray:
    array: BaseArray = kind._from_numpy(values, context)
    return array if dtype is None else array.astype(dtype, copy=False)


_CONVERTED = (int, float, onp.ndarray, onp.number, onp.bool_, list, tuple)


def _has_arrays(value: Any) -> bool:
    return isinstance(value, BaseArray) or (isinstance(value, (list, tuple)) and any(map(_has_arrays, value)))


def convert_inputs(kind: Any, inputs: tuple) -> Any:
    """What an operator takes in place of inputs that are numbers, lists and NumPy arrays: arrays of
    the type and on the device that `array` would make them. None if one is something else, or a list
    that has arrays of ours in it: what is recorded of them would be lost."""
    context = next((item.context for item in inputs if isinstance(item, BaseArray)), None)

    def convert(item: Any) -> Any:
        if item is None or isinstance(item, BaseArray):
            return item
        values = onp.asarray(item)
        if values.dtype == onp.float64 or (values.dtype != bool and not isinstance(item, (onp.ndarray, onp.generic))):
            values = values.astype("float32")
        return kind._from_numpy(values if values.shape or kind._has_scalars else values.reshape(1), choose(context))

    if any(item is not None and not isinstance(item, BaseArray) and (
            not isinstance(item, _CONVERTED) or _has_arrays(item)) for item in inputs):
        return None
    return tuple(map(convert, inputs))


core.set_conversion(convert_inputs)


def _in_type_of(array: BaseArray, values: onp.ndarray) -> onp.ndarray:
    """`values` in the type of an array that keeps its own; TypeError if that does not hold them."""
    kept: onp.ndarray = values.astype(_types.numpy_type(array._type_code))
    if kept.dtype.kind != "f" and not onp.array_equal(kept, values):
        raise TypeError(f"an array of {kept.dtype} and values of {values.dtype} that it does not hold: "
                        "make an array of them, with a type")
    return kept


def convert_operand(array: BaseArray, other: Any) -> Any:
    """What an operator takes in place of an operand that is neither array nor int nor float.

    Beside floats lists and NumPy's float64 become the array's type. Else they keep their own where types
    are made common, as in mx.np, where truths are arrays too; in mx.nd they become the array's, or it is a
    TypeError.
    """
    if isinstance(other, (bool, onp.bool_)) and array._promotes:
        return type(array)._from_numpy(onp.asarray(other), array.context)
    if isinstance(other, (bool, onp.bool_)) and array._promotes and array._type_code == _types.CODES["bool"]:
        return type(array)._from_numpy(onp.asarray(other, onp.bool_), array.context)  # truths stay truths
    if isinstance(other, (onp.bool_, onp.number)):
        other = other.item()
    if isinstance(other, (int, float)):
        return int(other) if isinstance(other, int) else other
    if not isinstance(other, (onp.ndarray, list, tuple)):
        return NotImplemented
    values = onp.asarray(other)
    if values.dtype.kind not in "fiub":
        return NotImplemented
    is_float = "float" in _types.NAMES[array._type_code]
    if is_float and (values.dtype == onp.float64 or not isinstance(other, onp.ndarray)):
        values = values.astype(onp.float32 if array._type_code == _types.BFLOAT16 else array.dtype)
    elif not array._promotes:
        values = _in_type_of(array, values)
    return type(array)._from_numpy(values, array.context)


def promoted(arrays: Sequence[BaseArray]) -> Sequence[BaseArray]:
    """The arrays in the type that they have together."""
    codes = {array._type_code for array in arrays}
    if len(codes) < 2:
        return arrays
    name = _types.common_type(_types.NAMES[code] for code in codes)
    return [array.astype(name, copy=False) for array in arrays]
