# SPDX-License-Identifier: Apache-2.0
"""The Debian packages with the runtime (`make deb RUNTIME=ON`), made of this build: what is in each, what it depends on, and
that a program of the runtime is compiled and run with what they unpack to."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
pytestmark = [pytest.mark.skipif(shutil.which("dpkg-shlibdeps") is None, reason="dpkg-dev is not installed"),
              pytest.mark.skipif(not (BUILD / "libmxnet.so").exists(), reason="built without the runtime")]
PROGRAM = """
#include <mxnet/c_api.h>
#include <stdio.h>

int main(void)
{
    int version = 0;
    return MXGetVersion(&version) != 0 || printf("%d\\n", version) < 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(mxprof REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE mxprof::mxnet)
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, check=False, timeout=300,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})
    assert done.returncode == 0, done.stdout[-3000:] + (done.stderr or "")[-3000:]
    return done.stdout


@pytest.fixture(name="packages", scope="module")
def made_packages(tmp_path_factory):
    """Path of each package by its name; they are made without a warning."""
    folder = tmp_path_factory.mktemp("packages")
    assert "Warning" not in run("cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", folder, stderr=subprocess.STDOUT)
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def files_of(package):
    listed = [line.split()[5] for line in run("dpkg-deb", "-c", package).splitlines()]
    return {path.removeprefix("./") for path in listed if not path.endswith("/")}


def test_the_runtime_has_packages_of_its_own(packages):
    assert {"libmxprof0", "libmxprof-dev", "mxprof", "libmxnet0", "libmxnet-dev"} <= set(packages)
    assert {pathlib.Path(name).name.split(".so")[0] for name in files_of(packages["libmxnet0"])} == {"libmxnet"}
    development = files_of(packages["libmxnet-dev"])
    assert {"usr/include/mxnet/c_api.h", "usr/include/nnvm/c_api.h", "usr/include/mxnet-cpp/MxNetCpp.h"} <= development
    assert not [name for name in development if "include/mxprof/" in name]
    everything = [name for package in packages.values() for name in files_of(package)]
    assert len(everything) == len(set(everything))


def test_each_says_in_a_line_of_its_own_what_it_is(packages):
    descriptions = {name: run("dpkg-deb", "-f", package, "Description").splitlines() for name, package in packages.items()}
    first = [lines[0] for lines in descriptions.values()]
    assert len(set(first)) == len(packages)
    assert all(len(line) <= 60 and not line.startswith(("a ", "A ", "the ")) for line in first)
    assert all(len(lines) == 2 for lines in descriptions.values())


def test_who_links_a_library_is_told_its_package(packages):
    version = run("dpkg-deb", "-f", packages["mxprof"], "Version").strip()
    told = {name: run("dpkg-deb", "-I", package, "shlibs") for name, package in packages.items()
            if "shlibs" in run("dpkg-deb", "-I", package)}
    assert told == {f"lib{name}0": f"lib{name} 0 lib{name}0 (= {version})\n" for name in ("mxprof", "mxnet")}
    for name in told:
        assert "ldconfig" in run("dpkg-deb", "-I", packages[name], "postinst")


def test_they_depend_on_one_another_and_on_what_they_call(packages):
    depends = {name: run("dpkg-deb", "-f", package, "Depends") for name, package in packages.items()}
    version = run("dpkg-deb", "-f", packages["mxprof"], "Version").strip()
    assert f"libmxprof0 (= {version})" in depends["libmxnet0"] and "libc6" in depends["libmxnet0"]
    assert depends["libmxnet-dev"].strip() == f"libmxnet0 (= {version}), libmxprof-dev (= {version})"
    assert "mpi" not in depends["libmxnet0"]
    if "libmxnet0-mpi" in packages:
        assert "libopenmpi" in depends["libmxnet0-mpi"] and files_of(packages["libmxnet0-mpi"])


def test_a_program_of_the_runtime_is_compiled_and_run_with_what_they_unpack_to(packages, tmp_path):
    for package in packages.values():
        run("dpkg-deb", "-x", package, tmp_path / "unpacked")
    (tmp_path / "user.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    library = next((tmp_path / "unpacked").rglob("libmxnet.so")).parent
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/unpacked/usr")
    run("cmake", "--build", tmp_path / "build")
    assert re.fullmatch(r"\d+\n", run(tmp_path / "build/user", env={**os.environ, "LD_LIBRARY_PATH": str(library)}))
    assert "prefix=/usr\n" in next((tmp_path / "unpacked").rglob("mxprof.pc")).read_text()
