# SPDX-License-Identifier: Apache-2.0
"""Asks the real Perfetto UI, in headless Chromium, what it makes of a trace. `make browser` installs what this
needs; without it the tests are skipped and say so."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
UI = SOURCE / "build/perfetto/web_dist"
MODULES = SOURCE / "build/browser"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODE = shutil.which("node")

missing = [what for what, there in {
    "chromium": CHROMIUM, "node": NODE, "the Perfetto UI": UI.is_dir(),
    "playwright-core": (MODULES / "node_modules/playwright-core").is_dir()}.items() if not there]
needs_browser = pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)} (make browser)")

QUERIES = {
    "slices": "select category, name, count(*) as n from slice group by category, name",
    "counters": """select track.name as name, count(*) as n, max(value) as largest
                   from counter join counter_track track on counter.track_id = track.id
                   group by track.name""",
    "threads": "select tid, name from thread",
    "processes": "select pid from process where pid != 0",
    "nesting": """select count(*) as n from slice child join slice parent on child.parent_id = parent.id
                  where child.ts < parent.ts or child.ts + child.dur > parent.ts + parent.dur""",
    "unended": "select count(*) as n from slice where dur < 0",
}


def inspect(folder, trace, picture, begin_ns, end_ns, queries=None, height=640):
    """What the viewer says; the picture shows that stretch of time. `folder` is for what it leaves."""
    task = {"ui": str(UI), "modules": str(MODULES), "chromium": CHROMIUM, "trace": str(trace),
            "queries": {**QUERIES, **(queries or {})}, "picture": str(picture), "picture_from": int(begin_ns),
            "picture_to": int(end_ns), "expand": [""], "width": 1400, "height": height}
    file = folder / "task.json"
    file.write_text(json.dumps(task))
    result = subprocess.run([NODE, pathlib.Path(__file__).with_name("check.mjs"), file],
                            capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def mxprof(*arguments):
    return subprocess.run([BUILD / "mxprof", *arguments], check=True, capture_output=True, text=True,
                          timeout=120).stdout
