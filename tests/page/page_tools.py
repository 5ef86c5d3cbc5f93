# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page need: Node, browsers and the modules that drive them (`make browser` installs them)."""
import os
import pathlib
import shutil
import subprocess

import pages

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).resolve().parents[2])).resolve()
TESTS = pathlib.Path(__file__).resolve().parent
MODULES = SOURCE / "build/browser"
NODE = shutil.which("node")
BROWSERS = {"chromium": (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome"), "playwright-core"),
            "firefox": (shutil.which("firefox-esr") or shutil.which("firefox"), "puppeteer-core")}


def missing(browser=None):
    """What a test would need and is not here, as a sentence; "" if all is."""
    path, module = BROWSERS[browser] if browser else (None, None)
    lacks = [] if NODE else ["node"]
    if browser:
        lacks += [] if path else [browser]
        lacks += [] if (MODULES / "node_modules" / module).is_dir() else [module]
    return f"not here: {', '.join(lacks)} (make browser)" if lacks else ""


def written(folder):
    pages.write(folder)
    return folder


def run_node(test, folder, browser=None, timeout=280):
    """Runs a file of Node's tests; what it says stands in the failure."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_CHROMIUM", "MXPROF_FIREFOX"))}
    environment |= {"MXPROF_PAGES": str(folder), "MXPROF_MODULES": str(MODULES)}
    if browser:
        environment[f"MXPROF_{browser.upper()}"] = BROWSERS[browser][0]
    result = subprocess.run([NODE, "--test", str(TESTS / test)], capture_output=True, text=True, timeout=timeout, check=False, env=environment)
    assert result.returncode == 0, result.stdout[-12000:] + result.stderr[-2000:]
    return result.stdout
