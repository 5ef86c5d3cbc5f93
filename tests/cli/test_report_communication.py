# SPDX-License-Identifier: Apache-2.0
"""mxprof report of what runs beside the steps: exchanges of values, which overlap computing, and processes that serve
others and have no steps of their own."""
import json
import os
import pathlib
import subprocess

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
MS = 1_000_000
FORWARD, COMMUNICATION, ASYNC = 1, 4, 256


def report(path):
    result = subprocess.run([BUILD / "mxprof", "report", "--json", path], capture_output=True, text=True, timeout=60,
                            check=True)
    return json.loads(result.stdout)


def worker():
    """Two steps of 10 ms; in each an operator of 4 ms and two exchanges of 6 ms side by side."""
    file = native_file.NativeFile()
    main, compute, sender = file.thread("main", end=30 * MS), file.thread("compute"), file.thread("communication")
    layer = file.name("net", 0, "scope")
    forward, push = file.name("dot", "operator", "span"), file.name("Push", "operator", "span")
    for step in range(3):
        file.meta(main, "step", (step + 1) * 10 * MS - 10 * MS, value=step)
    for step in range(2):
        at = step * 10 * MS
        file.operator(compute, forward, at + MS, at + 5 * MS, 10 * step + 1, push=at, pusher=main, phase=FORWARD,
                      scope=layer)
        for number in (2, 3):
            file.operator(sender, push, at + 2 * MS, at + 8 * MS, 10 * step + number, push=at, pusher=main,
                          phase=COMMUNICATION | ASYNC, scope=layer)
    return file


def test_exchanges_are_counted_beside_what_computes(tmp_path):
    (tmp_path / "worker.mxp").write_bytes(worker().to_bytes())
    found = report(tmp_path / "worker.mxp")
    row, = [row for row in found["operators"] if row["name"] == "Push"]
    assert (row["calls"], row["total_ns"], row["max_ns"], row["phase"]) == (4, 24 * MS, 6 * MS, "communication")
    layer, = [layer for layer in found["layers"] if layer["scope"] == "net"]
    assert (layer["communication_ns"], layer["forward_ns"], layer["sum_ns"]) == (24 * MS, 8 * MS, 8 * MS)


def test_a_process_without_steps_adds_no_time_to_the_steps_of_others(tmp_path):
    (tmp_path / "both").mkdir()
    (tmp_path / "both/worker.mxp").write_bytes(worker().to_bytes())
    alone = report(tmp_path / "both/worker.mxp")
    server = native_file.NativeFile()
    server.pid = 4712
    thread = server.thread("main", end=500 * MS)
    server.operator(thread, server.name("update", "operator", "span"), 0, 400 * MS, 1)
    (tmp_path / "both/server.mxp").write_bytes(server.to_bytes())
    found = report(tmp_path / "both")
    assert found["wall_ns"] == alone["wall_ns"] and found["path"]["wall_ns"] == alone["path"]["wall_ns"]
    row, = [row for row in found["operators"] if row["name"] == "update"]
    assert (row["calls"], row["total_ns"]) == (1, 400 * MS)
