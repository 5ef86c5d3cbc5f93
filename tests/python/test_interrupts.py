# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while the program waits for operations: here for one that continues until a file is there, so a
wait that ends has been interrupted, however slow the machine is."""
import json
import pathlib
import signal
import threading

import pytest

from python_program import running_python

OPERATORS = """
import os, pathlib, signal, sys, threading, time
import mxnet as mx

def say(*words):
    os.write(1, (' '.join(map(str, words)) + '\\n').encode())

began = threading.Event()

class Waiting(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        say('waiting')
        began.set()
        while not pathlib.Path('go').exists():
            time.sleep(0.01)
        self.assign(out_data[0], req[0], in_data[0])

class Marking(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        pathlib.Path('marked').touch()
        self.assign(out_data[0], req[0], in_data[0])

class Prop(mx.operator.CustomOpProp):
    kind = None
    def create_operator(self, ctx, shapes, dtypes):
        return self.kind()

mx.operator.register('waiting')(type('WaitingProp', (Prop,), {'kind': Waiting}))
mx.operator.register('marking')(type('MarkingProp', (Prop,), {'kind': Marking}))
mx.profiler.set_config(profile_all=True, filename='trace.json', aggregate_stats=True,
                       continuous_dump=False)
mx.profiler.set_state('run')
before = mx.nd.ones((2,)) + 1
before.wait_to_read()
pending = mx.nd.Custom(mx.nd.ones((2,)), op_type='waiting')
behind = mx.nd.Custom(pending, op_type='marking') * 2
"""


@pytest.mark.parametrize("core", ["extension", "ctypes"])
@pytest.mark.parametrize("wait", ["mx.nd.waitall()", "behind.wait_to_read()", "behind.asnumpy()",
                                  "mx.nd.save('file', [behind])", "print(behind)"])
def test_an_interrupt_ends_a_wait_and_the_program_goes_on(tmp_path, wait, core):
    code = f"""
try:
    say('ready')
    {wait}
except KeyboardInterrupt:
    say('interrupted')
pathlib.Path('go').touch()
say(behind.asnumpy().tolist())
"""
    with running_python(["-c", OPERATORS + code], tmp_path, MXNET_PYTHON_CORE=core) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        interrupt_until(program, "interrupted\n")
        out, errors = rest_of(program)
    assert (program.returncode, errors) == (0, "")
    assert out.endswith("[2.0, 2.0]\n")


def rest_of(program):
    """What it says until its end; communicate() would lose what was read ahead."""
    out, errors = program.stdout.read(), program.stderr.read()
    program.wait(60)
    return out, errors


def interrupt_until_a_line(program, stream):
    """Sends Ctrl-C until the program says something there, and returns it: an interrupt that arrives
    before the wait begins may be lost in Python's own code."""
    said = []
    reader = threading.Thread(target=lambda: said.append(stream.readline()))
    reader.start()
    for _ in range(100):
        program.send_signal(signal.SIGINT)
        reader.join(0.6)
        if not reader.is_alive():
            break
    return said


def interrupt_until(program, line):
    assert interrupt_until_a_line(program, program.stdout) == [line]


def test_what_has_not_begun_is_dropped_when_an_interrupted_program_ends(tmp_path):
    """The operator at work is waited for, the one behind it never runs, and the trace is whole."""
    with running_python(["-c", OPERATORS + """
hook = sys.excepthook
def tell(*error):
    hook(*error)
    say('ending')
sys.excepthook = tell
say('ready')
mx.nd.waitall()
"""], tmp_path) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        interrupt_until(program, "ending\n")
        pathlib.Path(tmp_path / "go").touch()
        errors = rest_of(program)[1]
    assert program.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert not (tmp_path / "marked").exists()
    items = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    assert any(item["name"] == "_plus_scalar" for item in items)


def test_an_interrupt_at_the_end_of_a_program_ends_it(tmp_path):
    """It has nothing to do but to wait for what it has asked for."""
    with running_python(["-c", OPERATORS + "began.wait(); say('ready')"], tmp_path) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        said = interrupt_until_a_line(program, program.stderr)
        pathlib.Path(tmp_path / "go").touch()
        errors = rest_of(program)[1]
    assert "KeyboardInterrupt" in said[0] + errors
    assert not (tmp_path / "marked").exists() and (tmp_path / "trace.json").exists()


def test_handlers_of_the_program_run_during_a_wait_and_it_goes_on(tmp_path):
    """Whatever they raise is what the wait raises; they may wait themselves."""
    code = """
class Alarm(Exception):
    pass

def handle(number, frame):
    before.wait_to_read()
    if number == signal.SIGUSR2:
        raise Alarm(f'signal {number}')
    say('handled')

signal.signal(signal.SIGUSR1, handle)
signal.signal(signal.SIGUSR2, handle)
try:
    say('ready')
    mx.nd.waitall()
except Alarm as error:
    say(error)
pathlib.Path('go').touch()
mx.nd.waitall()
say('done', behind.asnumpy().tolist())
"""
    with running_python(["-c", OPERATORS + code], tmp_path) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        for _ in range(3):
            program.send_signal(signal.SIGUSR1)
            assert program.stdout.readline() == "handled\n"
        program.send_signal(signal.SIGUSR2)
        assert program.stdout.readline() == f"signal {int(signal.SIGUSR2)}\n"
        out, errors = rest_of(program)
    assert (program.returncode, errors, out) == (0, "", "done [2.0, 2.0]\n")


def test_a_wait_of_another_thread_is_not_interrupted(tmp_path):
    code = """
def other():
    behind.wait_to_read()
    say('other', behind.asnumpy().tolist())

thread = threading.Thread(target=other)
thread.start()
try:
    say('ready')
    mx.nd.waitall()
except KeyboardInterrupt:
    say('interrupted')
pathlib.Path('go').touch()
thread.join()
"""
    with running_python(["-c", OPERATORS + code], tmp_path) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        interrupt_until(program, "interrupted\n")
        out, errors = rest_of(program)
    assert (program.returncode, errors, out) == (0, "", "other [2.0, 2.0]\n")


def test_a_profile_that_is_interrupted_does_not_wait(tmp_path):
    code = """
try:
    with mx.profiler.profile('block.json', wait=False):
        more = mx.nd.ones((3,)) * 2
        more.wait_to_read()
        say('ready')
        mx.nd.waitall()
except KeyboardInterrupt:
    say('interrupted', os.path.exists('block.json'))
pathlib.Path('go').touch()
"""
    code = "mx.profiler.set_state('stop'); mx.profiler.dump()\n" + code
    with running_python(["-c", OPERATORS + code], tmp_path) as program:
        assert sorted(program.stdout.readline() for _ in range(2)) == ["ready\n", "waiting\n"]
        interrupt_until(program, "interrupted True\n")
        assert (rest_of(program), program.returncode) == (("", ""), 0)
    items = json.loads((tmp_path / "block.json").read_text(encoding="utf-8"))["traceEvents"]
    assert any(item["name"] == "_mul_scalar" for item in items)
