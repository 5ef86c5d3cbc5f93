# SPDX-License-Identifier: Apache-2.0
"""Behind watch.py: Python's functions are recorded (python_functions.c, which offers the functions_ names)."""
import sys


def follow_threads(threading):
    """Before 3.12 a hook is a thread's own."""
    run = threading.Thread._bootstrap_inner

    def bootstrap(thread):
        functions_begin()
        try:
            run(thread)
        finally:
            functions_end()

    threading.Thread._bootstrap_inner = bootstrap


def free_tool():
    """A number that no kind of tool has by custom comes first: the program's own profiler stays able to begin."""
    for number in (4, 3, 2):
        if sys.monitoring.get_tool(number) is None:
            return number
    return None


def follow_all():
    tool, events = free_tool(), sys.monitoring.events
    if tool is None:
        sys.stderr.write(f"mxprof: Python functions are not recorded: {sys.monitoring.get_tool(2)} has the hook\n")
        return
    callbacks = {events.PY_START: functions_enter, events.PY_RESUME: functions_enter, events.PY_THROW: functions_enter,
                 events.PY_RETURN: functions_leave, events.PY_YIELD: functions_leave, events.PY_UNWIND: functions_leave}
    wanted = 0
    for event in callbacks:
        wanted |= event
    if functions_with_c is not None:
        callbacks.update({events.CALL: functions_c_enter, events.C_RETURN: functions_c_leave,
                          events.C_RAISE: functions_c_leave})
        wanted |= events.CALL
    sys.monitoring.use_tool_id(tool, "mxprof")
    for event, callback in callbacks.items():
        sys.monitoring.register_callback(tool, event, callback)
    sys.monitoring.set_events(tool, wanted)


def follow_functions():
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        sys.stderr.write("mxprof: Python functions are not recorded: this Python runs without its lock\n")
    elif hasattr(sys, "monitoring"):
        follow_all()
    else:
        Watch("threading", "Python functions of other threads", follow_threads)
        functions_begin()


follow_functions()
