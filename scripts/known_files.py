# SPDX-License-Identifier: Apache-2.0
"""The files that a check looks at."""
import pathlib
import subprocess
import sys


def known_files(tree):
    """The files git knows or would add, relative to the tree; without git, everything outside hidden
    and build folders. What builds and installers leave in ignored places is nobody's."""
    command = ["git", "-C", str(tree), "ls-files", "-z", "-co", "--exclude-standard"]
    try:
        output = subprocess.run(command, check=True, capture_output=True).stdout
        paths = sorted(set(output.decode().split("\0")) - {""})
        if paths:
            return [path for path in paths if (tree / path).is_file()]
    except (OSError, subprocess.CalledProcessError):
        pass
    found = (file.relative_to(tree) for file in tree.rglob("*") if file.is_file())
    return sorted(path.as_posix() for path in found
                  if path.parts[0] not in ("build", ".venv", ".git"))


if __name__ == "__main__":  # known_files.py SUFFIX...: those of the tree around, each with a 0 behind it
    for known in known_files(pathlib.Path(__file__).resolve().parent.parent):
        if known.endswith(tuple(sys.argv[1:])):
            sys.stdout.write(known + "\0")
