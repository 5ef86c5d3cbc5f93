# SPDX-License-Identifier: Apache-2.0
"""Einstein sums of mx.np. They are made of diagonals, sums and products, and so have gradients."""
import math
from typing import Any, Dict, Iterable, List, NoReturn, Set, Tuple

from .._array import BaseArray, promoted
from .._registry import invoke
from ._host import host_function
from .creation import asarray
from .multiarray import ndarray

Labels = List[str]  # of the axes: a letter, or for those of an ellipsis a point and the place from the right


def _refuse(subscripts: str, why: str) -> NoReturn:
    raise ValueError(f"einsum '{subscripts}': {why}")


def _labels(subscripts: str, term: str, rest: int) -> Labels:
    """The labels of a term whose ellipsis, if there is one, stands for `rest` axes."""
    before, dots, after = term.partition("...")
    if not (before + after).isalpha() and before + after:
        _refuse(subscripts, f"'{term}' is not made of letters and at most one ellipsis")
    return [*before, *(f".{place}" for place in range(rest if dots else 0, 0, -1)), *after]


def _parse(subscripts: str, operands: Iterable[ndarray]) -> Tuple[List[Labels], Labels]:
    """The labels of each operand and of the result."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms, ranks = inputs.split(","), [operand.ndim for operand in operands]
    if len(terms) != len(ranks):
        _refuse(subscripts, f"{len(terms)} terms, but {len(ranks)} arrays")
    rests = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks)]
    for term, rank, rest in zip(terms, ranks, rests):
        if rest < 0 or (rest and "..." not in term):
            _refuse(subscripts, f"'{term}' does not fit an array of {rank} dimensions")
    listed = [_labels(subscripts, term, rest) for term, rest in zip(terms, rests)]
    counted = [label for labels in listed for label in labels]
    if not arrow:
        output = "..." + "".join(sorted(label for label in counted
                                        if "." not in label and counted.count(label) == 1))
    wanted = _labels(subscripts, output, max(rests))
    if len(set(wanted)) < len(wanted) or not set(wanted) <= set(counted):
        _refuse(subscripts, f"'{output}' may have each label of the arrays once, and no others")
    return listed, wanted


def _sizes(subscripts: str, operands: Iterable[ndarray], listed: List[Labels]) -> Dict[str, int]:
    """The size of each label; axes of size 1 are repeated to it."""
    sizes: Dict[str, int] = {}
    for operand, labels in zip(operands, listed):
        for label, size in zip(labels, operand.shape):
            known = sizes.setdefault(label, size)
            if known != size and 1 not in (known, size):
                _refuse(subscripts, f"'{label}' has the sizes {known} and {size}")
            sizes[label] = size if known == 1 else known
    return sizes


def _diagonals(a: ndarray, labels: Labels) -> Tuple[ndarray, Labels]:
    """Without labels that are there twice."""
    for label in sorted(set(labels)):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            a = invoke(ndarray, "diag", a, axis1=first, axis2=second)
            labels = [item for at, item in enumerate(labels) if at not in (first, second)] + [label]
    return a, labels


def _summed(a: ndarray, axis: Any) -> ndarray:
    """The sum, of truths whether one is true."""
    return a.sum(axis=axis, dtype="bool" if a.dtype == bool else None)


def _kept(a: ndarray, labels: Labels, needed: Set[str],
          sizes: Dict[str, int]) -> Tuple[ndarray, Labels]:
    """Summed over axes that nothing needs, and those of size 1 that others repeat."""
    gone = tuple(at for at, label in enumerate(labels)
                 if label not in needed or a.shape[at] != sizes[label])
    return _summed(a, gone) if gone else a, [label for at, label in enumerate(labels)
                                             if at not in gone]


def _grouped(a: ndarray, labels: Labels, groups: Iterable[Labels]) -> ndarray:
    """With an axis for each group of labels."""
    order = [labels.index(label) for group in groups for label in group]
    lengths = dict(zip(labels, a.shape))
    if order != sorted(order):
        a = a.transpose(order)
    return a.reshape([math.prod(lengths[label] for label in group) for group in groups])


def _product(a: ndarray, left: Labels, b: ndarray, right: Labels,
             needed: Set[str]) -> Tuple[ndarray, Labels]:
    """The product, summed over labels of both that nothing else needs."""
    batch = [label for label in left if label in right and label in needed]
    inner = [label for label in left if label in right and label not in needed]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]
    x, y = _grouped(a, left, (batch, rows, inner)), _grouped(b, right, (batch, inner, columns))
    lengths = {**dict(zip(left, a.shape)), **dict(zip(right, b.shape))}
    labels = batch + rows + columns
    if not inner:
        product = x * y
    elif x.dtype == y.dtype and x.dtype.kind == "f":
        product = x @ y
    else:  # which matmul does not take
        product = _summed(x[:, :, :, None] * y[:, None], 2)
    return product.reshape([lengths[label] for label in labels]), labels


def einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> ndarray:
    """Products of arrays whose axes are labelled, summed over the labels that the result has not:
    'ij,jk->ik' is the product of matrices. `optimize` is ignored: arrays are taken from the left.

    ValueError, which names the term, if labels and shapes do not fit.
    """
    if not isinstance(subscripts, str):  # the form of arrays and lists of numbers in turn
        return host_function("einsum")(subscripts, *operands)
    arrays = promoted([item if isinstance(item, BaseArray) else asarray(item) for item in operands])
    listed, wanted = _parse(subscripts, arrays)
    sizes = _sizes(subscripts, arrays, listed)
    found: Any = None
    for at, pair in enumerate(zip(arrays, listed)):
        needed = set(wanted).union(*listed[at + 1:])
        a, labels = _diagonals(*pair)
        if found is None:
            found = _kept(a, labels, needed, sizes)
        else:
            total, left = _kept(found[0], found[1], needed.union(labels), sizes)
            a, labels = _kept(a, labels, needed.union(left), sizes)
            found = _product(total, left, a, labels, needed)
    a, labels = found
    return a.transpose([labels.index(label) for label in wanted]) if labels != wanted else a
