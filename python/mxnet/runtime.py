# SPDX-License-Identifier: Apache-2.0
"""What the library was built with, and which call path this process uses."""
import ctypes
from typing import Dict, List

from .base import _LIB, check_call, core, py_str


class _LibFeature(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("enabled", ctypes.c_bool)]


class Feature:
    """A part of the library: `name`, and whether it is `enabled`."""

    __slots__ = ("name", "enabled")

    def __init__(self, name: str, enabled: bool):
        self.name, self.enabled = name, enabled

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list() -> List[Feature]:
    """All features."""
    listed, count = ctypes.POINTER(_LibFeature)(), ctypes.c_size_t()
    check_call(_LIB.MXLibInfoFeatures(ctypes.byref(listed), ctypes.byref(count)))
    return [Feature(py_str(listed[i].name), listed[i].enabled) for i in range(count.value)]


class Features(Dict[str, Feature]):
    """name -> Feature."""

    def __init__(self):
        super().__init__((feature.name, feature) for feature in feature_list())

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature is there; RuntimeError lists the names if there is none such."""
        feature = self.get(feature_name.upper())
        if feature is None:
            raise RuntimeError(f"there is no feature '{feature_name}'; the features are: "
                               + ", ".join(self))
        return feature.enabled

    def __repr__(self) -> str:
        return str(list(self.values()))


def core_name() -> str:
    """'extension' or 'ctypes': how operators and recording calls reach the library
    (MXNET_PYTHON_CORE chooses)."""
    return "extension" if core.__name__ == "mxnet._core" else "ctypes"


def library_path() -> str:
    """The file of the library in use."""
    return _LIB._name


def extension_path() -> str:
    """The file of the extension in use, "" with ctypes."""
    return core.__file__ if core_name() == "extension" else ""
