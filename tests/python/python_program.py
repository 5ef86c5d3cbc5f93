# SPDX-License-Identifier: Apache-2.0
"""Running a program on the package in a process and a directory of its own."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
from typing import NamedTuple

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", SOURCE / "build/release")).resolve()


class Done(NamedTuple):
    """What a program left."""

    code: int
    out: str
    err: str
    directory: pathlib.Path

    def trace(self, name="trace.json"):
        """The items of a trace file, of the program's own records."""
        items = json.loads((self.directory / name).read_text(encoding="utf-8"))["traceEvents"]
        return [item for item in items if item["ph"] != "M" and item.get("cat") != "mxprof"]


def run_python(source, directory, timeout=180, **environment):
    """Runs source text; MXNET_PYTHON_CORE is this process's unless it is given."""
    return run_file(["-c", source], directory, timeout, **environment)


def run_example(name, directory, timeout=180, **environment):
    """Runs a program of examples/python."""
    return run_file([str(SOURCE / "examples/python" / name)], directory, timeout, **environment)


def run_file(arguments, directory, timeout, **environment):
    """Runs Python with these arguments."""
    done = subprocess.run([sys.executable, *arguments], cwd=directory, env=_variables(environment),
                          timeout=timeout, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    return Done(done.returncode, done.stdout, done.stderr, pathlib.Path(directory))


@contextlib.contextmanager
def running_python(arguments, directory, **environment):
    """Python with these arguments, beside the test; it does not outlive the block."""
    with subprocess.Popen([sys.executable, *arguments], cwd=directory, env=_variables(environment),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def _variables(environment):
    variables = {key: value for key, value in os.environ.items()
                 if not key.startswith(("MXPROF_", "MXNET_PROFILER", "MXNET_ENGINE"))}
    variables.update(PYTHONPATH=str(SOURCE / "python"), PYTHONDONTWRITEBYTECODE="1",
                     MXNET_LIBRARY_PATH=str(BUILD / "libmxnet.so"))
    variables.update(environment)
    return variables


def names(items, category):
    """The names of a category's spans, in the order of their begins."""
    spans = [item for item in items if item.get("cat") == category and item["ph"] in "Xb"]
    return [item["name"] for item in sorted(spans, key=lambda item: item["ts"])]
