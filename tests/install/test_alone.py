# SPDX-License-Identifier: Apache-2.0
"""The profiler alone, from its source: installed with a compiler, make and CMake and nothing else, and inside
another project. What compiles the library again needs MXPROF_TEST_LONG=1."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
CONSUMER = SOURCE / "tests/install/consumer"
# What a machine has that compiles: the compiler with its binary tools, make, CMake, the shell's tools.
PROGRAMS = "cc c++ as ld ar ranlib nm strip objcopy objdump readelf make cmake sh sed nproc".split()
long = pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1")


def run(*command, **options):
    """The finished command: its output, and its errors where it failed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=600, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def version():
    return re.search(r'VERSION_STRING "(.*)"', (SOURCE / "include/mxprof/version.h").read_text()).group(1)


@pytest.fixture(name="tree")
def copied_tree(tmp_path):
    """What the profiler is made of; neither tests nor scripts nor the runtime."""
    tree = tmp_path / "tree"
    for name in ("cmake", "include/mxprof", "src/base", "src/profiler", "tools"):
        shutil.copytree(SOURCE / name, tree / name)
    for name in ("CMakeLists.txt", "Makefile", "LICENSE"):
        shutil.copy(SOURCE / name, tree)
    return tree


@pytest.fixture(name="bare")
def bare_environment(tmp_path):
    """An environment with the programs above, and no more."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PROGRAMS:
        (folder / name).symlink_to(shutil.which(name, path="/usr/local/bin:/usr/bin:/bin"))
    return {"PATH": str(folder), "LC_ALL": "C"}


def expect_programs(folder, way, *options, **keywords):
    run("cmake", "-S", CONSUMER, "-B", folder, f"-DWAY={way}", *options, **keywords)
    run("cmake", "--build", folder, "-j2", **keywords)
    for program in ("consumer", "consumer_static", "consumer_cpp"):
        assert run(folder / program, cwd=folder).strip() == version()


@long
def test_a_compiler_make_and_cmake_install_the_profiler(tree, bare, tmp_path):
    prefix = tmp_path / "prefix"
    said = run("make", "install-profiler", f"PREFIX={prefix}", "OPTIONS=-DCMAKE_IGNORE_PATH=/usr/include",
               cwd=tree, env=bare)
    assert "zlib and zstd not found: the mxprof command will not compress" in " ".join(said.split())
    installed = {str(file.relative_to(prefix)) for file in prefix.rglob("*") if file.is_file()}
    assert {"bin/mxprof", "include/mxprof/mxprof.hpp"} <= installed
    assert {"libmxprof.so", "libmxprof.a", "libmxprof_collect.so"} <= {pathlib.Path(name).name for name in installed}
    assert not [name for name in installed if "mxnet" in name or "nnvm" in name]
    assert ".debug_info" not in run("readelf", "-SW", *prefix.rglob("libmxprof.so"), prefix / "bin/mxprof")
    expect_programs(tmp_path / "package", "package", f"-DCMAKE_PREFIX_PATH={prefix}", env=bare)
    ask_for_compression(prefix / "bin/mxprof", tmp_path / "package")


def ask_for_compression(command, folder):
    """The command that has none says so, and leaves no half file."""
    said = run(command, "--version")
    assert "built without zlib" in said and "built without zstd" in said
    environment = dict(os.environ, MXNET_PROFILER_AUTOSTART="1", MXPROF_NATIVE_FILENAME=str(folder / "own.mxp"))
    run(folder / "consumer_cpp", cwd=folder, env=environment)
    for name, missing in (("a.json.gz", "without zlib"), ("a.mxpz", "without zstd")):
        done = subprocess.run([command, "convert", folder / "own.mxp", "-o", folder / name],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and missing in done.stderr
        assert not (folder / name).exists()
    packed = folder / "packed.mxpz"
    run(BUILD / "mxprof", "convert", folder / "own.mxp", "-o", packed)
    done = subprocess.run([command, "report", "--layout", "mxnet", packed], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "need zstd" in done.stderr


@long
def test_a_project_has_the_profiler_in_a_folder_of_its_own(tree, tmp_path):
    expect_programs(tmp_path / "build", "folder", f"-DMXPROF={tree}")


@long
def test_a_project_fetches_the_profiler(tree, tmp_path):
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "tree"], ["tag", version()]):
        run("git", *identity, *command, cwd=tree)
    expect_programs(tmp_path / "build", "fetched", f"-DMXPROF={tree}", f"-DWANTED_VERSION={version()}")


def test_a_project_that_has_it_in_a_folder_keeps_its_names_and_its_install(tree, tmp_path):
    build = tmp_path / "build"
    run("cmake", "-S", CONSUMER, "-B", build, "-G", "Unix Makefiles", "-DWAY=folder", f"-DMXPROF={tree}")
    targets = set(re.findall(r"^\.\.\. (\S+)", run("cmake", "--build", build, "--target", "help"), re.M))
    assert {"consumer", "hello", "mxprof_shared", "mxprof_static"} <= targets
    ours = {name for name in targets if not name.startswith(("mxprof_", "mxp_", "consumer", "hello"))}
    assert not {name for name in ours if "/" not in name and "." not in name} & {"bench", "train", "trace", "embed"}
    assert "CMAKE_BUILD_TYPE:STRING=\n" in (build / "CMakeCache.txt").read_text()
    (build / "consumer").write_text("")  # what the project itself installs, as if it were built
    run("cmake", "--install", build, "--prefix", tmp_path / "prefix")
    assert [file.name for file in (tmp_path / "prefix").rglob("*") if file.is_file()] == ["consumer"]
