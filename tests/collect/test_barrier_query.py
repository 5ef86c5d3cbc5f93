# SPDX-License-Identifier: Apache-2.0
"""The query of docs/sqlite.md for barrier waits by region, on what the OpenMP tool recorded."""
import pathlib
import sys

import pytest

from recorded import Recorded, compiled

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
import sqlite_queries  # noqa: E402


def test_share_of_barrier_wait_by_region(tmp_path_factory, tmp_path):
    program = compiled(pathlib.Path(__file__).parent / "ompt_program.c", tmp_path_factory.mktemp("ompt") / "program")
    recorded = Recorded([program, "regions", "20"], "OMP_TOOL_LIBRARIES", tmp_path)
    row, = sqlite_queries.ask(sqlite_queries.database_of(recorded.file, tmp_path), 4)
    durations = {name: [event["dur"] for event in recorded.events if event["ph"] == "X" and event["name"] == name]
                 for name in (row["region"], "barrier wait")}
    region_us, wait_us = sum(durations[row["region"]]), sum(durations["barrier wait"])
    assert row["times"] == len(durations[row["region"]]) == 40
    assert (row["ms"], row["wait_ms"]) == (pytest.approx(region_us / 1e3, abs=0.01),
                                           pytest.approx(wait_us / 1e3, abs=0.01))
    assert row["percent"] == pytest.approx(100 * wait_us / region_us, abs=0.1)
