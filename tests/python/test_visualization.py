# SPDX-License-Identifier: Apache-2.0
"""Tables and drawings of networks, line by line as the original's."""
import sys
import types

import pytest

import mxnet as mx
from mxnet import sym


def network():
    out = sym.Activation(sym.FullyConnected(sym.var("data"), num_hidden=8, name="fc1"), act_type="relu", name="relu1")
    cut = sym.split(out, num_outputs=2, axis=1, name="cut")
    joined = sym.BatchNorm(cut[0] + cut[1], name="bn1")
    return sym.SoftmaxOutput(sym.FullyConnected(joined, num_hidden=3, name="fc2"), name="softmax")


def test_a_table_of_the_layers(capsys):
    mx.viz.print_summary(network(), shape={"data": (4, 7)}, line_length=80, positions=[.3, .6, .75, 1.])
    layer, line = "_" * 80, "=" * 80
    rows = [("data(null)", "7", "0", ""), ("fc1(FullyConnected)", "8", "64", "data"), ("relu1(Activation)", "8", "0", "fc1"),
            ("cut(SliceChannel)", "", "0", "relu1"), (None, "4", "0", "cut"), ("", "", "", "cut"),
            ("bn1(BatchNorm)", "4", "8", None), ("fc2(FullyConnected)", "3", "15", "bn1"),
            ("softmax(SoftmaxOutput)", "3", "0", "fc2")]
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == layer and printed[2] == line
    assert printed[1] == "Layer (type)            Output Shape            Param #     Previous Layer      "
    found = [text for text in printed[3:-2] if set(text) not in ({"_"}, {"="})]
    assert len(found) == len(rows)
    for text, row in zip(found, rows):
        fields = [text[:24].strip(), text[24:48].strip(), text[48:60].strip(), text[60:].strip()]
        assert all(expected is None or field == expected for field, expected in zip(fields, row)), text
    assert printed[-2:] == ["Total params: 87", layer] and printed[-3] == line


def test_a_drawing_by_graphviz(monkeypatch):
    class Digraph:
        def __init__(self, **settings):
            self.settings, self.nodes, self.edges = settings, {}, []

        def node(self, **settings):
            self.nodes[settings["name"]] = settings

        def edge(self, **settings):
            self.edges.append((settings["tail_name"], settings["head_name"], settings["label"]))

    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=Digraph))
    drawing = mx.viz.plot_network(network(), title="net", shape={"data": (4, 7)})
    assert drawing.settings == {"name": "net", "format": "pdf"} and "fc1_weight" not in drawing.nodes
    assert drawing.nodes["fc1"]["label"] == "FullyConnected\n8" and drawing.nodes["fc1"]["fillcolor"] == "#fb8072"
    assert drawing.nodes["data"]["shape"] == "oval" and drawing.nodes["relu1"]["label"] == "Activation\nrelu"
    assert ("fc1", "data", "7") in drawing.edges and ("softmax", "softmax_label", "") in drawing.edges
    assert "fc1_weight" in mx.viz.plot_network(network(), hide_weights=False).nodes


def test_without_graphviz_and_without_a_symbol(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match="graphviz, which is not installed"):
        mx.viz.plot_network(network())
    for function in (mx.viz.print_summary, mx.viz.plot_network):
        with pytest.raises(TypeError, match="symbol must be"):
            function(3)
