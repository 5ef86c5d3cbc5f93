# SPDX-License-Identifier: Apache-2.0
"""--step and a last step whose end is not recorded: means leave it out and say so, and alone it is told apart."""
import json
import os
import pathlib
import re

import pytest
from test_instances import run
from test_roof import ceilings

# 41 steps, of which the program was stopped in the last one, 37 us after its begin; the others take 10 ms each.
TRACE = pathlib.Path(os.environ["MXPROF_SOURCE"]) / "tests/cli/planted/slow_loader.mxpz"
LEFT_OUT = "left out: 1 of which the end is not recorded\n"
ALONE = "the end of this step is not recorded: it goes to the last record\n"


@pytest.mark.parametrize("command", ["report", "path", "roof"])
def test_means_leave_it_out_as_without_step(command, tmp_path):
    pairs = json.loads(run("info", "--json", TRACE).stdout)["processes"][0]["info"]
    machine = {pair["key"][len("machine."):]: pair["value"] for pair in pairs if pair["key"].startswith("machine.")}
    (tmp_path / "ceilings.txt").write_text(ceilings(**machine))
    more = ("--ceilings", tmp_path / "ceilings.txt") if command == "roof" else ()
    taken = run(command, *more, "--step", "1:", TRACE).stdout
    assert LEFT_OUT in taken
    assert taken.replace(LEFT_OUT, "") == run(command, *more, "--step", "1:40", TRACE).stdout
    assert LEFT_OUT not in run(command, *more, "--step", "1:40", TRACE).stdout


def test_the_report_gives_the_same_mean_with_and_without_step():
    heads = [run("report", *window, TRACE).stdout.split("\n\n")[0] for window in ((), ("--step", "0:"))]
    assert heads[0] == heads[1] and LEFT_OUT.strip() in heads[0]


def test_json_counts_what_has_an_end():
    process, = json.loads(run("path", "--json", "--step", "6:", TRACE).stdout)["processes"]
    assert process["steps"] == 35
    assert process["total_ns"] / 35 == pytest.approx(10e6, rel=0.02)


@pytest.mark.parametrize("command", ["report", "path"])
@pytest.mark.parametrize("window", ["41", "41:"])
def test_alone_it_is_shown_and_told(command, window):
    result = run(command, "--step", window, TRACE)
    assert result.returncode == 0 and "step 41: 37.0 " in result.stdout
    assert ALONE in result.stdout and "left out" not in result.stdout
    assert ALONE not in run(command, "--step", "40", TRACE).stdout


def test_explain_tells_that_only_the_end_is_missing():
    result = run("explain", "--step", "41", TRACE)
    assert result.returncode == 3
    assert re.fullmatch(r"mxprof explain: the end of this step of process \d+ is not recorded: how long it took is not "
                        r"known; --force takes it up to the last record\n", result.stderr)
    assert run("explain", "--step", "41", "--force", TRACE).returncode == 0


def test_single_spans_of_it_are_still_found():
    assert "MXNDArrayWaitAll" in run("top", "--step", "41:", TRACE).stdout
