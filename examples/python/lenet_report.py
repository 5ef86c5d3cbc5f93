# SPDX-License-Identifier: Apache-2.0
"""What train_lenet.py says at its end, from the files of its profile: the table, the time of each layer,
the three biggest owners of memory, and what the files are for."""
import collections
import json
import os
import pathlib
import shutil
import subprocess

import mxnet as mx

PHASES = ("forward", "backward", "update")
ROWS = 12  # of a section of the table


def layer_of(scope):
    """lenet:conv0:relu0: belongs to conv0."""
    parts = scope.rstrip(":").split(":")
    return parts[1] if len(parts) > 1 else parts[0]


def pushed(operator):
    """When the program asked for it, us. A worker may come to it in a later step; it is of this one."""
    return operator["ts"] - operator["args"].get("queued_us", 0) - operator["args"].get("blocked_us", 0)


def operators_of_steps(trace, warm_up):
    """The operators of all steps but the first; how many steps that is of, and their time by the clock, ms."""
    items = json.loads(pathlib.Path(trace).read_text(encoding="utf-8"))["traceEvents"]
    marks = sorted(item["ts"] for item in items if item.get("cat") == "step")
    begin, steps = marks[warm_up], len(marks) - warm_up
    found = [item for item in items if item.get("cat") == "operator" and pushed(item) >= begin
             and item["name"] != "ImperativeBulk"]  # its members are there too
    end = max(item["ts"] + item["dur"] for item in found)
    return found, steps, (end - begin) / 1000


def times_of_layers(operators):
    """layer -> phase -> ms, and the ms outside of layers."""
    layers, outside = collections.defaultdict(collections.Counter), 0.0
    for item in operators:
        scope, phase = item["args"].get("scope"), item["args"].get("phase")
        if scope and phase in PHASES:
            layers[layer_of(scope)][phase] += item["dur"] / 1000
        else:
            outside += item["dur"] / 1000
    return layers, outside


def text_of_layers(trace, warm_up):
    operators, steps, clock = operators_of_steps(trace, warm_up)
    layers, outside = times_of_layers(operators)
    total = sum(sum(phases.values()) for phases in layers.values())
    lines = [f"Where the time of a step goes (mean of {steps} steps, ms)",
             f"{'layer':<26}" + "".join(f"{phase:>10}" for phase in PHASES) + f"{'share':>9}"]
    for layer, phases in sorted(layers.items(), key=lambda item: -sum(item[1].values())):
        share = 100 * sum(phases.values()) / total
        lines.append(f"{layer:<26}" + "".join(f"{phases[phase] / steps:10.3f}" for phase in PHASES)
                     + f"{share:7.1f} %")
    lines.append(f"A step takes {clock / steps:.3f} ms: {total / steps:.3f} in layers, {outside / steps:.3f} "
                 "in other operators, idle for the rest")
    return "\n".join(lines)


def command():
    """The mxprof command: beside the library, or installed; None if it is neither."""
    beside = pathlib.Path(mx.runtime.library_path()).parent / "mxprof"
    return os.path.relpath(beside) if beside.is_file() else shutil.which("mxprof")


def text_of_memory(native):
    """The three biggest owners at their peaks; they need not be at the same time. `resource` is the
    workspaces of operators."""
    if command() is None:
        return "Memory by owner: mxprof report --by scope (the command is not here)"
    printed = subprocess.run([command(), "report", "--by", "scope", "--json", native], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    owners = collections.Counter({scope.rstrip(":"): row["Max"] for scope, row in
                                  json.loads(printed)["Memory"]["Device Storage"].items()
                                  if not scope.startswith("<")})
    lines = ["The three biggest owners of memory (largest use, kB)"]
    lines += [f"{owner:<26}{size:10.1f}" for owner, size in owners.most_common(3)]
    return "\n".join(lines)


def shorten(table):
    """The table with the first rows of each section."""
    lines, rows = [], 0
    for line in table.splitlines():
        rows = rows + 1 if line else 0
        if rows == ROWS + 5:
            lines.append("...")
        if rows < ROWS + 5:
            lines.append(line)
    return "\n".join(lines)


def show(files, warm_up, table):
    """Prints it all, and writes it with the whole table to profile.txt."""
    parts = [text_of_layers(files["json"], warm_up), text_of_memory(files["mxp"])]
    pathlib.Path(files["txt"]).write_text("\n\n".join([table, *parts]) + "\n", encoding="utf-8")
    print("\n\n".join([shorten(table.rstrip()), *parts]))
    print(f"\nAll of the table:                        {files['txt']}\n"
          f"The trace, for https://ui.perfetto.dev:  {files['json']}\n"
          f"For the mxprof command:                  {files['mxp']}\n"
          f"    {command() or 'mxprof'} report --by scope --percentiles {files['mxp']}")
