# SPDX-License-Identifier: Apache-2.0
"""Threads have the names that the program gives them, in every trace."""
import json
import subprocess

import pytest

from python_program import BUILD, run_python

BEGIN = """
import os, threading
import mxnet as mx
from mxnet import profiler
domain = profiler.Domain('d')
task, frame, counter = domain.new_task('t'), domain.new_frame('f'), domain.new_counter('c')
event, span, marker = profiler.Event('e'), profiler.Span('s'), domain.new_marker('m')
def run(work, name=None):
    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()
def begin(**options):
    profiler.set_config(filename='trace.json', continuous_dump=False, **options)
    profiler.set_state('run')
def finish():
    profiler.set_state('stop')
    profiler.dump()
"""
CALLS = {
    "span": "with span: pass", "task": "with task: pass", "frame": "frame.start(); frame.stop()",
    "event": "event.start(); event.stop()", "counter": "counter.set_value(3)",
    "increment": "counter.increment()", "marker": "marker.mark()",
    "operator": "mx.nd.ones((2,)) + 1", "scope": "with profiler.scope('x'): pass\n    span.start(); span.stop()",
    "wait": "mx.nd.waitall()", "step": "profiler.step()",
}


def thread_names(path):
    """Each row's last name, without those of the library's own threads."""
    items = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    rows = {item["tid"]: item["args"]["name"] for item in items if item["name"] == "thread_name"}
    return sorted(name for name in rows.values() if name.startswith("my"))


@pytest.fixture(name="core", params=["extension", "ctypes"])
def core_fixture(request):
    if request.param == "extension" and not any((BUILD / "python").glob("_core*")):
        pytest.skip("the extension is not built")
    return {"MXNET_PYTHON_CORE": request.param}


@pytest.mark.parametrize("call", CALLS)
def test_the_first_call_of_a_thread_gives_its_name(tmp_path, core, call):
    done = run_python(BEGIN + f"""
def work():
    {CALLS[call]}
begin()
run(work, 'my thread')
finish()
""", tmp_path, **core)
    assert (done.code, done.err) == (0, "")
    assert thread_names(tmp_path / "trace.json") == ["my thread"]


def test_a_thread_that_has_called_before_the_run_is_named_too(tmp_path, core):
    done = run_python(BEGIN + """
before, after = threading.Event(), threading.Event()
def work():
    with span: mx.nd.ones((2,)) + 1
    before.set()
    after.wait()
    with span: pass
thread = threading.Thread(target=work, name='my early thread')
thread.start()
before.wait()
begin()
after.set()
thread.join()
finish()
""", tmp_path, **core)
    assert (done.code, done.err) == (0, "")
    assert thread_names(tmp_path / "trace.json") == ["my early thread"]


def test_a_new_name_is_that_of_the_threads_later_calls(tmp_path, core):
    done = run_python(BEGIN + """
asked, renamed = threading.Event(), threading.Event()
def itself():
    with span: pass
    threading.current_thread().name = 'my own choice'
def by_another():
    with task: pass
    asked.set()
    renamed.wait()
    with task: pass
begin()
run(itself, 'my first name')
thread = threading.Thread(target=by_another, name='my other first name')
thread.start()
asked.wait()
thread.name = 'my chosen name'
renamed.set()
thread.join()
with span: pass
threading.current_thread().name = 'my main'
assert threading.current_thread().name == threading.main_thread().getName() == 'my main'
finish()
""", tmp_path, **core)
    assert done.code == 0
    assert thread_names(tmp_path / "trace.json") == ["my chosen name", "my main", "my own choice"]


def test_pools_and_names_that_are_not_ascii(tmp_path, core):
    done = run_python(BEGIN + """
import concurrent.futures
def work(_):
    with span: pass
begin()
with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix='my pool') as pool:
    list(pool.map(work, range(3)))
run(lambda: work(0), 'my \\u00fcnic\\u00f6de thread with a name that is longer than fifteen bytes')
run(lambda: work(0), 'my lone \\ud800')
finish()
""", tmp_path, **core)
    assert (done.code, done.err) == (0, "")
    found = thread_names(tmp_path / "trace.json")
    assert found[1:] == ["my pool_0", "my ünicöde thread with a name that is longer than fifteen bytes"]
    assert found[0].startswith("my lone ")


def test_a_native_file_and_one_of_a_killed_process_have_the_names(tmp_path, core):
    done = run_python(BEGIN + """
def work():
    with span: pass
begin(store='file', native_filename='t.mxp')
run(work, 'my reader')
def last():
    span.start()
    os.kill(os.getpid(), 9)
run(last, 'my killer')
""", tmp_path, **core)
    assert done.code == -9
    shown = subprocess.run([BUILD / "mxprof", "info", tmp_path / "t.mxp"], text=True, check=False,
                           stdout=subprocess.PIPE).stdout
    assert "my reader" in shown and "my killer" in shown


def test_threads_without_a_name_keep_the_systems(tmp_path, core):
    done = run_python(BEGIN + """
import _thread
ended = _thread.allocate_lock()
ended.acquire()
def work():
    with span: pass
    ended.release()
begin()
with span: pass
_thread.start_new_thread(work, ())
ended.acquire()
finish()
print(threading.active_count(), open('/proc/self/comm').read().strip())
""", tmp_path, **core)
    assert (done.code, done.err) == (0, "")
    count, system = done.out.split(maxsplit=1)
    assert count == "1"
    items = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    rows = {item["tid"]: item["args"]["name"] for item in items if item["name"] == "thread_name"}
    spans = {item["tid"] for item in items if item["name"] == "s"}
    assert len(spans) == 2 and {rows[tid] for tid in spans} == {system.strip()}


def test_a_forked_child_keeps_the_name_of_the_thread_that_forked(tmp_path, core):
    done = run_python(BEGIN + """
def work():
    with span: pass
    child = os.fork()
    if child == 0:
        with span: pass
        os._exit(0)
    os.waitpid(child, 0)
begin(store='file', native_filename='t.mxp')
run(work, 'my forker')
finish()
""", tmp_path, PYTHONWARNINGS="ignore", **core)  # 3.12 warns of forks beside threads
    assert (done.code, done.err) == (0, "")
    items = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    rows = {(item["pid"], item["tid"]): item["args"]["name"] for item in items
            if item["name"] == "thread_name"}
    assert [rows[item["pid"], item["tid"]] for item in items if item["name"] == "s"] == [
        "my forker", "my forker"]


def test_names_without_end_are_not_all_kept(tmp_path, core):
    done = run_python(BEGIN + """
def work():
    with span: pass
begin()
for number in range(4200):
    run(work, f'my {number}')
run(work, 'my 17')
finish()
""", tmp_path, **core)
    assert (done.code, done.err) == (0, "")
    found = thread_names(tmp_path / "trace.json")
    assert len(found) == 4096 + 1 and len(set(found)) == 4096 and found.count("my 17") == 2


def test_importing_starts_no_thread_and_leaves_nothing_to_see(tmp_path):
    done = run_python("""
import threading
import mxnet
assert threading.active_count() == 1
thread = threading.Thread(name='a')
assert thread.name == 'a' and thread.getName() == 'a'
thread.name = 7
assert thread.name == '7' and 'identification' in threading.Thread.name.__doc__
""", tmp_path, PYTHONWARNINGS="ignore")
    assert (done.code, done.err) == (0, "")
