# SPDX-License-Identifier: Apache-2.0
"""Traces as other profilers write them, each with everything that its importer has to know. Written
by hand from what the formats are, small enough to be read."""
import json


def _torch_event(ph, cat, name, ts, dur=None, pid=433, tid=433, args=None, **more):
    """As libkineto lays an event out: a line a key, and a comma of its own before the arguments."""
    lines = [f'"ph": "{ph}"']
    if cat is not None:
        lines.append(f'"cat": "{cat}"')
    lines += [f'"name": {json.dumps(name)}', f'"pid": {json.dumps(pid)}', f'"tid": {json.dumps(tid)}',
              f'"ts": {ts}']
    if dur is not None:
        lines.append(f'"dur": {dur}')
    lines += [f'"{key}": {json.dumps(value)}' for key, value in more.items()]
    text = "  {\n    " + ",\n    ".join(lines)
    if args is not None:
        text += "\n    ,\n    \"args\": {\n      " + json.dumps(args)[1:-1] + "\n    }"
    return text + "\n  }"


def _memory(ts, addr, size, total, device=(0, -1)):
    return _torch_event("i", "cpu_instant_event", "[memory]", ts, s="t", args={
        "Total Reserved": 0, "Total Allocated": total, "Bytes": size, "Device Id": device[1],
        "Device Type": device[0], "Addr": addr, "Ev Idx": 1})


def torch(steps=2):
    """torch.profiler's, with shapes, memory, Python functions, a device and its flows."""
    base = 4783392258000
    events = []
    for pid, label in ((433, "python"), (0, "python")):
        events.append(_torch_event("M", None, "process_name", f"{base}.000", pid=pid, tid=0,
                                   args={"name": label}))
        events.append(_torch_event("M", None, "process_labels", f"{base}.000", pid=pid, tid=0,
                                   args={"labels": "CPU" if pid else "GPU 0"}))
        events.append(_torch_event("M", None, "process_sort_index", f"{base}.000", pid=pid, tid=0,
                                   args={"sort_index": pid}))
    events.append(_torch_event("M", None, "thread_name", f"{base}.000", args={"name": "thread 433 (python)"}))
    for step in range(steps):
        at = base + 1000 * step
        ids = {"External id": 7 + step, "Sequence number": step}
        events += [
            _torch_event("X", "user_annotation", f"ProfilerStep#{step + 3}", f"{at}.130", "900.781",
                         args={"External id": 1}),
            _torch_event("X", "cpu_op", "aten::linear", f"{at + 10}.001", "300.009", args=dict(
                ids, **{"Input Dims": [[8, 3], [3, 4], []], "Concrete Inputs": ["", "a \"b\""]})),
            _torch_event("X", "cpu_op", "aten::mm", f"{at + 20}.493", "135.072", args=ids),
            _torch_event("X", "python_function", "train.py(9): step \\ \u00e4", f"{at + 5}.000", "320.5",
                         args={"Python parent id": None, "Python id": 1}),
            _torch_event("X", "cuda_runtime", "cudaLaunchKernel", f"{at + 30}.000", "5.000",
                         args={"correlation": 11 + step}),
            _torch_event("X", "kernel", "sgemm", f"{at + 60}.250", "40.125", pid=0, tid=7,
                         args={"device": 0, "stream": 7, "correlation": 11 + step, "grid": [1, 2, 3]}),
            _torch_event("s", "ac2g", "ac2g", f"{at + 30}.000", id=11 + step),
            _torch_event("f", "ac2g", "ac2g", f"{at + 60}.250", pid=0, tid=7, id=11 + step, bp="e"),
            _torch_event("s", "fwdbwd", "fwdbwd", f"{at + 21}.000", id=step),
            _torch_event("f", "fwdbwd", "fwdbwd", f"{at + 22}.000", id=step, bp="e"),
            _memory(f"{at + 40}.5", 1076514240 + step, 4096, 4096),
            _memory(f"{at + 50}.5", 1076514240 + step, -4096, 0),
            _memory(f"{at + 55}.5", 99, 512, 512, device=(1, 0)),
        ]
    events += [
        _torch_event("X", "Trace", "PyTorch Profiler (0)", f"{base}.000", f"{1000 * steps}.744",
                     pid="Spans", tid="PyTorch Profiler", args={"Op count": 0}),
        _torch_event("i", None, "Iteration Start: PyTorch Profiler", f"{base}.000", pid="Traces",
                     tid="Trace PyTorch Profiler", s="g"),
        _torch_event("i", None, "Record Window End", f"{base + 1000 * steps + 800}.023", pid="", tid="",
                     s="g"),
    ]
    return ('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {"id": 0, "name": "a [card]"}\n  ],\n'
            '  "record_shapes": 1,\n  "displayTimeUnit": "ms",\n'
            '  "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n  '
            + ",\n".join(events) + '\n  ],\n  "traceName": "/tmp/t.json"\n}')


def viztracer():
    """viztracer's: one line, functions with their files, two threads."""
    events = [{"ph": "M", "pid": 2345, "tid": 2345, "name": "process_name",
               "args": {"name": "MainProcess"}},
              {"ph": "M", "pid": 2345, "tid": 2372, "name": "thread_name",
               "args": {"name": "Thread-1 (run)"}}]
    calls = [(2345, 370.463, 100.5, "<module> (/tmp/a b.py:1)"), (2345, 380.0, 8.322, "fib (/tmp/a b.py:2)"),
             (2345, 381.0, 3.25, "fib (/tmp/a b.py:2)"), (2345, 390.815, 0.0, "builtins.sorted"),
             (2372, 371.104, 0.33, "A.run (/tmp/a b.py:4)")]
    events += [{"pid": 2345, "tid": tid, "ts": ts, "ph": "X", "cat": "fee", "dur": dur, "name": name}
               for tid, ts, dur, name in calls]
    return json.dumps({"traceEvents": events,
                       "viztracer_metadata": {"overflow": False, "version": "1.1.1"},
                       "file_info": {"files": {"/tmp/a b.py": ["x = {\"]\": 1}\n", 1]}}})


def chrome():
    """Every phase of the format, in an array."""
    def event(ph, name, ts, **more):
        return dict({"ph": ph, "cat": "app", "name": name, "pid": 1, "tid": 1, "ts": ts}, **more)
    return json.dumps([
        event("B", "outer", 1), event("B", "inner", 2.5), event("E", "inner", 4), event("E", "outer", 10),
        event("X", "complete", 20, dur=5), event("X", "text", "30", dur="1.5", tid="worker"),
        event("b", "async", 40, id="0x1"), event("n", "mark", 41, id="0x1"),
        event("b", "async", 42, id="0x1"), event("e", "async", 43, id="0x1"),
        event("e", "async", 50, id="0x1", tid=2),
        event("b", "local", 44, id2={"local": "1"}), event("e", "local", 46, id2={"local": "1"}),
        event("S", "old", 51, id=5), event("T", "old", 52, id=5, args={"step": "a"}),
        event("F", "old", 55, id=5),
        event("s", "flow", 21, id=9), event("t", "flow", 22, id=9), event("f", "flow", 23, id=9, bp="e"),
        event("C", "load", 60, args={"user": 1, "system": 2.5}), event("C", "load", 61, args={"load": 3}),
        event("C", "other", 62, id=4, args={"n": -7, "deep": {"a": 1}, "none": None}),
        event("i", "here", 70, s="g"), event("I", "there", 71), event("R", "navigation", 72),
        event("M", "process_name", 0, args={"name": "the \"app\""}),
        event("M", "thread_name", 0, args={"name": "main"}),
        event("M", "thread_sort_index", 0, args={"sort_index": 1}),
        event("M", "no_such_thing", 0, args={"x": 1}),
        event("N", "object", 80, id=1), event("O", "object", 81, id=1, args={"snapshot": {}}),
        event("D", "object", 82, id=1), event("v", "dump", 83, id=1), event("P", "sample", 84),
        event("c", "sync", 85), event("(", "context", 86, id=1), event(")", "context", 87, id=1),
        event("?", "question", 88), {},
    ])
