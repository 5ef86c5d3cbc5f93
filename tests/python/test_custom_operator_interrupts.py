# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and exits inside the functions of a custom operator end the program, not the operator."""
import pytest

from python_program import run_python

PRELUDE = """
import os, signal, sys, time
import mxnet as mx
from mxnet import nd

class Op(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        act('forward')
        self.assign(out_data[0], req[0], in_data[0])

@mx.operator.register('Op')
class Prop(mx.operator.CustomOpProp):
    def infer_shape(self, in_shape):
        act('infer_shape')
        return in_shape, [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        act('create_operator')
        return Op()

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)

def act(place):
    if place == PLACE:
        WHAT()

def call():
    nd.Custom(nd.ones(2), op_type='Op').asnumpy()
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


@ENGINES
@pytest.mark.parametrize("place", ["forward", "infer_shape", "create_operator"])
def test_an_interrupt_is_raised_by_the_call(tmp_path, engine, place):
    done = run_python(PRELUDE + f"""
PLACE, WHAT = {place!r}, interrupt
try:
    call()
except KeyboardInterrupt:
    print('interrupted')
PLACE = 'nowhere'
nd.Custom(nd.ones(2), op_type='Op').asnumpy()
print('and on')
""", tmp_path, MXNET_ENGINE_TYPE=engine)
    assert (done.code, done.out) == (0, "interrupted\nand on\n")
    assert "MXNetError" not in done.err


@ENGINES
@pytest.mark.parametrize("place", ["forward", "infer_shape"])
def test_an_exit_ends_the_program_with_its_code(tmp_path, engine, place):
    done = run_python(PRELUDE + f"""
PLACE, WHAT = {place!r}, lambda: sys.exit(7)
call()
print('not reached')
""", tmp_path, MXNET_ENGINE_TYPE=engine)
    assert (done.code, done.out) == (7, "")
