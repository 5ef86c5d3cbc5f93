# SPDX-License-Identifier: Apache-2.0
"""mx.profiler.profile: one at a time, and what it says when steps are missing."""
import sys

import pytest

from mxnet import profiler
from python_program import names, run_python

WORK = """
import mxnet as mx
from mxnet import profiler
domain = profiler.Domain('mine')
def work(name):
    with domain.new_task(name): pass
def refused(call):
    try:
        call()
    except mx.MXNetError as error:
        print(error)
        return
    print('not refused')
def begin(name='b.json'):
    with profiler.profile(name) as q:
        work('inner')
"""


# ---- one at a time -----------------------------------------------------------------------------
def test_a_profile_inside_another_is_refused_and_the_outer_one_goes_on(tmp_path):
    done = run_python(WORK + """
with profiler.profile('a.json') as p:
    work('before')
    refused(begin)
    work('after')
    p.step()
    work('next step')
begin()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("a profile to 'a.json' is running")
    assert names(done.trace("a.json"), "mine") == ["before", "after", "next step"]
    assert names(done.trace("b.json"), "mine") == ["inner"]


def test_a_profile_inside_the_steps_that_another_skips_is_refused(tmp_path):
    done = run_python(WORK + """
with profiler.profile('a.json', skip=1) as p:
    refused(begin)
    p.step()
    work('recorded')
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "'a.json' is running" in done.out
    assert names(done.trace("a.json"), "mine") == ["recorded"]


@pytest.mark.parametrize("paused", ["", "profiler.pause()"])
def test_a_profile_inside_a_run_is_refused_and_the_run_goes_on(tmp_path, paused):
    done = run_python(WORK + f"""
profiler.set_config(filename='c.json', continuous_dump=False)
profiler.set_state('run')
work('before')
{paused}
refused(begin)
profiler.resume()
work('after')
profiler.set_state('stop')
profiler.dump()
begin()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "c.json' is running" in done.out
    assert names(done.trace("c.json"), "mine") == ["before", "after"]
    assert names(done.trace("b.json"), "mine") == ["inner"]


def test_a_profile_under_autostart_is_refused(tmp_path):
    done = run_python(WORK + "refused(begin)\nwork('seen')", tmp_path, MXNET_PROFILER_AUTOSTART="1")
    assert (done.code, done.err) == (0, "")
    assert "profile.json' is running" in done.out
    assert names(done.trace("profile.json"), "mine") == ["seen"]


def test_of_two_threads_one_profiles_and_the_other_is_refused(tmp_path):
    done = run_python(WORK + """
import threading
inside, tried = threading.Event(), threading.Event()
def first():
    with profiler.profile('a.json'):
        inside.set()
        tried.wait()
        work('first')
thread = threading.Thread(target=first)
thread.start()
inside.wait()
refused(begin)
tried.set()
thread.join()
begin()
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "'a.json' is running" in done.out
    assert names(done.trace("a.json"), "mine") == ["first"]
    assert names(done.trace("b.json"), "mine") == ["inner"]


def test_a_step_outside_of_the_block_is_refused_and_records_nothing(tmp_path):
    done = run_python(WORK + """
p = profiler.profile('a.json')
refused(p.step)
work('before')
with p:
    work('inside')
    p.step()
refused(p.step)
work('after')
with profiler.profile('b.json'):  # nothing runs
    work('second')
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out == "step() of a profile belongs inside its `with`\n" * 2
    assert names(done.trace("a.json"), "mine") == ["inside"]
    assert names(done.trace("b.json"), "mine") == ["second"]


def test_a_forked_child_may_profile_itself(tmp_path):
    done = run_python(WORK + """
import os
with profiler.profile('a.json'):
    work('before')
    child = os.fork()
    if child == 0:
        begin('child.json')
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    work('after')
    refused(begin)
""", tmp_path, PYTHONWARNINGS="ignore")
    assert (done.code, done.err) == (0, "")
    assert "'a.json' is running" in done.out
    assert names(done.trace("a.json"), "mine") == ["before", "after"]
    assert names(done.trace("child.json"), "mine") == ["inner"]


@pytest.mark.parametrize("failure", ["raise KeyError", "raise KeyboardInterrupt"])
def test_after_a_block_that_raised_another_profile_begins(tmp_path, failure):
    done = run_python(WORK + f"""
def fail():
    with profiler.profile('a.json', active=5):
        work('before')
        {failure}
try:
    fail()
except BaseException as error:
    print(type(error).__name__)
begin()
""", tmp_path)
    assert (done.code, done.err, done.out) == (0, "", failure.split()[1] + "\n")
    assert names(done.trace("a.json"), "mine") == ["before"]
    assert names(done.trace("b.json"), "mine") == ["inner"]


def test_after_a_begin_that_failed_another_profile_begins(tmp_path):
    done = run_python(WORK + """
def fail(**options):
    with profiler.profile('a.json', **options):
        work('not run')
refused(lambda: fail(nonsense=1))
refused(lambda: fail(store='file', native_filename='no/such/folder.mxp'))
begin()
""", tmp_path)
    assert done.code == 0 and "not refused" not in done.out
    assert names(done.trace("b.json"), "mine") == ["inner"]


def test_a_round_that_raises_leaves_the_trace(tmp_path):
    done = run_python(WORK + """
def tell(p):
    raise ValueError('of the round')
try:
    with profiler.profile('a.json', on_round=tell):
        work('seen')
except ValueError as error:
    print(error)
begin()
""", tmp_path)
    assert (done.code, done.err, done.out) == (0, "", "of the round\n")
    assert names(done.trace("a.json"), "mine") == ["seen"]


def test_a_dump_inside_has_finished_the_trace(tmp_path):
    done = run_python(WORK + """
with profiler.profile('a.json'):
    work('before')
    profiler.dump()
    work('after')
begin()
""", tmp_path)
    assert done.code == 0 and "UserWarning: dump() inside the block has finished 'a.json'" in done.err
    assert names(done.trace("a.json"), "mine") == ["before"]
    assert names(done.trace("b.json"), "mine")[-1:] == ["inner"]


def test_a_profile_may_be_a_ring(tmp_path):
    done = run_python(WORK + """
with profiler.profile('a.json', full_policy='ring', native_filename='a.mxp') as p:
    work('kept')
print(repr(p.table()))
""", tmp_path)
    assert (done.code, done.out) == (0, "''\n")
    assert "<string>:20: UserWarning: dumps() is empty" in done.err and "a ring has no table" in done.err
    assert names(done.trace("a.json"), "mine") == ["kept"] and (tmp_path / "a.mxp").exists()


# ---- steps that are missing --------------------------------------------------------------------
MISSED = [
    ("skip=2, active=10", 0, "no step was profiled: step() was called 0 times, skip=2"),
    ("skip=2", 1, "no step was profiled: step() was called 1 time, skip=2"),
    ("skip=1, warmup=2, active=1", 2,
     "no step was profiled: step() was called 2 times, skip=1, warmup=2"),
    ("skip=2, active=10", 3, "1 of 10 active steps was recorded, and one that step() did not end: "
                             "step() was called 3 times, skip=2"),
    ("active=10", 0, "0 of 10 active steps were recorded, and one that step() did not end: "
                     "step() was called 0 times, skip=0"),
    ("warmup=1, active=2, repeat=1", 3, "2 of 4 active steps were recorded: step() was called 3 times, "
                                        "skip=0, warmup=1"),
]
ENOUGH = [("", 0), ("skip=2", 2), ("active=1", 0), ("active=3", 2), ("active=3", 3), ("active=3", 9),
          ("skip=1, warmup=1, active=2, repeat=1", 7), ("active=2, repeat=-1", 4)]
STEPS = """
from mxnet import profiler
with profiler.profile('t.json', {options}) as p:
    for _ in range({calls}): p.step()
"""


@pytest.mark.parametrize("options,calls,said", MISSED)
def test_fewer_steps_than_asked_for_are_told(tmp_path, options, calls, said):
    done = run_python(STEPS.format(options=options, calls=calls), tmp_path)
    assert done.code == 0
    line = 3 if sys.version_info >= (3, 10) else 4  # where a `with` ends
    assert f"<string>:{line}: UserWarning: {said}\n" in done.err
    assert (tmp_path / "t.json").exists() == ("of" in said.split())


@pytest.mark.parametrize("options,calls", ENOUGH)
def test_as_many_steps_as_asked_for_are_no_matter(tmp_path, options, calls):
    done = run_python(STEPS.format(options=options, calls=calls), tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_an_exception_is_enough_to_say(tmp_path):
    done = run_python("""
from mxnet import profiler
try:
    with profiler.profile('t.json', skip=2, active=10): raise KeyError
except KeyError: pass
""", tmp_path)
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("options,said", [
    ({"active": 0}, "active is 0; valid are whole numbers from 1, or None for all steps that follow"),
    ({"active": 1.5}, "active is 1.5; valid are"), ({"skip": -1}, "skip is -1; valid are whole numbers"),
    ({"warmup": "2"}, "warmup is '2'; valid are"), ({"repeat": -2, "active": 1}, "repeat is -2; valid")])
def test_numbers_of_steps_that_mean_nothing_are_refused(options, said):
    with pytest.raises(ValueError) as caught:
        profiler.profile("t.json", **options)
    assert str(caught.value).startswith(said)


def test_numbers_of_steps_may_be_numpys():
    onp = pytest.importorskip("numpy")
    profiler.profile("t.json", skip=onp.int32(1), active=onp.uint8(2), repeat=onp.int64(-1))


# ---- tables without a row ----------------------------------------------------------------------
def test_an_empty_table_is_explained_once(tmp_path):
    done = run_python("""
from mxnet import profiler
profiler.set_config(continuous_dump=False)
profiler.set_state('run')
profiler.set_state('stop')
print(repr(profiler.dumps()), repr(profiler.dumps(format='json')), profiler.dumps(format='dict'))
profiler.set_config(aggregate_stats=True, continuous_dump=False)
table = profiler.dumps()
profiler.dumps(format='json')
print(repr(table))
""", tmp_path)
    assert done.code == 0
    assert done.out.splitlines() == [
        "'' '' {}", repr("\nProfile Statistics:\n\tNote the difference in units for different entries.\n")]
    said = [line for line in done.err.splitlines() if "Warning" in line]
    assert len(said) == 2
    assert "UserWarning: dumps() is empty: set_config(aggregate_stats=True) before the run" in said[0]
    assert "UserWarning: dumps() has no rows: nothing was recorded" in said[1]
    assert said[0].startswith("<string>:6:") and said[1].startswith("<string>:8:")


def test_a_table_with_rows_is_no_matter(tmp_path):
    done = run_python("""
from mxnet import profiler
profiler.set_config(aggregate_stats=True, continuous_dump=False)
profiler.set_state('run')
profiler.Domain('d').new_counter('c', 1)
profiler.set_state('stop')
for form in ('table', 'json', 'dict'): profiler.dumps(format=form)
profiler.dumps(reset=True)
profiler.dumps(reset=True)
""", tmp_path)
    assert (done.code, done.err) == (0, "")


# ---- values that would be changed --------------------------------------------------------------
def test_no_file_name_is_the_default_one(tmp_path):
    done = run_python("""
import os, pathlib
from mxnet import profiler
def run(**options):
    profiler.set_config(continuous_dump=False, **options)
    profiler.set_state('run'); profiler.set_state('stop'); profiler.dump()
run(filename=None, native_filename=None, snapshot_filename=None, snapshot_counter=None,
    gpu_memory_profile_filename_prefix=None)
run(filename=pathlib.Path('path.json'))
run(filename=b'bytes.json')
run(filename='not utf-8 \\udcff.json')
with profiler.profile(None): pass
print(sorted(map(os.fsencode, os.listdir('.'))))
""", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out == "[b'bytes.json', b'not utf-8 \\xff.json', b'path.json', b'profile.json']\n"


DOMAIN = profiler.Domain("values")


@pytest.mark.parametrize("call", [
    profiler.Domain, DOMAIN.new_task, DOMAIN.new_frame, DOMAIN.new_counter, profiler.Event, profiler.Span,
    lambda name: profiler.Span("s", name), lambda name: DOMAIN.new_marker(name).mark(),
    lambda name: profiler.scope(name).__enter__(), lambda name: profiler.set_config(filename=name),
    lambda name: profiler.snapshot(name)])
def test_a_name_with_a_null_character_is_an_error(call):
    with pytest.raises(ValueError, match="null character"):
        call("a\0b")


def test_a_counter_takes_whole_numbers_and_cuts_others_as_the_original_does(tmp_path, recwarn):
    onp = pytest.importorskip("numpy")
    profiler.set_config(filename=str(tmp_path / "t.json"), continuous_dump=False)
    profiler.set_state("run")
    counter = DOMAIN.new_counter("cut")
    for value in (1.9, onp.int8(3), onp.uint64(2 ** 64 - 1), onp.float32(7.5), True):
        counter.set_value(value)
    profiler.set_state("stop")
    profiler.dump()
    import json
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    assert [event["args"]["cut"] for event in events if event["name"] == "cut"] == [
        1, 3, 2 ** 64 - 1, 7, 1]
    assert not recwarn.list
