# SPDX-License-Identifier: Apache-2.0
"""The rows of an owner that is inside a worker. They are in the worker's profile; a program that asks servers for
files gets one of those rows alone under the name it looks for, rank0_NAME, once the worker's own file is written."""
import ctypes
import json
import os
from typing import Any, Dict, Optional

from ..base import _LIB, check_call

_OWN_OPERATOR = 1 << 31  # numbers of operators that the communication thread does itself begin here
# "name": what servers were told; "worker": this process's trace; "dumped": whether that was finished, once it was
# written; "wants": a dump of servers waits for it.
_asked: Dict[str, Any] = {}


def configured(filename: Optional[str]) -> None:
    """Servers were given a name for their files."""
    _asked["name"] = os.path.abspath(filename or "profile.json")
    _asked.pop("wants", None)


def running(filename: Optional[str]) -> None:
    """This process records to that trace."""
    if filename is not None:
        _asked["worker"] = filename
        _asked.pop("dumped", None)


def worker_dumped(finished: bool) -> None:
    """This process's trace was written."""
    _asked["dumped"] = finished
    if _asked.pop("wants", None) is not None:
        _write()


def server_dumped(handle: Any) -> None:
    """Servers were told to write theirs."""
    inside = ctypes.c_int()
    check_call(_LIB.MXKVStoreHasServers(handle, ctypes.byref(inside)))
    if inside.value != 0 or "name" not in _asked:
        return
    rank = ctypes.c_int()
    check_call(_LIB.MXKVStoreGetRank(handle, ctypes.byref(rank)))
    folder, last = os.path.split(_asked["name"])
    _asked["file"] = os.path.join(folder, f"rank{rank.value}_{last}")
    # A file that is there and was not written by this run is another run's.
    is_written = "worker" in _asked and "dumped" in _asked
    if is_written:
        _write()
    if not is_written or not _asked["dumped"]:
        _asked["wants"] = True


def _is_owners(item: Dict[str, Any]) -> bool:
    name, of = item.get("name", ""), item.get("args", {})
    if item.get("cat") == "operator":
        return of.get("scope", "").split(":")[0] == "owner" or of.get("op", 0) >= _OWN_OPERATOR
    if item.get("cat") == "communication":
        return name in ("KVStore round", "add", "reply") or "worker" in of or name.startswith("kvstore: ")
    return item.get("ph") == "M"


def _write() -> None:
    with open(_asked["worker"], encoding="utf-8") as file:
        trace = json.load(file)
    trace["traceEvents"] = [item for item in trace["traceEvents"] if _is_owners(item)]
    temporary = _asked["file"] + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    os.replace(temporary, _asked["file"])
