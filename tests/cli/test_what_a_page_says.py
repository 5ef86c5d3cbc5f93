# SPDX-License-Identifier: Apache-2.0
"""mxprof view: what the first screen says of odd runs, what --anonymous leaves out, and where the page goes."""
import pytest

import native_file
from test_view import mxprof, write
from test_whatif import trace as steps_trace


# ---- where it goes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, page", [("python3.11.4711.mxp", "python3.11.4711.html"), ("run.mxp", "run.html"), ("run", "run.html"),
                                        (".mxp", "page.html"), ("app.v2.mxp.gz", "app.v2.html")])
def test_pages_of_traces_of_one_program_have_names_of_their_own(tmp_path, name, page):
    (tmp_path / "traces").mkdir()
    write(tmp_path / "traces", steps_trace(), name)
    mxprof("view", tmp_path / "traces" / name, cwd=tmp_path)
    assert [path.name for path in tmp_path.glob("*.html")] == [page]


@pytest.mark.parametrize("folder, page", [("run.d", "run.d.html"), ("run.d/", "run.d.html"), (".", "page.html")])
def test_pages_of_folders_are_named_after_them(tmp_path, folder, page):
    (tmp_path / "run.d").mkdir()
    write(tmp_path / "run.d" if folder != "." else tmp_path, steps_trace())
    mxprof("view", folder, cwd=tmp_path)
    assert [path.name for path in tmp_path.glob("*.html")] == [page]


@pytest.mark.parametrize("arguments, says", [
    (["t.mxp", "-o", "t.mxp"], "'t.mxp' is the input; write the page to another file"),
    (["t.mxp", "-o", "./t.mxp"], "'./t.mxp' is the input"),
    (["t.mxp", "--with", "other.mxp", "-o", "other.mxp"], "'other.mxp' is the input"),
    (["t.mxp", "--open", "-o", "-"], "--open needs a file: leave out '-o -'"),
])
def test_a_page_never_takes_the_place_of_a_trace(tmp_path, arguments, says):
    for name in ("t.mxp", "other.mxp"):
        write(tmp_path, steps_trace(), name)
    before = [(tmp_path / name).read_bytes() for name in ("t.mxp", "other.mxp")]
    done = mxprof("view", *arguments, code=2, cwd=tmp_path)
    assert says in done.stderr and done.stdout == ""
    assert [(tmp_path / name).read_bytes() for name in ("t.mxp", "other.mxp")] == before
