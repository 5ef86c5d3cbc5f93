# SPDX-License-Identifier: Apache-2.0
"""mx.npx: what NumPy does not have, on arrays of mx.np: layers of networks, devices, switches.

Operators of the library named _npx_NAME are functions here.
"""
import typing
from typing import Any

import numpy as onp

from .. import _dlpack, _files
from .._functions import lazy
from ..context import (cpu, cpu_pinned, current_device, gpu, gpu_memory_info,  # noqa: F401
                       num_gpus)
from ..ndarray import waitall  # noqa: F401
from ..numpy import array as _array
from ..numpy import ndarray
from ..random import seed  # noqa: F401
from ..util import (is_np_array, is_np_default_dtype, is_np_shape, reset_np, set_np,  # noqa: F401
                    use_np, use_np_array, use_np_shape)
from . import image, random  # noqa: F401
from .functions import (constraint_check, index_add, index_update, masked_log_softmax,  # noqa: F401
                        masked_softmax, nonzero)

_array_type = ndarray
save, savez = _files.save_numpy, _files.savez


def load(file: str) -> Any:
    """The array of a file of NumPy's, the list of arrays of MXNet's, or the dict if they were saved with
    names; MXNetError if it is missing or damaged."""
    return _files.load(ndarray, file)


def custom(*data: Any, op_type: str, **parameters: Any) -> Any:
    """Runs a custom operator of mx.operator.register; other arguments are its parameters."""
    from ..operator import run_custom
    return run_custom(ndarray, data, op_type, parameters)


Custom = custom


def from_numpy(ndarray: onp.ndarray, zero_copy: bool = True) -> Any:
    """The array on a NumPy array's memory, which is read-only from then on; or a copy."""
    if zero_copy:
        return _dlpack.import_numpy(_array_type, ndarray)
    return _array(ndarray, dtype=ndarray.dtype)


def from_dlpack(dlpack: Any) -> Any:
    """The array on the memory of a DLPack capsule, or of an object that has `__dlpack__`."""
    return _dlpack.import_from(_array_type, dlpack)


to_dlpack_for_read, to_dlpack_for_write = _dlpack.to_dlpack_for_read, _dlpack.to_dlpack_for_write

__all__ = [
    "Custom", "cpu", "cpu_pinned", "current_device", "custom", "from_dlpack",
    "from_numpy", "gpu", "gpu_memory_info", "image",
    "is_np_array", "is_np_default_dtype", "is_np_shape", "load", "ndarray", "num_gpus", "random",
    "reset_np", "save", "savez", "seed", "set_np",
    "to_dlpack_for_read", "to_dlpack_for_write", "use_np", "use_np_array", "use_np_shape", "waitall"]

_get, __dir__ = lazy(__name__, ("_npx_",), ndarray)
if typing.TYPE_CHECKING:  # made by scripts/make-stubs
    from ._functions import *  # noqa: F403
else:
    __getattr__ = _get
