# SPDX-License-Identifier: Apache-2.0
"""The functions made from the registry: signatures, documentation, arguments, errors."""
import inspect
import os
import pickle
import pydoc
import re
import subprocess
import sys

import numpy as onp
import pytest

import mxnet as mx
from mxnet import _functions


def test_every_operator_can_be_looked_up():
    for module in (mx.nd, mx.np, mx.npx, mx.nd.linalg, mx.nd.contrib, mx.nd.image, mx.nd.sparse,
                   mx.nd.random, mx.nd._internal):
        for name in dir(module):
            assert hasattr(module, name)
    assert "_plus_scalar" not in dir(mx.nd) and "_plus_scalar" in dir(mx.nd._internal)


def test_help_is_complete():
    text = pydoc.plain(pydoc.render_doc(mx.nd.Convolution))
    for word in ("kernel=<required>", "stride=()", "num_group=1", "no_bias=False", "layout=None",
                 "weight : array", "num_filter : int (non-negative), required", "Returns",
                 "out=None"):
        assert word in text
    signature = inspect.signature(mx.nd.Convolution)
    assert list(signature.parameters)[:4] == ["data", "weight", "bias", "kernel"]
    assert list(signature.parameters)[-2:] == ["out", "name"]


def operators_functions():
    """The functions that are made from the registry, with the names under which programs find them."""
    for module in (mx.nd, mx.np, mx.npx, mx.nd.linalg, mx.nd.contrib, mx.nd.image, mx.nd.sparse, mx.nd.random):
        for name in dir(module):
            function = getattr(module, name)
            if "_info" in getattr(function, "__globals__", {}):
                yield f"{module.__name__}.{name}", function


def test_every_parameter_of_every_operator_is_described():
    """By a sentence, that is more than its name."""
    faults, count = [], 0
    for name, function in operators_functions():
        told = dict(re.findall(r"^(\w[\w, ]*) : [^\n]+\n    ((?:.|\n    )+)$", function.__doc__, re.MULTILINE))
        told = {one: text for names, text in told.items() for one in names.split(", ")}
        for parameter in inspect.signature(function).parameters:
            text = told.get(parameter, "")
            count += 1
            if not re.match(r"[A-Z0-9].* .* .*\.$", text, re.DOTALL):
                faults.append(f"{name}: {parameter}: {text!r}")
    assert faults == [] and count > 1000


def test_every_operator_says_what_it_computes_and_returns():
    faults = []
    for name, function in operators_functions():
        first, returned = function.__doc__.split("\n")[0], function.__doc__.partition("Returns\n-------\n")[2]
        if not re.match(r"[A-Z0-9].* .*\.$", first) or first.startswith("The operator "):
            faults.append(f"{name}: {first}")
        if not re.match(r"(NDArray|ndarray)( or list of them)?\n    [A-Z](.|\n    )* (.|\n    )*\.\n", returned):
            faults.append(f"{name}: returns {returned[:60]!r}")
    assert faults == []


def test_help_says_types_defaults_and_limits():
    text = mx.nd.Convolution.__doc__
    assert "num_group : int (non-negative), optional, default=1\n    Into how many groups" in text
    assert "From 1 to 100000." in text and "with no_bias" in text
    assert "Returns\n-------\nNDArray\n    An array (batch, num_filter, " in text
    text = mx.np.sum.__doc__
    assert "\na : array\n" in text and "\nwhere : array of truths, optional\n" in text
    assert "NDArray or list of them" in mx.nd.topk.__doc__


def test_arrays_come_first_also_where_numpy_takes_them_by_place_alone():
    """As its functions of elements say of themselves from NumPy 2.4 on."""
    def numpys(x, /, out=None, *, where=True, casting="same_kind"):
        return x, out, where, casting

    function = _functions.make("_npi_exp", "exp", mx.np.ndarray, "mxnet.numpy", numpys)
    assert list(inspect.signature(function).parameters) == ["x", "out", "where", "casting", "name"]
    a, b = mx.np.zeros((2,)), mx.np.zeros((2,))
    assert function(a).tolist() == [1, 1] and function(a, b) is b and b.tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match="casting"):
        function(a, casting="no")


def test_arguments_by_place_and_by_name():
    values = onp.arange(6, dtype="float32").reshape(2, 3)
    a = mx.nd.array(values)
    for found in (mx.nd.sum(a, -1), mx.nd.sum(a, axis=-1), mx.nd.sum(data=a, axis=(1,)),
                  a.sum(-1), a.sum(axis=1)):
        onp.testing.assert_array_equal(found.asnumpy(), values.sum(-1))
    onp.testing.assert_array_equal(mx.nd.clip(a, 1, 4).asnumpy(), values.clip(1, 4))
    onp.testing.assert_array_equal(mx.np.sum(mx.np.array(values), 0, keepdims=True).asnumpy(),
                                   values.sum(0, keepdims=True))


def test_lists_of_arrays():
    a, b = mx.nd.ones((2, 2)), mx.nd.zeros((1, 2))
    assert mx.nd.concat(a, b, dim=0).shape == (3, 2)
    assert mx.nd.concat(*[b] * 100, dim=0).shape == (100, 2)
    assert mx.nd.stack(a, a, a, axis=1).shape == (2, 3, 2)
    assert mx.nd.add_n(a, a, a).asnumpy().tolist() == [[3, 3], [3, 3]]
    assert mx.nd.concatenate([a, b]).shape == (3, 2)
    parts = mx.nd.split(mx.nd.arange(200).reshape((200, 1)), num_outputs=100,
                        axis=0)
    assert len(parts) == 100 and parts[99].asnumpy().tolist() == [[198], [199]]
    with pytest.raises(TypeError, match="at least one array"):
        mx.nd.concat()


def test_results_can_be_written_to_an_array():
    a, out = mx.nd.array([1, 4]), mx.nd.zeros((2,))
    assert mx.nd.sqrt(a, out=out) is out
    assert out.asnumpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="out must be an array"):
        mx.nd.sqrt(a, out=3)
    with pytest.raises(mx.MXNetError):
        mx.nd.sqrt(a, out=mx.nd.zeros((3,)))


def test_texts_of_parameters():
    a = mx.nd.arange(24).reshape((2, 3, 4))
    assert mx.nd.transpose(a, axes=[2, 0, 1]).shape == (4, 2, 3)
    assert mx.nd.transpose(a, axes=(onp.int64(2), 0, 1)).shape == (4, 2, 3)
    assert mx.nd.cast(a, dtype=onp.dtype("int32")).dtype == onp.int32
    assert mx.nd.cast(a, dtype=onp.float64).dtype == onp.float64
    assert mx.nd.slice(a, begin=(None, 1), end=(None, 3)).shape == (2, 2, 4)
    assert mx.nd.sum(a, axis=None, keepdims=onp.bool_(True)).shape == (1, 1, 1)
    with pytest.raises(TypeError, match="no value of a parameter"):
        mx.nd.sum(a, axis=object())


def test_errors_say_what_is_valid():
    a = mx.nd.ones((2, 3))
    with pytest.raises(mx.MXNetError, match="'relu'.*act_type"):
        mx.nd.Activation(a, act_type="rleu")
    with pytest.raises(mx.MXNetError, match="num_hidden"):
        mx.nd.FullyConnected(a, a)
    with pytest.raises(mx.MXNetError, match=r"argument 'axes', Possible(.|\n)*keepdims : (.|\n)*'axis'\?"):
        mx.nd.sum(a, axes=1)
    with pytest.raises(mx.MXNetError, match="argument 'shape', Possible"):
        mx.nd.relu(a, shape=(2,))
    with pytest.raises(TypeError, match="item 0 must be an array, not str"):
        mx.nd.relu("12")
    with pytest.raises(AttributeError, match="no attribute 'no_such_operator'"):
        mx.nd.no_such_operator(a)
    with pytest.raises(mx.MXNetError, match="(?i)shape"):
        mx.nd.dot(a, a)


def test_functions_of_arrays_and_numbers():
    values = onp.array([1.0, 5.0], dtype="float32")
    for kind in (mx.nd, mx.np):
        a = kind.array(values)
        onp.testing.assert_array_equal(kind.maximum(a, 3).asnumpy(), onp.maximum(values, 3))
        onp.testing.assert_array_equal(kind.minimum(3, a).asnumpy(), onp.minimum(3, values))
        onp.testing.assert_array_equal(kind.subtract(1, a).asnumpy(), 1 - values)
        onp.testing.assert_array_equal(kind.power(2, a).asnumpy(), 2 ** values)
        onp.testing.assert_array_equal(kind.greater(3, a).asnumpy(), 3 > values)
        onp.testing.assert_array_equal(kind.add(a, a).asnumpy(), values + values)


def test_numpys_functions():
    values = onp.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], dtype="float32")
    a = mx.np.array(values)
    for name, arguments in (("mean", (0,)), ("max", ()), ("argmax", (1,)), ("exp", ()),
                            ("cumsum", (1,)), ("median", ()), ("var", ()), ("squeeze", ()),
                            ("expand_dims", (0,)), ("ravel", ()), ("transpose", ()),
                            ("sort", ()), ("flip", (0,)), ("tile", (2,)), ("prod", ())):
        found, wanted = getattr(mx.np, name)(a, *arguments), getattr(onp, name)(values, *arguments)
        assert found.shape == wanted.shape, name
        onp.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, err_msg=name)
    onp.testing.assert_array_equal(mx.np.where(a > 2, a, 0).asnumpy(),
                                   onp.where(values > 2, values, 0))
    assert [part.shape for part in mx.np.split(a, [1, 2], axis=1)] == [(2, 1)] * 3
    assert mx.np.concatenate([a, a], axis=None).shape == (12,)
    assert mx.np.stack([a, a], axis=-1).shape == (2, 3, 2)
    assert mx.np.sum(a).shape == () and float(mx.np.sum(a)) == 21
    assert mx.np.pi == onp.pi and mx.np.float32 is onp.float32


def test_random_numbers():
    for draw in (lambda: mx.nd.random.uniform(-2, 3, shape=(2000,)),
                 lambda: mx.np.random.uniform(-2, 3, size=(2000,))):
        mx.random.seed(7)
        first = draw().asnumpy()
        second = draw().asnumpy()
        mx.random.seed(7)
        onp.testing.assert_array_equal(draw().asnumpy(), first)
        assert (first != second).any()
        assert -2 <= first.min() < -1.9 and 2.9 < first.max() < 3
    normal = mx.np.random.normal(5, 2, size=(4000,)).asnumpy()
    assert abs(normal.mean() - 5) < 0.2 and abs(normal.std() - 2) < 0.2
    whole = mx.nd.random.randint(3, 6, shape=(1000,))
    assert whole.dtype == onp.int32 and set(whole.asnumpy()) == {3, 4, 5}
    assert mx.np.random.uniform().shape == () and mx.np.random.randn(2, 3).shape == (2, 3)
    assert sorted(mx.np.random.permutation(50).asnumpy()) == list(range(50))
    with pytest.raises(ValueError, match="32 bits"):
        mx.random.seed(2 ** 40)


def test_the_masked_softmax_of_attention():
    scores = onp.random.RandomState(0).normal(size=(2, 3, 4)).astype("float32")
    lengths = onp.array([2, 3])
    kept = onp.arange(4) < lengths[:, None, None]
    wanted = onp.exp(scores) * kept
    wanted /= wanted.sum(-1, keepdims=True)
    x = mx.np.array(scores)
    x.attach_grad()
    with mx.autograd.record():
        masked = mx.npx.sequence_mask(x.reshape(-1, 4), mx.np.array(lengths).repeat(3), True, value=-1e6, axis=1)
        y = mx.npx.softmax(masked).reshape(scores.shape)
    y.backward(mx.np.array(scores))
    onp.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-5, atol=1e-7)
    back = wanted * (scores - (wanted * scores).sum(-1, keepdims=True))
    onp.testing.assert_allclose(x.grad.asnumpy(), back, rtol=1e-4, atol=1e-6)


def test_all_operators_are_listed_with_their_arguments():
    class Own(mx.operator.CustomOpProp):
        pass

    mx.operator.register("listed_own")(Own)
    names = mx.operator.get_all_registered_operators()
    assert {"Convolution", "Activation", "_npi_add", "listed_own"} <= set(names) and len(names) > 300
    narg, names, types = mx.operator.get_operator_arguments("Activation")
    assert (narg, names[:2]) == (2, ["data", "act_type"])
    assert types[0] == "NDArray-or-Symbol" and "'relu'" in types[1] and "required" in types[1]
    with pytest.raises(mx.MXNetError, match="Activatoin"):
        mx.operator.get_operator_arguments("Activatoin")


@pytest.mark.parametrize("extension", ["extension", "ctypes"])
def test_places_beyond_the_bounds_are_index_errors(extension):
    """They are MXNetErrors too, whoever calls the library; other errors are no IndexErrors."""
    program = ("import mxnet as mx\n"
               "x, beyond = mx.nd.ones((2, 2)), mx.nd.array([[5], [0]])\n"
               "for call in (lambda: mx.nd.gather_nd(x, beyond).asnumpy(), lambda: mx.np.array([1]) & mx.np.array([1.])):\n"
               "    try:\n"
               "        call()\n"
               "    except mx.MXNetError as error:\n"
               "        print(type(error).__name__, isinstance(error, IndexError), isinstance(error, TypeError))\n")
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True,
                          env={**os.environ, "MXNET_PYTHON_CORE": extension,
                               "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    assert told.stdout.splitlines() == ["MXNetError True False", "MXNetError False True"]


def test_errors_of_every_kind_can_be_pickled():
    """As workers of a loader hand them over."""
    for text in ("IndexError: beyond", "TypeError: no", "ValueError: none", "MXNetError: other", "other"):
        error = mx.MXNetError(text)
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and str(copy) == text and isinstance(copy, mx.MXNetError)
        assert isinstance(error, IndexError) == text.startswith("IndexError")
