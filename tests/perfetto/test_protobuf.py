# SPDX-License-Identifier: Apache-2.0
"""Perfetto protobuf in the real Perfetto UI: no import error, and the counts that it finds in the Chrome file of the
same run."""
import subprocess

import pytest

from viewer import BUILD, SOURCE, inspect, mxprof, needs_browser

pytestmark = needs_browser
PICTURE = SOURCE / "build/protobuf-perfetto.png"

QUERIES = {
    # By the operator that an arrow ends in; in the protobuf it may do so at a mark within.
    "flows": """select iif(last.name = 'push', within.name, last.name) as name, count(*) as n
                from flow join slice last on flow.slice_in = last.id
                left join slice within on last.parent_id = within.id group by 1""",
    "counters": """select track.name as name, count(*) as n, max(value) as largest from counter
                   join counter_track track on counter.track_id = track.id group by track.name""",
    "on_threads": """select slice.category as category, thread.name as thread, parent.name as parent,
                     count(*) as n, sum(slice.dur) as dur from slice
                     join thread_track track on slice.track_id = track.id
                     join thread using (utid) left join slice parent on slice.parent_id = parent.id
                     group by slice.category, thread.name, parent.name""",
    "operators": """select slice.name as name, count(*) as n from slice join args using (arg_set_id)
                    where args.key in ('args.op', 'debug.op') group by slice.name""",
    "dates": "select count(*) as n from clock_snapshot where clock_name = 'REALTIME'",
}


@pytest.fixture(scope="module", name="folder", params=["embed", "train"])
def folder_fixture(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    subprocess.run([BUILD / request.param, folder], cwd=SOURCE if request.param == "embed" else folder,
                   check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module", name="both")
def both_fixture(folder, tmp_path_factory):
    """What the viewer says about the protobuf and about the Chrome file."""
    mxprof("convert", folder / "profile.mxp", "-o", folder / "profile.pftrace")
    seen = inspect(tmp_path_factory.mktemp("task"), folder / "profile.pftrace", PICTURE, 0, 0, QUERIES)
    chrome = inspect(tmp_path_factory.mktemp("task"), folder / "profile.json",
                     PICTURE.with_name("chrome-perfetto.png"), 0, 0, QUERIES)
    return seen, chrome


def rows(answer, *columns):
    return sorted(tuple(str(row[column]) for column in columns) for row in answer)


def test_nothing_was_refused(both):
    seen, _ = both
    assert seen["importErrors"] == []
    assert seen["pageErrors"] == []
    assert seen["answers"]["nesting"] == [{"n": 0}]
    assert seen["answers"]["unended"] == [{"n": 0}]


@pytest.mark.parametrize("query, columns", [
    ("slices", ("category", "name", "n")), ("operators", ("name", "n")), ("flows", ("name", "n")),
    ("on_threads", ("category", "thread", "parent", "n", "dur")), ("processes", ("pid",))])
def test_counts_are_those_of_the_chrome_file(both, query, columns):
    seen, chrome = both
    shown = [row for row in seen["answers"][query] if row.get("category") != "push"]  # begins of arrows
    wanted = chrome["answers"][query]
    if query == "on_threads":  # steps and marks for all threads are on rows of their own here
        wanted = [row for row in wanted if row["category"] not in ("step", "mxprof")]
    assert rows(shown, *columns) == rows(wanted, *columns)


def test_counters_are_those_of_the_chrome_file(both):
    seen, chrome = both
    shown = {row["name"]: (row["n"], row["largest"]) for row in seen["answers"]["counters"]}
    # The viewer shows a Chrome counter as its name and, again, the name of its value.
    assert shown == {row["name"][:len(row["name"]) // 2]: (row["n"], row["largest"])
                     for row in chrome["answers"]["counters"]}


def test_the_date_is_known(both):
    seen, _ = both
    assert seen["answers"]["dates"] == [{"n": 1}]


def test_picture_was_taken(both):
    assert both and PICTURE.stat().st_size > 10000
