# SPDX-License-Identifier: Apache-2.0
"""PyTorch's Gloo: sums of 16 MiB by two processes, which it starts itself. Prints the median as JSON."""
import json
import os
import socket
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

NUMBERS, REPEATS = 4 << 20, 9


def run(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    values = torch.ones(NUMBERS)
    taken = []
    for _ in range(REPEATS):
        values.fill_(rank + 1)
        dist.barrier()
        begin = time.perf_counter_ns()
        dist.all_reduce(values)
        taken.append(time.perf_counter_ns() - begin)
    if values[0] != 3:
        sys.exit("wrong sums")
    if rank == 0:
        print(json.dumps({"ns": statistics.median(taken[1:])}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        PORT = listener.getsockname()[1]
    mp.spawn(run, (PORT,), nprocs=2)
