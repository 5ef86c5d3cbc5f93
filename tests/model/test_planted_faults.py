# SPDX-License-Identifier: Apache-2.0
"""Whether the model finds what it is for: the profiler is built with a fault in it, and random programs must then
disagree. MXPROF_TEST_LONG=1, because the faults are in a build of their own."""
import os

import pytest

import planted
import test_session_model

FAULTS = {
    "what is pending at a rename is dropped": (
        "src/profiler/session/configure.c",
        "        mxp__dump_write_in_turn(session);\n",
        """        mxp_source *dropped = NULL;
        if (mxp__live_open(MXP__CONSUMER_FILE, &dropped) == MXP_OK) {
            mxp__live_consume(MXP__CONSUMER_FILE, dropped);
            mxp__source_close(dropped);
        }
"""),
    "a counter keeps the value before the last one": (
        "src/profiler/export/table/aggregate_counters.c", "    row->last = value;\n",
        "    row->last = row->count % 2 == 0 ? row->last : value;\n"),
    "a ring forgets what made room": (
        "src/profiler/recorder/memory/ring_drop.c", "    overwritten += records;\n", "    overwritten += records / 2;\n"),
}

pytestmark = pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1")


@pytest.fixture(scope="module", name="tree")
def tree_fixture(tmp_path_factory):
    return planted.Tree(tmp_path_factory.mktemp("tree"), ("mxprof_shared",))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_model_finds(fault, tree, tmp_path, monkeypatch):
    failed = []
    with tree.fault(*FAULTS[fault]) as made:
        monkeypatch.setenv("LD_PRELOAD", str(made / "libmxprof.so"))
        for first in range(1, 101, 10):
            failed = failed or test_session_model.failures(range(first, first + 10), tmp_path)
        monkeypatch.delenv("LD_PRELOAD")
    assert failed, "100 programs found nothing"
    assert all("Mismatch" in each for each in failed), "\n".join(failed)
