# SPDX-License-Identifier: Apache-2.0
"""Whether the programs find what they are for: the package is built with a fault in it, and they must then differ
from NumPy. MXPROF_TEST_LONG=1, because the faults are in a build of their own."""
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "model"))
import planted  # noqa: E402  (the path above is where it lies)

FAULTS = {  # what must be named by what differs; file, text, other text
    "int8 beside uint8 is uint8": (
        "operator", "src/runtime/op/loops/type_promotion.c", "[U1] = {F4, F8, F2, U1, I4, I2,", "[U1] = {F4, F8, F2, U1, I4, U1,"),
    "a view takes a row of more than three elements for a longer one": (
        "view", "python/mxnet/_indexing.py", "        begin, size = begin + place * size, size * length\n",
        "        begin, size = begin + place * size, size * length + (length > 3)\n"),
    "a reduction leaves out what is beyond its last eight elements": (
        "sum", "src/runtime/op/kernels/reduce_whole_kernels.h",
        "for (int64_t i = 0; i < count; i++) {\n            all = ",
        "for (int64_t i = 0; i < (count > 8 ? count & ~7 : count); i++) {\n            all = "),
}

pytestmark = pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1")


@pytest.fixture(scope="module", name="tree")
def tree_fixture(tmp_path_factory):
    return planted.Tree(tmp_path_factory.mktemp("tree"), ("mxnet_shared", "python_core"))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_programs_find(fault, tree):
    word, *place = FAULTS[fault]
    with tree.fault(*place) as made:
        environment = {**os.environ, "MXNET_LIBRARY_PATH": str(made / "libmxnet.so"),
                       "MXPROF_PACKAGE": str(tree.folder / "python")}
        done = subprocess.run([sys.executable, FOLDER / "differential.py", "--count", "20000", "--shown", "4"],
                              env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert word in done.stdout and "--seed 1 --only" in done.stdout
