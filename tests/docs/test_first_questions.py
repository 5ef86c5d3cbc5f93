# SPDX-License-Identifier: Apache-2.0
"""What somebody who has never seen the profiler asks first, and that the answer is in the README or on a page that it links:
all that belongs to an answer stands under one heading, whichever that is. `pytest -s` prints where."""
import os
import pathlib
import re

import pytest

import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
# Each part of an answer as a pattern of its substance, for the words around it may change.
QUESTIONS = {
    "Can I use it from C++ with CMake?": [r"find_package\(mxprof", r"mxprof::mxprof", r"FetchContent", r"C\+\+"],
    "What does it cost?": [r"\b(two|2)\b.{0,40}\b(counter|clock)", r"16 bytes", r"\b[Oo]ff\b.{0,60}one load and one branch"],
    "What if my process dies?": [r"kill -9|SIGKILL", r"\bring\b", r"MXPROF_STORE=file", r"mxprof info"],
    "How do I see one request?": [r"mxprof show\b.{0,20}--arg", r"mxprof top", r"(?i)argument|number"],
    "How is it different from perf?": [r"\bperf\b", r"\bsampl", r"\bwait", r"\brequests?\b"],
    "What do I type for PyTorch?": [r"PyTorch", r"mxprof run\b.{0,20}python train\.py", r"mxprof report run\b"],
    "Is my data sent anywhere?": [r"sent anywhere", r"\bno connection\b", r"scripts/setup.{0,20}downloads"],
    "How do I turn it on in production for one hour?": [r"\bhour\b", r"drop-in", r"restart", r"mxp_session_run|calls in the program"],
    "What do the columns of the table mean?": [r"`self`", r"`waited`", r"`p99`", r"`wall`", r"`path`"],
    "How do I compare two runs?": [r"mxprof diff before/ -- after/", r"in turn", r"\brun"],
    "How do I profile four workers under mpirun?": [r"mxprof run -o job -- mpirun -n 4 python train\.py", r"mxprof explain job",
                                                    r"\b[Rr]oot\b"],
    "What do I do when operators are missing?": [r"Operators are missing", r"waitall\(\)", r"python -m mxprof", r"`mxprof run"],
    "What do I do when the file is empty?": [r"file is empty", r"MXPROF_STORE=file"],
}


def sections(text):
    """(heading, words) of each part between two headings, the one before the first as well. A paragraph that begins with a
    question in bold letters has a heading of its own."""
    outside = typed.BOX.sub(lambda box: re.sub("^#", " ", box[0], flags=re.MULTILINE), text)
    parts = re.split(r"^(?:#+ (.*)$|\*\*([^*\n]+\?)\*\*)", outside, flags=re.MULTILINE)
    headings = [heading or question for heading, question in zip(parts[1::3], parts[2::3])]
    for heading, body in zip(["", *headings], parts[::3]):
        yield heading, " ".join(body.split())


def pages():
    """The README, and the pages of the tree that it links."""
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    linked = dict.fromkeys(re.findall(r"\]\(([\w/.-]+\.md)(?:#[\w-]+)?\)", readme))
    assert len(linked) > 10
    return {"README.md": readme, **{page: (SOURCE / page).read_text(encoding="utf-8") for page in linked}}


def places_of(parts):
    return [(page, heading) for page, text in pages().items() for heading, words in sections(text)
            if all(re.search(part, f"{heading} {words}") for part in parts)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_stands_under_one_heading(question):
    found = places_of(QUESTIONS[question])
    print(f"\n{question} {found}")
    assert found, f"no heading of the README or of a page that it links has all of {QUESTIONS[question]}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_first_screen_leads_there(question):
    """What stands above the second heading answers in short, or links a page that does."""
    readme = pages()["README.md"]
    first = readme[:re.search(r"^## ", readme, re.MULTILINE).start()]
    linked = {page for page in re.findall(r"\]\(([\w/.-]*\.md)?(?:#[\w-]+)?\)", first)}
    whole = all(re.search(part, " ".join(first.split())) for part in QUESTIONS[question])
    places = {"" if page == "README.md" else page for page, _ in places_of(QUESTIONS[question])}
    assert whole or places & linked, f"{question} is answered at {places}, and the first screen links {linked}"
