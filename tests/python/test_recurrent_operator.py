# SPDX-License-Identifier: Apache-2.0
"""The operator RNN against cells written in NumPy, one step after the other, and against differences."""
import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, nd

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
MODES = pytest.mark.parametrize("mode", list(GATES))


def sigmoid(x):
    return 1 / (1 + onp.exp(-x))


def cell(mode, x, h, c, w):
    """One step: the new state and cell, from weights as the parameters have them."""
    a, b = x @ w["i2h"].T + w["i2h_bias"], h @ w["h2h"].T + w["h2h_bias"]
    if mode == "rnn_relu":
        return onp.maximum(a + b, 0), c
    if mode == "rnn_tanh":
        return onp.tanh(a + b), c
    if mode == "lstm":
        i, f, g, o = onp.split(a + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * onp.tanh(g)
        h = sigmoid(o) * onp.tanh(c)
        return (h @ w["h2r"].T if "h2r" in w else h), c
    (ar, az, an), (br, bz, bn) = onp.split(a, 3, axis=1), onp.split(b, 3, axis=1)
    z = sigmoid(az + bz)
    return (1 - z) * onp.tanh(an + sigmoid(ar + br) * bn) + z * h, c


def unpack(vector, mode, inputs, size, layers, directions, projection=None):
    """[layer][direction] -> the arrays of the vector, in MXNet's order."""
    width, rows, at = projection or size, GATES[mode] * size, 0
    found = [[{} for _ in range(directions)] for _ in range(layers)]

    def take(to, name, *shape):
        nonlocal at
        to[name] = vector[at:at + int(onp.prod(shape))].reshape(shape)
        at += int(onp.prod(shape))
    for layer in range(layers):
        for one in found[layer]:
            take(one, "i2h", rows, inputs if layer == 0 else directions * width)
            take(one, "h2h", rows, width)
            if projection:
                take(one, "h2r", width, size)
    for layer in range(layers):
        for one in found[layer]:
            take(one, "i2h_bias", rows)
            take(one, "h2h_bias", rows)
    assert at == vector.size
    return found


def network(mode, x, vector, h, c, layers, directions, size, lengths=None, projection=None):
    """Output, last states, last cells."""
    weights = unpack(vector, mode, x.shape[2], size, layers, directions, projection)
    steps, batch = x.shape[:2]
    states, cells = h.copy(), None if c is None else c.copy()
    for layer in range(layers):
        results = []
        for direction in range(directions):
            at = layer * directions + direction
            state, memory = states[at], onp.zeros((batch, size)) if c is None else cells[at]
            result = onp.zeros((steps, batch, state.shape[1]))
            for step in range(steps) if direction == 0 else reversed(range(steps)):
                lives = onp.ones(batch, bool) if lengths is None else step < lengths
                new, new_memory = cell(mode, x[step], state, memory, weights[layer][direction])
                state, memory = onp.where(lives[:, None], new, state), onp.where(lives[:, None], new_memory, memory)
                result[step] = onp.where(lives[:, None], state, 0)
            states[at] = state
            if c is not None:
                cells[at] = memory
            results.append(result)
        x = onp.concatenate(results, axis=2)
    return x, states, cells


def arguments(mode, steps, batch, inputs, size, layers, directions, projection=None):
    random = onp.random.RandomState(7)
    width, rows = projection or size, GATES[mode] * size
    count = sum(directions * (rows * ((inputs if layer == 0 else directions * width) + width + 2)
                              + (projection or 0) * size) for layer in range(layers))
    made = [random.uniform(-1, 1, (steps, batch, inputs)), random.uniform(-0.5, 0.5, count),
            random.uniform(-1, 1, (layers * directions, batch, width))]
    if mode == "lstm":
        made.append(random.uniform(-1, 1, (layers * directions, batch, size)))
    return made


@pytest.mark.parametrize("mode,layers,directions,lengths,projection", [
    *((mode, *rest, None) for mode in GATES for rest in ((1, 1, None), (2, 2, None), (2, 2, [4, 1, 0]), (1, 1, [2, 4, 3]))),
    ("lstm", 2, 2, None, 3), ("lstm", 2, 1, [1, 4, 2], 3)])
def test_results_are_those_of_cells_written_in_numpy(mode, layers, directions, lengths, projection):
    size, given = 5, arguments(mode, 4, 3, 6, 5, layers, directions, projection)
    lengths = None if lengths is None else onp.array(lengths)
    arrays = [nd.array(a) for a in given] + ([] if lengths is None else [nd.array(lengths)])
    found = nd.RNN(*arrays, mode=mode, state_size=size, num_layers=layers, bidirectional=directions == 2, state_outputs=True,
                   use_sequence_length=lengths is not None, **({"projection_size": projection} if projection else {}))
    c = given[3] if mode == "lstm" else None
    wanted = network(mode, given[0], given[1], given[2], c, layers, directions, size, lengths, projection)
    assert len(found) == (3 if mode == "lstm" else 2)
    for one, other in zip(found, wanted):
        onp.testing.assert_allclose(one.asnumpy(), other, rtol=1e-5, atol=1e-6)


@MODES
def test_gradients_are_what_differences_of_the_numpy_network_say(mode):
    given = arguments(mode, 3, 2, 4, 3, 2, 2)
    random = onp.random.RandomState(8)
    arrays = [nd.array(a) for a in given]
    for a in arrays:
        a.attach_grad()
    with autograd.record():
        outputs = nd.RNN(*arrays, mode=mode, state_size=3, num_layers=2, bidirectional=True, state_outputs=True)
        heads = [random.uniform(-1, 1, o.shape) for o in outputs]
        total = sum((nd.array(head) * o).sum() for head, o in zip(heads, outputs))
    total.backward()

    def value(parts):
        found = network(mode, *parts[:3], parts[3] if mode == "lstm" else None, 2, 2, 3)
        return sum((head * o).sum() for head, o in zip(heads, found))
    for i, array in enumerate(arrays):
        wanted = onp.zeros(given[i].size)
        for k in range(given[i].size):
            pair = []
            for by in (1e-5, -1e-5):
                parts = [a.copy() for a in given]
                parts[i].flat[k] += by
                pair.append(value(parts))
            wanted[k] = (pair[0] - pair[1]) / 2e-5
        onp.testing.assert_allclose(array.grad.asnumpy().ravel(), wanted, rtol=1e-3, atol=1e-4)


def test_cells_stay_within_their_limits():
    given = arguments("lstm", 3, 2, 4, 3, 1, 1)
    cells = nd.RNN(*[nd.array(a * 3) for a in given], mode="lstm", state_size=3, num_layers=1, state_outputs=True,
                   lstm_state_clip_min=-0.25, lstm_state_clip_max=0.5)[2].asnumpy()
    assert cells.min() >= -0.25 and cells.max() <= 0.5 and (cells == 0.5).any()


def test_dropout_between_layers_is_of_training_alone_and_its_gradient_knows_what_it_dropped():
    given = arguments("lstm", 3, 2, 4, 3, 2, 1)
    arrays = [nd.array(a) for a in given]
    settings = dict(mode="lstm", state_size=3, num_layers=2)
    plain = nd.RNN(*arrays, **settings).asnumpy()
    assert (nd.RNN(*arrays, p=0.5, **settings).asnumpy() == plain).all()
    with autograd.record():
        kept = nd.RNN(*arrays, p=0.5, **settings).asnumpy()
    assert (kept != plain).any()
    # All are dropped: the second layer knows nothing of the data.
    arrays[0].attach_grad()
    with autograd.record():
        result = nd.RNN(*arrays, p=1, **settings)
    result.backward()
    assert (arrays[0].grad.asnumpy() == 0).all() and onp.isfinite(result.asnumpy()).all()


def test_shapes_of_parameters_and_states_follow_from_the_data():
    symbol = mx.sym.RNN(mx.sym.var("data"), mode="gru", state_size=3, num_layers=2, state_outputs=True, use_sequence_length=True, name="r")
    assert symbol.list_arguments() == ["data", "r_parameters", "r_state", "r_sequence_length"]
    assert symbol.list_outputs() == ["r_output", "r_state_output"]
    arguments_, outputs, _ = symbol.infer_shape(data=(5, 2, 4))
    assert arguments_ == [(5, 2, 4), (3 * 3 * (4 + 3 + 2) + 3 * 3 * (3 + 3 + 2),), (2, 2, 3), (2,)]
    assert outputs == [(5, 2, 3), (2, 2, 3)]


def test_no_steps_give_the_states_back():
    state = nd.array([[[1, 2, 3]]])
    found = nd.RNN(nd.zeros((0, 1, 2)), nd.zeros(3 * (2 + 3 + 2)), state, mode="rnn_tanh", state_size=3, num_layers=1, state_outputs=True)
    assert found[0].shape == (0, 1, 3) and (found[1].asnumpy() == state.asnumpy()).all()


@pytest.mark.parametrize("settings,words", [
    (dict(mode="gru", projection_size=2), "only mode 'lstm' has a projection_size"),
    (dict(mode="rnn_tanh", lstm_state_clip_min=0), "only mode 'lstm' has lstm_state_clip"),
    (dict(mode="lstm", projection_size=0), "projection_size must be above 0"), (dict(mode="elman"), "mode")])
def test_settings_that_do_not_fit_are_refused(settings, words):
    with pytest.raises(mx.MXNetError, match=words):
        mx.sym.RNN(mx.sym.var("data"), state_size=3, num_layers=1, **settings)


def test_parameters_of_another_size_are_refused_with_both_shapes():
    with pytest.raises(mx.MXNetError, match=r"'parameters' has shape \(7,\), it must be \(21,\)"):
        nd.RNN(nd.zeros((1, 1, 2)), nd.zeros(7), nd.zeros((1, 1, 3)), mode="rnn_tanh", state_size=3, num_layers=1)
    with pytest.raises(mx.MXNetError, match=r"must be \(steps, batch, inputs\)"):
        nd.RNN(nd.zeros((1, 2)), nd.zeros(21), nd.zeros((1, 1, 3)), mode="rnn_tanh", state_size=3, num_layers=1)


def test_functions_of_cells_keep_their_digits_and_bear_numbers_that_are_too_large():
    values = onp.concatenate([onp.linspace(-12, 12, 2001), [-1e30, -200, -88, 88, 200, 1e30, onp.inf, -onp.inf, 1e-20, onp.nan]])
    x = values.astype("float32").reshape(1, -1, 1)
    vector = nd.array([1, 0, 0, 0])  # the state is tanh of the data
    found = nd.RNN(nd.array(x), vector, nd.zeros((1, x.size, 1)), mode="rnn_tanh", state_size=1, num_layers=1).asnumpy().ravel()
    onp.testing.assert_allclose(found, onp.tanh(x.ravel().astype("float64")), rtol=4e-7, atol=0)
    # The update gate alone keeps the state of a gru, 1: what is left of it is a sigmoid. Others get 0 times the data.
    x = x[:, onp.isfinite(x[0, :, 0])]
    vector = nd.array([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    found = nd.RNN(nd.array(x), vector, nd.ones((1, x.size, 1)), mode="gru", state_size=1, num_layers=1).asnumpy().ravel()
    with onp.errstate(over="ignore"):
        onp.testing.assert_allclose(found, sigmoid(x.ravel().astype("float64")), rtol=1e-6, atol=1e-37)
