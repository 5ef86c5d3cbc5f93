# SPDX-License-Identifier: Apache-2.0
"""The files that a check looks at."""
import pathlib
import subprocess
import sys


def files_of(tree, *options):
    output = subprocess.run(["git", "-C", str(tree), "ls-files", "-z", *options], check=True, capture_output=True).stdout
    return set(output.decode().split("\0")) - {""}


def known_files(tree):
    """The files git knows, and those that it would add in folders of the tree, relative to the tree; without git, everything outside
    hidden and build folders. What builds and installers leave in ignored places is nobody's, and what git does not know at the
    top is the reader's: the documents' examples write there."""
    try:
        known = files_of(tree, "--cached")
        tops = {path.split("/")[0] for path in known if "/" in path}
        new = {path for path in files_of(tree, "--others", "--exclude-standard") if path.split("/")[0] in tops}
        if known:
            return [path for path in sorted(known | new) if (tree / path).is_file()]
    except (OSError, subprocess.CalledProcessError):
        pass
    found = (file.relative_to(tree) for file in tree.rglob("*") if file.is_file())
    return sorted(path.as_posix() for path in found
                  if path.parts[0] not in ("build", ".venv", ".git"))


if __name__ == "__main__":  # known_files.py SUFFIX...: those of the tree around, each with a 0 behind it
    for known in known_files(pathlib.Path(__file__).resolve().parent.parent):
        if known.endswith(tuple(sys.argv[1:])):
            sys.stdout.write(known + "\0")
