# SPDX-License-Identifier: Apache-2.0
"""Data sets: anything with a length and an item for each index."""
from __future__ import annotations

from typing import Any, Callable, Sequence

from ...ndarray import NDArray


class Dataset:
    """The base of data sets. A subclass gives `__getitem__` and `__len__`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def transform(self, fn: Callable, lazy: bool = True) -> "Dataset":
        """The data set of `fn(*item)`, computed at each access or, not lazy, once now."""
        transformed = _Transformed(self, fn)
        return transformed if lazy else SimpleDataset([item for item in _items(transformed)])

    def transform_first(self, fn: Callable, lazy: bool = True) -> "Dataset":
        """As `transform`, but only the first member of each item goes through `fn`."""
        return self.transform(_First(fn), lazy)

    def filter(self, fn: Callable[[Any], bool]) -> "Dataset":
        """The items for which `fn(item)` is true; all are looked at now."""
        return _Selected(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards: int, index: int) -> "Dataset":
        """Part `index` of `num_shards` parts that differ by at most one in length."""
        if not 0 <= index < num_shards:
            raise ValueError(f"shard {index} of {num_shards}: the index must be 0 to {num_shards - 1}")
        length, longer = divmod(len(self), num_shards)
        begin = length * index + min(index, longer)
        return _Selected(self, range(begin, begin + length + (1 if index < longer else 0)))

    def take(self, count: int) -> "Dataset":
        """The first `count` items, all if there are fewer."""
        return _Selected(self, range(min(count, len(self))))

    def sample(self, sampler: Sequence[int]) -> "Dataset":
        """The items whose indices `sampler` yields, in its order."""
        return _Selected(self, list(sampler))


def _items(dataset: Dataset):
    return (dataset[i] for i in range(len(dataset)))


class SimpleDataset(Dataset):
    """A list, or anything else with a length and indices, as a data set."""

    def __init__(self, data: Sequence[Any]) -> None:
        self._data = data

    def __getitem__(self, index: int) -> Any:
        return self._data[index]

    def __len__(self) -> int:
        return len(self._data)


def _column(array: Any) -> Any:
    """The array, or for a vector of mx.nd its NumPy values: items of an NDArray would be arrays of shape (1,)."""
    return array.asnumpy() if isinstance(array, NDArray) and array.ndim == 1 else array


class ArrayDataset(Dataset):
    """Arrays or lists of equal length side by side: item i is (first[i], second[i], …), or first[i]
    where there is only one. Items of vectors are numbers, those of mx.np's vectors arrays of shape ()."""

    def __init__(self, *arrays: Sequence[Any]) -> None:
        if not arrays:
            raise ValueError("ArrayDataset needs at least one array")
        lengths = [len(array) for array in arrays]
        if len(set(lengths)) != 1:
            raise ValueError(f"the arrays of an ArrayDataset must be equally long, not {lengths}")
        self._arrays = tuple(map(_column, arrays))

    def __getitem__(self, index: int) -> Any:
        if len(self._arrays) == 1:
            return self._arrays[0][index]
        return tuple(array[index] for array in self._arrays)

    def __len__(self) -> int:
        return len(self._arrays[0])


class _Selected(Dataset):
    def __init__(self, base: Dataset, indices: Sequence[int]) -> None:
        self._base = base
        self._indices = indices

    def __getitem__(self, index: int) -> Any:
        return self._base[self._indices[index]]

    def __len__(self) -> int:
        return len(self._indices)


class _Transformed(Dataset):
    def __init__(self, base: Dataset, function: Callable) -> None:
        self._base = base
        self._function = function

    def __getitem__(self, index: int) -> Any:
        item = self._base[index]
        return self._function(*item) if isinstance(item, tuple) else self._function(item)

    def __len__(self) -> int:
        return len(self._base)


class _First:
    """A class and not a closure: worker processes that are not forked have to pickle it."""

    def __init__(self, function: Callable) -> None:
        self._function = function

    def __call__(self, first: Any, *rest: Any) -> Any:
        return (self._function(first),) + rest if rest else self._function(first)
