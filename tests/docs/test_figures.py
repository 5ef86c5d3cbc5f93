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
OURS, OTHERS = (re.findall(r"^\| [^|]+ \| ([\d.]+)( ns| B| %)?[^|]* \| ([A-Z]+\d+ [^|]+) \|$", part, re.MULTILINE)
                for part in PAGE.split("Other profilers on the same machine"))


def measured(name, side):
    claim = CLAIMS[name]
    return claim["value"] if claim[side] is None else claim[side]


def is_rounded(shown, figure):
    digits = len(shown.partition(".")[2])
    return float(shown) == round(figure, digits)


@pytest.mark.parametrize("shown, unit, name", OURS)
def test_our_figure_is_the_one_that_is_kept(shown, unit, name):
    assert is_rounded(shown, measured(name, "subject"))


@pytest.mark.parametrize("shown, unit, name", OTHERS)
def test_the_other_s_figure_is_the_one_that_is_kept(shown, unit, name):
    assert is_rounded(shown, measured(name, "reference"))


def test_there_are_figures():
    assert len(OURS) >= 15 and len(OTHERS) == 4


def test_the_readme_says_the_same():
    readme = " ".join((SOURCE / "README.md").read_text(encoding="utf-8").split())
    span, size, inline, exported = re.search(r"a span takes (\d+) ns and (\d+) bytes, an off mark ([\d.]+) to ([\d.]+) ns", readme).groups()
    assert is_rounded(span, measured("R1 span, header inline", "subject"))
    assert is_rounded(size, measured("R7 bytes per span in memory", "subject"))
    assert is_rounded(inline, measured("R5 off, inline", "subject"))
    assert is_rounded(exported, measured("R5 off, exported", "subject"))
