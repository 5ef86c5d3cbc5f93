# SPDX-License-Identifier: Apache-2.0
"""Arrays for the variables of a symbol: given ones in the order of its lists, or new ones of inferred shapes."""
from typing import Any, Dict, List, Optional, Sequence

from .. import executor
from .._array import BaseArray
from ..base import MXNetError
from ..context import Context, current_context
from ..util import is_np_shape

_WRONG_ARRAYS = "Only accept list of NDArrays or dict of str to NDArray"


def _given(what: str, arrays: Any, names: Sequence[str], may_lack: bool) -> List[Any]:
    if isinstance(arrays, dict):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise MXNetError(f"{what}: two variables are called {twice!r}, so a dict does not tell their arrays apart")
        missing = [name for name in names if name not in arrays]
        if missing and not may_lack:
            raise ValueError(f"key `{missing[0]}` is missing in `{what}`")
        found = [arrays.get(name) for name in names]
    elif isinstance(arrays, (list, tuple)):
        if len(arrays) != len(names):
            raise ValueError(f"Length of {what} does not match the number of arguments")
        found = list(arrays)
    else:
        raise TypeError(_WRONG_ARRAYS)
    if not all(isinstance(item, BaseArray) or (item is None and may_lack) for item in found):
        raise TypeError(_WRONG_ARRAYS)
    return found


def _code(request: str) -> int:
    if request not in executor.REQUESTS:
        raise ValueError(f"grad_req must be in {executor.REQUESTS}")
    return executor.REQUESTS[request]


def _requests(grad_req: Any, names: Sequence[str]) -> List[int]:
    if isinstance(grad_req, str):
        return [_code(grad_req)] * len(names)
    if isinstance(grad_req, dict):
        return [_code(grad_req.get(name, "null")) for name in names]
    if isinstance(grad_req, (list, tuple)):
        if len(grad_req) != len(names):
            raise ValueError(f"{len(grad_req)} requests are given, but there are {len(names)} arguments")
        return [_code(item) for item in grad_req]
    raise TypeError("grad_req is a str, a list or a dict")


def bind(symbol: Any, ctx: Any, args: Any, args_grad: Any, grad_req: Any, aux_states: Any) -> executor.Executor:
    """The executor of given arrays."""
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    requests = _requests(grad_req, names)
    arguments = _given("args", args, names, False)
    gradients = [None] * len(names) if args_grad is None else _given("args_grad", args_grad, names, True)
    requests = [0 if gradient is None else request for gradient, request in zip(gradients, requests)]
    auxiliary = _given("aux_states", [] if aux_states is None else aux_states, states, False)
    return executor.bind(symbol, Context(ctx or current_context()), arguments, gradients, requests, auxiliary)


def _undecided(symbol: Any, shapes: Dict[str, Any]) -> str:
    """Why nothing can be made, in MXNet's words: the arguments whose shapes do not follow, with what is known."""
    least = 0 if is_np_shape() else 1  # a smaller size is not known
    found = dict(zip(symbol.list_arguments(), symbol.infer_shape_partial(**shapes)[0] or []))
    listed = ""
    for name, shape in found.items():
        if shape is None or len(shape) < least:
            listed += f"{name}: None, "
        elif min(shape, default=least) < least:
            listed += f"{name}: {[size if size >= least else -1 for size in shape]}, "
    return ("InferShape pass cannot decide shapes for the following arguments (-1 means unknown dimensions). "
            f"Please consider providing them as inputs:\n{listed}\n")


def simple_bind(symbol: Any, ctx: Any, grad_req: Any, type_dict: Optional[Dict[str, Any]],
                shapes: Dict[str, Any]) -> executor.Executor:
    """The executor of new arrays, zeros, of the shapes and types that follow from those given by name."""
    from .. import ndarray as nd  # pylint: disable=import-outside-toplevel

    names = symbol.list_arguments()
    unknown = sorted(set(shapes) - set(names) - set(symbol.list_auxiliary_states()))
    if unknown:
        raise ValueError(f"there is no argument {unknown[0]}; the arguments are {', '.join(names)}")
    requests = _requests(grad_req, names)
    told = "".join(f"{name}: {shape}\n" for name, shape in shapes.items())
    try:
        sizes, _, state_sizes = symbol.infer_shape(**shapes)
    except MXNetError as error:
        raise RuntimeError(f"simple_bind error. Arguments:\n{told}{error}") from error
    if sizes is None:
        raise RuntimeError(f"simple_bind error. Arguments:\n{told}{_undecided(symbol, shapes)}")
    types, _, state_types = symbol.infer_type(**(type_dict or {}))
    types, state_types = (types or ["float32"] * len(sizes)), (state_types or ["float32"] * len(state_sizes))
    device = Context(ctx or current_context())

    def made(size: Any, kind: Any) -> Any:
        return nd.zeros(size, ctx=device, dtype=kind)

    arguments = [made(*pair) for pair in zip(sizes, types)]
    gradients = [made(size, kind) if request else None for size, kind, request in zip(sizes, types, requests)]
    return executor.bind(symbol, device, arguments, gradients, requests,
                         [made(*pair) for pair in zip(state_sizes, state_types)])
