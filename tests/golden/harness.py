# SPDX-License-Identifier: Apache-2.0
"""Running the programs of the golden tests, each in a process and a directory of its own, and
reading what they leave: trace files, tables, JSON tables."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
EXPECTED = HERE / "expected"

Result = collections.namedtuple("Result", "code lines seconds directory stderr")

PRELUDE = """
import ctypes as C, os, sys, threading, time
sys.path.insert(0, {here!r})
from profiler_api import *
from program_tools import *
"""


def run_program(source, directory, environment=None, timeout=60):
    """Runs Python source with the tools in scope; `lines` is what it printed."""
    variables = {k: v for k, v in os.environ.items()
                 if not k.startswith(("MXPROF_", "MXNET_PROFILER"))}
    variables.update(GOLDEN_BUILD=str(BUILD), PYTHONDONTWRITEBYTECODE="1", **(environment or {}))
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", PRELUDE.format(here=str(HERE)) + source],
                          cwd=directory, env=variables, timeout=timeout, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return Result(done.returncode, done.stdout.splitlines(), time.monotonic() - begin,
                  pathlib.Path(directory), done.stderr)


def strict_json(text):
    """json.loads without its leniencies: NaN, infinity and repeated members."""
    def no_constant(word):
        raise ValueError(f"{word} is not JSON")

    def no_duplicates(pairs):
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            raise ValueError(f"members repeat: {names}")
        return dict(pairs)
    return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_duplicates)


def trace_items(path):
    """The program's records in a trace file, which must be strictly valid."""
    trace = strict_json(pathlib.Path(path).read_bytes().decode("utf-8"))
    return [item for item in trace["traceEvents"] if item["ph"] != "M" and item["cat"] != "mxprof"]


# ---- tables ------------------------------------------------------------------------------------
ROW = re.compile(r"^(?P<name>.*?)(?P<count> +\d+)(?P<values>(?: +\d+(?:\.\d{4})?){3,4})$")
VALUE = re.compile(r" +\d+(?:\.\d{4})?")


def mask_field(match):
    """A field of the same width: F for a number with four decimals, I for a whole one."""
    field = match.group(0)
    return ("F" if "." in field else "I").rjust(len(field))


def masked_row(line, exact):
    """The row with its values masked; of a row named in `exact` only the average is."""
    row = ROW.match(line)
    values = VALUE.findall(row["values"])
    masked = [VALUE.sub(mask_field, value) for value in values]
    if row["name"].strip() in exact:
        masked = values[:-1] + masked[-1:]
    return row["name"] + row["count"] + "".join(masked)


def normal_table(text, exact=()):
    """The table with values masked and the rows of each section in the order of their names: the
    order of rows by time differs from run to run."""
    lines, section = [], []
    for line in text.split("\n"):
        if ROW.match(line):
            section.append(masked_row(line, exact))
            continue
        lines += sorted(section) + [line]
        section = []
    return "\n".join(lines + sorted(section))


NUMBER = re.compile(r": -?\d+(?:\.\d+)?(?:e[+-]?\d+)?(,?)$")


def normal_json(text, exact=()):
    """The same for the JSON form: entries in the order of their names, separators in place."""
    lines, entries, entry, name = [], [], [], None
    for line in text.split("\n"):
        if line.startswith(' ' * 12 + '"'):
            name, entry = line.strip()[1:-4], [line]
        elif entry:
            keep = '"Count"' in line or (name in exact and '"Avg"' not in line)
            entry.append(line if keep else NUMBER.sub(r": N\1", line))
            if line == ' ' * 12 + '}':
                entries.append("\n".join(entry))
                entry = []
        elif line != ' ' * 12 + ',':
            if entries:
                lines.append(("\n" + ' ' * 12 + ",\n").join(sorted(entries)))
            lines.append(line)
            entries = []
    return "\n".join(lines)


def expected_text(name):
    return (EXPECTED / name).read_text(encoding="utf-8")


def sections(text):
    """Section -> the names of its rows, in order, of a table."""
    found, lines = {}, text.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("===="):
            rows = found[lines[at - 1]] = []
        elif ROW.match(line):
            rows.append(ROW.match(line)["name"].strip())
    return found
