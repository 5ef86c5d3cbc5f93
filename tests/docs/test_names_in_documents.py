# SPDX-License-Identifier: Apache-2.0
"""Names in running text are those of the sources: options, functions and macros of C, options of CMake with their defaults,
defaults that a help tells, exit codes."""
import functools
import os
import pathlib
import re
import subprocess

import pytest
import typed

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
PAGES = {page: (SOURCE / page).read_text(encoding="utf-8") for page in typed.pages(SOURCE)}
# Of starters of jobs, and of ours, mxnet-launch.
OTHERS = {"--export", *re.findall(r'"(--[a-z][\w-]*)"', (SOURCE / "python/mxnet/launch.py").read_text(encoding="utf-8"))}


@functools.lru_cache(None)
def help_of(*words):
    return subprocess.run([BUILD / "mxprof", *words, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout


def commands():
    return re.findall(r"^  (?!mxprof)(\w+) ", help_of(), re.MULTILINE)


def test_every_exporter_is_in_the_picture_of_the_design_and_a_format_of_convert():
    names = re.findall(r"^X\((\w+)\)$", (SOURCE / "src/profiler/export/exporters.def").read_text(encoding="utf-8"), re.MULTILINE)
    picture = re.search(r"exporters: (.*?)  ", (SOURCE / "DESIGN.md").read_text(encoding="utf-8"))[1].lower()
    offered = re.findall(r"^      (\w+) +\.", help_of("convert"), re.MULTILINE)
    assert len(names) >= 5 and set(names) <= set(offered)
    assert [name for name in names if name not in picture] == []


def test_no_help_names_a_place_of_the_source_tree():
    told = [(name, found) for name in commands() for found in re.findall(r"\b(?:build|tests|src|docs)/\S*", help_of(name))]
    assert told == []


def code_in(page):
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", typed.BOX.sub("", PAGES[page]))


def test_options_in_running_text_are_some_subcommand_s():
    known = set(re.findall(r"--[a-z][\w-]*", help_of() + "".join(map(help_of, commands())))) | OTHERS
    found = {(page, option) for page in PAGES for code in code_in(page) if code.startswith("--")
             for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code)}
    assert len(found) > 80
    assert sorted(pair for pair in found if pair[1] not in known) == []


def test_functions_and_macros_in_running_text_are_declared():
    declared = "".join(header.read_text(encoding="utf-8") for header in (SOURCE / "include").rglob("*.h*"))
    declared += "".join((SOURCE / file).read_text(encoding="utf-8") for file in
                        ("tools/command.h", "src/profiler/export/export.h", "src/profiler/libmxprof.map"))
    found = {(page, name) for page in PAGES for code in code_in(page) for name in re.findall(r"\b(?:mxp_[a-z0-9_]+|MXP_[A-Z0-9_]+)\b", code)}
    assert len(found) > 150
    # The version of a layout is a part of the symbol's name.
    assert sorted(pair for pair in found if pair[1] not in declared and re.sub(r"_\d$", "", pair[1]) not in declared) == []


def test_options_of_cmake_are_on_alone_and_off_in_a_project():
    shown = re.findall(r"^\| `(MXPROF_\w+)` \| on \| off \|", PAGES["docs/embedding.md"], re.MULTILINE)
    found = re.findall(r'^option\((MXPROF_\w+) "[^"]*"\s+\$\{PROJECT_IS_TOP_LEVEL\}\)', (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"),
                       re.MULTILINE)
    assert sorted(shown) == sorted(found) != []


@pytest.mark.parametrize("page, words, command, told", [
    ("docs/page.md", r"A page has (\d+) MB at most, unless `--size`", "view", r"as (\d+)M \(default\)"),
    ("docs/any-program.md", r"The summary takes (\d) s at most", "run", r"which takes (\d) s at most"),
    ("docs/questions/did-my-change-help.md", r"beyond `--at-least` \((\d) %\)", "diff", r"default (\d)%"),
    ("docs/questions/did-my-change-help.md", r"A verdict needs (\w+) runs a side", "diff", r"a verdict takes (\d) a side"),
])
def test_a_default_is_the_one_that_the_help_tells(page, words, command, told):
    shown = re.search(words, " ".join(PAGES[page].split()))[1]
    assert {"four": "4"}.get(shown, shown) == re.search(told, re.sub(r"\s+", " ", help_of(command)))[1]


def test_exit_codes_are_those_of_the_help():
    shown = re.findall(r"^\| (\d) \| [^|]+ \|$", PAGES["docs/files.md"], re.MULTILINE)
    assert shown == re.findall(r"(?:: |, )(\d) ", re.sub(r"\s+", " ", help_of().split("exit code")[1])) == ["0", "1", "2", "3"]


DECLARED = """
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stddef.h>
void piece(mxp_name name, uint64_t t, uint64_t n, const char *p, size_t length, uint64_t id, mxp_name bytes, mxp_name path,
           mxp_arg *args)
{
"""


def boxes_of(page, language):
    return [content for _, found, content in typed.boxes(PAGES[page]) if found == language]


@pytest.mark.parametrize("number", range(len(boxes_of("docs/embedding.md", "c"))))
def test_the_boxes_in_c_compile(number, tmp_path):
    box = boxes_of("docs/embedding.md", "c")[number]
    inside = "" if box.startswith("#include") else "{\n" + re.sub(r"^\.\.\.$", "", box, flags=re.MULTILINE) + "}\n"
    unused = "(void)name; (void)t; (void)n; (void)p; (void)length; (void)id; (void)bytes; (void)path; (void)args;"
    (tmp_path / "piece.c").write_text((box if not inside else "") + DECLARED + inside + "    " + unused + "\n}\n")
    done = subprocess.run(["cc", "-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-variable", "-Werror", f"-I{SOURCE}/include", "-c", "piece.c"],
                          cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_box_in_cpp_compiles(tmp_path):
    box, = boxes_of("docs/embedding.md", "cpp")
    (tmp_path / "piece.cpp").write_text("#include <mxprof/mxprof.hpp>\n#include <string>\n"
                                        "void piece(int key, const std::string &path, int bytes)\n{\n" + box + "}\n")
    done = subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/include", "-c", "piece.cpp"], cwd=tmp_path,
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
