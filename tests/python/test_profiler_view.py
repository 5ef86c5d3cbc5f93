# SPDX-License-Identifier: Apache-2.0
"""mx.profiler.view() and profile(...).view(): the page of `mxprof view`, and what a notebook shows of it."""
import html.parser
import pathlib
import sys

from python_program import SOURCE, run_python

sys.path.insert(0, str(pathlib.Path(SOURCE) / "tests/cli"))
import page_reader  # noqa: E402

PROGRAM = """
import mxnet as mx
from mxnet import profiler
x = mx.nd.ones((30, 30))
def refused(call):
    try:
        call()
    except mx.MXNetError as error:
        print('refused:', error)
"""


def names_of(page):
    return {kind[0] for kind in page.head["kinds"]}


def test_the_page_of_what_is_recorded_up_to_now(tmp_path):
    done = run_python(PROGRAM + """
profiler.set_config(filename='none.json', continuous_dump=False)
profiler.set_state('run')
with profiler.scope('net:first:'):
    mx.nd.dot(x, x).wait_to_read()
page = profiler.view('now.html')
(x + 1).wait_to_read()
later = profiler.view('later.html', size='none')
print(page.path, open(page).readable(), repr(page))
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    now, later = (page_reader.read(tmp_path / name) for name in ("now.html", "later.html"))
    assert done.out.startswith(f"{tmp_path / 'now.html'} True <page {tmp_path / 'now.html'}: ")
    assert "dot" in names_of(now) and "net:first" in {kind[2] for kind in now.head["kinds"]}
    assert len(later.spans()) > len(now.spans())


def test_the_page_of_a_profile_stands_beside_its_trace(tmp_path):
    done = run_python(PROGRAM + """
with profiler.profile('a.json', native_filename='a.mxp') as p:
    mx.nd.dot(x, x).wait_to_read()
print(p.view().path)
print(p.view('other.html', size='1M').path)
print(profiler.view('third.html', trace='a.mxp').path)
with profiler.profile('b.json') as q:
    x.wait_to_read()
refused(q.view)
refused(lambda: profiler.view(trace='nowhere.mxp'))
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:3] == [str(tmp_path / name) for name in ("a.html", "other.html", "third.html")]
    assert lines[3].startswith("refused: view() reads a native trace") and "nowhere.mxp" in lines[4]
    assert "dot" in names_of(page_reader.read(tmp_path / "a.html"))


class Frames(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_a_notebook_shows_the_page_in_a_frame(tmp_path):
    done = run_python(PROGRAM + """
with profiler.profile('a.json', native_filename='a.mxp') as p:
    mx.nd.dot(x, x).wait_to_read()
page = p.view()
open('cell.html', 'w').write(page._repr_html_())
with open(page, 'ab') as file:
    file.truncate(20_000_000)
print(page._repr_html_())
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    frames = Frames()
    frames.feed((tmp_path / "cell.html").read_text())
    (tag, attributes), = frames.found
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts allow-downloads"
    assert page_reader.Page(attributes["srcdoc"].encode()).spans()
    assert "too large for a notebook" in done.out and "<iframe" not in done.out
