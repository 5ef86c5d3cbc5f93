# SPDX-License-Identifier: Apache-2.0
"""IDX, MNIST's file format: a big-endian header (0, 0, type, number of dimensions, their sizes), then the
elements. Here unsigned bytes only, plain or compressed by gzip."""
from __future__ import annotations

import gzip
import secrets
import struct
from pathlib import Path
from typing import Union

import numpy as onp

from ....base import MXNetError

_UNSIGNED_BYTE = 8


def read(path: Union[str, Path]) -> onp.ndarray:
    """The array in `path`, uint8. MXNetError names the file and what is wrong with it."""
    try:
        with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
            content = file.read()
    except (OSError, EOFError) as error:
        raise MXNetError(f"{path}: cannot be read: {error}") from error
    if len(content) < 4 or content[:2] != b"\0\0":
        raise MXNetError(f"{path}: not an IDX file (it begins with {content[:4].hex() or 'nothing'})")
    element, rank = content[2], content[3]
    if element != _UNSIGNED_BYTE or not 1 <= rank <= 4:
        raise MXNetError(f"{path}: IDX type {element:#x} with {rank} dimensions; "
                         "bytes with 1 to 4 dimensions are read")
    begin = 4 + 4 * rank
    if len(content) < begin:
        raise MXNetError(f"{path}: cut short in its header, {len(content)} bytes long")
    shape = struct.unpack(f">{rank}I", content[4:begin])
    wanted = begin + int(onp.prod(shape, dtype=object))
    if len(content) < wanted:
        raise MXNetError(f"{path}: cut short: {len(content)} bytes, {wanted} were announced")
    return onp.frombuffer(content, onp.uint8, wanted - begin, begin).reshape(shape)


def write(path: Union[str, Path], array: onp.ndarray) -> None:
    """Writes an array of uint8, plain, under a temporary name first: a reader never sees half of it."""
    if array.dtype != onp.uint8 or not 1 <= array.ndim <= 4:
        raise ValueError(f"IDX files hold uint8 with 1 to 4 dimensions, not {array.dtype} with {array.ndim}")
    unfinished = Path(f"{path}.{secrets.token_hex(8)}.part")  # two processes that draw the same do not meet
    try:
        with open(unfinished, "xb") as file:
            file.write(struct.pack(f">BBBB{array.ndim}I", 0, 0, _UNSIGNED_BYTE, array.ndim, *array.shape))
            file.write(onp.ascontiguousarray(array).tobytes())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
