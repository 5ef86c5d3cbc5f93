# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side of `a + 1` on four numbers: bench/python/workloads.py, plus_one. Answers each line
"off" with the time of one addition.
"""
import json
import sys
import time

import torch

ADDITIONS = 5_000


def main():
    torch.set_num_threads(2)
    a = torch.tensor([1.0, 2.0, 3.0, 4.0])
    for line in sys.stdin:
        if line != "off\n":
            sys.exit(f"unknown command {line!r}")
        begin = time.perf_counter_ns()
        for _ in range(ADDITIONS):
            a + 1  # pylint: disable=pointless-statement
        took = time.perf_counter_ns() - begin
        print(json.dumps({"ns": took / ADDITIONS}), flush=True)


main()
