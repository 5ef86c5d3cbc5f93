# SPDX-License-Identifier: Apache-2.0
"""make uninstall: what an installation has put into a folder is gone afterwards, and nothing else."""
import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])


def uninstall(prefix):
    return subprocess.run(["make", "uninstall", f"PREFIX={prefix}"], cwd=SOURCE, capture_output=True, text=True, timeout=60,
                          check=False)


def tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture(name="project")
def small_project(tmp_path):
    """A project that installs as ours does: two files, one of them a link, and one in a folder of its own."""
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.25)
project(small NONE)
install(SCRIPT {SOURCE}/cmake/Installed.cmake)
install(FILES a DESTINATION bin)
install(FILES b DESTINATION lib/small/deep)
if(MORE)
  install(FILES c DESTINATION lib/more)
endif()
install(CODE [[file(CREATE_LINK a "$ENV{{DESTDIR}}${{CMAKE_INSTALL_PREFIX}}/bin/link" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${{CMAKE_INSTALL_PREFIX}}/bin/link")]])
install(SCRIPT {SOURCE}/cmake/Installed.cmake)
""")
    for name in "abc":
        (tmp_path / name).write_text(name)
    return tmp_path


def install(project, prefix, *options, **variables):
    subprocess.run(["cmake", "-S", project, "-B", project / "build", *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--install", project / "build", "--prefix", prefix], check=True, capture_output=True,
                   env={**os.environ, **variables})


def test_what_was_installed_is_removed_and_what_was_there_stays(project):
    prefix = project / "prefix"
    (prefix / "lib/more").mkdir(parents=True)
    (prefix / "bin").mkdir()
    (prefix / "bin/other").write_text("other")
    before = tree(prefix)
    install(project, prefix)
    install(project, prefix, "-DMORE=ON")  # the list grows
    assert {"bin/a", "bin/link", "lib/small/deep/b", "lib/more/c", "share/mxprof/installed.txt"} <= tree(prefix)
    done = uninstall(prefix)
    assert done.returncode == 0 and "5 files removed" in done.stdout, done.stderr
    assert tree(prefix) == before


def test_a_folder_that_holds_something_else_now_stays(project):
    prefix = project / "prefix"
    install(project, prefix)
    (prefix / "lib/small/.mine").write_text("mine")
    (prefix / "bin/a").unlink()  # gone already
    assert uninstall(prefix).returncode == 0
    assert tree(prefix) == {"lib", "lib/small", "lib/small/.mine"}


def test_staged_installations_are_noted_in_the_stage(project):
    install(project, "/usr", DESTDIR=str(project / "stage"))
    assert uninstall(project / "stage/usr").returncode == 0
    assert tree(project / "stage") == {"usr"}


def test_where_nothing_was_installed_nothing_is_removed(tmp_path):
    (tmp_path / "bin").mkdir()
    done = uninstall(tmp_path)
    assert done.returncode != 0 and "nothing to uninstall" in " ".join(done.stderr.split())
    assert tree(tmp_path) == {"bin"}


@pytest.mark.parametrize("line", ["file ../outside", "file /outside", "folder a/../..", "other a", "file a/.."])
def test_a_damaged_list_removes_nothing_outside(tmp_path, line):
    prefix = tmp_path / "prefix"
    (prefix / "share/mxprof").mkdir(parents=True)
    (tmp_path / "outside").write_text("outside")
    (prefix / "share/mxprof/installed.txt").write_text(line + "\n")
    done = uninstall(prefix)
    assert done.returncode != 0 and "is damaged" in " ".join(done.stderr.split())
    assert (tmp_path / "outside").exists()


def test_a_staged_installation_is_removed_from_its_stage_and_not_from_the_system(project):
    prefix, stage = project / "prefix", project / "stage"
    install(project, prefix)
    before = tree(prefix)
    install(project, prefix, DESTDIR=str(stage))
    done = subprocess.run(["make", "uninstall", f"PREFIX={prefix}", f"DESTDIR={stage}"], cwd=SOURCE, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0 and f"from {stage}{prefix}" in done.stdout, done.stderr
    assert tree(prefix) == before
    assert not [path for path in stage.rglob("*") if path.is_file()]
