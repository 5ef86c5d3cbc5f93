# SPDX-License-Identifier: Apache-2.0
"""Everything that the documents tell a reader to type exists: subcommands and their options, targets of make, options of
CMake, scripts, variables, paths. That the commands also do what is said is for scripts/first-run and the pages' own tests."""
import functools
import os
import pathlib
import re
import subprocess

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
PAGES = typed.pages(SOURCE)
COMMANDS = [command for page in PAGES for command in typed.commands_of(page, (SOURCE / page).read_text(encoding="utf-8"))]
# Typed wrongly on purpose, to show the answer.
MISTAKES = {("docs/troubleshooting.md", "repot"), ("docs/troubleshooting.md", "MXPROF_FULL_POLCY")}
# What stands for something in a line: FILE, N, PROGRAM ..., a … or dots.
PLACEHOLDER = re.compile(r"[A-Z][A-Z.=_-]*|\.\.\.|…|.*…")


def simple_commands(*programs):
    """(command, words from the program on) of all parts that are calls of one of these programs."""
    for command in COMMANDS:
        for words in typed.parts(command.text):
            while words and re.match(r"(\w+=|sudo$|nice$|time$|env$)", words[0]):
                words = words[1:]
            if words and pathlib.PurePath(words[0]).name in programs:
                yield command, words


@functools.lru_cache(None)
def help_of(*words):
    return subprocess.run([BUILD / "mxprof", *words, "--help"], capture_output=True, text=True, check=False, timeout=60).stdout


def test_there_are_commands_in_every_kind_of_place():
    assert len(COMMANDS) > 150
    assert {command.in_box for command in COMMANDS} == {True, False}
    assert {"README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/first-run.md", "python/README.md"} <= {
        command.page for command in COMMANDS}


def test_subcommands_and_their_options_exist():
    known = re.findall(r"^  (\w+) ", help_of(), re.MULTILINE)
    assert "report" in known
    wrong = []
    for command, words in simple_commands("mxprof"):
        if len(words) < 2 or PLACEHOLDER.fullmatch(words[1]):
            continue
        if words[1].startswith("-"):
            wrong += [] if words[1] in help_of() or words[1] in ("--manual", "--completion") else [command]
        elif words[1] not in known:
            wrong += [] if (command.page, words[1]) in MISTAKES else [command]
        else:
            own = words[2:words.index("--")] if "--" in words else words[2:]
            if words[1] == "run":  # behind the program everything is the program's
                own = own[:next((i for i, word in enumerate(own) if i > 0 and not word.startswith("-")
                                 and not own[i - 1].startswith("-")), len(own))]
            wrong += [(command, word) for word in own if re.match(r"--?[a-z]", word)
                      and re.split("[=]", word)[0] not in help_of(words[1])]
    assert wrong == []


def test_targets_of_make_exist():
    makefile = (SOURCE / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", makefile, re.MULTILINE)[1].replace("\\\n", " ").split())
    assert "install-profiler" in targets
    wrong = [(command, word) for command, words in simple_commands("make") for word in words[1:]
             if re.fullmatch(r"[a-z][\w-]*", word) and word not in targets and word not in ("word",)]
    assert wrong == []
    variables = set(re.findall(r"^(\w+) \?=", makefile, re.MULTILINE)) | {"BENCH", "PEERS", "OPTIONS", "SEEDS"}
    assert [(command, word) for command, words in simple_commands("make") for word in words[1:]
            if re.match(r"[A-Z]+=", word) and word.split("=")[0] not in variables] == []


def test_options_of_cmake_exist():
    files = [SOURCE / "CMakeLists.txt", *(SOURCE / "cmake").glob("*.cmake")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    known = set(re.findall(r"\b(?:option|set)\((MX\w+)", text)) | {"CMAKE_BUILD_TYPE", "CMAKE_PREFIX_PATH", "CMAKE_INSTALL_PREFIX"}
    assert "MXPROF_RUNTIME" in known
    assert [(command, word) for command, words in simple_commands("cmake") for word in words[1:]
            if word.startswith("-D") and re.split("[:=]", word[2:])[0] not in known] == []


def test_variables_that_are_set_are_read():
    sources = "".join(path.read_text(encoding="utf-8") for folder in ("src", "python/mxnet", "tests")
                      for path in (SOURCE / folder).rglob("*.*")
                      if path.suffix in (".c", ".h", ".def", ".py"))
    wrong = []
    for command in COMMANDS:
        wrong += [(command, name) for name in re.findall(r"\b(MX(?:PROF|NET)_[A-Z_]+)=", command.text)
                  if f'"{name}"' not in sources and f"-D{name}" not in command.text and (command.page, name) not in MISTAKES]
    assert wrong == []


def test_paths_of_the_tree_exist():
    """What stands in code as a path of the source tree, but for what is built."""
    wrong = []
    for page in [*PAGES, "DESIGN.md"]:
        text = (SOURCE / page).read_text(encoding="utf-8")
        for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", typed.BOX.sub("", text)):
            for path in re.findall(r"(?<![\w./-])(?:src|tools|tests|examples|scripts|cmake|bench|include|python)/[\w./-]*\w", code):
                if not re.search(r"[A-Z]{3,}", path) and not (SOURCE / path).exists() and not list(
                        SOURCE.glob(path + "*")):
                    wrong.append((page, path))
    assert wrong == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_front_pages_are_extracted_whole(page):
    """A line of a box that begins as a command does is taken, none is lost between the boxes."""
    text = (SOURCE / page).read_text(encoding="utf-8")
    lines = {command.line for command in COMMANDS if command.page == page and command.in_box}
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"(make|cmake|cc|sudo) ", line):
            assert number in lines, line
