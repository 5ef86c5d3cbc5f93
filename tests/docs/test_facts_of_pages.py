# SPDX-License-Identifier: Apache-2.0
"""Facts that readers of the documents missed, or had from them wrongly. Each stands in one paragraph, row or comment of some
page or public header, whichever; and what was wrong stands nowhere."""
import os
import pathlib
import re

import pytest

import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
# What was missed: patterns that one paragraph has, all of them.
FACTS = {
    "how the profiler alone is installed, and from another prefix": [r"PREFIX=dir", r"PKG_CONFIG_PATH=dir/lib/pkgconfig", r"-Wl,-rpath,dir/lib"],
    "what building it takes": [r"compiler", r"make and CMake", r"without the runtime"],
    "what set-up installs, and how much": [r"Debian or Ubuntu", r"\b200 MB\b", r"sudo"],
    "what one types elsewhere": [r"cmake -S \. -B build", r"MXPROF_TESTS=OFF", r"cmake --build build"],
    "the static target of CMake": [r"mxprof::mxprof_static"],
    "spans with arguments, begun and ended": [r"mxp_end_args", r"argument"],
    "arrows between spans": [r"MXP_STYLE_FLOW", r"mxp_flow\(", r"MXP_FLOW_START", r"\bspan\b"],
    "what an arrow joins, and by what": [r"arrow", r"spans that are open", r"style MXP_STYLE_FLOW", r"`id` of its own"],
    "which processors and libcs": [r"x86-64 and aarch64", r"glibc", r"musl"],
    "what stays between versions": [r"libmxprof\.so\.0", r"exported functions stay"],
    "where the list of what the Python package can do is": [r"What the package can do", r"docs/python-api\.md"],
    "that CMake names no source file": [r"Files are found by folder", r"none is named in CMake"],
    "how a change lands": [r"git push", r"pull request", r"\.ci/run"],
    "what begins here and ends on another thread": [r"mxp_async_begin", r"another thread"],
    "the limit of memory, and the trace beside it": [r"memory_limit_bytes", r"Chrome trace", r"five times"],
    "a place for the file that is nobody else's": [r"everybody's"],
    "whose file a forked child records into": [r"PID\.mxp", r"fork"],
    "a daemon and its parent's file": [r"daemon\(3\)", r"_exit", r"died"],
    "a step belongs to the whole process": [r"mxp_step\b", r"whole process", r"overlaps? is no step|overlap"],
    "which start a stop ends": [r"[Ss]top ends", r"own\s+thread", r"newest of all"],
    "percentiles of two hills": [r"hills", r"percentile"],
    "what a snapshot needs": [r"snapshot", r"MXPROF_SNAPSHOT_SIGNAL=1", r"SIGUSR2"],
    "how large the library is, and that it is stripped": [r"libmxprof\.so", r"stripped", r"\b\d{3},000 bytes"],
    "which programs it sees": [r"C and C\+\+", r"Python's `mxnet`", r"PyTorch", r"unchanged"],
    "a run after a dump begins a new file": [r"after `dump\(\)`", r"begins a new file", r"without one"],
    "an interrupt while operators run": [r"Ctrl-C", r"KeyboardInterrupt", r"what has not begun"],
    "functions that NumPy computes": [r"NumPy computes", r"without gradients", r"autograd records"],
    "threads or processes of the loader": [r"thread_pool", r"0\.1 ms"],
    "fewer steps than a profile was to have": [r"fewer", r"warns"],
    "where the library of an installed extension is": [r"MXNET_LIBRARY_PATH=/usr/local/lib", r"remembers"],
    "how one test is run": [r"--target unit_", r"pytest tests/cli"],
    "how expected outputs are renewed": [r"scripts/update-expected WHAT"],
    "ccache": [r"CMAKE_C_COMPILER_LAUNCHER=ccache"],
    "where clangd finds the flags": [r"compile_commands\.json", r"clangd"],
}
# What was wrong.
WRONG = {
    "fails the build on any other": "a lint test fails, the build does not",
    "(iteration, request)": "requests that overlap are no steps",
    "TESTS=regex": "TESTS are words",
    "docs/migration.md says what is not": "messages say it themselves",
    "under 250 KB": "the limit is another",
}


def paragraphs():
    """(page, words) of each paragraph, row of a table, box, and comment of a public header."""
    for page in [*typed.pages(SOURCE), "DESIGN.md"]:
        text = (SOURCE / page).read_text(encoding="utf-8")
        for part in re.split(r"\n\s*\n|\n(?=\|)|\n(?=- )", text):
            yield page, " ".join(part.split())
    for header in (SOURCE / "include/mxprof").glob("*.h*"):
        for comment in re.findall(r"(?:^ *//.*\n)+", header.read_text(encoding="utf-8"), re.MULTILINE):
            yield f"include/mxprof/{header.name}", " ".join(re.sub(r"^ *//", "", comment, flags=re.MULTILINE).split())


PARAGRAPHS = list(paragraphs())


@pytest.mark.parametrize("fact", FACTS)
def test_it_is_told_in_one_place(fact):
    found = [page for page, words in PARAGRAPHS if all(re.search(part, words) for part in FACTS[fact])]
    print(f"\n{fact}: {found}")
    assert found, f"no paragraph has all of {FACTS[fact]}"


@pytest.mark.parametrize("words", WRONG)
def test_what_was_wrong_is_gone(words):
    assert len(PARAGRAPHS) > 1000
    assert [page for page, text in PARAGRAPHS if words in text] == [], WRONG[words]
