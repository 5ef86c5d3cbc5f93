# SPDX-License-Identifier: Apache-2.0
"""The profiler: what to record, when, the file, the table, and marks of the program's own.

    mx.profiler.set_config(filename='trace.json', aggregate_stats=True)
    mx.profiler.set_state('run')
    ...
    mx.nd.waitall()
    mx.profiler.set_state('stop')
    print(mx.profiler.dumps())
    mx.profiler.dump()
"""
from . import config
from .config import (dump, dump_profile, dumps, pause, profiler_set_config, profiler_set_state,
                     resume, set_config, set_kvstore_handle, set_state, snapshot)
from .objects import Counter, Domain, Event, Frame, Marker, Span, Task
from .schedule import profile, step, step_end
from .scopes import _current_scope, scope
from .page import view

__all__ = ["set_config", "set_state", "dump", "dumps", "pause", "resume", "Domain", "Task",
           "Frame", "Event", "Span", "Counter", "Marker", "scope", "profile", "step", "step_end",
           "snapshot", "set_kvstore_handle", "profiler_set_config", "profiler_set_state",
           "dump_profile", "view"]


def __getattr__(name: str):
    if name == "profiler_kvstore_handle":
        return config.profiler_kvstore_handle
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
