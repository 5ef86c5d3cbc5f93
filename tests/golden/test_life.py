# SPDX-License-Identifier: Apache-2.0
"""Programs on the runtime that fail, fork, shut down or end in the middle of their work, profiled: what
they leave is complete, and says what has happened."""
import collections

import pytest

from harness import run_program, trace_items

BEGIN = """
import runtime_api as mx
def add_one(array):
    mx.invoke('_plus_scalar', [array], {'scalar': 1}, [array])
def profile(name):
    set_config(profile_all=True, aggregate_stats=True, continuous_dump=False, filename=name)
    set_state('run')
def finish():
    set_state('stop')
    dump()
def wait(array):
    return outcome(mx.call, 'MXNDArrayWaitToRead', array)
"""
ENGINES = ["ThreadedEnginePerDevice", "NaiveEngine"]


def run(source, directory, engine="ThreadedEnginePerDevice", **environment):
    done = run_program(BEGIN + source, directory, {"MXNET_ENGINE_TYPE": engine, **environment})
    assert (done.code, done.stderr) == (0, ""), done.stderr
    return done


def operators(path):
    return [item for item in trace_items(path) if item["ph"] == "X" and item["cat"] == "operator"]


def names(path):
    return collections.Counter(item["name"] for item in operators(path))


# ---- failing -----------------------------------------------------------------------------------
FAILING = """
Async = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_void_p, C.c_void_p)
Complete = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_void_p)
class Callback(C.Structure):
    _fields_ = [('callback', Complete), ('engine', C.c_void_p), ('param', C.c_void_p)]
@Async
def fail(rctx, on_start, on_complete, param):
    given = C.cast(on_complete, C.POINTER(Callback))[0]
    given.callback(given.engine, given.param, 1)
a, b = mx.array((2,), [1, 2]), mx.array((2,), [3, 4])
profile('t.json')
push = outcome(mx.call, 'MXEnginePushAsyncND', fail, None, None, None, mx.handles([]), 0,
               mx.handles([a]), 1, None, 0, b'failing', False)
next = outcome(add_one, a)
add_one(b)
say(push, '|', next, '|', wait(a), '|', wait(a), '|', wait(b), '|', outcome(mx.wait_all))
say(mx.read(b, 2))
add_one(a)
say(wait(a), mx.read(a, 2))
say(outcome(mx.invoke, 'elemwise_mul', [a, mx.create((3,))], {}))
finish()
"""
ERROR = "MXNetError: an asynchronous operation of the program has failed"


def test_an_operation_that_fails_is_told_once_and_shown(tmp_path):
    done = run(FAILING, tmp_path)
    assert done.lines[0] == f"ok | ok | {ERROR} | ok | ok | ok"
    assert done.lines[1] == "[4.0, 5.0]"
    # What read the failed array has not run, so there is one addition, not two.
    assert done.lines[2] == "ok [2.0, 3.0]"
    assert "elemwise_mul" in done.lines[3]
    shown = operators(tmp_path / "t.json")
    failed = [item["name"] for item in shown if item["args"].get("failed")]
    assert failed == ["failing", "_plus_scalar"]
    assert names(tmp_path / "t.json")["_plus_scalar"] == 3
    calls = collections.Counter(item["name"] for item in trace_items(tmp_path / "t.json")
                                if item["ph"] == "X" and item["cat"] == "MXNET_C_API")
    assert calls["MXImperativeInvoke"] == 4  # the refused one among them
    assert calls["MXNDArrayWaitToRead"] == 4


def test_naive_engine_tells_where_it_fails(tmp_path):
    done = run(FAILING, tmp_path, "NaiveEngine")
    assert done.lines[0] == f"{ERROR} | ok | ok | ok | ok | ok"
    # What comes after a failure that was told runs.
    assert done.lines[1:3] == ["[4.0, 5.0]", "ok [3.0, 4.0]"]
    failed = [item["name"] for item in operators(tmp_path / "t.json") if item["args"].get("failed")]
    assert failed == ["failing"]


# ---- forking -----------------------------------------------------------------------------------
FORKING = """
arrays = [mx.array((64,), [0] * 64) for _ in range(4)]
working, pushed = True, [0, 0]
def work(which):
    while working:
        add_one(arrays[which])
        pushed[which] += 1
        if pushed[which] % 100 == 0:
            wait(arrays[which])
def child(number):
    array = mx.array((2,), [0, 0])
    profile(f'child{number}.json')
    for _ in range(10):
        add_one(array)
    ok = mx.read(array, 2) == [10, 10]
    finish()
    os._exit(0 if ok else 1)
mx.wait_all()
profile('parent.json')
threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for thread in threads: thread.start()
for number in range(3):
    sleep_ms(20)
    pid = os.fork()
    if pid == 0:
        child(number)
    say(os.waitpid(pid, 0)[1])
working = False
for thread in threads: thread.join()
mx.wait_all()
finish()
say(sum(pushed), [mx.read(arrays[i], 64) == [pushed[i]] * 64 for i in range(2)])
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_parent_and_children_have_their_own_profiles(tmp_path, engine):
    done = run(FORKING, tmp_path, engine)
    assert done.lines[:3] == ["0"] * 3
    count, rest = done.lines[3].split(" ", 1)
    assert rest == "[True, True]"
    assert names(tmp_path / "parent.json")["_plus_scalar"] == int(count) > 0
    for number in range(3):
        assert names(tmp_path / f"child{number}.json")["_plus_scalar"] == 10


# ---- ending ------------------------------------------------------------------------------------
def test_after_shutdown_nothing_runs_and_the_profile_is_whole(tmp_path):
    done = run("""
a = mx.array((2,), [0, 0])
mx.wait_all()
profile('t.json')
for _ in range(100):
    add_one(a)
say(outcome(mx.call, 'MXNotifyShutdown'))
add_one(a)
mx.wait_all()
say(mx.read(a, 2))
mx.free(a)
finish()
say(outcome(mx.call, 'MXNotifyShutdown'))
""", tmp_path)
    assert done.lines == ["ok", "[100.0, 100.0]", "ok"]
    shown = operators(tmp_path / "t.json")
    assert names(tmp_path / "t.json") == {"_plus_scalar": 101, "DeleteVariable": 1}
    assert sum(item["args"].get("failed", False) for item in shown) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_that_just_ends_leaves_a_whole_file(tmp_path, engine):
    run("""
a = mx.array((64,), [0] * 64)
for _ in range(3000):
    add_one(a)
""", tmp_path, engine, MXNET_PROFILER_AUTOSTART="1")
    found = names(tmp_path / "profile.json")
    assert set(found) <= {"_plus_scalar", "WaitForVar", "ResourceParallelRandomSetSeed"}
    assert found["_plus_scalar"] <= 3000
    calls = collections.Counter(item["name"] for item in trace_items(tmp_path / "profile.json")
                                if item["ph"] == "X" and item["cat"] == "MXNET_C_API")
    assert calls["MXImperativeInvoke"] == 3000
    if engine == "NaiveEngine":
        assert found["_plus_scalar"] == 3000
