# SPDX-License-Identifier: Apache-2.0
"""Starts a training on several processes: `mxnet-launch`, or `python -m mxnet.launch`. It types the line for
`mpirun`, or in a Slurm job for `srun`, with the options that people forget, and tells at the end who failed
first, with that process's exit code. It needs nothing but Python's own library and imports nothing of the
package."""
from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from typing import Dict, List, Mapping, Optional, Tuple

HANDED_ON = ("MXNET_", "MXPROF_", "DMLC_", "OMP_")
LINE_MOST = 4096  # bytes of a line that has not ended
AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
ADVICE = "apt install openmpi-bin libopenmpi-dev"

# In a Slurm job all processes have one line; the first are the servers.
ROLE_BY_RANK = ('if [ "$SLURM_PROCID" -lt {servers} ]; then DMLC_ROLE=server; else DMLC_ROLE=worker; fi; '
                'export DMLC_ROLE; exec "$@"')

# What the starters and the processes themselves say of a death.
DIED = re.compile(r"^(?:\[[^]]*\])?mxnet: ((?:worker|server|scheduler) \d+ \(.*?\) "
                  r"(?:died|has been silent for .*?|sent what .*?))(?:;|$)")
MPI_SIGNAL = re.compile(r"noticed that process rank (\d+) with PID \d+ on node (\S+) exited on signal (\d+)")
MPI_NAME = re.compile(r"Process name: \[\[\d+,\d+\],(\d+)\]")
MPI_CODE = re.compile(r"Exit code:\s+(\d+)")
RANK = re.compile(r"\(rank (\d+)")
SLURM_CODE = re.compile(r"^srun: error: (\S+): tasks? (\d+).*?: (?:Exited with exit code (\d+)|(\w[\w ]*))")
SLURM_WORDS = {"Killed": 9, "Aborted": 6, "Segmentation fault": 11, "Terminated": 15, "Bus error": 7}


class Wrong(Exception):
    """A call that cannot be obeyed, with what to do."""


def parse(arguments: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mxnet-launch", description="Starts PROGRAM as several workers, over MPI.",
        usage="mxnet-launch -n WORKERS [-s SERVERS] [-H HOSTS | --hostfile FILE] [--env NAME[=VALUE]] "
              "[--profile DIR] [--dry-run] -- PROGRAM [ARGUMENT...]")
    parser.add_argument("-n", "--workers", type=int, required=True, help="how many workers")
    parser.add_argument("-s", "--servers", type=int, default=0,
                        help="how many servers; 0, the default: workers keep the values themselves")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("-H", "--hosts", help="host[:slots],...; default: this machine, or Slurm's")
    places.add_argument("--hostfile", metavar="FILE", help="lines of: host slots=N")
    parser.add_argument("--env", action="append", default=[], metavar="NAME[=VALUE]",
                        help="hand on a variable besides " + ", ".join(f"{name}*" for name in HANDED_ON)
                        + " and PYTHONPATH, or set one")
    parser.add_argument("--profile", metavar="DIR", help="profile every process into this new folder")
    parser.add_argument("--allow-run-as-root", action="store_true",
                        help="let mpirun run as root, as it must in many containers")
    parser.add_argument("--dry-run", action="store_true", help="print the line and do nothing")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.program[:1] == ["--"]:
        del options.program[0]
    if not options.program:
        parser.error("which program? It comes behind --")
    if options.workers < 1 or options.servers < 0:
        parser.error("there is at least one worker, and no negative number of servers")
    return options


def variables(options: argparse.Namespace, environment: Mapping[str, str]) -> Tuple[List[str], Dict[str, str]]:
    """Names to hand on, and values to set first."""
    names = sorted(name for name in environment if name.startswith(HANDED_ON) or name == "PYTHONPATH")
    values = {}
    if options.servers:
        values = {"DMLC_NUM_WORKER": str(options.workers), "DMLC_NUM_SERVER": str(options.servers)}
    for entry in options.env:
        name, equals, value = entry.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise Wrong(f"--env {entry}: '{name}' is no name of a variable")
        if equals:
            values[name] = value
        elif name not in environment:
            raise Wrong(f"--env {name}: it is not set; --env {name}=VALUE sets it")
        names.append(name)
    # The role is each part's own, also where this starter was itself started with one.
    return [name for name in dict.fromkeys([*names, *values]) if name != "DMLC_ROLE"], values


def cores() -> Optional[int]:
    """What Open MPI takes for this machine's slots: cores, not their threads."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            found = re.findall(r"^(?:physical id|core id)\s*:\s*(\d+)", lines.read(), re.MULTILINE)
    except OSError:
        found = []
    return len(set(zip(found[::2], found[1::2]))) or os.cpu_count()


def slots_of(options: argparse.Namespace) -> Optional[int]:
    """How many processes the hosts are said to have room for, None if they do not say."""
    if options.hosts:
        entries = [host.partition(":")[2] or "1" for host in options.hosts.split(",")]
    elif options.hostfile:
        with open(options.hostfile, encoding="utf-8") as lines:
            hosts = [line.split("#")[0] for line in lines]
        entries = [match[1] if (match := re.search(r"slots\s*=\s*(\d+)", host)) else "1"
                   for host in hosts if host.strip()]
    else:
        return cores()
    return sum(map(int, entries)) if all(entry.isdigit() for entry in entries) else None


def mpirun_line(options: argparse.Namespace, names: List[str]) -> List[str]:
    slots = slots_of(options)
    line = ["mpirun", "--bind-to", "none"]
    if slots is None or slots < options.workers + options.servers:
        line.append("--oversubscribe")
    if options.hosts:
        line += ["--host", options.hosts]
    elif options.hostfile:
        line += ["--hostfile", options.hostfile]
    else:  # nothing listens outside
        line += ["--mca", "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo"]
    for name in names:
        line += ["-x", name]
    if not options.servers:
        return [*line, "-n", str(options.workers), *options.program]
    return [*line, "-n", str(options.servers), "-x", "DMLC_ROLE=server", *options.program, ":",
            "-n", str(options.workers), "-x", "DMLC_ROLE=worker", *options.program]


def srun_line(options: argparse.Namespace) -> List[str]:
    # srun hands the whole environment on by itself.
    line = ["srun", "--mpi=pmix", "--export=ALL", "-n", str(options.workers + options.servers)]
    if not options.servers:
        return [*line, *options.program]
    return [*line, "sh", "-c", ROLE_BY_RANK.format(servers=options.servers), "mxnet", *options.program]


def make_line(options: argparse.Namespace, environment: Dict[str, str]) -> Tuple[List[str], Dict[str, str]]:
    """The line, and the environment that it is started with. A role in it would be everybody's."""
    names, values = variables(options, environment)
    started_with = {**environment, **values}
    started_with.pop("DMLC_ROLE", None)
    if "SLURM_JOB_ID" in environment and not options.hosts and not options.hostfile:
        line = srun_line(options)
    else:
        if os.geteuid() == 0 and not all(name in environment for name in AS_ROOT):
            if not options.allow_run_as_root:
                raise Wrong(f"mpirun does not run as root unless {AS_ROOT[0]} and {AS_ROOT[1]} are set to 1, "
                            "which --allow-run-as-root does")
            started_with.update({name: "1" for name in AS_ROOT})
        line = mpirun_line(options, names)
    if options.profile:
        line = ["mxprof", "run", "-o", options.profile, "--", *line]
    return line, started_with


class Ending:
    """Who failed first, from what the starter and the processes print."""

    def __init__(self) -> None:
        self.who: Optional[str] = None  # as the survivors name it
        self.rank: Optional[str] = None
        self.code: Optional[int] = None
        self.how = ""

    def hear(self, line: str) -> None:
        died, name = DIED.search(line), MPI_NAME.search(line)
        if died and self.who is None:
            self.who = died[1]
        if name and self.rank is None:
            self.rank = name[1]
        if self.code is None:
            self._hear_code(line)

    def _hear_code(self, line: str) -> None:
        ended, code, task = MPI_SIGNAL.search(line), MPI_CODE.search(line), SLURM_CODE.search(line)
        if ended:
            self.rank = self.rank or ended[1]
            self._set_signal(int(ended[3]))
        elif code and self.rank is not None:
            self._set_code(int(code[1]))
        elif task and task[3]:
            self.rank = self.rank or task[2]
            self._set_code(int(task[3]))
        elif task and task[4] in SLURM_WORDS:
            self.rank = self.rank or task[2]
            self._set_signal(SLURM_WORDS[task[4]])

    def _set_code(self, code: int) -> None:
        self.code = code
        self.how = f"exit code {code}"

    def _set_signal(self, number: int) -> None:
        self.code = 128 + number
        try:
            self.how = f"signal {number} ({signal.Signals(number).name})"
        except ValueError:
            self.how = f"signal {number}"

    def line(self, code: int) -> str:
        who = self.who or (f"the process of rank {self.rank}" if self.rank else "a process")
        how = self.how or f"exit code {code}"
        dead = RANK.search(who)
        if dead and self.rank not in (None, dead[1]):  # one that ended because of it was seen to end before it
            return f"mxnet-launch: {who}; of rank {self.rank}, which the starter saw end first, there is {how}"
        return f"mxnet-launch: {who}: {how}" if self.who else f"mxnet-launch: {who} failed first: {how}"


class Signals:
    """Ends the job when somebody asks the starter for it. What the terminal sends (Ctrl-C) all processes of the line get
    from it by themselves: mpirun takes a second one within five seconds as an order to end at once, and leaves the
    processes that it has started behind."""

    HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.last: Optional[int] = None
        signal.pthread_sigmask(signal.SIG_BLOCK, self.HANDED_ON)

    def unblock(self) -> None:
        """In the started process, before its program."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self.HANDED_ON)

    def watch(self, started: "subprocess.Popen[bytes]") -> None:
        """From now on."""
        def wait() -> None:
            while True:
                came = signal.sigwaitinfo(self.HANDED_ON)
                self.last = came.si_signo
                if came.si_code <= 0:  # of a process, and not of the terminal
                    started.send_signal(came.si_signo)

        threading.Thread(target=wait, daemon=True).start()

    def line(self) -> str:
        assert self.last is not None
        return f"mxnet-launch: ended by {signal.Signals(self.last).name}"


def hand_out(started: "subprocess.Popen[bytes]", ending: Ending) -> None:
    """What is printed goes on as it comes: a progress bar has no end of a line."""
    assert started.stderr is not None
    rest = b""
    while True:
        piece = os.read(started.stderr.fileno(), 1 << 16)
        sys.stderr.buffer.write(piece)
        sys.stderr.flush()
        *lines, rest = re.split(rb"[\n\r]", rest[-LINE_MOST:] + piece)
        for line in lines if piece else [rest]:
            ending.hear(line.decode("utf-8", "replace"))
        if not piece:
            print(end="\n" if rest else "", file=sys.stderr)
            return


def run(line: List[str], environment: Dict[str, str]) -> int:
    ending, signals = Ending(), Signals()
    with subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, preexec_fn=signals.unblock) as started:
        signals.watch(started)
        hand_out(started, ending)
        code = started.wait()
    code = 128 - code if code < 0 else code
    if code == 0 and ending.who is None:
        return 0
    if signals.last is not None and ending.who is None:
        print(signals.line(), file=sys.stderr)
        return 128 + signals.last
    print(ending.line(code), file=sys.stderr)
    return ending.code or code or 70


def main(arguments: Optional[List[str]] = None) -> int:
    try:
        options = parse(sys.argv[1:] if arguments is None else arguments)
        line, environment = make_line(options, dict(os.environ))
        if options.dry_run:
            print(shlex.join(line))
            return 0
        if shutil.which(line[0]) is None:
            raise Wrong(f"there is no {line[0]}" + ("" if line[0] != "mpirun" else f": {ADVICE}"))
    except (Wrong, OSError) as error:
        print(f"mxnet-launch: {error}", file=sys.stderr)
        return 2
    return run(line, environment)


if __name__ == "__main__":
    sys.exit(main())
