# SPDX-License-Identifier: Apache-2.0
"""Tables that the documents show have the headings of today: each heading in a box is one that a command prints of traces
that the tests have, or that stands in an expected output of tests/cli/cases."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"]).resolve()
sys.path.insert(0, str(SOURCE / "tests/cli"))
import rank_files  # noqa: E402
import run_programs  # noqa: E402
import server_runs  # noqa: E402

PLANTED = SOURCE / "tests/cli/planted"
# Columns that are there only where the trace has something for them.
OPTIONAL = {"forward", "backward", "update", "exchange", "path", "share", "with", "more", "interval", "of it"}
CELL = re.compile(r"[A-Za-z+%][A-Za-z ,.'+%-]*(\([A-Za-z]+\))?|p\d\d(\.\d)?")
ELSEWHERE = {"docs/sqlite.md"}  # tables of another program, which tests/cli/test_sqlite.py types


def cells(line):
    return re.split(r"\s{2,}|\t", line.strip())


def is_heading(lines, i):
    """Words in three columns or more, and below them a row with a figure."""
    found = cells(lines[i])
    below = lines[i + 1] if i + 1 < len(lines) else ""
    return len(found) >= 3 and all(CELL.fullmatch(cell) for cell in found) and (
        re.search(r"\d", below) is not None or below.startswith("----"))


def headings(text):
    lines = text.splitlines()
    return [tuple(cells(lines[i])) for i in range(len(lines)) if is_heading(lines, i)]


def shown():
    return [(page, heading) for page in typed.pages(SOURCE) if page not in ELSEWHERE
            for _, language, content in typed.boxes((SOURCE / page).read_text(encoding="utf-8")) if language in ("", "console")
            for heading in headings(content)]


@pytest.fixture(name="printed", scope="module")
def fixture_printed(tmp_path_factory):
    """All headings that commands print today."""
    folder = tmp_path_factory.mktemp("headings")
    outputs = [path.read_text(encoding="utf-8") for path in (SOURCE / "tests/cli/cases").glob("*.expected")]
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}  # as a pipe has it: the narrowest

    def command(*arguments):
        done = subprocess.run([BUILD / "mxprof", *map(str, arguments)], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        outputs.append(done.stdout + done.stderr)
    for arguments in (["report"], ["report", "--tree"], ["report", "--by", "step"], ["path"], ["path", "--step", "7"], ["whatif"],
                      ["memory"], ["top"], ["show", "--step", "slowest"]):
        command(*arguments, PLANTED / "slow_layer.mxpz")
    command("report", PLANTED / "slow_loader.mxpz")
    command("memory", "--growth", PLANTED / "leak.mxpz")
    command("memory", "--fresh", PLANTED / "allocation.mxpz")
    command("diff", PLANTED / "slow_layer.mxpz", "--", PLANTED / "slow_loader.mxpz")
    subprocess.run([BUILD / "train", folder], check=True, capture_output=True, timeout=120, env=environment)
    for arguments in (["report"], ["memory", "--later"], ["report", "--layout", "mxnet"]):
        command(*arguments, "profile.mxp")
    job = rank_files.Job(4)
    job.train(20, late=2)
    job.exchange_all()
    job.write(folder / "job")
    command("explain", "job")
    command("merge", "job", "-o", "all.mxp")
    command("run", *run_programs.recording(20))
    killed = server_runs.killed(server_runs.compiled(folder), folder)
    for arguments in (["report"], ["report", "--by", "thread"], ["report", "--by", "arg:request"], ["top", "--name", "handle"],
                      ["show", "--arg", "request=137"]):
        command(*arguments, killed)
    command("at", killed, "end")
    return {heading for output in outputs for heading in headings(output)}


def essential(heading):
    return tuple(cell for cell in heading if cell not in OPTIONAL)


def test_each_heading_is_one_that_a_command_prints(printed):
    today = {essential(heading) for heading in printed}
    optional = {cell for heading in printed for cell in heading}
    wrong = [(page, heading) for page, heading in shown()
             if essential(heading) not in today or not set(heading) <= optional]
    assert wrong == []


def test_each_line_below_a_report_and_each_column_is_explained():
    page = (SOURCE / "docs/questions/where-does-time-go.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`([^`]+)`", page[page.index("### Columns"):page.index("## From the whole")]))
    lines = re.findall(r'(?:begin|put_count)\(out, "([a-z ]+)"',
                       (SOURCE / "tools/report/report_quality.c").read_text(encoding="utf-8"))
    columns = [cell for heading in headings(page[:page.index("### Columns")]) for cell in heading[1:]]
    assert len(set(lines)) > 10 and len(set(columns)) > 10
    assert set(lines) | set(columns) <= explained


def test_there_are_tables():
    assert len(shown()) > 30
