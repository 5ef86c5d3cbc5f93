# SPDX-License-Identifier: Apache-2.0
"""Optimizers, schedules and initialisers against their formulas in NumPy."""
import logging
import math

import numpy as onp
import pytest

import mxnet as mx
from mxnet import lr_scheduler, optimizer
from mxnet.optimizer import text as texts

START = onp.array([0.5, -1.0, 2.0, 0.0])
GRADIENTS = [onp.array([0.1, -0.4, 3.0, 0.0]) * (1 + step) for step in range(4)]
RATE, DECAY, SCALE, CLIP = 0.1, 0.01, 0.5, 0.9


def sgd(w, g, s, t):
    return w - RATE * g


def momentum(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) - RATE * g
    return w + s["m"]


def nesterov(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) + g
    return w - RATE * (g + 0.9 * s["m"])


def adam(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    rate = RATE * math.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
    return w - rate * s["m"] / (onp.sqrt(s["v"]) + 1e-8)


def rmsprop(w, g, s, t):
    s["n"] = 0.8 * s.get("n", 0) + 0.2 * g * g
    return w - RATE * g / onp.sqrt(s["n"] + 1e-8)


def centered(w, g, s, t):
    s["n"] = 0.8 * s.get("n", 0) + 0.2 * g * g
    s["g"] = 0.8 * s.get("g", 0) + 0.2 * g
    s["d"] = 0.7 * s.get("d", 0) - RATE * g / onp.sqrt(s["n"] - s["g"] ** 2 + 1e-8)
    return w + s["d"]


def signum(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) - 0.1 * g
    return w * (1 - RATE * 0.2) + RATE * onp.sign(s["m"])


def signs(w, g, s, t):
    return w * (1 - RATE * DECAY) - RATE * onp.sign(g)


def ftrl(w, g, s, t):
    before = s.get("n", 0)
    s["n"] = before + g * g
    s["z"] = s.get("z", 0) + g - (onp.sqrt(s["n"]) - onp.sqrt(before)) * w / RATE
    next_weight = (onp.sign(s["z"]) * 0.3 - s["z"]) / ((0.5 + onp.sqrt(s["n"])) / RATE + DECAY)
    return onp.where(abs(s["z"]) > 0.3, next_weight, 0)


def ftml(w, g, s, t):
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    scale = (1 - 0.5 ** t) / RATE * (onp.sqrt(s["v"] / (1 - 0.999 ** t)) + 1e-4)
    s["z"] = 0.5 * s.get("z", 0) + 0.5 * g - (scale - 0.5 * s.get("d", 0)) * w
    s["d"] = scale
    return -s["z"] / scale


def lamb(w, g, s, t):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
    direction = s["m"] / (1 - 0.9 ** t) / (onp.sqrt(s["v"] / (1 - 0.99 ** t)) + 1e-3) + DECAY * w
    return w - RATE * min(onp.linalg.norm(w), 2) / onp.linalg.norm(direction) * direction


OPTIMIZERS = {
    "sgd": ({}, sgd),
    "SGD": ({"momentum": 0.9}, momentum),
    "nag": ({"momentum": 0.9}, nesterov),
    "adam": ({}, adam),
    "rmsprop": ({"rho": 0.8}, rmsprop),
    "lamb": ({"beta2": 0.99, "epsilon": 1e-3, "upper_bound": 2}, lamb),
    "signum": ({"momentum": 0.9, "wd_lh": 0.2}, signum),
    "Signum": ({"momentum": 0}, signs),
    "ftrl": ({"lamda1": 0.3, "beta": 0.5}, ftrl),
    "ftml": ({"beta1": 0.5, "epsilon": 1e-4}, ftml),
    "RMSProp": ({"gamma1": 0.8, "gamma2": 0.7, "centered": True}, centered),
}


@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_follow_their_formulas(name, kind):
    settings, reference = OPTIMIZERS[name]
    chosen = optimizer.create(name, learning_rate=RATE, wd=DECAY, rescale_grad=SCALE,
                              clip_gradient=CLIP, **settings)
    weight = kind.array(START, dtype="float32")
    state = chosen.create_state(0, weight)
    wanted, kept = START.copy(), {}
    for step, gradient in enumerate(GRADIENTS):
        chosen.update(0, weight, kind.array(gradient, dtype="float32"), state)
        if reference in (signs, ftrl, lamb):  # the decay is not in the gradient
            applied = onp.clip(SCALE * gradient, -CLIP, CLIP)
        elif reference in (adam, rmsprop, centered, ftml):
            applied = onp.clip(SCALE * gradient + DECAY * wanted, -CLIP, CLIP)
        else:
            applied = onp.clip(SCALE * gradient, -CLIP, CLIP) + DECAY * wanted
        wanted = reference(wanted, applied, kept, step + 1)
        # Where the gradient is 0 and so is its mean square, all that is left is rounding.
        onp.testing.assert_allclose(weight.asnumpy(), wanted, rtol=2e-4, atol=2e-5)
    assert chosen.update_count(0) == chosen.num_update == len(GRADIENTS)


@pytest.mark.parametrize("name, settings", [
    ("adam", {}), ("ftrl", {"lamda1": 0.0}), ("lamb", {}), ("lamb", {"aggregate_num": 1}), ("signum", {"momentum": 0})])
def test_a_float32_copy_is_what_steps(tmp_path, name, settings):
    """The weights are those of float32, rounded; states are saved and read with the copy."""
    weights, updaters = [], []
    for dtype in ("float16", "float32"):
        chosen = optimizer.create(name, learning_rate=1e-3, multi_precision=True, **settings)
        updaters.append(optimizer.get_updater(chosen))
        weights.append(mx.nd.array([1.0, -0.5, 0.25], dtype=dtype))
    for step in range(6):
        for place, weight in enumerate(weights):
            updater = updaters[place]
            updater([0], [mx.nd.array([0.5, 0.25, -1.0], dtype=weight.dtype)], [weight])
            updater.save(str(tmp_path / "states"))
            updater.load(str(tmp_path / "states"))
    exact, _ = updaters[0].states[0]
    assert exact.asnumpy() == pytest.approx(weights[1].asnumpy(), rel=1e-6)
    assert (weights[0].asnumpy() == exact.asnumpy().astype("float16")).all()


@pytest.mark.parametrize("kind", ["sgd", "nag"])
@pytest.mark.parametrize("speed", [0, 0.9])
def test_halves_keep_an_exact_copy(kind, speed):
    """Steps that float16 is too coarse for add up in the copy."""
    exact, coarse = [optimizer.create(kind, learning_rate=1e-4, momentum=speed, multi_precision=on)
                     for on in (True, False)]
    ones = mx.nd.ones((3,), dtype="float16")
    ends = []
    for chosen in (exact, coarse):
        weight = mx.nd.ones((3,), dtype="float16")
        state = chosen.create_state(0, weight)
        for _ in range(3):
            chosen.update(0, weight, ones, state)
        ends.append(float(weight.asnumpy()[0]))
    assert ends[0] < 1 and (speed or ends[1] == 1)
    assert optimizer.SGD(multi_precision=True).create_state(0, mx.nd.ones((3,))) == ()


def told(monkeypatch, sizes, dtypes, **settings):
    """Indices that one call of an SGD gets from an updater, for weights of these types."""
    for name, text in sizes.items():
        monkeypatch.setenv(name, text)
    chosen = optimizer.SGD(**settings)
    calls = []
    monkeypatch.setattr(chosen, "update", lambda index, *_: calls.append(index))
    arrays = [mx.nd.ones((2,), dtype=dtype) for dtype in dtypes]
    optimizer.get_updater(chosen)(list(range(len(arrays))), arrays, arrays)
    return calls


@pytest.mark.parametrize("size, settings, calls", [
    ({}, {}, [[0, 1, 2, 3], [4, 5]]),
    ({"MXNET_OPTIMIZER_AGGREGATION_SIZE": "3"}, {}, [[0, 1, 2], [3, 4, 5]]),
    ({"MXNET_OPTIMIZER_AGGREGATION_SIZE": "3"}, {"aggregate_num": 6}, [[0, 1, 2, 3, 4, 5]]),
    ({"MXNET_OPTIMIZER_AGGREGATION_SIZE": "1"}, {}, [0, 1, 2, 3, 4, 5]),
    ({"MXNET_OPTIMIZER_AGGREGATION_SIZE": "0"}, {}, [0, 1, 2, 3, 4, 5]),
])
def test_weights_are_updated_in_groups(monkeypatch, size, settings, calls):
    assert told(monkeypatch, size, ["float32"] * 6, **settings) == calls


def test_a_group_has_weights_of_one_type(monkeypatch):
    types = ["float32", "float16", "float32", "float16", "float32"]
    assert told(monkeypatch, {}, types, multi_precision=True) == [[0, 2, 4], [1, 3]]


def test_numpys_arrays_are_updated_one_by_one(monkeypatch):
    with mx.util.np_array(True):
        assert told(monkeypatch, {}, ["float32"] * 2) == [0, 1]


def test_a_size_of_groups_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "many")
    with pytest.raises(ValueError, match="AGGREGATION_SIZE='many'"):
        optimizer.SGD()


def test_an_optimizer_of_ones_own_gets_lists_if_it_asks(monkeypatch):
    class Mine(optimizer.Optimizer):
        def __init__(self):
            super().__init__()
            self.aggregate_num = 2
            self.calls = []

        def update(self, index, weight, grad, state):
            self._update_count(index)
            self.calls.append(index)

    mine, arrays = Mine(), [mx.nd.ones((1,))] * 3
    optimizer.get_updater(mine)([0, 1, 2], arrays, arrays)
    assert mine.calls == [[0, 1], [2]] and [mine.update_count(index) for index in range(3)] == [1, 1, 1]


def test_rates_and_decays_of_parameters():
    class Multiplied:
        lr_mult, wd_mult = 2.0, 0.0

    chosen = optimizer.SGD(learning_rate=0.1, wd=0.5, param_dict={1: Multiplied()})
    for index, wanted in ((0, 2 - 0.1 * (1 + 0.5 * 2)), (1, 2 - 0.2)):
        weight = mx.nd.array([2.0])
        chosen.update(index, weight, mx.nd.ones((1,)), chosen.create_state(index, weight))
        assert weight.asscalar() == pytest.approx(wanted)


def test_wrong_optimizers_are_refused():
    with pytest.raises(ValueError, match="no optimizer 'sdg'; did you mean 'sgd'. There are adam, ftml, ftrl, lamb, lars, nag, rmsprop, "
                                         "sgd, signum"):
        optimizer.create("sdg")
    with pytest.raises(TypeError, match="SGD has no option momentun; there are aggregate_num, begin_num_update, "
                                         "clip_gradient, .*, momentum, .*, wd$"):
        optimizer.create("sgd", momentun=0.9)
    scheduled = optimizer.SGD(lr_scheduler=lr_scheduler.FactorScheduler(1, 0.5))
    with pytest.raises(UserWarning, match="lr_scheduler sets the learning rate"):
        scheduled.set_learning_rate(1)


SCHEDULES = {
    "factor": (lr_scheduler.FactorScheduler(3, 0.5, base_lr=1),
               {1: 1, 3: 1, 4: 0.5, 7: 0.25, 200: 1e-8}),
    "factors": (lr_scheduler.MultiFactorScheduler([2, 5], 0.1, base_lr=1),
                {2: 1, 3: 0.1, 5: 0.1, 6: 0.01}),
    "polynomial": (lr_scheduler.PolyScheduler(10, base_lr=1, pwr=2, final_lr=0.2),
                   {0: 1, 5: 0.2 + 0.8 * 0.25, 10: 0.2, 11: 0.2}),
    "cosine": (lr_scheduler.CosineScheduler(10, base_lr=1),
               {0: 1, 5: 0.5, 10: 0}),
    "cosine by place": (lr_scheduler.CosineScheduler(10, 1, 0.2), {0: 1, 5: 0.6, 10: 0.2}),
    "warm-up": (lr_scheduler.CosineScheduler(14, base_lr=1, warmup_steps=4, warmup_begin_lr=0.2),
                {0: 0.2, 2: 0.6, 4: 1, 9: 0.5}),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    schedule, rates = SCHEDULES[name]
    assert {at: schedule(at) for at in rates} == pytest.approx(rates)


def test_a_schedule_counts_updates():
    chosen = optimizer.SGD(learning_rate=1.0, lr_scheduler=lr_scheduler.FactorScheduler(2, 0.5))
    weight = mx.nd.zeros((1,))
    for _ in range(5):
        chosen.update(0, weight, mx.nd.ones((1,)), ())
    assert weight.asscalar() == pytest.approx(-(1 + 1 + 0.5 + 0.5 + 0.25))


@pytest.mark.parametrize("name", ["sgd", "nag", "adam", "rmsprop"])
def test_the_rate_of_a_schedule_counts_unless_another_is_given(name):
    schedule = lr_scheduler.MultiFactorScheduler([2], 0.5, base_lr=0.7)
    assert optimizer.create(name, lr_scheduler=schedule).learning_rate == 0.7
    assert optimizer.create(name, learning_rate=0.3, lr_scheduler=schedule).learning_rate == 0.3


def test_rates_that_nobody_gave():
    rates = {"sgd": 0.1, "nag": 0.1, "adam": 0.001, "rmsprop": 0.001, "ftrl": 0.1, "ftml": 0.0025, "signum": 0.01,
             "lamb": 0.001}
    assert {name: optimizer.create(name).learning_rate for name in rates} == rates


def test_an_updater_keeps_the_states_of_each_weight():
    updater = optimizer.get_updater(optimizer.SGD(learning_rate=0.1, momentum=0.9))
    weights = [mx.nd.zeros((1,)), mx.nd.zeros((1,))]
    for _ in range(2):
        updater(0, mx.nd.ones((1,)), weights[0])
        updater([1], [3 * mx.nd.ones((1,))], [weights[1]])
    assert [weight.asscalar() for weight in weights] == pytest.approx([-0.29, -0.87])
    assert [updater.states[i][0].asscalar() for i in (0, 1)] == pytest.approx([-0.19, -0.57])


def test_wrong_schedules_are_refused():
    for make in (lambda: lr_scheduler.FactorScheduler(0), lambda: lr_scheduler.FactorScheduler(1, 2),
                 lambda: lr_scheduler.MultiFactorScheduler([3, 2]),
                 lambda: lr_scheduler.MultiFactorScheduler([]),
                 lambda: lr_scheduler.MultiFactorScheduler(3),
                 lambda: lr_scheduler.MultiFactorScheduler([0, 1]),
                 lambda: lr_scheduler.PolyScheduler(0), lambda: lr_scheduler.CosineScheduler(-1),
                 lambda: lr_scheduler.FactorScheduler(2, warmup_steps=-2),
                 lambda: lr_scheduler.FactorScheduler(2, warmup_steps=2, warmup_begin_lr=5.0),
                 lambda: lr_scheduler.PolyScheduler(3, warmup_mode="steep")):
        with pytest.raises(ValueError):
            make()


# ---- initialisers --------------------------------------------------------------------------------
BOUNDS = {  # the largest value of an array (30, 40), or its deviation
    "uniform": (mx.init.Uniform(0.2), "bound", 0.2),
    "normal": (mx.init.Normal(0.3), "deviation", 0.3),
    "xavier": (mx.init.Xavier(), "bound", math.sqrt(3 / 35)),
    "xavier in": (mx.init.Xavier("gaussian", "in", 2), "deviation", math.sqrt(2 / 40)),
    "xavier out": (mx.init.Xavier(factor_type="out", magnitude=6), "bound", math.sqrt(6 / 30)),
    "msra": (mx.init.MSRAPrelu(), "deviation", math.sqrt(2 / (1 + 0.0625) / 35)),
}


@pytest.mark.parametrize("kind", [mx.nd, mx.np], ids=["nd", "np"])
@pytest.mark.parametrize("name", BOUNDS)
def test_random_initialisers(name, kind):
    init, measure, wanted = BOUNDS[name]
    mx.random.seed(5)
    array = kind.zeros((30, 40))
    init("weight", array)
    values = array.asnumpy()
    assert abs(values.mean()) < 0.1 * wanted
    found = abs(values).max() if measure == "bound" else values.std()
    assert found == pytest.approx(wanted, rel=0.1)
    if measure == "bound":
        assert found <= wanted


def test_other_initialisers():
    array = mx.nd.zeros((3, 4))
    mx.init.Orthogonal(2.0)("weight", array)
    onp.testing.assert_allclose(array.asnumpy() @ array.asnumpy().T, 4 * onp.eye(3), atol=1e-5)
    mx.init.create("ones")("weight", array)
    assert array.asnumpy().min() == 1
    mx.init.Constant(onp.arange(12).reshape(3, 4))("weight", array)
    assert array.asnumpy()[2].tolist() == [8, 9, 10, 11]
    mixed = mx.init.Mixed(["a.*", ".*"], [mx.init.Zero(), mx.init.Constant(3)])
    mixed("b_weight", array)
    assert array.asnumpy().max() == 3
    mixed("a_weight", array)
    assert array.asnumpy().max() == 0
    with pytest.raises(ValueError, match="no initializer 'x'; there are constant, fusedrnn, lstmbias"):
        mx.init.create("x")
    with pytest.raises(ValueError, match="at least two dimensions"):
        mx.init.Xavier()("weight", mx.nd.zeros((3,)))


def test_names_decide_for_biases_and_statistics():
    array = mx.nd.ones((2,)) * 5
    for name, wanted in (("dense0_bias", 0), ("bn_gamma", 1), ("bn_running_var", 1), ("x_beta", 0)):
        mx.init.Normal()(name, array)
        assert array.asnumpy().tolist() == [wanted] * 2


class Marked(mx.init.Initializer):
    """As a program's own: the values say which method filled the array, and the names are kept."""

    def __init__(self):
        self.names = []

    def _init_weight(self, name, data):
        self.names.append(name)
        data[:] = 7

    def _init_bias(self, name, data):
        data[:] = 8


def test_ones_own_initialiser():
    net = mx.gluon.nn.Sequential(prefix="net_")
    net.add(mx.gluon.nn.Dense(2, in_units=3, bias_initializer=None), mx.gluon.nn.BatchNorm(in_channels=2))
    init = Marked()
    net.initialize(init)
    found = {name: parameter.data().asnumpy().max() for name, parameter in net.collect_params().items()}
    assert found == {"0.weight": 7, "0.bias": 8, "1.gamma": 1, "1.beta": 0, "1.running_mean": 0,
                     "1.running_var": 1}
    assert init.names == ["net_dense0_weight"]
    own = mx.gluon.Parameter("the_bias", shape=(2,), init=Marked())
    own.initialize()
    assert own.data().asnumpy().max() == 7  # a parameter's own initialiser is asked whatever the name


def test_an_initialiser_without_values_says_what_it_lacks():
    class Empty(mx.init.Initializer):
        pass

    with pytest.raises(NotImplementedError, match=r"Empty must give _init_weight\(name, array\)"):
        mx.gluon.nn.Dense(2, in_units=3).initialize(Empty())


@mx.optimizer.Optimizer.register
class SumOfSquares(mx.optimizer.Optimizer):
    """As programs for MXNet write one: the state is a single array."""

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape, weight.context)

    def update(self, index, weight, grad, state):
        self._update_count(index)
        rate, decay = self._get_lr(index), self._get_wd(index)
        grad = grad * self.rescale_grad
        state[:] += grad * grad
        weight[:] = weight - rate * (grad / (state.sqrt() + 1e-7) + decay * weight)


def stepped(trainer, net, steps=1):
    x = mx.nd.array([[1.0, -2.0, 3.0], [0.5, 4.0, 1.0]])
    for _ in range(steps):
        with mx.autograd.record():
            y = (net(x) ** 2).sum()
        y.backward()
        trainer.step(2)
    return net.weight.data().asnumpy()


def test_ones_own_optimizer(tmp_path):
    def made():
        net = mx.gluon.nn.Dense(1, in_units=3, use_bias=False)
        net.initialize(mx.init.One())
        net.weight.lr_mult = 0.5
        schedule = mx.lr_scheduler.FactorScheduler(1, 0.5)
        return net, mx.gluon.Trainer(net.collect_params(), "sumofsquares", {
            "learning_rate": 0.2, "wd": 0.1, "lr_scheduler": schedule})

    net, trainer = made()
    x, weight, state = onp.array([[1, -2, 3], [0.5, 4, 1]]), onp.ones((1, 3)), 0
    for step in range(3):
        gradient = 2 * (x @ weight.T).T @ x / 2
        state = state + gradient ** 2
        rate = 0.5 * 0.2 * 0.5 ** step
        weight = weight - rate * (gradient / (onp.sqrt(state) + 1e-7) + 0.1 * weight)
        onp.testing.assert_allclose(stepped(trainer, net), weight, rtol=1e-4)
        if step == 1:
            trainer.save_states(fname=str(tmp_path / "states"))
            net.save_parameters(str(tmp_path / "net"))
    other, again = made()
    other.load_parameters(str(tmp_path / "net"))
    again.load_states(fname=str(tmp_path / "states"))
    onp.testing.assert_allclose(stepped(again, other), weight, rtol=1e-4)
    assert isinstance(mx.optimizer.Optimizer.create_optimizer("sumofsquares"), SumOfSquares)


def decays(optimizer, count=4):
    return [optimizer._get_wd(index) for index in range(count)], [optimizer._get_lr(index) for index in range(count)]


def test_multipliers_are_set_by_name_or_index():
    made = mx.optimizer.SGD(learning_rate=0.5, wd=0.25, param_idx2name={0: "f_weight", 1: "f_bias", 2: "q_gamma"})
    assert decays(made) == ([0.25, 0, 0.25, 0.25], [0.5] * 4)
    made.set_wd_mult({"f_weight": 2.0, 3: 4.0})
    made.set_lr_mult({"f_bias": 0.0, 2: 2.0})
    assert decays(made) == ([0.5, 0, 0.25, 1.0], [0.5, 0, 1.0, 0.5])
    sent = texts.optimizer_from_text(texts.optimizer_text(made))
    assert decays(sent) == decays(made)
    unnamed = mx.optimizer.SGD(learning_rate=0.5, wd=0.25)
    unnamed.idx2name = {0: "f_weight", 1: "f_bias"}
    assert decays(unnamed) == ([0.25] * 4, [0.5] * 4)
    assert decays(texts.optimizer_from_text(texts.optimizer_text(unnamed))) == decays(unnamed)


def test_states_of_an_updater_go_to_another():
    first, second = (mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.5)) for _ in range(2))
    weight, other = mx.nd.ones((3,)), mx.nd.ones((3,))
    for step in range(2):
        first("w", mx.nd.array([1, 2, -1]) * (step + 1), weight)
    weight.copyto(other)
    second.set_states(first.get_states(dump_optimizer=True))
    assert second.optimizer.update_count("w") == 2 and second.optimizer is not first.optimizer
    for updater, array in ((first, weight), (second, other)):
        updater("w", mx.nd.array([3, 2, 1]), array)
    onp.testing.assert_array_equal(weight.asnumpy(), other.asnumpy())
    third = mx.optimizer.get_updater(mx.optimizer.SGD())
    third.set_states(first.get_states())
    assert isinstance(third.optimizer, mx.optimizer.SGD) and list(third.states) == ["w"]


@pytest.mark.parametrize("schedule, updates", [
    (lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0), {3: 0.5, 5: 0.25}),
    (lr_scheduler.MultiFactorScheduler([1, 4], 0.1, base_lr=1.0), {2: 0.1, 5: 0.01}),
    (lr_scheduler.PolyScheduler(8, base_lr=1.0), {})])
def test_drops_of_a_rate_are_logged_once(schedule, updates, caplog):
    caplog.set_level(logging.INFO)
    updater, weight = optimizer.get_updater(optimizer.SGD(lr_scheduler=schedule)), mx.nd.ones(2)
    for _ in range(6):
        updater("w", mx.nd.ones(2), weight)
    assert caplog.messages == [f"Update[{number}]: Change learning rate to {rate:0.5e}" for number, rate in updates.items()]
