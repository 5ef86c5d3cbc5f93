# SPDX-License-Identifier: Apache-2.0
"""What the documents say that something costs is what was measured and kept in bench/results."""
import json
import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
PAGE = (SOURCE / "docs/questions/what-does-it-cost.md").read_text(encoding="utf-8")
CLAIMS = {claim["name"]: claim for claim in
          json.loads((SOURCE / "bench/results/epyc-zen5-2-cores.json").read_text(encoding="utf-8"))["claims"]}
# Rows that end in a claim: what, cost, perhaps a ratio, claim; of others: what, by whom, theirs, ours, ratio, claim.
ROWS = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\| [A-Z]+\d+ [^|]+ \|$", PAGE, re.MULTILINE)]
OURS = [row for row in ROWS if len(row) in (3, 4)]
OTHERS = [row for row in ROWS if len(row) == 6]


def measured(name, side="subject"):
    claim = CLAIMS[name]
    return claim["value"] if claim[side] is None else claim[side]


def is_rounded(shown, figure):
    number = re.match(r"[\d.]+", shown)[0]
    return float(number) == round(figure, len(number.partition(".")[2]))


def is_ratio(shown, name):
    claim = CLAIMS[name]
    figures = re.fullmatch(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", shown)
    return claim["ratio"] is None if figures is None else all(
        is_rounded(figure, claim[key]) for figure, key in zip(figures.groups(), ("ratio", "min", "max")))


@pytest.mark.parametrize("row", OURS, ids=lambda row: row[-1])
def test_our_figure_is_the_one_that_is_kept(row):
    assert is_rounded(row[1], measured(row[-1]))
    assert len(row) == 3 or is_ratio(row[2], row[-1])


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: row[-1])
def test_the_other_s_figure_is_the_one_that_is_kept(row):
    _, _, theirs, ours, ratio, name = row
    assert is_rounded(theirs, measured(name, "reference")) and is_rounded(ours, measured(name)) and is_ratio(ratio, name)


def test_there_are_figures():
    assert len(OURS) >= 20 and len(OTHERS) == 5 and sum(row[2] != "" for row in OURS if len(row) == 4) >= 15


def test_what_misses_its_goal_is_told():
    missed = {row[-1] for row in ROWS if CLAIMS[row[-1]]["ok"] is False}
    assert missed == {OTHERS[0][-1], OTHERS[2][-1]}
    assert f"Two of these ratios miss the project's own goal: LTTng's is to be {CLAIMS[OTHERS[0][-1]]['must']} at most" in PAGE
    assert f"that of PyTorch's operators {CLAIMS[OTHERS[2][-1]]['must']}" in PAGE


def test_medians_and_spread_of_a_step_are_those_kept():
    in_c, in_python = (CLAIMS[f"E7 LeNet step{side}, full profile, upper bound"] for side in ("", " in Python"))
    medians, least, most = re.search(r"medians themselves are (.*?)\. Single pairs lie between (\S+) % and (\S+) %", " ".join(PAGE.split())).groups()
    assert medians.split(" and ") == [re.match(r"median ([\d.]+ %)", claim["note"])[1] for claim in (in_c, in_python)]
    assert (int(least), int(most)) == (round(min(in_c["min"], in_python["min"])), round(max(in_c["max"], in_python["max"])))


@pytest.mark.parametrize("page", ["README.md", "docs/faq.md"])
def test_the_short_answers_say_the_same(page):
    text = " ".join((SOURCE / page).read_text(encoding="utf-8").split())
    ring, fresh, size, inline, exported = re.search(r"span takes (\d+) ns in a ring, (\d+) ns in fresh memory, and (\d+) bytes"
                                                    r".{0,80}off mark takes ([\d.]+) ns.{0,80}?([\d.]+) ns", text).groups()
    assert is_rounded(ring, measured("R2 span, exported functions with the gate"))
    assert is_rounded(fresh, measured("R6 span in fresh memory, over a reused ring"))
    assert is_rounded(size, measured("R7 bytes per span in memory"))
    assert is_rounded(inline, measured("R5 off, inline"))
    assert is_rounded(exported, measured("R5 off, exported"))
