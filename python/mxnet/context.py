# SPDX-License-Identifier: Apache-2.0
"""Devices: cpu(0), cpu(1) ... and the one that is taken where none is named."""
import contextvars
import ctypes
from typing import Any, Optional, Tuple, Union

from .base import _LIB, MXNetError, check_call


class Context:
    """A device: Context('cpu', 1), Context('cpu(1)') or another Context.

    As a context manager it is the default for what is made inside. ValueError for a type that does
    not exist; the valid ones are cpu, gpu, cpu_pinned and cpu_shared.
    """

    devtype2num = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}
    devtype2str = {number: name for name, number in devtype2num.items()}

    __slots__ = ("device_typeid", "device_id", "_tokens")
    device_typeid: int
    device_id: int

    def __init__(self, device_type: Union[str, "Context"], device_id: int = 0):
        if isinstance(device_type, Context):
            device_id, device_type = device_type.device_id, device_type.device_type
        elif device_type.endswith(")"):
            device_type, _, number = device_type[:-1].partition("(")
            device_id = int(number)
        if device_type not in self.devtype2num:
            raise ValueError(f"there is no device type '{device_type}'; valid are: "
                             + ", ".join(self.devtype2num))
        self.device_typeid = self.devtype2num[device_type]
        self.device_id = device_id
        self._tokens: list = []

    @property
    def device_type(self) -> str:
        """'cpu', 'gpu', 'cpu_pinned' or 'cpu_shared'."""
        return self.devtype2str[self.device_typeid]

    def __eq__(self, other: Any) -> bool:
        return (isinstance(other, Context) and self.device_typeid == other.device_typeid
                and self.device_id == other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    _parameter_text = __repr__

    def __reduce__(self):
        return Context, (self.device_type, self.device_id)

    def __enter__(self) -> "Context":
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *exception) -> None:
        _current.reset(self._tokens.pop())

    @classmethod
    def default_ctx(cls) -> "Context":
        """The same as current_context()."""
        return current_context()

    def empty_cache(self) -> None:
        """Gives memory that the device's pool keeps unused back to the system."""
        check_call(_LIB.MXStorageEmptyCache(self.device_typeid, self.device_id))


Device = Context

_current: "contextvars.ContextVar[Context]" = contextvars.ContextVar(
    "device", default=Context("cpu", 0))


def cpu(device_id: int = 0) -> Context:
    """The processor; memory is counted for each id."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Memory that a GPU could read directly."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A GPU. There is none: making an array there raises MXNetError."""
    return Context("gpu", device_id)


def current_context() -> Context:
    """The device for arrays where none is named: cpu(0), or that of the innermost `with`."""
    return _current.get()


current_device = current_context


def num_gpus() -> int:
    """How many GPUs there are: 0."""
    count = ctypes.c_int()
    check_call(_LIB.MXGetGPUCount(ctypes.byref(count)))
    return count.value


def gpu_memory_info(device_id: int = 0) -> Tuple[int, int]:
    """(free, total) bytes of a GPU; MXNetError, as there is none."""
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    check_call(_LIB.MXGetGPUMemoryInformation64(device_id, ctypes.byref(free),
                                                ctypes.byref(total)))
    return free.value, total.value


def choose(ctx: Optional[Context] = None, device: Optional[Context] = None) -> Context:
    """The device that a function was given under either name, else the current one.

    MXNetError for a GPU: there is none.
    """
    given = device if device is not None else ctx
    chosen = Context(given) if given is not None else _current.get()
    if chosen.device_typeid == 2:
        raise MXNetError(f"there is no device {chosen}: this library runs on processors, and "
                         f"num_gpus() is {num_gpus()}")
    return chosen
