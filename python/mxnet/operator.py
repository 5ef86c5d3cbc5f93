# SPDX-License-Identifier: Apache-2.0
"""Operators written in Python.

    class AddOne(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] + 1)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0])

    @mx.operator.register('AddOne')
    class AddOneProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return AddOne()

    y = mx.nd.Custom(x, op_type='AddOne')

The profiler shows the functions as AddOne::pure_python and what they call as AddOne::NAME.
"""
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

from . import _custom_operator, _registry

_REQUESTS = ("null", "write", "inplace", "add")


class CustomOp:
    """What an operator does. Functions run on threads of their own, at the time the engine chooses;
    they may wait for the arrays they are given, not for everything (waitall)."""

    def forward(self, is_train: bool, req: List[str], in_data: List[Any], out_data: List[Any],
                aux: List[Any]) -> None:
        """Computes `out_data` from `in_data`."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(self, req: List[str], out_grad: List[Any], in_data: List[Any],
                 out_data: List[Any], in_grad: List[Any], aux: List[Any]) -> None:
        """Computes `in_grad`, the gradients of the inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def assign(self, dst: Any, req: str, src: Any) -> None:
        """Writes, adds or does nothing, as `req` says: 'write', 'inplace', 'add' or 'null'."""
        if req not in _REQUESTS:
            raise ValueError(f"req is '{req}'; valid are: " + ", ".join(_REQUESTS))
        if req == "add":
            dst[...] += src
        elif req != "null":
            dst[...] = src


class CustomOpProp:
    """What an operator is: its inputs, outputs and shapes.

    Parameters
    ----------
    need_top_grad : bool
        Whether backward needs the gradients of the outputs; a loss does not.

    Other arguments of mx.nd.Custom are given to the constructor, as text.
    """

    def __init__(self, need_top_grad: bool = True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape: List[List[int]]) -> Tuple[list, list, list]:
        """Shapes of inputs, outputs and auxiliary states (which may be left out)."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: List[Any]) -> Tuple[list, list, list]:
        """NumPy types of inputs, outputs and auxiliary states."""
        return (in_type, [in_type[0]] * len(self.list_outputs()),
                [in_type[0]] * len(self.list_auxiliary_states()))

    def list_arguments(self) -> List[str]:
        """Names of the inputs."""
        return ["data"]

    def list_outputs(self) -> List[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> List[str]:
        """Names of the states that forward may change."""
        return []

    def declare_backward_dependency(self, out_grad: Sequence[int], in_data: Sequence[int],
                                    out_data: Sequence[int]) -> List[int]:
        """The numbers of the arrays that backward needs."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: List[List[int]],
                        in_dtypes: List[Any]) -> CustomOp:
        """The operator for arrays of these shapes and types on a device."""
        return CustomOp()


def register(reg_name: str) -> Callable[[type], type]:
    """Decorator of a CustomOpProp: mx.nd.Custom(..., op_type=reg_name) runs what it describes.
    A second one of the same name replaces the first."""
    def decorate(prop: type) -> type:
        if not (isinstance(prop, type) and issubclass(prop, CustomOpProp)):
            raise TypeError("what is registered must be a subclass of CustomOpProp, not "
                            f"{prop!r}")
        _custom_operator.register(reg_name, prop)
        return prop

    return decorate


class OperatorArguments(NamedTuple):
    """What an operator takes: inputs first, then parameters."""

    narg: int
    names: List[str]
    types: List[str]


def get_all_registered_operators() -> List[str]:
    """The names of all operators: the library's, aliases among them, and the program's own."""
    return sorted({*_registry.names(), *_custom_operator.registered})


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """Names and types of an operator's arguments; MXNetError if the library has no such one."""
    info = _registry.operator(op_name)
    arguments = (*info.inputs, *info.parameters)
    return OperatorArguments(len(arguments), [item.name for item in arguments],
                             [item.type_text for item in arguments])


def run_custom(kind: type, data: Sequence[Any], op_type: str, parameters: Dict[str, Any]) -> Any:
    """mx.nd.Custom and mx.npx.custom; functions get arrays of `kind`."""
    if op_type not in _custom_operator.registered:
        raise ValueError(f"no custom operator '{op_type}' is registered; there are: "
                         + (", ".join(_custom_operator.registered) or "none"))
    return _custom_operator.run(kind, data, op_type, parameters)
