# SPDX-License-Identifier: Apache-2.0
"""Samples of memory step by step, as the original's memory.py. Wanted beyond it: totals are true, so what
is older than the run counts until it goes."""
from harness import run_program, trace_items

PROGRAM = """
import runtime_api as mx
set_config(profile_all=True, profile_api=False, aggregate_stats=True, continuous_dump=False,
           filename='trace.json')
domain = Domain('step')
def mark(name):
    mx.wait_all()
    domain.mark(name)
def make(name, inputs=(), **params):
    return mx.invoke(name, list(inputs), params)[0]
old = make('_ones', shape='(100,)')
mark('before')
set_state('run')
mark('3x3 float32 array'); a = mx.array((3, 3), range(1, 10))
mark('diag'); b = make('diag', [a])
mark('sum'); c = make('sum', [b], axis=-1)
mark('view a[1]'); v = mx.view('MXNDArrayAt', a, 1)
mark('delete sum'); mx.free(c)
mark('float64 array of 10'); d = make('_zeros', shape='(10,)', dtype='float64')
mark('delete it'); mx.free(d)
mark('nd.empty'); e = mx.create((5, 5))
mark('first write to it'); mx.invoke('_full', [], {'shape': '(5, 5)', 'value': 1}, [e])
mark('delete what has a view'); mx.free(a)
mark('delete the view'); mx.free(v)
mark('delete a block older than the run'); mx.free(old)
mark('pinned'); f = C.c_void_p()
mx.call('MXNDArrayCreate', (C.c_uint32 * 2)(2, 3), 2, 3, 0, 0, 0, C.byref(f))
mark('end')
set_state('stop')
dump()
"""
OLD = 400
STEPS = [
    ("3x3 float32 array", [OLD + 36]), ("diag", [OLD + 48]), ("sum", [OLD + 52]), ("view a[1]", []),
    ("delete sum", [OLD + 48]), ("float64 array of 10", [OLD + 128]), ("delete it", [OLD + 48]),
    ("nd.empty", [OLD + 148]), ("first write to it", []), ("delete what has a view", []),
    ("delete the view", [OLD + 112]), ("delete a block older than the run", [112]),
    ("pinned", [("cpu pinned/", 24)]), ("end", []),
]


def test_samples_step_by_step(tmp_path):
    done = run_program(PROGRAM, tmp_path)
    assert (done.code, done.stderr) == (0, "")
    found = []
    for item in sorted(trace_items(tmp_path / "trace.json"), key=lambda item: item["ts"]):
        if item["ph"] == "i":
            found.append((item["name"], []))
        elif item["ph"] == "C" and item["name"].startswith("Memory: "):
            device, value = item["name"].split(": ")[1], item["args"][item["name"]]
            found[-1][1].append(value if device == "cpu/0" else (device, value))
    assert found == STEPS
