# SPDX-License-Identifier: Apache-2.0
"""mxprof run: the program is as it would be alone, and what it recorded is in one folder."""
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from run_programs import BUILD, MXPROF, environment, recording, run


def test_the_program_keeps_its_arguments_its_streams_and_its_exit_code(tmp_path):
    result = run(tmp_path, "sh", "-c", 'cat; echo "$@" >&2; exit 7', "sh", "-o", "--quiet", "a b", stdin="typed")
    assert result.returncode == 7 and result.stdout == "typed"
    assert result.stderr.startswith("-o --quiet a b\n")
    assert re.search("^mxprof: sh -c .* ended with 7 after .*; nothing was recorded$", result.stderr, re.MULTILINE)
    assert list(tmp_path.iterdir()) == []


def test_what_processes_record_is_in_the_folder_and_the_summary_says_what_to_type(tmp_path):
    both = 'A="$1" B="$2"; shift 2; "$@" 30 & "$@" 12; wait'
    result = run(tmp_path, "-o", "out", "--", "sh", "-c", both, "sh", "a", "b", *recording(0)[:-1])
    assert result.returncode == 0 and result.stdout == ""
    assert len(list((tmp_path / "out").glob("*.mxp"))) == 2
    report = subprocess.run([MXPROF, "report", "--layout", "mxnet", "out"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            check=True).stdout
    assert re.search(r"^work +42 ", report, re.MULTILINE)
    command = re.search(r"next +(mxprof report \S+)", result.stderr)[1]
    assert command == "mxprof report out"
    assert "2 processes, 42 spans, 1 name; lost nothing" in result.stderr


def test_the_folder_says_what_was_run_and_keeps_arguments_to_itself_unless_asked(tmp_path):
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    run(tmp_path, "-o", "out", "--max-names", "100000", *recording(3))
    said = json.loads((tmp_path / "out/run.json").read_text())
    assert said["Command"] == [pathlib.Path(sys.executable).name] and said["Exit Code"] == 0 and said["Seconds"] > 0
    assert before <= said["Begin"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    assert said["Variables"]["MXPROF_NAMES_LIMIT"] == "100000"
    assert said["Variables"]["MXPROF_RUN"] == str(tmp_path / "out")
    run(tmp_path, "-o", "all", *recording(3), MXPROF_INFO_COMMAND="all")
    assert json.loads((tmp_path / "all/run.json").read_text())["Command"] == recording(3)


def test_the_folders_that_it_lies_in_are_made_too(tmp_path):
    (tmp_path / "before").mkdir()
    for output in ("before/1.1", "after/1.1", f"{tmp_path}/a/b/c/", "./d//e"):
        assert run(tmp_path, "-q", "-o", output, *recording(3)).returncode == 0
        assert (tmp_path / output / "run.json").exists()


def test_of_what_was_made_nothing_stays_where_nothing_was_recorded(tmp_path):
    (tmp_path / "before").mkdir()
    for output in ("before/1.1", "after/1.1", f"{tmp_path}/a/b/c/", "./d//e", "h/i//j//"):
        assert run(tmp_path, "-o", output, "true").returncode == 0
    assert list(tmp_path.rglob("*")) == [tmp_path / "before"]
    assert run(tmp_path, "-o", f"before/{'n' * 300}", "true").returncode == 125
    assert run(tmp_path, "-o", f"f/g/{'n' * 300}", "true").returncode == 125
    assert list(tmp_path.rglob("*")) == [tmp_path / "before"]


def test_the_default_folder_is_named_after_the_program_and_the_time(tmp_path):
    result = run(tmp_path, "-q", *recording(3))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    folder, = tmp_path.iterdir()
    assert re.fullmatch(rf"mxprof-{pathlib.Path(sys.executable).name}-\d{{8}}-\d{{6}}", folder.name)


def test_each_run_of_a_second_has_a_folder_of_its_own(tmp_path):
    """Some begin at once, and some of those in the same second."""
    begun = [subprocess.Popen([MXPROF, "run", "-q", *recording(3)], cwd=tmp_path, env=environment()) for _ in range(6)]
    assert [each.wait(60) for each in begun] == [0] * 6
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(folders) == 6
    for folder in folders:
        assert re.fullmatch(r"mxprof-.*-\d{8}-\d{6}(-\d+)?", folder.name)
        assert len(list(folder.glob("*.mxp"))) == 1 and (folder / "run.json").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_program_ended_by_a_signal_ends_the_command_by_it(tmp_path, number):
    result = run(tmp_path, "sh", "-c", f"kill -{int(number)} $$")
    assert result.returncode == -number
    assert f"was ended by signal {int(number)} after" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
def test_signals_are_handed_on(tmp_path, number):
    def begin():  # not ignored, as they are below nohup: a shell traps none that it found ignored
        signal.signal(number, signal.SIG_DFL)

    script = f"trap 'echo got it; exit 9' {int(number)}; echo ready; while :; do sleep 0.01; done"
    with subprocess.Popen([MXPROF, "run", "-q", "sh", "-c", script], cwd=tmp_path, env=environment(),
                          stdout=subprocess.PIPE, text=True, preexec_fn=begin) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "got it\n"
        assert process.wait(30) == 9


@pytest.mark.parametrize("script, code", [("exit 7", 7), ("kill -9 $$", -9)])
def test_how_the_program_ended_is_known_where_ends_of_children_are_ignored(tmp_path, script, code):
    def begin():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    done = subprocess.run([MXPROF, "run", "-o", "out", "sh", "-c", script], cwd=tmp_path, env=environment(), timeout=60,
                          capture_output=True, text=True, preexec_fn=begin, check=False)
    assert done.returncode == code and "ended" in done.stderr
    done = subprocess.run([MXPROF, "run", "-o", "out", *recording(3)], cwd=tmp_path, env=environment(), timeout=60,
                          capture_output=True, text=True, preexec_fn=begin, check=True)
    assert "3 spans" in done.stderr
    show = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN)"
    shown = subprocess.run([MXPROF, "run", "-q", sys.executable, "-c", show], cwd=tmp_path, env=environment(), timeout=60,
                           capture_output=True, text=True, preexec_fn=begin, check=True).stdout
    assert shown == "True\n"


def test_the_terminals_interrupt_is_the_programs(tmp_path):
    """It goes to the whole process group; the command goes on to wait."""
    script = "trap 'sleep 0.2; echo done; exit 4' INT; echo ready; while :; do sleep 0.01; done"
    with subprocess.Popen([MXPROF, "run", "-q", "sh", "-c", script], cwd=tmp_path, env=environment(),
                          stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "done\n"
        assert process.wait(30) == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
@pytest.mark.parametrize("whom", ["the command alone", "the group"])
def test_a_signal_for_the_command_alone_is_handed_on_and_one_for_the_group_is_not(tmp_path, number, whom):
    """Each comes to the program once. Docker, supervisors and Popen.send_signal send it to one process."""
    program = textwrap.dedent(f"""
        import signal, time
        count = 0
        def note(*_):
            global count
            count += 1
        signal.signal({int(number)}, note)
        print("ready", flush=True)
        until = time.monotonic() + 60
        while count == 0 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(1)
        print(count, flush=True)
        """)
    with subprocess.Popen([MXPROF, "run", "-q", sys.executable, "-c", program], cwd=tmp_path, env=environment(),
                          stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "ready\n"
        (process.send_signal if whom == "the command alone" else functools.partial(os.killpg, process.pid))(number)
        assert process.stdout.readline() == "1\n"
        assert process.wait(60) == 0


def test_a_program_that_stops_stops_the_command_until_it_goes_on(tmp_path):
    script = "echo $$; kill -TSTP $$; echo on"
    # In a group of its own, which has a parent outside: where nobody could wake it, the system stops none.
    with subprocess.Popen([MXPROF, "run", "-q", "sh", "-c", script], cwd=tmp_path, env=environment(),
                          stdout=subprocess.PIPE, text=True, preexec_fn=os.setpgrp) as process:
        program = int(process.stdout.readline())
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        until = time.monotonic() + 30
        while stat.read_text().rpartition(")")[2].split()[0] != "T" and time.monotonic() < until:
            time.sleep(0.01)
        assert stat.read_text().rpartition(")")[2].split()[0] == "T"
        process.send_signal(signal.SIGCONT)
        assert process.stdout.readline() == "on\n", f"program {program} was not continued"
        assert process.wait(30) == 0


def test_the_program_has_the_signals_that_it_would_have_alone(tmp_path):
    show = "import signal; print([signal.getsignal(n) for n in (1, 2, 3, 10, 12, 13, 15, 18)], signal.pthread_sigmask(0, []))"
    alone = subprocess.run([sys.executable, "-c", show], env=environment(), capture_output=True, text=True, timeout=60,
                           check=True)
    assert run(tmp_path, "-q", sys.executable, "-c", show).stdout == alone.stdout


@pytest.mark.parametrize("arguments, code, words", [
    (["nosuchprogram"], 127, "cannot run 'nosuchprogram': No such file or directory"),
    (["/etc/passwd"], 126, "cannot run '/etc/passwd': Permission denied"),
    (["-o", "taken/file/run", "true"], 125, "cannot make the folder 'taken/file/run': Not a directory"),
    (["-o", "", "true"], 125, "cannot make the folder '': No such file or directory"),
    (["-o", "taken", "true"], 125, "the folder 'taken' has files already"),
    ([], 2, "which program? For example: mxprof run python train.py"),
    (["--outpt", "x", "true"], 2, "unknown option '--outpt'; did you mean '--output'?"),
    (["--marks", "itt,all-of-it", "true"], 2, "--marks takes words of itt, nvtx, ompt, torch and functions"),
    (["--marks", "itt,-nvtx", "true"], 2, "not 'itt,-nvtx'"),
    (["--max-names", "none", "true"], 2, "--max-names takes a number from 1, not 'none'"),
    (["--summary", "12x", "true"], 2, "--summary takes a number up to 1000, or none; not '12x'"),
    (["--children", "some", "true"], 2, "--children does not know 'some'; it takes one of: all, none"),
    (["--depth", "deep", "true"], 2, "--depth takes a number up to 65535"),
    (["--min-us", "-1", "true"], 2, "--min-us takes a number up to 1000000000"),
    (["--ring", "lots", "true"], 2, "--ring takes a number with K, M or G, as in 64M, not 'lots'"),
    (["--limit", "-1M", "true"], 2, "--limit takes a number with K, M or G, as in 64M, not '-1M'"),
    (["--limit", "0", "true"], 2, "--limit takes 1M up to 1048576G, not '0'"),
    (["--ring", "1023K", "true"], 2, "--ring takes 1M up to 1048576G, not '1023K'"),
    (["--limit", "1048577G", "true"], 2, "--limit takes 1M up to 1048576G, not '1048577G'"),
    (["--limit", "99999999999999999999", "true"], 2, "--limit takes 1M up to 1048576G, not '99999999999999999999'"),
    (["--ring", "1M", "--limit", "2M", "true"], 2, "--ring and --limit both say how much is kept; give one"),
    (["--depth", "0", "true"], 2, "--depth takes a number from 1, or none; not '0'"),
])
def test_what_cannot_be_is_said(tmp_path, arguments, code, words):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    result = run(tmp_path, *arguments)
    assert result.returncode == code and words in result.stderr
    assert os.listdir(tmp_path) == ["taken"] and os.listdir(tmp_path / "taken") == ["file"]


def test_a_folder_of_the_users_stays_and_is_added_to_when_asked(tmp_path):
    (tmp_path / "mine").mkdir()
    assert run(tmp_path, "-o", "mine", "true").returncode == 0
    assert (tmp_path / "mine").is_dir()
    assert run(tmp_path, "-o", "mine", *recording(2)).returncode == 0
    assert run(tmp_path, "-o", "mine", "--force", *recording(2)).returncode == 0
    assert sorted(file.name for file in (tmp_path / "mine").glob("*.json")) == ["run.2.json", "run.json"]
    assert len(list((tmp_path / "mine").glob("*.mxp"))) == 2


def test_what_was_in_the_folder_before_is_not_told_of_a_program_that_records_nothing(tmp_path):
    assert run(tmp_path, "-o", "mine", *recording(2)).returncode == 0
    result = run(tmp_path, "-o", "mine", "--force", "--json", "true")
    assert "; nothing was recorded\n" in result.stderr and "spans" not in result.stderr
    assert json.loads(result.stdout)["Rows"] == []
    assert sorted(file.name for file in (tmp_path / "mine").glob("*.json")) == ["run.json"]


def test_what_was_in_the_folder_before_is_not_added_up(tmp_path):
    assert run(tmp_path, "-o", "mine", *recording(50)).returncode == 0
    earlier = {file.name for file in (tmp_path / "mine").glob("*.mxp")}
    result = run(tmp_path, "-o", "mine", "--force", "--json", *recording(7))
    assert "1 process, 7 spans, 1 name; lost nothing" in result.stderr
    assert [(row["Name"], row["Count"]) for row in json.loads(result.stdout)["Rows"]] == [("work", 7)]
    added, = {file.name for file in (tmp_path / "mine").glob("*.mxp")} - earlier
    assert len(earlier) == 1 and added


def test_what_is_to_be_typed_next_is_of_this_run(tmp_path):
    assert "next   mxprof report mine   |   " in run(tmp_path, "-o", "mine", *recording(50)).stderr
    told = run(tmp_path, "-o", "mine", "--force", *recording(7)).stderr
    typed = re.search("next   mxprof (report .*)   \\|   mxprof (convert .*)", told)
    report = subprocess.run([MXPROF, *typed[1].split()], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            check=True)
    assert re.search(r"work +7 ", report.stdout)
    assert subprocess.run([MXPROF, *typed[2].split()], cwd=tmp_path, timeout=60, check=False).returncode == 0
    one = shlex.join(recording(1))
    told = run(tmp_path, "-o", "mine", "--force", "sh", "-c", f"{one}; {one}").stderr
    assert "next   mxprof report mine   |" in told and "files of earlier runs in mine count in these, too" in told


def test_sizes_reach_the_processes(tmp_path):
    assert run(tmp_path, "-o", "ring", "--ring", "1M", *recording(200000)).returncode == 0
    info = subprocess.run([MXPROF, "info", *(tmp_path / "ring").glob("*.mxp")], capture_output=True, text=True, timeout=60,
                          check=True).stdout
    assert "ring     1 MiB" in info


@pytest.mark.parametrize("size", ["1M", "1024K", "1048576", "1048576G"])
def test_sizes_that_libmxprof_takes_are_taken(tmp_path, size):
    result = run(tmp_path, "-o", "out", "--limit", size, "--depth", "none", "--min-us", "none", *recording(2))
    assert result.returncode == 0 and "MXPROF_" not in result.stderr and " 2 spans" in result.stderr


@pytest.mark.parametrize("marks, doors", [
    ("all", "INTEL_LIBITTNOTIFY64 LD_PRELOAD NVTX_INJECTION64_PATH OMP_TOOL_LIBRARIES"),
    ("none", ""), ("itt", "INTEL_LIBITTNOTIFY64"), ("-torch,-itt,-functions", "NVTX_INJECTION64_PATH OMP_TOOL_LIBRARIES"),
    ("functions", "LD_PRELOAD"),
    ("torch,ompt", "INTEL_LIBITTNOTIFY64 LD_PRELOAD OMP_TOOL_LIBRARIES")])
def test_marks_open_the_doors_that_they_name(tmp_path, marks, doors):
    result = run(tmp_path, "--marks", marks, "sh", "-c", "env | grep libmxprof_collect | cut -d= -f1 | sort")
    assert result.returncode == 0 and result.stdout.split() == doors.split()


def test_what_is_asked_for_reaches_the_processes_by_the_environment(tmp_path):
    show = ("sh", "-c", "env | grep -E '^MXPROF_(COLLECT|NAMES)' | sort")
    assert run(tmp_path, *show).stdout == ""
    asked = run(tmp_path, "--sync=all", "--memory", "--max-names", "7", *show)
    assert asked.stdout.split() == ["MXPROF_COLLECT_MEMORY=1", "MXPROF_COLLECT_SYNC=all", "MXPROF_NAMES_LIMIT=7"]


def test_a_limit_of_names_counts_in_each_process(tmp_path):
    program = recording(0)
    program[2] += "for i in range(50): lib.mxp_end(lib.mxp_intern(b'app', b'%d' % i, 1, 0), ctypes.c_uint64(lib.mxp_begin(16, name)))"
    run(tmp_path, "-o", "out", "--max-names", "20", *program)
    report = subprocess.run([MXPROF, "report", "--layout", "mxnet", "out"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert "records under <names full>" in report.stdout


CHILDREN = """
import os, subprocess
if os.fork() == 0:
    lib.mxp_end(name, ctypes.c_uint64(lib.mxp_begin(16, name)))
    sys.exit()
os.wait()
if len(sys.argv) < 4:
    subprocess.run([sys.executable, "-c", open("/proc/self/cmdline").read().split(chr(0))[2], *sys.argv[1:], "last"])
    os.execv(sys.executable, [sys.executable, "-c", open("/proc/self/cmdline").read().split(chr(0))[2], *sys.argv[1:], "last"])
"""


@pytest.mark.parametrize("children, files", [("all", 6), ("none", 2)])
def test_children_are_left_out_when_asked_and_the_process_is_not_when_it_begins_anew(tmp_path, children, files):
    program = recording(3)
    program[2] += CHILDREN
    result = run(tmp_path, "-o", "out", "--children", children, *program)
    assert result.returncode == 0 and len(list((tmp_path / "out").glob("*.mxp"))) == files


def test_tools_of_openmp_that_the_user_has_named_come_first(tmp_path):
    result = run(tmp_path, "sh", "-c", "echo $OMP_TOOL_LIBRARIES", OMP_TOOL_LIBRARIES="/opt/own.so:/opt/other.so")
    assert result.stdout.startswith("/opt/own.so:/opt/other.so:/")
    assert result.stdout.endswith("libmxprof_collect.so.0\n")


def test_a_collector_that_the_user_has_named_stays(tmp_path):
    result = run(tmp_path, "sh", "-c", "echo $INTEL_LIBITTNOTIFY64", INTEL_LIBITTNOTIFY64="/opt/own.so")
    assert result.stdout == "/opt/own.so\n"
    assert "INTEL_LIBITTNOTIFY64 stays '/opt/own.so': its marks are not recorded" in result.stderr


@pytest.mark.parametrize("source, part, row", [("itt_program.c", "tasks", "outer +600"),
                                               ("nvtx_program.c", "ranges", "outer +100"),
                                               ("ompt_program.c", "regions", "loop +10")])
def test_marks_of_libraries_are_recorded(tmp_path, source, part, row):
    program = tmp_path / "marks"
    subprocess.run(["cc", "-std=gnu11", pathlib.Path(__file__).parent.parent / "collect" / source, "-o", program,
                    "-ldl", "-pthread"], check=True)
    assert run(tmp_path, "-o", "out", program, part).returncode == 0
    report = subprocess.run([MXPROF, "report", "--layout", "mxnet", "out"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                            check=True).stdout
    assert re.search(rf"^{row} ", report, re.MULTILINE)


def test_an_installed_command_finds_its_collector(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    shutil.copy(MXPROF, tmp_path / "bin/mxprof")
    for library in ("libmxprof_collect.so", "libmxprof.so"):
        shutil.copy(BUILD / library, tmp_path / f"lib/{library}.0")
    result = subprocess.run([tmp_path / "bin/mxprof", "run", "-q", "sh", "-c", "echo $INTEL_LIBITTNOTIFY64"],
                            cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=True)
    assert os.path.realpath(result.stdout.strip()) == str(tmp_path / "lib/libmxprof_collect.so.0")
