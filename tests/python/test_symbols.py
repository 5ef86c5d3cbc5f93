# SPDX-License-Identifier: Apache-2.0
"""Symbols: making, composing, names, attributes, inference, files, and what they compute. Expected texts and
shapes are what MXNet 1.9.1 gives."""
import copy
import inspect
import json
import pickle

import numpy as onp
import pytest

import mxnet as mx
from mxnet import sym


@pytest.fixture(autouse=True)
def names_begin_anew():
    with mx.name.NameManager():
        yield


def classifier():
    x = sym.var("data")
    x = sym.Activation(sym.FullyConnected(x, num_hidden=8, name="fc1"), act_type="relu", name="relu1")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=3, name="fc2"), name="softmax")


def operator_of(symbol):
    return json.loads(symbol.tojson())["nodes"][-1]["op"]


# ---- making and composing ----------------------------------------------------------------------
def test_inputs_that_are_left_out_become_variables():
    x, w, b = sym.var("x"), sym.var("w"), sym.var("b")
    assert sym.FullyConnected(x, num_hidden=3, name="fc").list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert sym.FullyConnected(bias=b, data=x, weight=w, num_hidden=3).list_arguments() == ["x", "w", "b"]
    assert sym.FullyConnected(x, num_hidden=3, no_bias=True, name="fc").list_arguments() == ["x", "fc_weight"]
    assert sym.FullyConnected(num_hidden=2).list_arguments() == [
        "fullyconnected1_data", "fullyconnected1_weight", "fullyconnected1_bias"]
    assert sym.Concat(x, w, b, dim=1, name="cat").list_attr() == {"num_args": "3", "dim": "1"}
    assert sym.add_n([x, w]).list_arguments() == ["x", "w"]


def test_automatic_names_count_per_operator():
    x = sym.var("x")
    symbols = [sym.FullyConnected(x, num_hidden=2), sym.FullyConnected(x, num_hidden=2), x + 1, x + x, -x, 1 - x, x / 2,
               2 / x, x ** 2, x > 1, x == x, sym.exp(x), sym.FullyConnected(x, num_hidden=2, name="own")]
    assert [item.name for item in symbols] == [
        "fullyconnected0", "fullyconnected1", "_plusscalar0", "_plus0", "_mulscalar0", "_rminusscalar0", "_divscalar0",
        "_rdivscalar0", "_powerscalar0", "_greater_scalar0", "_equal0", "exp0", "own"]


def test_prefixes_and_own_managers():
    class Numbers(mx.name.NameManager):
        def get(self, name, hint):
            return name or f"n_{hint}"

    with mx.name.Prefix("net_"):
        outer = sym.FullyConnected(sym.var("x"), num_hidden=2, name="mine")
        with mx.name.Prefix("inner_"):
            inner = sym.exp(sym.var("x"))
        assert sym.exp(sym.var("x")).name == "net_exp0"
    with Numbers():
        assert sym.exp(sym.var("x")).name == "n_exp"
    assert (outer.name, inner.name, sym.exp(sym.var("x")).name) == ("net_mine", "inner_exp0", "exp0")


@pytest.mark.parametrize("make,operator,scalar", [
    (lambda x: x + 1, "_plus_scalar", "1"), (lambda x: 1 - x, "_rminus_scalar", "1"), (lambda x: x % 2, "_mod_scalar", "2"),
    (lambda x: 2 % x, "_rmod_scalar", "2"), (lambda x: 2 ** x, "_rpower_scalar", "2"), (lambda x: -x, "_mul_scalar", "-1.0"),
    (lambda x: x * 0.5, "_mul_scalar", "0.5"), (lambda x: x <= 3, "_lesser_equal_scalar", "3"),
    (lambda x: 3 > x, "_lesser_scalar", "3"), (lambda x: sym.maximum(2, x), "_maximum_scalar", "2"),
    (lambda x: sym.pow(x, 3), "_power_scalar", "3"), (lambda x: x - x, "elemwise_sub", None), (abs, "abs", None),
    (lambda x: x * x, "elemwise_mul", None), (lambda x: x.sum(axis=0), "sum", None), (lambda x: x.reshape((2, -1)), "Reshape", None)])
def test_operators_of_python(make, operator, scalar):
    made = make(sym.var("x"))
    assert operator_of(made) == operator
    assert made.attr("scalar") == scalar


def test_variables_of_operators_begin_with_what_these_say():
    zeros, ones, quarter = '["zero", {}]', '["one", {}]', '["Constant", {"value": 0.25}]'
    assert sym.BatchNorm(sym.var("x"), name="bn").attr_dict() == {
        "bn_moving_mean": {"__init__": zeros}, "bn_moving_var": {"__init__": ones}}
    given = sym.BatchNorm(sym.var("x"), moving_mean=sym.var("mean"), moving_var=sym.var("var", init=mx.init.Zero()))
    assert given.attr_dict() == {"mean": {"__init__": zeros}, "var": {"__init__": zeros}}
    slopes = sym.LeakyReLU(sym.var("x"), act_type="prelu", name="l")
    assert slopes.attr_dict()["l_gamma"] == {"__init__": quarter, "act_type": "prelu"}
    assert sym.LeakyReLU(sym.var("x"), act_type="leaky", name="l").attr_dict() == {"l": {"act_type": "leaky"}}


@pytest.mark.parametrize("shape, weight, result", [
    ((0, 5), (4, 5), (0, 4)), ((2, 0), (4, 0), (2, 4)), ((0, 3, 4), (4, 12), (0, 4)), ((2, 0, 4), (4, 0), (2, 4))])
def test_a_product_says_what_follows_from_the_sizes_that_are_known(shape, weight, result):
    fc = sym.FullyConnected(sym.var("x"), num_hidden=4, name="fc")
    assert fc.infer_shape_partial(x=shape) == ([shape, weight, (4,)], [result], [])


@pytest.mark.parametrize("settings, shape, result", [
    ({"kernel": (2, 2), "stride": (2, 2)}, (0, 3, 8, 8), (0, 3, 4, 4)), ({"kernel": (2, 2)}, (2, 0, 8, 0), (2, 0, 7, 0)),
    ({"kernel": (1, 1), "global_pool": True}, (2, 3, 0, 8), (2, 3, 1, 1)),
    ({"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full"}, (0, 3, 8, 8), (0, 3, 4, 4))])
def test_windows_say_what_follows_from_the_sizes_that_are_known(settings, shape, result):
    assert sym.Pooling(sym.var("x"), **settings).infer_shape_partial(x=shape) == ([shape], [result], [])


def test_joined_arrays_say_what_follows_from_the_sizes_that_are_known():
    joined = sym.Concat(sym.var("a"), sym.var("b"), dim=1)
    for a, b, wanted in (((0, 3), (0, 4), ([(0, 3), (0, 4)], [(0, 7)], [])),
                         ((2, 0), (2, 4), ([(2, 0), (2, 4)], [(2, 0)], [])),
                         ((0, 3), (2, 4), ([(2, 3), (2, 4)], [(2, 7)], []))):
        assert joined.infer_shape_partial(a=a, b=b) == wanted
    with pytest.raises(mx.MXNetError, match="Concat"):
        joined.infer_shape_partial(a=(0, 3, 2), b=(0, 4, 3))
    with pytest.raises(mx.MXNetError, match="Concat"):
        joined.infer_shape_partial(a=(0, 3, 2), b=(0, 4))


def test_missing_inputs_of_a_list_are_called_as_in_mxnet():
    assert sym.Concat(num_args=2, name="c").list_arguments() == ["c_arg0", "c_arg1"]
    assert sym.add_n(num_args=2, name="c").list_arguments() == ["c_arg0", "c_arg1"]


def test_attributes_of_a_group_are_those_of_its_first_output():
    x = sym.var("x", attr={"__k__": "1"})
    fc = sym.FullyConnected(x, num_hidden=2, name="fc", attr={"__q__": "7"})
    assert sym.Group([x, fc]).list_attr() == fc.get_internals().list_attr() == {"__k__": "1"}
    assert sym.Group([fc, x]).list_attr() == {"num_hidden": "2", "__q__": "7"}
    assert sym.Group([x, fc]).attr("__k__") is None


def test_a_call_replaces_variables_of_a_copy():
    act = sym.Activation(sym.var("p"), act_type="relu", name="act")
    joined = act(p=sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc"), name="joined")
    assert (joined.name, joined.list_arguments()) == ("joined", ["x", "fc_weight", "fc_bias"])
    assert (act.name, act.list_arguments()) == ("act", ["p"])


def test_what_is_refused():
    x = sym.var("x")
    exp = sym.exp(sym.var("p"), name="e")
    cases = [
        (lambda: sym.var(3), TypeError, "Expect a string for variable `name`"),
        (lambda: sym.var("x", mood="calm"), ValueError, "Attribute name=mood is not supported"),
        (lambda: sym.var("x", attr={"a": 3}), ValueError, "Set Attr only accepts string values"),
        (lambda: exp(p=3), TypeError, "Compose expect `Symbol` as arguments"),
        (lambda: exp(nobody=x), mx.MXNetError, "nobody"),
        (lambda: exp(x, p=x), TypeError, "either as positional or keyword arguments, not both"),
        (lambda: sym.FullyConnected(3, num_hidden=2), AssertionError, "Argument data must be Symbol instances, but got 3"),
        (lambda: sym.FullyConnected(x), mx.MXNetError, "num_hidden"),
        (lambda: sym.FullyConnected(x, num_hidden="many"), mx.MXNetError, "Invalid Parameter format for num_hidden"),
        (lambda: sym.FullyConnected(x, num_hidden=2, nobody=1), mx.MXNetError, "Cannot find argument 'nobody'"),
        (lambda: sym.Group([]), TypeError, "Expected a list of symbols as input"),
        (lambda: sym.Group([x, 3]), TypeError, "Expected a list of symbols as input"),
        (lambda: bool(x), sym.NotImplementedForSymbol, "__bool__"),
        (lambda: hash(x), TypeError, "unhashable"),
        (lambda: x + "a", TypeError, "not supported"),
        (lambda: x.infer_shape(x=3), TypeError, r"Arguments need to be shapes \(tuple\), but 'x' is <class 'int'>"),
        (lambda: x.infer_shape(x=(1.5, 2)), TypeError, "no whole number: 1.5"),
        (lambda: x.infer_shape((2,), (3,)), ValueError, "2 shapes are given, but there are 1 arguments"),
        (lambda: (x + sym.var("y")).infer_shape((2,), y=(2,)), ValueError, "either by positional or kwargs way"),
        (lambda: x.infer_shape(nobody=(2,)), mx.MXNetError, "nobody"),
        (lambda: sym.load("nobody.json"), mx.MXNetError, "nobody.json"),
        (lambda: sym.load_json("{"), mx.MXNetError, "byte 1"),
        (lambda: sym.load_json(3), TypeError, "string"),
        (lambda: sym.nonsense, AttributeError, "has no attribute 'nonsense'"),
    ]
    for use, kind, text in cases:
        with pytest.raises(kind, match=text):
            use()
    with pytest.raises(sym.NotImplementedForSymbol, match="__iadd__"):
        x += 1


# ---- parts and names ---------------------------------------------------------------------------
def test_outputs_by_number_name_and_slice():
    cut = sym.SliceChannel(sym.var("x"), num_outputs=4, name="cut")
    assert len(cut) == 4 and cut.name == "cut" and repr(cut) == "<Symbol cut>"
    assert [item.list_outputs() for item in cut] == [[f"cut_output{i}"] for i in range(4)]
    assert cut[2].list_outputs() == cut["cut_output2"].list_outputs() == cut[-2].list_outputs() == ["cut_output2"]
    assert cut[0:4:2].list_outputs() == ["cut_output0", "cut_output2"]
    for wrong in (4, -5):
        with pytest.raises(IndexError):
            cut[wrong]
    with pytest.raises(ValueError, match='Cannot find output that matches name "nobody"'):
        cut["nobody"]
    group = sym.Group([sym.exp(sym.var("x"), name="e"), sym.log(sym.var("x"), name="e")])
    assert group.name is None and repr(group) == "<Symbol group [e, e]>"
    with pytest.raises(ValueError, match='There are multiple outputs with name "e_output"'):
        group["e_output"]


def test_internals_children_and_states():
    net = sym.BatchNorm(sym.FullyConnected(sym.var("x"), num_hidden=2, name="fc"), name="bn")
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_inputs() == ["x", "fc_weight", "fc_bias", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    assert net.get_internals()["fc_output"].list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert net.get_children().list_outputs() == ["fc_output", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    assert sym.var("x").get_children() is None


# ---- attributes --------------------------------------------------------------------------------
def test_attributes_of_variables_and_operators():
    x = sym.var("x", shape=(2, 0), dtype="float16", lr_mult=2, wd_mult=3, init=mx.init.Zero(), attr={"a": "b"}, __k__="v")
    assert x.list_attr() == {"__init__": '["zero", {}]', "__wd_mult__": "3", "wd_mult": "3", "__k__": "v", "__lr_mult__": "2",
                             "lr_mult": "2", "__shape__": "(2, 0)", "__dtype__": "2", "a": "b"}
    conv = sym.Convolution(sym.var("x"), kernel=(3, 3), num_filter=2, name="c", attr={"__mood__": "calm"})
    assert (conv.attr("kernel"), conv.attr("mood"), conv.attr("nobody")) == ("(3, 3)", None, None)
    assert conv.attr_dict()["c_weight"] == conv.attr_dict()["c"] == {
        "num_filter": "2", "kernel": "(3, 3)", "__mood__": "calm"}
    with pytest.raises(ValueError, match="only accepts string"):
        x._set_attr(mood=3)


def test_scopes_of_attributes():
    with mx.AttrScope(__group__="1", __x__="y"):
        first = sym.var("a")
        with mx.AttrScope(__group__="2", __more__="z"):
            inner = sym.exp(sym.var("b", attr={"__more__": "own"}), name="c")
        last = sym.var("d")
    assert first.list_attr() == last.list_attr() == {"__group__": "1", "__x__": "y"}
    assert inner.attr_dict() == {"b": {"__group__": "2", "__x__": "y", "__more__": "own"},
                                 "c": {"__group__": "2", "__x__": "y", "__more__": "z"}}
    assert sym.var("e").list_attr() == {}
    with pytest.raises(ValueError, match="string"):
        mx.AttrScope(group=1)


# ---- inference ---------------------------------------------------------------------------------
def test_shapes_and_types_are_inferred():
    net = classifier()
    expected = ([(4, 7), (8, 7), (8,), (3, 8), (3,), (4,)], [(4, 3)], [])
    assert net.infer_shape(data=(4, 7)) == expected
    assert net.infer_shape((4, 7)) == net.infer_shape(*expected[0]) == expected
    assert net.infer_type(data="float64") == ([onp.float64] * 6, [onp.float64], [])
    with pytest.warns(UserWarning, match="Cannot decide shape for the following arguments.*\n\tdata: "):
        assert net.infer_shape() == (None, None, None)
    assert sym.FullyConnected(sym.var("x"), num_hidden=3).infer_shape_partial(x=(2, 5))[1] == [(2, 3)]
    a, b = sym.var("a"), sym.var("b")
    assert (sym.relu(sym.exp(a)) + b).infer_shape(b=(2, 3)) == ([(2, 3), (2, 3)], [(2, 3)], [])
    with pytest.raises(mx.MXNetError, match="fc2"):
        net.infer_shape(data=(4, 7), fc2_weight=(6, 9))


def test_shapes_beyond_32_bits_are_inferred():
    a = sym.var("a")
    many = 2**32 + 5
    assert sym.exp(a).infer_shape(a=(many,)) == ([(many,)], [(many,)], [])
    assert sym.exp(a).infer_shape_partial((3, many))[1] == [(3, many)]
    assert sym.tile(a, reps=(8,)).infer_shape(a=(2**30,)) == ([(2**30,)], [(2**33,)], [])
    with pytest.raises(OverflowError, match="does not fit into 64 bits"):
        sym.exp(a).infer_shape(a=(2**64 + 5,))


# ---- files -------------------------------------------------------------------------------------
def test_copies_and_files_are_the_same_network(tmp_path):
    net = classifier()
    path = tmp_path / "net.json"
    net.save(path)
    for other in (sym.load(path), sym.load(str(path)), sym.load_json(net.tojson()), sym.fromjson(net.tojson()), copy.copy(net),
                  copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.tojson() == net.tojson() and other.list_arguments() == net.list_arguments()
    assert "fc1" in net.debug_str()


# ---- what is computed --------------------------------------------------------------------------
def test_symbols_are_computed_from_arrays():
    data, net = onp.random.RandomState(0), classifier()
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(4, 7))[0]))
    values = {name: data.uniform(-1, 1, shape).astype("float32") for name, shape in shapes.items()}
    hidden = onp.maximum(values["data"] @ values["fc1_weight"].T + values["fc1_bias"], 0)
    scores = onp.exp(hidden @ values["fc2_weight"].T + values["fc2_bias"])
    found, = net.eval(**{name: mx.nd.array(value) for name, value in values.items()})
    onp.testing.assert_allclose(found.asnumpy(), scores / scores.sum(axis=1, keepdims=True), rtol=1e-5)
    with pytest.raises(ValueError, match="`fc2_bias` is missing"):
        net.eval(**{name: mx.nd.array(value) for name, value in values.items() if name != "fc2_bias"})


@pytest.mark.parametrize("make,wanted", [
    (lambda: sym.zeros((2, 3)), onp.zeros((2, 3))), (lambda: sym.ones((2,), dtype="int32"), onp.ones(2)),
    (lambda: sym.full((2,), 3), onp.full(2, 3)), (lambda: sym.arange(1, 5, 2), onp.arange(1, 5, 2)),
    (lambda: sym.eye(3), onp.eye(3)), (lambda: sym.linspace(0, 1, 5), onp.linspace(0, 1, 5))])
def test_symbols_without_inputs(make, wanted):
    found, = make().eval()
    assert (found.asnumpy() == wanted.astype("float32")).all()


def test_a_cached_operator_is_called_with_arrays():
    seen = []
    op = mx._cached_op.CachedOp(sym.exp(sym.var("x"), name="e") * 2, [("static_alloc", True), ("static_shape", True)])
    x = mx.np.array([0.0, 1.0])
    x.attach_grad()
    op._register_op_hook(lambda name, operator, array: seen.append((name, operator, array.shape)))
    with mx.autograd.record():
        y = op(x)
    y.backward()
    assert isinstance(y, mx.np.ndarray) and (y.asnumpy() == x.grad.asnumpy()).all()
    onp.testing.assert_allclose(y.asnumpy(), 2 * onp.exp([0, 1]), rtol=1e-6)
    assert seen == [("e_output", "exp", (2,)), ("_mulscalar0_output", "_mul_scalar", (2,))]
    out = mx.np.zeros(2)
    assert op(x, out=out) is out and (out.asnumpy() == y.asnumpy()).all()
    with pytest.raises(TypeError, match="takes arrays, not int"):
        op(3)
    with pytest.raises(mx.MXNetError, match="0 given, 1 expected"):
        op()
    with pytest.raises(mx.MXNetError, match="(?s)Cannot find argument 'axis'.*in operator broadcast_maximum"):
        mx.nd.broadcast_maximum(x, x, axis=1)
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'mood'"):
        mx._cached_op.CachedOp(sym.var("x"), [("mood", 1)])


# ---- what is shown -----------------------------------------------------------------------------
def test_functions_have_signatures_and_documents():
    shown = inspect.signature(sym.FullyConnected).parameters
    assert list(shown) == ["data", "weight", "bias", "num_hidden", "no_bias", "flatten", "name", "attr", "out", "kwargs"]
    assert "num_hidden : int" in sym.FullyConnected.__doc__ and "Returns\n-------\nSymbol" in sym.FullyConnected.__doc__
    assert {"FullyConnected", "Variable", "var", "Group", "random"} <= set(dir(sym))
    assert operator_of(sym.random.normal(0, 1, shape=(2,))) == "_random_normal"
    assert operator_of(sym.Concat(sym.var("a"), sym.var("b"))) == "Concat"


class SymbolDifference(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] - in_data[1] * aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])
        self.assign(in_grad[1], req[1], -out_grad[0] * aux[0])


@mx.operator.register("symbol_difference")
class SymbolDifferenceProp(mx.operator.CustomOpProp):
    def __init__(self, note="none"):
        super().__init__(need_top_grad=True)

    def list_arguments(self):
        return ["data", "label"]

    def list_auxiliary_states(self):
        return ["factor"]

    def infer_shape(self, in_shape):
        return [in_shape[0], in_shape[0]], [in_shape[0]], [(1,)]

    def create_operator(self, ctx, shapes, dtypes):
        return SymbolDifference()


def test_inputs_of_a_custom_operator_have_the_names_of_its_class():
    """Whatever their order in the call; those that are missing are variables called so, as `softmax_label` of programs."""
    left, right = sym.var("l"), sym.var("r")
    for given, arguments in (({"label": left, "data": right}, ["r", "l"]), ({"label": left}, ["c_data", "l"]),
                             ({"data": left}, ["l", "c_label"]), ({}, ["c_data", "c_label"])):
        made = sym.Custom(op_type="symbol_difference", name="c", **given)
        assert made.list_arguments() == arguments and made.list_auxiliary_states() == ["c_factor"]
        assert sym.fromjson(made.tojson()).list_arguments() == arguments
    assert sym.Custom(left, op_type="symbol_difference", name="c", note=5).list_arguments() == ["l", "c_label"]
    executor = sym.Custom(label=left, data=right, op_type="symbol_difference", name="c").bind(
        mx.cpu(), {"l": mx.nd.array([1, 2]), "r": mx.nd.array([5, 5])}, aux_states={"c_factor": mx.nd.array([2])})
    assert executor.forward()[0].asnumpy().tolist() == [3, 1]
    with pytest.raises(TypeError, match="custom operator 'symbol_difference' has no input labl; its inputs are: data, label, factor"):
        sym.Custom(labl=left, op_type="symbol_difference")
    with pytest.raises(mx.MXNetError, match="expects 3 inputs, but got 4|4"):
        sym.Custom(left, left, left, left, op_type="symbol_difference")


def test_a_missing_input_of_a_custom_operator_has_its_attributes():
    made = sym.Custom(sym.var("l"), op_type="symbol_difference", name="c", note=5, attr={"__mood__": "calm"})
    attributes = made.attr_dict()
    assert attributes["c_label"] == attributes["c"] == {"op_type": "symbol_difference", "note": "5", "__mood__": "calm"}
    with mx.name.Prefix("p_"):
        assert sym.Custom(sym.var("l"), op_type="symbol_difference").list_arguments()[1].startswith("p_custom")
