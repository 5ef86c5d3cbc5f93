# SPDX-License-Identifier: Apache-2.0
"""Traces of a program that trains, with every time known: what `mxprof diff` compares."""
import struct

import native_file
from native_file import words

native_file.KIND.setdefault("wait", 10)
FORWARD, BACKWARD = 1, 2
PUSH, WAKE, REST = 20_000, 5_000, 30_000  # ns: before the first push, of the waiting thread, behind it
BASE = {"conv": 700_000, "dense": 200_000}


class Run(native_file.NativeFile):
    """Steps that push operators, one behind the other on a worker, and wait for the last."""

    def __init__(self, number, **options):
        super().__init__(pid=100 + number, realtime_ns=1_700_000_000_000_000_000 + number * 1_000_000_000)
        # Of an engine that had run before, the worker is the trace's first thread.
        names = ["compute worker", "python"] if options.get("worker_first") else ["python", "compute worker"]
        threads = {name: self.thread(name) for name in names}
        self.main, self.worker = threads["python"], threads["compute worker"]
        self.at, self.steps, self.ids, self.cpu_ns, self.delay_ns = 1_000_000, 0, 0, 0, 0
        self.options = options

    def operator(self, name, scope, start, run_ns, push, shape):
        self.ids += 1
        self.add(self.worker, struct.pack(
            "=8Q", native_file.word0("operator", 4, self.origin + start), name | self.ids << 32,
            run_ns | FORWARD << 48, start - push | self.main << 48, 0, 0, scope | shape << 32, 0))

    def wait(self, begin, end):
        self.add(self.main, words(native_file.word0("wait", 2, self.origin + begin),
                                  self.name("WaitForVar", "operator", "span") | self.ids << 32,
                                  (end - begin) | 1 << 48 | 1 << 52, 0))

    def mark(self):
        self.meta(self.main, "step", self.at, value=self.steps)
        if self.options.get("with_cpu", True):
            self.add(self.main, words(native_file.word0("meta", 2, self.origin + self.at), 6 << 32,
                                      self.cpu_ns, self.delay_ns))
        self.steps += 1

    def step(self, times, delay_share=0.1):
        """`times`: name of an operator -> ns. Returns the length of the step."""
        begin = self.at
        if self.options.get("with_steps", True):
            self.mark()
        net = self.name("net", 0, "scope")
        start = begin + PUSH
        for name, run_ns in times.items():
            scope = self.name(name.split("/")[0], net, "scope")
            shape = self.name(self.options.get("shapes", {}).get(name, "f32[64]"))
            self.operator(self.name(name, "operator", "span"), scope, start, run_ns, begin + PUSH, shape)
            start += run_ns
        self.wait(begin + PUSH, start + WAKE)
        self.at = start + WAKE + REST
        self.cpu_ns += sum(times.values())
        self.delay_ns += int(delay_share * (self.at - begin))
        return self.at - begin

    def finish(self):
        if self.options.get("with_steps", True):
            self.mark()
        return self.to_bytes()


def write_run(path, number, factors, steps=12, delay_share=0.1, base=None, info=(), **options):
    """A run whose operators take BASE times `factors`; each step is a little longer than the one before.
    Returns the mean of its steps."""
    run = Run(number, **options)
    lengths = [run.step({name: int(ns * factors.get(name, 1)) + 100 * i for name, ns in (base or BASE).items()},
                        delay_share) for i in range(steps)]
    run.info = list(info)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(run.finish())
    return sum(lengths) / steps


def write_side(folder, factor, noise, first=0, stride=1, **options):
    """Runs in `folder`, their convolution `factor` times as long and each run all of its own by one of
    `noise`. Returns their means."""
    return [write_run(folder / f"r{i:02}.mxp", first + i * stride,
                      {"conv": factor * (1 + share), "dense": 1 + share}, **options)
            for i, share in enumerate(noise)]
