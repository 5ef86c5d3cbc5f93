# SPDX-License-Identifier: Apache-2.0
"""torch.add on four numbers, as run_claims.py tells it: "plain", "profiled" (by PyTorch's own profiler), "export FILE"
(what that takes to write its file), "end". Answers each with a line of JSON.
"""
import json
import os
import sys
import time

import torch

ADDITIONS = 10_000


def additions(a):
    """CPU time of one, in ns."""
    begin = time.thread_time_ns()
    for _ in range(ADDITIONS):
        torch.add(a, a)
    return (time.thread_time_ns() - begin) / ADDITIONS


def profiled(a):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        ns = additions(a)
    return profile, ns


def export(a, file):
    """Wall time and bytes of an event in the file."""
    profile, _ = profiled(a)
    begin = time.perf_counter_ns()
    profile.export_chrome_trace(file)
    took = time.perf_counter_ns() - begin
    with open(file, encoding="utf-8") as trace:
        events = sum(event.get("name") == "aten::add" for event in json.load(trace)["traceEvents"])
    if events != ADDITIONS:
        sys.exit(f"its file has {events} additions of {ADDITIONS}")
    return {"ns": took / events, "bytes": os.path.getsize(file) / events}


def main():
    torch.set_num_threads(1)
    a = torch.tensor([1.0, 2.0, 3.0, 4.0])
    for line in sys.stdin:
        command, *arguments = line.split()
        if command == "plain":
            answer = {"ns": additions(a)}
        elif command == "profiled":
            answer = {"ns": profiled(a)[1]}
        elif command == "export":
            answer = export(a, *arguments)
        else:
            print(json.dumps({"ns": time.monotonic_ns(), "additions": ADDITIONS}), flush=True)
            return
        print(json.dumps(answer), flush=True)


main()
