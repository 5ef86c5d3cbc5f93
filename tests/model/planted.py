# SPDX-License-Identifier: Apache-2.0
"""A build of a copy of the tree, in which one piece of text becomes another: a fault. It is built once, whole, and
anew for each fault only where that is."""
import contextlib
import os
import pathlib
import shutil
import subprocess

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", ".")).resolve()
PARTS = ("CMakeLists.txt", "cmake", "include", "src", "tools", "examples", "bench", "python", "LICENSE")


class Tree:
    """A copy of the tree in `folder`, and the targets built of it."""

    def __init__(self, folder, targets):
        self.folder, self.made, self.targets = folder, folder / "build", targets
        for part in PARTS:
            copy = shutil.copytree if (SOURCE / part).is_dir() else shutil.copy
            copy(SOURCE / part, folder / part)
        self._run("cmake", "-S", folder, "-B", self.made, "-G", "Ninja", "-DMXPROF_TESTS=OFF")
        self._build()

    def _run(self, *command):
        subprocess.run(command, check=True, capture_output=True)

    def _build(self):
        self._run("cmake", "--build", self.made, "--target", *self.targets)

    @contextlib.contextmanager
    def fault(self, path, before, after):
        """The folder of the build, as long as the fault is in it."""
        text = (self.folder / path).read_text()
        assert text.count(before) == 1, f"{path} has changed: where does this fault belong now?"
        (self.folder / path).write_text(text.replace(before, after))
        try:
            self._build()
            yield self.made
        finally:
            (self.folder / path).write_text(text)
