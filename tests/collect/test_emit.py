# SPDX-License-Identifier: Apache-2.0
"""What is recorded is sent to other tools as well: to a collector of Intel's instrumentation calls and to one of
Nvidia's range calls, span by span, in order and depth. Both are the tests' own and log what they are told."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from recorded import BUILD, COLLECTOR, mxprof

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
HERE = SOURCE / "tests/collect"
ITT, NVTX = "INTEL_LIBITTNOTIFY64", "NVTX_INJECTION64_PATH"
Call = collections.namedtuple("Call", "thread function domain name more")


def compiled(folder, source, *options):
    made = folder / pathlib.Path(source).stem
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-std=gnu11", f"-I{SOURCE}/include", HERE / source,
                    *options, "-o", made], check=True)
    return made


@pytest.fixture(name="made", scope="module")
def made_here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("emit")
    compiled(folder, "emit_program.c", f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-lmxprof", "-pthread")
    for source in ("itt_log.c", "nvtx_log.c"):
        compiled(folder, source, "-shared", "-fPIC", "-ldl")
    return folder


class Sent:
    """One run of a part of the program with the tools of these variables: what they were told."""

    def __init__(self, made, folder, *arguments, prefix=(), **variables):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("MXPROF_", "MXNET_", "INTEL_", "NVTX_"))}
        environment |= {"MXPROF_NATIVE_FILENAME": "run.mxp", "ITT_LOG": str(folder / "itt"),
                        "NVTX_LOG": str(folder / "nvtx"), **{key: str(value) for key, value in variables.items()}}
        self.folder = folder
        self.result = subprocess.run([*prefix, made / "emit_program", *arguments], env=environment, cwd=folder,
                                     capture_output=True, text=True, timeout=60, check=False)
        assert self.result.returncode == 0, self.result

    def calls(self, tool):
        path = self.folder / tool
        return [Call(*line.split("\t")) for line in path.read_text().splitlines()] if path.exists() else []

    def recorded(self):
        return json.loads(mxprof("convert", self.folder / "run.mxp", "-o", "-"))["traceEvents"]


@pytest.fixture(name="send")
def sender(made, tmp_path):
    def send(*arguments, **variables):
        named = {"itt": (ITT, made / "itt_log"), "nvtx": (NVTX, made / "nvtx_log")}
        tools = dict(named[key] for key in variables.pop("to", ("itt",)))
        return Sent(made, tmp_path, *arguments, **tools, **variables)
    return send


def by_thread(calls):
    """For each thread the (depth, domain, name) of its tasks or ranges in the order of their begins; each end is of
    the domain of the newest that is open."""
    found, stacks = collections.defaultdict(list), collections.defaultdict(list)
    for call in calls:
        stack = stacks[call.thread]
        if call.function in ("task_begin", "push"):
            found[call.thread].append((len(stack), call.domain, call.name))
            stack.append(call.domain)
        elif call.function in ("task_end", "pop"):
            assert stack and stack.pop() == call.domain
    assert not any(stacks.values()), "a task is still open"
    return list(found.values())


def recorded_by_thread(events, leave_out=()):
    found, stacks = collections.defaultdict(list), collections.defaultdict(list)
    spans = [event for event in events if event["ph"] == "X" and event["name"] not in leave_out]
    for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
        stack = stacks[span["tid"]]
        while stack and stack[-1] < span["ts"] + span["dur"]:
            stack.pop()
        found[span["tid"]].append((len(stack), span["cat"], span["name"]))
        stack.append(span["ts"] + span["dur"])
    return list(found.values())


def told(calls, *functions):
    return [(call.function, call.domain, call.name) for call in calls if call.function in functions]


@pytest.mark.parametrize("tool", ["itt", "nvtx"])
def test_what_was_recorded_was_sent_in_order_and_depth_on_every_thread(send, tool):
    sent = send("all", to=(tool,))
    recorded = recorded_by_thread(sent.recorded(), leave_out=("past", "an event"))
    assert sum(map(len, recorded)) == 4 * 50 * 4
    assert sorted(by_thread(sent.calls(tool))) == sorted(recorded)


def test_both_tools_are_told_the_same(send):
    sent = send("all", to=("itt", "nvtx"))
    assert by_thread(sent.calls("itt")) == by_thread(sent.calls("nvtx"))


def test_objects_are_tasks_frames_events_counters_and_markers_of_itt(send):
    calls = send("objects").calls("itt")
    functions = collections.Counter((call.function, call.domain, call.name) for call in calls)
    assert functions["task_begin_overlapped", "things", "a task"] == 3
    assert functions["event_create", "", "an event"] == 1
    assert functions["event_start", "", "an event"] == functions["event_end", "", "an event"] == 3
    assert functions["frame_begin_v3", "things", ""] == functions["frame_end_v3", "things", ""] == 3
    for begin, end in (("frame_begin_v3", "frame_end_v3"), ("task_begin_overlapped", "task_end_overlapped")):
        assert [call.more for call in calls if call.function == begin] == \
            [call.more for call in calls if call.function == end]
    ends = {call.more: call.thread for call in calls if call.function == "task_end_overlapped"}
    begun, = (call for call in calls if call.name == "handed over")
    assert ends[begun.more] != begun.thread
    assert [call.more for call in calls if call.name == "a counter"] == ["5", "12", "10"]
    assert [(call.domain, call.more) for call in calls if call.name == "a marker"] == [("things", "2")]


def test_a_collector_without_overlapped_tasks_gets_plain_ones(send):
    calls = send("objects", ITT_LOG_WITHOUT=" task_begin_overlapped ").calls("itt")
    assert told(calls, "task_begin")[:3] == [("task_begin", "things", "a task")] * 3
    assert len(told(calls, "task_begin")) == len(told(calls, "task_end")) == 4


def test_objects_are_ranges_of_nvtx_that_end(send):
    calls = send("objects", to=("nvtx",)).calls("nvtx")
    starts = {call.more: call.name for call in calls if call.function == "start"}
    assert sorted(starts.values()) == ["a frame"] * 3 + ["a task"] * 3 + ["an event"] * 3 + ["handed over"]
    assert sorted(call.more for call in calls if call.function == "end") == sorted(starts)
    assert told(calls, "mark") == [("mark", "", "a marker")]
    assert calls[0].name == "right"


def test_steps_threads_instants_levels_and_past_spans(send):
    sent = send("all", to=("itt", "nvtx"))
    calls = sent.calls("itt")
    assert {call.name for call in calls if call.function == "thread_set_name"} == \
        {"first", "worker one", "worker two", "worker three"}
    steps = [(call.function, call.more) for call in calls if call.domain == "step"]
    assert steps == [("frame_begin_v3", "1.1"), ("frame_end_v3", "1.1"), ("frame_begin_v3", "2.1"),
                     ("frame_end_v3", "2.1")]
    assert [(call.name, call.more) for call in calls if call.domain == "app" and call.function == "marker"] == \
        [("an instant", "4")]
    assert [call.more for call in calls if call.name == "a level"] == ["2.5"]
    begin, end = (int(call.more) for call in calls if call.function in ("task_begin_ex", "task_end_ex"))
    assert end - begin == 1000
    calls = sent.calls("nvtx")
    assert [call.name for call in calls if call.function == "mark"] == ["a marker", "an instant", "step 1", "step 2"]
    assert {(call.name, call.more) for call in calls if call.function == "name_thread"} == \
        {("first", "1"), ("worker one", "1"), ("worker two", "1"), ("worker three", "1")}


def test_a_collector_without_stamps_gets_past_spans_when_they_are_recorded(send):
    calls = send("rest", ITT_LOG_WITHOUT=" task_begin_ex  task_end_ex ").calls("itt")
    assert told(calls, "task_begin", "task_end") == [("task_begin", "app", "past"), ("task_end", "app", "")]


@pytest.mark.parametrize("tool", ["itt", "nvtx"])
def test_nothing_is_sent_in_a_pause_but_the_ends_of_what_was_begun(send, tool):
    sent = send("pauses", to=(tool,))
    threads = by_thread(sent.calls(tool))
    assert len(threads) == 1
    assert sorted(threads) == sorted(recorded_by_thread(sent.recorded()))
    if tool == "itt":
        states = [call.function for call in sent.calls("itt") if call.function in ("pause", "resume")]
        assert states == ["resume", "pause", "resume", "pause", "resume", "pause"]


@pytest.mark.parametrize("part", ["deep", "misuse", "threads"])
@pytest.mark.parametrize("tool", ["itt", "nvtx"])
def test_begins_and_ends_match_whatever_the_program_does(send, part, tool):
    sent = send(part, to=(tool,))
    count = {"deep": 400, "misuse": 10, "threads": 50}[part]
    assert sum(map(len, by_thread(sent.calls(tool)))) == count


def test_a_span_that_another_thread_has_ended_takes_no_end_from_another(send):
    calls = send("foreign").calls("itt")
    begins, ends = len(told(calls, "task_begin")), len(told(calls, "task_end"))
    assert begins == 2 + 4 * 2 and 0 <= begins - ends <= 1
    assert told(calls, "task_begin_ex") == [("task_begin_ex", "app", "inner")]  # as a whole, where it ended


def test_a_forked_child_ends_what_it_has_inherited_and_sends_its_own(send):
    calls = send("forks").calls("itt")
    processes = collections.Counter(call.thread.split(".")[0] for call in calls if call.function == "task_begin")
    ends = collections.Counter(call.thread.split(".")[0] for call in calls if call.function == "task_end")
    assert sorted(processes.values()) == [4, 5] and sorted(ends.values()) == [5, 5]


def test_a_tool_that_records_itself_is_not_told_of_that(send):
    sent = send("all", ITT_LOG_CALL=BUILD / "libmxprof.so")
    assert sum(map(len, by_thread(sent.calls("itt")))) == 4 * 50 * 4


# ---- which tool, and whether --------------------------------------------------------------------
def test_our_own_collector_is_sent_nothing(send, tmp_path):
    sent = send("all", to=(), **{ITT: COLLECTOR, NVTX: COLLECTOR})
    assert sent.result.stderr == ""
    assert sum(map(len, recorded_by_thread(sent.recorded(), ("past", "an event")))) == 4 * 50 * 4
    linked = tmp_path / "other_name.so"
    shutil.copy(COLLECTOR.resolve(), linked)
    sent = send("all", "maps", to=(), **{ITT: linked})
    assert sent.result.stderr == ""
    assert sent.result.stdout.splitlines()[-1] == send("all", "maps", to=()).result.stdout.splitlines()[-1]


def test_without_the_variables_nothing_is_loaded_and_the_gate_is_as_ever(send, made):
    outputs = [send("all", "maps", to=(), MXPROF_EMIT=word).result for word in ("auto", "off")]
    gates = {output.stdout.splitlines()[-1] for output in outputs}
    libraries = [{line.split("/")[-1] for line in output.stdout.splitlines() if ".so" in line} for output in outputs]
    assert len(gates) == 1 and libraries[0] == libraries[1]
    assert not any("collect" in name or "_log" in name for name in libraries[0])
    with_tool = send("all", "maps").result.stdout
    assert "itt_log" in with_tool and with_tool.splitlines()[-1] not in gates
    assert (made / "itt_log").name not in outputs[1].stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_without_the_variables_no_library_is_opened(send, tmp_path):
    log = tmp_path / "calls"
    send("all", to=(), prefix=("strace", "-f", "-e", "trace=openat", "-o", log))
    opened = {line.split('"')[1] for line in log.read_text().splitlines() if ".so" in line}
    assert {pathlib.Path(path).name.split(".so")[0] for path in opened} <= {"ld", "libc", "libmxprof"}


def test_off_sends_nothing_though_there_is_a_tool(send):
    assert send("all", to=("itt", "nvtx"), MXPROF_EMIT="off").calls("itt") == []


def test_one_tool_alone_where_it_is_asked_for(send):
    sent = send("all", to=("itt", "nvtx"), MXPROF_EMIT="nvtx")
    assert sent.calls("itt") == [] and sum(map(len, by_thread(sent.calls("nvtx")))) == 4 * 50 * 4


@pytest.mark.parametrize("word, variable", [("itt", ITT), ("nvtx", NVTX)])
def test_a_tool_that_is_asked_for_and_cannot_be_had_is_an_error_that_names_the_variable(send, word, variable):
    output = send("all", to=(), MXPROF_EMIT=word).result.stdout
    assert variable in output and "it is not set" in output
    output = send("all", to=(), MXPROF_EMIT=word, **{variable: "/there/is/none.so"}).result.stdout
    assert variable in output and "/there/is/none.so" in output
    output = send("all", to=(), MXPROF_EMIT=word, **{variable: COLLECTOR}).result.stdout
    assert "mxprof's own collector" in output


def test_one_that_is_none_or_refuses_is_told_and_the_program_goes_on(send, made):
    sent = send("all", to=(), **{ITT: made / "nvtx_log"})
    assert ITT in sent.result.stderr and "no such tool" in sent.result.stderr
    sent = send("all", to=("nvtx",), NVTX_LOG_REFUSE="1")
    assert NVTX in sent.result.stderr and [call.function for call in sent.calls("nvtx")] == ["init"]


# ---- ranges -------------------------------------------------------------------------------------
def test_ranges_of_the_programs_own_are_sent_without_a_session(send):
    calls = send("ranges", to=("nvtx",)).calls("nvtx")
    assert [(call.function, call.name, call.more) for call in calls[1:]] == \
        [("push", "a range", "ffffa500"), ("pop", "", "0")]


def test_ranges_without_a_tool_are_an_error_that_names_the_variable(send):
    assert NVTX in send("ranges", to=()).result.stdout


# ---- Intel's reference collector ----------------------------------------------------------------
ITTAPI = pathlib.Path(os.environ.get("ITTAPI_SOURCE", SOURCE / "build/ittapi"))


@pytest.fixture(name="reference", scope="module")
def reference_collector(tmp_path_factory):
    if not (ITTAPI / "src/ittnotify_refcol/itt_refcol_impl.c").exists():
        pytest.skip("no source of the reference collector: have ITTAPI_SOURCE name a copy of github.com/intel/ittapi")
    made = tmp_path_factory.mktemp("reference") / "reference.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ITTAPI}/include", f"-I{ITTAPI}/src/ittnotify",
                    ITTAPI / "src/ittnotify_refcol/itt_refcol_impl.c", "-o", made], check=True)
    return made


def reference_calls(folder):
    """What its log has, as the tests' own collector tells it."""
    for line in next(folder.glob("*.log")).read_text().splitlines():
        function, fields = re.match(r"\[INFO\] __itt_(\w+)\(\.\.\.\) - function (?:args: )?(.*)", line).groups()
        domain, name = re.search(r"domain=(\w+)", fields), re.search(r"name=(.*?) taskid", fields)
        yield Call("", function, domain and domain[1], name and name[1], "")


@pytest.mark.parametrize("part", ["pauses", "deep", "all"])
def test_the_reference_collector_receives_what_was_recorded(send, reference, tmp_path, part):
    logs = tmp_path / "logs"
    logs.mkdir()
    sent = send(part, to=(), **{ITT: reference, "INTEL_LIBITTNOTIFY_LOG_DIR": logs})
    calls = list(reference_calls(logs))
    if part == "all":  # of several threads, which its log does not tell; events and overlapped tasks it does not know
        tasks = collections.Counter((call.domain, call.name) for call in calls if call.function == "task_begin")
        assert tasks == {("app", "outer"): 200, ("app", "inner"): 400, ("library", "other"): 200, ("app", "past"): 1,
                         ("things", "a task"): 3, ("things", "handed over"): 1, ("event", "an event"): 3}
        assert len(told(calls, "task_end")) == sum(tasks.values())
    else:
        spans, = by_thread(calls)
        assert len(spans) == {"pauses": 26, "deep": 400}[part]
        assert part == "deep" or [spans] == recorded_by_thread(sent.recorded())


# ---- the runtime --------------------------------------------------------------------------------
PROGRAM = """
import mxnet as mx
from mxnet import profiler
profiler.set_config(filename='run.json', native_filename='run.mxp', emit='auto')
array = mx.nd.ones((4, 4))
array.wait_to_read()
profiler.set_state('run')
for _ in range(20):
    (array * 2 + 1).wait_to_read()
with profiler.Event('an event'):
    pass
with profiler.Task(profiler.Domain('things'), 'a task'):
    mx.nd.waitall()
profiler.set_state('stop')
profiler.dump()
"""


def test_spans_of_the_runtime_are_sent_as_they_are_recorded(made, tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), MXNET_LIBRARY_PATH=str(BUILD / "libmxnet.so"),
                       ITT_LOG=str(tmp_path / "itt"), NVTX_LOG=str(tmp_path / "nvtx"),
                       **{ITT: str(made / "itt_log"), NVTX: str(made / "nvtx_log")})
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, cwd=tmp_path, check=True, timeout=60)
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    recorded = collections.Counter((event["cat"], event["name"]) for event in events
                                   if event["ph"] in "BX" and event["cat"] in ("operator", "MXNET_C_API", "memory"))
    assert recorded["memory", "from system"] > 0
    assert recorded["operator", "_mul_scalar"] == recorded["operator", "_plus_scalar"] == 20
    calls = [Call(*line.split("\t")) for line in (tmp_path / "itt").read_text().splitlines()]
    tasks = collections.Counter((call.domain, call.name) for call in calls if call.function == "task_begin")
    assert tasks == recorded
    started = collections.Counter(call.name for call in calls if call.function == "event_start")
    assert started == collections.Counter({name: count for (domain, name), count in recorded.items()
                                           if domain == "operator"}) + collections.Counter(["an event"])
    by_thread(calls)
    ranges = [Call(*line.split("\t")) for line in (tmp_path / "nvtx").read_text().splitlines()]
    colors = {call.more for call in ranges if call.function == "push" and call.name == "_mul_scalar"}
    assert len(colors) == 1 and colors.pop().startswith("ff")
    assert [call.name for call in ranges if call.function == "start"] == ["an event", "a task"]
    by_thread(ranges)


RANGES = """
import mxnet as mx
from mxnet.cuda import nvtx
nvtx.range_push('outer')
with mx.cuda.nvtx.range('inner', color=nvtx.BLUE):
    pass
nvtx.range_pop()
"""


def run_ranges(tmp_path, **variables):
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), MXNET_LIBRARY_PATH=str(BUILD / "libmxnet.so"),
                       NVTX_LOG=str(tmp_path / "nvtx"), **{key: str(value) for key, value in variables.items()})
    return subprocess.run([sys.executable, "-c", RANGES], env=environment, cwd=tmp_path, capture_output=True, text=True,
                          check=False, timeout=60)


def test_ranges_of_python_reach_the_tool(made, tmp_path):
    assert run_ranges(tmp_path, **{NVTX: made / "nvtx_log"}).returncode == 0
    calls = [Call(*line.split("\t")) for line in (tmp_path / "nvtx").read_text().splitlines()[1:]]
    assert [(call.function, call.name, call.more) for call in calls] == \
        [("push", "outer", "ffcb4b16"), ("push", "inner", "ff0000ff"), ("pop", "", "0"), ("pop", "", "0")]


def test_ranges_of_python_without_a_tool_are_an_error_that_names_the_variable(tmp_path):
    assert f"MXNetError: {NVTX}" in run_ranges(tmp_path).stderr


CUDA = """
static int calls;
int cudaProfilerStart(void) { return calls++; }
int cudaProfilerStop(void) { return calls++; }
"""


def test_cudas_profiler_is_called_where_the_process_has_it(tmp_path):
    (tmp_path / "cuda.c").write_text(CUDA)
    subprocess.run(["cc", "-shared", "-fPIC", "cuda.c", "-o", "cuda.so"], cwd=tmp_path, check=True)
    program = ("import ctypes\nfrom mxnet.base import _LIB\nstart, stop = _LIB.MXCUDAProfilerStart, _LIB.MXCUDAProfilerStop\n"
               "print(start(), stop(), b'cudaProfilerStart is not' in ctypes.c_char_p(_LIB.MXGetLastError()).value)\n"
               "ctypes.CDLL('./cuda.so', ctypes.RTLD_GLOBAL)\nprint(start(), stop())")
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), MXNET_LIBRARY_PATH=str(BUILD / "libmxnet.so"))
    output = subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True,
                            text=True, check=True, timeout=60).stdout
    assert output.splitlines()[0].startswith("-1 -1") and output.splitlines()[1] == "0 -1"
