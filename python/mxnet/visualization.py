# SPDX-License-Identifier: Apache-2.0
"""Networks as tables and drawings."""
from __future__ import annotations

import importlib
import json
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .symbol import Symbol

_HIDDEN = ("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean")
_COLORS = {"FullyConnected": "#fb8072", "Convolution": "#fb8072", "Deconvolution": "#fb8072", "Activation": "#ffffb3",
           "LeakyReLU": "#ffffb3", "BatchNorm": "#bebada", "Pooling": "#80b1d3", "Concat": "#fdb462", "Flatten": "#fdb462",
           "Reshape": "#fdb462", "Softmax": "#b3de69"}


def _nodes(symbol: Any) -> List[Dict[str, Any]]:
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be Symbol")
    return json.loads(symbol.tojson())["nodes"]


def _shapes(symbol: Symbol, given: Optional[Dict[str, Any]]) -> Dict[str, Tuple[int, ...]]:
    """Of all inner outputs by their names; empty if none are given."""
    if given is None:
        return {}
    internals = symbol.get_internals()
    _, found, _ = internals.infer_shape(**given)
    if found is None:
        raise ValueError("Input shape is incomplete")
    return dict(zip(internals.list_outputs(), found))


def _inner(shapes: Dict[str, Tuple[int, ...]], node: Dict[str, Any]) -> Optional[Tuple[int, ...]]:
    """The shape of a node's only output without the batch."""
    found = shapes.get(node["name"] if node["op"] == "null" else node["name"] + "_output")
    return None if found is None else found[1:]


def _size(shape: Optional[Tuple[int, ...]]) -> int:
    size = 1
    for length in shape or (0,):
        size *= length
    return size


def print_summary(symbol: Any, shape: Optional[Dict[str, Any]] = None, line_length: int = 120,
                  positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0)) -> None:
    """Prints a table of the layers: name and operator, shape of the output without the batch, how many parameters there
    are, and the layers before.

    shape : shapes of data by name; without it shapes and counts are not known
    positions : where columns end, as parts of the line
    """
    nodes = _nodes(symbol)
    shapes = _shapes(symbol, shape)
    ends = [int(line_length * part) if positions[-1] <= 1 else int(part) for part in positions]

    def show(*fields: Any) -> None:
        line = ""
        for field, end in zip(fields, ends):
            line = (line + str(field))[:end].ljust(end)
        print(line)

    print("_" * line_length)
    show("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    shown = [node for at, node in enumerate(nodes) if node["op"] != "null" or at == 0]
    others, total = set(symbol.list_auxiliary_states()), 0
    for node in shown:
        inputs = [nodes[item[0]] for item in node["inputs"]]
        before = [item["name"] for item in inputs if item["op"] != "null" or item is nodes[0]] or [""]
        count = sum(_size(shapes.get(item["name"])) for item in inputs
                    if item["op"] == "null" and item is not nodes[0] and item["name"] not in others and not item["name"].endswith("label"))
        total += count
        inner = _inner(shapes, node)
        show(f"{node['name']}({node['op']})", "" if inner is None else "x".join(map(str, inner)), count, before[0])
        for name in before[1:]:
            show("", "", "", name)
        print(("=" if node is shown[-1] else "_") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _label(node: Dict[str, Any]) -> str:
    said = node.get("attrs", {})

    def sizes(key: str) -> str:
        return "x".join(part.strip() for part in said.get(key, "(1,)").strip("()[] ").split(",") if part.strip())

    if node["op"] in ("Convolution", "Deconvolution"):
        return f"{node['op']}\n{sizes('kernel')}/{sizes('stride')}, {said.get('num_filter')}"
    if node["op"] == "FullyConnected":
        return f"{node['op']}\n{said.get('num_hidden')}"
    if node["op"] in ("Activation", "LeakyReLU"):
        return f"{node['op']}\n{said.get('act_type')}"
    if node["op"] == "Pooling":
        return f"Pooling\n{said.get('pool_type', 'max')}, {sizes('kernel')}/{sizes('stride')}"
    return said.get("op_type", node["name"]) if node["op"] == "Custom" else node["name"]


def plot_network(symbol: Any, title: str = "plot", save_format: str = "pdf", shape: Optional[Dict[str, Any]] = None,
                 dtype: Any = None, node_attrs: Optional[Dict[str, str]] = None, hide_weights: bool = True) -> Any:
    """A drawing of the network, a Digraph of the package graphviz; ImportError without it.

    shape : shapes of data by name, for labels of the edges
    node_attrs : attributes of all nodes, as Graphviz has them
    hide_weights : whether parameters are left out
    """
    del dtype
    nodes = _nodes(symbol)
    shapes = _shapes(symbol, shape)
    try:
        digraph = importlib.import_module("graphviz").Digraph
    except ImportError as error:
        raise ImportError("plot_network draws with the package graphviz, which is not installed") from error
    common = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled", **(node_attrs or {})}
    drawing, hidden = digraph(name=title, format=save_format), set()
    for node in nodes:
        if node["op"] == "null" and hide_weights and node["name"].endswith(_HIDDEN):
            hidden.add(node["name"])
            continue
        settings = dict(common, fillcolor=_COLORS.get(node["op"], "#fccde5"))
        if node["op"] == "null":
            settings.update(shape="oval", fillcolor="#8dd3c7")
        drawing.node(name=node["name"], label=node["name"] if node["op"] == "null" else _label(node), **settings)
    for node in nodes:
        for item in node["inputs"]:
            other = nodes[item[0]]
            if other["name"] not in hidden:
                inner = _inner(shapes, other)
                drawing.edge(tail_name=node["name"], head_name=other["name"], dir="back", arrowtail="open",
                             label="" if inner is None else "x".join(map(str, inner)))
    return drawing
