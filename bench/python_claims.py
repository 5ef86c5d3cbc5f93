# SPDX-License-Identifier: Apache-2.0
"""Claims about the Python package. Sides are bench/python/python_side.py, on our package, on MXNet's
or on the floor, and PyTorch's programs; they take turns as those of the runtime do.
"""
import json
import os
import pathlib
import subprocess
import typing

from runtime_claims import (AfterProfile, Comparison, ON, Place, ProfiledStep, StepRecords, measure_claim, only)
from side_rounds import summarise

BENCH = pathlib.Path(__file__).resolve().parent
SIDE = BENCH / "python/python_side.py"
# Of bench/python/networks.py and bench/peers/networks_torch.py; "resnet 1" is that with one thread.
NETWORKS = {"resnet": "NN1 ResNet-18-like step", "vgg": "NN2 VGG-like step",
            "encoder": "NN3 Transformer layer's step", "mlp": "NN4 perceptron's step",
            "lstm": "NN5 LSTM loop's step"}
FUSED_NETWORKS = {"resnet": "G5 ResNet-18-like step, kept and fused", "lstm": "G5 LSTM loop's step, kept and fused"}
TORCH_KINDS = {"torch": "PyTorch", "torch compiled": "PyTorch's compiler"}
THREADS_IN_WORDS = {"1": "one thread", "2": "two threads"}
TORCH = {"plus_one": "plus_one_torch.py", "lenet": "lenet_torch.py"}


class PythonPlace(Place):
    """Where the sides come from: interpreters with their packages."""

    def threads(self, workload):
        return workload.partition(" ")[2] or super().threads(workload)

    def network_command(self, network, runtime):
        if runtime.startswith("torch"):
            return [self.torch(), BENCH / "peers/networks_torch.py", network, *runtime.split()[1:]]
        own = only((BENCH.parent / ".venv").glob("bin/python"), "NumPy for the package")
        return [own, BENCH / "python/networks.py", network, self.build / "libmxnet.so",
                *(["fused"] if runtime == "fused" else [])]

    def command(self, workload, runtime):
        if runtime == "engine":  # no Python: operations of the engine by themselves
            return super().command(workload, "ours")
        network = workload.partition(" ")[0]
        if network in NETWORKS:
            return self.network_command(network, runtime)
        if runtime == "torch":
            return [self.torch(), BENCH / "peers" / TORCH[workload]]
        if runtime == "original":
            only(self.peers.glob("lib/python3*/site-packages/mxnet/libmxnet.so"), "MXNet")
            return [self.peers / "bin/python", SIDE, workload]
        own = only((BENCH.parent / ".venv").glob("bin/python"), "NumPy for the package")
        if runtime == "floor":
            return [own, SIDE, workload, "--floor", self.build / "bench"]
        core = "ctypes" if runtime == "ctypes" else "extension"
        return [own, SIDE, workload, "--library", self.build / "libmxnet.so", "--core", core]


class PlannedMemory(typing.NamedTuple):
    """The most memory of a step whose values share memory, over that of one where none do."""
    name: str
    unit: str = "MiB"
    needs_peer: bool = False

    def measure(self, row, place, options):
        own = only((BENCH.parent / ".venv").glob("bin/python"), "NumPy for the package")
        command = [own, BENCH / "python/step_memory.py", place.build / "libmxnet.so"]
        alone = {"NNVM_EXEC_MATCH_RANGE": "0", "MXNET_EXEC_ENABLE_INPLACE": "0"}
        found = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **more}).stdout)
                 ["bytes"] / 2**20 for more in ({}, alone)]
        return summarise(row, [tuple(found)], 1, options._replace(rounds=1))


def network_claims():
    for network, text in NETWORKS.items():
        for threads, in_words in THREADS_IN_WORDS.items():
            workload = f"{network} {threads}"
            yield Comparison(f"{text}, {in_words}, over PyTorch", workload, (workload, "torch"), "ms")


def fused_claims():
    for network, text in FUSED_NETWORKS.items():
        for threads, in_words in THREADS_IN_WORDS.items():
            for peer, peer_text in TORCH_KINDS.items():
                workload = f"{network} {threads}"
                yield Comparison(f"{text}, {in_words}, over {peer_text}", workload, (workload, peer), "ms",
                                 runtime="fused")


CLAIMS = [
    Comparison("P1 Span start and stop in Python, over two bare clock reads", "pair",
               ("pair", "floor"), "ns", ON, needs_peer=False),
    Comparison("P2 with Span in Python, over two bare clock reads", "with", ("with", "floor"), "ns",
               ON, needs_peer=False),
    Comparison("P3 Span in Python, over MXNet's Task", "pair", ("task", "original"), "ns", ON),
    Comparison("P3 Span in Python, ctypes, over MXNet's Task", "pair", ("task", "original"), "ns",
               ON, runtime="ctypes"),
    Comparison("P3 Task in Python, over MXNet's", "task", ("task", "original"), "ns", ON),
    Comparison("P4 Span in Python, off, over MXNet's Task", "pair", ("task", "original"), "ns"),
    Comparison("E5 a + 1 in Python, over PyTorch", "plus_one", ("plus_one", "torch"), "ns"),
    Comparison("E5 a + 1 in Python, over MXNet", "plus_one", ("plus_one", "original"), "ns"),
    Comparison("E6 LeNet step in Python, median, over PyTorch", "lenet", ("lenet", "torch"), "ms"),
    Comparison("E6 LeNet step in Python, minimum, over PyTorch", "lenet", ("lenet", "torch"), "ms",
               pick=min),
    AfterProfile("R11 a + 1 in Python after a profile, over before", "plus_one"),
    ProfiledStep("E7 LeNet step in Python, full profile, upper bound"),
    StepRecords("E7 LeNet step in Python, records times their cost"),
    Comparison("G1 node of a static graph, over a bare engine operation", "graph", ("chain", "engine"), "ns",
               needs_peer=False),
    Comparison("G2 LeNet step static, over eager", "static", ("lenet", "ours"), "ms", needs_peer=False),
    PlannedMemory("G3 memory of a ResNet-18-like step, planned over unplanned"),
    ProfiledStep("G4 LeNet step static, full profile, upper bound", workload="static"),
    *fused_claims(),
    *network_claims(),
]
NAMES = [claim.name for claim in CLAIMS]


def measure(goal, build, peers, options, with_peers):
    """The row of one claim."""
    return measure_claim(CLAIMS, goal, PythonPlace(build, peers), options, with_peers)
