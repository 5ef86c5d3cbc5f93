# SPDX-License-Identifier: Apache-2.0
"""Configuration, state and output of the profiler."""
import ctypes
import inspect
import json
import os
import sys
import warnings
from typing import Any, Dict, Iterable, Literal, Optional, Union, overload

from ..base import (_LIB, KVStoreHandle, MXNetError, _Null, c_file_name, c_str_array, check_call,
                    did_you_mean, file_name_str, py_str)
from . import garbage, owner_rows

profiler_kvstore_handle = KVStoreHandle()

_STATES = {"stop": 0, "run": 1}
_PROCESSES = {"worker": 0, "server": 1}
_FORMATS = {"table": 0, "json": 1, "dict": 1}
_SORT_KEYS = {"total": 0, "avg": 1, "min": 2, "max": 3, "count": 4}
_SWITCH = {False: 0, True: 1}
# Options whose value may be any text; None leaves them out.
_TEXTS = {"filename", "native_filename", "snapshot_filename", "snapshot_counter",
          "gpu_memory_profile_filename_prefix", "run_commit", "run_label",
          "distributed_detail", "distributed_ranks"}
_warned: set = set()  # whether the statistics were on, of warnings that come once a process


def set_kvstore_handle(handle: KVStoreHandle) -> None:
    """Remembers the store whose servers `profile_process='server'` means; None for none."""
    global profiler_kvstore_handle
    profiler_kvstore_handle = KVStoreHandle() if handle is None else handle


def _number_of(value: Any, numbers: Dict[str, int], option: str) -> int:
    """KeyError that names the option and the valid values."""
    try:
        return numbers[value]
    except (KeyError, TypeError):
        raise KeyError(f"{option} is {value!r}; valid are: "
                       + ", ".join(map(repr, numbers))) from None


def set_config(*, filename: Any = _Null, gpu_memory_profile_filename_prefix: Any = _Null,
               profile_all: Any = _Null, profile_symbolic: Any = _Null, profile_imperative: Any = _Null,
               profile_memory: Any = _Null, profile_api: Any = _Null, continuous_dump: Any = _Null,
               dump_period: Any = _Null, aggregate_stats: Any = _Null, profile_process: Any = _Null,
               trace_limit_bytes: Any = _Null, keep_crashed: Any = _Null, native_filename: Any = _Null,
               store: Any = _Null, full_policy: Any = _Null, memory_limit_bytes: Any = _Null,
               statistics_only: Any = _Null, snapshot_filename: Any = _Null, snapshot_ms: Any = _Null,
               snapshot_signal: Any = _Null, snapshot_step_factor: Any = _Null,
               snapshot_counter: Any = _Null, info_command: Any = _Null, names_limit: Any = _Null,
               emit: Any = _Null, step_cpu: Any = _Null, run_commit: Any = _Null, run_label: Any = _Null,
               distributed_detail: Any = _Null, distributed_ranks: Any = _Null, **unknown: Any) -> None:
    """Configures the profiler; what is left out, and a file name of None, returns to its default.

    Parameters
    ----------
    filename : str or path
        The Chrome trace, 'profile.json'; 'none': no such file. Made absolute when it is set; %p is the process, %t its
        start, %n the program, %h the host. Beside a native trace or a ring it is written only if it is given.
    gpu_memory_profile_filename_prefix : str
        The table of allocations, written beside each dump as PREFIX-pid_PID.csv; none by default.
    profile_all, profile_symbolic, profile_imperative, profile_memory, profile_api : bool
        Classes of records; each is on unless it is turned off.
    continuous_dump : bool
        Write to the file while running, True.
    dump_period : float
        Seconds between such writes, 1.
    aggregate_stats : bool
        Keep the statistics that `dumps` shows, False.
    profile_process : str
        'worker', or 'server' for the servers of a distributed key-value store.
    native_filename : str or path
        What the `mxprof` command reads (*.mxp); none by default, with store='file' `filename` with that ending.
    store : str
        'memory', until records are written, or 'file': in the native trace from the first one on, whatever ends the process.
    full_policy : str
        Of a full memory: 'grow' up to the limit, 'drop' what is new, or 'ring': keep the newest.
    memory_limit_bytes : int or str
        Most bytes of records, as 67108864 or '64M'; 1 GiB, or a quarter of what the process may take if that is less.
    trace_limit_bytes : int or str
        Most bytes of the Chrome trace, 1 GiB; 0: no limit.
    keep_crashed : int
        How many recording files of processes that died are kept under another name, 5.
    statistics_only : bool
        Keep the statistics and no trace, False.
    snapshot_filename : str or path
        Of snapshots that are given no name, 'snapshot.mxp'; process and number are added.
    snapshot_ms : float
        How many milliseconds back a snapshot reaches that one of the next three takes, 10000.
    snapshot_signal : bool, int or str
        Take one when SIGUSR2 comes, or the signal of this number or 'RTMIN+1', False.
    snapshot_step_factor : float
        Take one after a step that took this many times the median, 0: never. In a distributed program every
        process takes one then, into a folder that is made for it.
    snapshot_counter : str
        Take one when a counter rises above a value, as 'domain:name>100'; none by default.
    info_command : str
        How much outputs tell of the command line: 'no', 'name', 'all'; 'default' is 'name' with store='file', else 'all'.
    names_limit : int
        Most different names, 1000000; later ones are recorded as '<names full>'.
    emit : str
        Send records to VTune ('itt') or Nsight Systems ('nvtx') as well; 'auto', or 'off'.
    step_cpu : bool
        Record CPU time and run delay at each step, True.
    run_label, run_commit : str
        What the run is called and what was run, lines of `mxprof info`; none by default.
    distributed_detail : str
        Of a distributed store: 'rounds', 'messages' or 'statistics'.
    distributed_ranks : str, int or list of int
        The workers that record so much of it, or 'all'; the others count statistics. Of more than 32 workers 16 do so
        where nobody says.

    Raises
    ------
    MXNetError
        For an unknown option or a value that does not fit; the message lists what is valid.
    """
    given = {key: value for key, value in locals().items() if key in OPTIONS and value is not _Null}
    if isinstance(distributed_ranks, (int, list, tuple)):
        ranks = [distributed_ranks] if isinstance(distributed_ranks, int) else distributed_ranks
        given["distributed_ranks"] = ",".join(map(str, ranks))
    if unknown:
        raise unknown_option(next(iter(unknown)), OPTIONS)
    options = {key: file_name_str(value) if key in _TEXTS else str(value)
               for key, value in given.items() if value is not None or key not in _TEXTS}
    check_call(_LIB.MXSetProcessProfilerConfig(
        len(options), c_str_array(options), c_str_array(options.values()), profiler_kvstore_handle))
    if options.get("profile_process") == "server":
        owner_rows.configured(options.get("filename"))


OPTIONS = tuple(inspect.signature(set_config).parameters)[:-1]


def unknown_option(name: str, options: Iterable[str]) -> MXNetError:
    """For an option that there is not: the closest, then all."""
    return MXNetError(f"Cannot find argument {name!r}{did_you_mean(name, options)} Possible Arguments: "
                      f"{', '.join(dict.fromkeys(options))}. help(mx.profiler.set_config) says what they are")


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """Deprecated: set_config(profile_MODE=True, filename=...). `mode`: 'symbolic' or 'all'."""
    warnings.warn("profiler.profiler_set_config() is deprecated. "
                  "Please use profiler.set_config() instead", stacklevel=2)
    set_config(**{"profile_" + mode: True, "filename": filename})


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """'run' records from now on and ends a pause; 'stop' ends recording.

    KeyError for another state or process.
    """
    check_call(_LIB.MXSetProcessProfilerState(
        _number_of(state, _STATES, "state"),
        _number_of(profile_process, _PROCESSES, "profile_process"), profiler_kvstore_handle))
    if profile_process == "worker":
        owner_rows.running(running_filename())
    garbage.follow()


def profiler_set_state(state: str = "stop") -> None:
    """Deprecated: set_state."""
    warnings.warn("profiler.profiler_set_state() is deprecated. "
                  "Please use profiler.set_state() instead", stacklevel=2)
    set_state(state)


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Writes what was recorded to the file; `finished` (only True itself is) closes it.

    MXNetError if the profiler has not run since it was closed, or the file cannot be written.
    """
    check_call(_LIB.MXDumpProcessProfile(
        int(finished is True), _number_of(profile_process, _PROCESSES, "profile_process"),
        profiler_kvstore_handle))
    if profile_process == "server":
        owner_rows.server_dumped(profiler_kvstore_handle)
    else:
        owner_rows.worker_dumped(finished is True)


def dump_profile() -> None:
    """Deprecated: dump(True)."""
    warnings.warn("profiler.dump_profile() is deprecated. "
                  "Please use profiler.dump() instead", stacklevel=2)
    dump(True)


def pause(profile_process: str = "worker") -> None:
    """Records nothing until resume() or set_state('run'). Does not nest."""
    check_call(_LIB.MXProcessProfilePause(
        1, _number_of(profile_process, _PROCESSES, "profile_process"), profiler_kvstore_handle))
    garbage.watch(False)


def resume(profile_process: str = "worker") -> None:
    """Ends a pause, never a stop."""
    check_call(_LIB.MXProcessProfilePause(
        0, _number_of(profile_process, _PROCESSES, "profile_process"), profiler_kvstore_handle))
    garbage.follow()


def _session() -> ctypes.c_void_p:
    _LIB.mxp_session_get.restype = ctypes.c_void_p
    return ctypes.c_void_p(_LIB.mxp_session_get())


def running_filename() -> Optional[str]:
    """The trace that is being recorded, whoever began it; None between stop and run."""
    name = ctypes.create_string_buffer(4096)
    running = _LIB.mxp_session_is_running(_session(), name, ctypes.c_size_t(len(name)))
    return os.fsdecode(name.value) if running == 1 else None


def snapshot(filename: Optional[str] = None, last_ms: float = 0, profile_process: str = "worker") -> None:
    """Writes the newest records to a file of their own; recording continues, nothing is consumed.

    Parameters
    ----------
    filename : str, optional
        A native trace, or Chrome's if it ends in .json; by default the next name of the option
        snapshot_filename: 'snapshot.PID.1.mxp', 'snapshot.PID.2.mxp' ...
    last_ms : float
        How far back it reaches, in milliseconds; 0 for everything that is held.
    profile_process : str
        'worker' for this process; 'all' for every process of its distributed program, also one that is
        stuck: each writes to its own file, whose name has its role and rank before its last part
        ('runs/worker0_last.mxp'), and this returns before they have.

    Raises
    ------
    MXNetError
        If the file cannot be written, last_ms is negative, or there are no other processes.
    """
    name = None if filename is None else c_file_name(filename)
    if profile_process == "all":
        check_call(_LIB.MXKVStoreSnapshotAll(name, ctypes.c_double(last_ms)))
        return
    if profile_process != "worker":
        raise ValueError(f"profile_process is {profile_process!r}: 'worker' and 'all' are valid")
    check_call(_LIB.mxp_session_snapshot(_session(), name, ctypes.c_double(last_ms)))


def _check_valid(name: str, value: Any, valid: Dict[Any, int]) -> None:
    try:
        known = value in valid
    except TypeError:
        known = False
    if not known:  # the original's is an assert, which python -O leaves out
        raise AssertionError(f"Invalid value provided for {name}: {value}. Support: "
                             + ", ".join(map(repr, valid)))


@overload
def dumps(reset: bool = ..., format: Literal["table", "json"] = ..., sort_by: str = ...,
          ascending: bool = ...) -> str: ...


@overload
def dumps(reset: bool = ..., *, format: Literal["dict"], sort_by: str = ...,
          ascending: bool = ...) -> Dict[str, Any]: ...


@overload
def dumps(reset: bool, format: Literal["dict"], sort_by: str = ...,
          ascending: bool = ...) -> Dict[str, Any]: ...


@overload
def dumps(reset: bool = ..., format: str = ..., sort_by: str = ...,
          ascending: bool = ...) -> Union[str, Dict[str, Any]]: ...


def dumps(reset: bool = False, format: str = "table",  # pylint: disable=redefined-builtin
          sort_by: str = "total", ascending: bool = False) -> Union[str, Dict[str, Any]]:
    """The statistics since they were turned on (aggregate_stats) or last reset.

    Parameters
    ----------
    reset : bool
        Empty them afterwards.
    format : str
        'table', 'json' (text) or 'dict' (the JSON as Python's objects; {} if they are off).
    sort_by : str
        'total', 'avg', 'min', 'max' or 'count': what orders the rows of a section.
    ascending : bool
        The smallest first.

    Without a row to show it warns, once a process, and says why.

    Raises
    ------
    AssertionError
        For another value; the message lists the valid ones.
    """
    _check_valid("format", format, _FORMATS)
    _check_valid("sort_by", sort_by, _SORT_KEYS)
    _check_valid("ascending", ascending, _SWITCH)
    _check_valid("reset", reset, _SWITCH)
    shown = _statistics(_SWITCH[reset], _FORMATS[format], _SORT_KEYS[sort_by], _SWITCH[ascending])
    has_rows = ("Total Count" if format == "table" else '"Count"') in shown
    if not (has_rows or shown and reset):  # a program that empties an empty table does not look at it
        _warn_of_no_rows(shown)
    return (json.loads(shown) if shown else {}) if format == "dict" else shown


def _statistics(reset: int, form: int, key: int, ascending: int) -> str:
    text = ctypes.c_char_p()
    check_call(_LIB.MXAggregateProfileStatsPrint(ctypes.byref(text), reset, form, key, ascending))
    return py_str(text.value or b"")


def reset_statistics() -> None:
    """Empties what dumps() shows."""
    _statistics(1, 0, 0, 0)


def warn(text: str) -> None:
    """A warning at the line of the program from which the package was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mxnet."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _warn_of_no_rows(shown: str) -> None:
    """Warns the caller of dumps(), because an empty table looks like a broken profiler."""
    is_on = bool(shown)
    if is_on in _warned:
        return
    _warned.add(is_on)
    warn("dumps() has no rows: nothing was recorded since the statistics were turned on or reset; "
         "set_state('run') begins to record" if is_on else
         "dumps() is empty: set_config(aggregate_stats=True) before the run; a ring has no table, "
         "`mxprof report` makes one of its file")
