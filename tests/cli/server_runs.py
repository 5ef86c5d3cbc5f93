# SPDX-License-Identifier: Apache-2.0
"""Runs of server_program.c, whose spans carry a request's number: as a file that a killed process left,
as a core file, and alive. What it records is known: 200 requests, number 137 slow, the last one open."""
import os
import pathlib
import re
import resource
import struct
import subprocess
import time

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
REQUESTS, SLOW = 200, 137


def compiled(folder, *options, libraries=("-lmxprof",)):
    """The server; `options` go to the compiler."""
    program = folder / "server"
    subprocess.run(["cc", "-O1", *options, SOURCE / "tests/cli/server_program.c", "-o", program,
                    f"-I{SOURCE}/include", f"-L{BUILD}", *libraries, f"-Wl,-rpath,{BUILD}", "-lpthread"],
                   check=True)
    return program


def environment(store, **more):
    clean = {key: value for key, value in os.environ.items()
             if not key.startswith(("MXPROF_", "MXNET_PROFILER_"))}
    return {**clean, "MXPROF_AUTOSTART": "1", "MXPROF_FULL_POLICY": "ring", "MXPROF_STORE": store,
            "MXPROF_MEMORY_LIMIT_BYTES": "16M", "MXPROF_FILENAME": "none",
            "MXPROF_NATIVE_FILENAME": "ring.mxp" if store == "file" else "none", **more}


def killed(program, folder):
    """The file of a server that was killed with -9."""
    subprocess.run([program, "9"], cwd=folder, env=environment("file"), check=False, timeout=60)
    return folder / "ring.mxp"


def kernel_writes_cores():
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    return pattern == "core" and resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def aborted(program, folder):
    """The core file that the kernel writes; None where it writes none here."""
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    subprocess.run([program, "6"], cwd=folder, env=environment("memory"), check=False, timeout=60,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
    return next(iter(sorted(folder.glob("core*"))), None)


class Living:
    """A server that has handled all requests but the last, and lives on."""

    def __init__(self, program, folder, store):
        self.process = subprocess.Popen([program, "0"], cwd=folder, env=environment(store))
        self.pid = self.process.pid
        wanted = time.monotonic() + 30
        while "pause" not in self.call() and time.monotonic() < wanted:
            time.sleep(0.01)

    def call(self):
        """The system call that its first thread is in: pause() when all is done."""
        number = pathlib.Path(f"/proc/{self.pid}/syscall").read_text().split()[0]
        return {"34": "pause", "73": "pause"}.get(number, number)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.kill()
        self.process.wait()


def write_core(pid, path):
    """The core file of a living process, with all that it can write and that is in no file, as the kernel
    makes it; written from the description."""
    parts = []
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw(?!-s.* /(?!dev/zero))", line)
            if found:
                begin, end = (int(word, 16) for word in found.groups())
                memory.seek(begin)
                parts.append((begin, memory.read(end - begin)))
    offset = 64 + 56 * len(parts)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, len(parts), 64,
                         0, 0)
    table = b""
    for begin, data in parts:
        table += struct.pack("<IIQQQQQQ", 1, 6, offset, begin, 0, len(data), len(data), 4096)
        offset += len(data)
    path.write_bytes(header + table + b"".join(data for _, data in parts))
    return path
