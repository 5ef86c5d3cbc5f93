# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual and completion of shells: both are made of what the commands say themselves. Every page
passes the formatter without a warning and has all that --help has; every option is offered."""
import functools
import os
import re
import shutil
import subprocess

import pytest
from test_cli import BUILD, COMMAND, help_of, subcommands

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(name="pages", scope="module")
def written_pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([COMMAND, "--manual", folder], check=True)
    return folder


def page_names():
    return ["mxprof", *[f"mxprof-{name}" for name in subcommands()]]


def text_of_help(name):
    return help_of(*name.split("-", 1)[1:])


def test_there_is_a_page_for_each_command(pages):
    assert sorted(path.name for path in pages.iterdir()) == sorted(f"{name}.1" for name in page_names())


@pytest.mark.parametrize("name", page_names())
def test_pages_have_no_warnings(pages, name):
    formatters = {"man": ["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l", pages / f"{name}.1"],
                  "mandoc": ["mandoc", "-T", "lint", "-W", "warning", pages / f"{name}.1"]}
    there = [call for program, call in formatters.items() if shutil.which(program)]
    if not there:
        pytest.skip("there is neither man nor mandoc")
    for call in there:
        result = subprocess.run(call, capture_output=True, text=True, check=False,
                                env={**os.environ, "LC_ALL": "C.UTF-8"})
        assert result.returncode == 0 and result.stderr == "", call


def words_of(text):
    """The words of a text, whatever the layout: hyphens of lines are taken out before."""
    return re.findall(r"[^\s]+", text)


@pytest.mark.parametrize("name", page_names())
def test_pages_have_all_words_of_the_help(pages, name):
    roff = (pages / f"{name}.1").read_text()
    for code, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"),
                            ("\\e", "\\"), ("\\&", ""), ("\\fB", ""), ("\\fR", "")):
        roff = roff.replace(code, character)
    sections = re.findall(r"^\.SH (.*)$", roff, re.MULTILINE)
    assert sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"] and sections[-1] == "SEE ALSO"
    assert "EXIT STATUS" in sections
    body = roff[roff.index("SYNOPSIS"):]
    there = words_of(re.sub(r"^\.\S*", "", body, flags=re.MULTILINE))
    for word in words_of(text_of_help(name)):
        if word not in ("usage:", "example", "examples", "exit", "code:"):
            assert word.rstrip(":") in [other.rstrip(":") for other in there], word


# ---- completion
def options_in_help(command):
    """Those that begin a line of the help, and every other one that it names."""
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", help_of(command)))


def script(shell):
    return subprocess.run([COMMAND, "--completion", shell], capture_output=True, text=True, check=True).stdout


@pytest.fixture(name="complete", scope="module")
def complete_in_bash(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bash")
    (folder / "mxprof").write_text(script("bash"))

    def complete(*words, files=()):
        work = tmp_path_factory.mktemp("work")
        for name in files:
            (work / name).write_text("")
        asked = (f"source {folder}/mxprof; COMP_WORDS=({' '.join(map(repr, ('mxprof', *words)))}); "
                 f"COMP_CWORD={len(words)}; _mxprof mxprof {words[-1]!r} {(('mxprof', *words)[-2])!r}; "
                 "printf '%s\\n' \"${COMPREPLY[@]}\"")
        result = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=work)
        assert result.stderr == ""
        return set(result.stdout.split())
    return complete


def test_bash_offers_commands(complete):
    assert set(subcommands()) <= complete("")
    assert complete("re") == {name for name in subcommands() if name.startswith("re")}
    assert complete("help", "sh") == {"show"}


@pytest.mark.parametrize("command", subcommands())
def test_bash_offers_every_option(complete, command):
    own = {option for option in options_in_help(command) if accepts(command, option)}
    assert own | {"--help"} <= complete(command, "--")


@functools.cache
def complaint(command, option):
    """What the command says of an option at the end; a file that is none keeps it from its work, which for
    'roof --measure' is seconds. 'run' would take that for its program."""
    before = [] if command == "run" else ["/no/such/file.mxp"]
    return subprocess.run([BUILD / "mxprof", command, *before, option], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL).stderr


def accepts(command, option):
    """Whether the command knows the option; the help also names options of others (git's, MXNet's)."""
    return "unknown option" not in complaint(command, option)


def test_bash_offers_words_of_a_choice_and_files(complete):
    assert complete("convert", "--to", "pe") == {"perfetto"}
    assert complete("top", "--unit", "=", "m") == {"ms"}
    assert complete("info", "a", files=("a.mxp", "b.mxp")) == {"a.mxp"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("command", subcommands())
def test_every_shells_script_has_every_option(shell, command):
    text = script(shell)
    for option in options_in_help(command):
        if accepts(command, option):
            wanted = {"bash": f" {option} ", "zsh": option, "fish": f"-l {option[2:]}"}[shell]
            lines = {"bash": re.search(rf'^        {command}\) options="(.*)" ;;$', text, re.MULTILINE),
                     "zsh": re.search(rf"^        {command}\)\n((?:            .*\n)*)", text, re.MULTILINE),
                     "fish": re.search(rf"((?:^complete -c mxprof -n '__fish_seen_subcommand_from {command}'.*\n)+)",
                                       text, re.MULTILINE)}[shell]
            assert wanted in f" {lines.group(1)} ", option


def wants_value(command, option):
    return "needs a value" in complaint(command, option)


@pytest.mark.parametrize("command", subcommands())
def test_scripts_know_which_options_take_a_value(command):
    zsh, fish = script("zsh"), script("fish")
    of_zsh = re.search(rf"^        {command}\)\n((?:            .*\n)*)", zsh, re.MULTILINE).group(1)
    for option in options_in_help(command):
        if accepts(command, option):
            line = next(line for line in of_zsh.splitlines() if re.search(rf"'\*?{option}(['=])", line))
            assert (f"{option}=:" in line) == wants_value(command, option), line
            line = next(line for line in fish.splitlines()
                        if f"from {command}' -l {option[2:]}" in line and line.split("-l ")[1].split()[0] == option[2:])
            assert (line.endswith(" -r") or " -x " in line) == wants_value(command, option), line


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_of_their_shells_grammar(tmp_path, shell):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    (tmp_path / "script").write_text(script(shell))
    result = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stderr == ""


def test_a_shell_that_is_not_known_is_a_wrong_call():
    for call in (["--completion", "csh"], ["--completion"], ["--manual"]):
        result = subprocess.run([COMMAND, *call], capture_output=True, text=True, check=False)
        assert result.returncode == 2 and result.stderr
    result = subprocess.run([COMMAND, "--manual", "/no/such/folder"], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "cannot write" in result.stderr
