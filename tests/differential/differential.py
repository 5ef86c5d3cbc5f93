#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares programs of arrays with NumPy:

    differential.py [--seed S] [--count N] [--processes P]     N programs of a seed
    differential.py --seed S --only NUMBER                     one of them, shown

Exit status 1 with the smallest program of each difference that intended.py does not allow.
"""
import argparse
import collections
import multiprocessing
import os
import re
import sys
import time
import traceback
import warnings

import numpy

import case as cases
import judge
import shrink

SHOWN_MAX = 12
STUCK_S = 120


def _sign(case, words):
    """What makes two differences the same one: words, and of an error its text without values."""
    errors = [answer for answer in case.answers if isinstance(answer, Exception)]
    text = re.sub(r"'[^']*'|[\d(),.-]+", "", str(errors[0]))[:60] if errors else ""
    return f"{case.name}: {' '.join(sorted(words))}" + (f" ({type(errors[0]).__name__} {text})" if errors else "")


def smallest(case, words):
    """The smallest program found that has the same difference."""
    sign = _sign(case, words)

    def shows(candidate):
        found = judge.judge(candidate)[0]
        return found == words and _sign(candidate, found) == sign

    return shrink.shrink(case, shows)


def describe(case, words):
    """The program, and what it gives here and in NumPy."""
    mine, wanted = case.answers
    return f"--- {case.name}: {', '.join(sorted(words))}\n{cases.text(case)}\n" \
           f"    here:  {cases.shown_answer(mine)}\n    NumPy: {cases.shown_answer(wanted)}\n"


class Found:
    """What a process has seen, in a form that can be sent."""

    def __init__(self):
        self.run = 0
        self.groups = collections.Counter()
        self.texts = {}
        self.allowed = collections.Counter()
        self.names = set()

    def add(self, other):
        self.run += other.run
        self.groups.update(other.groups)
        self.allowed.update(other.allowed)
        self.texts = {**other.texts, **self.texts}
        self.names |= other.names


def run(seed, numbers, current, shown_max=SHOWN_MAX):
    """Runs the programs of these numbers; `current` tells which one is on."""
    found = Found()
    for number in numbers:
        current.value = number
        case = cases.make(seed, number)
        found.run += 1
        found.names.add(case.name)
        words, used = judge.judge(case)
        found.allowed.update(entry.reason for entry in used)
        if number % 512 < len(numbers) % 2 + 1:
            judge.settle()
        if words:
            group = _sign(case, words)
            found.groups[group] += 1
            if group not in found.texts and len(found.texts) < shown_max:
                small = smallest(case, words)
                judge.judge(small)
                found.texts[group] = f"{describe(small, words)}    (--seed {seed} --only {number})\n"
    return found


def _child(seed, numbers, current, pipe, shown_max):
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    try:
        pipe.send(run(seed, numbers, current, shown_max))
    except BaseException:  # pylint: disable=broad-except
        pipe.send(f"{traceback.format_exc()}    (--seed {seed} --only {current.value})\n")
    pipe.close()
    os._exit(0)  # what a broken program left in the engine is no matter any more


def _start(seed, numbers, shown_max):
    current = multiprocessing.Value("q", -1, lock=False)
    receive, send = multiprocessing.Pipe(False)
    child = multiprocessing.Process(target=_child, args=(seed, numbers, current, send, shown_max))
    child.start()
    send.close()
    return child, receive, current


def _result(child, receive, current):
    """What a process found; what it was at, if it ended or hangs."""
    last, since = current.value, time.monotonic()
    while not receive.poll(1):
        if current.value != last:
            last, since = current.value, time.monotonic()
        elif time.monotonic() - since > STUCK_S:
            child.kill()
            break
    try:
        return receive.recv(), current.value
    except EOFError:
        child.join()
        return f"the process ended ({child.exitcode})", current.value


def _program(seed, number):
    try:
        return cases.text(cases.make(seed, number))
    except Exception as error:  # pylint: disable=broad-except
        return f"it cannot be drawn: {error!r}"


def run_all(seed, count, processes, shown_max=SHOWN_MAX):
    """Everything, and what ended a process."""
    total, broken = Found(), []
    parts = [range(first, count, processes) for first in range(processes)]
    while parts:
        started = [(part, _start(seed, part, shown_max)) for part in parts]
        parts = []
        for part, handles in started:
            found, last = _result(*handles)
            if isinstance(found, Found):
                total.add(found)
                continue
            broken.append(f"--- {found}\n{_program(seed, last)}\n    (--seed {seed} --only {last})\n")
            rest = range(last + processes, count, processes)
            if len(broken) < 6 and rest and last >= 0:
                parts.append(rest)
    return total, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int)
    parser.add_argument("--shown", type=int, default=SHOWN_MAX)
    options = parser.parse_args()
    if options.only is not None:
        case = cases.make(options.seed, options.only)
        words, _ = judge.judge(case)
        print(describe(case, words))
        return 1 if words else 0
    begin = time.monotonic()
    found, broken = run_all(options.seed, options.count, options.processes, options.shown)
    print("\n".join([*found.texts.values(), *broken]))
    for group, number in found.groups.most_common():
        print(f"{number:6}  {group}")
    print(f"{found.run} programs of seed {options.seed}, {sum(found.groups.values())} differ, "
          f"{sum(found.allowed.values())} differ as intended, {time.monotonic() - begin:.0f} s")
    return 1 if found.groups or broken or found.run != options.count else 0


if __name__ == "__main__":
    sys.exit(main())
