# SPDX-License-Identifier: Apache-2.0
"""--words: only the tests whose path or name has one of these words, as TESTS= has them. What tests of a folder run must be
built: that it is not is told once, before any of them fails."""
import os
import pathlib

import pytest

TREE = pathlib.Path(__file__).resolve().parent.parent
# Of the folders whose tests have been run by hand before anything was built.
PROGRAMS = {"cli": ["mxprof", "hello"], "python": ["libmxnet.so"], "golden": ["libmxnet.so"], "format": ["mxprof"]}


def pytest_addoption(parser):
    parser.addoption("--words", default="", help="words separated by blanks, no patterns")


def missing_program(items):
    """The first file that tests among these need and that is not built; None if there is none."""
    build = pathlib.Path(os.environ.get("MXPROF_BUILD", TREE / "build/release"))
    folders = {item.path.relative_to(TREE / "tests").parts[0] for item in items if TREE / "tests" in item.path.parents}
    needed = [build / name for folder in sorted(folders) for name in PROGRAMS.get(folder, [])]
    return next((path for path in needed if not path.exists()), None)


def pytest_collection_modifyitems(config, items):
    words = config.getoption("--words").split()
    if words:
        chosen = [item for item in items if any(word in item.nodeid for word in words)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    # A worker of xdist has no way to say it; `make test`, which has such, builds first.
    missing = None if hasattr(config, "workerinput") else missing_program(items)
    if missing is not None:
        raise pytest.UsageError(f"{missing} is not there, which these tests run: make build (MXPROF_BUILD names another build)")
