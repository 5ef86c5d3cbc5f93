#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the claims, prints one table and writes them as JSON.

A claim is named by its number ("R1"), the beginning of its name, or its program ("span_cost").
`make bench` calls this; see bench/README.md for what a row means.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

sys.dont_write_bytecode = True
import export_claims
import function_claims
import import_claims
import page_claims
import peer_claims
import python_claims
import run_claims
import runtime_claims
import store_claims
from side_rounds import Options, ROUNDS

# Claims that no C program measures alone. Each has NAMES and measure().
MODULES = {"peers": peer_claims, "runtime": runtime_claims, "python": python_claims,
           "run": run_claims, "function": function_claims,
           "import": import_claims, "export": export_claims, "store": store_claims,
           "page": page_claims}
BENCH = pathlib.Path(__file__).resolve().parent
PROGRAM_SECONDS = 120
ONE_SECONDS = 24.0  # for what --bench names; the whole run has CLAIM_SECONDS for each claim
CLAIM_SECONDS = 12.0
# 100 million spans a side; files of 10 million records.
LONG_CLAIMS = {"R6": 40.0, "A1": 60.0, "A2": 60.0, "A3": 60.0, "W1": 90.0, "W2": 60.0}


def programs_of(folder):
    """The built programs that measure claims: one per bench/profiler/*.c."""
    programs = []
    for source in sorted(BENCH.glob("profiler/*.c")):
        program = folder / source.stem
        if not program.exists():
            sys.exit(f"{program} is not built: make bench builds all")
        programs.append(program)
    return programs


def run_program(program, *arguments):
    """The rows a program prints, and what went wrong, or ""."""
    try:
        result = subprocess.run([program, *arguments], capture_output=True, text=True,
                                timeout=PROGRAM_SECONDS)
    except subprocess.TimeoutExpired:
        return [], f"{program.name} did not end in {PROGRAM_SECONDS} s"
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    error = ""
    if result.returncode != 0:
        error = (result.stderr.strip() or f"exit code {result.returncode}").splitlines()[-1]
    return rows, error


def is_wanted(name, program, wanted):
    """Whether `wanted` (--bench, or None) means this claim."""
    if wanted is None or program == wanted:
        return True
    number = name.split()[0]
    return number.lower() == wanted.lower() or (
        len(wanted) > len(number) and name.lower().startswith(wanted.lower()))


def listed(folder, wanted):
    """(goal, program or module) of every wanted claim, in the order of the file."""
    goals = json.loads((BENCH / "claims.json").read_text(encoding="utf-8"))
    place = {goal["name"]: number for number, goal in enumerate(goals)}
    claims = []
    for program in programs_of(folder):
        rows, error = run_program(program, "--list")
        if error:
            sys.exit(f"{program.name} --list: {error}")
        claims += [(row, program) for row in rows if is_wanted(row["name"], program.name, wanted)]
    claims += [(goal, module) for called, module in MODULES.items() for goal in goals
               if goal["name"] in module.NAMES and is_wanted(goal["name"], called, wanted)]
    return sorted(claims, key=lambda claim: place.get(claim[0]["name"], len(place)))


def failed_row(goal, error):
    return {"name": goal["name"], "unit": goal["unit"], "value": None, "subject": None,
            "reference": None, "ratio": None, "min": None, "max": None, "better": goal["better"],
            "must": goal["must"], "aim": goal["aim"], "ok": False, "rounds": 0, "rounds_run": 0,
            "note": f"failed: {error}"}


def measure(goal, program, options):
    """The row of one claim."""
    if program in MODULES.values():
        wish = Options(options.rounds or ROUNDS, options.seconds, options.disturbed)
        return program.measure(goal, options.build, options.peer_folder, wish, options.peers)
    seconds = max(options.seconds, LONG_CLAIMS.get(goal["name"].split()[0], 0))
    arguments = ["--only", goal["name"], "--seconds", str(seconds)]
    arguments += ["--rounds", str(options.rounds)] if options.rounds else []
    arguments += ["--disturbed"] if options.disturbed else []
    rows, error = run_program(program, *arguments)
    for row in rows:
        if row["name"] == goal["name"]:
            return row
    return failed_row(goal, error or "no row printed")


# ---- the table ---------------------------------------------------------------------------------
def short(number):
    return "" if number is None else f"{number:.4g}"


def verdict(row):
    if row["ok"] is None:
        return "-"
    if not row["ok"]:
        return "MISSED"
    figure = row["ratio"] if row["ratio"] is not None else row["value"]
    reached = figure >= row["aim"] if row["better"] == "higher" else figure <= row["aim"]
    return "aim" if reached else "must"


HEAD = ("claim", "ours", "reference", "unit", "ratio", "min", "max", "must", "aim", "met", "note")


def cells(row):
    ours = row["subject"] if row["subject"] is not None else row["value"]
    sign = ">= " if row["better"] == "higher" else "<= "
    goals = [sign + short(goal) if goal is not None else "" for goal in (row["must"], row["aim"])]
    return (row["name"], short(ours), short(row["reference"]), row["unit"], short(row["ratio"]),
            short(row["min"]) if row["ratio"] is not None else "",
            short(row["max"]) if row["ratio"] is not None else "", *goals, verdict(row),
            row["note"])


def print_table(rows):
    table = [HEAD] + [cells(row) for row in rows]
    widths = [max(len(line[column]) for line in table) for column in range(len(HEAD))]
    texts = {0, 3, len(HEAD) - 1}
    for line in table:
        padded = [cell.ljust(width) if column in texts else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(padded).rstrip())


# ---- what is kept ------------------------------------------------------------------------------
def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return ""


def describe_machine():
    """What a figure depends on besides the code."""
    cpu = [line.split(":", 1)[1].strip()
           for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
           if line.startswith("model name")]
    memory = pathlib.Path("/proc/meminfo").read_text(encoding="utf-8").split()[1]
    source = pathlib.Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    return {
        "date": datetime.date.today().isoformat(),
        "commit": first_line(["git", "-C", str(BENCH), "rev-parse", "HEAD"]),
        "cpu": cpu[0] if cpu else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory) / 2**20),
        "kernel": platform.release(),
        "clocksource": source.read_text(encoding="ascii").strip() if source.exists() else "",
        "compiler": first_line(["cc", "--version"]),
    }


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--output", type=pathlib.Path, help="where to write the rows as JSON")
    parser.add_argument("--results", type=pathlib.Path,
                        help="where to write them with a description of this machine")
    parser.add_argument("--bench", help="only this claim or program")
    parser.add_argument("--peers", action="store_true", help="measure other profilers and runtimes too")
    parser.add_argument("--peer-folder", type=pathlib.Path, default=pathlib.Path("build/peers"))
    parser.add_argument("--rounds", type=int, help="valid rounds per claim")
    parser.add_argument("--disturbed", action="store_true",
                        help="count disturbed rounds too; no verdicts")
    parser.add_argument("--list", action="store_true", help="print the claims as JSON and stop")
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.build = options.build.resolve()
    claims = listed(options.build / "bench", options.bench)
    if not claims:
        sys.exit(f"no claim and no program is called '{options.bench}'; --list shows all")
    if options.list:
        print(json.dumps([{key: goal[key] for key in ("name", "better", "must", "aim")}
                          for goal, _ in claims], indent=1))
        return 0
    options.seconds = ONE_SECONDS / len(claims) if options.bench else CLAIM_SECONDS
    rows = []
    for goal, program in claims:
        print(f"{goal['name']} ...", file=sys.stderr, flush=True)
        rows.append(measure(goal, program, options))
    print_table(rows)
    if options.output:
        write_json(options.output, rows)
    if options.results:
        write_json(options.results, {"machine": describe_machine(), "claims": rows})
    return 1 if any(row["note"].startswith("failed: ") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
