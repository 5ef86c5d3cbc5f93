# SPDX-License-Identifier: Apache-2.0
"""Continuous mode with the timer, as the original's continuous.py: work between timer dumps, then
dump(False), then the finishing dump. Here the file is valid all the time and never shrinks."""
from harness import expected_text, normal_table, run_program, strict_json, trace_items

PROGRAM = """
set_config(profile_api=False, profile_memory=False, aggregate_stats=True, continuous_dump=True,
           dump_period=0.1, filename='trace.json')
set_state('run')
sizes = []
for i in range(3):
    t = Domain('D').new_task('round %d' % i); t.start(); sleep_ms(1); t.stop()
    rounds = ['round %d' % n for n in range(i + 1)]
    wait_until(lambda: os.path.exists('trace.json') and rounds == [
        item['name'] for item in load('trace.json') if item['ph'] == 'b'])
    say([item['name'] for item in load('trace.json') if item['ph'] == 'b'] == rounds)
    sizes.append(os.path.getsize('trace.json'))
dump(False)
sizes.append(os.path.getsize('trace.json'))
open('before_finish.json', 'w').write(open('trace.json').read())
set_state('stop')
dump(True)
sizes.append(os.path.getsize('trace.json'))
say(sizes == sorted(sizes))
open('table.txt', 'w').write(dumps())
"""


def names(path):
    return [item["name"] for item in trace_items(path) if item["ph"] == "b"]


def test_continuous(tmp_path):
    result = run_program(PROGRAM, tmp_path)
    assert (result.code, result.stderr) == (0, "")
    assert result.lines == ["True"] * 4
    table = (tmp_path / "table.txt").read_text()
    assert normal_table(table) == expected_text("continuous.table.txt")
    rounds = ["round 0", "round 1", "round 2"]
    assert names(tmp_path / "before_finish.json") == rounds
    assert names(tmp_path / "trace.json") == rounds


ROUNDS = """
set_config(aggregate_stats=True, continuous_dump=True, dump_period=0.01, filename='trace.json')
set_state('run')
dom = Domain('D'); c = dom.new_counter('c', 0); e = Event('e')
size = 0
for i in range(100):
    dom.mark('m'); e.start(); c.add(2); c.add(-1); e.stop()
    dump(False)
    now = os.path.getsize('trace.json')
    assert now >= size, (now, size)
    size = now
    json.load(open('trace.json'))
dump(False)
say(dumps() != '')
set_state('stop')
dump()
"""


def test_file_is_valid_and_growing_while_timer_and_calls_dump(tmp_path):
    result = run_program("import json\n" + ROUNDS, tmp_path)
    assert (result.code, result.lines, result.stderr) == (0, ["True"], "")
    items = trace_items(tmp_path / "trace.json")
    assert [item["args"]["c"] for item in items if item["name"] == "c"] == [0] + [
        value for i in range(100) for value in (i + 2, i + 1)]
    assert len([item for item in items if item["cat"] == "event"]) == 100
    strict_json((tmp_path / "trace.json").read_text())
