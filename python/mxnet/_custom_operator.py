# SPDX-License-Identifier: Apache-2.0
"""The C side of mx.operator: tables of callbacks around CustomOpProp and CustomOp."""
import contextvars
import ctypes
import threading
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_uint, c_void_p
from typing import Any, Dict, Iterable, List, Sequence

from . import _callbacks, _types
from ._callbacks import CallbackList, guarded, kept
from .base import _LIB, c_str, check_call, core, py_str
from .context import Context

registered: Dict[str, type] = {}  # op_type -> CustomOpProp

_REQUESTS = ("null", "write", "inplace", "add")
_INPUT, _OUTPUT, _INPUT_GRADIENT, _OUTPUT_GRADIENT, _STATE = range(5)

# What kind of arrays the functions of an operator that is made now get.
_kind: "contextvars.ContextVar[type]" = contextvars.ContextVar("kind")


# What this thread told the library last, which copies it before anything else happens on the thread.
_told = threading.local()


class _Prop:
    """A CustomOpProp that the library knows."""

    def __init__(self, prop: Any, kind: type):
        self.prop, self.kind = prop, kind


class _Op:
    """A CustomOp that the library knows."""

    def __init__(self, op: Any, kind: type):
        self.op, self.kind = op, kind


# ---- descriptions ------------------------------------------------------------------------------
_LIST = CFUNCTYPE(c_int, POINTER(POINTER(c_char_p)), c_void_p)


def _list_function(method: str) -> Any:
    @guarded(_LIST)
    def answer(out: Any, key: int) -> None:
        names = [name.encode() for name in getattr(kept(key).prop, method)()]
        _told.names = (c_char_p * (len(names) + 1))(*names, None)
        out[0] = ctypes.cast(_told.names, POINTER(c_char_p))

    return answer


def _all_lengths(prop: Any) -> List[int]:
    return [len(prop.list_arguments()), len(prop.list_outputs()),
            len(prop.list_auxiliary_states())]


def _all_answers(what: str, prop: Any, answer: Sequence[Sequence[Any]]) -> List[Any]:
    """Inputs, outputs and states in one list; ValueError if their numbers do not fit."""
    found = [list(part) for part in answer] + [[]] * (3 - len(answer))
    lengths = _all_lengths(prop)
    if [len(part) for part in found] != lengths:
        raise ValueError(f"{type(prop).__name__}.{what} gave {[len(part) for part in found]} "
                         f"inputs, outputs and states; there are {lengths}")
    return found[0] + found[1] + found[2]


@guarded(CFUNCTYPE(c_int, c_int, POINTER(c_int), POINTER(POINTER(c_int)), c_void_p))
def _infer_shape(count: int, ranks: Any, shapes: Any, key: int) -> None:
    prop = kept(key).prop
    inputs = [shapes[i][:ranks[i]] for i in range(len(prop.list_arguments()))]
    answer = _all_answers("infer_shape", prop, prop.infer_shape(inputs))
    _told.shapes = [(c_int * max(len(shape), 1))(*shape) for shape in answer]
    for i in range(count):
        ranks[i] = len(answer[i])
        shapes[i] = ctypes.cast(_told.shapes[i], POINTER(c_int))


@guarded(CFUNCTYPE(c_int, c_int, POINTER(c_int), c_void_p))
def _infer_type(count: int, types: Any, key: int) -> None:
    prop = kept(key).prop
    inputs = [_types.numpy_type(types[i]) for i in range(len(prop.list_arguments()))]
    answer = _all_answers("infer_type", prop, prop.infer_type(inputs))
    for i in range(count):
        types[i] = _types.type_code(answer[i])


@guarded(CFUNCTYPE(c_int, POINTER(c_int), POINTER(c_int), POINTER(c_int), POINTER(c_int),
                   POINTER(POINTER(c_int)), c_void_p))
def _dependencies(out_grad: Any, in_data: Any, out_data: Any, count: Any, numbers: Any,
                  key: int) -> None:
    prop = kept(key).prop
    inputs, outputs, _ = _all_lengths(prop)
    needed = prop.declare_backward_dependency(out_grad[:outputs], in_data[:inputs],
                                              out_data[:outputs])
    _told.needed = (c_int * max(len(needed), 1))(*needed)
    count[0] = len(needed)
    numbers[0] = ctypes.cast(_told.needed, POINTER(c_int))


@guarded(CFUNCTYPE(c_int, c_char_p, c_int, POINTER(POINTER(c_uint)), POINTER(c_int),
                   POINTER(c_int), POINTER(CallbackList), c_void_p))
def _create_operator(device: bytes, count: int, shapes: Any, ranks: Any, types: Any, table: Any,
                     key: int) -> None:
    item = kept(key)
    op = item.prop.create_operator(Context(py_str(device)),
                                   [shapes[i][:ranks[i]] for i in range(count)],
                                   [_types.numpy_type(types[i]) for i in range(count)])
    _told.operator = _callbacks.fill(table[0], (_callbacks.delete, _forward, _backward),
                                     _callbacks.keep(_Op(op, item.kind)))


# ---- running -----------------------------------------------------------------------------------
_RUN = CFUNCTYPE(c_int, c_int, POINTER(c_void_p), POINTER(c_int), POINTER(c_int), c_int, c_void_p)


def _by_tag(kind: type, count: int, handles: Any, tags: Any) -> List[List[Any]]:
    """The arrays, by what they are; they are the function's to free, and so theirs."""
    found: List[List[Any]] = [[], [], [], [], []]
    for i in range(count):
        found[tags[i]].append(kind(handles[i]))
    return found


@guarded(_RUN)
def _forward(count: int, handles: Any, tags: Any, requests: Any, is_train: int, key: int) -> None:
    item = kept(key)
    arrays = _by_tag(item.kind, count, handles, tags)
    asked = [_REQUESTS[requests[i]] for i in range(len(arrays[_OUTPUT]))]
    item.op.forward(bool(is_train), asked, arrays[_INPUT], arrays[_OUTPUT], arrays[_STATE])


@guarded(_RUN)
def _backward(count: int, handles: Any, tags: Any, requests: Any, is_train: int,
              key: int) -> None:
    item = kept(key)
    arrays = _by_tag(item.kind, count, handles, tags)
    asked = [_REQUESTS[requests[i]] for i in range(len(arrays[_INPUT_GRADIENT]))]
    item.op.backward(asked, arrays[_OUTPUT_GRADIENT], arrays[_INPUT], arrays[_OUTPUT],
                     arrays[_INPUT_GRADIENT], arrays[_STATE])


# ---- registration ------------------------------------------------------------------------------
_PROPERTIES = (_callbacks.delete, _list_function("list_arguments"),
               _list_function("list_outputs"), _list_function("list_auxiliary_states"),
               _infer_shape, _dependencies, _create_operator, _infer_type)


@guarded(CFUNCTYPE(c_int, c_char_p, c_int, POINTER(c_char_p), POINTER(c_char_p),
                   POINTER(CallbackList)))
def _create_prop(op_type: bytes, count: int, keys: Any, values: Any, table: Any) -> None:
    from .ndarray import NDArray
    # Attributes of a symbol, as __ctx_group__ of an AttrScope, come along and are no parameters.
    parameters = {py_str(keys[i]): py_str(values[i]) for i in range(count) if not py_str(keys[i]).startswith("__")}
    made = _Prop(registered[py_str(op_type)](**parameters), _kind.get(NDArray))
    _told.table = _callbacks.fill(table[0], _PROPERTIES, _callbacks.keep(made))


def register(name: str, prop: type) -> None:
    """Has the library call `prop` for operators of the name."""
    registered[name] = prop
    check_call(_LIB.MXCustomOpRegister(c_str(name), _create_prop))
    for known in [key for key in _operators if key[1] == name]:
        del _operators[known]  # calls prepared with the class before


_operators: Dict[tuple, Any] = {}  # (kind, op_type, names of parameters) -> core.Operator


def input_names(op_type: str, parameters: Dict[str, Any], given: Iterable[str]) -> List[str]:
    """The operator's inputs and states in its order; TypeError if there is none of a name that is given."""
    prop = registered[op_type](**{key: str(value) for key, value in parameters.items()})
    names = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    unknown = [key for key in given if key not in names]
    if unknown:
        raise TypeError(f"custom operator '{op_type}' has no input {', '.join(unknown)}; its inputs are: "
                        + ", ".join(names))
    return names


def _named_inputs(op_type: str, parameters: Dict[str, Any]) -> List[Any]:
    """Takes arrays that were given by name out of the parameters, in the operator's order."""
    arrays = {key: value for key, value in parameters.items() if hasattr(value, "_address")}
    if not arrays:
        return []
    for key in arrays:
        del parameters[key]
    return [arrays[name] for name in input_names(op_type, parameters, arrays) if name in arrays]


def run(kind: type, data: Sequence[Any], op_type: str, parameters: Dict[str, Any]) -> Any:
    """Runs a custom operator whose functions get arrays of `kind`."""
    parameters = dict(parameters)
    out = parameters.pop("out", None)
    parameters.pop("name", None)
    inputs = (*data, *_named_inputs(op_type, parameters))
    keys = ("op_type", *parameters)
    operator = _operators.get((kind, op_type, keys))
    if operator is None:
        address = ctypes.c_void_p()
        check_call(_LIB.NNGetOpHandle(b"Custom", ctypes.byref(address)))
        operator = core.Operator(address.value, "Custom", keys)
        _operators[kind, op_type, keys] = operator
    token = _kind.set(kind)
    try:
        return operator(kind, inputs, (op_type, *parameters.values()), out)
    finally:
        _kind.reset(token)
