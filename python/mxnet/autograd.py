# SPDX-License-Identifier: Apache-2.0
"""Recording what operators do, and the gradients of it."""
import ctypes
from typing import Any, List, Optional, Sequence, Union

from . import _local_batch
from ._array import GRAD_REQ
from .base import _LIB, c_handle_array, check_call

__all__ = ["record", "pause", "train_mode", "predict_mode", "is_recording", "is_training",
           "set_recording", "set_training", "mark_variables", "backward", "grad", "Function"]


# ---- switches of the calling thread ------------------------------------------------------------
def set_recording(is_record: bool) -> bool:
    """Turns recording on or off; returns what was before."""
    before = ctypes.c_int()
    check_call(_LIB.MXAutogradSetIsRecording(int(is_record), ctypes.byref(before)))
    return bool(before.value)


def set_training(train_mode: bool) -> bool:  # pylint: disable=redefined-outer-name
    """Says whether operators like Dropout behave as in training; returns what was before."""
    before = ctypes.c_int()
    check_call(_LIB.MXAutogradSetIsTraining(int(train_mode), ctypes.byref(before)))
    return bool(before.value)


def is_recording() -> bool:
    """Whether this thread records."""
    current = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsRecording(ctypes.byref(current)))
    return current.value


def is_training() -> bool:
    """Whether this thread trains."""
    current = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsTraining(ctypes.byref(current)))
    return current.value


class _Scope:
    """Switches inside a `with`; None leaves one as it is."""

    __slots__ = ("_record", "_train", "_record_before", "_train_before")

    def __init__(self, record: Optional[bool], train: Optional[bool]):
        self._record, self._train = record, train

    def __enter__(self) -> "_Scope":
        self._record_before = None if self._record is None else set_recording(self._record)
        self._train_before = None if self._train is None else set_training(self._train)
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._record_before is not None:
            set_recording(self._record_before)
        if self._train_before is not None:
            set_training(self._train_before)


def record(train_mode: Optional[bool] = True) -> _Scope:  # pylint: disable=redefined-outer-name
    """Inside, operators are recorded, in training mode unless told otherwise."""
    return _Scope(True, train_mode)


def pause(train_mode: Optional[bool] = False) -> _Scope:  # pylint: disable=redefined-outer-name
    """Inside, operators are not recorded."""
    return _Scope(False, train_mode)


def train_mode() -> _Scope:
    """Inside, operators behave as in training."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """Inside, operators behave as in prediction."""
    return _Scope(None, False)


# ---- gradients ---------------------------------------------------------------------------------
def _listed(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def mark_variables(variables: Any, gradients: Any,
                   grad_reqs: Union[str, Sequence[str]] = "write") -> None:
    """Says where the gradients of `variables` are written to: 'write', 'add' or 'null'."""
    variables, gradients = _listed(variables), _listed(gradients)
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(requests):
        raise ValueError(f"{len(variables)} variables, {len(gradients)} gradients and "
                         f"{len(requests)} requests were given")
    for request in requests:
        if request not in GRAD_REQ:
            raise ValueError(f"grad_req is '{request}'; valid are: " + ", ".join(GRAD_REQ))
    check_call(_LIB.MXAutogradMarkVariables(
        len(variables), c_handle_array(variables),
        (ctypes.c_uint * max(len(variables), 1))(*[GRAD_REQ[request] for request in requests]),
        c_handle_array(gradients)))


def _head_gradients(heads: List[Any], head_grads: Any) -> Any:
    if head_grads is None:
        return None
    given = _listed(head_grads)
    if len(given) != len(heads):
        raise ValueError(f"{len(heads)} heads, but {len(given)} gradients of them were given")
    return c_handle_array(given)


def backward(heads: Any, head_grads: Any = None, retain_graph: bool = False,
             train_mode: bool = True) -> None:  # pylint: disable=redefined-outer-name
    """Computes the gradients of the marked variables that `heads` depend on.

    `head_grads`: the gradients of the heads, ones by default. What was recorded is forgotten
    unless `retain_graph`.
    """
    heads = _listed(heads)
    _local_batch.look(heads)
    check_call(_LIB.MXAutogradBackwardEx(
        len(heads), c_handle_array(heads), _head_gradients(heads, head_grads), 0, None,
        int(retain_graph), 0, int(train_mode), None, None))


def grad(heads: Any, variables: Any, head_grads: Any = None, retain_graph: Optional[bool] = None,
         create_graph: bool = False,
         train_mode: bool = True) -> List[Any]:  # pylint: disable=redefined-outer-name
    """The gradients of `heads` for `variables` as new arrays: a list, also for a single variable.

    With `create_graph` they are recorded too.
    """
    heads, wanted = _listed(heads), _listed(variables)
    if not wanted:
        raise ValueError("grad needs at least one variable")
    retain = create_graph if retain_graph is None else retain_graph
    handles, types = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_int)()
    check_call(_LIB.MXAutogradBackwardEx(
        len(heads), c_handle_array(heads), _head_gradients(heads, head_grads), len(wanted),
        c_handle_array(wanted), int(retain), int(create_graph), int(train_mode),
        ctypes.byref(handles), ctypes.byref(types)))
    addresses = [handles[i] for i in range(len(wanted))]
    return [type(item)(address) for item, address in zip(wanted, addresses)]


def __getattr__(name: str) -> Any:
    if name == "Function":  # imported late: it needs callbacks
        from ._custom_function import Function
        return Function
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
