# SPDX-License-Identifier: Apache-2.0
"""Children of a process that records in memory: they do not record, which one is told who asks
for them by their number."""
import os
import pathlib
import signal
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
PROGRAM = """
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    const char *way = count > 1 ? arguments[1] : "";
    { MXP_SPAN_SCOPE("program", "begin"); }
    int child = 0;
    if (strcmp(way, "daemon") == 0) {
        if (daemon(1, 1) != 0) {
            return 1;
        }
    } else if ((child = fork()) != 0) {
        waitpid(child, NULL, 0);
        return 0;
    }
    if (strcmp(way, "twice") == 0 && (setsid() < 0 || fork() != 0)) {
        _exit(0);
    }
    if (count > 2) {
        mxp_session_run(mxp_session_get());
    }
    { MXP_SPAN_SCOPE("program", "later"); }
    printf("%ld\\n", (long)getpid());
    fflush(stdout);
    char end;
    return read(0, &end, 1) != 0;  // until the test closes it
}
"""


@pytest.fixture(name="program", scope="module")
def fixture_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    (folder / "daemon.c").write_text(PROGRAM)
    subprocess.run(["cc", "daemon.c", "-o", "daemon", f"-I{SOURCE}/include", f"-L{BUILD}", "-lmxprof",
                    f"-Wl,-rpath,{BUILD}"], cwd=folder, check=True)
    return folder / "daemon"


class Child:
    """What the program leaves behind: a child that waits until its standard input ends."""

    def __init__(self, program, folder, *arguments, **variables):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}
        self.program = subprocess.Popen([program, *arguments], cwd=folder, env={**clean, "MXPROF_AUTOSTART": "1", **variables},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = int(self.program.stdout.readline())

    def end(self):
        """Its errors, all of them: the pipe ends with the child."""
        self.program.stdin.close()
        errors = self.program.stderr.read()
        self.program.wait()
        return errors


@pytest.mark.parametrize("way", ["daemon", "twice"])
def test_a_daemon_that_recorded_nothing_says_so_at_its_end(program, tmp_path, way):
    told = Child(program, tmp_path, way).end()
    assert told.count("this daemon recorded nothing") == 1 and "MXPROF_STORE=file" in told


def test_another_child_and_those_that_record_say_nothing(program, tmp_path):
    assert Child(program, tmp_path, "fork").end() == ""
    assert Child(program, tmp_path, "daemon", MXPROF_STORE="file").end() == ""
    assert Child(program, tmp_path, "daemon", "run").end() == ""


@pytest.mark.parametrize("way", ["daemon", "twice", "fork"])
def test_of_such_a_child_it_is_told_by_its_number(program, tmp_path, way):
    child = Child(program, tmp_path, way)
    done = subprocess.run([BUILD / "mxprof", "report", str(child.pid)], capture_output=True, text=True, check=False, timeout=60)
    child.end()
    if "ptrace" in done.stderr:
        pytest.skip("the memory of other processes cannot be read here")
    assert done.returncode == 1
    assert "it does not record: it was forked by process" in done.stderr and "MXPROF_STORE=file" in done.stderr


def test_a_child_that_is_told_to_run_is_read(program, tmp_path):
    child = Child(program, tmp_path, "daemon", "run")
    done = subprocess.run([BUILD / "mxprof", "report", "--layout", "mxnet", str(child.pid)], capture_output=True, text=True,
                          check=False, timeout=60)
    os.kill(child.pid, signal.SIGKILL)
    child.end()
    if "ptrace" in done.stderr:
        pytest.skip("the memory of other processes cannot be read here")
    assert done.returncode == 0 and "later" in done.stdout, done.stderr
