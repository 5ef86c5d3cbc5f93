# SPDX-License-Identifier: Apache-2.0
"""The words of errors: once, the hint first, and the line of the program that failed."""
import ctypes
import inspect
import re
import traceback

import pytest

import mxnet as mx
from mxnet import profiler
from python_program import run_python


@pytest.mark.parametrize("core", ["extension", "ctypes"])
def test_errors_say_their_name_once(tmp_path, core):
    done = run_python("""
import mxnet as mx
for wrong in (lambda: mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3))),
              lambda: mx.nd.ones((2,)).reshape((3,)), lambda: mx.nd.load('nowhere'),
              lambda: mx.nd.dot(mx.nd.ones((2, 3)))):
    try:
        wrong()
    except mx.MXNetError as error:
        assert error.args[0] and not error.args[0].startswith('MXNetError'), error
    else:
        raise AssertionError
""", tmp_path, MXNET_PYTHON_CORE=core)
    assert (done.code, done.err) == (0, "")


def test_an_unknown_option_gets_the_closest_first_and_the_names_in_one_line():
    for call in (lambda: profiler.set_config(filenam="x"), lambda: profiler.profile("x", filenam="y").__enter__()):
        with pytest.raises(mx.MXNetError) as raised:
            call()
        assert str(raised.value).startswith("Cannot find argument 'filenam'; did you mean 'filename'? Possible")
        assert "\n" not in str(raised.value) and "aggregate_stats" in str(raised.value)
    with pytest.raises(mx.MXNetError, match="^Cannot find argument 'skp'; did you mean 'skip'?"):
        with profiler.profile("x.json", skp=2):
            pass
    with pytest.raises(mx.MXNetError) as raised:
        profiler.profile("x.json", skp=2).__enter__()
    listed = re.search(r"Possible Arguments: (.*?)\. help", str(raised.value))[1].split(", ")
    assert len(listed) == len(set(listed)) > 20


def test_set_config_shows_the_options_of_the_library():
    """What completion and help show is what the library takes."""
    values = (ctypes.c_char_p * 1)(b"1")
    mx.base._LIB.MXSetProcessProfilerConfig(1, (ctypes.c_char_p * 1)(b"nothing"), values, None)
    known = re.findall(r"^(\w+) :", mx.base._LIB.MXGetLastError().decode(), re.MULTILINE)
    assert sorted(known) == sorted(inspect.signature(profiler.set_config).parameters)[:-1] or (
        set(known) == set(inspect.signature(profiler.set_config).parameters) - {"unknown"})
    for name in known:
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* : .*\n        \S", profiler.set_config.__doc__, re.MULTILINE), name
    assert "docs/" not in profiler.set_config.__doc__


@pytest.mark.parametrize("make,told", [
    (lambda: mx.optimizer.create("admam"), "no optimizer 'admam'; did you mean 'adam'. There are adam, ftml, ftrl, lamb, lars, nag"),
    (lambda: mx.init.create("xavir"), "no initializer 'xavir'; did you mean 'xavier'. There are"),
    (lambda: mx.metric.create("acuracy"), "no metric 'acuracy'; did you mean 'accuracy'. There are"),
    (lambda: mx.optimizer.create("zzz"), "no optimizer 'zzz'; there are adam, ftml, ftrl, lamb, lars, nag, rmsprop, sgd, signum")])
def test_a_misspelt_name_gets_the_closest(make, told):
    with pytest.raises(ValueError, match=told):
        make()


def test_missing_inputs_are_named():
    with pytest.raises(mx.MXNetError, match="expects 3 inputs, but got 1 instead. Missing: weight, bias$"):
        mx.nd.Convolution(mx.nd.ones((1, 1, 4, 4)), kernel=(3, 3), num_filter=2)


def test_a_failing_custom_operator_is_the_cause_of_the_error(capfd):
    class Wrong(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise KeyError("the wrong line")

    class WrongProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Wrong()

    mx.operator.register("wrong_line")(WrongProp)
    with pytest.raises(mx.MXNetError, match="the wrong line") as raised:
        mx.nd.Custom(mx.nd.ones((2,)), op_type="wrong_line").wait_to_read()
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError)
    shown = "".join(traceback.format_exception(type(raised.value), raised.value, None))
    assert 'raise KeyError("the wrong line")' in shown and "direct cause" in shown
    assert "the wrong line" in capfd.readouterr().err
    with pytest.raises(mx.MXNetError) as raised:
        mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
    assert raised.value.__cause__ is None
