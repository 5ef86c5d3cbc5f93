# SPDX-License-Identifier: Apache-2.0
"""docs/limits.md: each figure is the one that the sources have."""
import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
PAGE = (SOURCE / "docs/limits.md").read_text(encoding="utf-8")
# What the page's row is called: where the sources have it, and what it adds there.
PLACES = {
    "bytes of a text argument": ("include/mxprof/format.h", "MXP_ARG_TEXT_MAX_BYTES"),
    "arguments of a span": ("include/mxprof/format.h", "MXP_SPAN_ARGS_MAX"),
    "open spans of a thread that are known by name after a crash": ("include/mxprof/record_inline.h", "MXP_OPEN_MAX"),
    "overlapping starts of one task": ("src/profiler/session/objects/durations.c", "STARTS_MAX"),
    "counters with `statistics_only`": ("src/profiler/recorder/thread/counter_stats.h", "MXP__COUNTER_STATS_MAX"),
    "threads with a number of their own": ("src/profiler/recorder/thread/thread_index.h", "MXP__THREADS_KEPT"),
    "threads that live at a time": ("src/profiler/recorder/thread/thread_index.h", "MXP__THREADS_MAX"),
    "snapshots by trigger or signal": ("src/profiler/session/output/snapshot.c", "TRIGGERED_MAX"),
    "children's files in one Chrome trace": ("src/profiler/session/output/children.c", "CHILDREN_MAX"),
    "open functions of a thread": ("src/profiler/collect/functions/functions.h", "MXP__FUNCTIONS_OPEN_MAX"),
    "open marks of a thread": ("src/profiler/collect/thread.h", "MXP__COLLECT_OPEN_MAX"),
    "bytes of a mark's text": ("src/profiler/collect/names.h", "MXP__COLLECT_TEXT_MAX"),
    "arguments of an NVTX payload": ("src/profiler/collect/nvtx/payload.h", "MXP__NVTX_PAYLOAD_ARGS"),
    "objects of synchronization with a name": ("src/profiler/collect/waits.c", "OBJECTS"),
    "relations that wait for their task": ("src/profiler/collect/relations.c", "WAITING"),
    "stacks that are told apart": ("tools/export/stacks.h", "MXP__STACKS_MAX"),
    "frames of a stack": ("tools/export/stacks.h", "MXP__STACK_FRAMES_MAX"),
    "depth of scopes": ("src/profiler/export/scope_path.c", "DEPTH_MAX"),
    "durations with exact percentiles in `mxprof top`": ("tools/instances/durations.h", "MXP__DURATIONS_MOST"),
}
ROWS = dict(re.findall(r"^\| ([^|]+) \| ([\d,]+) \| [^|]+ \|$", PAGE, re.MULTILINE))


def test_the_rows_are_those_that_are_looked_up():
    assert set(ROWS) == set(PLACES)


@pytest.mark.parametrize("row", PLACES)
def test_the_figure_is_the_sources_own(row):
    file, name = PLACES[row]
    text = (SOURCE / file).read_text(encoding="utf-8")
    value = re.search(rf"\b{name}(?: =)? (0x[\da-f]+|\d+)u?(?: << (\d+))?[^\w.]", text)
    assert int(value[1], 0) << int(value[2] or 0) == int(ROWS[row].replace(",", ""))
