# SPDX-License-Identifier: Apache-2.0
"""Pause, resume, stop, and durations that begin or end on either side, as the original's pause.py.
Wanted beyond it: nothing before the first run, resume undoes no stop, and what crosses the border of
recording is cut there and says so."""
from harness import expected_text, normal_table, run_program, strict_json, trace_items

PROGRAM = """
set_config(profile_all=True, aggregate_stats=True, continuous_dump=False, filename='trace.json')
dom = Domain('D')
def task(name):
    t = dom.new_task(name); t.start(); sleep_ms(1); t.stop()
c = dom.new_counter('count')
task('before run')
c.set(1)
set_state('run')
task('running'); c.set(2)
over_in, over_out, whole, left = [dom.new_task(name) for name in (
    'begins running, ends paused', 'begins paused, ends resumed', 'spans the pause',
    'open at stop')]
whole.start(); over_in.start()
pause(); pause()
sleep_ms(5)
over_in.stop(); over_out.start()
task('paused'); c.set(3); c.add(1)
dom.mark('marker while paused')
sleep_ms(5)
resume()
over_out.stop(); whole.stop()
task('resumed'); c.add(1)
pause()
set_state('run')                 # run ends a pause
task('run after pause')
left.start()
set_state('stop')
say(outcome(left.stop))
task('stopped'); c.add(1)
resume()                         # after stop
task('resumed after stop'); c.add(1)
pause()
dump(True)
open('table.txt', 'w').write(dumps())
open('table.json', 'w').write(dumps(form='json'))
"""


def test_pause(tmp_path):
    result = run_program(PROGRAM, tmp_path)
    assert (result.code, result.lines, result.stderr) == (0, ["ok"], "")
    table = (tmp_path / "table.txt").read_text()
    assert normal_table(table, ("count",)) == expected_text("pause.table.txt")
    rows = strict_json((tmp_path / "table.json").read_text())["Time"]["D"]
    whole = rows["spans the pause"]["Max"]  # both halves and the 10 ms between
    assert rows["begins running, ends paused"]["Max"] < whole - 10
    assert rows["begins paused, ends resumed"]["Max"] < whole - 10
    items = trace_items(tmp_path / "trace.json")
    flags = {item["name"]: item.get("args", {}) for item in items if item["ph"] == "b"}
    assert flags.pop("begins running, ends paused") == {"closed": "stop"}
    assert flags.pop("begins paused, ends resumed") == {"begun": "before recording"}
    assert flags.pop("open at stop") == {"closed": "stop"}
    assert flags == {"running": {}, "spans the pause": {}, "resumed": {}, "run after pause": {}}
    assert [item["args"]["count"] for item in items if item["ph"] == "C"] == [2, 5]
    assert not [item for item in items if item["ph"] == "i"]
