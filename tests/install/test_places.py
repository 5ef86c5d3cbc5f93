# SPDX-License-Identifier: Apache-2.0
"""Where the profiler is installed: a folder with blanks in its name, a stage, the system's own. What pkg-config and CMake
say of it is compiled and run."""
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
BUILD = pathlib.Path(os.environ["MXPROF_BUILD"])
CONSUMER = SOURCE / "tests/install/consumer"
pytestmark = pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=100, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def install(prefix, **variables):
    for component in ("library", "development", "command"):
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component, env={**os.environ, **variables})


def pkg_config(folder, *words, **variables):
    text = run("pkg-config", *words, "mxprof", env={**os.environ, "PKG_CONFIG_PATH": str(folder), **variables})
    return shlex.split(text)


@pytest.fixture(name="prefix", scope="module")
def folder_with_blanks(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed") / "a folder" / "of mine"
    install(prefix)
    return prefix


def library_folder(prefix):
    return next(prefix.rglob("libmxprof.so")).parent


@pytest.mark.parametrize("options", [[], ["-Wl,--as-needed"], ["-Wl,--no-undefined", "-Wl,-z,now"]])
def test_a_program_is_compiled_with_what_pkg_config_says(prefix, tmp_path, options):
    folder = library_folder(prefix)
    run("cc", CONSUMER / "consumer.c", *options, *pkg_config(folder / "pkgconfig", "--cflags", "--libs"), f"-Wl,-rpath,{folder}", "-o",
        tmp_path / "program")
    assert run(tmp_path / "program", cwd=tmp_path).count(".") == 2


def test_and_a_static_one(prefix, tmp_path):
    folder = library_folder(prefix)
    run("cc", CONSUMER / "consumer.c", "-static", *pkg_config(folder / "pkgconfig", "--static", "--cflags", "--libs"), "-o",
        tmp_path / "program")
    assert run(tmp_path / "program", cwd=tmp_path).count(".") == 2


@pytest.mark.parametrize("way", ["CMAKE_PREFIX_PATH", "mxprof_DIR"])
def test_cmake_finds_it(prefix, tmp_path, way):
    place = prefix if way == "CMAKE_PREFIX_PATH" else next(prefix.rglob("mxprofConfig.cmake")).parent
    run("cmake", "-S", CONSUMER, "-B", tmp_path / "build", f"-D{way}={place}")
    run("cmake", "--build", tmp_path / "build", "-j2")
    for program in ("consumer", "consumer_static", "consumer_cpp"):
        assert run(tmp_path / "build" / program, cwd=tmp_path).count(".") == 2


def test_a_run_says_what_it_cannot_load_from_there(prefix, tmp_path):
    """And the loader does not, once a process."""
    done = subprocess.run([prefix / "bin/mxprof", "run", "-o", "run", "true"], cwd=tmp_path, capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0 and "ld.so" not in done.stderr
    assert "is not loaded into the program, because LD_PRELOAD can hold neither blanks nor colons" in done.stderr


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_of_the_systems_folders_the_compiler_is_told_no_detour(tmp_path, prefix):
    install(prefix, DESTDIR=str(tmp_path))
    file = next(tmp_path.rglob("mxprof.pc"))
    words = pkg_config(file.parent, "--cflags", "--libs", PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1", PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    assert f"-I{prefix}/include" in words and f"-L{prefix}/lib" in " ".join(words) and ".." not in "".join(words)
    assert str(tmp_path) not in file.read_text()


def test_elsewhere_the_tree_may_be_moved(tmp_path):
    install(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    folder = library_folder(tmp_path / "second")
    include = next(word for word in pkg_config(folder / "pkgconfig", "--cflags") if word.startswith("-I"))
    assert (pathlib.Path(include[2:]) / "mxprof/record.h").exists()
