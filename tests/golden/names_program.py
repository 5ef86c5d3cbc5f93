# SPDX-License-Identifier: Apache-2.0
"""Makes the calls of names_calls.py, each under the profiler, and prints for each what the trace
holds, as expected/names_*.jsonl do: `python names_program.py LINE AGGREGATE` (0 or 1)."""
import ctypes as C
import json
import sys

import profiler_api as profiler
import runtime_api as mx
from names_calls import FUNCTIONS_NOT_IN_C, NOT_IN_C, PACKED_FUNCTIONS, steps_of


def expand(names):
    """["a x2", "b"] -> a, a, b."""
    for name in names:
        name, _, count = name.partition(" x")
        yield from [FUNCTIONS_NOT_IN_C.get(name, name)] * int(count or 1)


class Call:
    """One front-end call: walks the C functions it goes through."""

    def __init__(self, known, steps):
        self.known, self.steps = known, list(steps)
        self.made, self.freed = [], set()
        self.output = None
        self.current = known.get("x", known["a"])
        self.bulk_sizes = [4]
        self.packed = False

    # ---- steps
    def array(self, word):
        return self.made[int(word[1:])] if word.startswith("#") else self.known[word]

    def create(self, function):
        what, *sides = self.steps.pop(0).split()
        self.made.append(mx.create(tuple(map(int, sides)),
                                   "float64" if what == "new64" else "float32", function))
        self.current = self.made[-1]

    def run_operator(self, function="MXImperativeInvoke"):
        words, _, out = self.steps.pop(0).partition(" -> ")
        name, *rest = words.split()
        inputs = [self.array(word) for word in rest if "=" not in word]
        params = dict(word.split("=", 1) for word in rest if "=" in word)
        outputs = [self.array(out)] if out else ()
        found = mx.invoke(name, inputs, params, outputs, function)
        self.made += [] if out else found

    def prepare(self):
        """Before the profiler runs: the forward pass of a gradient. Its variable goes last."""
        with mx.Record():
            while self.steps:
                if self.steps[0].startswith("new"):
                    self.create("MXNDArrayCreate64")
                    mx.fill(self.current, [0, 1])
                elif self.steps[0] == "view x":
                    self.steps.pop(0)
                    self.made.append(self.reshape(self.known["x"]))
                else:
                    self.run_operator()
        self.output = self.made[-1]
        self.made.append(self.known["x"])
        mx.wait_all()

    @staticmethod
    def reshape(handle):
        return mx.view("MXNDArrayReshape64", handle, 1, (C.c_int64 * 1)(-1), False)

    def free_one(self):
        """The oldest array that no later step needs."""
        needed = {word for step in self.steps for word in step.split()}
        for at, handle in enumerate(self.made):
            if at not in self.freed and f"#{at}" not in needed:
                self.freed.add(at)
                mx.free(handle)
                self.current = self.known["a"]
                return

    def finish(self):
        for at, handle in enumerate(self.made):
            if at not in self.freed:
                mx.free(handle)

    # ---- functions
    def walk(self, functions):
        for function in functions:
            if function.startswith(PACKED_FUNCTIONS):
                while self.steps:
                    self.run_operator()
            else:
                self.one(function)

    def one(self, function):
        if function.startswith("MXNDArrayCreate"):
            self.create(function)
        elif function.startswith("MXImperativeInvoke"):
            self.run_operator(function)
        elif function.startswith("MXNDArrayGetShape"):
            mx.ask(function, self.current, C.c_int, C.c_void_p)
        elif function == "MXNDArrayGetContext":
            mx.ask(function, self.current, C.c_int, C.c_int)
        elif function in ("MXNDArrayGetDType", "MXNDArrayGetStorageType"):
            mx.ask(function, self.current, C.c_int)
        elif function == "MXIsNumpyDefaultDtype":
            mx.call(function, C.byref(C.c_bool()))
        elif function == "MXNDArraySyncCopyFromCPU":
            mx.fill(self.current, [0, 1])
        elif function == "MXNDArraySyncCopyToCPU":
            mx.read(self.current, 4)
        elif function == "MXNDArrayWaitToRead":
            mx.call(function, self.current)
        elif function.startswith("MXNDArrayAt"):
            self.current = mx.view(function, self.current, 0)
            self.made.append(self.current)
        elif function == "MXNDArraySlice":
            self.made.append(mx.view(function, self.current, 0, 1))
        elif function == "MXNDArrayReshape64":
            self.made.append(self.reshape(self.current))
        elif function == "MXNDArrayFree":
            self.free_one()
        elif function == "MXRandomSeed":
            mx.call(function, 3)
        elif function == "MXNDArraySave":
            mx.call(function, b"x.nd", 1, mx.handles([self.current]), None)
        elif function == "MXNDArrayLoad":
            self.load()
        elif function == "MXAutogradBackwardEx":
            mx.backward(self.output)
        elif function == "MXEngineSetBulkSize":
            before = C.c_int()
            mx.call(function, self.bulk_sizes.pop(), C.byref(before))
            self.bulk_sizes.append(before.value)
        elif function == "MXNDArrayWaitAll":
            mx.wait_all()
        else:
            raise ValueError(f"no idea how to call {function}")

    def load(self):
        count, arrays = C.c_uint32(), C.POINTER(C.c_void_p)()
        names, name_count = C.c_void_p(), C.c_uint32()
        mx.call("MXNDArrayLoad", b"x.nd", C.byref(count), C.byref(arrays), C.byref(name_count),
                C.byref(names))
        self.made += [arrays[i] for i in range(count.value)]


def recorded():
    """What the trace has of operators (bulks, their members, the rest) and of calls, by time."""
    with open("t.json", encoding="utf-8") as file:
        items = sorted((item for item in json.load(file)["traceEvents"] if item["ph"] == "X"),
                       key=lambda item: item["ts"])
    operators = [item for item in items if item["cat"] == "operator"]
    inside = [item for item in operators if "bulk" in item.get("args", {})]
    return {"operators": [item["name"] for item in operators if item not in inside],
            "members": [item["name"] for item in operators if item["name"] != "ImperativeBulk"],
            "api": [item["name"] for item in items if item["cat"] == "MXNET_C_API"]}


def profile(known, call, line, aggregate, functions):
    is_gradient = call.startswith(("grad", "npgrad"))
    if is_gradient:
        known = {**known, "x": mx.array((2, 2), [1, 2, 3, 4])}
        known["grad"] = mx.attach_grad([known["x"]])[0]
    doing = Call(known, steps_of(call, line))
    if is_gradient:
        doing.prepare()
    mx.wait_all()
    profiler.set_config(profile_all=True, continuous_dump=False, aggregate_stats=aggregate,
                        filename="t.json")
    profiler.set_state("run")
    doing.walk(functions)
    profiler.set_state("stop")
    profiler.dump(True)
    assert not doing.steps, doing.steps
    doing.finish()
    if is_gradient:
        mx.free(known["grad"])
    return recorded()


def outcome(*arguments):
    try:
        return profile(*arguments)
    except profiler.MXNetError as error:
        profiler.set_state("stop")
        profiler.dump(True)
        return {"error": str(error)}


def main(line, aggregate, expected):
    values = [1, 2, 3, 4]
    known = {name: mx.array((2, 2), values) for name in "abwpq"}
    known.update(img=mx.array((2, 3, 8, 8), [1] * 384), ker=mx.array((4, 3, 3, 3), [1] * 108))
    mx.free(mx.invoke("_random_uniform", [], {"shape": "(2,)"})[0])  # resources start here
    mx.wait_all()
    with open(expected, encoding="utf-8") as file:
        for entry in map(json.loads, file):
            if entry["call"] not in NOT_IN_C:
                print(json.dumps({"call": entry["call"], **outcome(
                    known, entry["call"], line, aggregate, expand(entry["api"]))}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "1", sys.argv[3])
