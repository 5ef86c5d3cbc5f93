# SPDX-License-Identifier: Apache-2.0
"""What a trace tells of the program around its operators: batches of input and waits for them, collections of
garbage, memory from the system and what was there before, CPU time a step, and lines by which runs are compared.
Each against a figure that the program knows by itself. Native files are read by the reader of tests/format."""
import json
import os
import pathlib
import struct
import sys

import pytest

from python_program import SOURCE, run_python

sys.path.insert(0, str(SOURCE / "tests/format"))
from format_reader import Trace  # noqa: E402  pylint: disable=wrong-import-position

HEAD = """
import gc, json, os, time
import numpy as onp
import mxnet as mx
from mxnet import profiler
told = {}
profiler.set_config(native_filename='trace.mxp', filename='none', profile_all=True, continuous_dump=False)
"""
TAIL = """
mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
print(json.dumps(told))
"""


class Recorded:
    """The records of a program's trace, its lines of information, and what the program told."""

    def __init__(self, body, folder, tail=TAIL, **environment):
        done = run_python(HEAD + body + tail, folder, **environment)
        assert (done.code, done.err) == (0, "")
        self.told = json.loads(done.out)
        self.trace = Trace(pathlib.Path(folder, "trace.mxp").read_bytes())
        self.records = [record for chunk in self.trace.chunks for record in self.trace.records(chunk)]
        self.info = dict(self.trace.info)

    def category(self, name):
        """Of the first entry of this name in the table."""
        entry = next(entry for entry in self.trace.names if entry["text"].decode() == name and entry["style"] == 1)
        return self.trace.text(entry["category"])

    def of(self, kind, name=None):
        """Records of a kind, and of a name."""
        return [each for each in self.records if each["kind"] == kind and name in (None, each["name"])]


# ---- input ----------------------------------------------------------------------------------------
def test_each_batch_of_a_loader_is_a_span(tmp_path):
    found = Recorded("""
loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(onp.zeros((20, 3), 'float32')), batch_size=4)
profiler.set_state('run')
told['batches'] = sum(1 for _ in loader)
""", tmp_path)
    assert found.told["batches"] == 5
    assert len(found.of("span", "DataLoader")) == 6  # the last one finds the end
    assert found.category("DataLoader") == "input"
    assert not [wait for wait in found.of("wait") if wait["what"] == 6]  # they are made in the loop


def test_what_a_loop_waits_for_workers_is_in_its_span(tmp_path):
    found = Recorded("""
class Slow:
    def __len__(self): return 4
    def __getitem__(self, i):
        time.sleep(0.03)
        return onp.float32(i)
loader = mx.gluon.data.DataLoader(Slow(), batch_size=2, num_workers=1, thread_pool=True)
profiler.set_state('run')
begin = time.monotonic_ns()
told['batches'] = sum(1 for _ in loader)
told['ns'] = time.monotonic_ns() - begin
""", tmp_path)
    waits = [wait for wait in found.of("wait") if wait["what"] == 6]
    spans = found.of("span", "DataLoader")
    assert found.told["batches"] == 2 and 1 <= len(waits) <= 2
    assert {(wait["name"], wait["flags"], wait["ended_by"]) for wait in waits} == {("DataLoader", 3, 0)}
    for wait in waits:
        assert [span for span in spans
                if span["begin_ticks"] <= wait["begin_ticks"] and wait["end_ticks"] <= span["end_ticks"]]
    waited_ns = sum(wait["end_ns"] - wait["begin_ns"] for wait in waits)
    assert 0.03e9 < waited_ns <= found.told["ns"]


@pytest.mark.parametrize("make, name", [
    ("mx.io.NDArrayIter(onp.zeros((12, 2)), batch_size=4)", "NDArrayIter"),
    ("mx.io.ResizeIter(mx.io.NDArrayIter(onp.zeros((12, 2)), batch_size=4), 3)", "ResizeIter"),
    ("mx.io.PrefetchingIter(mx.io.NDArrayIter(onp.zeros((12, 2)), batch_size=4))", "PrefetchingIter"),
])
def test_each_turn_over_an_iterator_is_a_span(make, name, tmp_path):
    found = Recorded(f"iterator = {make}\nprofiler.set_state('run')\n"
                     "told['batches'] = sum(1 for _ in iterator)\n", tmp_path)
    assert found.told["batches"] == 3
    assert len(found.of("span", name)) == 4
    assert found.category(name) == "input"


def test_an_iterator_of_the_library_has_one_span_a_batch(tmp_path):
    (tmp_path / "images").write_bytes(struct.pack(">4I", 2051, 12, 28, 28) + bytes(784 * 12))
    (tmp_path / "labels").write_bytes(struct.pack(">2I", 2049, 12) + bytes(12))
    found = Recorded("""
iterator = mx.io.MNISTIter(image='images', label='labels', batch_size=4, shuffle=False, silent=1)
iterator.reset()
profiler.set_state('run')
told['batches'] = sum(1 for _ in iterator)
""", tmp_path)
    assert found.told["batches"] == 3
    assert len([span for span in found.of("span", "MNISTIter")]) == 4


# ---- garbage --------------------------------------------------------------------------------------
COLLECT = """
def collections(): return sum(each['collections'] for each in gc.get_stats())
gc.disable()
"""


def test_each_collection_of_garbage_is_a_span(tmp_path):
    found = Recorded(COLLECT + """
profiler.set_state('run')
before = collections()
for generation in (0, 1, 2, 2): gc.collect(generation)
told['recorded'] = collections() - before
profiler.pause()
told['paused'] = len([each for each in gc.callbacks if each.__module__.startswith('mxnet')])
gc.collect()
profiler.resume()
gc.collect()
told['recorded'] += 1
profiler.set_state('stop')
told['stopped'] = len([each for each in gc.callbacks if each.__module__.startswith('mxnet')])
gc.collect()
""", tmp_path)
    assert found.told == {"recorded": 5, "paused": 0, "stopped": 0}
    assert len(found.of("span", "garbage collection")) == 5
    assert found.category("garbage collection") == "python"


def test_a_recording_that_the_environment_begins_has_collections_too(tmp_path):
    source = COLLECT.replace("gc.disable()", "") + "import mxnet\ngc.collect()\n"
    done = run_python("import gc\n" + source, tmp_path, MXNET_PROFILER_AUTOSTART="1", MXPROF_FILENAME="none",
                      MXPROF_NATIVE_FILENAME=str(tmp_path / "trace.mxp"))
    assert (done.code, done.err) == (0, "")
    trace = Trace((tmp_path / "trace.mxp").read_bytes())
    names = [record["name"] for chunk in trace.chunks for record in trace.records(chunk)]
    assert "garbage collection" in names


# ---- memory ---------------------------------------------------------------------------------------
def test_what_was_live_before_is_in_the_trace_and_the_system_is_asked_in_spans(tmp_path):
    found = Recorded("""
kept = [mx.nd.ones((256, n + 1)) for n in range(4)]
mx.nd.waitall()
told['bytes'] = sum(4 * each.size for each in kept)
profiler.set_state('run')
new = mx.nd.ones((1 << 19,))
new.wait_to_read()
del new
mx.nd.waitall()
mx.nd.zeros((1 << 19,)).wait_to_read()
""", tmp_path)
    census = found.of("census")
    assert sum(each["requested_bytes"] for each in census) >= found.told["bytes"]
    assert {each["live_bytes"] for each in census} == {sum(each["requested_bytes"] for each in census)}
    first = min(found.of("memory"), key=lambda each: each["ticks"])
    sign = -1 if first["flags"] & 1 else 1
    assert first["live_bytes"] == census[0]["live_bytes"] + sign * first["requested_bytes"]
    large = [each for each in found.of("memory") if each["requested_bytes"] == 4 << 19 and not each["flags"] & 1]
    assert len(large) == 2
    fresh = [each for each in found.of("memory") if not each["flags"] & 3]
    assert len(found.of("span", "from system")) == len(fresh)  # the rest came from the pool
    assert found.category("from system") == "memory"


def test_a_recording_of_nothing_but_what_was_live_leaves_the_trace_alone(tmp_path):
    found = Recorded("""
kept = mx.nd.ones((256,))
kept.wait_to_read()
profiler.set_state('run')
(kept + 1).wait_to_read()
profiler.set_state('stop')
profiler.dump()
profiler.set_state('run')
""", tmp_path, TAIL.replace("mx.nd.waitall()", ""))
    assert len(found.of("operator", "_plus_scalar")) == 1


# ---- steps and runs -------------------------------------------------------------------------------
STEPS = """
profiler.set_state('run')
told['cpu'] = []
for _ in range(4):
    before = time.process_time_ns()
    profiler.step()
    told['cpu'].append([before, time.process_time_ns()])
    (mx.nd.ones((64, 64)) + 1).wait_to_read()
"""


def test_each_step_has_the_processes_cpu_time(tmp_path):
    found = Recorded(STEPS, tmp_path)
    marks = [each for each in found.of("meta") if each["what"] == 6]
    assert len(marks) == len([each for each in found.of("meta") if each["what"] == 3]) == 4
    for mark, (before, after) in zip(marks, found.told["cpu"]):
        assert before <= mark["value"] <= after
    delays = [mark["second"] for mark in marks]
    assert delays == sorted(delays) and delays[-1] < 1 << 63


def test_steps_without_cpu_time_where_it_is_switched_off(tmp_path):
    found = Recorded(STEPS, tmp_path, MXPROF_STEP_CPU="0")
    assert [each for each in found.of("meta") if each["what"] == 6] == []
    assert found.info["step_cpu"] == "off"


def test_a_trace_says_with_what_it_was_made(tmp_path):
    found = Recorded("profiler.set_config(native_filename='trace.mxp', filename='none', run_label='two threads')\n"
                     "profiler.set_state('run')\n(mx.nd.ones((8,)) + 1).wait_to_read()\n", tmp_path,
                     MXNET_CPU_WORKER_NTHREADS="3", MXNET_CPU_PRIORITY_NTHREADS="2", MXNET_CPU_KERNELS="own",
                     MXPROF_RUN_COMMIT="0123abc")
    told = {key: found.info[key] for key in ("engine.type", "engine.workers", "engine.light", "engine.priority", "kernels",
                                             "run.label", "run.commit", "step_cpu")}
    assert told == {"engine.type": "ThreadedEnginePerDevice", "engine.workers": "1", "engine.light": "2",
                    "engine.priority": "2", "kernels": "own, reference", "run.label": "two threads",
                    "run.commit": "0123abc", "step_cpu": "on"}
    assert found.info["library.version"] == found.info["mxprof_version"]


def test_a_trace_says_what_the_machine_has(tmp_path):
    found = Recorded("profiler.set_state('run')\n(mx.nd.ones((8,)) + 1).wait_to_read()\n", tmp_path)
    memory = pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").split("MemTotal:")[1].split()[0]
    assert found.info["machine.memory"] == str(1024 * int(memory))
    assert found.info["machine.cores"] == str(len(os.sched_getaffinity(0)))
    assert found.info["machine.kernel"] == os.uname().release
    assert found.info["machine.cgroup_cpu"] == "none" or float(found.info["machine.cgroup_cpu"]) > 0
    units = {"K": 1024, "M": 1 << 20, "G": 1 << 30}
    for cache in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, size = ((cache / name).read_text(encoding="utf-8").strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            assert found.info[f"machine.l{level}"] == str(int(size[:-1]) * units[size[-1]])
