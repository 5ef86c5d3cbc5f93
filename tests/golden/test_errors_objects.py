# SPDX-License-Identifier: Apache-2.0
"""Bad and odd input to user objects, as the original's errors.py; see test_errors.py."""
import pytest

from harness import run_program, strict_json, trace_items

WITHOUT_START = " without a start on this thread: call start first"

CASES = [
    ("domain, empty name", "say(outcome(Domain, ''))",
     ["MXNetError: Check failed: name[0] != '\\0': a domain needs a name"]),
    ("domain, null name",
     "h = C.c_void_p(); show(L.MXProfileCreateDomain(None, C.byref(h))); say(last())",
     ["-> -1", "MXNetError: Check  notnull: domain"]),
    ("task, null domain",
     "h = C.c_void_p(); show(L.MXProfileCreateTask(None, b't', C.byref(h))); say(last())",
     ["-> -1", "MXNetError: Check  notnull: domain"]),
    ("frame, null domain",
     "h = C.c_void_p(); show(L.MXProfileCreateFrame(None, b'f', C.byref(h))); say(last())",
     ["-> -1", "MXNetError: Check  notnull: domain"]),
    ("counter, null domain",
     "h = C.c_void_p(); show(L.MXProfileCreateCounter(None, b'c', C.byref(h))); say(last())",
     ["-> -1", "MXNetError: Check  notnull: domain"]),
    ("marker, null domain", "show(L.MXProfileSetMarker(None, b'm', b'process')); say(last())",
     ["-> -1", "MXNetError: Check  notnull: domain"]),
    ("null names",
     "d = Domain('D').handle; h = C.c_void_p(); o = C.byref(h)\n"
     "show([L.MXProfileCreateTask(d, None, o), L.MXProfileCreateFrame(d, None, o),\n"
     "      L.MXProfileCreateEvent(None, o), L.MXProfileCreateCounter(d, None, o),\n"
     "      L.MXProfileSetMarker(d, None, b'task'), L.MXProfileSetMarker(d, b'm', None)])",
     ["-> [-1, -1, -1, -1, -1, -1]"]),
    ("null out",
     "d = Domain('D').handle\n"
     "show([L.MXProfileCreateDomain(b'D', None), L.MXProfileCreateTask(d, b't', None),\n"
     "      L.MXProfileCreateFrame(d, b'f', None), L.MXProfileCreateEvent(b'e', None),\n"
     "      L.MXProfileCreateCounter(d, b'c', None)]); say(last())",
     ["-> [-1, -1, -1, -1, -1]", "MXNetError: Check  notnull: out"]),
    ("task, empty name",
     "run(); t = Domain('D').new_task(''); t.start(); t.stop(); finish()", ["   D ''"]),
    ("event, empty name", "run(); e = Event(''); e.start(); e.stop(); finish()", ["   event ''"]),
    ("task stop without start", "run(); say(outcome(Domain('D').new_task('t').stop)); finish()",
     ["MXNetError: stop of t" + WITHOUT_START]),
    ("event stop without start", "run(); say(outcome(Event('e').stop)); finish()",
     ["MXNetError: stop of e" + WITHOUT_START]),
    ("frame stop without start", "run(); say(outcome(Domain('D').new_frame('f').stop)); finish()",
     ["MXNetError: stop of f" + WITHOUT_START]),
    ("task start twice",
     "run(); t = Domain('D').new_task('t'); t.start(); sleep_ms(30); t.start(); sleep_ms(3)\n"
     "t.stop(); t.destroy(); set_state('stop'); dump(); d = durations_ms()['t']\n"
     "say(len(d), 3 <= d[0] < 30)", ["1 True"]),
    ("task stop twice",
     "run(); t = Domain('D').new_task('t'); t.start(); t.stop(); say(outcome(t.stop)); finish()",
     ["MXNetError: stop of t" + WITHOUT_START, "   D 't'"]),
    ("task started twice recursively",
     "run(); t = Domain('D').new_task('t'); t.start(); sleep_ms(10); t.start(); sleep_ms(5); t.stop()\n"
     "sleep_ms(5); t.stop(); set_state('stop'); dump(); d = durations_ms()['t']\n"
     "say(len(d), d[0] >= 5, d[1] - d[0] >= 15)", ["2 True True"]),
    ("counter, 2**64-1 is a value",
     "run(); c = Domain('D').new_counter('c', 2**64 - 1); say(outcome(c.add, 1)); finish()",
     ["MXNetError: counter c would pass 2^64-1: it stays there",
      "   D 'c' 18446744073709551615", "   D 'c' 18446744073709551615"]),
    ("counter below zero",
     "run(); c = Domain('D').new_counter('c', 1); say(outcome(c.add, -3)); finish()",
     ["MXNetError: counter c would fall below zero (1 - 3): it stays at 0",
      "   D 'c' 1", "   D 'c' 0"]),
    ("counter 2**63", "run(); Domain('D').new_counter('c', 2**63); finish()",
     ["   D 'c' 9223372036854775808"]),
    ("counter INT64_MIN",
     "run(); c = Domain('D').new_counter('c', 2**63 + 5); c.add(-2**63); finish()",
     ["   D 'c' 9223372036854775813", "   D 'c' 5"]),
    ("counter increment negative",
     "run(); c = Domain('D').new_counter('c', 5); c.add(-2); finish()", ["   D 'c' 5", "   D 'c' 3"]),
    ("counter 3000000000",
     "run(); c = Domain('D').new_counter('c'); c.set(3000000000); c.add(2147483648); finish()",
     ["   D 'c' 3000000000", "   D 'c' 5147483648"]),
    ("counter of the original's unit test",
     "run(); c = Domain('D').new_counter('c'); c.set(5)\n"
     "for i in range(50002):\n    c.add(1)\n    if i >= 3: c.add(-1)\n"
     "set_state('stop'); dump(); say([i['args']['c'] for i in load('t.json')][-1])", ["8"]),
    ("marker bad scope", "say(outcome(Domain('D').mark, 'm', 'bad'))",
     ["MXNetError: Invalid Input: 'bad', valid values are: {'global', 'marker', 'process', 'task', "
      "'thread'}"]),
    ("long name, whole",
     "run(); t = Domain('D').new_task('n' * 200); t.start(); t.stop(); finish()",
     ["   D '" + "n" * 200 + "'"]),
    ("long UTF-8 name, whole",
     "run(); t = Domain('D').new_task('\\u00e4' * 80); t.start(); t.stop()\n"
     "set_state('stop'); dump(); say(load('t.json')[0]['name'] == '\\u00e4' * 80)", ["True"]),
    ("10 MB name",
     "run(); t = Domain('D').new_task('n' * 10_000_000); t.start(); t.stop()\n"
     "set_state('stop'); dump(); say(len(load('t.json')[0]['name'])); say(len(dumps()) > 10_000_000)",
     ["10000000", "True"]),
    ("quote in name",
     "run(); t = Domain('a \"D\"').new_task('say \"hi\"'); t.start(); t.stop(); finish()",
     ["   a \"D\" 'say \"hi\"'"]),
    ("backslash in name",
     "run(); t = Domain('D').new_task('a\\\\b'); t.start(); t.stop(); finish()", ["   D 'a\\\\b'"]),
    ("newline in name",
     "run(); t = Domain('D').new_task('a\\nb\\x01'); t.start(); t.stop(); finish()",
     ["   D 'a\\nb\\x01'"]),
    ("invalid UTF-8 in name",
     "run(); h = C.c_void_p(); L.MXProfileCreateEvent(b'a\\xffb', C.byref(h))\n"
     "L.MXProfileDurationStart(h); L.MXProfileDurationStop(h); set_state('stop'); dump()\n"
     "say(ascii(load('t.json')[0]['name']))", ["'a\\ufffdb'"]),
    ("same domain name twice",
     "run(); a = Domain('D').new_task('a'); b = Domain('D').new_task('b'); a.start(); a.stop()\n"
     "b.start(); b.stop(); finish()", ["   D 'a'", "   D 'b'"]),
    ("destroy null", "show(L.MXProfileDestroyHandle(None)); say(last())",
     ["-> -1", "MXNetError: Check failed: object_handle != static_cast<ProfileHandle>(nullptr) (0 "
      "vs. 0) : Invalid NULL handle passed to MXProfileDestroyHandle"]),
    ("destroy domain",
     "run(); d = Domain('D'); d.destroy(); d.mark('m'); finish()", ["   D,instant_marker 'm'"]),
    ("destroy twice",
     "e = Event('e'); e.destroy(); say(outcome(e.destroy)); say(outcome(e.start))",
     ["MXNetError: this event was destroyed: its handle must not be used again"] * 2),
    ("destroy keeps records",
     "run(); e = Event('e'); e.start(); e.stop(); e.destroy(); finish()", ["   event 'e'"]),
    ("start null", "show(L.MXProfileDurationStart(None)); say(last())",
     ["-> -1", "MXNetError: Check  notnull: duration_handle"]),
    ("stop null", "show(L.MXProfileDurationStop(None)); say(last())",
     ["-> -1", "MXNetError: Check  notnull: duration_handle"]),
    ("set counter null", "show(L.MXProfileSetCounter(None, 1)); say(last())",
     ["-> -1", "MXNetError: Check  notnull: counter_handle"]),
    ("adjust counter null", "show(L.MXProfileAdjustCounter(None, 1)); say(last())",
     ["-> -1", "MXNetError: Check  notnull: counter_handle"]),
    ("wrong types",
     "d = Domain('D'); c = d.new_counter('c'); e = Event('e'); h = C.c_void_p()\n"
     "show([L.MXProfileDurationStart(c.handle), L.MXProfileDurationStop(d.handle),\n"
     "      L.MXProfileSetCounter(e.handle, 1), L.MXProfileAdjustCounter(d.handle, 1),\n"
     "      L.MXProfileCreateTask(e.handle, b't', C.byref(h)),\n"
     "      L.MXProfileSetMarker(c.handle, b'm', b'task')])",
     ["-> [-1, -1, -1, -1, -1, -1]"]),
    ("handles that were never made",
     "show([L.MXProfileDurationStart(C.c_void_p(v)) for v in (1, 64, 2**64 - 1, id(C))])",
     ["-> [-1, -1, -1, -1]"]),
]


@pytest.mark.parametrize("source, printed", [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])
def test_case(source, printed, tmp_path):
    result = run_program(source, tmp_path)
    assert (result.code, result.stderr) == (0, "")
    assert result.lines == printed
    if (tmp_path / "t.json").exists():
        trace_items(tmp_path / "t.json")


def test_names_are_escaped_in_the_json_table(tmp_path):
    source = "run(); t = Domain('D').new_task('say \"hi\"\\n\\\\'); t.start(); t.stop()\n" \
        "set_state('stop'); print(dumps(form='json'))"
    parsed = strict_json("\n".join(run_program(source, tmp_path).lines))
    assert list(parsed["Time"]["D"]) == ['say "hi"\n\\']
