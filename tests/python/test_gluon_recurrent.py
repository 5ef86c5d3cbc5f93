# SPDX-License-Identifier: Apache-2.0
"""Gluon's recurrent cells and layers against the cells written in NumPy of test_recurrent_operator."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import rnn

from test_recurrent_operator import cell as numpy_cell
from test_recurrent_operator import network

KINDS = pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
RANDOM = onp.random.RandomState(5)
X = RANDOM.uniform(-1, 1, (4, 3, 6)).astype("float32")  # (steps, batch, inputs)
LAYERS = {"rnn_relu": lambda **s: rnn.RNN(5, **s), "rnn_tanh": lambda **s: rnn.RNN(5, activation="tanh", **s),
          "lstm": lambda **s: rnn.LSTM(5, **s), "gru": lambda **s: rnn.GRU(5, **s)}
CELLS = {"rnn_tanh": rnn.RNNCell, "lstm": rnn.LSTMCell, "gru": rnn.GRUCell}


def started(block):
    block.initialize(mx.init.Uniform(0.5))
    return block


def weights_of(cell):
    return {name.replace("_weight", ""): parameter.data().asnumpy().astype("float64")
            for name, parameter in cell.collect_params().items()}


def vector_of(layer):
    return onp.concatenate([parameter.data().asnumpy().ravel() for parameter in layer.collect_params().values()]).astype("float64")


def close(array, wanted):
    onp.testing.assert_allclose(array.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


@KINDS
@pytest.mark.parametrize("mode", list(LAYERS))
@pytest.mark.parametrize("layout,layers,bidirectional,active", [("TNC", 1, False, False), ("NTC", 2, True, False), ("TNC", 2, True, True)])
def test_layers_give_what_the_numpy_network_does(kind, mode, layout, layers, bidirectional, active):
    layer = started(LAYERS[mode](num_layers=layers, bidirectional=bidirectional, layout=layout))
    layer.hybridize(active)
    x = kind.array(X if layout == "TNC" else X.transpose(1, 0, 2))
    alone = layer(x)
    zeros = onp.zeros((layers * (2 if bidirectional else 1), 3, 5))
    settings = (layers, 2 if bidirectional else 1, 5)
    wanted, _, _ = network(mode, X, vector_of(layer), zeros, zeros if mode == "lstm" else None, *settings)
    close(alone, wanted if layout == "TNC" else wanted.transpose(1, 0, 2))
    assert type(alone) is type(x)
    begin = [RANDOM.uniform(-1, 1, zeros.shape) for _ in layer.state_info(3)]
    output, states = layer(x, [kind.array(state.astype("float32")) for state in begin])
    wanted, *after = network(mode, X, vector_of(layer), begin[0], begin[1] if mode == "lstm" else None, *settings)
    close(output, wanted if layout == "TNC" else wanted.transpose(1, 0, 2))
    assert len(states) == len(begin)
    for found, one in zip(states, after):
        close(found, one)


@KINDS
@pytest.mark.parametrize("mode", list(CELLS))
def test_cells_unroll_to_the_numpy_steps(kind, mode):
    cell = started(CELLS[mode](5))
    outputs, states = cell.unroll(4, kind.array(X), layout="TNC")
    state, memory, w = onp.zeros((3, 5)), onp.zeros((3, 5)), weights_of(cell)
    for step in range(4):
        state, memory = numpy_cell(mode, X[step], state, memory, w)
        close(outputs[step], state)
    close(states[0], state)
    listed, _ = cell.unroll(4, [kind.array(step) for step in X], layout="TNC")
    assert isinstance(listed, list) and (listed[2].asnumpy() == outputs[2].asnumpy()).all()


def test_gradients_of_cells_and_of_the_layer_agree():
    layer, cell = started(rnn.LSTM(5, input_size=6)), started(rnn.LSTMCell(5, input_size=6))
    for name, parameter in cell.collect_params().items():
        parameter.set_data(layer.collect_params()["l0_" + name].data())
    x = mx.nd.array(X)
    with autograd.record():
        one = (layer(x) ** 2).sum()
    one.backward()
    with autograd.record():
        other = (cell.unroll(4, x, layout="TNC")[0] ** 2).sum()
    other.backward()
    assert abs(one.asscalar() - other.asscalar()) < 1e-4
    for name, parameter in cell.collect_params().items():
        close(layer.collect_params()["l0_" + name].grad(), parameter.grad().asnumpy())


@KINDS
def test_lengths_end_sequences_in_layers_and_in_cells(kind):
    lengths, zeros = onp.array([4, 1, 2]), onp.zeros((2, 3, 5))
    layer = started(rnn.LSTM(5, bidirectional=True, use_sequence_length=True))
    x = kind.array(X)
    output, states = layer(x, layer.begin_state(3, func=kind.zeros), kind.array(lengths))
    wanted, h, c = network("lstm", X, vector_of(layer), zeros, zeros, 1, 2, 5, lengths)
    close(output, wanted)
    close(states[0], h)
    close(states[1], c)
    both = started(rnn.BidirectionalCell(rnn.LSTMCell(5, input_size=6), rnn.LSTMCell(5, input_size=6)))
    for side, cell in (("l0_", both.l_cell), ("r0_", both.r_cell)):
        for name, parameter in cell.collect_params().items():
            parameter.set_data(layer.collect_params()[side + name].data())
    found, after = both.unroll(4, x, layout="TNC", valid_length=kind.array(lengths))
    close(found, wanted)
    close(after[2], h[1])


@pytest.mark.parametrize("stack", [rnn.SequentialRNNCell, rnn.HybridSequentialRNNCell])
def test_stacks_run_their_cells_in_order_and_have_all_states(stack):
    cells = stack()
    cells.add(rnn.LSTMCell(5), rnn.DropoutCell(0.5), rnn.ResidualCell(rnn.GRUCell(5)))
    started(cells)
    assert len(cells) == 3 and [info["shape"] for info in cells.state_info(3)] == [(3, 5)] * 3
    x = mx.nd.array(X)
    whole, states = cells.unroll(4, x, layout="TNC")
    step, after = cells(x[0], cells.begin_state(3))
    close(step, whole[0].asnumpy())
    assert len(states) == len(after) == 3
    first, _ = cells[0].unroll(4, x, layout="TNC")
    second, _ = cells[2].base_cell.unroll(4, first, layout="TNC")
    close(whole, (first + second).asnumpy())


def test_zoneout_keeps_elements_of_the_step_before_in_training_alone():
    cell = started(rnn.ZoneoutCell(rnn.RNNCell(50), zoneout_outputs=0.5))
    x = mx.nd.array(X)
    plain, _ = cell.base_cell.unroll(4, x, layout="TNC")
    close(cell.unroll(4, x, layout="TNC")[0], plain.asnumpy())
    with autograd.record():
        found, _ = cell.unroll(4, x, layout="TNC")
    kept = (found[1].asnumpy() == found[0].asnumpy()).mean()
    assert 0.3 < kept < 0.7


def test_variational_dropout_draws_once_a_sequence():
    cell = started(rnn.VariationalDropoutCell(rnn.RNNCell(50), drop_outputs=0.5))
    with autograd.record():
        dropped = (cell.unroll(4, mx.nd.array(X), layout="TNC")[0] == 0).asnumpy()
    assert 0.3 < dropped.mean() < 0.7 and all((dropped[step] == dropped[0]).all() for step in range(4))


def test_projected_cells_and_layers_agree():
    layer, cell = started(rnn.LSTM(5, projection_size=2, input_size=6)), started(rnn.LSTMPCell(5, 2, input_size=6))
    for name, parameter in cell.collect_params().items():
        parameter.set_data(layer.collect_params()["l0_" + name].data())
    close(layer(mx.nd.array(X)), cell.unroll(4, mx.nd.array(X), layout="TNC")[0].asnumpy())


def test_layers_train_in_a_network_with_a_trainer():
    net = gluon.nn.HybridSequential()
    net.add(rnn.GRU(8, layout="NTC"), gluon.nn.Dense(1))
    started(net).hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    x = mx.nd.array(RANDOM.uniform(-1, 1, (16, 5, 1)))
    y, losses = x.sum(axis=1), []
    for _ in range(40):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(x), y).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[-1] < 0.2 * losses[0]


def test_names_and_representations():
    net = rnn.LSTM(3, num_layers=2, bidirectional=True, dropout=0.5, prefix="lstm0_")
    names = [parameter.name for parameter in net.collect_params().values()]
    assert names[:3] == ["lstm0_l0_i2h_weight", "lstm0_l0_h2h_weight", "lstm0_r0_i2h_weight"] and names[-1] == "lstm0_r1_h2h_bias"
    assert repr(net) == "LSTM(None -> 3, TNC, num_layers=2, dropout=0.5, bidirectional)"
    assert [info["shape"] for info in net.state_info(7)] == [(4, 7, 3)] * 2


@pytest.mark.parametrize("call,words", [
    (lambda: rnn.LSTM(3, layout="CTN"), "layout must be"),
    (lambda: started(rnn.LSTM(3))(mx.nd.array(X), mx.nd.zeros((1, 3, 3))), r"states have shapes \[\(1, 3, 3\)\]"),
    (lambda: started(rnn.LSTM(3))(mx.nd.array(X), None, mx.nd.array([1])), "use_sequence_length"),
    (lambda: started(rnn.RNNCell(3)).unroll(5, mx.nd.array(X), layout="TNC"), "5 steps are wanted, axis 0 of the array has 4")])
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
