# SPDX-License-Identifier: Apache-2.0
"""Claims about the runtime. Each side is a process (runtime_side on some libmxnet.so, or a peer)
that is started once and does a batch of its workload whenever it is told to; sides take turns.
"""
import contextlib
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import typing

from side_rounds import Missing, Options, Quiet, ROUNDS, empty_row, judge, summarise

PEER_PROGRAM = pathlib.Path(__file__).resolve().parent / "peers/lenet_torch.py"
THREADS = "2"
TURN_SECONDS = 0.2      # at least, for one side in a round
SETTLE_SECONDS = 0.01   # for the threads of who came before to go to sleep
PAIRS, PAIRS_A_BLOCK = 200, 50
ADDITION_GROUPS, ADDITION_PAIRS = 3, 8  # of a round: batches, plain and recorded in turn
OFF, ON = ("off",), ("on", "drain")


class Place(typing.NamedTuple):
    """Where the sides come from."""
    build: pathlib.Path
    peers: pathlib.Path

    def command(self, workload, runtime):
        program = self.build / "bench/runtime_side"
        if runtime == "ours":
            return [program, workload, self.build / "libmxnet.so"]
        if runtime == "original":
            return [program, workload, only(
                self.peers.glob("lib/python3*/site-packages/mxnet/libmxnet.so"), "MXNet")]
        if runtime == "torch":
            return [self.torch(), PEER_PROGRAM]
        return [program, workload]

    def torch(self):
        folder = self.peers.with_name(self.peers.name + "-torch")
        return only(folder.glob("bin/python"), "PyTorch")

    def threads(self, _workload):
        return THREADS


def only(paths, what):
    for path in paths:
        return path
    raise Missing(f"{what} is not installed: make bench PEERS=1")


class Side:
    """A process that obeys commands (bench/runtime/runtime_side.h)."""
    first = None    # its answer to the first command

    def __init__(self, place, workload, runtime):
        settings = {name: value for name, value in os.environ.items()
                    if not name.startswith(("MXNET_", "MXPROF_", "OMP_"))}
        self.command = [str(part) for part in place.command(workload, runtime)]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True,
                                        env={**settings,
                                             "OMP_NUM_THREADS": place.threads(workload)})

    def tell(self, command):
        """Its answer. Lines that are none are what a library prints."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        reason = (self.errors.read().strip() or "no answer").splitlines()[-1]
        raise Missing(f"{pathlib.Path(self.command[0]).name}: {reason}")

    def batch(self, commands):
        """The answer to the first command; the others clean up."""
        answer = self.tell(commands[0])
        for command in commands[1:]:
            self.tell(command)
        return answer

    def turn(self, commands):
        """Answers of all batches of a round."""
        time.sleep(SETTLE_SECONDS)
        answers = []
        end = time.monotonic() + TURN_SECONDS
        while not answers or time.monotonic() < end:
            answers.append(self.batch(commands))
        return answers

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        self.process.wait()


@contextlib.contextmanager
def sides(place, *wanted):
    """Starts a side for each (workload, runtime); the first batch of each is not counted."""
    with contextlib.ExitStack() as stack:
        started = []
        for workload, runtime in wanted:
            started.append(stack.enter_context(contextlib.closing(Side(place, workload, runtime))))
            started[-1].first = started[-1].tell("off")
        yield started


def rounds(options, processes, run_round):
    """What `run_round(number)` returned for each valid round, and how many were run. The first, which meets
    cold caches, does not count; where no verdict is asked for, it is left out."""
    valid = []
    run = 0
    deadline = time.monotonic() + options.seconds
    if not options.disturbed:
        run_round(0)
    while len(valid) < options.rounds and (run == 0 or time.monotonic() < deadline):
        run += 1
        quiet = Quiet(processes)
        result = run_round(run)
        if quiet.held() or options.disturbed:
            valid.append(result)
    return valid, run


def check_same_networks(both):
    """Sides that train say how many parameters they do."""
    counts = {side.first.get("parameters") for side in both}
    if len(counts) != 1:
        raise Missing(f"the sides train different networks: {counts} parameters")


# ---- two sides, one figure each ----------------------------------------------------------------
class Comparison(typing.NamedTuple):
    name: str
    workload: str
    reference: tuple        # workload and runtime
    unit: str = "M/s"       # a rate (GF/s: an operation is one in the numbers), or ns, us, ms
    commands: tuple = OFF
    pick: typing.Callable = statistics.median   # of a round's batches
    needs_peer: bool = True
    runtime: str = "ours"

    def figure(self, answers):
        ns = self.pick([answer["ns"] for answer in answers])
        rates = {"M/s": 1e3, "GF/s": 1}
        if self.unit in rates:
            return rates[self.unit] / ns
        return ns / {"ns": 1, "us": 1e3, "ms": 1e6}[self.unit]

    def measure(self, row, place, options):
        own_commands = {True: self.commands, False: OFF}
        with sides(place, (self.workload, self.runtime), self.reference) as both:
            check_same_networks(both)

            def run_round(number):
                got = {}
                for which in (0, 1) if number % 2 == 0 else (1, 0):
                    commands = own_commands[which == 0 or self.needs_peer]
                    got[which] = self.figure(both[which].turn(commands))
                return got[0], got[1]

            valid, run = rounds(options, [side.process.pid for side in both], run_round)
        return summarise(row, valid, run, options)


# ---- what recording adds -----------------------------------------------------------------------
def run_loop(place, mode, count):
    """ns of CPU time an operation of a loop of ours takes (bench/peers/mxprof_loop.c)."""
    result = subprocess.run([place.build / "bench/mxprof_loop", mode, "1", str(count)], check=True,
                            capture_output=True, text=True)
    side = json.loads(result.stdout)
    return side["cpu_ns"] / side["operations"]


class Addition(typing.NamedTuple):
    """ns that recording adds to a stage of an operation, over one clock read. A difference of a few
    ns is lost in what a busy neighbour of the core adds, so the least of all rounds count."""
    name: str
    stage: str
    unit: str = "ns"
    needs_peer: bool = False

    def measure(self, row, place, options):
        with sides(place, ("held", "ours")) as (side,):
            def run_round(_number):
                took = {"off": [], "on": []}
                for _ in range(ADDITION_GROUPS):
                    for command in ("off", "on") * ADDITION_PAIRS:
                        took[command].append(side.tell(command)[self.stage])
                    side.tell("drain")
                return (min(took["off"]), min(took["on"]),
                        run_loop(place, "two_ticks", 2_000_000) / 2)

            valid, run = rounds(options, [side.process.pid], run_round)
        least_off, least_on = (min((one[i] for one in valid), default=0) for i in (0, 1))
        if valid:
            own = [(on - off) / clock for off, on, clock in valid]
            row["note"] = f"within a round {min(own):.2g} to {max(own):.2g}"
        return summarise(row, [(least_on - least_off, clock) for _, _, clock in valid], run,
                         options)


# ---- a full profile of a training step ---------------------------------------------------------
def step_pairs(side, options, wanted):
    """(plain, profiled) ns of neighbouring steps, who goes first in turn; and how many were run."""
    def run_block(_number):
        pairs = []
        for i in range(min(PAIRS_A_BLOCK, wanted)):
            order = ("off", "on") if i % 2 == 0 else ("on", "off")
            took = {command: side.tell(command)["ns"] for command in order}
            pairs.append((took["off"], took["on"]))
        side.tell("drain")
        return pairs

    blocks = math.ceil(wanted / min(PAIRS_A_BLOCK, wanted))
    valid, run = rounds(options._replace(rounds=blocks), [side.process.pid], run_block)
    return [pair for block in valid for pair in block], run * min(PAIRS_A_BLOCK, wanted)


def upper_bound_of_median(values):
    """Above the true median with a probability of 95 %, whatever the distribution: the order
    statistic that far above the middle."""
    place = math.ceil(len(values) / 2 + 1.645 * math.sqrt(len(values)) / 2)
    return sorted(values)[min(place, len(values) - 1)]


class ProfiledStep(typing.NamedTuple):
    """How much longer a step takes when all of it is profiled."""
    name: str
    unit: str = "%"
    needs_peer: bool = False
    workload: str = "lenet"

    def measure(self, row, place, options):
        wanted = PAIRS if options.rounds == ROUNDS else options.rounds
        with sides(place, (self.workload, "ours")) as (side,):
            pairs, run = step_pairs(side, options, wanted)
        row.update(rounds=len(pairs), rounds_run=run)
        if not pairs:
            row["note"] = "no valid round: others used the machine"
            return row
        added = [100 * (profiled / plain - 1) for plain, profiled in pairs]
        row.update(value=upper_bound_of_median(added), min=min(added), max=max(added),
                   note=f"median {statistics.median(added):.2g} % of "
                        f"{statistics.median(plain for plain, _ in pairs) / 1e6:.3g} ms, "
                        f"{len(pairs)} pairs")
        if options.disturbed:
            row["note"] += "; disturbed rounds counted"
        judge(row, row["value"], options)
        return row


class StepRecords(typing.NamedTuple):
    """All records of a step, each taken for as dear as the dearest, an operator's."""
    name: str
    unit: str = "%"
    needs_peer: bool = False

    def measure(self, row, place, options):
        steps = 20
        with sides(place, ("lenet", "ours")) as (side,):
            before = side.tell("drain")["records"]
            for _ in range(steps):
                side.tell("on")
            records = (side.tell("drain")["records"] - before) / steps
            plain_ns = min(side.tell("off")["ns"] for _ in range(steps))
        cost_ns = min(run_loop(place, "operator", 100_000) for _ in range(options.rounds))
        value = 100 * records * cost_ns / plain_ns
        row.update(value=value, min=value, max=value, rounds=1, rounds_run=1,
                   note=f"{records:.0f} records of {cost_ns:.0f} ns, {plain_ns / 1e6:.3g} ms a step")
        judge(row, value, options)
        return row


# ---- what a profile leaves behind --------------------------------------------------------------
class AfterProfile(typing.NamedTuple):
    """An operation with the profiler off after a profile of the same work, over the same before it. A
    process has one before, so each round is a process of its own. The least batch counts: what differs
    by a few ns is lost in what a busy machine adds."""
    name: str
    workload: str
    unit: str = "ns"
    needs_peer: bool = False

    def measure(self, row, place, options):
        once = options._replace(rounds=1, seconds=0)
        deadline = time.monotonic() + options.seconds
        valid, run = [], 0
        while len(valid) < options.rounds and (run == 0 or time.monotonic() < deadline):
            with sides(place, (self.workload, "ours")) as (side,):
                def run_round(number):
                    took = self.turns(side)
                    if number == 0:     # warm: this one is not counted
                        return took, took
                    side.turn(ON)
                    self.turns(side)    # memory that the profile took goes, others come back
                    return self.turns(side), took

                valid += rounds(once, [side.process.pid], run_round)[0]
            run += 1
        return summarise(row, valid, run, options)

    @staticmethod
    def turns(side):
        return min(answer["ns"] for _ in range(3) for answer in side.turn(OFF))


# ---- memory ------------------------------------------------------------------------------------
class QueuedBytes(typing.NamedTuple):
    name: str
    unit: str = "B"
    needs_peer: bool = False

    def measure(self, row, place, options):
        with contextlib.closing(Side(place, "memory", "ours")) as side:
            value = side.tell("off")["bytes"]
        row.update(value=value, min=value, max=value, rounds=1, rounds_run=1)
        judge(row, value, options)
        return row


# ---- the claims --------------------------------------------------------------------------------
def engine_claims():
    for workload, text, floor in (("in_turn", "64 variables in turn", "hand_off"),
                                  ("chain", "one variable", "hand_off"),
                                  ("three", "two read and one written", "hand_off_two_lines")):
        yield Comparison(f"E1 empty operations, {text}, over MXNet", workload,
                         (workload, "original"))
        yield Comparison(f"E1 empty operations, {text}, over a bare hand-off", workload,
                         (floor, None), needs_peer=False)
        yield Comparison(f"E2 recorded operations, {text}, over MXNet", workload,
                         (workload, "original"), commands=ON)


CLAIMS = [
    *engine_claims(),
    Addition("E3 recording, added to the run of an operation", "run_ns"),
    Addition("E3 recording, added to its push with the call", "push_ns"),
    Comparison("E4 small operator, over MXNet", "plus_scalar", ("plus_scalar", "original"), "us"),
    Comparison("E6 LeNet step, median, over PyTorch", "lenet", ("lenet", "torch"), "ms"),
    Comparison("E6 LeNet step, minimum, over PyTorch", "lenet", ("lenet", "torch"), "ms",
               pick=min),
    Comparison("E6 LeNet step, over MXNet", "lenet", ("lenet", "original"), "ms"),
    Comparison("E6 LeNet step, over its multiply-adds alone", "lenet", ("multiply_add", None),
               "ms", needs_peer=False),
    ProfiledStep("E7 LeNet step, full profile, upper bound"),
    StepRecords("E7 LeNet step, records times their cost"),
    Comparison("E8 dot, 1024 x 1024, over direct calls of oneDNN", "product_square",
               ("library_square", None), "GF/s", needs_peer=False),
    Comparison("E8 FullyConnected, 256 x 2048 x 1024, over direct calls of oneDNN",
               "product_layer", ("library_layer", None), "GF/s", needs_peer=False),
    Comparison("E9 push and wait, over MXNet", "wait", ("wait", "original"), "us"),
    AfterProfile("R11 empty operations after a profile, over before", "in_turn"),
    AfterProfile("R11 a + 1 after a profile, over before", "plus_scalar"),
    QueuedBytes("E10 bytes per queued operation"),
]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    return measure_claim(CLAIMS, goal, Place(build, peers), options, with_peers)


def measure_claim(claims, goal, place, options, with_peers):
    """The row of that one of `claims` which `goal` is of."""
    claim = next(claim for claim in claims if claim.name == goal["name"])
    row = empty_row(goal, claim.unit)
    if claim.needs_peer and not with_peers:
        row["note"] = "measured by make bench PEERS=1"
        return row
    try:
        return claim.measure(row, place, options)
    except Missing as missing:
        row["note"] = str(missing)
        if not claim.needs_peer:
            row.update(ok=False, note=f"failed: {missing}")
        return row
