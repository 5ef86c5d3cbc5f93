# SPDX-License-Identifier: Apache-2.0
"""examples/server.c and its twin in C++: under load, with a snapshot, as a daemon, ended properly and killed, and what
its file then tells. And docs/questions/one-request.md: its commands, typed as they stand there, print what it shows."""
import json
import os
import pathlib
import re
import resource
import select
import signal
import socket
import subprocess
import threading
import time

import pytest

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
PAGE = (SOURCE / "docs/questions/one-request.md").read_text()
SLOW, LONGEST = "/primes/30000000", 100_000_000
CLIENTS, EACH = 4, 40


NOTHING_RECORDED = 3


def mxprof(*arguments, answers=(0, 1)):
    done = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in answers, done.stderr
    return done.stdout


def clean_environment():
    return {key: value for key, value in os.environ.items() if not key.startswith(("MXPROF_", "MXNET_"))}


class Server:
    """A running example; the process is killed at the end."""

    def __init__(self, name, folder, *options):
        self.file = folder / "server.mxp"
        program = BUILD / name
        if not program.exists():
            pytest.skip(f"{name} is not built")
        self.started = subprocess.Popen([program, *options, "0", self.file], stdout=subprocess.PIPE, text=True,
                                        env=clean_environment())
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+) process (\d+)\n", self.started.stdout.readline())
        self.port, self.pid = map(int, found.groups())

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def ask(self, path):
        with self.connect() as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            return connection.makefile().read()

    def load(self):
        """Many requests of several clients at once, all of them quick but one."""
        def client(number):
            for i in range(EACH):
                self.ask(f"/primes/{100 + number + CLIENTS * i}")
        threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        answer = self.ask(SLOW)
        for thread in threads:
            thread.join()
        return answer

    def begin(self):
        """A request that is being computed, by a process that is stopped: the machine may be slow, and the request's
        computation, though the longest there is, may end between two looks. Then another one is asked for."""
        for number in range(LONGEST, LONGEST - 100, -1):
            path = f"/primes/{number}"
            connection = self.connect()
            connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            while not select.select([connection], [], [], 0)[0]:
                os.kill(self.pid, signal.SIGSTOP)
                if re.search(r"  count primes .* no end\n", mxprof("at", self.file, "end", answers=(0, 1, NOTHING_RECORDED))):
                    return connection, path
                os.kill(self.pid, signal.SIGCONT)
                time.sleep(0.02)
            connection.close()
        raise AssertionError(mxprof("info", self.file))

    def __enter__(self):
        return self

    def __exit__(self, *what):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.started.wait()
        self.started.stdout.close()


@pytest.fixture(name="name", params=["server", "server_cpp"])
def fixture_name(request):
    return request.param


def spans_of(file, name):
    return json.loads(mxprof("top", "--name", name, "--top", 1000, "--json", file))["slowest"]


def arguments(span):
    return {arg["key"]: arg["value"] for arg in span["args"]}


def test_it_answers_and_refuses(name, tmp_path):
    with Server(name, tmp_path) as server:
        assert server.ask("/primes/100").endswith("\n\n25\n")
        assert server.ask("/primes/100").endswith("\n\n25\n")  # from its cache
        assert server.ask("/primes/0").endswith("\n\n0\n")
        for path in ("/", "/primes/", "/primes/1x", "/primes/100000001", "/else"):
            assert server.ask(path).startswith("HTTP/1.0 404 ")
        with server.connect() as connection:
            connection.sendall(b"x" * 5000)
            assert connection.makefile().read(12) == "HTTP/1.0 404"
        server.connect().close()
        assert server.ask("/primes/3").endswith("\n\n1\n")


def test_what_is_in_the_cache_is_computed_once(name, tmp_path):
    """However often it is asked for: 256 values have room."""
    with Server(name, tmp_path) as server:
        for path in [*["/primes/100"] * 300, "/primes/200", "/primes/200"]:
            assert " 200 OK" in server.ask(path)
        assert len(spans_of(server.file, "look up")) == 302
        assert len(spans_of(server.file, "count primes")) == 2


def test_a_request_without_memory_for_it_is_refused_and_the_server_goes_on(name, tmp_path):
    with Server(name, tmp_path) as server:
        server.ask("/primes/100")
        used = int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[0]) * resource.getpagesize()
        resource.prlimit(server.pid, resource.RLIMIT_AS, (used + (30 << 20), used + (30 << 20)))
        assert server.ask(f"/primes/{LONGEST}").endswith("503 Service Unavailable\nContent-Length: 10\n\nno memory\n")
        assert server.ask("/primes/200").endswith("\n\n46\n")


def test_its_help_is_no_error(name):
    done = subprocess.run([BUILD / name, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout[:14], done.stderr) == (0, "usage: server ", "")


def test_the_slowest_request_of_a_killed_server_is_named_and_its_life_is_there(name, tmp_path):
    with Server(name, tmp_path) as server:
        assert server.load().endswith("\n\n1857859\n")  # primes below 30 million
        connection, _ = server.begin()
        with connection:
            os.kill(server.pid, signal.SIGKILL)
            server.started.wait()
    info = mxprof("info", server.file)
    assert "the process died" in info and "lost     nothing" in info
    lives = [arguments(span) for span in spans_of(server.file, "request")]
    ended = [life for life in lives if "bytes" in life]
    assert sorted(life["request"] for life in ended) == list(range(1, CLIENTS * EACH + 2))
    slowest = max((span for span in spans_of(server.file, "request") if "bytes" in arguments(span)),
                  key=lambda span: span["duration_ns"])
    assert arguments(slowest)["path"] == SLOW
    expect_life(server.file, arguments(slowest)["request"])


def expect_life(file, number):
    """All that was done for the request, in its order: begun by one thread, computed by another."""
    life = json.loads(mxprof("show", "--arg", f"request={number}", "--json", file))
    rows = sorted(life["rows"], key=lambda row: row["begin_ns"])
    assert [row["name"] for row in rows] == ["request", "parse", "in queue", "handle", "look up", "count primes", "reply"]
    threads = [row["thread"] for row in rows]
    assert threads[0] == threads[1] == threads[6] != threads[3] == threads[4] == threads[5]
    by_name = {row["name"]: row for row in rows}
    assert by_name["count primes"]["duration_ns"] > .5 * by_name["request"]["duration_ns"]
    assert by_name["handle"]["begin_ns"] >= by_name["in queue"]["begin_ns"] + by_name["in queue"]["duration_ns"]


def test_what_it_was_at_when_it_was_killed_is_there(name, tmp_path):
    with Server(name, tmp_path) as server:
        connection, path = server.begin()
        with connection:
            os.kill(server.pid, signal.SIGKILL)
            server.started.wait()
    number = max(arguments(span)["request"] for span in spans_of(server.file, "handle"))
    assert f'  open       "request" (id={number}) for ' in mxprof("info", server.file)
    told = mxprof("at", server.file, "end")
    assert re.search(rf"handle +\S+ \S+ +no end +request=\d+ path={path}\n", told), told
    assert re.search(r"  count primes +\S+ \S+ +no end\n", told), told


def test_the_page_of_a_dead_process_shows_what_is_printed_of_it(tmp_path):
    """docs/flight-recorder.md: the box below `kill -9`, but for its figures and the machine's clock."""
    page = (SOURCE / "docs/flight-recorder.md").read_text()
    shown = re.search(r"^\$ kill -9 \$!\n\$ mxprof info server\.mxp\n(.*?)^\.\.\.$", page, re.MULTILINE | re.DOTALL)[1]
    with Server("server", tmp_path) as server:
        connection, _ = server.begin()
        with connection:
            os.kill(server.pid, signal.SIGKILL)
            server.started.wait()
    printed = mxprof("info", server.file).replace(str(server.file), "server.mxp")
    lines, expected = [re.sub(r"\d[\d.]*", "N", re.sub("(?m)^(clock +)(tsc|raw)", r"\1CLOCK", text)).splitlines()
                       for text in (printed, shown)]
    assert lines[:len(expected)] == expected


def test_a_snapshot_is_taken_under_load(name, tmp_path):
    with Server(name, tmp_path) as server:
        server.load()
        written = mxprof("snapshot", server.pid).strip()
        assert re.fullmatch(rf"{tmp_path}/server\.{server.pid}\.\d+\.mxp", written)
        assert len(spans_of(written, "handle")) == CLIENTS * EACH + 1
        assert server.ask("/primes/10").endswith("\n4\n")  # it goes on


def test_a_daemon_records_and_takes_snapshots(name, tmp_path):
    with Server(name, tmp_path, "--daemon") as server:
        assert server.started.wait(timeout=60) == 0
        assert server.pid != server.started.pid
        assert server.ask("/primes/10").endswith("\n4\n")
        assert len(spans_of(mxprof("snapshot", server.pid).strip(), "handle")) == 1
    assert len(spans_of(server.file, "handle")) == 1


def test_its_end_is_proper(name, tmp_path):
    with Server(name, tmp_path) as server:
        server.load()
        os.kill(server.pid, signal.SIGTERM)
        assert server.started.wait(timeout=60) == 0
    assert "the process died" not in mxprof("info", server.file)
    assert len(spans_of(server.file, "request")) == CLIENTS * EACH + 1


# ---- the page -----------------------------------------------------------------------------------
# For machines without curl.
CURL = """curl() { python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode(), end="")' "$2"; }
"""


def form(text):
    """Lines without numbers, units and widths; of parts of a time only the largest."""
    plain = re.sub(r"[\d.,]+( (ns|µs|ms|s)\b|%)?", " ", text)
    plain = re.sub(r"^( *count primes) .*", r"\1", plain, flags=re.MULTILINE)
    return [re.sub(r"\s+", " ", line).strip() for line in plain.splitlines()]


def test_the_pages_commands_print_what_it_shows(tmp_path):
    consoles = "".join(re.findall(r"```\n(\$ .*?)```", PAGE, re.DOTALL))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    steps = re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", consoles, re.MULTILINE)
    script = "trap 'kill -9 $! 2> /dev/null' EXIT\n" + CURL
    for i, (command, _) in enumerate(steps):
        command = command.replace("8080", str(port)).replace("build/release/", f"{BUILD}/")
        if command.endswith(" &\n"):  # what it prints is waited for
            command = command[:-2] + " > out & while [ ! -s out ]; do sleep 0.02; done; cat out\n"
        script += f"echo '== {i}'\n{command}"
    environment = {**clean_environment(), "PATH": f"{BUILD}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          timeout=120, check=False)
    printed = re.split(r"^== \d+\n", done.stdout, flags=re.MULTILINE)[1:]
    assert len(printed) == len(steps), done.stderr
    for (command, shown), output in zip(steps, printed):
        assert form(shown.replace("8080", str(port))) == form(output), (command, output, done.stderr)
