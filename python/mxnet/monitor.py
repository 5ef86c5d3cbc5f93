# SPDX-License-Identifier: Apache-2.0
"""Statistics of what the operators of an executor give."""
from __future__ import annotations

import logging
import re
from typing import Any, Callable, List, Optional, Tuple


class Monitor:
    """Every `interval` steps computes `stat_func` of outputs whose names match `pattern`.

    stat_func : function(array) -> array; default: root of the mean of the squares
    sort : whether lists are sorted by name
    monitor_all : of inputs too
    """

    def __init__(self, interval: int, stat_func: Optional[Callable[[Any], Any]] = None, pattern: str = ".*", sort: bool = False,
                 monitor_all: bool = False) -> None:
        self.interval, self.sort, self.monitor_all = interval, sort, monitor_all
        self.stat_func = stat_func or (lambda array: array.norm() / array.size ** 0.5)
        self.re_prog = re.compile(pattern)
        self.exes: List[Any] = []
        self.queue: List[Tuple[int, str, Any]] = []
        self.activated, self.step = False, 0

    def _note(self, name: str, array: Any) -> None:
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe: Any) -> None:
        """Watches an executor."""
        exe.set_monitor_callback(self._note, self.monitor_all)
        self.exes.append(exe)

    def tic(self) -> None:
        """Before a step."""
        if self.step % self.interval == 0:
            self.queue, self.activated = [], True
        self.step += 1

    def toc(self) -> List[Tuple[int, str, str]]:
        """After it: number of the step, name and statistics, of parameters too."""
        if not self.activated:
            return []
        for exe in self.exes:
            for name, array in {**exe.arg_dict, **exe.aux_dict}.items():
                self._note(name, array)
        self.activated = False
        found = [(step, name, "".join(f"{value!s}\t" for value in self._numbers(stat))) for step, name, stat in self.queue]
        self.queue = []
        return sorted(found, key=lambda item: item[1]) if self.sort else found

    @staticmethod
    def _numbers(stat: Any) -> List[Any]:
        listed = stat if isinstance(stat, (list, tuple)) else [stat]
        return [item.asnumpy().reshape(-1)[0] if hasattr(item, "asnumpy") and item.size == 1 else
                item.asnumpy() if hasattr(item, "asnumpy") else item for item in listed]

    def toc_print(self) -> None:
        """The same, logged."""
        for step, name, text in self.toc():
            logging.info("Batch: %7d %-30s %s", step, name, text)
