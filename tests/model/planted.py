# SPDX-License-Identifier: Apache-2.0
"""A build with one fault in it: a copy of the tree in which one piece of text is another."""
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
PARTS = ("CMakeLists.txt", "cmake", "include", "src", "tools", "examples", "bench", "python", "LICENSE")


def build(folder, path, before, after, targets=("mxprof_shared", "mxprof_command")):
    """The folder of the build, with the targets in it."""
    for part in PARTS:
        copy = shutil.copytree if (SOURCE / part).is_dir() else shutil.copy
        copy(SOURCE / part, folder / part)
    text = (folder / path).read_text()
    assert text.count(before) == 1, f"{path} has changed: where does this fault belong now?"
    (folder / path).write_text(text.replace(before, after))
    made = folder / "build"
    for command in (["cmake", "-S", folder, "-B", made, "-G", "Ninja", "-DMXPROF_TESTS=OFF"],
                    ["cmake", "--build", made, "--target", *targets]):
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return made
