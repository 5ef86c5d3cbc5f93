# SPDX-License-Identifier: Apache-2.0
"""What the command says to a wrong word, a file in the place of a command, a full or closed standard output, and the
library to a wrong variable: each names what is wrong and what would be right. Texts that are whole lines of the command are
in cases/."""
import os
import pathlib
import re
import subprocess

import pytest

from compiled import compiled

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
COMMAND = BUILD / "mxprof"
SUBCOMMANDS = re.findall(r"^  (\w+) +\w", subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=False)
                         .stdout.partition("\ncommands\n")[2].partition("\n\n")[0], re.MULTILINE) if COMMAND.exists() else []


def clean_environment(**variables):
    return {**{key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}, **variables}


def told(folder, *words, code=2, stdin=""):
    """What stands on stderr; standard output is empty."""
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, input=stdin, check=False, timeout=60,
                          env=clean_environment())
    assert (done.returncode, done.stdout) == (code, ""), done
    return done.stderr


# ---- the first word ----------------------------------------------------------------------------
@pytest.mark.parametrize("word, meant", [("record", "run"), ("list", "ls"), ("compare", "diff"), ("stat", "report"),
                                         ("export", "convert"), ("reprot", "report"), ("version", "--version")])
def test_what_is_called_otherwise_elsewhere_is_told_by_our_name(tmp_path, word, meant):
    assert f"there is no command '{word}'; did you mean '{meant}'?" in told(tmp_path, word)


@pytest.mark.parametrize("option, meant", [("--hlp", "--help"), ("--verson", "--version")])
def test_an_option_that_is_nearly_one_of_the_commands_own(tmp_path, option, meant):
    assert told(tmp_path, option) == f"mxprof: unknown option '{option}'; did you mean '{meant}'?\n"


@pytest.mark.parametrize("file, mode, meant", [("a.mxp", 0o644, "report a.mxp"), ("train.py", 0o644, "run python train.py"),
                                               ("train.py", 0o755, "run python train.py"), ("server", 0o755, "run ./server"),
                                               ("notes", 0o644, "report notes")])
def test_a_file_without_a_command_is_told_which_one(tmp_path, file, mode, meant):
    (tmp_path / file).write_text("")
    (tmp_path / file).chmod(mode)
    assert told(tmp_path, file) == f"mxprof: which command? For example: mxprof {meant}\n"


@pytest.mark.parametrize("file", ["run.mxp", "train.py"])
def test_so_is_one_that_is_not_there(tmp_path, file):
    assert "which command? For example: mxprof r" in told(tmp_path, file)


# ---- run ---------------------------------------------------------------------------------------
def test_a_script_in_the_place_of_a_program(tmp_path):
    (tmp_path / "train.py").write_text("")
    assert "cannot run 'train.py': No such file or directory; python goes before it\n" in told(tmp_path, "run", "train.py", code=127)
    assert "cannot run './train.py': Permission denied; python goes before it\n" in told(tmp_path, "run", "./train.py", code=126)


def test_a_program_of_this_folder_without_its_path(tmp_path):
    (tmp_path / "server").write_text("#!/bin/sh\n")
    (tmp_path / "server").chmod(0o755)
    assert "a program of this folder has ./ before its name" in told(tmp_path, "run", "server", code=127)


def test_a_file_in_the_place_of_the_runs_folder(tmp_path):
    (tmp_path / "out.mxp").write_text("mine")
    assert "'out.mxp' is a file: --output names a folder" in told(tmp_path, "run", "-o", "out.mxp", "true", code=125)
    assert (tmp_path / "out.mxp").read_text() == "mine"


# ---- standard input and output -----------------------------------------------------------------
@pytest.mark.parametrize("content", ["", "words\n"])
def test_standard_input_is_called_so_and_not_by_a_temporary_name(tmp_path, content):
    text = told(tmp_path, "report", "-", code=1, stdin=content)
    assert "cannot read '" in text and "tmp" not in text and "/proc" not in text


@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
@pytest.mark.parametrize("words", ["--help", "--version", "help report", "--completion bash",
                                   *(f"{name} --help" for name in SUBCOMMANDS)])
def test_help_that_cannot_be_written_is_an_error(words, where):
    done = subprocess.run(f"'{COMMAND}' {words} {where}", shell=True, capture_output=True, text=True, check=False)
    reason = "No space left on device" if "full" in where else "Bad file descriptor"
    assert done.returncode == 1 and f"cannot write to standard output: {reason}\n" in done.stderr, done


def test_help_into_a_pipe_that_nobody_reads_is_none():
    done = subprocess.run(f"'{COMMAND}' --help | true", shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""


# ---- options -----------------------------------------------------------------------------------
def test_a_list_of_percentiles_without_single_spans_is_told_where_it_belongs(tmp_path):
    text = told(tmp_path, "report", "--percentiles", "50,99.9", "a.mxp")
    assert "--percentiles takes a list only with --histogram GLOB or --by arg:KEY" in text
    assert "mxprof report --histogram '*' --percentiles 50,99.9 FILE" in text


@pytest.mark.parametrize("by", ["step", "path"])
@pytest.mark.parametrize("option", ["--top 3", "--sort self", "--depth 1", "--name a", "--scope a", "--thread a", "--phase forward"])
def test_options_of_operators_are_no_silent_part_of_a_table_without_them(tmp_path, by, option):
    text = told(tmp_path, "report", "--by", by, *option.split(), "a.mxp")
    assert f"{option.split()[0]} does not belong to --by {by}\n" in text


def test_no_message_sends_to_a_page_that_an_installed_command_does_not_have():
    texts = [path.read_text(encoding="utf-8") for folder in ("tools", "src/profiler") for path in (SOURCE / folder).rglob("*.c")]
    strings = [string for text in texts for string in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)]
    assert len(strings) > 3000
    assert [string for string in strings if re.search(r"\bdocs/|README|\.md\b", string)] == []


# ---- variables ---------------------------------------------------------------------------------
PROGRAM = """
#include <mxprof/profiler.h>
#include <stdio.h>

int main(void)
{
    mxp_config config;
    mxp_config_init(&config);
    config.aggregate_stats = 1;
    if (mxp_session_configure(mxp_session_get(), &config) != 0) {
        fprintf(stderr, "failed: %s\\n", mxp_last_error());
    }
    return 0;
}
"""


@pytest.fixture(name="program", scope="module")
def fixture_program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("program"), "table", PROGRAM)


def of_variables(program, **variables):
    done = subprocess.run([program], cwd=program.parent, capture_output=True, text=True, check=True, timeout=60,
                          env=clean_environment(**variables))
    return done.stderr


@pytest.mark.parametrize("value", ["9", "19", "32", "99", "RTMIN+100", "TERM", "USR2", "-1"])
def test_a_signal_that_cannot_be_handled_is_ignored_with_what_could_be(program, value):
    text = of_variables(program, MXPROF_SNAPSHOT_SIGNAL=value)
    assert text.startswith(f"mxprof: MXPROF_SNAPSHOT_SIGNAL='{value}' is ignored: ")
    assert "SIGUSR2" in text and "RTMIN+1" in text and "failed" not in text


@pytest.mark.parametrize("value", ["0", "1", "true", "10", "RTMIN+1", "64"])
def test_signals_that_can_be_are_taken(program, value):
    assert of_variables(program, MXPROF_SNAPSHOT_SIGNAL=value) == ""


def test_a_ring_that_the_environment_asks_for_is_named_where_the_program_asks_for_a_table(program):
    text = of_variables(program, MXPROF_FULL_POLICY="ring")
    assert text.startswith("failed: ") and "keeps no table" in text and "MXPROF_FULL_POLICY is set" in text
