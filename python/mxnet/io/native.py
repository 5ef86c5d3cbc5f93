# SPDX-License-Identifier: Apache-2.0
"""Iterators of the library, which read files."""
from __future__ import annotations

import ctypes
import inspect
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as onp

from ..base import _LIB, NDArrayHandle, c_str_array, check_call, py_str
from ..ndarray import NDArray
from .batches import DataBatch, DataDesc, DataIter

_CREATORS: Dict[str, int] = {}
_Texts = ctypes.POINTER(ctypes.c_char_p)


def _array(function: Any, handle: Any) -> NDArray:
    made = NDArrayHandle()
    check_call(function(handle, ctypes.byref(made)))
    return NDArray(made.value)


class MXDataIter(DataIter):
    """An iterator of the library. Its arrays are filled by the engine; a batch stays as it is when it goes on."""

    def __init__(self, handle: Any, data_name: str = "data", label_name: str = "softmax_label") -> None:
        super().__init__()
        self.handle = handle
        self._first: Optional[DataBatch] = None
        self.provide_data: List[DataDesc] = []
        self.provide_label: List[DataDesc] = []
        first = next(iter(self._batches()), None)  # it says what the batches are
        if first is not None:
            self._first = first
            self.provide_data = [DataDesc(data_name, first.data[0].shape, first.data[0].dtype)]
            self.provide_label = [DataDesc(label_name, first.label[0].shape, first.label[0].dtype)]
            self.batch_size = first.data[0].shape[0]

    def _batches(self) -> Iterator[DataBatch]:
        while self.iter_next():
            yield self._current()

    def _current(self) -> DataBatch:
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXDataIterFree(self.handle)

    def __len__(self) -> int:
        """Batches of an epoch."""
        count = ctypes.c_int64()
        check_call(_LIB.MXDataIterGetLenHint(self.handle, ctypes.byref(count)))
        return count.value

    def reset(self) -> None:
        self._first = None
        check_call(_LIB.MXDataIterBeforeFirst(self.handle))

    def __next__(self) -> DataBatch:
        return self.next()  # the library records a span

    def next(self) -> DataBatch:
        if self._first is not None:
            batch, self._first = self._first, None
            return batch
        if not self.iter_next():
            raise StopIteration
        return self._current()

    def iter_next(self) -> bool:
        if self._first is not None:
            self._first = None
            return True
        has = ctypes.c_int()
        check_call(_LIB.MXDataIterNext(self.handle, ctypes.byref(has)))
        return bool(has.value)

    def getdata(self) -> NDArray:
        """The array of the current batch; no list, unlike other iterators."""
        return _array(_LIB.MXDataIterGetData, self.handle)

    def getlabel(self) -> NDArray:
        """The labels of the current batch; no list, unlike other iterators."""
        return _array(_LIB.MXDataIterGetLabel, self.handle)

    def getindex(self) -> Any:
        numbers, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        check_call(_LIB.MXDataIterGetIndex(self.handle, ctypes.byref(numbers), ctypes.byref(count)))
        return onp.array(numbers[:count.value], dtype=onp.uint64)

    def getpad(self) -> int:
        pad = ctypes.c_int()
        check_call(_LIB.MXDataIterGetPadNum(self.handle, ctypes.byref(pad)))
        return pad.value


def _creators() -> Dict[str, int]:
    if not _CREATORS:
        count, listed = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXListDataIters(ctypes.byref(count), ctypes.byref(listed)))
        _CREATORS.update((_info(listed[at])[0], listed[at]) for at in range(count.value))
    return _CREATORS


def _info(creator: Any) -> Tuple[str, str, List[Tuple[str, str, str]]]:
    """Name, description and parameters (name, type, description) of a kind."""
    name, text, count = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_uint32()
    lists = [_Texts(), _Texts(), _Texts()]
    check_call(_LIB.MXDataIterGetIterInfo(ctypes.c_void_p(creator), ctypes.byref(name), ctypes.byref(text), ctypes.byref(count),
                                          *[ctypes.byref(item) for item in lists]))
    parameters = [(py_str(lists[0][at]), py_str(lists[1][at]), py_str(lists[2][at])) for at in range(count.value)]
    return py_str(name.value or b""), py_str(text.value or b""), parameters


def _function(name: str) -> Callable[..., MXDataIter]:
    creator = _creators()[name]
    _, text, parameters = _info(creator)

    def create(*args: Any, **kwargs: Any) -> MXDataIter:
        if args:
            raise TypeError(f"{name} takes named arguments only")
        names = {key: kwargs.pop(key) for key in ("data_name", "label_name") if key in kwargs}
        handle = ctypes.c_void_p()
        pairs = [(key, str(value)) for key, value in kwargs.items()]
        check_call(_LIB.MXDataIterCreateIter(
            ctypes.c_void_p(creator), ctypes.c_uint32(len(pairs)), c_str_array(key for key, _ in pairs),
            c_str_array(value for _, value in pairs), ctypes.byref(handle)))
        return MXDataIter(handle, **names)

    lines = [text, "", "Parameters", "----------"]
    for key, kind, about in [*parameters, ("data_name", "string, optional, default='data'", "Name of the data."),
                             ("label_name", "string, optional, default='softmax_label'", "Name of the labels.")]:
        lines += [f"{key} : {kind}", f"    {about}"]
    create.__doc__ = "\n".join([*lines, "", "Returns", "-------", "MXDataIter", "", "Raises", "------",
                                "MXNetError", "    For a parameter, or a file that is missing, cut or wrong, with the place."])
    create.__name__ = create.__qualname__ = name
    keys = [key for key, _, _ in parameters] + ["data_name", "label_name"]
    create.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in keys])
    return create


MNISTIter = _function("MNISTIter")
CSVIter = _function("CSVIter")
