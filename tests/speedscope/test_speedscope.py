# SPDX-License-Identifier: Apache-2.0
"""The formats of stacks in speedscope itself, which reads all three: the table that it shows has the own times
that were recorded. `make browser` installs what this needs; without it the test is skipped and says so."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "perfetto"), str(TESTS / "cli")]
from test_stacks import MS, convert, operators  # noqa: E402
from viewer import CHROMIUM, MODULES, NODE  # noqa: E402

missing = [what for what, there in {
    "chromium": CHROMIUM, "node": NODE, **{name: (MODULES / "node_modules" / name).is_dir()
                                           for name in ("playwright-core", "speedscope")}}.items() if not there]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not here: {', '.join(missing)} (make browser)")

# Names of files, and what speedscope says they are.
PROFILES = {"out.speedscope.json": "speedscope json file", "out.folded": "collapsed stack format",
            "out.pb.gz": "protobuf encoded pprof file"}
OWN_MS = {"batch": 6, "Convolution": 6, "copy": 1}
TOTAL_MS = {"batch": 11, "Convolution": 6, "copy": 1, "net": 6, "conv1": 4}


def in_ms(shown):
    number = float(re.sub(r"[^0-9.]", "", shown.split(" ")[0]))
    return number if "ms" in shown else number * 1000 if "s" in shown.split(" ")[0] else number / MS


def table_of(text):
    """{symbol: (total, self)} of the page's table, in ms: three lines a row."""
    lines = [line.strip() for line in text.split("Symbol Name")[1].splitlines() if line.strip()]
    return {name: (in_ms(total), in_ms(own)) for total, own, name in zip(*[iter(lines)] * 3)}


def test_speedscope_reads_all_three_and_shows_the_same(tmp_path):
    (tmp_path / "in.mxp").write_bytes(operators().to_bytes())
    for name in PROFILES:
        convert(tmp_path / "in.mxp", tmp_path / name)
    (tmp_path / "task.json").write_text(json.dumps({
        "modules": str(MODULES), "chromium": CHROMIUM, "profiles": [str(tmp_path / name) for name in PROFILES]}))
    result = subprocess.run([NODE, pathlib.Path(__file__).with_name("open.mjs"), tmp_path / "task.json"],
                            capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stderr
    for seen, (name, kind) in zip(json.loads(result.stdout), PROFILES.items()):
        assert seen["errors"] == [] and f"Importing as {kind}" in seen["log"], name
        table = table_of(seen["text"])
        table.pop("worker", None)  # the thread: a frame of folded stacks, a name or a label of the others
        assert {symbol: total for symbol, (total, _) in table.items()} == pytest.approx(TOTAL_MS), name
        assert {symbol: own for symbol, (_, own) in table.items() if own} == pytest.approx(OWN_MS), name
