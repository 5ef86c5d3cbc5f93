# SPDX-License-Identifier: Apache-2.0
"""The trace with the critical path in it, in the real viewer: the path is a row of its own, and threads' rows are
as without it. Spans that begin before a step and end in it do not nest into the path's pieces."""
import sys

from viewer import SOURCE, inspect, mxprof, needs_browser

sys.path.insert(0, str(SOURCE / "tests/cli"))
import native_file  # noqa: E402  pylint: disable=wrong-import-position

US = 1000
QUERY = """select thread.name as row, count(*) as n from slice
           join thread_track on slice.track_id = thread_track.id join thread using (utid) group by row"""


@needs_browser
def test_the_path_is_a_row_of_its_own(tmp_path):
    file = native_file.NativeFile(pid=5000)  # its first thread has this number: it is the main thread
    main = file.thread("main")
    name = file.name("work", "program", "span")
    for step in range(4):
        file.meta(main, "step", step * 100 * US, value=step)
        if step > 0:
            file.span(main, name, (step * 100 - 30) * US, (step * 100 + 40) * US)
    (tmp_path / "t.mxp").write_bytes(file.to_bytes())
    mxprof("path", tmp_path / "t.mxp", "--trace", tmp_path / "path.json")
    seen = inspect(tmp_path, tmp_path / "path.json", tmp_path / "row.png", 0, 400 * US, {"rows": QUERY})
    assert seen["importErrors"] == []
    rows = {row["row"]: row["n"] for row in seen["answers"]["rows"]}
    assert rows["main"] == 3 and rows["critical path"] >= 6
