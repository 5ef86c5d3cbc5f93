# SPDX-License-Identifier: Apache-2.0
"""Key-value stores: arrays by key, summed over devices or processes, updated by an optimizer."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from . import ndarray as nd
from . import optimizer as opt
from . import profiler
from ._array import BaseArray
from .base import _LIB, KVStoreHandle, MXNetError, c_handle_array, c_str, c_str_array, check_call, mx_uint
from .kvstore_server import KVStoreServer, is_worker, pickled
from .optimizer.text import NoText, change_text

Key = Union[int, str]

_CONTROLLER, _SAVE_STATES, _LOAD_STATES = 0, 16, 17  # commands to servers

_NUMBER_UPDATER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_TEXT_UPDATER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _key_list(key: Any) -> List[Key]:
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    for one in keys:
        if not isinstance(one, (int, str)):
            raise AssertionError(f"unexpected type for keys: {type(one)}")
    if len({isinstance(one, str) for one in keys}) > 1:
        raise AssertionError("inconsistent types of keys detected.")
    return keys


def _flat(key: Any, values: Any) -> Tuple[List[Key], List[Any]]:
    """A key and an array for each of all values: `values` is an array, a list of them for one key, or one
    of these for each key."""
    keys = _key_list(key)
    if not isinstance(key, (tuple, list)):
        values = [values]
    elif not isinstance(values, (tuple, list)) or len(values) != len(keys):
        raise AssertionError(f"{len(keys)} keys need a list of as many values")
    pairs = [(one, array) for one, value in zip(keys, values)
             for array in ([value] if isinstance(value, BaseArray) else value)]
    for one, array in pairs:
        if not isinstance(array, BaseArray):
            raise TypeError(f"key {one}: an array was expected, not {type(array).__name__}")
    return [one for one, _ in pairs], [array for _, array in pairs]


def _c_keys(keys: Sequence[Key]) -> Any:
    if keys and isinstance(keys[0], str):
        return (ctypes.c_char_p * len(keys))(*[str(key).encode() for key in keys])
    return (ctypes.c_int * len(keys))(*[int(key) for key in keys])


class KVStore:
    """A store of `mx.kv.create`. A key is an int or a str, in one store always the same kind. Values of
    one key, a list, are summed. One thread at a time uses a store."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self._updater: Optional[Callable[[Any, Any, Any], None]] = None
        self._c_updaters: Any = ()
        self._is_compressed = False  # what is pushed
        self._error: Optional[BaseException] = None

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            _LIB.MXKVStoreFree(self.handle)
            self.handle = None

    # ---- values --------------------------------------------------------------------------------
    def _call(self, name: str, key: Any, values: Any, *more: Any) -> None:
        keys, arrays = _flat(key, values)
        name += "Ex" if keys and isinstance(keys[0], str) else ""
        status = getattr(_LIB, name)(self.handle, mx_uint(len(keys)), _c_keys(keys),
                                     c_handle_array(arrays), *more)
        self._finish(status)

    def _call_both(self, name: str, key: Any, values: Any, outs: Any, priority: int) -> None:
        keys, arrays = _flat(key, values)
        out_keys, out_arrays = _flat(key, outs)
        name += "Ex" if keys and isinstance(keys[0], str) else ""
        self._finish(getattr(_LIB, name)(
            self.handle, mx_uint(len(keys)), _c_keys(keys), mx_uint(len(out_keys)), _c_keys(out_keys),
            c_handle_array(arrays), c_handle_array(out_arrays), ctypes.c_int(priority)))

    def _finish(self, status: int) -> None:
        """What an updater has raised goes before what the library says."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        check_call(status)

    def init(self, key: Any, value: Any) -> None:
        """Keeps a copy of the value of each key; once."""
        self._call("MXKVStoreInit", key, value)

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Sums the values of each key. The sum replaces what is stored, or the updater takes both."""
        self._call("MXKVStorePush", key, value, ctypes.c_int(priority))

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copies what is stored to `out`: an array for each key, or a list of them."""
        if out is None:
            raise AssertionError("pull: out is missing")
        self._call("MXKVStorePullWithSparse", key, out, ctypes.c_int(priority),
                   ctypes.c_bool(ignore_sparse))

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """A push of the values and a pull to `out`; without it, to the values."""
        self._call_both("MXKVStorePushPull", key, value, value if out is None else out, priority)

    def _push_and_pull(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """What `pushpull` does, also where it is an error."""
        if self._is_compressed:
            self.push(key, value, priority)
            self.pull(key, out, priority)
        else:
            self.pushpull(key, value, out, priority)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """An init with the values and a pull to `out`."""
        self._call_both("MXKVStoreBroadcast", key, value, out, priority)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """An error: there are no arrays of sparse rows."""
        if out is None or row_ids is None:
            raise AssertionError("row_sparse_pull: out and row_ids are needed")
        keys, arrays = _flat(key, out)
        ids = [row_ids] if isinstance(row_ids, BaseArray) else list(row_ids)
        name = "MXKVStorePullRowSparse" + ("Ex" if keys and isinstance(keys[0], str) else "")
        check_call(getattr(_LIB, name)(self.handle, mx_uint(len(keys)), _c_keys(keys),
                                       c_handle_array(arrays), c_handle_array(ids),
                                       ctypes.c_int(priority)))

    # ---- updates -------------------------------------------------------------------------------
    def _set_updater(self, updater: Optional[Callable[[Any, Any, Any], None]]) -> None:
        """`updater(key, received, stored)` changes `stored` at each push; None: what is pushed replaces
        it. Keys that are texts come as bytes, as in MXNet. What it raises, the push raises."""
        def run(key: Any, received: int, stored: int, _: Any) -> None:
            try:
                arrays = nd.NDArray(received), nd.NDArray(stored)
                if self._error is None and updater is not None:
                    updater(key, *arrays)
            except BaseException as error:  # pylint: disable=broad-except
                self._error = error

        callbacks = () if updater is None else (_NUMBER_UPDATER(run), _TEXT_UPDATER(run))
        check_call(_LIB.MXKVStoreSetUpdaterEx(self.handle, *(callbacks or (None, None)), None))
        self._updater, self._c_updaters = updater, callbacks

    set_updater = _set_updater

    def set_optimizer(self, optimizer: opt.Optimizer) -> None:
        """Each push updates what is stored by the optimizer, with the sum as gradient."""
        if not isinstance(optimizer, opt.Optimizer):
            raise AttributeError(f"set_optimizer: {type(optimizer).__name__} is no optimizer")
        self._set_updater(opt.get_updater(optimizer))

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Writes the optimizer's states to a file. `dump_optimizer`: not there yet."""
        self._own_updater("save", dump_optimizer).save(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` wrote."""
        self._own_updater("load").load(fname)

    def _own_updater(self, word: str, dump_optimizer: bool = False) -> opt.Updater:
        if not isinstance(self._updater, opt.Updater):
            raise AssertionError(f"Cannot {word} states for distributed training: this store has no optimizer")
        if dump_optimizer:
            raise NotImplementedError("dump_optimizer: files have the states alone")
        return self._updater

    def set_gradient_compression(self, compression_params: Dict[str, Any]) -> None:
        """An error: what a process sums itself is not compressed."""
        raise MXNetError("Gradient compression is not supported for this type of kvstore")

    # ---- the group -----------------------------------------------------------------------------
    @property
    def type(self) -> str:
        """What it was created as."""
        text = ctypes.c_char_p()
        check_call(_LIB.MXKVStoreGetType(self.handle, ctypes.byref(text)))
        return (text.value or b"").decode()

    def _number(self, name: str) -> int:
        number = ctypes.c_int()
        check_call(getattr(_LIB, name)(self.handle, ctypes.byref(number)))
        return number.value

    @property
    def rank(self) -> int:
        """Which worker this is."""
        return self._number("MXKVStoreGetRank")

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        return self._number("MXKVStoreGetGroupSize")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can update by itself: `capability` is 'optimizer'."""
        if capability.lower() == "optimizer":
            return True
        raise MXNetError(f"Unknown capability: {capability}")

    def barrier(self) -> None:
        """Waits until all workers are here, with what each has pushed."""
        check_call(_LIB.MXKVStoreBarrier(self.handle))

    _barrier = barrier

    def _send_command_to_servers(self, head: int, body: str) -> None:
        check_call(_LIB.MXKVStoreSendCommmandToServers(self.handle, ctypes.c_int(head), c_str(body)))


class DistKVStore(KVStore):
    """A store of several processes: sums are made, and optimizers run, on servers, or inside the workers
    where there are none."""

    def set_optimizer(self, optimizer: opt.Optimizer) -> None:
        """What servers update with from now on. They are sent a text, of which they make an equal one."""
        if not isinstance(optimizer, opt.Optimizer):
            raise AttributeError(f"set_optimizer: {type(optimizer).__name__} is no optimizer")
        try:
            text = opt.optimizer_text(optimizer)
        except NoText as reason:
            text = pickled(optimizer, reason)
        self._send_command_to_servers(_CONTROLLER, text)

    def _change_optimizer(self, **settings: float) -> None:
        """Arguments of the servers' optimizer from the next update on."""
        self._send_command_to_servers(_CONTROLLER, change_text(settings))

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Gathers the states of all servers to a file of worker 0; other workers write none."""
        if dump_optimizer:
            raise NotImplementedError("dump_optimizer: files have the states alone")
        self._send_command_to_servers(_SAVE_STATES, fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Gives servers the states of a file of worker 0."""
        self._send_command_to_servers(_LOAD_STATES, fname)

    def set_gradient_compression(self, compression_params: Dict[str, Any]) -> None:
        """Compresses what is pushed from now on: {'type': '2bit', 'threshold': t}, of which t is 0.5 unless it is
        given. All workers call it before the first push, with the same threshold; it returns when all have. Of a
        gradient t, 0 or -t is sent for each value, and the rest is added to the next one. `pushpull`, and types
        other than float32, are errors then."""
        check_call(_LIB.MXKVStoreSetGradientCompression(
            self.handle, mx_uint(len(compression_params)), c_str_array(map(str, compression_params)),
            c_str_array(map(str, compression_params.values()))))
        self._is_compressed = True



KVStoreBase = KVStore


def create(name: str = "local") -> KVStore:
    """A store of this process: 'local' or 'device', which differ on GPUs alone; or one of several: 'dist_sync',
    'dist_device_sync', 'dist_async'."""
    if not isinstance(name, str):
        raise TypeError("name must be a string")
    handle = KVStoreHandle()
    check_call(_LIB.MXKVStoreCreate(name.encode(), ctypes.byref(handle)))
    if "dist" not in name.lower():
        return KVStore(handle)
    store = DistKVStore(handle)
    profiler.set_kvstore_handle(handle)
    if is_worker():
        KVStoreServer(store).listen()
    return store
