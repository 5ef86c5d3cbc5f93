# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of `make deb`: what is in them, what they depend on, and that a program is compiled and run with
what they unpack to. MXPROF_TEST_LONG=1: the library is compiled for it."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["MXPROF_SOURCE"])
pytestmark = [
    pytest.mark.skipif(os.environ.get("MXPROF_TEST_LONG") != "1", reason="MXPROF_TEST_LONG=1"),
    pytest.mark.skipif(shutil.which("dpkg-shlibdeps") is None, reason="dpkg-dev is not installed"),
]
FILES = {
    "libmxprof0": {r"usr/lib/.+/libmxprof\.so\.0(\.\d+\.\d+)?"},
    "libmxprof-dev": {r"usr/include/mxprof/\w+\.(h|hpp)", r"usr/lib/.+/libmxprof\.(so|a)",
                      r"usr/lib/.+/cmake/mxprof/mxprof\w+(-\w+)?\.cmake", r"usr/lib/.+/pkgconfig/mxprof\.pc"},
    "mxprof": {r"usr/bin/mxprof", r"usr/lib/.+/libmxprof_(?:collect|dnnl)\.so(\.0(\.\d+\.\d+)?)?",
               r"usr/share/man/man1/mxprof(-\w+)?\.1", r"usr/share/bash-completion/completions/mxprof",
               r"usr/share/zsh/site-functions/_mxprof", r"usr/share/fish/vendor_completions\.d/mxprof\.fish"},
}


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(name="packages", scope="module")
def built_packages(tmp_path_factory):
    """Path of each package by its name, made of a copy of the tree."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("cmake", "include", "src/base", "src/profiler", "tools"):
        shutil.copytree(SOURCE / name, tree / name)
    for name in ("CMakeLists.txt", "Makefile", "LICENSE"):
        shutil.copy(SOURCE / name, tree)
    run("make", "deb", cwd=tree)
    return {path.name.split("_")[0]: path for path in (tree / "build/deb").glob("*.deb")}


def test_each_part_is_a_package_with_its_files_and_no_others(packages):
    assert set(packages) == set(FILES)
    for name, package in packages.items():
        listed = [line.split()[5] for line in run("dpkg-deb", "-c", package).splitlines()]
        files = [path.removeprefix("./") for path in listed if not path.endswith("/")]
        for pattern in FILES[name]:
            fitting = [path for path in files if re.fullmatch(pattern, path)]
            assert fitting, f"{name} has nothing like {pattern}"
            files = [path for path in files if path not in fitting]
        assert not files, f"{name} has {files}"


def test_packages_depend_on_libc_and_on_each_other(packages):
    depends = {name: run("dpkg-deb", "-f", package, "Depends").strip() for name, package in packages.items()}
    version = run("dpkg-deb", "-f", packages["mxprof"], "Version").strip()
    assert re.fullmatch(r"libc6 \(>= [0-9.]+\)", depends["libmxprof0"])
    assert depends["libmxprof-dev"] == f"libmxprof0 (= {version})"
    assert re.fullmatch(rf"libmxprof0 \(= {re.escape(version)}\), libc6 \(>= [0-9.]+\)", depends["mxprof"])


def test_a_program_is_compiled_and_run_with_what_they_unpack_to(packages, tmp_path):
    for package in packages.values():
        run("dpkg-deb", "-x", package, tmp_path / "root")
    usr = tmp_path / "root/usr"
    library = next(usr.rglob("libmxprof.so.0"))
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library.parent),
                       PKG_CONFIG_PATH=str(library.parent / "pkgconfig"))
    for path in (library, usr / "bin/mxprof", next(usr.rglob("libmxprof_collect.so"))):
        assert ".symtab" not in run("readelf", "-SW", path)
    # A package's file names the system's folders, which pkg-config leaves out and a root of its own has elsewhere.
    unpacked = dict(environment, PKG_CONFIG_SYSROOT_DIR=str(tmp_path / "root"), PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
                    PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
    flags = run("pkg-config", "--cflags", "--libs", "mxprof", env=unpacked).split()
    run("c++", "-std=c++17", SOURCE / "tests/install/consumer/consumer.cpp", *flags, "-o", tmp_path / "consumer")
    run("cmake", "-S", SOURCE / "tests/install/consumer", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={usr}")
    run("cmake", "--build", tmp_path / "build")
    for program in (tmp_path / "consumer", tmp_path / "build/consumer_cpp", tmp_path / "build/consumer_static"):
        assert re.fullmatch(r"\d+\.\d+\.\d+", run(program, cwd=tmp_path, env=environment).strip())
    run(usr / "bin/mxprof", "run", "--output", tmp_path / "runs", "--", tmp_path / "consumer", cwd=tmp_path,
        env=environment)
    assert list((tmp_path / "runs").rglob("*.mxp"))
