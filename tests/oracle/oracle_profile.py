# SPDX-License-Identifier: Apache-2.0
"""Runs all cases that have gradients with the profiler on and prints how often each operator ran, as
JSON:  oracle_profile.py LIBRARY"""
import ctypes
import json
import sys

import oracle_case
import oracle_run
import oracle_runtime


def configure(library, **settings):
    keys = (ctypes.c_char_p * len(settings))(*[key.encode() for key in settings])
    values = (ctypes.c_char_p * len(settings))(*[value.encode() for value in settings.values()])
    assert library.MXSetProcessProfilerConfig(len(settings), keys, values, None) == 0


def main(path):
    runtime = oracle_runtime.Runtime(path)
    library = runtime.library
    configure(library, aggregate_stats="true", statistics_only="true")
    assert library.MXSetProcessProfilerState(1, 0, None) == 0
    for case in oracle_case.load():
        if case.variables:
            oracle_run.run(runtime, case, case.make_inputs())
    assert library.MXSetProcessProfilerState(0, 0, None) == 0
    text = ctypes.c_char_p()
    library.MXAggregateProfileStatsPrint(ctypes.byref(text), 0, 1, 0, 0)
    operators = json.loads(text.value)["Time"]["operator"]
    print(json.dumps({name: row["Count"] for name, row in operators.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
