# SPDX-License-Identifier: Apache-2.0
"""scripts/setup on a machine that lacks packages and may not install them: the build goes on without what it does without,
and says so; what it cannot do without, and tests, are refused with the line to type. Nothing is installed here."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
TOOLS = "bash cat cksum dirname mkdir sed grep tail cut env".split()
LINE = re.compile(r"^    sudo apt-get update && sudo apt-get install -y --no-install-recommends (.*)$", re.MULTILINE)


@pytest.fixture(name="machine")
def fixture_machine(tmp_path):
    """A tree with the script, and a folder of programs: those above, and stand-ins for what is named."""
    (tmp_path / "tree/scripts").mkdir(parents=True)
    for name in ("setup", "requirements.txt"):
        shutil.copy(SOURCE / "scripts" / name, tmp_path / "tree/scripts")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(shutil.which(name))

    def put(name, text):
        (programs / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (programs / name).chmod(0o755)
    put("id", "echo 1000")
    put("sudo", "exit 1")
    for name in ("apt-get", "gcc", "g++", "cmake", "ninja", "python3", "pkg-config"):
        put(name, "exit 9")
    return tmp_path


def setup(machine, *groups):
    return subprocess.run([machine / "tree/scripts/setup", *groups], env={"PATH": str(machine / "bin")}, capture_output=True,
                          text=True, check=False, timeout=60)


def test_the_build_goes_on_without_what_it_does_without(machine):
    done = setup(machine, "build")
    assert done.returncode == 0, done.stderr
    assert "building without" in done.stdout and "valgrind" in LINE.search(done.stdout)[1].split()


def test_it_does_not_go_on_without_a_compiler(machine):
    (machine / "bin/gcc").unlink()
    done = setup(machine, "build")
    assert done.returncode == 1 and "may not be installed from here" in done.stderr
    assert LINE.search(done.stderr)[1].split() == ["gcc"]


def test_formatting_wants_the_formatter_and_no_compiler():
    makefile = (SOURCE / "Makefile").read_text(encoding="utf-8")
    setup = (SOURCE / "scripts/setup").read_text(encoding="utf-8")
    assert re.findall(r"^(?:check-)?format:\n\t@\$\(setup\) (\w+)$", makefile, re.MULTILINE) == ["format", "format"]
    assert re.search(r"^setup_format\(\) \{\n +system_packages (.*)\n", setup, re.MULTILINE)[1].split() == [
        "python3=python3", "clang-format=clang-format"]


def test_tests_want_all_of_it(machine):
    done = setup(machine, "test")
    assert done.returncode == 1 and "valgrind" in LINE.search(done.stderr)[1].split()
    assert not (machine / "tree/.venv").exists()


def test_a_machine_without_apt_is_told_the_packages(machine):
    (machine / "bin/apt-get").unlink()
    done = setup(machine, "build")
    assert done.returncode == 0 and "valgrind" in done.stdout and "sudo" not in done.stdout
    done = setup(machine, "test")
    assert done.returncode == 1 and "there is no apt-get" in done.stderr and "valgrind" in done.stderr


def test_a_stamp_counts_only_while_all_of_it_is_there(machine):
    """One program that is there is not enough."""
    (machine / "bin/valgrind").symlink_to("/bin/true")
    assert setup(machine, "build").stdout == ""
    assert (machine / "tree/build/.setup/build").exists()
    (machine / "bin/valgrind").unlink()
    assert "building without valgrind" in setup(machine, "build").stdout
