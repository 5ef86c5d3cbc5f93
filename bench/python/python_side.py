# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison from Python: obeys off, on and drain as runtime_side does
(bench/runtime/runtime_side.h). Without --library it takes the mxnet that is installed, and
--floor is the folder of span_floor, which has no package behind it."""
import argparse
import ctypes
import json
import os
import pathlib
import sys

import workloads

SPANS = {"pair": workloads.start_and_stop, "with": workloads.with_span,
         "task": workloads.start_and_stop}  # of a profiler.Span, but for "task"
OPERATORS = {"plus_one": workloads.plus_one, "lenet": workloads.training_step,
             "static": workloads.static_step, "graph": workloads.graph_nodes}
TREE = pathlib.Path(__file__).resolve().parents[2]


class Report(ctypes.Structure):
    """mxp_report, see mxprof/profiler.h."""

    _fields_ = [("size_bytes", ctypes.c_uint32), ("clock_source", ctypes.c_uint32),
                ("doubles", ctypes.c_double * 3), ("records", ctypes.c_uint64),
                ("numbers", ctypes.c_uint64 * 6), ("estimated_overhead_ns", ctypes.c_double)]


def count_records(library):
    """Of the session so far; 0 if this library does not count them."""
    try:
        library.mxp_session_get.restype = ctypes.c_void_p
    except AttributeError:
        return 0
    report = Report(size_bytes=ctypes.sizeof(Report))
    session = ctypes.c_void_p(library.mxp_session_get())
    if library.mxp_session_report(session, ctypes.byref(report)) != 0:
        sys.exit("counting records failed")
    return report.records


class Floor:
    """A side that has nothing to record."""

    def __init__(self, folder, workload):
        sys.path.insert(0, folder)
        import span_floor
        self.batch = SPANS[workload](span_floor.Span())

    def set_running(self, running):
        pass

    def close(self):
        pass


class Package:
    """A side that is an mxnet, ours or the original."""

    def __init__(self, options):
        if options.library:
            os.environ["MXNET_LIBRARY_PATH"] = options.library
            os.environ["MXNET_PYTHON_CORE"] = options.core
            sys.path.insert(0, str(TREE / "python"))
        import mxnet
        self.mx = mxnet
        self.trace = f"/tmp/python-side-{os.getpid()}.json"  # a file: the original deletes devices
        mxnet.profiler.set_config(filename=self.trace, profile_all=True)
        if options.workload in SPANS:
            self.batch = SPANS[options.workload](self.make_span(options))
        else:
            self.batch = OPERATORS[options.workload](mxnet)
        self.running = self.recorded = False
        if not options.library:  # until it has run once, MXNet's tasks take four times as long
            self.set_running(True)
            self.drain()

    def make_span(self, options):
        """MXNet has only tasks."""
        if options.library and options.workload != "task":
            return self.mx.profiler.Span("span")
        return self.mx.profiler.Domain("bench").new_task("span")

    def set_running(self, running):
        if running != self.running:
            self.mx.profiler.set_state("run" if running else "stop")
            self.running = running
            self.recorded |= running

    def drain(self):
        """Writes what was recorded; how many records there were so far."""
        self.set_running(False)
        if self.recorded:
            self.mx.profiler.dump()
            self.close()
            self.recorded = False
        return count_records(self.mx.base._LIB)

    def close(self):
        pathlib.Path(self.trace).unlink(missing_ok=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workload", choices=[*SPANS, *OPERATORS])
    parser.add_argument("--library", help="our libmxnet.so")
    parser.add_argument("--core", default="extension", help="extension or ctypes")
    parser.add_argument("--floor", help="the folder of span_floor")
    return parser.parse_args()


def main():
    options = parse_arguments()
    side = Floor(options.floor, options.workload) if options.floor else Package(options)
    for line in sys.stdin:
        command = line.rstrip("\n")
        if command in ("off", "on"):
            side.set_running(command == "on")
            answer = {"ns": side.batch()}
        elif command == "drain" and not options.floor:
            answer = {"records": side.drain()}
        else:
            sys.exit(f"unknown command {command!r}")
        print(json.dumps(answer), flush=True)
    side.close()
    sys.stdout.flush()
    os._exit(0)  # the original would write a trace nobody reads


main()
