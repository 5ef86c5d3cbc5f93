# SPDX-License-Identifier: Apache-2.0
"""Programs with a cause of slowness planted in them, recorded as native traces.

    planted_programs.py CAUSE TRACE.mxp [SIZE=NUMBER ...]

Sizes are milliseconds and counts, with the defaults below; `gain_of` says what removing the cause gains
of a step by arithmetic alone. Operators are repeated as often as it takes to fill a given time, so that
the arithmetic holds on any machine. Run with OMP_NUM_THREADS=1, so that CPU time is of one thread."""
import collections
import os
import random
import sys
import threading
import time

STEPS = 40
LAYERS = 5
WARM_UP = 8  # steps before those that are recorded

# What is planted and how much of it; in ms unless it is a count (names in capitals) or a factor.
SIZES = {
    "slow_loader": {"load": 4.0, "work": 6.0},
    "needless_wait": {"prepare": 3.0, "work": 5.0},
    "tiny_operators": {"COUNT": 64, "work": 0.2},
    "slow_layer": {"slow": 4.0, "work": 2.0},
    "allocation": {"MEGABYTES": 6, "work": 1.0},
    "first_run": {"first": 30.0, "work": 4.0},
    "imbalance": {"more": 3.0, "work": 3.0},
    "recording": {"RECORDS": 8000, "work": 0.02},
    "leak": {"KILOBYTES": 400, "work": 3.0},
    "lock": {"held": 3.0, "work": 4.0},
    "serial_chain": {"COUNT": 20, "work": 5.0},
    "nothing": {"work": 5.0},
}

# The name of the cause in `mxprof explain --json`; none: nothing may stand out.
CAUSES = {
    "slow_loader": "slow input",
    "needless_wait": "needless wait",
    "tiny_operators": "tiny operators",
    "slow_layer": "one slow layer",
    "allocation": "allocation in every step",
    "first_run": "first-run cost",
    "imbalance": "imbalance of processes",
    "recording": "recording is too fine",
    "leak": "memory grows",
    "lock": "custom operator",
    "serial_chain": "serial chain",
    "nothing": None,
}

PROCESSES = {"imbalance": 3}  # each its own trace
ENVIRONMENT = {"serial_chain": {"MXNET_CPU_WORKER_NTHREADS": "4"},
               "allocation": {"MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE": "4096"}}


def sizes_of(cause, given):
    """The sizes with those that are given in their place."""
    unknown = set(given) - set(SIZES[cause])
    if unknown:
        raise SystemExit(f"{cause} has no size {sorted(unknown)[0]}; it has {', '.join(SIZES[cause])}")
    return {**SIZES[cause], **given}


def drawn_sizes(cause, seed):
    """Other sizes, by seed, of which the cause gains at least 15 % of a step."""
    draw = random.Random(f"{cause} {seed}")
    while True:
        sizes = {name: (round(value * draw.uniform(0.5, 2)) if name.isupper() else
                        round(value * draw.uniform(0.5, 2), 3)) for name, value in SIZES[cause].items()}
        gain = gain_of(cause, sizes)
        if gain is None or gain >= 0.15:
            return sizes


def gain_of(cause, sizes):
    """Share of a step that removing the cause gains, by arithmetic; None: it is no time."""
    work = sizes["work"]
    if cause == "slow_loader":
        return min(sizes["load"], work) / (sizes["load"] + work)
    if cause == "needless_wait":
        return min(sizes["prepare"], work) / (sizes["prepare"] + work)
    if cause == "slow_layer":  # twice as fast, and more than all else
        return sizes["slow"] / 2 / (sizes["slow"] + work) if sizes["slow"] > 1.2 * work else 0
    if cause == "first_run":
        return 3 * sizes["first"] / (STEPS * work + 3 * sizes["first"])
    if cause == "imbalance":
        return sizes["more"] * (1 - 1 / PROCESSES[cause]) / (sizes["more"] + work)
    if cause == "lock":
        return sizes["held"] / (sizes["held"] + work)
    if cause == "tiny_operators":  # a block's call takes 4 us at least; bulks of 8 save seven of eight
        return 7 / 8 * sizes["COUNT"] * 0.004 / (sizes["COUNT"] * 0.004 + work)
    if cause == "allocation":  # writing a new megabyte takes 0.1 ms more at least
        return 0.1 * sizes["MEGABYTES"] / (0.1 * sizes["MEGABYTES"] + work)
    if cause == "recording":  # of 60 ns a value at most, its record takes 15 at least
        return sizes["RECORDS"] * 15e-6 / (sizes["RECORDS"] * 60e-6 + work)
    return None


class Work:
    """Operators that take a given time, by how long one of them takes on this machine."""

    ELEMENTS = 120_000

    def __init__(self, mx):
        self.mx = mx
        self.arrays = [mx.nd.ones((self.ELEMENTS,)) for _ in range(LAYERS)]
        self.unit_ms = min(self._unit() for _ in range(5))

    def _unit(self):
        self.mx.nd.waitall()
        begin = time.perf_counter()
        for _ in range(20):
            self.mx.nd.tanh(self.arrays[0], out=self.arrays[0])
        self.mx.nd.waitall()
        return (time.perf_counter() - begin) * 1e3 / 20

    def layer(self, number, ms):
        """One layer's operators, each of which needs the one before it."""
        with self.mx.profiler.scope(f"net:layer{number}:"):
            for _ in range(max(1, round(ms / self.unit_ms))):
                self.mx.nd.tanh(self.arrays[number], out=self.arrays[number])

    def layers(self, ms):
        for number in range(LAYERS):
            self.layer(number, ms / LAYERS)


def spin(ms):
    """Python that computes for a time."""
    end = time.perf_counter() + ms / 1e3
    while time.perf_counter() < end:
        pass


def lock_operator(mx, lock):
    class Held(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            with lock:
                self.assign(out_data[0], req[0], in_data[0])

    @mx.operator.register("held")
    class HeldProperty(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Held()


class Holder:
    """A thread that holds a lock for a time whenever it is asked to."""

    def __init__(self, ms):
        self.lock, self.ms = threading.Lock(), ms
        self.asked, self.has = threading.Semaphore(0), threading.Semaphore(0)
        threading.Thread(target=self._hold, daemon=True).start()

    def _hold(self):
        while True:
            self.asked.acquire()
            with self.lock:
                self.has.release()
                time.sleep(self.ms / 1e3)

    def hold(self):
        self.asked.release()
        self.has.acquire()


def program(cause, sizes, mx, rank):
    """What a step does, as a function of its number."""
    work = Work(mx)
    last = work.arrays[-1]
    if cause == "slow_loader":
        class Slow(mx.gluon.data.Dataset):
            def __len__(self):
                return STEPS + WARM_UP + 1

            def __getitem__(self, index):
                spin(sizes["load"])
                return 0.0
        batches = iter(mx.gluon.data.DataLoader(Slow(), batch_size=1))

        def step(number):
            next(batches)
            work.layers(sizes["work"])
            last.wait_to_read()
    elif cause == "needless_wait":
        def step(number):
            spin(sizes["prepare"])
            work.layers(sizes["work"])
            last.wait_to_read()
    elif cause == "tiny_operators":
        net = mx.gluon.nn.HybridSequential()
        for _ in range(sizes["COUNT"]):
            net.add(mx.gluon.nn.Activation("relu"))
        small = mx.nd.ones((4,))

        def step(number):
            work.layers(sizes["work"])
            last.wait_to_read()
            net(small).wait_to_read()
    elif cause == "slow_layer":
        def step(number):
            for layer in range(LAYERS - 1):
                work.layer(layer, sizes["work"] / (LAYERS - 1))
            work.layer(LAYERS - 1, sizes["slow"])
    elif cause == "allocation":
        elements = sizes["MEGABYTES"] * 250_000
        page = 1024  # so many are the smallest difference of two blocks

        def step(number):
            work.layers(sizes["work"])
            with mx.profiler.scope("net:buffer:"):
                mx.nd.zeros((elements // 4,))  # always of the same size: from the pool
                mx.nd.zeros((elements + page * number,)).wait_to_read()
    elif cause == "first_run":
        def step(number):
            work.layers(sizes["work"])
            if number < 3:
                work.layers(sizes["first"])
            last.wait_to_read()
    elif cause == "imbalance":
        def step(number):
            work.layers(sizes["work"] + (sizes["more"] if rank == 0 else 0))
            last.wait_to_read()
    elif cause == "recording":
        seen = mx.profiler.Domain("planted").new_counter("seen")

        def step(number):
            collections.deque(map(seen.set_value, range(sizes["RECORDS"])), maxlen=0)
            spin(sizes["work"])
    elif cause == "leak":
        kept = []

        def step(number):
            work.layers(sizes["work"])
            with mx.profiler.scope("net:kept:"):
                kept.append(mx.nd.ones((sizes["KILOBYTES"] * 250,)))
    elif cause == "lock":
        holder = Holder(sizes["held"])
        lock_operator(mx, holder.lock)

        def step(number):
            work.layers(sizes["work"])
            last.wait_to_read()
            holder.hold()
            mx.nd.Custom(last, op_type="held").wait_to_read()
    elif cause == "serial_chain":
        shared = work.arrays[0]

        def step(number):
            for link in range(sizes["COUNT"]):
                with mx.profiler.scope(f"net:link{link}:"):
                    for _ in range(max(1, round(sizes["work"] / sizes["COUNT"] / work.unit_ms))):
                        mx.nd.tanh(shared, out=shared)
    else:
        def step(number):
            work.layers(sizes["work"])
    return step


def record(cause, trace, sizes, rank):
    import mxnet as mx
    step = program(cause, sizes, mx, rank)
    for number in range(0 if cause == "first_run" else WARM_UP):
        step(STEPS + number)
    mx.nd.waitall()
    mx.profiler.set_config(profile_all=cause != "recording", native_filename=trace, filename=trace + ".json",
                           **({"profile_symbolic": True, "profile_imperative": True, "profile_api": False,
                               "profile_memory": False} if cause == "recording" else {}))
    mx.profiler.set_state("run")
    for number in range(STEPS):
        mx.profiler.step()
        step(number)
    mx.profiler.step()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    mx.profiler.dump()
    if os.path.exists(trace + ".json"):
        os.remove(trace + ".json")


def main(arguments):
    cause, trace, *rest = arguments
    rank = int(os.environ.get("PLANTED_RANK", "0"))
    given = {name: float(value) if name.islower() else int(value)
             for name, _, value in (size.partition("=") for size in rest)}
    record(cause, trace, sizes_of(cause, given), rank)


if __name__ == "__main__":
    main(sys.argv[1:])
