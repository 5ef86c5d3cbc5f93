# SPDX-License-Identifier: Apache-2.0
"""Builds the extension, and libmxnet and the mxprof command beside it: through CMake, unless MXNET_LIBRARY_PATH names one
that is installed already, which then stays where it is and is remembered. Nothing is left beside the
sources: what is built goes to build/python of the tree."""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
BUILD = TREE / "build/python"
PLACE = "_library_path.txt"  # what mxnet.libinfo reads


def given_library():
    """The library of MXNET_LIBRARY_PATH, None if it is to be built."""
    given = os.environ.get("MXNET_LIBRARY_PATH")
    if not given:
        return None
    path = pathlib.Path(given).resolve()
    path = path / "libmxnet.so" if path.is_dir() else path
    if not path.is_file():
        sys.exit(f"mxnet: MXNET_LIBRARY_PATH is {given}, but there is no {path}")
    return path


def check_tools():
    """Says at once what is missing: the compiler's own words come late and under much else."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    header = pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h"
    missing = [] if shutil.which(compiler) else [f"a C compiler ({compiler})"]
    if not header.is_file():
        missing.append(f"Python's headers ({header})")
    if given_library() is None:
        missing += [] if shutil.which("cmake") else ["cmake"]
        missing += [] if shutil.which("make") or shutil.which("ninja") else ["make or ninja"]
    if missing:
        sys.exit(f"mxnet cannot be built here: {', '.join(missing)} missing. It needs cmake, a C compiler, "
                 "make or ninja, and Python's headers: apt-get install cmake gcc ninja-build python3-dev")


class BuildPackage(build_py):
    """The modules that are there now, not those of an earlier build."""

    def run(self):
        if not getattr(self, "editable_mode", False):
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildNative(build_ext):
    """The extension, then the libraries it calls."""

    def run(self):
        check_tools()
        super().run()
        package = HERE / "mxnet" if self.inplace else pathlib.Path(self.build_lib) / "mxnet"
        library = given_library()
        if library is None:
            (package / PLACE).unlink(missing_ok=True)
            self.build_libraries(pathlib.Path(self.build_temp).resolve() / "cmake", package)
        else:
            (package / PLACE).write_text(str(library), encoding="utf-8", errors="surrogateescape")

    def build_libraries(self, folder, package):
        """Builds libmxnet and libmxprof and copies them into the package."""
        subprocess.run(["cmake", "-S", str(TREE), "-B", str(folder),
                        "-DCMAKE_BUILD_TYPE=Release", "-DMXPROF_TESTS=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1),
                        "--target", "mxnet_shared"], check=True)
        for name in ("libmxnet.so", "libmxprof.so.0"):
            shutil.copyfile((folder / name).resolve(), package / name)
        self.build_command(folder, package)

    def build_command(self, folder, package):
        """Builds the mxprof command, where what it compresses with is there, and copies it."""
        targets = subprocess.run(["cmake", "--build", str(folder), "--target", "help"], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        if "mxprof_command" in targets:
            subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1),
                            "--target", "mxprof_command"], check=True)
            shutil.copy((folder / "mxprof").resolve(), package / "mxprof")


(BUILD / "egg").mkdir(parents=True, exist_ok=True)
setup(
    ext_modules=[Extension(
        "mxnet._core", sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.c")),
        depends=sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.h"))
        + ["mxnet/_operators.def"],
        include_dirs=[str(TREE / "include")], extra_compile_args=["-std=c11", "-D_GNU_SOURCE"])],
    scripts=["scripts/mxprof", "scripts/mxnet-launch"],
    options={"build": {"build_base": str(BUILD)}, "egg_info": {"egg_base": str(BUILD / "egg")}},
    cmdclass={"build_ext": BuildNative, "build_py": BuildPackage})
