# SPDX-License-Identifier: Apache-2.0
"""Profiling of chosen steps: `with profiler.profile(...) as p:` and p.step() after each."""
import ctypes
import itertools
from typing import Any, Callable, Optional, Union

from ..base import _LIB, MXNetError, check_call
from .config import dump, dumps, set_config, set_state
from .objects import Domain, Frame


class profile:  # pylint: disable=invalid-name
    """Profiles what runs inside, or chosen steps of it.

    Parameters
    ----------
    filename : str
        The trace, written at the end.
    skip, warmup, active : int
        Steps to leave out, steps to run with the profiler paused, steps to record. `active` 0
        records all that follow.
    repeat : int
        Rounds of warm-up and active steps after the first, so 1 records two; -1 until the end.
    on_round : function of this object, optional
        Called after each round, when its records are complete: there `table()` shows them with
        those of the rounds before, `table(reset=True)` each round alone.
    wait : bool
        Let pending operations end before recording begins and ends, True: else operators of other
        steps are recorded too.
    config
        Further options of set_config; aggregate_stats is on unless it is turned off.

    Each recorded step is a frame named 'step' of the domain 'profile'.
    """

    def __init__(self, filename: str = "profile.json", skip: int = 0, warmup: int = 0,
                 active: int = 0, repeat: int = 0,
                 on_round: Optional[Callable[["profile"], None]] = None, wait: bool = True,
                 **config: Any):
        for name, value, least in (("skip", skip, 0), ("warmup", warmup, 0),
                                   ("active", active, 0), ("repeat", repeat, -1)):
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}; valid are whole numbers from {least}")
        if repeat and not active:
            raise ValueError("repeat needs active steps: with active=0 the first round never ends")
        self._skip, self._warmup, self._active, self._repeat = skip, warmup, active, repeat
        self._on_round, self._wait = on_round, wait
        self._config = {"continuous_dump": False, "aggregate_stats": True, **config,
                        "filename": filename}
        self._frame: Optional[Frame] = None
        self._recording = False
        self.step_number = 0  # steps done
        self.rounds = 0  # rounds recorded

    # ---- which steps --------------------------------------------------------------------------
    def _is_active(self, step: int) -> bool:
        """Whether the step of this number (from 0) is recorded."""
        step -= self._skip
        if step < 0:
            return False
        if not self._active:
            return step >= self._warmup
        if 0 <= self._repeat < step // (self._warmup + self._active):
            return False
        return step % (self._warmup + self._active) >= self._warmup

    def _begins_round(self, step: int) -> bool:
        """Whether it is the first recorded step of a round; without warm-up rounds follow at once."""
        return (self._active > 0
                and (step - self._skip) % (self._warmup + self._active) == self._warmup)

    def _begin(self) -> None:
        if self._wait:
            check_call(_LIB.MXNDArrayWaitAll())
        set_state("run")
        self._recording = True

    def _end(self) -> None:
        if self._wait:
            check_call(_LIB.MXNDArrayWaitAll())
        set_state("stop")
        self._recording = False
        self.rounds += 1
        if self._on_round is not None:
            self._on_round(self)

    def _enter_step(self) -> None:
        active = self._is_active(self.step_number)
        if self._recording and (not active or self._begins_round(self.step_number)):
            self._end()
        if active and not self._recording:
            self._begin()
        if active:
            step()
            self._frame.start()

    def _leave_step(self) -> None:
        if self._recording:
            self._frame.stop()

    def _configure(self) -> None:
        try:
            set_config(**self._config)
        except MXNetError as error:
            if "Cannot find argument" not in str(error):
                raise
            raise MXNetError(f"{error}\nprofile() itself takes filename, skip, warmup, active, "
                             "repeat, on_round, wait") from None

    # ---- use ----------------------------------------------------------------------------------
    def __enter__(self) -> "profile":
        self._configure()
        dumps(reset=True)  # the table is of what runs inside
        self._frame = Domain("profile").new_frame("step")
        self._enter_step()
        return self

    def step(self) -> None:
        """Ends a step and begins the next."""
        self._leave_step()
        self.step_number += 1
        self._enter_step()

    def __exit__(self, *exception: Any) -> None:
        self._leave_step()
        if self._recording:
            self._end()
        if self.rounds:
            dump(True)

    def table(self, format: str = "table",  # pylint: disable=redefined-builtin
              **options: Any) -> Union[str, dict]:
        """dumps() of what was recorded."""
        return dumps(format=format, **options)


_steps = itertools.count(1)


def step() -> None:
    """Marks the beginning of a step: what follows belongs to it in the trace and in reports."""
    _LIB.mxp_step(ctypes.c_uint64(next(_steps)))
