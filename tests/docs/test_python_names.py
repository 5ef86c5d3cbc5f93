# SPDX-License-Identifier: Apache-2.0
"""Names around the Python package that the documents tell are those of today: modules of `python -m`, what pip installs and
removes, versions, scripts, and the folder that the package is in when it is installed."""
import importlib.util
import os
import pathlib
import re

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
PAGES = {page: (SOURCE / page).read_text(encoding="utf-8") for page in typed.pages(SOURCE)}
SETUP = (SOURCE / "python/setup.py").read_text(encoding="utf-8")
PROJECT = (SOURCE / "python/pyproject.toml").read_text(encoding="utf-8")
NAME = re.search(r'^name = "(.*)"$', PROJECT, re.MULTILINE)[1]
VERSION = re.search(r'^#define MXP_VERSION_STRING "(.*)"$', (SOURCE / "include/mxprof/version.h").read_text(encoding="utf-8"),
                    re.MULTILINE)[1]


def found(pattern):
    return [(page, *match) if isinstance(match, tuple) else (page, match) for page, text in PAGES.items()
            for match in re.findall(pattern, text)]


@pytest.mark.parametrize("module", sorted({module for _, module in found(r"python3? -m ([a-z_.]+)")}))
def test_a_module_that_is_run_is_there(module):
    path = SOURCE / "python" / module.replace(".", "/")
    assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file() or importlib.util.find_spec(module)


def test_pip_installs_a_folder_that_is_there_and_removes_what_it_has_installed():
    folders = {folder.rpartition("/")[2] for _, folder in found(r"pip install (\.[\w./]*)")}
    assert folders == {"python"} and (SOURCE / "python/setup.py").is_file()
    removed = found(r"pip uninstall ([\w-]+)")
    assert removed and {name for _, name in removed} == {NAME}
    printed = found(r"Successfully installed ([a-z]+)-(\d+\.\d+\.\d+) ")
    assert printed and {(name, version) for _, name, version in printed} == {(NAME, VERSION)}


def test_what_pip_needs_is_what_set_up_asks_for():
    asked = set(re.search(r"apt-get install ([\w -]+)\"", SETUP)[1].split())
    told = [set(packages.split()) for page, packages in found(r"apt-get install ([\w -]+)`")]
    assert len(asked) == 4 and asked in told


def test_scripts_are_installed_by_their_names():
    scripts = set(re.findall(r'"scripts/([\w-]+)"', SETUP))
    assert scripts == {path.name for path in (SOURCE / "python/scripts").iterdir()} == {"mxprof", "mxnet-launch"}
    assert found("mxnet-launch")


def test_the_folder_of_an_installed_package_is_that_of_set_up():
    folder = re.search(r'^RUNTIME = .* else "([\w.]+)\."$', SETUP, re.MULTILINE)[1].replace(".", "/")
    told = found(r"site-packages/([\w/]+?)(?:/mxnet/libmxnet\.so)?[`\s]")
    assert len(told) >= 2 and {place for _, place in told} == {folder}


def test_the_library_is_named_with_its_version():
    told = found(r"libmxprof\.so\.(\d+)\b(?!\.\d)")
    assert told and {number for _, number in told} == {VERSION.split(".")[0]}
