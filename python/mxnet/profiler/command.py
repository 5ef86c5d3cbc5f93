# SPDX-License-Identifier: Apache-2.0
"""The mxprof command, for what is said of a finished native trace: it reads what the recorder wrote, and
there is one program that explains it."""
import os
import pathlib
import subprocess
from typing import Iterator

from ..base import MXNetError
from ..libinfo import find_lib_path

_HERE = pathlib.Path(__file__).resolve().parent
NOT_IN_THE_TRACE = 3  # exit code: what was asked cannot be answered; what can be said is printed


def _places() -> Iterator[pathlib.Path]:
    """Files that may be the command, the best first: in the package, beside the library, on the path."""
    yield _HERE.parent / "mxprof"
    library = pathlib.Path(find_lib_path()[0]).resolve()
    yield library.parent / "mxprof"
    yield library.parent.parent / "bin" / "mxprof"
    for folder in os.get_exec_path():
        yield pathlib.Path(folder) / "mxprof"


def find() -> str:
    """The command that belongs to the library. MXNetError, with where it was looked for, if it is nowhere."""
    places = list(_places())
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    raise MXNetError("the mxprof command was not found; looked for " + ", ".join(map(str, places[:3]))
                     + " and on the path. It is built with zlib and zstd (apt-get install zlib1g-dev "
                     "libzstd-dev, then install the package again)")


def run(*arguments: str) -> str:
    """What `mxprof ARGUMENTS` prints. MXNetError with its words if it fails."""
    command = find()
    done = subprocess.run([command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    printed = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0 or (done.returncode == NOT_IN_THE_TRACE and printed):
        return printed
    raise MXNetError(done.stderr.decode("utf-8", "replace").strip()
                     or f"{command} {' '.join(arguments)} ended with {done.returncode}")
