# SPDX-License-Identifier: Apache-2.0
"""Where the native parts are: libmxnet.so and the extension `_core`."""
import ctypes.util
import importlib.machinery
import os
import pathlib
from typing import List, Optional

__version__ = "2.0.0"  # of the interface that this package offers, as MXGetVersion says

_HERE = pathlib.Path(__file__).resolve().parent
_TREE = _HERE.parent.parent


def _remembered() -> List[pathlib.Path]:
    """The library that the package was installed for."""
    try:
        text = (_HERE / "_library_path.txt").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return [pathlib.Path(text)]


def _places() -> List[pathlib.Path]:
    """Files that may be the library, the best first."""
    given = os.environ.get("MXNET_LIBRARY_PATH")
    if given:
        path = pathlib.Path(given)
        return [path / "libmxnet.so" if path.is_dir() else path]
    places = [_HERE / "libmxnet.so", *_remembered()]
    if (_TREE / "CMakePresets.json").is_file():
        places += sorted(_TREE.glob("build/*/libmxnet.so"), key=_preference)
    for prefix in ("/usr/local", "/usr"):
        places += sorted(pathlib.Path(prefix).glob("lib*/libmxnet.so"))
        places += sorted(pathlib.Path(prefix).glob("lib/*-linux-gnu/libmxnet.so"))
    return places


def _preference(library: pathlib.Path):
    """Of the build folders the release one comes first, then the one built last."""
    return (library.parent.name != "release", -library.stat().st_mtime)


def find_lib_path() -> List[str]:
    """The library that is loaded, in a list of one as MXNet has it.

    Looked for at MXNET_LIBRARY_PATH (a file or a folder) if that is set; else beside the package,
    where it was when the package was installed, in the build folders of the source tree, in
    /usr/local and /usr, and where the system's loader looks. RuntimeError if it is nowhere.
    """
    places = _places()
    for place in places:
        if place.is_file():
            return [str(place)]
    known = None if os.environ.get("MXNET_LIBRARY_PATH") else ctypes.util.find_library("mxnet")
    if known:
        return [known]
    raise RuntimeError(
        "libmxnet.so was not found; looked for " + ", ".join(str(place) for place in places)
        + ". Set MXNET_LIBRARY_PATH to it" + (
            ", or build it: cmake --preset release && cmake --build build/release"
            if (_TREE / "CMakePresets.json").is_file() else ", or install the package again"))


def find_extension(library: str) -> Optional[str]:
    """The extension `_core` of this Python: beside the package, or in `python/` beside the
    library. None if there is none."""
    for folder in (_HERE, pathlib.Path(library).resolve().parent / "python"):
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = folder / ("_core" + suffix)
            if path.is_file():
                return str(path)
    return None
