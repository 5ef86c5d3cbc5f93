# SPDX-License-Identifier: Apache-2.0
"""MNIST from local files, with a built-in set of digits where there are none."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple

import numpy as onp

from .... import ndarray as nd
from .... import numpy as np
from ....base import MXNetError
from ....util import is_np_array
from ..dataset import Dataset
from . import digits, idx

_FILES = {True: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
          False: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")}
_BUILT_IN = {True: (12000, 1), False: (2000, 2)}  # how many, and the seed


def default_root() -> Path:
    """Where data sets are looked for: $MXNET_HOME/datasets or ~/.mxnet/datasets."""
    return Path(os.environ.get("MXNET_HOME", Path.home() / ".mxnet")) / "datasets"


def find_files(root: Optional[str], train: bool) -> Optional[List[Path]]:
    """The image and the label file in `root`, plain or .gz; None if neither is there. MXNetError if
    only one is."""
    folder = Path(root).expanduser() if root is not None else default_root() / "mnist"
    found = [next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)
             for name in _FILES[train]]
    missing = [name for name, path in zip(_FILES[train], found) if path is None]
    if len(missing) == 1:
        raise MXNetError(f"{folder}: {missing[0]} is missing beside its twin; put MNIST's four IDX "
                         "files (plain or .gz) there, or remove them all to use the built-in digits")
    return None if missing else [path for path in found if path is not None]


class MNIST(Dataset):
    """Handwritten digits: (image, label), the image uint8 of shape (28, 28, 1), the label int32: a NumPy
    number, or with `set_np()` an array.

    Read from MNIST's IDX files, plain or .gz, in `root` (default: the folder `mnist` below
    $MXNET_HOME/datasets or ~/.mxnet/datasets). Where none are, and `root` was not given, a built-in set
    of 12,000 (`train`) or 2,000 drawn digits takes their place; `source` says which it is. Nothing is
    ever downloaded. `transform(image, label)` is applied to each item.
    """

    def __init__(self, root: Optional[str] = None, train: bool = True,
                 transform: Optional[Callable] = None) -> None:
        files = find_files(root, train)
        if files is None and root is not None:
            raise MXNetError(f"{root}: no MNIST files there; put {' and '.join(_FILES[train])} (plain "
                             "or .gz) into it, or leave `root` out to use the built-in digits")
        images, labels = _built_in(train) if files is None else _read(files)
        self.source: str = "built-in" if files is None else str(files[0].parent)
        module = np if is_np_array() else nd
        self._data = module.array(images[..., None], dtype=onp.uint8)
        labels = labels.astype(onp.int32)
        self._label = np.array(labels, dtype=onp.int32) if module is np else labels
        self._transform = transform

    def __getitem__(self, index: int) -> Any:
        item = self._data[index], self._label[index]
        return item if self._transform is None else self._transform(*item)

    def __len__(self) -> int:
        return len(self._label)


def _built_in(train: bool) -> Tuple[onp.ndarray, onp.ndarray]:
    return digits.make(*_BUILT_IN[train])


def _read(files: List[Path]) -> Tuple[onp.ndarray, onp.ndarray]:
    images, labels = idx.read(files[0]), idx.read(files[1])
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise MXNetError(f"{files[0]} and {files[1]}: shapes {images.shape} and {labels.shape} are not "
                         "those of images and their labels")
    return images, labels
