# SPDX-License-Identifier: Apache-2.0
"""Pages of `mxprof view` in real browsers: their numbers are those that the other commands print of the same trace."""
import base64
import gzip
import os
import pathlib
import re
import subprocess
import sys

import pytest

import page_tools
import page_writer

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


def test_style_and_script_are_within_what_the_page_allows_them(product):
    page = (product / "page.html").read_text()
    parts = [re.search(f"{begin}([^<]*)</", page)[1] for begin in ("<style>", 'id="code">', "<script>")]
    assert all(parts) and sum(map(len, parts)) <= 150_000


def test_joined_script_is_the_program_of_the_modules(product, tmp_path):
    """What the build leaves out of the script are comments and blanks: printed anew, both are one text."""
    if page_tools.missing() or not (page_tools.MODULES / "node_modules/typescript").is_dir():
        pytest.skip("not here: node, typescript (make browser)")
    page = (product / "page.html").read_text()
    (tmp_path / "joined.js").write_bytes(gzip.decompress(base64.b64decode(re.search('id="code">([^<]*)</script>', page)[1])))
    (tmp_path / "modules.js").write_text(page_writer.join())
    printed = subprocess.run([page_tools.NODE, "-e", """
        const ts = require(process.argv[1] + '/node_modules/typescript'), fs = require('fs');
        const [joined, modules] = process.argv.slice(2).map(file => ts.transpileModule(fs.readFileSync(file, 'utf8'),
          { compilerOptions: { removeComments: true, target: 'esnext' } }).outputText);
        fs.writeFileSync(process.argv[2] + '.out', joined);
        fs.writeFileSync(process.argv[3] + '.out', modules);""", page_tools.MODULES, tmp_path / "joined.js", tmp_path / "modules.js"],
        capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    joined, modules = ((tmp_path / f"{name}.js.out").read_text().splitlines() for name in ("joined", "modules"))
    assert len(joined) > 1000 and joined == modules
