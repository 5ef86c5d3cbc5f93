# SPDX-License-Identifier: Apache-2.0
"""Modules of 1.x: training, evaluation, callbacks and checkpoints give what the original gave for the same numbers."""
import json
import logging
import os
import re
from collections import namedtuple

import numpy as onp
import pytest

import mxnet as mx
from mxnet import nd, sym
from python_program import SOURCE

GOLDEN = json.loads((SOURCE / "tests/golden/expected/graphs_module_1.9.1.json").read_text(encoding="utf-8"))


def explicit_numbers(shape, salt, scale=1.0):
    """Those that the original was given: multiples of 1/64, spread by a linear congruence."""
    numbers = (onp.arange(int(onp.prod(shape)), dtype=onp.int64) * 37 + salt * 11 + 5) % 127 - 63
    return (numbers.astype("float64") / 64 * scale).reshape(shape).astype("float32")


X = explicit_numbers((40, 7), 3)
Y = (onp.arange(40) % 3).astype("float32")
X[onp.arange(40), onp.arange(40) % 3] += 2


def network():
    out = sym.var("data")
    for number, size in enumerate((8, 6, 3), 1):
        out = sym.FullyConnected(out, num_hidden=size, name=f"fc{number}")
        if number < 3:
            out = sym.Activation(out, act_type="relu", name=f"relu{number}")
    return sym.SoftmaxOutput(out, name="softmax")


def batches(rows=40, size=10):
    return mx.io.NDArrayIter(X[:rows], Y[:rows], size, label_name="softmax_label")


def parameters():
    symbol = network()
    shapes = dict(zip(symbol.list_arguments(), symbol.infer_shape(data=(10, 7))[0]))
    return {name: nd.array(explicit_numbers(shape, 2 * at, 0.3)) for at, (name, shape) in enumerate(shapes.items())
            if name not in ("data", "softmax_label")}


def bound(training=True, rows=40, **settings):
    module = mx.mod.Module(network(), context=mx.cpu())
    data = batches(rows)
    module.bind(data.provide_data, data.provide_label, for_training=training, **settings)
    module.init_params(arg_params=parameters())
    return module


def fitted(module=None, epochs=2, **settings):
    module = module or mx.mod.Module(network(), context=mx.cpu())
    module.fit(batches(), **{"eval_metric": "acc", "optimizer": "sgd", "optimizer_params": {"learning_rate": 0.5},
                             "arg_params": parameters(), "num_epoch": epochs, **settings})
    return module


def assert_golden(arrays, expected):
    assert set(arrays) == set(expected)
    for name, array in arrays.items():
        onp.testing.assert_allclose(array.asnumpy(), expected[name]["array"], rtol=3e-4, atol=1e-5, err_msg=name)


def lines(caplog):
    texts = [re.sub(r"(Speed: |Time cost=)[\d.]+", r"\1NUMBER", record.getMessage()) for record in caplog.records]
    caplog.clear()
    return [*texts, ""]


@pytest.fixture(autouse=True)
def log_of_the_training(caplog):
    caplog.set_level(logging.INFO)


@pytest.mark.parametrize("case, settings", [
    ("fit: sgd", {}), ("fit: momentum", {"optimizer_params": {"learning_rate": 0.2, "momentum": 0.9, "wd": 0.01}}),
    ("fit: adam", {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.05}}),
    ("fit: sgd", {"kvstore": None}), ("fit: sgd", {"kvstore": "device"})])
def test_fit_trains_as_the_original(case, settings, caplog):
    module, golden = fitted(**settings), GOLDEN[case]
    assert lines(caplog) == golden["log"]
    assert_golden(module.get_params()[0], golden["params"]["arg"])
    assert module.score(batches(), "acc") == [(name, pytest.approx(value)) for name, value in golden["score"]]


def test_a_batch_is_divided_among_devices():
    module = fitted(mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)]))
    assert_golden(module.get_params()[0], GOLDEN["two devices"]["arg"])
    assert [item.shape for item in module.get_outputs(merge_multi_context=False)[0]] == [(5, 3), (5, 3)]


def test_one_step_by_hand():
    module, golden = bound(), GOLDEN["forward, backward, update, outputs"]
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5})
    module.forward(next(batches()), is_train=True)
    assert_golden({"out": module.get_outputs()[0]}, {"out": golden["outputs"]})
    module.backward()
    group = module._exec_group
    assert_golden({name: arrays[0] for name, arrays in zip(group.param_names, group.grad_arrays)}, golden["gradients"])
    module.update()
    assert_golden(module.get_params()[0], golden["after"]["arg"])


def test_callbacks_are_called_and_log(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    golden, seen = GOLDEN["fit: callbacks and several metrics"], []

    def note(param):
        seen.append([param.epoch, param.nbatch, [[name, f"{value:.6g}"] for name, value in param.eval_metric.get_name_value()]])

    fitted(eval_data=batches(), eval_metric=["acc", "ce"], batch_end_callback=[mx.callback.Speedometer(10, 2), note],
           epoch_end_callback=[lambda epoch, _, arguments, states: seen.append(["epoch", epoch, sorted(arguments), sorted(states)]),
                               mx.callback.do_checkpoint("cp")],
           eval_end_callback=lambda param: seen.append(["eval end", param.epoch, param.nbatch]))
    assert lines(caplog) == golden["log"]
    for ours, theirs in zip(seen, golden["seen"], strict=True):
        if len(theirs) == 3 and theirs[0] != "eval end":
            ours[2], theirs[2] = ([[name, pytest.approx(float(value), rel=1e-4, nan_ok=True)] for name, value in item[2]]
                                  if item is theirs else [[name, float(value)] for name, value in item[2]] for item in (ours, theirs))
        assert ours == theirs
    assert sorted(os.listdir(tmp_path)) == golden["files"]


def test_bars_and_metrics_while_training(caplog):
    fitted(epochs=1, eval_data=batches(), batch_end_callback=[mx.callback.log_train_metric(2), mx.callback.ProgressBar(4, 20)],
           eval_end_callback=mx.callback.LogValidationMetricsCallback())
    assert lines(caplog) == GOLDEN["log_train_metric, ProgressBar, LogValidationMetricsCallback"]
    fitted(epochs=1, batch_end_callback=mx.callback.Speedometer(10, 1, auto_reset=False))
    assert lines(caplog) == GOLDEN["Speedometer: auto_reset off"]


def test_score_and_predict():
    module, golden = bound(training=False), GOLDEN["score and predict"]
    for (name, value), (expected_name, expected) in zip(module.score(batches(), ["acc", "ce", "ce"]), golden["score"]):
        assert name == expected_name and value == pytest.approx(expected, rel=1e-5)
    assert_golden({"out": module.predict(batches())}, {"out": golden["predict"]})
    assert module.predict(batches(), num_batch=2).shape == (20, 3)
    assert [[item.shape for item in outputs] for outputs in module.predict(batches(), merge_batches=False)] == [[(10, 3)]] * 4
    module = bound(training=False, rows=25)
    assert module.predict(batches(25)).shape == (25, 3)
    assert [(outputs[0].shape, number, batch.pad) for outputs, number, batch in module.iter_predict(batches(25))] == \
        [((10, 3), 0, 0), ((10, 3), 1, 0), ((5, 3), 2, 5)]


def test_gradients_of_the_data():
    module = bound(inputs_need_grad=True)
    module.forward(next(batches()), is_train=True)
    module.backward()
    assert_golden({"grad": module.get_input_grads()[0]}, {"grad": GOLDEN["input gradients"]})


def test_checkpoints_go_on(tmp_path):
    settings = {"optimizer_params": {"learning_rate": 0.2, "momentum": 0.9}}
    prefix, module = str(tmp_path / "cp"), fitted(**settings)
    module.save_checkpoint(prefix, 12, save_optimizer_states=True)
    assert sorted(os.listdir(tmp_path)) == ["cp-0012.params", "cp-0012.states", "cp-symbol.json"]
    again = mx.mod.Module.load(prefix, 12, load_optimizer_states=True)
    again.bind(batches().provide_data, batches().provide_label)
    again.init_params()
    again.init_optimizer(optimizer="sgd", **settings)
    onp.testing.assert_array_equal(again.predict(batches()).asnumpy(), module.predict(batches()).asnumpy())
    for trained in (module, again):
        trained.forward_backward(next(batches()))
        trained.update()
    for name, array in module.get_params()[0].items():
        onp.testing.assert_array_equal(again.get_params()[0][name].asnumpy(), array.asnumpy())
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 12)
    assert symbol.list_outputs() == ["softmax_output"] and sorted(arguments) == sorted(parameters()) and states == {}


def test_batches_of_other_sizes_and_fixed_parameters():
    module = bound()
    module.reshape([("data", (4, 7))], [("softmax_label", (4,))])
    for rows in (4, 6):
        module.forward(mx.io.DataBatch([nd.array(X[:rows])], [nd.array(Y[:rows])]))
        assert module.get_outputs()[0].shape == (rows, 3)
    module = fitted(mx.mod.Module(network(), fixed_param_names=["fc1_weight"]), epochs=1)
    onp.testing.assert_array_equal(module.get_params()[0]["fc1_weight"].asnumpy(), parameters()["fc1_weight"].asnumpy())


def test_buckets_have_the_same_parameters():
    def generate(key):
        rows = sym.sum(sym.reshape(sym.var("data"), shape=(-1, 7, key)), axis=2)
        return sym.SoftmaxOutput(sym.FullyConnected(rows, num_hidden=3, name="fc"), name="softmax"), ("data",), ("softmax_label",)

    def batch(key):
        return mx.io.DataBatch([nd.array(explicit_numbers((10, 7 * key), key))], [nd.array(Y[:10])], bucket_key=key,
                               provide_data=[("data", (10, 7 * key))], provide_label=[("softmax_label", (10,))])

    module = mx.mod.BucketingModule(generate, default_bucket_key=4)
    module.bind([("data", (10, 28))], [("softmax_label", (10,))])
    module.init_params(mx.init.Constant(0.5))
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    before = module.get_params()[0]["fc_weight"].asnumpy()
    for key in (4, 2, 4, 3):
        module.forward_backward(batch(key))
        module.update()
        assert module.get_outputs()[0].shape == (10, 3)
    assert (module.get_params()[0]["fc_weight"].asnumpy() != before).any()


def test_a_monitor_sees_operators_and_parameters(caplog):
    module, monitor = bound(), mx.mon.Monitor(2, pattern=".*fc1.*|softmax.*", sort=True)
    module.install_monitor(monitor)
    for step in range(3):
        monitor.tic()
        module.forward(next(batches()), is_train=True)
        found = monitor.toc()
        assert [name for _, name, _ in found] == (["fc1_bias", "fc1_output", "fc1_weight", "softmax_label", "softmax_output"]
                                                  if step != 1 else [])
    assert mx.mon.Monitor(1).stat_func(nd.array([3.0, 4.0, 0.0, 0.0])).asscalar() == 2.5
    fitted(monitor=mx.mon.Monitor(1, pattern="fc3_output"), epochs=1)
    assert sum("fc3_output" in line for line in lines(caplog)) == 4


def test_a_monitor_s_lines_are_those_of_the_original(caplog):
    """Names stand on the left, numbers have no more digits than their type."""
    module, monitor = bound(), mx.mon.Monitor(1, pattern="fc3_bias", stat_func=lambda array: (array * 0 + 1 / 3).max())
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(next(batches()))
    monitor.toc_print()
    assert lines(caplog) == ["Batch:       1 fc3_bias                       0.33333334\t", ""]


@pytest.mark.parametrize("call, kind, text", [
    (lambda: mx.mod.Module(network()).data_shapes, AssertionError, "bind comes first"),
    (lambda: mx.mod.Module(network()).forward(next(batches())), AssertionError, ""),
    (lambda: bound(training=False).backward(), AssertionError, "re-bind with for_training=True to run backward"),
    (lambda: bound().set_params({"fc1_weight": nd.ones((8, 7))}, {}), RuntimeError, "fc1_bias is not presented"),
    (lambda: bound().set_params({**parameters(), "fc1_weight": nd.ones((2, 2))}, {}), mx.MXNetError, r"\[?\(?2, ?2"),
    (lambda: mx.mod.Module(network()).bind([("nobody", (10, 7))]), ValueError, "Data provided by data_shapes don't match names"),
    (lambda: mx.mod.Module(network(), data_names=["nobody"]), ValueError, "Did you mean one of:\n\tdata\n\tsoftmax_label"),
    (lambda: mx.mod.Module(sym.dot(sym.var("data"), sym.var("factor")), label_names=None).bind([("data", (2, 2))]), ValueError,
     "do not say those of all parameters: factor; mx.sym.var"),
    (lambda: mx.mod.Module.load("nobody", 1), mx.MXNetError, "nobody-symbol.json"),
    (lambda: bound().fit(batches()), AssertionError, "please specify number of epochs")])
def test_wrong_uses_are_refused(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_a_second_bind_is_told(caplog):
    module = bound()
    module.bind(batches().provide_data, batches().provide_label)
    assert lines(caplog) == ["Already bound, ignoring bind()", ""]


def test_a_variable_begins_with_what_it_says():
    """Its own initialiser goes before that of init_params, also where the operator gives it."""
    weight = mx.sym.var("fc_weight", init=mx.init.Constant(2.5))
    fc = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=3, name="fc")
    module = mx.mod.Module(mx.sym.LeakyReLU(fc, act_type="prelu", name="slope"), label_names=None)
    module.bind([("data", (2, 4))])
    module.init_params(mx.init.One())
    values = {name: set(array.asnumpy().ravel().tolist()) for name, array in module.get_params()[0].items()}
    assert values == {"fc_weight": {2.5}, "fc_bias": {0.0}, "slope_gamma": {0.25}}


def test_batches_of_data_alone_are_predicted_from():
    """Anything with `data` is a batch, in all of 1.x's programs a namedtuple of that field."""
    batch, module = namedtuple("Batch", ["data"]), bound(training=False)
    module.forward(batch([nd.array(X[:10])]))
    expected = module.predict(batches()).asnumpy()
    module.forward(batch([nd.array(X[:10])]))
    onp.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), expected[:10])
    module.forward(batch([nd.array(X[:4])]))
    onp.testing.assert_allclose(module.get_outputs()[0].asnumpy(), expected[:4], rtol=1e-6)


@pytest.mark.parametrize("layout, shape, part, whole", [
    ("TNC", (3, 8, 7), (3, 4, 7), (3, 8, 7)), ("NTC", (8, 3, 7), (4, 3, 7), (8, 3, 7)), ("TC", (3, 7), (3, 7), (3, 7))])
def test_devices_divide_the_axis_that_the_layout_says(layout, shape, part, whole):
    out = sym.Activation(sym.var("data") * 2, act_type="relu", __layout__=layout, name="act")
    module = mx.mod.Module(sym.Group([out, sym.var("side") * 1]), ("data", "side"), None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([mx.io.DataDesc("data", shape, layout=layout), ("side", (8, 1))], inputs_need_grad=True)
    module.init_params()
    values, heads = explicit_numbers(shape, 1), explicit_numbers(shape, 2)
    module.forward(mx.io.DataBatch([nd.array(values), nd.ones((8, 1))]))
    module.backward([nd.array(heads), nd.ones((8, 1))])
    assert [item.shape for item in module.get_outputs(merge_multi_context=False)[0]] == [part, part]
    assert module.get_outputs()[0].shape == whole
    onp.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), onp.maximum(values * 2, 0))
    onp.testing.assert_array_equal(module.get_input_grads()[0].asnumpy(), heads * 2 * (values > 0))


def test_a_loaded_module_has_its_parameters_once_it_is_bound(tmp_path):
    module, prefix = bound(), str(tmp_path / "cp")
    module.save_checkpoint(prefix, 3)
    expected = module.predict(batches()).asnumpy()
    loaded = mx.mod.Module.load(prefix, 3)
    assert sorted(loaded.get_params()[0]) == sorted(parameters())
    loaded.bind(batches().provide_data, for_training=False)
    onp.testing.assert_array_equal(loaded.predict(batches()).asnumpy(), expected)
    trained = fitted(mx.mod.Module.load(prefix, 3), arg_params=None, epochs=1)
    for name, array in fitted(epochs=1).get_params()[0].items():
        onp.testing.assert_array_equal(trained.get_params()[0][name].asnumpy(), array.asnumpy())
    loaded.init_params(mx.init.One(), force_init=True)
    assert (loaded.get_params()[0]["fc1_weight"].asnumpy() == 1).all()


def test_a_checkpoint_of_another_network_is_told_by_parameter(tmp_path):
    prefix = str(tmp_path / "cp")
    bound().save_checkpoint(prefix, 1)
    loaded = mx.mod.Module.load(prefix, 1)
    with pytest.raises(mx.MXNetError, match=r"fc1_weight has shape \(8, 5\), what it is given has \(8, 7\)"):
        loaded.bind([("data", (10, 5))], [("softmax_label", (10,))])


def test_names_that_the_symbol_has_not_are_refused_with_allow_missing():
    module, more = bound(), {**parameters(), "fc9_weight": nd.ones((2, 2))}
    module.set_params(more, {})
    module.set_params(more, {}, allow_missing=True, allow_extra=True)
    with pytest.raises(ValueError, match='Find name "fc9_weight" that is not in the arguments'):
        module.set_params(more, {}, allow_missing=True)
    with pytest.raises(RuntimeError, match="fc1_weight is not presented"):
        module.init_params(arg_params={}, force_init=True)


def test_states_are_kept_beside_the_parameters():
    cells = mx.rnn.SequentialRNNCell()
    for number in range(2):
        cells.add(mx.rnn.LSTMCell(num_hidden=4, prefix=f"lstm_l{number}_"))
    begin = cells.begin_state(func=sym.Variable)
    _, states = cells.unroll(3, begin_state=begin, inputs=sym.var("data"))
    names = [item.name for item in begin]
    module = mx.mod.Module(sym.Group(states), label_names=None, context=[mx.cpu(0), mx.cpu(1)], state_names=names)
    module.bind([("data", (5, 3, 2))], for_training=False)
    module.init_params(mx.init.One())
    assert not set(names) & set(module.get_params()[0])
    assert [item.asnumpy().any() for item in module.get_states()] == [False] * 4
    batch = mx.io.DataBatch([nd.array(explicit_numbers((5, 3, 2), 3))])
    module.set_states(value=1)
    module.forward(batch)
    first = module.get_outputs()
    for given in (module.get_outputs(merge_multi_context=False), first):
        module.set_states(states=given)
        assert [item.shape for item in module.get_states()] == [(5, 4)] * 4
        onp.testing.assert_array_equal(module.get_states()[1].asnumpy(), first[1].asnumpy())
    module.forward(batch)
    assert (module.get_outputs()[1].asnumpy() != first[1].asnumpy()).all()
    for settings, text in (({}, "states or a value"), ({"states": first[:1]}, "1 states are given, there are 4")):
        with pytest.raises(ValueError, match=text):
            module.set_states(**settings)


@pytest.mark.parametrize("request_of, expected", [
    ("add", [2, 2]), ({"fc_weight": "add", "fc_bias": "null"}, [2, None]), ({"fc_weight": "null"}, [None, 1]),
    (["null", "add", "write"], [2, 1])])
def test_gradients_do_what_grad_req_says_of_each(request_of, expected):
    module = mx.mod.Module(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), label_names=None)
    module.bind([("data", (1, 2))], grad_req=request_of)
    module.init_params(mx.init.One())
    for _ in range(2):
        module.forward(mx.io.DataBatch([nd.ones((1, 2))]), is_train=True)
        module.backward([nd.ones((1, 2))])
    found = [item[0] if item[0] is None else item[0].asnumpy().max() for item in module._exec_group.grad_arrays]
    assert found == expected


def test_names_of_labels_that_the_symbol_has_not_are_told():
    with pytest.warns(UserWarning, match="'lable' is not found in symbol.list_arguments.*\n\tdata\n\tsoftmax_label"):
        mx.mod.Module(network(), label_names=["lable"])
    with pytest.raises(ValueError, match=r"state_names=\['h'\]"):
        mx.mod.Module(network(), state_names=["h"])


def lengths(key):
    """A network for sequences of `key` numbers, with the parameters of all others."""
    rows = sym.sum(sym.Embedding(sym.var("data"), input_dim=5, output_dim=3, name="embed"), axis=1)
    return sym.SoftmaxOutput(sym.FullyConnected(rows, num_hidden=2, name="fc"), name="softmax"), ("data",), ("softmax_label",)


def length_batch(key, rows=2):
    return mx.io.DataBatch([nd.ones((rows, key))], [nd.zeros(rows)], bucket_key=key, provide_data=[("data", (rows, key))],
                           provide_label=[("softmax_label", (rows,))])


def bucketed():
    module = mx.mod.BucketingModule(lengths, default_bucket_key=4)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    return module


def trained(module, *keys, rows=2):
    for key in keys:
        module.forward_backward(length_batch(key, rows))
        module.update()
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


def test_a_monitor_sees_buckets_that_come_later():
    module, monitor = bucketed(), mx.mon.Monitor(1, pattern="fc_output")
    module.install_monitor(monitor)
    for key in (4, 2, 4, 3):
        monitor.tic()
        module.forward(length_batch(key))
        assert [name for _, name, _ in monitor.toc()] == ["fc_output"], key


def test_buckets_that_are_bound_anew_keep_parameters_and_optimizer():
    module, other = bucketed(), bucketed()
    trained(module, 4, 2)
    before = trained(other, 4, 2)
    module.bind([("data", (4, 4))], [("softmax_label", (4,))], force_rebind=True)
    for name, array in module.get_params()[0].items():
        onp.testing.assert_array_equal(array.asnumpy(), before[name])
    other.forward(length_batch(3))
    module.forward(length_batch(3, rows=4))
    onp.testing.assert_allclose(module.get_outputs()[0].asnumpy()[:2], other.get_outputs()[0].asnumpy(), rtol=1e-6)
    assert (trained(module, 3, rows=4)["fc_weight"] != before["fc_weight"]).any()


def test_parameters_of_buckets_are_saved_and_read(tmp_path):
    module, prefix = bucketed(), str(tmp_path / "cp")
    values = trained(module, 4, 2)
    module.save_checkpoint(prefix, 7)
    again = mx.mod.BucketingModule.load(prefix, 7, sym_gen=lengths, default_bucket_key=4)
    again.bind([("data", (2, 4))], [("softmax_label", (2,))])
    again.init_params(mx.init.One())
    module.save_params(str(tmp_path / "alone"))
    fresh = bucketed()
    fresh.load_params(str(tmp_path / "alone"))
    for other in (again, fresh):
        assert {name: array.asnumpy().tolist() for name, array in other.get_params()[0].items()} == \
            {name: array.tolist() for name, array in values.items()}
    for wrong in ({"default_bucket_key": 4}, {"sym_gen": lengths}):
        with pytest.raises((ValueError, AssertionError), match="sym_gen|default_bucket_key"):
            mx.mod.BucketingModule.load(prefix, 7, **wrong)


def after_one_epoch(optimizer):
    module = mx.mod.Module(sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="f"), name="softmax"))
    data = mx.io.NDArrayIter(onp.ones((4, 2)), onp.zeros(4), 2)
    module.fit(data, num_epoch=1, optimizer=optimizer, arg_params={"f_weight": nd.ones((2, 2)), "f_bias": nd.ones(2)})
    return {name: array.asnumpy().astype("float64").round(4).tolist() for name, array in module.get_params()[0].items()}


def test_an_optimizer_of_ones_own_decays_what_it_says():
    """The numbers are 1.9.1's. Without names at its making all parameters decay; multipliers go by the module's names."""
    settings = {"learning_rate": 0.1, "wd": 0.5, "rescale_grad": 0.5}
    assert after_one_epoch(mx.optimizer.SGD(**settings)) == {
        "f_weight": [[0.9926, 0.9926], [0.8124, 0.8124]], "f_bias": [0.9926, 0.8124]}
    multiplied = mx.optimizer.SGD(**settings)
    multiplied.set_lr_mult({"f_weight": 0})
    multiplied.set_wd_mult({"f_bias": 2.0})
    assert after_one_epoch(multiplied) == {"f_weight": [[1, 1], [1, 1]], "f_bias": [0.9025, 0.7175]}
    named = mx.optimizer.SGD(param_idx2name={0: "f_weight", 1: "f_bias"}, **settings)
    named.set_lr_mult({"f_weight": 0})
    assert after_one_epoch(named) == {"f_weight": [[1, 1], [1, 1]], "f_bias": [1.0975, 0.9025]}
    with pytest.warns(UserWarning, match=r"its rescale_grad is 1.0, not 1 / 2: gradients are sums over a batch"):
        after_one_epoch(mx.optimizer.SGD(learning_rate=0.1))


def test_a_step_asks_for_the_names_of_its_network_a_few_times(monkeypatch):
    """Not once for each parameter: of 400 an update took 175 ms."""
    asked = []
    plain = sym.Symbol.list_arguments
    monkeypatch.setattr(sym.Symbol, "list_arguments", lambda self: asked.append(1) or plain(self))
    counts = []
    for layers in (3, 30):
        out = sym.var("data")
        for number in range(layers):
            out = sym.FullyConnected(out, num_hidden=2, name=f"fc{number}")
        module = mx.mod.Module(sym.SoftmaxOutput(out, name="softmax"))
        asked.clear()
        module.bind([("data", (2, 2))], [("softmax_label", (2,))])
        module.init_params(mx.init.One())
        module.init_optimizer()
        for _ in range(3):
            module.forward_backward(mx.io.DataBatch([nd.ones((2, 2))], [nd.zeros(2)]))
            module.update()
        module.get_params()
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 10
    executor = module._exec_group.execs[0]
    assert executor.arg_dict is executor.arg_dict and executor.arg_dict["fc3_bias"] is executor.arg_arrays[8]
