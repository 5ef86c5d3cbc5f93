# SPDX-License-Identifier: Apache-2.0
"""A C program of a test, compiled against the library of the build."""
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()


def compiled(folder, name, text):
    """The program's path."""
    (folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", f"{name}.c", "-o", name, f"-I{SOURCE}/include", f"-L{BUILD}", "-lmxprof", f"-Wl,-rpath,{BUILD}"],
                   cwd=folder, check=True)
    return folder / name
