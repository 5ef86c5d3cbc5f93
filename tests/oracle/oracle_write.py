# SPDX-License-Identifier: Apache-2.0
"""Writes the fixture:  oracle_write.py LIBRARY-1.9.1 LIBRARY-2.0.0b1 [FAMILY...]

The first of the two that can run a case, twice with the same results, answers it; NumPy's operators
are the later line's first."""
import pickle
import sys

import oracle_case
import oracle_fixture
import oracle_run

LINES = ("1.9.1", "2.0.0b1")


def _told(case):
    """The answer to a case that says itself what comes out."""
    wanted = [oracle_case.Input(text) for text in case.options["gives"].split(";")]
    return {"by": "table", "outputs": [item.make(None) for item in wanted]}


def _twice(library, tasks):
    """The answers; of a case that has another one the second time, that."""
    for first, second in zip(*(oracle_run.answers(library, tasks) for _ in range(2))):
        if isinstance(first, str) or pickle.dumps(first) == pickle.dumps(second):
            yield first
        else:
            yield "two runs, two answers"


def _ask(library, line, cases, found, reasons):
    """Fills in what is not found yet."""
    asked = [case for case in cases
             if case.id not in found and case.options.get("by", line) == line]
    answers = _twice(library, [(case, case.make_inputs()) for case in asked])
    for case, answer in zip(asked, answers):
        if isinstance(answer, str):
            reasons.setdefault(case.id, []).append(f"{line}: {answer.splitlines()[0]}")
        else:
            found[case.id] = {"by": line, **answer}


def _answers(cases, libraries):
    found = {case.id: _told(case) for case in cases if "gives" in case.options}
    reasons = {}
    of_numpy = [case for case in cases if case.operator.startswith("_np")]
    _ask(libraries[1], LINES[1], of_numpy, found, reasons)
    for library, line in zip(libraries, LINES):
        _ask(library, line, cases, found, reasons)
    return found, reasons


def main(libraries, families):
    cases = oracle_case.load()
    failed = 0
    for family in families or sorted({case.family for case in cases}):
        members = [case for case in cases if case.family == family]
        found, reasons = _answers(members, libraries)
        known = {case.id: {**found[case.id], "inputs": case.make_inputs()}
                 for case in members if case.id in found}
        for case in members:
            if case.id not in known:
                print(case.id, *reasons[case.id], sep="\n    ", file=sys.stderr)
                continue
            if "wronggrad" in case.options:
                del known[case.id]["gradients"]
            known[case.id].get("after", {}).pop(int(case.options.get("keeps", -1)), None)
        failed += len(members) - len(known)
        oracle_fixture.save(family, known)
        print(f"{family}: {len(known)} cases")
    if failed:
        sys.exit(f"{failed} cases have no answer")


if __name__ == "__main__":
    main(sys.argv[1:3], sys.argv[3:])
