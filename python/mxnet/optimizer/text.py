# SPDX-License-Identifier: Apache-2.0
"""Optimizers as text, which is what servers are sent: a name and numbers, no code (docs/distributed.md)."""
from __future__ import annotations

import json
import math
import numbers
from typing import Any, Dict, Iterator, Optional, Type

from .. import lr_scheduler
from ..base import MXNetError
from .optimizer import Optimizer, create

MOST_BYTES = 1 << 20  # a text is shorter
MOST_LEVELS = 16


class Multipliers:
    """Stands for a parameter where only its multipliers are known."""

    def __init__(self, lr_mult: float = 1.0, wd_mult: float = 1.0) -> None:
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult


class NoText(MXNetError):
    """An optimizer that is made with something no text can hold."""


def _plain(value: Any, where: str, level: int = 1) -> Any:
    """As JSON has it. NoText for anything but numbers, texts, None, lists and dicts of them."""
    if level > MOST_LEVELS:
        raise NoText(f"{where}: more than {MOST_LEVELS} levels deep")
    if value is None or isinstance(value, (str, bool)):
        return value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # NumPy's numbers
        value = value.item()
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            raise NoText(f"{where} is {value}: numbers must be finite")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one, where, level + 1) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(one, f"{where}[{key!r}]", level + 1) for key, one in value.items()}
    raise NoText(f"{where} is of type {type(value).__name__}, which no text can hold")


def _plain_all(of: str, values: Dict[str, Any]) -> Dict[str, Any]:
    return {name: _plain(value, f"{of}: {name}", 3) for name, value in values.items()}


def _schedule(schedule: Any) -> Dict[str, Any]:
    name = type(schedule).__name__
    if not isinstance(schedule, lr_scheduler.LRScheduler):
        raise NoText(f"lr_scheduler is of type {name}, which is no LRScheduler")
    return {"name": name, "args": _plain_all(name, schedule._arguments({"pwr": "power"}))}


def optimizer_text(optimizer: Optimizer) -> str:
    """JSON from which a server makes an equal optimizer. NoText if an argument cannot be written."""
    name = type(optimizer).__name__
    leave_out = {"lr_scheduler", "param_dict", "param_idx2name", "sym"}
    if optimizer.lr_scheduler is not None:
        leave_out.add("learning_rate")  # the schedule's base_lr is it
    args = optimizer._arguments({"learning_rate": "lr"}, leave_out)
    described: Dict[str, Any] = {"name": name.lower(), "args": _plain_all(name, args)}
    if optimizer.lr_scheduler is not None:
        described["lr_scheduler"] = _schedule(optimizer.lr_scheduler)
    described.update(multipliers(optimizer))
    if optimizer.idx2name:
        described["index"] = {str(index): str(one) for index, one in optimizer.idx2name.items()}
    return _bounded(described)


def multipliers(optimizer: Optimizer) -> Dict[str, Any]:
    """The members that say the multipliers of each parameter there is, or is named."""
    names, said = set(optimizer.idx2name.values()), {**optimizer.lr_mult, **optimizer.wd_mult}
    named = [*optimizer.idx2name, *(key for key in said if key not in names)] if said else []
    indices = list(dict.fromkeys([*optimizer.param_dict, *named]))
    return {name: {str(index): _plain(optimizer._factor(index, name), name) for index in indices}
            for name in ("lr_mult", "wd_mult")} if indices else {}


def change_text(settings: Dict[str, Any]) -> str:
    """The text of a change of an optimizer that is in use."""
    return _bounded({"set": _plain_all("set", settings)})


def _bounded(described: Dict[str, Any]) -> str:
    text = json.dumps(described, allow_nan=False)
    if len(text) >= MOST_BYTES:
        raise NoText(f"the text of an optimizer has {len(text)} bytes; at most {MOST_BYTES - 1} are sent")
    return text


# ---- and back ------------------------------------------------------------------------------------
def _all_kinds(kind: type) -> Iterator[type]:
    yield kind
    for below in kind.__subclasses__():
        yield from _all_kinds(below)


def _schedule_of(described: Dict[str, Any]) -> lr_scheduler.LRScheduler:
    name = described.get("name")
    kinds: Dict[Any, Type[Any]] = {kind.__name__: kind for kind in _all_kinds(lr_scheduler.LRScheduler)}
    if name not in kinds:
        raise ValueError(f"optimizer text: no schedule {name!r}; there are {', '.join(sorted(kinds))}")
    return kinds[name](**described.get("args", {}))


def _key(text: str) -> Any:
    """Keys are texts in JSON: a whole number was one before."""
    return int(text) if text.lstrip("-").isdigit() and str(int(text)) == text else text


def optimizer_from_text(text: str) -> Optimizer:
    """The optimizer that a text describes, of the classes that are registered."""
    described = json.loads(text)
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        raise ValueError("optimizer text: it must be an object with a name")
    unknown = set(described) - {"name", "args", "lr_scheduler", "lr_mult", "wd_mult", "index"}
    if unknown:
        raise ValueError(f"optimizer text: no member {', '.join(sorted(unknown))}")
    schedule: Optional[Dict[str, Any]] = described.get("lr_scheduler")
    args = dict(described.get("args") or {})
    if schedule is not None:
        args["lr_scheduler"] = _schedule_of(schedule)
    optimizer = create(described["name"], **args)
    lr_mult, wd_mult = described.get("lr_mult") or {}, described.get("wd_mult") or {}
    optimizer.param_dict = {_key(key): Multipliers(lr_mult.get(key, 1.0), wd_mult.get(key, 1.0))
                            for key in {**lr_mult, **wd_mult}}
    optimizer.idx2name = {_key(key): name for key, name in (described.get("index") or {}).items()}
    return optimizer
