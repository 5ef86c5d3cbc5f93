# SPDX-License-Identifier: Apache-2.0
"""mxprof memory on files of which every byte is known: several devices and processes, a census, moments,
windows and rows, against a loop over the same list of changes."""
import collections
import json
import os
import pathlib
import random
import re
import subprocess

import pytest

import native_file

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
MS = 1_000_000
CATEGORIES = ["other", "parameter", "gradient", "optimizer", "output", "input", "workspace"]
native_file.KIND["census"] = 12


class Program:
    """Changes of memory, as records and as a list: (ns, device, owner or None, bytes, negative if freed)."""

    def __init__(self, seed, pid=4711, census=True):
        self.random = random.Random(seed)
        self.file = native_file.NativeFile(pid=pid)
        self.threads = [self.file.thread("main", end=400 * MS), self.file.thread("worker", end=400 * MS)]
        self.scopes = {name: self.file.name(name + ":", 0, "scope") for name in ("conv0", "dense0", "loss")}
        self.arrays = {name: self.file.name(name) for name in ("weight", "output", "temp")}
        self.changes, self.live, self.blocks = [], collections.Counter(), {}
        self.file.meta(self.threads[0], "state", 0, value=1)
        for i in range(4):  # there before
            owner = ("dense0", "weight", 1) if census else None
            self.blocks[0, 0x9000 + 64 * i] = owner, 1000 + i
            self.changes.append((0, 0, owner, 1000 + i))
            self.live[0] += 1000 + i
            if census:
                self.record("census", 1000, 0, owner, 0x9000 + 64 * i, 1000 + i, 0)
        for step in range(30):
            self.file.meta(self.threads[0], "step", (10 + 10 * step) * MS, value=step)
            for k in range(8):
                self.change((10 + 10 * step) * MS + 1 + k * MS)

    def record(self, kind, at, device, owner, block, size, flags):
        scope, name, category = owner or (None, None, 0)
        self.file.add(self.random.choice(self.threads) if kind == "memory" else self.threads[0], native_file.words(
            native_file.word0(kind, 3, self.file.origin + at),
            self.arrays.get(name, 0) | self.scopes.get(scope, 0) << 32,
            block | device << 48 | flags << 56 | category << 60, size, size + 24, self.live[device]))

    def change(self, at):
        if self.blocks and self.random.random() < 0.45:
            device, block = self.random.choice(sorted(self.blocks))
            owner, size = self.blocks.pop((device, block))
            self.live[device] -= size
            self.changes.append((at, device, owner, -size))
            self.record("memory", at, device, owner, block, size, 1)
            return
        device, block = self.random.choice((0, 0, 1)), 0x1000 + 64 * self.random.randrange(1000)
        if (device, block) in self.blocks:
            return
        owner = self.random.choice(sorted(self.scopes)), self.random.choice(sorted(self.arrays)), self.random.choice((2, 4))
        size = self.random.randrange(1, 100_000)
        self.blocks[device, block] = owner, size
        self.live[device] += size
        self.changes.append((at, device, owner, size))
        self.record("memory", at, device, owner, block, size, 0)

    def states(self, device):
        """(ns, total, owners) after each change of a device, those that were there before as one."""
        owners, total, found = collections.Counter(), 0, []
        for at, of, owner, size in self.changes:
            if of == device:
                owners[owner] += size
                total += size
                found.append((at, total, +owners))
        return found


def memory(*arguments, code=0):
    done = subprocess.run([BUILD / "mxprof", "memory", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False, env=dict(os.environ, LC_ALL="C.UTF-8"))
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def rows_of(device):
    return {row["owner"]: row["bytes"] for row in device["owners"]}


def owner_rows(owners):
    return {"<before recording>" if owner is None else f"{owner[0]} {owner[1]}": size
            for owner, size in merge_categories(owners).items()}


def merge_categories(owners):
    merged = collections.Counter()
    for owner, size in owners.items():
        merged[owner and owner[:2]] += size
    return merged


def by_name(device):
    """Rows of one name are of several categories."""
    sums = collections.Counter()
    for row in device["owners"]:
        sums[row["owner"]] += row["bytes"]
    return dict(sums)


@pytest.mark.parametrize("seed", range(8))
def test_peaks_and_ends_of_two_devices(seed, tmp_path):
    program = Program(seed, census=seed % 2 == 0)
    path = tmp_path / "run.mxp"
    path.write_bytes(program.file.to_bytes())
    devices = {device["device"]: device for device in
               json.loads(memory("--json", "--by", "owner", path))["devices"]}
    ends = {device["device"]: device for device in
            json.loads(memory("--json", "--by", "owner", "--at", "end", path))["devices"]}
    for number in (0, 1):
        states = program.states(number)
        peak = max(states, key=lambda state: state[1])
        device = devices[f"cpu/{number}"]
        assert device["peak"]["bytes"] == device["bytes"] == peak[1]
        assert device["peak"]["at_ns"] == peak[0]
        assert by_name(device) == owner_rows(peak[2])
        assert ends[f"cpu/{number}"]["bytes"] == states[-1][1]
        assert by_name(ends[f"cpu/{number}"]) == owner_rows(states[-1][2])
        assert device["gaps"] == 0


def test_moment_and_window(tmp_path):
    program = Program(3)
    path = tmp_path / "run.mxp"
    path.write_bytes(program.file.to_bytes())
    states = program.states(0)
    told = json.loads(memory("--json", "--by", "owner", "--at", "123ms", path))["devices"][0]
    state = [state for state in states if state[0] <= 123 * MS][-1]
    assert (told["bytes"], by_name(told)) == (state[1], owner_rows(state[2]))
    told = json.loads(memory("--json", "--step", "5:9", path))["devices"][0]
    inside = [state for state in states if state[0] < 110 * MS]
    begin = max(i for i, state in enumerate(inside) if state[0] < 60 * MS)
    assert told["peak"]["bytes"] == max(state[1] for state in inside[begin:])


def test_rows_that_are_chosen_leave_sums(tmp_path):
    program = Program(4)
    path = tmp_path / "run.mxp"
    path.write_bytes(program.file.to_bytes())
    every = json.loads(memory("--json", "--by", "owner", path))["devices"][0]
    some = json.loads(memory("--json", "--by", "owner", "--scope", "conv0*", "--name", "weight", "--name", "temp",
                             path))["devices"][0]
    assert set(rows_of(some)) == {owner for owner in rows_of(every) if owner in ("conv0 weight", "conv0 temp")}
    assert some["bytes"] == every["bytes"]
    assert some["bytes_left_out"] + sum(row["bytes"] for row in some["owners"]) == every["bytes"]
    memory("--scope", "conv9", path, code=2)


def test_processes_are_each_their_own(tmp_path):
    first, second = Program(5, pid=11), Program(6, pid=12)
    for program, name in ((first, "a.mxp"), (second, "b.mxp")):
        (tmp_path / name).write_bytes(program.file.to_bytes())
    told = json.loads(memory("--json", tmp_path))
    assert sorted(process["pid"] for process in told) == [11, 12]
    peaks = {process["pid"]: process["devices"][0]["peak"]["bytes"] for process in told}
    assert peaks == {program.file.pid: max(state[1] for state in program.states(0)) for program in (first, second)}
    text = memory(tmp_path)
    assert "process 11\n" in text and "process 12\n" in text


def test_categories_have_words(tmp_path):
    path = tmp_path / "run.mxp"
    path.write_bytes(Program(7).file.to_bytes())
    device = json.loads(memory("--json", "--by", "category", path))["devices"][0]
    assert re.search(r"^category +bytes +share +blocks$", memory("--by", "category", path), re.M)
    assert re.search(r"^array +bytes +share +blocks +what$", memory("--by", "array", path), re.M)
    assert set(rows_of(device)) <= {CATEGORIES[i] for i in (1, 2, 4)}
    assert sum(rows_of(device).values()) == device["bytes"]


def test_wrong_times_are_wrong_calls(tmp_path):
    path = tmp_path / "run.mxp"
    path.write_bytes(Program(1).file.to_bytes())
    memory("--at", "99s", path, code=2)
    memory("--at", "-99s", path, code=2)
    memory("--top", "0", path, code=2)
    memory("--growth", "--at", "end", path, code=2)
    memory("--step", "5000", path, code=2)
