# SPDX-License-Identifier: Apache-2.0
"""Every kind of user object from two threads: trace, table and JSON as the original's objects.py,
with the documented differences (plain counter values, no sections of markers alone)."""
import collections

from harness import (expected_text, normal_json, normal_table, run_program, sections, strict_json,
                     trace_items)

PROGRAM = """
set_config(profile_api=False, aggregate_stats=True, continuous_dump=False, filename='trace.json')
set_state('run')
dom, other = Domain('Dom'), Domain('Other Domain')
task, frame, event = dom.new_task('task1'), dom.new_frame('frame1'), Event('event1')
counter = dom.new_counter('counter1', 5)
bare = other.new_counter('counter without value')
task.start(); sleep_ms(2)
frame.start(); sleep_ms(1)
event.start(); sleep_ms(1)
for delta in (10, -3, 100, -50): counter.add(delta)
counter.set(7)
bare.add()
for scope in ('global', 'process', 'thread', 'task', 'marker'): dom.mark('marker1', scope)
dom.mark('marker1')
event.stop(); frame.stop(); task.stop()
task.start(); sleep_ms(1); task.stop()          # the same object again
def on_a_thread():
    t = other.new_task('task of a thread')
    t.start(); sleep_ms(3); t.stop()
    e = Event('event1')
    e.start(); sleep_ms(1); e.stop()
thread = threading.Thread(target=on_a_thread)
thread.start(); thread.join()
outer, inner = dom.new_task('outer'), dom.new_task('inner')
outer.start(); inner.start(); sleep_ms(1); inner.stop(); outer.stop()
a, b = dom.new_task('overlap a'), dom.new_task('overlap b')
a.start(); b.start(); sleep_ms(1); a.stop(); b.stop()
set_state('stop')
dump(True)
open('table.txt', 'w').write(dumps())
open('table.json', 'w').write(dumps(form='json'))
"""
COUNTERS = ("counter1", "counter without value")


def run(directory):
    result = run_program(PROGRAM, directory)
    assert (result.code, result.lines, result.stderr) == (0, [], "")


def test_objects(tmp_path):
    run(tmp_path)
    table = (tmp_path / "table.txt").read_text()
    assert normal_table(table, COUNTERS) == expected_text("objects.table.txt")
    text = (tmp_path / "table.json").read_text()
    assert normal_json(text, COUNTERS) == expected_text("objects.json.txt")
    check_order(table, strict_json(text))
    check_trace(trace_items(tmp_path / "trace.json"))


def check_order(table, parsed):
    """Rows stand by falling totals, the same in both forms."""
    for section, names in sections(table).items():
        rows = parsed["Time"][section]
        assert list(rows) == names
        durations = [row["Total"] for name, row in rows.items() if name not in COUNTERS]
        assert durations == sorted(durations, reverse=True)
    for rows in parsed["Time"].values():
        for name, row in rows.items():
            assert row["Min"] <= row["Avg"] <= row["Max"], name
            if name not in COUNTERS:
                assert abs(row["Total"] / row["Count"] - row["Avg"]) < 1e-5
    assert parsed["Time"]["Dom"]["task1"]["Min"] >= 1
    assert parsed["Time"]["Dom"]["task1"]["Max"] >= 4
    assert parsed["Time"]["Other Domain"]["task of a thread"]["Total"] >= 3


def check_trace(items):
    """What golden/objects.seq.txt lists: names, categories, values, order on one thread."""
    count = collections.Counter((item["cat"], item["name"]) for item in items if item["ph"] in "Xb")
    assert count == {("Dom", "task1"): 2, ("Dom,frame", "frame1"): 1, ("event", "event1"): 2,
                     ("Other Domain", "task of a thread"): 1, ("Dom", "outer"): 1,
                     ("Dom", "inner"): 1, ("Dom", "overlap a"): 1, ("Dom", "overlap b"): 1}
    samples = [(item["name"], item["args"][item["name"]])
               for item in sorted(items, key=lambda item: item["ts"]) if item["ph"] == "C"]
    assert samples == [("counter1", value) for value in (5, 15, 12, 112, 62, 7)] \
        + [("counter without value", 1)]
    markers = [item["s"] for item in sorted(items, key=lambda item: item["ts"])
               if item["ph"] == "i"]
    assert markers == ["g", "p", "t", "p", "p", "p"]
    assert {(item["cat"], item["name"]) for item in items if item["ph"] == "i"} == {
        ("Dom,instant_marker", "marker1")}
    check_nesting(items)


def check_nesting(items):
    ends = {item["id2"]["local"]: item["ts"] for item in items if item["ph"] == "e"}
    spans = {item["name"]: (item["ts"], ends[item["id2"]["local"]]) for item in items if item["ph"] == "b"}
    event = min((item for item in items if item["ph"] == "X"), key=lambda item: item["ts"])
    spans["event1"] = (event["ts"], event["ts"] + event["dur"])
    for inner, outer in (("event1", "frame1"), ("inner", "outer")):
        assert spans[outer][0] < spans[inner][0] < spans[inner][1] < spans[outer][1]
    a, b = spans["overlap a"], spans["overlap b"]
    assert a[0] < b[0] < a[1] < b[1]
    assert next(i for i in items if i["name"] == "frame1" and i["ph"] == "b")["args"]["frame"] == 1
