# SPDX-License-Identifier: Apache-2.0
"""Builds the extension, and libmxnet beside it: through CMake, unless MXNET_LIBRARY_PATH names one
that is installed already, which then stays where it is."""
import os
import pathlib
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent


class BuildNative(build_ext):
    """The extension, then the libraries it calls."""

    def run(self):
        super().run()
        if not os.environ.get("MXNET_LIBRARY_PATH"):
            self.build_libraries(pathlib.Path(self.build_temp).resolve() / "cmake")

    def build_libraries(self, folder):
        """Builds libmxnet and libmxprof and copies them into the package."""
        subprocess.run(["cmake", "-S", str(TREE), "-B", str(folder),
                        "-DCMAKE_BUILD_TYPE=Release", "-DMXPROF_TESTS=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1),
                        "--target", "mxnet_shared"], check=True)
        target = HERE / "mxnet" if self.inplace else pathlib.Path(self.build_lib) / "mxnet"
        for name in ("libmxnet.so", "libmxprof.so.0"):
            shutil.copyfile((folder / name).resolve(), target / name)


setup(
    ext_modules=[Extension(
        "mxnet._core", sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.c")),
        depends=sorted(str(path.relative_to(HERE)) for path in HERE.glob("src/*.h")),
        include_dirs=[str(TREE / "include")], extra_compile_args=["-std=c11", "-D_GNU_SOURCE"])],
    cmdclass={"build_ext": BuildNative})
