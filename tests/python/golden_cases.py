# SPDX-License-Identifier: Apache-2.0
"""Comparing the cases of tests/golden/graphs with what a line of the original printed for them:
tests/golden/expected/graphs_PROGRAM_LINE.jsonl."""
import json
import os
import re

import pytest

from python_program import SOURCE, run_file

LINES = {"1": "1.9.1", "2": "2.0.0b1"}
KINDS = {"Exception": {"Exception", "MXNetError"}}  # what `except` of the original's takes, too


def same(wanted, seen):
    if isinstance(wanted, dict):
        return isinstance(seen, dict) and wanted.keys() == seen.keys() and all(
            same(wanted[key], seen[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(seen, list) and len(wanted) == len(seen) and all(map(same, wanted, seen))
    if isinstance(wanted, float) or isinstance(seen, float):
        return seen == pytest.approx(wanted, rel=1e-5, abs=1e-6)
    return wanted == seen


def reason(text):
    """Of the original's text what is not C++: after the expression of the check that failed."""
    last = text.splitlines()[-1] if text else ""
    found = re.match(r"(?:MXNetError: )?Check failed: .*?: (?!:)(.*)", last)
    return found.group(1) if found else last.removeprefix("MXNetError: ")


# ---- attributes of 2.0 -------------------------------------------------------------------------
NO_SCOPE = "<unk>:"  # what 2.0 writes on every node, also outside of scopes


def unscoped(value):
    """Without that; what held nothing else is gone."""
    if isinstance(value, list):
        return [unscoped(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"(Attrs:\n)?\t__profiler_scope__=<unk>:\n(?!\t)|\t__profiler_scope__=<unk>:\n", "", value)
    if not isinstance(value, dict):
        return value
    kept = {key: unscoped(item) for key, item in value.items() if item != NO_SCOPE}
    return {key: item for key, item in kept.items() if item != {} or value[key] == {}}


def parsed(value):
    """Texts of symbols as what they say, of one version."""
    if isinstance(value, str) and value.startswith('{\n  "nodes"'):
        found = json.loads(value)
        found["attrs"]["mxnet_version"] = ["int", 10901]
        return found
    if isinstance(value, dict):
        return {key: parsed(item) for key, item in value.items()}
    return [parsed(item) for item in value] if isinstance(value, list) else value


# ---- the files ---------------------------------------------------------------------------------
def cases(text):
    return {line["case"]: line for line in map(json.loads, text.splitlines())}


def golden(program, line):
    path = SOURCE / f"tests/golden/expected/graphs_{program}_{LINES[line]}.jsonl"
    found = cases(path.read_text(encoding="utf-8"))
    return unscoped(parsed(found)) if line == "2" else found


def count(program, line):
    return len(golden(program, line))


def is_right(wanted, seen, mended):
    """mended: None, a pair of an error's type and a pattern of its text, or a function that takes the value."""
    if callable(mended):
        return "value" in seen and mended(seen["value"])
    if mended is None and "error" not in wanted:
        return "value" in wanted and "value" in seen and same(wanted["value"], seen["value"])
    kind, pattern = mended or (wanted["error"], re.escape(reason(wanted["text"])))
    return seen.get("error") in KINDS.get(kind, {kind}) and bool(re.search(pattern, seen["text"]))


def differences(program, line, mended, directory, *arguments, before=None):
    """Runs the program of that name, after the statements `before`; gives the pairs of cases that are neither alike
    nor as `mended` says."""
    path = str(SOURCE / f"tests/golden/graphs/{program}.py")
    call = [path] if before is None else [
        "-c", f"{before}\nimport runpy, sys\nsys.path.insert(0, {os.path.dirname(path)!r})\nrunpy.run_path({path!r})"]
    out = run_file([*call, *map(str, arguments)], directory, 300, GOLDEN_LINE=line).out
    seen, wanted = cases(out), golden(program, line)
    seen = parsed(seen) if line == "2" else seen
    assert seen.keys() == wanted.keys() and not mended.keys() - wanted.keys()
    return [(case, seen[name]) for name, case in wanted.items()
            if not is_right(case, seen[name], mended.get(name))]
