# SPDX-License-Identifier: Apache-2.0
"""Files for forges, editors and development containers: they run what is in the tree, and name no machine of anybody's."""
import json
import os
import pathlib
import re

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
FORGES = [".github/workflows/ci.yml", ".gitea/workflows/ci.yml", ".forgejo/workflows/ci.yml", ".gitlab-ci.yml"]


def text(path):
    return (SOURCE / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", FORGES)
def test_a_forge_runs_ci_run_on_a_bare_debian(path):
    file = text(path)
    assert re.search(r"^ *(- (run: )?)\.ci/run$", file, re.MULTILINE)
    assert len(re.findall(r"\bdebian:12\b", file)) == 1 and "git make" in file
    assert os.access(SOURCE / ".ci/run", os.X_OK)
    limit = sum(map(int, re.findall(r"\[(?:test|check)\]=(\d+)", text(".ci/run"))))
    assert 0 < limit < int(re.search(r"timeout(?:-minutes)?: (\d+)", file)[1])


@pytest.mark.parametrize("path", FORGES + [".devcontainer/devcontainer.json"])
def test_no_host_is_named(path):
    assert not re.findall(r"https?://|[\w-]+\.[\w-]+\.\w+/|:\d{4}/", text(path))


def test_gitea_and_forgejo_do_the_same():
    assert text(FORGES[1]).splitlines()[2:] == text(FORGES[2]).splitlines()[2:]


def test_the_container_is_set_up_as_contributing_says():
    container = json.loads(text(".devcontainer/devcontainer.json"))
    groups = re.match(r"scripts/setup ((?:\w+ )+)&& cmake --preset release$", container["postCreateCommand"])[1].split()
    assert set(groups) <= set(re.findall(r"^setup_(\w+)\(\)", text("scripts/setup"), re.MULTILINE))
    presets = {preset["name"] for preset in json.loads(text("CMakePresets.json"))["configurePresets"]}
    assert "release" in presets
    assert "build/release" in text(".clangd")


def test_an_editor_has_what_the_container_has():
    settings = json.loads(text(".vscode/settings.json"))
    assert "--compile-commands-dir=build/release" in settings["clangd.arguments"] and "build/release" in text(".clangd")
    container = json.loads(text(".devcontainer/devcontainer.json"))
    assert json.loads(text(".vscode/extensions.json"))["recommendations"] == container["customizations"]["vscode"]["extensions"]
    assert re.search(r"\[\*\](?:\n\w.*)*\nmax_line_length = (\d+)", text(".editorconfig"))[1] == re.search(
        r"ColumnLimit: (\d+)", text(".clang-format"))[1]
