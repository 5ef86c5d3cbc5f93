# SPDX-License-Identifier: Apache-2.0
"""dumps() in both formats, all orders and directions, and reset, as the original's
dumps_variants.py. The work is fixed; times vary, so the order of rows is checked against the values
shown, with ties by name."""
import pytest

from harness import (expected_text, normal_json, normal_table, run_program, sections, strict_json,
                     trace_items)

WORK = """
set_config(profile_all=True, aggregate_stats=True, continuous_dump=False, filename='trace.json')
open('before_run.txt', 'w').write(dumps())
set_state('run')
dom = Domain('Dom')
for name, n, ms in (('short', 5, 1), ('long', 1, 12), ('medium', 2, 4)):
    for i in range(n):
        t = dom.new_task(name); t.start(); sleep_ms(ms * (1 + i)); t.stop()
f = dom.new_frame('f'); f.start(); sleep_ms(1); f.stop()
e = Event('a name that is longer than twenty-five characters'); e.start(); e.stop()
c = dom.new_counter('temperature')
for v in (3000, 1000, 2000):
    c.set(v)
big = dom.new_counter('big'); big.set(2147483750000)
for name in ('tie b', 'tie a', 'tie c'):
    dom.new_counter(name).set(500)
dom.mark('m')
Domain('only markers').mark('m')
set_state('stop')
"""
VARIANTS = WORK + """
for form in FORMATS:
    for key in SORT_KEYS:
        for ascending in (False, True):
            name = '%s_%s_%d' % (form, key, ascending)
            open(name, 'w').write(dumps(False, form, key, ascending))
"""
RESET = WORK + """
before = dumps(reset=True)
open('before_reset.txt', 'w').write(before)
open('after_reset.txt', 'w').write(dumps())
open('after_reset.json', 'w').write(dumps(form='json'))
set_state('run'); c.add(1); set_state('stop')
open('one_more.txt', 'w').write(dumps())
dump(True)
say('dump ok')
"""
COUNTERS = ("temperature", "big", "tie a", "tie b", "tie c")
SORT_MEMBER = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}


@pytest.fixture(name="variants", scope="module")
def make_variants(tmp_path_factory):
    directory = tmp_path_factory.mktemp("variants")
    result = run_program(VARIANTS, directory)
    assert (result.code, result.lines, result.stderr) == (0, [], "")
    return directory


def test_layout(variants):
    assert (variants / "before_run.txt").read_text() == expected_text("dumps_empty.table.txt")
    table = (variants / "table_total_0").read_text()
    assert normal_table(table, COUNTERS) == expected_text("dumps_variants.table.txt")
    text = (variants / "json_total_0").read_text()
    assert normal_json(text, COUNTERS) == expected_text("dumps_variants.json.txt")


@pytest.mark.parametrize("ascending", (False, True))
@pytest.mark.parametrize("key", SORT_MEMBER)
def test_order(variants, key, ascending):
    parsed = strict_json((variants / f"json_{key}_{ascending:d}").read_text())["Time"]
    table = sections((variants / f"table_{key}_{ascending:d}").read_text())
    assert table == {section: list(rows) for section, rows in parsed.items()}
    assert set(table) == {"Dom", "Dom,frame", "event"}
    sign = 1 if ascending else -1
    # By what is printed: durations in ms, and counters, which the original prints as ms too, as they are.
    wanted = sorted(parsed["Dom"].items(), key=lambda row: (sign * row[1][SORT_MEMBER[key]], row[0]))
    assert list(parsed["Dom"]) == [name for name, _ in wanted]


def test_reset(tmp_path):
    result = run_program(RESET, tmp_path)
    assert (result.code, result.lines, result.stderr) == (0, ["dump ok"], "")
    before = (tmp_path / "before_reset.txt").read_text()
    assert normal_table(before, COUNTERS) == expected_text("dumps_variants.table.txt")
    assert (tmp_path / "after_reset.txt").read_text() == expected_text("dumps_empty.table.txt")
    assert (tmp_path / "after_reset.json").read_text() == expected_text("dumps_empty.json.txt")
    more = (tmp_path / "one_more.txt").read_text()
    assert normal_table(more, COUNTERS) == expected_text("dumps_one_more.table.txt")
    values = [item["args"]["temperature"] for item in trace_items(tmp_path / "trace.json")
              if item["ph"] == "C" and item["name"] == "temperature"]
    assert values == [3000, 1000, 2000, 2001]


def test_csv_is_for_the_library_only(tmp_path):
    result = run_program("set_config(aggregate_stats=True, continuous_dump=False)\n"
                         "say(dumps_c(0, 2)); say(last())", tmp_path)
    assert result.lines[0] == "(-1, None)"
    assert result.lines[1].startswith("MXNetError: Invalid value for parameter format")
