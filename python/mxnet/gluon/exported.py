# SPDX-License-Identifier: Apache-2.0
"""Graphs of blocks in files, and the shapes of parameters that a graph infers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from .. import ndarray as nd
from .. import symbol
from ..base import MXNetError
from .graph import Graph, flatten, regroup

if TYPE_CHECKING:
    from .block import HybridBlock


def export(block: "HybridBlock", graph: Optional[Graph], path: str, epoch: int) -> Tuple[str, str]:
    """As HybridBlock.export says."""
    if graph is None:
        raise RuntimeError("Please first call block.hybridize() and then run forward with this block at least once "
                           f"before calling export. There is no graph of {type(block).__name__}")
    symbol_file, parameter_file = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
    graph.symbol.save(symbol_file)
    states = set(graph.symbol.list_auxiliary_states())
    nd.save(parameter_file, {("aux:" if name in states else "arg:") + name: parameter.list_data()[0]
                             for name, parameter in graph.parameters.items()})
    return symbol_file, parameter_file


def infer_parameters(block: "HybridBlock", args: tuple) -> None:
    """Gives the block's own parameters the shapes that its `hybrid_forward` infers from data like `args`."""
    arrays: List[Any] = []
    form = flatten(args, arrays)
    data = [symbol.var(f"data{number}") for number in range(len(arrays))]
    variables = {name: symbol.var(name, shape=parameter.shape) for name, parameter in block._reg_params.items()}
    outputs: List[Any] = []
    _symbols(block.hybrid_forward(symbol, *regroup(form, data), **variables), outputs)
    graph = symbol.Group(outputs)
    shapes, _, states = graph.infer_shape_partial(**{f"data{number}": array.shape for number, array in enumerate(arrays)})
    found = dict(zip(graph.list_arguments() + graph.list_auxiliary_states(), [*(shapes or []), *(states or [])]))
    for name, parameter in block._reg_params.items():
        if parameter.is_deferred and found.get(name):
            parameter.shape = found[name]
        if parameter.is_deferred and not (parameter.shape and all(size > 0 for size in parameter.shape)):
            raise MXNetError(f"{type(block).__name__}: the shape of {parameter.name} does not follow from the data: give "
                             f"infer_shape(x, …), or the shape of {parameter.name}")


def _symbols(item: Any, found: List[Any]) -> None:
    if isinstance(item, (list, tuple)):
        for member in item:
            _symbols(member, found)
    else:
        found.append(item)
