# SPDX-License-Identifier: Apache-2.0
"""Schedules of learning rates: number of updates to rate."""
from __future__ import annotations

import logging
import math
from typing import Any, Sequence

from ._given import Given


class LRScheduler(Given):
    """The base of schedules: during the first `warmup_steps` updates the rate rises from
    `warmup_begin_lr` to `base_lr` (linear, or stays at the begin: constant)."""

    _logged = 0  # drops of the rate

    def __init__(self, base_lr: float = 0.01, warmup_steps: int = 0, warmup_begin_lr: float = 0.0,
                 warmup_mode: str = "linear") -> None:
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"warmup_mode must be linear or constant, not {warmup_mode!r}")
        if warmup_steps < 0 or warmup_begin_lr > base_lr:
            raise ValueError(f"a warm-up of {warmup_steps} steps from {warmup_begin_lr} to {base_lr}: "
                             "steps must not be negative, and the rate must rise")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def __call__(self, num_update: int) -> float:
        if num_update >= self.warmup_steps:
            return self.rate(num_update)
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        part = num_update / self.warmup_steps
        return self.warmup_begin_lr + (self.base_lr - self.warmup_begin_lr) * part

    def rate(self, num_update: int) -> float:
        """The rate after the warm-up."""
        raise NotImplementedError

    def _dropped(self, num_update: int, drops: int, rate: float) -> float:
        """The rate after so many drops. A drop is logged when it is first seen."""
        if drops > self._logged:
            logging.info("Update[%d]: Change learning rate to %0.5e", num_update, rate)
        self._logged = drops
        return rate


class FactorScheduler(LRScheduler):
    """base_lr times `factor` every `step` updates, never below `stop_factor_lr`."""

    def __init__(self, step: int, factor: float = 1.0, stop_factor_lr: float = 1e-8,
                 base_lr: float = 0.01, **warmup: float) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if step < 1 or factor > 1:
            raise ValueError(f"FactorScheduler: step {step} must be at least 1, factor {factor} at most 1")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr

    def rate(self, num_update: int) -> float:
        drops = max(0, num_update - 1) // self.step
        return self._dropped(num_update, drops, max(self.stop_factor_lr, self.base_lr * self.factor ** drops))


class MultiFactorScheduler(LRScheduler):
    """base_lr times `factor` after each of the updates in `step`."""

    def __init__(self, step: Sequence[int], factor: float = 1.0, base_lr: float = 0.01,
                 **warmup: float) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if not isinstance(step, (list, tuple)) or not step or step[0] < 1 or any(
                a >= b for a, b in zip(step, step[1:])):
            raise ValueError(f"MultiFactorScheduler: step must be growing numbers from 1, not {step}")
        self.step = list(step)
        self.factor = factor

    def rate(self, num_update: int) -> float:
        drops = sum(num_update > step for step in self.step)
        return self._dropped(num_update, drops, self.base_lr * self.factor ** drops)


class PolyScheduler(LRScheduler):
    """From base_lr to `final_lr` by a polynomial of power `pwr` over `max_update` updates."""

    def __init__(self, max_update: int, base_lr: float = 0.01, pwr: int = 2, final_lr: float = 0.0,
                 **warmup: float) -> None:
        super().__init__(base_lr, **warmup)  # type: ignore[arg-type]
        if max_update < 1:
            raise ValueError(f"{type(self).__name__}: max_update must be at least 1, not {max_update}")
        self.max_update = max_update
        self.power = pwr
        self.final_lr = final_lr

    def _part(self, num_update: int) -> float:
        span = max(1, self.max_update - self.warmup_steps)
        return min(1.0, (num_update - self.warmup_steps) / span)

    def rate(self, num_update: int) -> float:
        height = (1 - self._part(num_update)) ** self.power
        return self.final_lr + (self.base_lr - self.final_lr) * height


class CosineScheduler(PolyScheduler):
    """From base_lr to `final_lr` by half a cosine over `max_update` updates."""

    def __init__(self, max_update: int, base_lr: float = 0.01, final_lr: float = 0.0,
                 **warmup: Any) -> None:
        super().__init__(max_update, base_lr, final_lr=final_lr, **warmup)

    def rate(self, num_update: int) -> float:
        height = (1 + math.cos(math.pi * self._part(num_update))) / 2
        return self.final_lr + (self.base_lr - self.final_lr) * height
