# SPDX-License-Identifier: Apache-2.0
"""What each process of a distributed program runs, on ours or on the original. A worker does a batch whenever it
reads a line from its pipe; worker 0 writes what it took, as JSON. Servers of both stay inside the import.

Usage: store_worker.py FOLDER WORKLOAD. In FOLDER: pipes command.RANK and answer.
"""
import json
import os
import pathlib
import sys
import time

import numpy
import mxnet as mx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import workloads

KEYS = {"small": ([400], 200), "large": ([4 << 20], 4), "sixty": ([4096] * 50 + [65536] * 8 + [1_000_000] * 2, 4),
        "many": ([250] * 200, 10)}
IDLE_SECONDS = 2.0
TWO_BIT = {"type": "2bit", "threshold": 1}


def push_and_pull(store, sizes, repeats, together=False, total=None):
    """ns of a push and a pull of all keys, and the wait for them. `total`: what a value of the sum is."""
    names = [f"k{number}" for number in range(len(sizes))]
    total = total or sum(range(1, store.num_workers + 1))
    values = [mx.nd.ones((size,)) * (store.rank + 1) for size in sizes]
    outs = [mx.nd.zeros((size,)) for size in sizes]
    for name, size in zip(names, sizes):
        store.init(name, mx.nd.zeros((size,)))

    def batch():
        begin = time.perf_counter_ns()
        for _ in range(repeats):
            if together:
                store.pushpull(names, values, out=outs)
            else:
                for name, value in zip(names, values):
                    store.push(name, value)
                for name, out in zip(names, outs):
                    store.pull(name, out=out)
            mx.nd.waitall()
        took = (time.perf_counter_ns() - begin) / repeats
        # The original's, of several workers without an optimizer, grow from push to push.
        if hasattr(store, "barrier") and any(out[0].asscalar() != total for out in outs):
            raise SystemExit("wrong sums")
        return {"ns": took}
    return batch


def compressed(store):
    """The same of the large key with gradients of 2 bits, of which each is the threshold."""
    store.set_gradient_compression(TWO_BIT)
    return push_and_pull(store, *KEYS["large"], total=store.num_workers)


def pushed_bytes(store):
    """Bytes of a push of the large key, as the profile has them, compressed and plain."""
    names = {"KVStoreDistCompressedPush": "ns", "KVStoreDistDefaultPush": "off_ns"}
    stores = store, mx.kv.create("dist_sync")
    store.set_gradient_compression(TWO_BIT)
    value, trace = mx.nd.ones((4 << 20,)), pathlib.Path(sys.argv[1], f"trace.{store.rank}.json")
    for one in stores:
        one.init("k", value)
    mx.profiler.set_config(profile_all=True, filename=str(trace), continuous_dump=False)

    def batch():
        mx.profiler.set_state("run")
        for one in stores:
            one.push("k", value)
        mx.nd.waitall()
        store.barrier()
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        spans = [event for event in events if event["name"] in names and "pieces" in event.get("args", {})]
        return {names[span["name"]]: float(span["args"]["bytes"]) for span in spans}
    return batch


def lenet(store):
    """ns of a training step; the store sums and updates."""
    step = workloads.training_step(mx, store=store)
    return lambda: {"ns": float(numpy.median([step() for _ in range(10)]))}


def lenet_recorded(store):
    """The same with the profiler off and on, in turn. MXPROF_DISTRIBUTED_DETAIL says what of the store is recorded."""
    step = workloads.training_step(mx, store=store)
    mx.profiler.set_config(profile_all=True, filename=os.devnull, continuous_dump=False)

    def batch():
        took = {}
        for state in ("stop", "run"):
            mx.profiler.set_state(state)
            store.barrier()
            took[state] = float(numpy.median([step() for _ in range(20)]))
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        return {"ns": took["run"], "off_ns": took["stop"]}
    return batch


def idle(_store):
    """CPU time of the whole process over wall time, while nothing is asked of it."""
    def batch():
        time.sleep(0.1)
        begin, used = time.perf_counter(), time.process_time()
        time.sleep(IDLE_SECONDS)
        return {"ns": (time.process_time() - used) / (time.perf_counter() - begin) * 1e9}
    return batch


def make(store, workload):
    if workload in KEYS:
        return push_and_pull(store, *KEYS[workload], together=workload == "many")
    if workload == "sum":
        return push_and_pull(store, *KEYS["large"], together=True)
    others = {"idle": idle, "compressed": compressed, "pushed_bytes": pushed_bytes}
    if workload in others:
        return others[workload](store)
    if workload == "lenet":
        return lenet(store)
    return lenet_recorded(store)


def main(folder, workload):
    store = mx.kv.create("dist_sync")
    batch = make(store, workload)
    barrier = getattr(store, "barrier", None) or store._barrier  # the original's name
    with open(f"{folder}/command.{store.rank}", encoding="ascii") as commands:
        for _ in commands:
            barrier()
            answer = batch()
            if store.rank == 0:
                with open(f"{folder}/answer", "w", encoding="ascii") as answers:
                    answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
