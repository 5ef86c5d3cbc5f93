# SPDX-License-Identifier: Apache-2.0
"""profile.explain() and profile.table(layout=, by=): what the command says of a profile's native trace."""
import os
import subprocess

from python_program import BUILD, run_python

STEPS = """
import time
import mxnet as mx
from mxnet import profiler
x = mx.nd.ones((300, 300))
def refused(call):
    try:
        call()
    except (mx.MXNetError, ValueError) as error:
        print(type(error).__name__ + ':', error)
        return
    print('not refused')
"""


def command(*arguments, folder):
    return subprocess.run([BUILD / "mxprof", *arguments], cwd=folder, capture_output=True, text=True,
                          check=True, env={**os.environ, "COLUMNS": "80"}).stdout


def test_it_says_what_the_command_says(tmp_path):
    done = run_python(STEPS + """
with profiler.profile('a.json', native_filename='a.mxp', profile_all=True) as p:
    for _ in range(12):
        time.sleep(0.002)
        with profiler.scope('net:first:'):
            y = mx.nd.dot(x, x)
        y.wait_to_read()
        p.step()
for text in (p.explain(), p.table(layout='report'), p.table(by='layer'), p.table(layout='tree')):
    print(text, end='-----\\n')
""", tmp_path, COLUMNS="80")
    assert (done.code, done.err) == (0, "")
    explained, report, layers, tree, _ = done.out.split("-----\n")
    path = str(tmp_path / "a.mxp")
    assert explained == command("explain", path, folder=tmp_path)
    assert report == command("report", path, folder=tmp_path)
    assert layers == command("report", "--by", "layer", path, folder=tmp_path)
    assert tree == command("report", "--tree", path, folder=tmp_path)
    assert "steps, " in explained
    assert "net:first" in layers


def test_without_a_native_trace_or_before_its_end_it_is_refused(tmp_path):
    done = run_python(STEPS + """
with profiler.profile('a.json') as p:
    x.wait_to_read()
refused(p.explain)
refused(lambda: p.table(by='layer'))
print(type(p.table()).__name__)
with profiler.profile('b.json', native_filename='b.mxp') as q:
    refused(q.explain)
refused(lambda: q.table(layout='flat'))
refused(lambda: q.table(by='nonsense'))
refused(lambda: q.table(layout='mxnet', by='layer'))
refused(lambda: q.table(layout='report', sort_by='avg'))
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("MXNetError: explain() reads a native trace, which this profile has not")
    assert "native_filename=" in lines[1]
    assert lines[2] == "str"
    assert lines[3].startswith("MXNetError: explain() reads the finished trace")
    assert lines[4] == "ValueError: layout is 'flat'; valid are 'mxnet', 'report', 'tree'"
    assert lines[5].startswith("MXNetError: mxprof report:") and "nonsense" in lines[5]
    lines = [line for line in lines if "--help" not in line]  # of the command's words
    assert lines[6].startswith("ValueError: by= chooses a table of layout='report'")
    assert lines[7].startswith("ValueError: format= and dumps()'s options")


def test_without_the_command_it_says_where_it_was_looked_for(tmp_path):
    done = run_python(STEPS + """
import mxnet.profiler.command as command
command._places = lambda: iter([command.pathlib.Path('/nowhere/mxprof')])
with profiler.profile('a.json', native_filename='a.mxp') as p:
    x.wait_to_read()
refused(p.explain)
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("MXNetError: the mxprof command was not found; looked for /nowhere/mxprof and on the path")
