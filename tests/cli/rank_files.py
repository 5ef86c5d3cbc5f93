# SPDX-License-Identifier: Apache-2.0
"""Files of the processes of one job on several machines, whose clocks and delays are known: what
`mxprof merge` and `explain` find is compared with what was put in.

    rank_files.py FOLDER [--ranks N] [--records N] [--seed N]     a job's files, for a look at them
"""
import argparse
import math
import pathlib
import random
import struct

import native_file

US, MS, S = 1_000, 1_000_000, 1_000_000_000
ROLES = {"worker": 1, "server": 2}


class Clock:
    """What CLOCK_MONOTONIC_RAW of a machine reads at a time (ns) of the head's."""

    def __init__(self, shift_ns=0, skew=0.0, jump_at=math.inf, jump_ns=0, wander=0.0, period=10 * S):
        self.shift_ns, self.skew, self.jump_at, self.jump_ns = shift_ns, skew, jump_at, jump_ns
        self.wander, self.turn = wander, 2 * math.pi / period

    def read(self, now):
        wandered = self.wander / self.turn * math.sin(self.turn * now)
        jumped = self.jump_ns if now >= self.jump_at else 0
        return int(now) + round(now * self.skew) + self.shift_ns + round(wandered) + jumped


class RankFile(native_file.NativeFile):
    """The file of one process. Times given to it are the head's; its ticks are its own raw clock."""

    def __init__(self, role, rank, process, clock, host, boot_id, begin, end, job=77, flags=0):
        super().__init__(pid=1000 + process, origin=clock.read(begin))
        self.role, self.rank, self.process, self.clock, self.host = role, rank, process, clock, host
        self.boot_id, self.begin, self.end, self.job, self.flags = boot_id, begin, end, job, flags
        self.cuts = []
        self.wall_error_ns = 0  # of this machine's wall clock

    def own(self, now):
        """A time of the head's as this file's trace time."""
        return self.clock.read(now) - self.origin

    def exchange(self, now, there_ns, turn_ns, back_ns, peer=0):
        """An exchange with the head that begins now, whose messages take so long."""
        sent, back = self.clock.read(now), self.clock.read(now + there_ns + turn_ns + back_ns)
        room = int((back - sent) * (0.5 + 2e-4)) + 2
        received = int(now + there_ns)
        self.cuts.append((sent + (back - sent) // 2, received + turn_ns - room, received + room, 1, peer))

    def burst(self, now, draw, count=16, least_ns=20 * US, spread_ns=30 * US):
        for _ in range(count):
            there, back = (int(least_ns + draw.random() * spread_ns) for _ in range(2))
            self.exchange(now, there, 500, back)
            now += there + back + 1000
        return now

    def clock_payload(self):
        points = b""
        for now in (self.begin, self.end):
            ticks = self.clock.read(now)
            boot = ticks + 1_000_000 * self.process * S * (self.process > 0)  # started at another time
            wall = self.realtime_ns + int(now) + self.wall_error_ns
            points += native_file.words(ticks, ticks, ticks, boot, wall, 0)
        segment = struct.pack("=QqQ", self.origin, 0, 1 << 32)
        return struct.pack("=IIIIdqQ", 3, 2, 1, 0, 0, 0, 0) + points + segment

    def to_bytes(self):
        owner = struct.pack("=QIIII40s64s", self.job, ROLES[self.role], self.rank, self.process,
                            self.flags, self.boot_id.encode(), self.host.encode())
        self.clock_cuts = owner + b"".join(struct.pack("=QQQII", *cut) for cut in sorted(self.cuts))
        return super().to_bytes()


class Job:
    """Workers 0 .. ranks - 1, each on a machine of its own unless `machines` says otherwise."""

    def __init__(self, ranks, seed=1, end=2 * S, clocks=None, machines=None, job=77):
        self.draw = random.Random(seed)
        self.end = end
        machines = machines or list(range(ranks))
        shared = {}
        self.files, self.threads = [], []
        for rank in range(ranks):
            machine = machines[rank]
            clock = shared.setdefault(machine, clocks[rank] if clocks else self.any_clock(machine))
            file = RankFile("worker", rank, rank, clock, f"n{machine}", f"boot-{machine}", 0, end, job)
            file.begun_ns = machine
            self.files.append(file)
            self.threads.append(file.thread("main"))
        self.flows = 0
        self.exchange_ns = 300 * US  # from the last arrival to the end of a step's exchange

    def any_clock(self, machine):
        if machine == 0:
            return Clock(shift_ns=1_000 * S)
        return Clock(shift_ns=1_000 * S + self.draw.randrange(-10 * S, 10 * S),
                     skew=self.draw.uniform(-200e-6, 200e-6))

    def exchange_all(self, syncs=4, **delays):
        """Bursts at the begin, the end and between, of the first process of each machine."""
        seen = {self.files[0].boot_id}
        head = self.files[0].clock
        for file in self.files[1:]:
            if file.boot_id in seen:
                continue
            seen.add(file.boot_id)
            for sync in range(syncs):
                file.burst(10 * MS + (self.end - 40 * MS) * sync // max(1, syncs - 1), self.draw, **delays)
        for file in self.files:  # what the head's clock read is that clock's
            file.cuts = [(at, low + head.shift_ns, high + head.shift_ns, kind, peer)
                         for at, low, high, kind, peer in file.cuts]

    def message(self, sender, receiver, sent, received):
        self.flows += 1
        flow_id = sender << 44 | self.flows
        for rank, now, phase, text in ((sender, sent, 1, "send"), (receiver, received, 3, "receive")):
            file = self.files[rank]
            name = file.name("message", "communication", "flow")
            span = file.name(text, "communication", "span")
            begin, end = (now - 5 * US, now) if phase == 1 else (now - 5 * US, now)
            file.span(self.threads[rank], span, file.own(begin), file.own(end))
            file.flow(self.threads[rank], name, file.own(now), phase, flow_id)

    def train(self, steps=60, keys=3, base_ms=20.0, spread=0.01, late=None, late_ms=5.0, where="conv1", delays=None):
        """Steps of all workers that wait for one another at their ends, with an owner in each. Worker `late`, or each of
        several, takes late_ms more in `where`: an operator, None for the program itself, "input" for its loader, "tail" for what
        it does after the exchange, before its next step. `delays`: by rank how many ms a step its threads wait for a core."""
        late = late if isinstance(late, (list, tuple)) else [late]
        length = 1.3 * (base_ms + late_ms) * MS
        self.end = int(100 * MS + steps * length)
        for file in self.files:
            file.end = self.end
        self.threads = [{"main": thread, "engine": file.thread("engine"), "store": file.thread("communication")}
                        for file, thread in zip(self.files, self.threads)]
        now = 50 * MS
        for step in range(steps):
            works = [base_ms * MS * (1 + self.draw.gauss(0, spread)) for _ in self.files]
            extra = [late_ms * MS if rank in late else 0 for rank in range(len(self.files))]
            arrivals = [int(now + work + more) for work, more in zip(works, extra)]
            now = self.step(step, int(now), works, extra, arrivals, keys, where, delays)
        self.threads = [threads["main"] for threads in self.threads]

    def step(self, step, begin, works, extra, arrivals, keys, where, delays):
        last = max(range(len(arrivals)), key=arrivals.__getitem__)
        done = int(max(arrivals) + self.exchange_ns)
        for rank, file in enumerate(self.files):
            threads = self.threads[rank]
            scope = file.name("net", 0, "scope")
            names = [file.name(text, "operator", "span") for text in ("conv1", "dense")]
            push = file.name("KVStoreDistDefaultStoragePushPull", "operator", "span")
            at = [begin, int(begin + works[rank] / 2 + (extra[rank] if where == "conv1" else 0))]
            at.append(int(at[1] + works[rank] / 2))
            start = arrivals[rank] - at[2] + at[0]  # the program itself took the rest
            ids = [step * 10 + i + 1 for i in range(3)]
            mark = begin + (int(extra[rank]) if where == "tail" else 0)
            file.meta(threads["main"], "step", file.own(mark), value=step)
            if delays is not None:
                file.meta(threads["main"], "step_cpu", file.own(mark), value=step * 10 * MS,
                          second=int(step * delays.get(rank, 0.5) * MS))
            shift = start - begin if where in (None, "input", "tail") else 0
            if where == "input" and extra[rank]:
                file.span(threads["main"], file.name("Loader", "input", "span"), file.own(begin), file.own(begin + extra[rank]))
            for i, name in enumerate(names):
                file.operator(threads["engine"], name, file.own(at[i] + shift), file.own(at[i + 1] + shift),
                              ids[i], push=file.own(begin + shift), pusher=threads["main"], phase=1,
                              scope=scope, released_by=ids[i - 1] if i else 0)
            file.operator(threads["store"], push, file.own(arrivals[rank]), file.own(done), ids[2],
                          push=file.own(begin + shift), pusher=threads["main"], phase=4, scope=scope,
                          released_by=ids[1])
            wait = file.name("MXNDArrayWaitToRead", "API", "span")
            file.wait(threads["main"], wait, file.own(begin + shift + 20 * US), file.own(done), ids[2])
            self.waits(file, threads["store"], step, keys, arrivals, rank, last, done)
        self.rounds(step, keys, arrivals, last, done)
        return done + 50 * US

    def waits(self, file, thread, step, keys, arrivals, rank, last, done):
        """What the owners told the worker with their answers. Keys wait side by side."""
        span = file.name("KVStoreDistDefaultStoragePushPull", "communication", "async")
        text = {key: file.name(key) for key in ("key", "round", "bytes", "waited_ns", "waited_for")}
        for key in range(keys):
            sent = arrivals[rank] - key * 10 * US
            file.span_on(thread, span, file.own(sent), file.own(done), args=[
                (text["key"], 4, file.name(f"w{key}")), (text["round"], 1, step), (text["bytes"], 1, 4096),
                (text["waited_ns"], 1, arrivals[last] - arrivals[rank]), (text["waited_for"], 1, last)])

    def rounds(self, step, keys, arrivals, last, done):
        for key in range(keys):
            owner = key % len(self.files)
            file = self.files[owner]
            text = {word: file.name(word) for word in ("key", "round", "first", "last", "spread_ns")}
            file.span_on(self.threads[owner]["store"], file.name("KVStore round", "communication", "async"),
                         file.own(min(arrivals)), file.own(done), args=[
                             (text["key"], 4, file.name(f"w{key}")), (text["round"], 1, step),
                             (text["first"], 1, arrivals.index(min(arrivals))), (text["last"], 1, last),
                             (text["spread_ns"], 1, max(arrivals) - min(arrivals))])

    def write(self, folder):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for file in self.files:
            name = f"{file.role}{file.rank}.{file.host}.{file.pid}.mxp"
            (pathlib.Path(folder) / name).write_bytes(file.to_bytes())
        return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="of a training, in the place of messages")
    parser.add_argument("--late", type=int, help="worker that is late in each step")
    options = parser.parse_args()
    job = Job(options.ranks, options.seed)
    if options.steps:
        job.train(options.steps, late=options.late)
    job.exchange_all()
    for i in range(0 if options.steps else options.records):
        sent = 20 * MS + (job.end - 60 * MS) * i // options.records
        sender, receiver = job.draw.sample(range(options.ranks), 2) if options.ranks > 1 else (0, 0)
        job.message(sender, receiver, sent, sent + job.draw.randrange(30 * US, 300 * US))
    job.write(options.folder)


if __name__ == "__main__":
    main()
