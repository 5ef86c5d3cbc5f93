# SPDX-License-Identifier: Apache-2.0
"""The page's modules in Node, without a browser: bytes, levels of detail, selections, words, links, colours."""
import re

import pytest

import page_tools
import page_writer

pytestmark = pytest.mark.skipif(bool(page_tools.missing()), reason=page_tools.missing())


@pytest.fixture(scope="module", name="folder")
def made(tmp_path_factory):
    return page_tools.written(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("name", ["bytes", "levels", "words"])
def test_modules(folder, name):
    said = page_tools.run_node(f"{name}.test.mjs", folder)
    assert int(re.search(r"^# pass (\d+)", said, re.M).group(1)) > 5


def test_joined_script_is_one_that_node_can_parse(tmp_path):
    script = tmp_path / "joined.js"
    script.write_text(page_writer.join())
    page_tools.subprocess.run([page_tools.NODE, "--check", script], check=True)
    assert "import " not in re.sub(r"/\*.*?\*/", "", script.read_text(), flags=re.S).replace("import(", "")
