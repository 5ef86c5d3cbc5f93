# SPDX-License-Identifier: Apache-2.0
"""mx.profiler: every kind of object, tables, errors, scopes, schedules."""
import re
import sys

import pytest

import mxnet as mx
from mxnet import profiler
from python_program import SOURCE, names, run_python

sys.path.insert(0, str(SOURCE / "tests/golden"))
from harness import expected_text, normal_json, normal_table  # noqa: E402

OBJECTS = """
import gc, threading, time
from mxnet import profiler
gc.disable()  # collections are rows of their own
profiler.set_config(profile_api=False, aggregate_stats=True, continuous_dump=False,
                    filename='trace.json')
profiler.set_state('run')
dom, other = profiler.Domain('Dom'), profiler.Domain('Other Domain')
task, frame, event = dom.new_task('task1'), dom.new_frame('frame1'), profiler.Event('event1')
counter = dom.new_counter('counter1', 5)
bare = profiler.Counter(other, 'counter without value')
marker = dom.new_marker('marker1')
assert [str(x) for x in (dom, task, frame, event, counter)] == [
    'Dom', 'task1', 'frame1', 'event1', 'counter1']
task.start(); time.sleep(.002)
frame.start(); event.start(); time.sleep(.001)
counter += 10
counter -= 3
counter.increment(100)
counter.decrement(delta=50)
counter.set_value(7)
bare.increment()
for scope in ('global', 'process', 'thread', 'task', 'marker'):
    marker.mark(scope)
marker.mark()
event.stop(); frame.stop(); task.stop()
with task: pass                                  # the same object again

def work():
    with other.new_task('task of a thread'): pass
    with profiler.Event('event1'): pass

thread = threading.Thread(target=work)
thread.start(); thread.join()
outer, inner = dom.new_task('outer'), dom.new_task('inner')
outer.start(); inner.start(); inner.stop(); outer.stop()
a, b = dom.new_task('overlap a'), dom.new_task('overlap b')
a.start(); b.start(); a.stop(); b.stop()
profiler.set_state('stop')
profiler.dump(True)
open('table.txt', 'w').write(profiler.dumps())
open('table.json', 'w').write(profiler.dumps(format='json'))
assert profiler.dumps(format='dict')['Time']['Dom']['task1']['Count'] == 2
"""


def test_objects_are_as_the_original_shows_them(tmp_path):
    done = run_python(OBJECTS, tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")
    counters = ("counter1", "counter without value")
    table = (tmp_path / "table.txt").read_text(encoding="utf-8")
    assert normal_table(table, counters) == expected_text("objects.table.txt")
    text = (tmp_path / "table.json").read_text(encoding="utf-8")
    assert normal_json(text, counters) == expected_text("objects.json.txt")
    items = done.trace()
    values = [item["args"]["counter1"] for item in sorted(items, key=lambda item: item["ts"])
              if item["name"] == "counter1"]
    assert values == [5, 15, 12, 112, 62, 7]
    assert sum(item["name"] == "marker1" for item in items) == 6


def test_long_counting(tmp_path):
    done = run_python("""
from mxnet import profiler
profiler.set_config(profile_all=True, continuous_dump=False, filename='trace.json')
profiler.set_state('run')
counter = profiler.Domain('d').new_counter('c')
counter.set_value(5)
for i in range(50002):
    counter += 1
    if i < 49999: counter -= 1
counter.set_value(2 ** 64 - 1)
profiler.set_state('stop')
profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    values = [item["args"]["c"] for item in done.trace() if item["name"] == "c"]
    assert values[-2:] == [8, 2 ** 64 - 1] and len(values) == 1 + 50002 + 49999 + 1


# ---- errors ------------------------------------------------------------------------------------
DOMAIN = profiler.Domain("errors")
ERRORS = [
    (lambda: profiler.set_config(filenam="a"), mx.MXNetError, "'filenam'.*(?s:.*)filename"),
    (lambda: profiler.set_config(profile_all="yes"), mx.MXNetError, "profile_all.*'yes'"),
    (lambda: profiler.set_config(dump_period="1.5x"), mx.MXNetError, "'x'"),
    (lambda: profiler.set_config(dump_period=-1), mx.MXNetError, "dump_period"),
    (lambda: profiler.set_config(profile_process="foo"), mx.MXNetError, "'server', 'worker'"),
    (lambda: profiler.set_config("a.json"), TypeError, "positional"),
    (lambda: profiler.set_state("paused"), KeyError, "state is 'paused'; valid are: 'stop', 'run'"),
    (lambda: profiler.set_state(1), KeyError, "state is 1"),
    (lambda: profiler.set_state("run", "x"), KeyError, "valid are: 'worker', 'server'"),
    (lambda: profiler.set_state("run", "server"), mx.MXNetError, "(?i)kvstore"),
    (lambda: profiler.pause("x"), KeyError, "profile_process is 'x'"),
    (lambda: profiler.dump(profile_process=[]), KeyError, "profile_process"),
    (lambda: profiler.dumps(format="xml"), AssertionError,
     "Invalid value provided for format: xml. Support: 'table', 'json'"),
    (lambda: profiler.dumps(sort_by="name"), AssertionError, "Support: 'total', 'avg', 'min'"),
    (lambda: profiler.dumps(ascending=2), AssertionError, "Support: False, True"),
    (lambda: profiler.dumps(reset=None), AssertionError, "reset: None"),
    (lambda: profiler.Domain(""), mx.MXNetError, ""),
    (lambda: profiler.Domain(None), TypeError, "a str is needed, not NoneType"),
    (lambda: profiler.Task(None, "t"), mx.MXNetError, "domain"),
    (lambda: profiler.Task("d", "t"), TypeError, "domain must be a profiler.Domain, not str"),
    (lambda: profiler.Task(DOMAIN, None), TypeError, "a str is needed"),
    (lambda: profiler.Task(DOMAIN, "t").stop(), mx.MXNetError, ""),
    (lambda: profiler.Counter(DOMAIN, "c", "x"), ValueError, "invalid literal"),
    (lambda: profiler.Counter(DOMAIN, "c", -1), ValueError, "0 to 2\\*\\*64 - 1, not -1"),
    (lambda: profiler.Counter(DOMAIN, "c").set_value(2 ** 64), ValueError, "not 18446744073"),
    (lambda: profiler.Counter(DOMAIN, "c").set_value(None), TypeError, ""),
    (lambda: profiler.Counter(DOMAIN, "c").increment("a"), ValueError, "invalid literal"),
    (lambda: profiler.Counter(DOMAIN, "c").increment(2 ** 63), ValueError, "at a time"),
    (lambda: profiler.Counter(DOMAIN, "c").increment(1, 2), TypeError, ""),
    (lambda: profiler.Counter(DOMAIN, "c", 1).decrement(3), mx.MXNetError, ""),
    (lambda: profiler.Marker(DOMAIN, "m").mark("bad"), mx.MXNetError, "'global', 'marker'"),
    (lambda: profiler.Marker(DOMAIN, "m").mark(None), TypeError, "a str is needed"),
    (lambda: profiler.profile(skip=-1), ValueError, "skip is -1; valid are whole numbers from 0"),
    (lambda: profiler.profile(repeat=2), ValueError, "repeat needs active steps"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_name_the_option_and_what_is_valid(number):
    call, error, text = ERRORS[number]
    with pytest.raises(error) as caught:
        call()
    assert re.search(text, str(caught.value)), str(caught.value)


def test_deprecated_names_warn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="Please use profiler.set_config"):
        profiler.profiler_set_config(mode="all", filename="old.json")
    with pytest.warns(UserWarning, match="Please use profiler.set_state"):
        profiler.profiler_set_state("stop")
    with pytest.warns(UserWarning, match="Please use profiler.dump"), pytest.raises(mx.MXNetError):
        profiler.dump_profile()


# ---- snapshots ---------------------------------------------------------------------------------
def test_snapshots_consume_nothing(tmp_path):
    done = run_python("""
import json, os
import mxnet as mx
from mxnet import profiler
def marks(name):
    with open(name) as file:
        return [e['name'] for e in json.load(file)['traceEvents'] if e.get('name') in ('a', 'b')]
profiler.set_config(filename='p.json', full_policy='ring', snapshot_filename='last.json')
profiler.set_state('run')
domain = profiler.Domain('d')
domain.new_marker('a').mark()
profiler.snapshot('first.json')
domain.new_marker('b').mark()
profiler.snapshot()
profiler.snapshot(last_ms=1e6)
profiler.snapshot('native.mxp')
print(marks('first.json'), marks(f'last.{os.getpid()}.1.json'),
      marks(f'last.{os.getpid()}.2.json'))
print(os.path.getsize('native.mxp') > 0)
for arguments in (('missing/x.mxp',), ('x.mxp', -1)):
    try:
        profiler.snapshot(*arguments)
    except mx.MXNetError as error:
        print(str(error).splitlines()[0])
profiler.set_state('stop')
profiler.dump()
print(marks('p.json'))
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "['a'] ['a', 'b'] ['a', 'b']", "True",
        "cannot write 'missing/x.mxp': No such file or directory",
        "a snapshot of the last -1 ms: give 0 for all, or more", "['a', 'b']"]


# ---- scopes ------------------------------------------------------------------------------------
def test_scopes_nest_and_are_restored(tmp_path):
    done = run_python("""
import threading
from mxnet import profiler
with profiler.scope('a') as s1:
    print(s1)
    with profiler.scope('b:') as s2: print(s2)
    with profiler.scope('c', append_mode=False) as s3: print(s3)
    with profiler.scope() as s4: print(s4)
try:
    with profiler.scope('broken'): raise ValueError
except ValueError: pass
with profiler.scope('after') as s5: print(s5)
def other():
    with profiler.scope('t') as s: print(s)
with profiler.scope('outer'):
    thread = threading.Thread(target=other); thread.start(); thread.join()
again = profiler.scope('x')
with again as first:
    with again as second: print(first, second)
""", tmp_path)
    assert done.err == ""
    assert done.out.split() == ["a:", "a:b:", "c:", "a:<unk>:", "after:", "t:", "x:", "x:x:"]


def test_memory_belongs_to_scopes(tmp_path):
    done = run_python("""
import mxnet as mx
from mxnet import profiler
profiler.set_config(profile_all=True, continuous_dump=False, filename='trace.json',
                    gpu_memory_profile_filename_prefix='blocks')
profiler.set_state('run')
@profiler.scope('layer')
def layer(x):
    return mx.nd.sqrt(x)
y = layer(mx.nd.ones((10, 10)))
with profiler.scope('rest'):
    z = mx.nd.zeros((5, 5))
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    table, = tmp_path.glob("blocks-pid_*.csv")
    rows = [line.split(",")[:2] for line in table.read_text(encoding="utf-8").splitlines()]
    assert ['"layer:sqrt"', '"400"'] in rows and ['"rest:_zeros"', '"100"'] in rows


# ---- spans and schedules -----------------------------------------------------------------------
def test_spans_of_functions_and_exceptions(tmp_path):
    done = run_python("""
from mxnet import profiler
profiler.set_config(continuous_dump=False, filename='trace.json')
profiler.set_state('run')
domain = profiler.Domain('d')
@domain.new_task('recursive')
def countdown(n):
    return n and countdown(n - 1)
countdown(3)
try:
    with domain.new_frame('fails'): raise ValueError
except ValueError: pass
assert countdown.__name__ == 'countdown'
profiler.set_state('stop')
profiler.dump()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert names(done.trace(), "d") == ["recursive"] * 4
    assert names(done.trace(), "d,frame") == ["fails"]


def test_runs_that_overlap_on_a_thread_take_an_object_each(tmp_path):
    done = run_python("""
from mxnet import profiler
profiler.set_config(continuous_dump=False, aggregate_stats=True, filename='trace.json')
profiler.set_state('run')
domain, marks = profiler.Domain('d'), profiler.Domain('marks')
first, second = domain.new_task('request'), domain.new_task('request')
first.start()
marks.new_marker('second begins').mark()
second.start()
first.stop()
marks.new_marker('first ended').mark()
second.stop()
profiler.set_state('stop')
print(profiler.dumps(format='dict')['Time']['d']['request']['Count'])
profiler.dump()
""", tmp_path)
    assert (done.code, done.err, done.out) == (0, "", "2\n")
    items = done.trace()
    moments = {item["name"]: item["ts"] for item in items if item["ph"] == "i"}
    begins = sorted((item["ts"], item["id2"]["local"]) for item in items if item["ph"] == "b")
    ends = {item["id2"]["local"]: item["ts"] for item in items if item["ph"] == "e"}
    (first, first_id), (second, second_id) = begins
    assert first <= moments["second begins"] <= second <= ends[first_id]
    assert ends[first_id] <= moments["first ended"] <= ends[second_id]


SCHEDULES = {
    "all": ({}, range(6)),
    "skip": ({"skip": 2}, [2, 3, 4, 5]),
    "first": ({"active": 2}, [0, 1]),
    "warm": ({"skip": 1, "warmup": 1, "active": 2}, [2, 3]),
    "again": ({"warmup": 1, "active": 1, "repeat": 1}, [1, 3]),
    "for ever": ({"warmup": 1, "active": 1, "repeat": -1}, [1, 3, 5]),
    "cut": ({"skip": 4, "active": 5}, [4, 5]),  # both warn
    "never": ({"skip": 9}, []),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(tmp_path, name):
    options, active = SCHEDULES[name]
    done = run_python(f"""
import mxnet as mx
from mxnet import profiler
domain = profiler.Domain('mine')
with profiler.profile('trace.json', **{options!r}) as p:
    for step in range(6):
        with domain.new_task(str(step)):
            a = mx.nd.ones((10,)) + step
        if step < 5: p.step()
print(p.rounds, p.step_number, 'step' in str(p.table()))
""", tmp_path)
    assert (done.code, "UserWarning" in done.err) == (0, name in ("cut", "never"))
    steps = list(active)
    rounds = sum(step - 1 not in steps for step in steps)
    assert done.out == f"{rounds} 5 {bool(steps)}\n"
    if not steps:
        assert not (tmp_path / "trace.json").exists()
        return
    items = done.trace()
    assert names(items, "mine") == [str(step) for step in steps]
    assert names(items, "profile,frame") == ["step"] * len(steps)
    assert names(items, "operator").count("_plus_scalar") == len(steps)


@pytest.mark.parametrize("warmup", [0, 1])
def test_rounds_are_told(tmp_path, warmup):
    done = run_python(f"""
import mxnet as mx
from mxnet import profiler
def tell(p):
    rows = p.table(format='dict', reset=True)['Time']['operator']
    print(p.rounds, rows['_plus_scalar']['Count'])
with profiler.profile('trace.json', warmup={warmup}, active=2, repeat=1, on_round=tell) as p:
    for step in range(6):
        a = mx.nd.ones((10,)) + step
        p.step()
""", tmp_path)
    assert (done.code, done.err, done.out) == (0, "", "1 2\n2 2\n")


def test_the_table_is_of_one_profile(tmp_path):
    done = run_python("""
import mxnet as mx
from mxnet import profiler
for name in 'ab':
    with profiler.profile(name + '.json') as p:
        mx.nd.ones((10,)) + 1
    print(p.table(format='dict')['Time']['operator']['_plus_scalar']['Count'])
""", tmp_path)
    assert (done.code, done.err, done.out) == (0, "", "1\n1\n")


def test_a_wrong_option_of_a_profile_lists_those_of_the_schedule(tmp_path):
    with pytest.raises(mx.MXNetError, match="argument 'activ'; did you mean 'active'. .* filename, "
                                            "skip, warmup, active, repeat, .* aggregate_stats"):
        with profiler.profile(str(tmp_path / "trace.json"), activ=3):
            pass


def test_an_exception_leaves_a_complete_trace(tmp_path):
    done = run_python("""
import mxnet as mx
from mxnet import profiler
with profiler.profile('trace.json') as p:
    (mx.nd.ones((3,)) + 1).wait_to_read()
    raise KeyboardInterrupt
""", tmp_path)
    assert done.code != 0 and "KeyboardInterrupt" in done.err
    assert "_plus_scalar" in names(done.trace(), "operator")


def test_dumps_in_every_form(tmp_path):
    done = run_python("""
import json
import mxnet as mx
from mxnet import profiler
print(repr(profiler.dumps()), profiler.dumps(format='dict'))
profiler.set_config(aggregate_stats=True, continuous_dump=False)
profiler.set_state('run')
for i in range(3): mx.nd.exp(mx.nd.ones((2,))).wait_to_read()
mx.nd.sqrt(mx.nd.ones((2,))).wait_to_read()
profiler.set_state('stop')
for key in ('total', 'avg', 'min', 'max', 'count'):
    for ascending in (False, True):
        rows = profiler.dumps(format='dict', sort_by=key, ascending=ascending)['Time']['operator']
        member = {'total': 'Total', 'avg': 'Avg', 'min': 'Min', 'max': 'Max', 'count': 'Count'}[key]
        values = [row[member] for row in rows.values()]
        assert values == sorted(values, reverse=not ascending), (key, values)
assert json.loads(profiler.dumps(format='json')) == profiler.dumps(format='dict', reset=True)
print(profiler.dumps(format='dict').get('Time'))
""", tmp_path)
    assert (done.code, done.err.count("UserWarning: dumps()")) == (0, 2)
    assert done.out.splitlines() == ["'' {}", "{}"]


def test_methods_can_be_overridden(tmp_path):
    done = run_python("""
from mxnet import profiler
class Told(profiler.Task):
    def start(self):
        print('start')
        super().start()
class More(Told):
    pass
task = More(profiler.Domain('d'), 't')
task.start()
task.stop()
try:
    profiler.Task.start(profiler.Event('e'))
except TypeError as error:
    print('TypeError')
""", tmp_path, MXNET_PYTHON_CORE="extension")
    assert (done.out, done.err) == ("start\nTypeError\n", "")
