# SPDX-License-Identifier: Apache-2.0
"""Profiling of chosen steps: `with profiler.profile(...) as p:` and p.step() after each."""
import ctypes
import itertools
import operator
import os
from typing import Any, Callable, Dict, Literal, Optional, Union, overload

from . import command
from ..base import _LIB, MXNetError, check_call, core, file_name_str
from .config import (OPTIONS, dump, dumps, reset_statistics, running_filename, set_config, set_state,
                     unknown_option, warn)
from .objects import Domain
from .page import Page, page_of

_OWN = ("filename", "skip", "warmup", "active", "repeat", "on_round", "wait")  # arguments of profile
_LEAST = {"skip": 0, "warmup": 0, "active": 1, "repeat": -1}
# The profile that a `with` is in, of any thread, below the key None: dict.setdefault needs no lock,
# which a fork could find taken.
_entered: Dict[None, tuple] = {}
os.register_at_fork(after_in_child=_entered.clear)  # the profile is the parent's


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = _LEAST[name] - 1
    if number < _LEAST[name]:
        raise ValueError(f"{name} is {value!r}; valid are whole numbers from {_LEAST[name]}"
                         + (", or None for all steps that follow" if name == "active" else ""))
    return number


def _times(count: int) -> str:
    return f"{count} time" if count == 1 else f"{count} times"


class profile:  # pylint: disable=invalid-name
    """Profiles what runs inside, or chosen steps of it.

    Parameters
    ----------
    filename : str
        The trace, written at the end.
    skip, warmup, active : int
        Steps to leave out, steps to run with the profiler paused, steps to record; `active` None
        records all that follow. A warning tells if fewer were recorded.
    repeat : int
        Rounds of warm-up and active steps after the first, so 1 records two; -1 until the end.
    on_round : function of this object, optional
        Called after each round, when its records are complete: there `table()` shows them with
        those of the rounds before, `table(reset=True)` each round alone.
    wait : bool
        Let pending operations end before recording begins and ends, True: else operators of other
        steps are recorded too.
    config
        Further options of set_config; aggregate_stats is on unless it is turned off or the profile
        is a ring. A trace grows as long as it is recorded, some kilobytes a call of an operator: what
        bounds it is skip and active, native_filename (a quarter of the size), or a ring:
        full_policy='ring', native_filename='last.mxp'.

    Each recorded step is a frame named 'step' of the domain 'profile'. MXNetError, from the `with`,
    if a profile is running already: there is one at a time, of all threads.
    """

    def __init__(self, filename: str = "profile.json", skip: int = 0, warmup: int = 0,
                 active: Optional[int] = None, repeat: int = 0,
                 on_round: Optional[Callable[["profile"], None]] = None, wait: bool = True,
                 **config: Any):
        self._skip, self._warmup = _whole("skip", skip), _whole("warmup", warmup)
        self._active = 0 if active is None else _whole("active", active)  # 0: all
        self._repeat = _whole("repeat", repeat)
        if self._repeat and not self._active:
            raise ValueError("repeat needs active steps: with active=None the first round never ends")
        self._on_round, self._wait = on_round, wait
        self._config = {"continuous_dump": False,
                        "aggregate_stats": config.get("full_policy") != "ring",  # it has no table
                        **config, "filename": filename}
        self._frame: Any = None  # a Frame inside of the block
        self._recording = False
        self.step_number = 0  # steps done
        self.rounds = 0  # rounds recorded
        self._native: Optional[str] = None  # the native trace
        self._done = 0  # recorded steps that step() ended

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

    def _end(self, wait: bool = True) -> None:
        if self._wait and wait:
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
            step_end()

    def _configure(self) -> None:
        for name in self._config:
            if name not in OPTIONS:
                raise unknown_option(name, _OWN + OPTIONS)
        set_config(**self._config)
        self._native = self._native_filename()

    def _claim(self) -> None:
        """The one profile there may be; what runs already stays as it is."""
        entry = (self,)
        found = _entered.setdefault(None, entry)
        if found is not entry:  # of this object too
            raise MXNetError(f"a profile to {found[0].filename!r} is running, and there is one at a "
                             "time: leave its `with` before another begins")
        running = running_filename()
        if running is not None:
            self._release()
            raise MXNetError(f"a profile to {running!r} is running, and there is one at a time: "
                             "set_state('stop') and dump() end it before another begins")

    def _release(self) -> None:
        if _entered.get(None, (None,))[0] is self:
            del _entered[None]

    def _give_up(self) -> None:
        """After a begin that failed."""
        self._frame = None
        try:
            if running_filename() is not None:
                set_state("stop")
        finally:
            self._release()

    @property
    def filename(self) -> str:
        """The trace's name, as it was given."""
        name = self._config["filename"]
        return "profile.json" if name is None else file_name_str(name)

    def _native_filename(self) -> Optional[str]:
        """The native trace of this profile; None if there is none, or its name is made when it begins."""
        name = self._config.get("native_filename")
        if name is None and self._config.get("store") == "file":
            name = os.path.splitext(self.filename)[0] + ".mxp"
        if name is None:
            return None
        name = file_name_str(name)
        return None if "%" in name else os.path.abspath(name)

    def _finish(self) -> None:
        try:
            dump(True)
        except MXNetError as error:
            if "IsEnableOutput" not in str(error):
                raise
            warn(f"dump() inside the block has finished {self.filename!r}: what was recorded after it "
                 "is not in it")

    # ---- what was missed ----------------------------------------------------------------------
    def _missed(self, in_step: bool) -> Optional[str]:
        """What the end of the block warns of, if fewer steps were recorded than asked for."""
        called = (f"step() was called {_times(self.step_number)}, skip={self._skip}"
                  + (f", warmup={self._warmup}" if self._warmup else ""))
        if not self.rounds:
            return "no step was profiled: " + called
        wanted = self._active * (self._repeat + 1 if self._repeat > 0 else 1)
        if self._done + in_step >= wanted:
            return None
        return (f"{self._done} of {wanted} active steps {'was' if self._done == 1 else 'were'} recorded"
                + (", and one that step() did not end" if in_step else "") + ": " + called)

    # ---- use ----------------------------------------------------------------------------------
    def __enter__(self) -> "profile":
        self._claim()
        try:
            self._configure()
            reset_statistics()  # the table is of what runs inside
            self._frame = Domain("profile").new_frame("step")
            self._enter_step()
        except BaseException:
            self._give_up()
            raise
        return self

    def step(self) -> None:
        """Ends a step and begins the next. MXNetError outside of the `with`."""
        if self._frame is None:
            raise MXNetError("step() of a profile belongs inside its `with`")
        self._done += self._recording
        self._leave_step()
        self.step_number += 1
        self._enter_step()

    def __exit__(self, error: Any, *details: Any) -> None:
        in_step = self._recording
        try:
            self._leave_step()
            self._frame = None
            if in_step:  # an interrupted program waits for nothing more
                self._end(wait=error is None or not issubclass(error, KeyboardInterrupt))
        finally:
            try:
                if self.rounds:
                    self._finish()
            finally:
                self._release()
        missed = self._missed(in_step) if error is None else None
        if missed is not None:
            warn(missed)

    # ---- what was recorded --------------------------------------------------------------------
    def _finished(self, what: str) -> str:
        """The native trace, complete."""
        if self._native is None:
            raise MXNetError(f"{what} reads a native trace, which this profile has not: give it one, "
                             "profile(..., native_filename='profile.mxp'), a name without %")
        if _entered.get(None, (None,))[0] is self:
            raise MXNetError(f"{what} reads the finished trace: call it after the `with`")
        return self._native

    def explain(self) -> str:
        """What made the steps slow, and what is gained without it: `mxprof explain` on the native
        trace (native_filename), after the `with`.

        Steps are those between calls of step(). MXNetError without a native trace, before the end of
        the block, and without the mxprof command.
        """
        return command.run("explain", self._finished("explain()"))

    def view(self, page: Any = None, *, size: Any = None, open_browser: bool = False) -> Page:
        """One HTML file that shows it all: `mxprof view` on the native trace (native_filename), after the `with`; by
        default beside it, with the ending .html. A notebook shows it. MXNetError as of explain().
        """
        trace = self._finished("view()")
        options = ([] if size is None else ["--size", str(size)]) + ["--open"] * bool(open_browser)
        return page_of(trace, page, *options)

    @overload
    def table(self, format: Literal["table", "json"] = ..., layout: Optional[str] = ...,
              by: Optional[str] = ..., **options: Any) -> str: ...

    @overload
    def table(self, format: Literal["dict"], layout: Optional[str] = ..., by: Optional[str] = ...,
              **options: Any) -> Dict[str, Any]: ...

    def table(self, format: str = "table",  # pylint: disable=redefined-builtin
              layout: Optional[str] = None, by: Optional[str] = None,
              **options: Any) -> Union[str, dict]:
        """A table of what was recorded.

        Parameters
        ----------
        layout : str
            'mxnet', the default: dumps(), with its options. 'report': `mxprof report` on the native
            trace, after the `with`: steps, layers, the largest operators. 'tree': its tree of scopes.
        by : str
            One table of the report: 'layer', 'scope', 'step', 'path', 'thread' or 'arg:KEY'.
        """
        layouts = ("mxnet", "report", "tree")
        if layout is None:
            layout = "mxnet" if by is None else "report"
        if layout not in layouts:
            raise ValueError(f"layout is {layout!r}; valid are " + ", ".join(map(repr, layouts)))
        if layout == "mxnet":
            if by is not None:
                raise ValueError("by= chooses a table of layout='report'; dumps() has sort_by=")
            return dumps(format=format, **options)
        if options or format != "table":
            raise ValueError("format= and dumps()'s options are those of layout='mxnet'; "
                             f"layout={layout!r} takes by=")
        if layout == "tree" and by is not None:
            raise ValueError("layout='tree' is by scope; by= belongs to layout='report'")
        chosen = ["--tree"] if layout == "tree" else [] if by is None else ["--by", by]
        return command.run("report", *chosen, self._finished("this table"))


_steps = itertools.count(1)


def step() -> None:
    """Marks the beginning of a step: what follows belongs to it in the trace and in reports."""
    core.thread_seen()
    _LIB.mxp_step(ctypes.c_uint64(next(_steps)))


def step_end() -> None:
    """Marks the end of the step that this thread has begun, before the next one begins: what follows is between steps."""
    core.thread_seen()
    _LIB.mxp_step_end()
