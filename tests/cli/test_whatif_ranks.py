# SPDX-License-Identifier: Apache-2.0
"""What-if of a worker whose process has a part of the values: the sums of its store hold nothing."""
import json
import os
import pathlib
import subprocess

import pytest
from rank_files import MS, US, Job

MXPROF = pathlib.Path(os.environ["MXPROF_BUILD"]) / "mxprof"
OWN = 1 << 31  # numbers of what a store does by itself begin here
ASYNC = 256


class StoreJob(Job):
    """Exchanges are asynchronous, as a store records them; `sums`: each worker sums a key in each step before they end."""

    def __init__(self, *arguments, sums, **options):
        super().__init__(*arguments, **options)
        self.sums = sums
        for file in self.files:
            file.operator = self.with_flags(file.operator)

    @staticmethod
    def with_flags(add):
        def operator(thread, name, begin, end, op_id, phase=0, **more):
            add(thread, name, begin, end, op_id, phase=phase | ASYNC if phase == 4 and op_id < OWN else phase, **more)
        return operator

    def step(self, step, begin, works, extra, arrivals, keys, where, delays):
        for file, threads in zip(self.files if self.sums else [], self.threads):
            for i, name in enumerate(("CopyCPU2CPU", "BinaryOpKernel")):
                start = file.own(int(max(arrivals) + (50 + 40 * i) * US))
                file.operator(threads["store"], file.name(name, "operator", "span"), start, start + 30 * US, OWN + 2 * step + i,
                              push=start, pusher=threads["store"], phase=4)
        return super().step(step, begin, works, extra, arrivals, keys, where, delays)


def gain(file, *change):
    found = json.loads(subprocess.run([MXPROF, "whatif", "--json", *change, file], capture_output=True, text=True, timeout=60,
                                      check=True).stdout)
    process, = found["processes"]
    prediction, = process["predictions"]
    return process["recorded_mean_ns"] - prediction["mean_ns"]


@pytest.mark.parametrize("sums", [True, False])
def test_a_faster_program_of_the_last_worker_makes_its_steps_shorter(tmp_path, sums):
    job = StoreJob(3, 1, sums=sums)
    job.train(steps=20, late=1, late_ms=5, where=None, spread=0.001)
    file = next(job.write(tmp_path / "job").glob("worker1.*"))
    assert abs(gain(file, "--host", "0.5") - 2.5 * MS) < 0.2 * MS
    assert abs(gain(file, "--name", "conv1=0.5") - 5 * MS) < 0.2 * MS
    text = subprocess.run([MXPROF, "whatif", "--host", "0.5", file], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "Exchanges with other workers take as long as they took, whoever came last" in text
