# SPDX-License-Identifier: Apache-2.0
"""Where bulks and segments of a recorded step begin and end: a model of what the engine is told to push. It tells
the original's profiles of tests/golden/graphs/cached_op.py under one set of rules and ours under another; what sets
the two apart is the class Rules, each line of which docs/migration.md explains."""
from typing import NamedTuple

DEFAULT_SIZE = 15
WHOLE = 4096


class Rules(NamedTuple):
    """Ours; the original's are ORIGINAL."""

    dead_work: bool = False  # copies of Dropout(0) and zeros for gradients that nobody wants
    moving_alone: bool = True  # outside of segments is what moves; the original: what touches data, too
    variables_govern: bool = True  # MXNET_EXEC_BULK_EXEC_* at 0: no bulk at all
    bulks_in_table: bool = True  # also while the table is kept
    joins_past_loss: bool = True  # backward of a loss and of what is before it may be one bulk
    naive_segments: int = 0  # records of each segment under NaiveEngine
    segments_of_one: bool = False  # where bulks are off
    symbolic_alone: bool = True  # segments are of the class symbolic
    flat_losses: bool = False  # 1.9.1's losses of NumPy arrays: a product for the sign, Flatten if hybridized


ORIGINAL = Rules(dead_work=True, moving_alone=False, variables_govern=False, bulks_in_table=False,
                 joins_past_loss=False, naive_segments=2, segments_of_one=True, symbolic_alone=False,
                 flat_losses=True)
OURS = Rules()


class Part(NamedTuple):
    """The operators of one call, or of its gradient; `data`: those on arrays that the program gave, `moves`: those
    on arrays that are others at each call."""

    operators: list
    data: set
    moves: set


def loss_of(line, front, mode, rules):
    """The operators of the loss and of its gradient."""
    if front == "nd":
        forward, backward = ["_mul_scalar", "mean"], ["_backward_mean", "_backward_mul_scalar"]
    elif line == "2" or not rules.flat_losses:
        forward, backward = ["_npi_negative", "_npi_mean"], ["_backward_np_mean", "negative"]
    else:
        flat = mode == "hybrid"
        forward = ["_npi_multiply_scalar", *["Flatten"] * flat, "_npi_mean"]
        backward = ["_backward_np_mean", *["_backward_copy"] * flat, "_backward_mul_scalar"]
    calls, gradients = len(forward) + 2, len(backward) + 2
    return (Part(["log_softmax", "pick", *forward], {0, 1, calls - 1}, {0, calls - 1}),
            Part([*backward, "_backward_pick", "_backward_log_softmax"], {0, gradients - 2, gradients - 1},
                 {0, gradients - 1}))


def network_of(line, front, net, rules):
    """The operators of the network and of its gradient."""
    copy = {"nd": "_copy", "np": "_np_copy" if line == "1" else "_npi_copy"}[front]
    forward = {"mlp": ["FullyConnected", "Activation", copy, "FullyConnected", "Activation", "FullyConnected"],
               "lenet_bn": ["Convolution", "BatchNorm", "Activation", "Pooling", "Convolution", "Activation",
                            "Pooling", "Flatten", "FullyConnected"]}[net]
    backward = {"mlp": ["_backward_FullyConnected", "_backward_Activation", "_backward_FullyConnected", "_copy",
                        "_backward_Activation", "_backward_FullyConnected"],
           "lenet_bn": ["_backward_FullyConnected", "_backward_copy", "_backward_Pooling", "_backward_Activation",
                        "_backward_Convolution", "_zeros_without_dtype", "_backward_Pooling",
                        "_backward_Activation", "_backward_BatchNorm", "_backward_Convolution"]}[net]
    if not rules.dead_work:
        forward = [name for name in forward if name != copy]
        backward = [name for name in backward if name not in ("_copy", "_zeros_without_dtype")]
    return Part(forward, {0, len(forward) - 1}, {len(forward) - 1}), Part(backward, {0, len(backward) - 1}, {0})


def parts_of(line, front, run, rules):
    """Calls of a step, and their gradients in the order of a backward."""
    net, phase, mode = run[:3]
    network, gradient = network_of(line, front, net, rules)
    if phase == "infer":
        return [network], []
    loss, loss_gradient = loss_of(line, front, mode, rules)
    return [network, loss], [loss_gradient, gradient]


class Queue:
    """What a thread pushes. A record is an operator's name, or "bulk" or "segment" with its members."""

    def __init__(self):
        self.size, self.waiting, self.records = 0, [], []

    def resize(self, size):
        before, self.size = self.size, size
        if len(self.waiting) >= size:
            self.flush()
        return before

    def push(self, name):
        if self.size == 0:
            self.records.append(name)
            return
        self.waiting.append(name)
        if len(self.waiting) >= self.size:
            self.flush()

    def flush(self):
        if self.waiting:
            self.records.append(("bulk", tuple(self.waiting)))
        self.waiting = []

    def segment(self, members, times):
        self.flush()
        self.records.extend([("segment", tuple(members))] * times)


class Settings(NamedTuple):
    """Of a run, under some rules."""

    rules: Rules
    variables: dict
    flags: dict
    aggregate: bool

    def naive(self):
        return self.variables.get("MXNET_ENGINE_TYPE") == "NaiveEngine"

    def off(self, training):
        return self.variables.get(f"MXNET_EXEC_BULK_EXEC_{'TRAIN' if training else 'INFERENCE'}") == "0"

    def limit(self, which):
        size = self.variables.get("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", DEFAULT_SIZE)
        return int(self.variables.get(f"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_{which}", size))

    def bulks(self, training, size):
        """Of operators that are pushed one by one."""
        if self.naive() or self.aggregate and not self.rules.bulks_in_table:
            return 0
        return 0 if self.rules.variables_govern and self.off(training) else size

    def call_size(self, which, training):
        flag = "forward_bulk_size" if which == "FWD" else "backward_bulk_size"
        return self.bulks(training, self.flags.get(flag, self.limit(which)))

    def segments(self, which, training):
        """The longest segment; 0: there are none."""
        if self.naive() and not self.rules.naive_segments:
            return 0
        flag = "forward_bulk_size" if which == "FWD" else "backward_bulk_size"
        size = self.flags.get(flag, self.limit(which)) if training else WHOLE
        size = 0 if self.off(training) else size
        return max(size, 1) if self.rules.segments_of_one else size


def push_part(queue, part, size, longest, settings):
    """`longest`: None, or how long a segment of a static call may be."""
    still = []
    before = queue.resize(size)
    moves = part.moves if settings.rules.moving_alone else part.data
    times = settings.rules.naive_segments if settings.naive() else 1
    for index, name in enumerate(part.operators):
        if not longest or index in moves:
            queue.push(name)
            continue
        still.append(name)
        if len(still) == longest or index + 1 in moves or index + 1 == len(part.operators):
            queue.segment(still, times)
            still = []
    queue.resize(before)


def records(line, parsed, rules):
    """What a run's profile shows of its operators: a list of records. `parsed` is (variables, front, run)."""
    variables, front, run = parsed
    _, phase, mode, flags, aggregate, what = run
    settings = Settings(rules, variables, flags, aggregate)
    calls, gradients = parts_of(line, front, run, rules)
    static, training = flags.get("static_shape", False), phase == "train"
    queue = Queue()
    forward = settings.call_size("FWD", training) if mode == "hybrid" else 0
    for part in calls:
        push_part(queue, part, forward, settings.segments("FWD", training) if static else None, settings)
    if training:
        queue.push("SetValueOp")
    environment = settings.bulks(True, settings.limit("BWD"))
    apart = mode == "hybrid" and flags.get("inline_limit", 2) < 100
    queue.resize(environment)
    for part in gradients:
        size = settings.call_size("BWD", True) if apart else environment
        push_part(queue, part, size, settings.segments("BWD", True) if static else None, settings)
        if apart and not rules.joins_past_loss:
            queue.flush()
    queue.resize(0)
    return [record for record in queue.records if shown(record, what, static, settings)]


def shown(record, what, static, settings):
    """Whether the classes that are recorded have it."""
    is_segment = record[0] == "segment"
    if what == "all":
        return True
    if is_segment and not settings.rules.symbolic_alone:
        return True
    return what == ("symbolic" if is_segment else "imperative") and (static or what == "imperative")
