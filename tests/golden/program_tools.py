# SPDX-License-Identifier: Apache-2.0
"""Short words for the programs of the golden tests; everything they print is compared."""
import itertools
import json
import os
import sys
import time

import profiler_api as api

_numbers = itertools.count(1)


def say(*values):
    print(*values)
    sys.stdout.flush()


def show(value):
    say("->", repr(value))


def outcome(function, *arguments, **pairs):
    """'ok', or the first line of the error."""
    try:
        function(*arguments, **pairs)
    except api.MXNetError as error:
        return str(error).split("\n", maxsplit=1)[0]
    return "ok"


def config(**pairs):
    """set_config for one short profile of user objects, written once."""
    api.set_config(**{"aggregate_stats": True, "continuous_dump": False, "filename": "t.json",
                      "profile_api": False, **pairs})


def run(**pairs):
    config(**pairs)
    api.set_state("run")


def work():
    """One task, one event and a counter sample, numbered so that files show which they hold."""
    number = next(_numbers)
    domain = api.Domain("Work")
    task, event = domain.new_task(f"work {number}"), api.Event("step")
    task.start()
    event.start()
    domain.new_counter("amount", number)
    event.stop()
    task.stop()


def load(path):
    """The items that stand for the program's own records."""
    with open(path, encoding="utf-8") as file:
        return [item for item in json.load(file)["traceEvents"]
                if item["ph"] != "M" and item["cat"] != "mxprof"]


def works(path="t.json"):
    """The numbers of the works a file holds."""
    return sorted(int(item["name"].split()[1]) for item in load(path)
                  if item["ph"] in "bX" and item["name"].startswith("work "))


def files():
    """Trace file -> the works it holds."""
    return {name: works(name) for name in sorted(os.listdir(".")) if name.endswith(".json")}


def finish(path="t.json"):
    """Stops, writes, and prints what a file holds: one line a duration, sample or instant, by
    the time they began."""
    api.set_state("stop")
    api.dump()
    for item in sorted(load(path), key=lambda item: item["ts"]):
        if item["ph"] == "e":
            continue
        value = f" {item['args'][item['name']]}" if item["ph"] == "C" else ""
        say(f"   {item['cat']} {item['name']!r}{value}")


def durations_ms(path="t.json"):
    """Name -> durations, in the order of the file."""
    found, begins = {}, {}
    for item in load(path):
        key = (item["name"], item.get("id2", {}).get("local"))
        if item["ph"] == "X":
            found.setdefault(item["name"], []).append(item["dur"] / 1000)
        elif item["ph"] == "b":
            begins[key] = item["ts"]
        elif item["ph"] == "e":
            found.setdefault(item["name"], []).append((item["ts"] - begins[key]) / 1000)
    return found


def wait_until(condition, seconds=20):
    """For what the background thread does when the machine lets it. A file that it is just
    writing may be read half: that counts as not yet."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if condition():
                return
        except ValueError:
            pass
        time.sleep(0.02)


def sleep_ms(milliseconds):
    time.sleep(milliseconds / 1000)
