# SPDX-License-Identifier: Apache-2.0
"""The documents as a whole: links and their anchors lead somewhere, each page is two clicks from the README, no sentence
stands on two pages, and tables have short cells."""
import collections
import os
import pathlib
import re

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
PAGES = [*typed.pages(SOURCE), "DESIGN.md", "bench/README.md"]
TEXTS = {page: (SOURCE / page).read_text(encoding="utf-8") for page in PAGES}
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Lists of everything, each row of which is as long as it must be.
LONG_CELLS = {"DESIGN.md", "docs/c-api.md", "docs/distributed-records.md", "docs/format.md", "docs/migration.md",
              "docs/page-format.md", "docs/python-api.md", "docs/sqlite.md", "bench/README.md", "CONTRIBUTING.md",
              "docs/first-run.md"}


def prose(text):
    """Without boxes."""
    return typed.BOX.sub("", text)


def anchors(text):
    """As forges make them of headings: small letters, no punctuation, hyphens for blanks."""
    titles = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def targets(page):
    """(page of the tree or None, anchor or "") of each link that stays in the tree."""
    for link in LINK.findall(prose(TEXTS[page])):
        if not link.startswith(("http://", "https://")):
            path, _, anchor = link.partition("#")
            whole = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            yield link, whole, anchor


@pytest.mark.parametrize("page", PAGES)
def test_links_and_their_anchors_lead_somewhere(page):
    wrong = [link for link, whole, anchor in targets(page)
             if not (SOURCE / whole).exists()
             or (anchor and whole.endswith(".md") and anchor not in anchors((SOURCE / whole).read_text(encoding="utf-8")))]
    assert wrong == []


def test_every_page_is_two_clicks_from_the_readme():
    first = {whole for _, whole, _ in targets("README.md")}
    second = {whole for page in first & set(PAGES) for _, whole, _ in targets(page)}
    assert sorted(set(PAGES) - first - second - {"README.md"}) == []


def sentences(text):
    plain = re.sub(r"^\|.*$|^#.*$|!\[.*?\]\(.*?\)", "", prose(text), flags=re.MULTILINE)
    plain = re.sub(r"^( {4}.*|<!--.*?-->)$", "", plain, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n[-*] ", plain):
        for sentence in re.split(r"(?<=[.!?:])\s+", " ".join(paragraph.split())):
            if len(sentence.split()) > 6:
                yield sentence


def test_no_sentence_stands_on_two_pages():
    pages = collections.defaultdict(set)
    for page, text in TEXTS.items():
        for sentence in sentences(text):
            pages[sentence.strip("*- ")].add(page)
    assert len(pages) > 1000
    assert {sentence: sorted(of) for sentence, of in pages.items() if len(of) > 1} == {}


@pytest.mark.parametrize("page", sorted(set(PAGES) - LONG_CELLS))
def test_tables_have_short_cells(page):
    """A cell holds words; what is a sentence stands below the table."""
    cells = [cell.strip() for line in prose(TEXTS[page]).splitlines() if line.startswith("|")
             for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    shown = [re.sub(r"\]\([^)]*\)|[\[\]]", "", cell) for cell in cells]
    assert [cell for cell in shown if len(cell) > 130] == []


def test_no_page_names_itself_a_guide_s_part_that_is_gone():
    """What once stood in one long guide is found by its page."""
    gone = []
    for folder in ("src", "tools", "include", "python/mxnet", "tests", "scripts", "cmake", "docs"):
        for file in (SOURCE / folder).rglob("*.*"):
            if file.suffix in (".c", ".h", ".hpp", ".py", ".md", ".cmake", ".mjs"):
                gone += [(str(file.relative_to(SOURCE)), found) for found in
                         re.findall(r"docs/[\w/-]+\.md", file.read_text(encoding="utf-8")) if not (SOURCE / found).exists()]
    assert gone == []
