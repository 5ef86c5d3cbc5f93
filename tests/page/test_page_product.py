# SPDX-License-Identifier: Apache-2.0
"""Pages of `mxprof view` in real browsers: their numbers are those that the other commands print of the same trace."""
import os
import pathlib
import subprocess
import sys

import pytest

import page_tools

sys.path.append(str(page_tools.TESTS.parent / "cli"))
from test_whatif import trace  # noqa: E402

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()


@pytest.fixture(scope="module", name="product")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("product")
    (folder / "t.mxp").write_bytes(trace(loading=100_000, scopes=("net:one:", "net:two:")).to_bytes())
    subprocess.run([BUILD / "mxprof", "view", folder / "t.mxp", "-o", folder / "page.html"], check=True, capture_output=True, timeout=60)
    for command in ("report", "explain", "path", "whatif"):
        done = subprocess.run([BUILD / "mxprof", command, "--json", folder / "t.mxp"], check=True, capture_output=True, timeout=60)
        (folder / f"{command}.json").write_bytes(done.stdout)
    return folder


@pytest.mark.parametrize("browser", list(page_tools.BROWSERS))
def test_numbers_are_those_of_the_commands(product, browser, monkeypatch):
    if page_tools.missing(browser):
        pytest.skip(page_tools.missing(browser))
    monkeypatch.setenv("MXPROF_PRODUCT", str(product))
    said = page_tools.run_node("product.test.mjs", product, browser)
    assert "not ok" not in said
