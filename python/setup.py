# SPDX-License-Identifier: Apache-2.0
"""Builds the extension, and libmxnet and the mxprof command beside it: through CMake, unless MXNET_LIBRARY_PATH names one
that is installed already, which then stays where it is and is remembered. Nothing is left beside the
sources: what is built goes to build/python of the tree.

The distribution is called mxprof, the package mxnet. That one is installed as mxprof/runtime/mxnet, and mxprof.pth has
Python look there last, so that no file is one of Apache's distribution mxnet, which may be installed as well."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent
BUILD = TREE / "build/python"
# Where mxnet is installed. An editable installation leaves it where it is.
RUNTIME = "" if "editable_wheel" in sys.argv else "mxprof.runtime."
# What is built by CMake and lies beside the package's modules. The command finds there what `mxprof run` loads.
PARTS = {"mxnet_shared": "libmxnet.so", "mxnet_mpi": "libmxnet_mpi.so", "mxprof_shared": "libmxprof.so.0",
         "mxprof_command": "mxprof",
         "mxprof_collect": "libmxprof_collect.so.0", "mxprof_dnnl": "libmxprof_dnnl.so.0"}
PLACE = "_library_path.txt"  # what mxnet.libinfo reads


def given_library():
    """The library of MXNET_LIBRARY_PATH, None if it is to be built."""
    given = os.environ.get("MXNET_LIBRARY_PATH")
    if not given:
        return None
    path = pathlib.Path(given).resolve()
    path = path / "libmxnet.so" if path.is_dir() else path
    if not path.is_file():
        sys.exit(f"mxprof: MXNET_LIBRARY_PATH is {given}, but there is no {path}")
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
        sys.exit(f"mxprof cannot be built here: {', '.join(missing)} missing. It needs cmake, a C compiler, "
                 "make or ninja, and Python's headers: apt-get install cmake gcc ninja-build python3-dev")


class BuildPackage(build_py):
    """The modules that are there now, not those of an earlier build."""

    def run(self):
        if not getattr(self, "editable_mode", False):
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if RUNTIME and not getattr(self, "editable_mode", False):
            (pathlib.Path(self.build_lib) / "mxprof.pth").write_text("mxprof/runtime\n", encoding="utf-8")


class BuildNative(build_ext):
    """The extension, then the libraries it calls."""

    def run(self):
        check_tools()
        super().run()
        package = HERE / "mxnet" if self.inplace else pathlib.Path(self.build_lib, *f"{RUNTIME}mxnet".split("."))
        library = given_library()
        if library is None:
            (package / PLACE).unlink(missing_ok=True)
            self.build_libraries(pathlib.Path(self.build_temp).resolve() / "cmake", package)
        else:
            (package / PLACE).write_text(str(library), encoding="utf-8", errors="surrogateescape")

    def build_libraries(self, folder, package):
        """Builds what CMake can build here, the command too, and copies it into the package."""
        subprocess.run(["cmake", "-S", str(TREE), "-B", str(folder),
                        "-DCMAKE_BUILD_TYPE=Release", "-DMXPROF_TESTS=OFF"], check=True)
        targets = [target for target in PARTS if target in self.targets(folder)]
        subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1), "--target", *targets],
                       check=True)
        for target in targets:
            shutil.copy((folder / PARTS[target]).resolve(), package / PARTS[target])

    @staticmethod
    def targets(folder):
        listed = subprocess.run(["cmake", "--build", str(folder), "--target", "help"], check=True,
                                stdout=subprocess.PIPE, text=True)
        return set(re.findall(r"[\w.-]+", listed.stdout))


def version():
    """The profiler's. `mxnet.__version__` is that of the interface."""
    text = (TREE / "include/mxprof/version.h").read_text(encoding="utf-8")
    return re.search(r'MXP_VERSION_STRING "(.*)"', text).group(1)


(BUILD / "egg").mkdir(parents=True, exist_ok=True)
packages = find_packages(str(HERE), include=["mxnet*"])
setup(
    version=version(),
    packages=["mxprof", *(RUNTIME + package for package in packages)],
    package_dir={RUNTIME + package: package.replace(".", "/") for package in packages},
    package_data={RUNTIME + "mxnet": ["*.so", "*.so.*", "mxprof", "py.typed", PLACE, "_operators.def"], "*": ["*.pyi"]},
    ext_modules=[Extension(
        f"{RUNTIME}mxnet._core", sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.c")),
        depends=sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.h"))
        + ["mxnet/_operators.def"],
        include_dirs=[str(TREE / "include")], extra_compile_args=["-std=c11", "-D_GNU_SOURCE"])],
    scripts=["scripts/mxprof", "scripts/mxnet-launch"],
    options={"build": {"build_base": str(BUILD)}, "egg_info": {"egg_base": str(BUILD / "egg")}},
    cmdclass={"build_ext": BuildNative, "build_py": BuildPackage})
