# SPDX-License-Identifier: Apache-2.0
"""Whether a case is in order: the differences of its two worlds less what intended.py allows."""
import os

import compare
import gradients
import intended
import worlds


def _entries():
    """The committed list; and for those who mend, a file of more entries."""
    more = os.environ.get("MXPROF_DIFFERENTIAL_KNOWN")
    if not more:
        return intended.ENTRIES
    scope = {}
    with open(more, encoding="utf-8") as file:
        exec(compile(file.read(), more, "exec"), scope)
    return intended.ENTRIES + scope["ENTRIES"]


ENTRIES = _entries()


def _allows(entry, case, words):
    """The words that an entry takes away."""
    allowed = words & set(entry.words.split())
    if not allowed or not entry.speaks_of(case) or (entry.when is not None and not entry.when(case)):
        return set()
    if entry.instead is not None:
        other = case.changed(**entry.instead(case))
        others = {name for name, value in other.inputs.items() if value is not case.inputs[name]}
        if compare.differences(other, case.answers[0], without=others) & allowed:
            return set()
    return allowed


def differences(case):
    return gradients.differences(case) if case.heads is not None else compare.differences(case)


def judge(case):
    """The words that nothing allows, and the entries that were needed."""
    words = differences(case)
    if not words:
        return words, []
    used = []
    for entry in ENTRIES:
        allowed = _allows(entry, case, words)
        if allowed:
            used.append(entry)
            words = words - allowed
    return words, used


def settle():
    """Waits for everything; an error that nobody asked for ends here."""
    try:
        worlds.mxnet.nd.waitall()
    except Exception:  # pylint: disable=broad-except
        pass
