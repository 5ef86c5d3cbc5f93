# SPDX-License-Identifier: Apache-2.0
"""What the comparisons of processes have in common: which rounds count, and the row they become."""
import os
import pathlib
import resource
import statistics
import time
import typing

OTHERS_SHARE_OF_CORE = 0.05
ROUNDS = 9
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Missing(Exception):
    """The peer is not installed, or does not run here."""


class Options(typing.NamedTuple):
    rounds: int        # valid ones wanted
    seconds: float     # how long to wait for them
    disturbed: bool    # count disturbed ones too


def machine_busy_s():
    fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / TICKS_A_SECOND


def process_busy_s(pid):
    """Of a child that still runs; of one that has ended and is not waited for yet, too."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


def own_busy_s(children):
    usages = [resource.getrusage(who)
              for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return (sum(usage.ru_utime + usage.ru_stime for usage in usages) +
            sum(process_busy_s(pid) for pid in children))


class Quiet:
    """Whether processes that are none of ours left the machine alone since this was made. Children
    that have not been waited for are ours if they are listed."""

    def __init__(self, children=()):
        self.children = children
        self.start = self.now()

    def now(self):
        return (time.monotonic(), machine_busy_s(), own_busy_s(self.children))

    def held(self):
        wall, machine, own = (now - then for now, then in zip(self.now(), self.start))
        return machine - own <= OTHERS_SHARE_OF_CORE * wall


def empty_row(goal, unit, note=""):
    return {"name": goal["name"], "unit": unit, "value": None, "subject": None, "reference": None,
            "ratio": None, "min": None, "max": None, "better": goal["better"],
            "must": goal["must"], "aim": goal["aim"], "ok": None, "rounds": 0, "rounds_run": 0,
            "note": note}


def judge(row, figure, options):
    """The verdict, if there may be one."""
    if row["must"] is not None and not options.disturbed:
        row["ok"] = figure >= row["must"] if row["better"] == "higher" else figure <= row["must"]


def summarise(row, valid, run, options):
    """Fills in what the valid rounds, each (subject, reference), say."""
    row.update(rounds=len(valid), rounds_run=run)
    notes = [row["note"]] if row["note"] else []
    if not valid:
        row["note"] = "; ".join(notes + ["no valid round: others used the machine"])
        return row
    ratios = [ours / reference for ours, reference in valid]
    row.update(subject=statistics.median(ours for ours, _ in valid),
               reference=statistics.median(reference for _, reference in valid),
               ratio=statistics.median(ratios), min=min(ratios), max=max(ratios))
    judge(row, row["ratio"], options)
    if options.disturbed:
        notes.append("disturbed rounds counted")
    elif row["must"] is None:
        notes.append("for comparison, no goal")
    elif len(valid) < options.rounds:
        notes.append(f"{len(valid)} of {options.rounds} rounds valid")
    row["note"] = "; ".join(notes)
    return row


def paired_rounds(options, measured, children=()):
    """The pairs that `measured` gave in the valid rounds, and how many rounds were run."""
    valid, run = [], 0
    deadline = time.monotonic() + options.seconds
    while len(valid) < options.rounds and (run == 0 or time.monotonic() < deadline):
        quiet = Quiet(children)
        pair = measured()
        run += 1
        if (quiet.held() or options.disturbed) and pair[1] > 0:
            valid.append(pair)
    return valid, run
