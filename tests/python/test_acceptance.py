# SPDX-License-Identifier: Apache-2.0
"""What MXNet's own tests ask of its profiler, as far as it needs no GPU, server or symbols; with
the figures that they leave open."""
import json

import pytest

from python_program import names, run_python

PRELUDE = """
import json, os
import mxnet as mx
from mxnet import nd, profiler

def enable(run=True, **options):
    profiler.set_config(**{'profile_symbolic': True, 'profile_imperative': True,
                           'profile_memory': True, 'profile_api': True, 'filename': 'trace.json',
                           'continuous_dump': False, 'aggregate_stats': False, **options})
    if run:
        profiler.set_state('run')
"""

ENGINES = pytest.mark.parametrize("engine", ["", "NaiveEngine"], ids=["threads", "naive"])


def run(source, directory, engine=""):
    done = run_python(PRELUDE + source, directory, MXNET_ENGINE_TYPE=engine)
    assert (done.code, done.err) == (0, "")
    return done


@ENGINES
def test_run_for_some_iterations(tmp_path, engine):
    done = run("""
enable(run=False)
a = nd.random.uniform(shape=(64, 64))
for i in range(10):
    if i == 4: profiler.set_state('run')
    if i == 7: nd.waitall(); profiler.dump(True); profiler.set_state('stop')
    b = nd.dot(a, a)
    b.wait_to_read()
""", tmp_path, engine)
    assert names(done.trace(), "operator").count("dot") == 3


@ENGINES
def test_objects_around_work_in_any_order(tmp_path, engine):
    done = run("""
enable()
domain = profiler.Domain('PythonDomain')
kinds = {'task': domain.new_task('task'), 'frame': domain.new_frame('frame'),
         'event': profiler.Event('event')}
for order in (['task', 'frame', 'event'], ['event', 'task', 'frame'], ['frame', 'event', 'task']):
    for name in order:
        kinds[name].start()
        array = nd.zeros((3,))
        array.wait_to_read()
    for name in reversed(order):
        kinds[name].stop()
nd.waitall()
profiler.set_state('stop')
profiler.dump()
""", tmp_path, engine)
    items = done.trace()
    for category, name in (("PythonDomain", "task"), ("PythonDomain,frame", "frame"),
                           ("event", "event")):
        assert names(items, category) == [name] * 3
    assert names(items, "operator").count("_zeros") == 9


@ENGINES
def test_pause_and_what_ends_it(tmp_path, engine):
    done = run("""
domain = profiler.Domain('d')
def work(name):
    with domain.new_task(name): nd.ones((2,)).wait_to_read()
enable()
work('running')
profiler.pause()
work('paused')
enable()                  # run ends the pause
work('run again')
profiler.resume()
work('resumed')
profiler.pause()
work('paused again')
profiler.set_state('stop')
profiler.resume()
work('stopped')
profiler.dump(True)
""", tmp_path, engine)
    assert names(done.trace(), "d") == ["running", "run again", "resumed"]
    assert names(done.trace(), "operator").count("_ones") == 3


def test_continuous_file_never_shrinks(tmp_path):
    done = run("""
enable(continuous_dump=True, aggregate_stats=True, dump_period=0.05)
domain = profiler.Domain('d')
counter, marker, last = domain.new_counter('c', 0), domain.new_marker('m'), 0
for i in range(5):
    with profiler.Event('e'):
        counter += i
        marker.mark('process')
        nd.exp(nd.ones((2,))).wait_to_read()
    profiler.dump(False)
    json.load(open('trace.json'))
    size = os.path.getsize('trace.json')
    assert size >= last, (size, last)
    last = size
profiler.dump(False)
assert len(profiler.dumps()) > 100
profiler.set_state('stop')
profiler.dump(True)
""", tmp_path)
    items = done.trace()
    assert names(items, "event") == ["e"] * 5
    assert [item["args"]["c"] for item in items if item["name"] == "c"] == [0, 0, 1, 3, 6, 10]
    assert sum(item["name"] == "m" for item in items) == 5


@ENGINES
def test_table_as_json(tmp_path, engine):
    done = run("""
enable(aggregate_stats=True)
a = nd.ones((10, 10))
b = nd.sqrt(a) + 5 + 10
c = nd.zeros((7,), ctx=mx.cpu(1))
nd.waitall()
profiler.set_state('stop')
print(json.dumps([profiler.dumps(format='json', sort_by=key, ascending=ascending)
                  for key in ('total', 'avg', 'min', 'max', 'count')
                  for ascending in (False, True)]))
""", tmp_path, engine)
    texts = [json.loads(text) for text in json.loads(done.out)]
    orders = [(key, ascending) for key in ("Total", "Avg", "Min", "Max", "Count")
              for ascending in (False, True)]
    for table, (key, ascending) in zip(texts, orders):
        assert list(table) == ["Time", "Memory", "Unit"]
        assert table["Time"]["operator"]["sqrt"]["Count"] == 1
        assert table["Time"]["operator"]["_plus_scalar"]["Count"] == 2
        for group, sections in table.items():
            for rows in sections.values() if group != "Unit" else ():
                # Counters beside durations are compared in their own unit.
                values = [row.get(key) for name, row in rows.items()
                          if not name.startswith("MXNet C API ")]
                if group == "Memory" and key == "Total":
                    assert values == [None] * len(values)
                else:
                    assert values == sorted(values, reverse=not ascending), (group, key)
        assert {"Memory: cpu/0", "Memory: cpu/1"} <= set(table["Memory"]["Device Storage"])


@ENGINES
def test_two_custom_operators(tmp_path, engine):
    done = run("""
class Add(mx.operator.CustomOp):
    def __init__(self, number): self.number = number
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + self.number)
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], nd.zeros((3,)) + out_grad[0])

def prop(number):
    class Prop(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes): return Add(number)
    return Prop

mx.operator.register('MyAdd1')(prop(1))
mx.operator.register('MyAdd2')(prop(2))
enable(aggregate_stats=True)
profiler.dumps(reset=True)
x = nd.zeros((3,)); x.attach_grad()
with mx.autograd.record():
    y = nd.Custom(x, op_type='MyAdd1') + nd.Custom(x, op_type='MyAdd2')
y.backward()
nd.waitall()
profiler.dump(False)
rows = profiler.dumps(format='dict')['Time']['Custom Operator']
print(y.asnumpy().tolist(), x.grad.asnumpy().tolist())
print(json.dumps({name: row['Count'] for name, row in rows.items()}))
""", tmp_path, engine)
    values, rows = done.out.splitlines()
    assert values == "[3.0, 3.0, 3.0] [2.0, 2.0, 2.0]"
    rows = json.loads(rows)
    for name in ("MyAdd1", "MyAdd2"):
        for part in ("::pure_python", "::_plus_scalar", "::CopyCPU2CPU"):
            assert rows[name + part] == 1
        for part in ("::pure_python", "::_zeros", "::broadcast_add"):
            assert rows["_backward_" + name + part] == 1


def test_table_of_allocations(tmp_path):
    run("""
import csv
enable(gpu_memory_profile_filename_prefix='blocks')
with profiler.scope('tensordot'):
    a = nd.ones((8, 8)); b = nd.ones((8, 4))
    c = nd.dot(a, b)
nd.waitall()
profiler.set_state('stop')
profiler.dump(True)
rows = list(csv.DictReader(open(f'blocks-pid_{os.getpid()}.csv')))
sizes = sorted((row['Attribute Name'], int(row['Requested Size'])) for row in rows
               if not row['Attribute Name'].startswith('resource:'))
assert sizes == [('tensordot:_ones', 128), ('tensordot:_ones', 256), ('tensordot:dot', 128)], sizes
assert list(rows[0]) == ['Attribute Name', 'Requested Size', 'Device', 'Actual Size', 'Reuse?']
""", tmp_path)
