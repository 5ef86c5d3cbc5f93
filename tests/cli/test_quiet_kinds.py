# SPDX-License-Identifier: Apache-2.0
"""Hidden operators and waits are for analyses: tables and other formats are, but for the number of records, byte for
byte those of a file without them."""
import os
import pathlib
import sqlite3
import subprocess

import pytest

from native_file import NativeFile, words

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
US = 1000
OPERATOR, VARIABLES, WAIT, HIDDEN = 3, 4, 10, 11
UNKNOWN_THREAD = 0xFFFF


class Program(NativeFile):
    """Three steps: an operator on a worker, a hidden one, a wait for both. Without `quiet`, as older libraries
    have recorded it."""

    def __init__(self, quiet):
        super().__init__()
        self.quiet = quiet
        self.main, self.worker = self.thread("main"), self.thread("compute worker")
        self.dot = self.name("dot", "operator", "span")
        self.custom = self.name("Custom", "operator", "span")
        self.call = self.name("MXNDArrayWaitAll", "MXNET_C_API", "span")
        self.layer = self.name("dense0", 0, "scope")
        self.meta(self.main, "state", 0, value=1)
        for step in range(3):
            self.step(step, (1000 + 1000 * step) * US)
        self.meta(self.main, "state", 9000 * US, value=0)

    def word0(self, kind, units, at):
        return kind | units << 8 | (self.origin + at & (1 << 48) - 1) << 16

    def operator(self, kind, number, name, begin, end, released_by):
        self.add(self.worker, words(self.word0(kind, 4, begin), name | number << 32, end - begin | 1 << 48,
                                    10 * US | UNKNOWN_THREAD << 48, 5 * US | 1 << 56, released_by, self.layer, 0))
        self.threads[self.worker]["bytes"] += words(VARIABLES | 4 << 8 | 1 << 16 | number << 32,
                                                    7 | 1 << 31, *[0] * 6)

    def step(self, number, at):
        self.meta(self.main, "step", at, value=number)
        self.operator(OPERATOR, 2 * number + 1, self.dot, at + 20 * US, at + (400 + number) * US, 0)
        if self.quiet:
            self.operator(HIDDEN, 2 * number + 2, self.custom if number else 0, at + 410 * US, at + 600 * US,
                          2 * number + 1)
            self.add(self.main, words(self.word0(WAIT, 2, at + 30 * US), self.dot | (2 * number + 2) << 32,
                                      590 * US | 3 << 48 | 3 << 52, 0))
        self.span(self.main, self.call, at + 25 * US, at + 625 * US)

    def threads_payload(self):
        """Records are counted with what is not told."""
        for thread in self.threads:
            thread["records"] = 10
        return super().threads_payload()


def outputs(folder, quiet, *arguments):
    path = folder / "a.mxp"
    path.write_bytes(Program(quiet).to_bytes())
    done = subprocess.run([BUILD / "mxprof", *arguments], cwd=folder, capture_output=True, timeout=60, check=True)
    return done.stdout


def without_counts(printed):
    """All lines but those that say how many records the file has, in how many bytes."""
    return [line for line in printed.decode().splitlines()
            if "record" not in line.lower() and not line.lstrip().startswith('"Bytes": ')]


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]], ids=["text", "json", "csv"])
@pytest.mark.parametrize("by", ["name", "scope", "step"])
def test_tables_do_not_know_them(tmp_path, by, form):
    with_them, without = (outputs(tmp_path, quiet, "report", "--layout", "mxnet", "--by", by, *form,
                                           "a.mxp") for quiet in (True, False))
    assert without_counts(with_them) == without_counts(without)
    assert (b"dense0" if by == "scope" else b"dot") in without


@pytest.mark.parametrize("form", ["chrome", "perfetto", "table", "json", "csv", "folded", "speedscope", "pprof"])
def test_other_formats_do_not_know_them(tmp_path, form):
    with_them, without = (outputs(tmp_path, quiet, "convert", "a.mxp", "-o", "-", "--to", form)
                          for quiet in (True, False))
    if form in ("table", "json", "csv"):
        with_them, without = without_counts(with_them), without_counts(without)
    assert with_them == without and len(without) > 2


def test_databases_do_not_know_them(tmp_path):
    dumps = []
    for quiet in (True, False):
        outputs(tmp_path, quiet, "convert", "a.mxp", "-o", "a.sqlite")
        with sqlite3.connect(tmp_path / "a.sqlite") as database:
            dumps.append(list(database.iterdump()))
        (tmp_path / "a.sqlite").unlink()
    assert dumps[0] == dumps[1] and any("dot" in line for line in dumps[0])


def test_what_is_in_the_file_is_told(tmp_path):
    told = outputs(tmp_path, True, "info", "a.mxp").decode()
    assert "3  waits" in told and "3  operators that tables do not show" in told and "3  operators\n" in told


def test_packed_files_keep_them(tmp_path):
    outputs(tmp_path, True, "convert", "a.mxp", "-o", "a.mxpz")
    subprocess.run([BUILD / "mxprof", "convert", "a.mxpz", "-o", "b.mxp"], cwd=tmp_path, timeout=60, check=True)
    first, second = (subprocess.run([BUILD / "mxprof", "info", name], cwd=tmp_path, capture_output=True, text=True,
                                    timeout=60, check=True).stdout for name in ("a.mxp", "b.mxp"))
    assert [line for line in first.splitlines() if "  waits" in line or "do not show" in line] == \
        [line for line in second.splitlines() if "  waits" in line or "do not show" in line] != []
