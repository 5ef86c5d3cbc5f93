# SPDX-License-Identifier: Apache-2.0
"""The original's 28 call sequences after which a trace file may be read: at every point the file is
strictly valid JSON and holds exactly the works it should, or is not there yet; exit is prompt. So it is
with each store, and with a ring, which keeps no table and is written only when it is asked for."""
import pytest

from harness import run_program, strict_json, trace_items

WORDS = """
ring = os.environ.get('MXPROF_FULL_POLICY') == 'ring'
def cfg(cont, name='p.json', period=1.0):
    set_config(profile_all=True, aggregate_stats=not ring, continuous_dump=bool(cont),
               dump_period=period, filename=name)
def on(): set_state('run')
def off(): set_state('stop')
def write(finished): say('dump', outcome(dump, finished))
def check(name='p.json'): say(name, works(name) if os.path.exists(name) else 'no file')
def soon(wanted, name='p.json'):
    if ring: dump(False)
    wait_until(lambda: os.path.exists(name) and works(name) == wanted); check(name)
"""
NOT_RUN = "dump MXNetError: Check failed: profiler->IsEnableOutput(): Profiler hasn't been run. " \
    "Config and start profiler first"

# Name, program, what it prints, the works in the files after exit.
CASES = [
    ("single: run, work, stop, dump(True)",
     "cfg(0); on(); work(); off(); write(True); check()",
     ["dump ok", "p.json [1]"], {"p.json": [1]}),
    ("single: run, work, stop, dump(False)",
     "cfg(0); on(); work(); off(); write(False); check()",
     ["dump ok", "p.json [1]"], {"p.json": [1]}),
    ("single: dumps before the dump leaves the file alone",
     "cfg(0); on(); work(); off(); dumps(); check(); write(True); check()",
     ["p.json no file", "dump ok", "p.json [1]"], {"p.json": [1]}),
    ("single: dump without stop, more work, stop, dump",
     "cfg(0); on(); work(); write(True); check(); work(); off(); write(True); check()",
     ["dump ok", "p.json [1]", NOT_RUN, "p.json [1]"], {"p.json": [1]}),
    ("single: two runs, two dumps",
     "cfg(0); on(); work(); off(); write(True); check(); on(); work(); off(); write(True); check()",
     ["dump ok", "p.json [1]", "dump ok", "p.json [2]"], {"p.json": [2]}),
    ("single: two runs, set_config with the same name between",
     "cfg(0); on(); work(); off(); write(True); check(); cfg(0); check(); on(); work(); off();"
     "write(True); check()",
     ["dump ok", "p.json [1]", "p.json [1]", "dump ok", "p.json [2]"], {"p.json": [2]}),
    ("single: two runs, set_config with another name between",
     "cfg(0); on(); work(); off(); write(True); cfg(0, 'other.json'); on(); work(); off();"
     "write(True); check(); check('other.json')",
     ["dump ok", "dump ok", "p.json [1]", "other.json [2]"], {"p.json": [1], "other.json": [2]}),
    ("single: never dumped",
     "cfg(0); on(); work(); off(); check()", ["p.json no file"], {"p.json": [1]}),
    ("single: never dumped, never stopped",
     "cfg(0); on(); work()", [], {"p.json": [1]}),
    ("single: nothing recorded",
     "cfg(0); on(); off(); write(True); check()", ["dump ok", "p.json []"], {"p.json": []}),
    ("continuous: run, work, stop, dump(True)",
     "cfg(1); on(); work(); off(); write(True); check()",
     ["dump ok", "p.json [1]"], {"p.json": [1]}),
    ("continuous: run, work, stop, dump(False)",
     "cfg(1); on(); work(); off(); write(False); check()",
     ["dump ok", "p.json [1]"], {"p.json": [1]}),
    ("continuous: dump(False), work, dump(False), dump(True)",
     "cfg(1); on(); work(); write(False); check(); work(); write(False); check(); off();"
     "write(True); check()",
     ["dump ok", "p.json [1]", "dump ok", "p.json [1, 2]", "dump ok", "p.json [1, 2]"],
     {"p.json": [1, 2]}),
    ("continuous: dump(True), run, work, dump(True)",
     "cfg(1); on(); work(); off(); write(True); check(); on(); work(); off(); write(True); check()",
     ["dump ok", "p.json [1]", "dump ok", "p.json [2]"], {"p.json": [2]}),
    ("continuous: the timer writes without a dump call",
     "cfg(1, period=.2); on(); work(); soon([1]); work(); soon([1, 2]);"
     "off()",
     ["p.json [1]", "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("continuous: never dumped",
     "cfg(1); on(); work(); off()", [], {"p.json": [1]}),
    ("continuous: nothing recorded",
     "cfg(1); on(); off(); write(True); check()", ["dump ok", "p.json []"], {"p.json": []}),
    ("continuous: dumps between",
     "cfg(1, period=50); on(); work(); dumps(); check(); work(); dumps(); off(); write(True); check()",
     ["p.json no file", "dump ok", "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("continuous: killed",
     "cfg(1, period=50); on(); work(); write(False); work(); os.kill(os.getpid(), 9)",
     ["dump ok"], {"p.json": [1]}),
    ("continuous: killed before any dump",
     "cfg(1, period=50); on(); work(); os.kill(os.getpid(), 9)", [], {}),
    ("continuous: set_config again while running, same name",
     "cfg(1, period=50); on(); work(); write(False); check(); cfg(1, period=50); check(); work();"
     "off(); write(True); check()",
     ["dump ok", "p.json [1]", "p.json [1]", "dump ok", "p.json [2]"], {"p.json": [2]}),
    ("continuous: set_config again while running, other name",
     "cfg(1, period=50); on(); work(); write(False); work(); cfg(1, 'other.json', period=50); work();"
     "off(); write(True); check(); check('other.json')",
     ["dump ok", "dump ok", "p.json [1, 2]", "other.json [3]"],
     {"p.json": [1, 2], "other.json": [3]}),
    ("continuous, then continuous_dump=False, two dumps",
     "cfg(1, period=50); on(); work(); cfg(0); work(); off(); write(False); check(); write(False);"
     "check()",
     ["dump ok", "p.json [1, 2]", NOT_RUN, "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("continuous: exit with dump_period=4 right after dump(False)",
     "cfg(1, period=4.); on(); work(); off(); write(False); say('last line')",
     ["dump ok", "last line"], {"p.json": [1]}),
    ("continuous: exit with dump_period=4 right after dump(True)",
     "cfg(1, period=4.); on(); work(); off(); write(True); say('last line')",
     ["dump ok", "last line"], {"p.json": [1]}),
    ("continuous: a shorter dump_period holds at once",
     "cfg(1, period=40.); on(); cfg(1, period=.2); work(); soon([1]); off();"
     "write(True); check()",
     ["p.json [1]", "dump ok", "p.json [1]"], {"p.json": [1]}),
    ("event stopped without a start: what dump leaves",
     "cfg(0); on(); work(); say(outcome(Event('never started').stop)); work(); off(); write(True);"
     "check(); write(True); check()",
     ["MXNetError: stop of never started without a start on this thread: call start first",
      "dump ok", "p.json [1, 2]", NOT_RUN, "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("fork: the child records and exits normally",
     "cfg(0); on(); work(); pid = os.fork()\n"
     "if pid == 0:\n    work(); sys.exit(0)\n"
     "os.waitpid(pid, 0); check(); work(); off(); write(True); check()",
     ["p.json no file", "dump ok", "p.json [1, 2]"], {"p.json": [1, 2]}),
    # Beyond the original's list.
    ("fork: a child with a profile of its own leaves its parent's file alone",
     "cfg(0); on(); work(); pid = os.fork()\n"
     "if pid == 0:\n"
     "    write(True); on(); work(); off(); dump()\n"
     "    os.rename(f'p.{os.getpid()}.json', 'child.json'); os._exit(0)\n"
     "os.waitpid(pid, 0); check(); off(); write(True); check()",
     [NOT_RUN, "p.json no file", "dump ok", "p.json [1]"],
     {"p.json": [1], "child.json": [2]}),
    ("fork: a child of a continuous profile",
     "cfg(1, period=.05); on(); work(); write(False); pid = os.fork()\n"
     "if pid == 0:\n"
     "    work(); cfg(1, 'child.json', .05); on(); work(); soon([3], 'child.json')\n"
     "    sys.exit(0)\n"
     "os.waitpid(pid, 0); check(); work(); soon([1, 2]); off(); write(True)",
     ["dump ok", "child.json [3]", "p.json [1]", "p.json [1, 2]", "dump ok"],
     {"p.json": [1, 2], "child.json": [3]}),
    ("exit while a thread is recording",
     "cfg(1, period=.01); on()\n"
     "def spin():\n    e = Event('spin')\n    while True: e.start(); e.stop()\n"
     "threading.Thread(target=spin, daemon=True).start(); time.sleep(.2); work()",
     [], {"p.json": [1]}),
]


STORES = {
    "memory": {},
    "file": {"MXPROF_STORE": "file"},
    "ring": {"MXPROF_FULL_POLICY": "ring"},
    "file ring": {"MXPROF_STORE": "file", "MXPROF_FULL_POLICY": "ring"},
}
# A ring still holds what it has written, so a file that a new configuration begins has it as well.
# One in a file begins anew with its file.
HELD = {
    ("ring", "continuous: set_config again while running, same name"):
        (["dump ok", "p.json [1]", "p.json [1]", "dump ok", "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("file ring", "continuous: set_config again while running, same name"):
        (["dump ok", "p.json [1]", "p.json [1]", "dump ok", "p.json [1, 2]"], {"p.json": [1, 2]}),
    ("ring", "continuous: set_config again while running, other name"):
        (["dump ok", "dump ok", "p.json [1, 2]", "other.json [1, 2, 3]"],
         {"p.json": [1, 2], "other.json": [1, 2, 3]}),
}
# With store "file" a forked child records like its parent: other things are right then.
STORED = [(store, name, source, *HELD.get((store, name), (printed, left)))
          for store in STORES for name, source, printed, left in CASES
          if "file" not in store or not name.startswith("fork")]


@pytest.mark.parametrize("store, name, source, printed, left", STORED,
                         ids=[f"{case[0]}-{case[1]}" for case in STORED])
def test_sequence(store, name, source, printed, left, tmp_path):
    result = run_program(WORDS + source, tmp_path, STORES[store])
    assert result.lines == printed, result.stderr
    assert result.code == (-9 if "killed" in name else 0), result.stderr
    assert result.stderr == ""
    files = {}
    for path in sorted(tmp_path.glob("*.json")):
        assert strict_json(path.read_text())["traceEvents"]
        files[path.name] = sorted(int(item["name"].split()[1]) for item in trace_items(path)
                                  if item["ph"] in "bX" and item["name"].startswith("work "))
    assert files == left


def test_exit_does_not_wait_for_the_period(tmp_path):
    run = WORDS + "cfg(1, period={0}); on(); work(); off(); write(False)"
    quick = min(run_program(run.format(60.0), tmp_path).seconds for _ in range(2))
    assert quick < 2
