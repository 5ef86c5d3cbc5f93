# SPDX-License-Identifier: Apache-2.0
"""What another profiler's trace says that it does not have is told, and not that nothing is lost."""
import json

import foreign_traces
import page_reader
from test_import import GOOD, mxprof, write


def test_a_full_buffer_of_viztracer_is_told(tmp_path):
    text = foreign_traces.viztracer()
    path = write(tmp_path / "v.json", text.replace('"overflow": false', '"overflow": true'))
    told = "viztracer's buffer was full: what was recorded first is not in it"
    assert told in mxprof("info", path).stderr.decode()
    mxprof("convert", path, "-o", tmp_path / "v.mxp")
    for file in (path, tmp_path / "v.mxp"):
        report = mxprof("report", file).stdout.decode()
        assert f"incomplete {told}\n" in report and "nothing lost" not in report
        assert json.loads(mxprof("report", "--json", file).stdout)["quality"]["incomplete"] == told
        for arguments in (("info",), ("report", "--layout", "mxnet")):
            out = mxprof(*arguments, file).stdout.decode()
            assert told in out and "lost       nothing" not in out and "lost     nothing" not in out
        out = mxprof("explain", file, code=3).stdout.decode()
        assert f"The trace is incomplete ({told})" in " ".join(out.split()) and "Nothing was lost" not in out
        mxprof("view", file, "-o", tmp_path / "page.html")
        trust = page_reader.read(tmp_path / "page.html").head["trust"]
        assert trust["state"] == "warn" and trust["word"] == "The trace says that it does not have all"
    assert "lost     nothing" in mxprof("info", write(tmp_path / "w.json", text)).stdout.decode()


def test_what_our_own_json_had_left_out_is_told(tmp_path):
    events = '{"traceEvents": [' + GOOD + '], "otherData": {"start_realtime_ns": "1790857026000000000"%s}}'
    path = write(tmp_path / "a.json", events % ', "left_out": "7 events: the file has reached trace_limit_bytes"')
    assert "incomplete it had reached trace_limit_bytes: 7 events are not in it\n" in mxprof("report", path).stdout.decode()
    path = write(tmp_path / "b.json", events % ', "full_policy": "ring", "overwritten_records": "1234"')
    assert "incomplete it is of a ring: 1234 older records had made room\n" in mxprof("report", path).stdout.decode()
    path = write(tmp_path / "c.json", events % ', "left_out": "section at 12"')
    assert "nothing lost" in mxprof("report", path).stdout.decode()
