# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job, whose clocks differ by seconds, as one trace in the real viewer: a process each, by its
name, and no arrow that goes backwards."""
import os
import pathlib
import sys

from viewer import BUILD, SOURCE, inspect, mxprof, needs_browser

sys.path.insert(0, str(pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve() / "tests/cli"))
from rank_files import MS, US, Job  # noqa: E402  (the path must be set before)

QUERIES = {
    "names": "select name from process where pid != 0 order by name",
    "arrows": "select count(*) as n from flow",
    "backward": """select count(*) as n from flow join slice sent on flow.slice_out = sent.id
                   join slice heard on flow.slice_in = heard.id where heard.ts < sent.ts""",
    "refused": "select count(*) as n from slice where name like 'message is not drawn%'",
}


@needs_browser
def test_a_merged_job_has_a_process_a_rank_and_no_arrow_goes_back(tmp_path):
    job = Job(4, seed=3)
    job.train(steps=12, late=2, spread=0.01)
    for step in range(12):
        for rank in range(1, 4):
            sent = 60 * MS + step * 25 * MS + rank * 2 * MS
            job.message(rank, 0, sent, sent + 300 * US)
            job.message(0, rank, sent + 600 * US, sent + 900 * US)
    job.message(1, 2, 200 * MS, 190 * MS)
    job.exchange_all()
    job.write(tmp_path / "job")
    out = mxprof("merge", tmp_path / "job", "-o", tmp_path / "all.mxp")
    assert "arrows: 73 checked, 1 would go backwards" in out
    mxprof("convert", tmp_path / "all.mxp", "-o", tmp_path / "all.pftrace")
    picture = BUILD.parent / "ranks-perfetto.png"
    seen = inspect(tmp_path, tmp_path / "all.pftrace", picture, 55 * MS, 140 * MS, QUERIES, height=1000)
    assert seen["importErrors"] == [] and seen["pageErrors"] == []
    answers = seen["answers"]
    assert [row["name"] for row in answers["names"]] == [f"worker {rank} (n{rank})" for rank in range(4)]
    assert answers["arrows"][0]["n"] == 72
    assert answers["backward"][0]["n"] == 0
    assert answers["refused"][0]["n"] == 2
    assert SOURCE.is_dir()
