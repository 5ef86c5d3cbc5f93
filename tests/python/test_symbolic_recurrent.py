# SPDX-License-Identifier: Apache-2.0
"""mx.rnn: cells of symbols against the cells written in NumPy, fused and step by step."""
import re

import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd, rnn, sym

from test_recurrent_operator import network

RANDOM = onp.random.RandomState(6)
X = RANDOM.uniform(-1, 1, (3, 4, 6)).astype("float32")  # (batch, steps, inputs)
MODES = ["rnn_relu", "rnn_tanh", "lstm", "gru"]


def run(symbol, values):
    wanted = set(symbol.list_arguments())
    executor = symbol.bind(mx.cpu(), {name: array for name, array in values.items() if name in wanted})
    return [output.asnumpy() for output in executor.forward()]


def fused(mode, **settings):
    return rnn.FusedRNNCell(5, num_layers=2, mode=mode, bidirectional=True, **settings)


@pytest.mark.parametrize("mode", MODES)
def test_fused_cells_and_their_unfused_steps_give_what_the_numpy_network_does(mode):
    cell = fused(mode, get_next_state=True)
    output, states = cell.unroll(4, sym.var("data"), merge_outputs=True)
    shapes, _, _ = output.infer_shape(data=X.shape)
    count = dict(zip(output.list_arguments(), shapes))[f"{mode}_parameters"][0]
    vector = RANDOM.uniform(-0.5, 0.5, count).astype("float32")
    args = {"data": nd.array(X), f"{mode}_parameters": nd.array(vector)}
    zeros = onp.zeros((4, 3, 5))
    wanted, h, _ = network(mode, X.transpose(1, 0, 2), vector.astype("float64"), zeros, zeros if mode == "lstm" else None, 2, 2, 5)
    found = run(sym.Group([output, states[0]]), args)
    onp.testing.assert_allclose(found[0], wanted.transpose(1, 0, 2), rtol=1e-5, atol=1e-6)
    onp.testing.assert_allclose(found[1], h, rtol=1e-5, atol=1e-6)
    stack = cell.unfuse()
    steps, _ = stack.unroll(4, sym.var("data"), merge_outputs=True)
    unpacked = cell.unpack_weights(args)
    assert f"{mode}_parameters" not in unpacked
    onp.testing.assert_allclose(run(steps, stack.pack_weights(unpacked))[0], found[0], rtol=1e-5, atol=1e-6)
    again = cell.pack_weights(stack.unpack_weights(stack.pack_weights(unpacked)))
    assert (again[f"{mode}_parameters"].asnumpy() == vector).all()


def test_names_are_those_of_the_cells():
    cell = rnn.LSTMCell(5)
    outputs, _ = cell.unroll(2, sym.var("data"))
    assert outputs[1].list_arguments() == ["data", "lstm_i2h_weight", "lstm_i2h_bias", "lstm_h2h_weight", "lstm_h2h_bias"]
    assert isinstance(outputs, list) and cell.state_shape == [(0, 5), (0, 5)]
    assert "lstm_t1_i2h_output" in outputs[1].get_internals().list_outputs()
    assert sorted(name for name in cell.unpack_weights({"lstm_i2h_weight": nd.zeros((20, 6)), "lstm_i2h_bias": nd.zeros(20), "lstm_h2h_weight": nd.zeros((20, 5)), "lstm_h2h_bias": nd.zeros(20)}) if "i2h" in name and "bias" in name) == [
        "lstm_i2h_c_bias", "lstm_i2h_f_bias", "lstm_i2h_i_bias", "lstm_i2h_o_bias"]


def test_the_bias_of_forget_gates_begins_with_what_was_asked_for():
    outputs, _ = rnn.LSTMCell(2, forget_bias=3).unroll(1, sym.var("data"))
    assert outputs[0].attr_dict()["lstm_i2h_bias"]["__init__"] == '["lstmbias", {"forget_bias": 3}]'
    bias = nd.ones(8)
    mx.init.LSTMBias(3)("lstm_i2h_bias", bias)
    assert bias.asnumpy().tolist() == [0, 0, 3, 3, 0, 0, 0, 0]


def test_residual_and_dropout_cells_join_a_stack():
    stack = rnn.SequentialRNNCell()
    for cell in (rnn.RNNCell(6, prefix="a_"), rnn.DropoutCell(0.5), rnn.ResidualCell(rnn.GRUCell(6, prefix="b_"))):
        stack.add(cell)
    output, states = stack.unroll(4, sym.var("data"), merge_outputs=True)
    shapes, outputs, _ = output.infer_shape(data=X.shape)
    assert outputs == [(3, 4, 6)] and len(states) == 2
    values = {name: nd.array(RANDOM.uniform(-1, 1, shape)) for name, shape in zip(output.list_arguments(), shapes)}
    plain, _ = stack._cells[0].unroll(4, sym.var("data"), merge_outputs=True)
    more, _ = stack._cells[2].base_cell.unroll(4, sym.var("data"), merge_outputs=True)
    first = run(plain, values)[0]
    wanted = first + run(more, {**values, "data": nd.array(first)})[0]
    onp.testing.assert_allclose(run(output, values)[0], wanted, rtol=1e-5, atol=1e-6)


def test_checkpoints_of_fused_cells_are_read_by_their_steps(tmp_path):
    cell = fused("gru")
    output, _ = cell.unroll(4, sym.var("data"), merge_outputs=True)
    shapes, _, _ = output.infer_shape(data=X.shape)
    vector = nd.array(RANDOM.uniform(-1, 1, dict(zip(output.list_arguments(), shapes))["gru_parameters"]))
    prefix = str(tmp_path / "net")
    rnn.do_rnn_checkpoint(cell, prefix, 2)(1, output, {"gru_parameters": vector}, {})
    _, args, _ = rnn.load_rnn_checkpoint(cell.unfuse(), prefix, 2)
    assert "gru_l0_i2h_weight" in args and "gru_parameters" not in args
    loaded, args, aux = rnn.load_rnn_checkpoint(cell, prefix, 2)
    assert (args["gru_parameters"].asnumpy() == vector.asnumpy()).all() and aux == {}
    assert loaded.list_arguments() == output.list_arguments()


def test_sentences_come_in_batches_of_their_bucket_with_the_next_words_as_labels():
    coded, words = rnn.encode_sentences([["a", "b"], ["b", "a", "c"], ["c", "a"], ["a"] * 9], start_label=1, invalid_label=0)
    assert coded[:2] == [[1, 2], [2, 1, 3]] and words == {"\n": 0, "a": 1, "b": 2, "c": 3}
    with pytest.warns(UserWarning, match="discarded 1 sentences"):
        batches = rnn.BucketSentenceIter(coded, 1, buckets=[2, 4], invalid_label=0)
    assert batches.default_bucket_key == 4 and batches.ndiscard == 1 and batches.provide_data[0].shape == (1, 4)
    found = {tuple(batch.data[0].asnumpy()[0]): (batch.bucket_key, tuple(batch.label[0].asnumpy()[0])) for batch in batches}
    assert found == {(1, 2): (2, (2, 0)), (3, 1): (2, (1, 0)), (2, 1, 3, 0): (4, (1, 3, 0, 0))}
    batches.reset()
    assert len(list(batches)) == 3


@pytest.mark.parametrize("call,words", [
    (lambda: rnn.LSTMCell(3).begin_state(), "give batch_size"), (lambda: rnn.FusedRNNCell(3, mode="elman"), "mode must be"),
    (lambda: rnn.encode_sentences([["x"]], {"a": 1}), "Unknown token x"),
    (lambda: rnn.BucketSentenceIter([[1]], 5), "give buckets")])
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def stepped(cell, train):
    """Outputs and states after each of two steps, from states of 0.5 and 0.25."""
    states = [sym.var("h"), sym.var("c")]
    outputs, kept = [], []
    for step in range(2):
        output, states = cell(sym.var(f"x{step}"), states)
        outputs.append(output)
        kept.append(states)
    symbol = sym.Group(outputs + [state for pair in kept for state in pair])
    random = onp.random.RandomState(4)
    shapes = {"x0": (30, 6), "x1": (30, 6), "h": (30, 5), "c": (30, 5)}
    arguments, _, _ = symbol.infer_shape(**shapes)
    values = {name: nd.array(random.uniform(-1, 1, shape))
              for name, shape in zip(symbol.list_arguments(), arguments)}
    executor = symbol.bind(mx.cpu(), values)
    return values, [array.asnumpy() for array in executor.forward(is_train=train)]


def test_zoneout_keeps_parts_of_what_was_before():
    make = lambda: rnn.LSTMCell(5)
    _, plain = stepped(make(), False)
    _, quiet = stepped(rnn.ZoneoutCell(make(), 0.5, 0.5), False)
    for one, other in zip(plain, quiet):
        onp.testing.assert_allclose(one, other, rtol=1e-6)
    values, drawn = stepped(rnn.ZoneoutCell(make(), 0.4, 0.3), True)
    zeros = onp.zeros((30, 5))
    for new, old, found, share in ((plain[0], zeros, drawn[0], 0.4), (plain[2], values["h"].asnumpy(), drawn[2], 0.3),
                                   (plain[3], values["c"].asnumpy(), drawn[3], 0.3)):
        is_old, is_new = onp.isclose(found, old), onp.isclose(found, new)
        assert (is_old | is_new).all() and abs(is_old.mean() - share) < 0.15
    # Of the second step: what was put out is either new or the output before it.
    assert onp.isclose(drawn[1], drawn[0]).mean() > 0.2


def test_zoneout_takes_no_cell_that_cannot_be_stepped():
    with pytest.raises(ValueError, match="cannot be stepped"):
        rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.LSTMCell(2), rnn.LSTMCell(2)))


def test_the_parts_of_a_fused_parameter_begin_as_those_of_cells():
    cell = rnn.FusedRNNCell(3, mode="lstm", forget_bias=2.5, prefix="net_")
    output, _ = cell.unroll(2, sym.var("data"))
    module = mx.mod.Module(output, label_names=None)
    module.bind([("data", (4, 2, 6))])
    module.init_params(mx.init.Constant(0.5))
    parts = cell.unpack_weights(module.get_params()[0])
    values = {name: set(array.asnumpy().ravel().tolist()) for name, array in parts.items()}
    assert values["net_l0_i2h_f_bias"] == values["net_l0_h2h_f_bias"] == {2.5}
    assert values["net_l0_i2h_i_weight"] == {0.5} and values["net_l0_i2h_o_bias"] == {0.0}
    again = mx.init._from_text(mx.init.FusedRNN(mx.init.One(), 3, 1, "gru").dumps())
    assert again.init == mx.init.One() or isinstance(again.init, mx.init.One)


@pytest.mark.parametrize("kind, states, inner", [
    (mx.rnn.RNNCell, ["out"], ["i2h", "h2h", "out"]),
    (mx.rnn.LSTMCell, ["out", "state"], ["i2h", "h2h", "slice", "i", "f", "c", "state", "o", "out"]),
    (mx.rnn.GRUCell, ["out"], ["_i2h", "_i2h_slice", "_h2h", "_h2h_slice", "_z_act", "_r_act", "_h_act", "out"])])
def test_operators_of_a_step_have_the_names_of_the_original(kind, states, inner):
    """Programs take the last step's by name: `net.get_internals()["l_t1_out_output"]`."""
    outputs, last = kind(2, prefix="l_").unroll(2, [sym.var("x0"), sym.var("x1")])
    assert [item.name for item in outputs] == ["l_t0_out", "l_t1_out"]
    assert [item.name for item in last] == [f"l_t1_{name}" for name in states]
    found = [name for name in outputs[1].get_internals().list_outputs() if name.startswith("l_t1_")]
    assert sorted({re.sub(r"_output\d*$", "", name)[len("l_t1_"):] for name in found}) == sorted(inner)
    residual, _ = mx.rnn.ResidualCell(kind(2, prefix="l_")).unroll(1, [sym.var("x0")])
    assert residual[0].list_outputs() == ["l_t0_out_plus_residual_output"]
