# SPDX-License-Identifier: Apache-2.0
"""Servers of a key-value store over processes: their loop, which runs inside the import of the package, and
optimizers that are not built into the library. Those are made from a text, of classes that are registered in
modules which the server's own MXNET_KVSTORE_OPTIMIZER_MODULES names. What a worker has pickled is run only
where MXNET_KVSTORE_ALLOW_PICKLE is 1, because whoever reaches the port could send it."""
from __future__ import annotations

import base64
import ctypes
import importlib
import json
import os
import pickle
import sys
from typing import Any, Dict

from . import ndarray as nd
from . import optimizer as opt
from ._callbacks import tell
from .base import _LIB, KVStoreHandle, MXNetError, check_call

_MODULES, _ALLOW = "MXNET_KVSTORE_OPTIMIZER_MODULES", "MXNET_KVSTORE_ALLOW_PICKLE"
_WAYS = (f"register its class in a module that the servers' {_MODULES} names, and make it with numbers and texts; "
         f"or let the servers, with {_ALLOW}=1, run what workers pickle")

_CONTROLLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
_NUMBER_UPDATER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_TEXT_UPDATER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_kept: list = []  # C functions: they live as long as the process
_said: set = set()


def is_worker() -> bool:
    """Whether this process is a worker, by how it was started."""
    answer = ctypes.c_int()
    check_call(_LIB.MXKVStoreIsWorkerNode(ctypes.byref(answer)))
    return answer.value != 0


def pickled(optimizer: opt.Optimizer, reason: Exception) -> str:
    """The text for servers that are allowed to read a pickle. MXNetError: it cannot be pickled either."""
    try:
        data = pickle.dumps(optimizer)
    except Exception as error:
        raise MXNetError(f"set_optimizer: {reason}; {_WAYS}") from error
    return json.dumps({"pickle": base64.b64encode(data).decode(), "why": str(reason)})


def _optimizer_of(described: Dict[str, Any], text: str) -> opt.Optimizer:
    if "pickle" not in described:
        for module in filter(None, os.environ.get(_MODULES, "").replace(",", ":").split(":")):
            importlib.import_module(module)
        try:
            return opt.optimizer_from_text(text)
        except ValueError as error:
            raise MXNetError(f"{error}; {_WAYS}") from error
    if os.environ.get(_ALLOW) != "1":
        raise MXNetError(f"set_optimizer: {described.get('why', 'a pickle')}; {_WAYS}")
    made = pickle.loads(base64.b64decode(described["pickle"]))
    if not isinstance(made, opt.Optimizer):
        raise MXNetError(f"a pickled {type(made).__name__} is no optimizer")
    return made


def _key(name: bytes) -> Any:
    text = name.decode()
    return int(text) if text.lstrip("-").isdigit() and str(int(text)) == text else text


class KVStoreServer:
    """What stands behind the servers' side of a store."""

    def __init__(self, kvstore: Any) -> None:
        self.kvstore = kvstore
        self.handle = kvstore.handle
        self._handles: Dict[int, Any] = {}  # of stores of other workers; a store of this process has its own
        self._updaters: Dict[int, opt.Updater] = {}

    def listen(self) -> None:
        """In a worker: an owner inside it uses optimizers of Python's side, too."""
        check_call(_LIB.MXKVStoreRunServer(self.handle, self._controller(), None))

    def run(self) -> None:
        """In a server: returns when the workers are done."""
        self.listen()

    def _controller(self) -> Any:
        def control(number: int, body: bytes, _: Any) -> None:
            try:
                self._control(number >> 16, body.decode())
                _LIB.mxp_set_last_error(0, b"")
            except BaseException as error:  # pylint: disable=broad-except
                tell(error)

        made = _CONTROLLER(control)
        _kept.append(made)
        return made

    def _control(self, store: int, text: str) -> None:
        described = json.loads(text)
        if "set" in described:
            self._change(self._updaters[store].optimizer, described["set"])
            return
        optimizer = _optimizer_of(described, text)
        if is_worker() and type(optimizer).__name__ not in _said:
            _said.add(type(optimizer).__name__)
            print(f"mxnet: optimizer {type(optimizer).__name__} runs in Python, under this worker's interpreter lock",
                  file=sys.stderr, flush=True)
        self._updaters[store] = opt.get_updater(optimizer)
        self._set_updater(store, self._updaters[store])

    @staticmethod
    def _change(optimizer: opt.Optimizer, settings: Dict[str, Any]) -> None:
        for name, value in settings.items():
            if name == "learning_rate":
                optimizer.set_learning_rate(value)
            else:
                setattr(optimizer, name, value)

    def _set_updater(self, store: int, updater: opt.Updater) -> None:
        def run(key: bytes, received: int, stored: int, _: Any) -> None:
            try:
                updater(_key(key), nd.NDArray(received), nd.NDArray(stored))
                _LIB.mxp_set_last_error(0, b"")
            except BaseException as error:  # pylint: disable=broad-except
                tell(error)

        def refuse(number: int, received: int, stored: int, _: Any) -> None:
            raise AssertionError(f"an updater is told the key's text, not {number}")

        callbacks = _NUMBER_UPDATER(refuse), _TEXT_UPDATER(run)
        _kept.append(callbacks)
        check_call(_LIB.MXKVStoreSetUpdaterEx(self._handle_of(store), *callbacks, None))

    def _handle_of(self, store: int) -> Any:
        if is_worker():
            return self.handle
        if store not in self._handles:
            handle = KVStoreHandle()
            check_call(_LIB.MXKVStoreCreate(b"dist", ctypes.byref(handle)))
            self._handles[store] = handle
        return self._handles[store]


def run_role() -> None:
    """Called once the package is there. A server or scheduler never returns from its import."""
    if is_worker():
        return
    try:
        from . import kvstore  # pylint: disable=import-outside-toplevel
        KVStoreServer(kvstore.create("dist")).run()
    except MXNetError as error:
        print(f"mxnet: {os.environ.get('DMLC_ROLE')}: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    sys.exit(0)
