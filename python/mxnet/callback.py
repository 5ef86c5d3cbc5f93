# SPDX-License-Identifier: Apache-2.0
"""Functions that a training calls after batches and epochs."""
from __future__ import annotations

import logging
import math
import time
from typing import Any, Callable

from .model import save_checkpoint


def _values(metric: Any) -> str:
    return "".join(f"\t{name}={value:f}" for name, value in metric.get_name_value())


class Speedometer:
    """Logs samples a second, and the metric, every `frequent` batches.

    auto_reset : whether the metric then begins anew
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self._begin, self._last = 0.0, -1  # of the batches that are counted; -1: none yet

    def __call__(self, param: Any) -> None:
        if self._last < 0 or param.nbatch < self._last:
            self._begin = time.perf_counter()
        elif param.nbatch % self.frequent == 0:
            self._log(param, self.frequent * self.batch_size / max(time.perf_counter() - self._begin, 1e-9))
            self._begin = time.perf_counter()
        self._last = param.nbatch

    def _log(self, param: Any, speed: float) -> None:
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, param.nbatch, speed)
            return
        first = max(param.nbatch - self.frequent, 0) if self.auto_reset else 0
        logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", param.epoch, first, param.nbatch, speed,
                     _values(param.eval_metric))
        if self.auto_reset:
            param.eval_metric.reset_local()


class ProgressBar:
    """Logs a bar of how much of `total` batches is done, `length` letters long."""

    def __init__(self, total: int, length: int = 80) -> None:
        self.total, self.length = total, length

    def __call__(self, param: Any) -> None:
        done = int(round(self.length * param.nbatch / self.total))
        logging.info("[%s] %s%%\r", "=" * done + "-" * (self.length - done), math.ceil(100.0 * param.nbatch / self.total))


class LogValidationMetricsCallback:
    """Logs the metric at the end of an evaluation."""

    def __call__(self, param: Any) -> None:
        for name, value in param.eval_metric.get_name_value() if param.eval_metric else []:
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[Any], None]:
    """Logs the metric every `period` batches, which then begins anew with `auto_reset`."""
    def call(param: Any) -> None:
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()
    return call


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """After every `period` epochs writes PREFIX-symbol.json and PREFIX-EPOCH.params."""
    period = max(1, int(period))

    def call(epoch: int, symbol: Any, arguments: Any, states: Any) -> None:
        if (epoch + 1) % period == 0:
            save_checkpoint(prefix, epoch + 1, symbol, arguments, states)
    return call


def module_checkpoint(mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False) -> Callable[..., None]:
    """The same of a module."""
    period = max(1, int(period))

    def call(epoch: int, *_: Any) -> None:
        if (epoch + 1) % period == 0:
            mod.save_checkpoint(prefix, epoch + 1, save_optimizer_states)
    return call
