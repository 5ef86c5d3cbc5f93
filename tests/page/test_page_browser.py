# SPDX-License-Identifier: Apache-2.0
"""The page in real browsers. `make browser` installs what this needs; without it the tests are skipped and say so.
MXPROF_TEST_LONG=1 cuts and changes a page at every byte of its sections."""
import os

import pytest

import page_tools


@pytest.fixture(scope="module", name="folder")
def made(tmp_path_factory):
    return page_tools.written(tmp_path_factory.mktemp("pages"))


@pytest.mark.timeout(3600 if os.environ.get("MXPROF_TEST_LONG") == "1" else 300)
@pytest.mark.parametrize("browser", list(page_tools.BROWSERS))
def test_browser(folder, browser):
    if page_tools.missing(browser):
        pytest.skip(page_tools.missing(browser))
    said = page_tools.run_node("browser.test.mjs", folder, browser, 3500 if os.environ.get("MXPROF_TEST_LONG") == "1" else 290)
    assert "not ok" not in said
