# SPDX-License-Identifier: Apache-2.0
"""Compares what a random program (session_model.c) has left with what it says it has recorded. Every output is
read by a parser that is not ours: JSON by Python's, Perfetto by perfetto_decoder, native files by format_reader.

    session_check.py SEED [TIMES]       plays a seed until it fails, and keeps the folder of that program"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", "."))
BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
sys.path += [str(SOURCE / "tests/perfetto"), str(SOURCE / "tests/format")]
import format_reader  # noqa: E402  pylint: disable=wrong-import-position
import perfetto_decoder  # noqa: E402  pylint: disable=wrong-import-position

CATEGORIES = {"model,frame": "frame", "event": "event", "model,instant_marker": "marker"}
LARGE_BYTES = 1 << 20
MARKS = ("marker", "instant")


def kind_of(category, name):
    if category != "model":
        return CATEGORIES.get(category)
    word = name.split(" ")[0]
    if word in ("shared", "sequence"):
        return "counter"
    return word if word in ("task", "instant") else "span"


class Found:
    """Rows like the truth's: (kind, name) -> count, and the last value of counters."""

    def __init__(self):
        self.count = Counter()
        self.last = {}

    def add(self, kind, name, count=1):
        if kind is not None:
            self.count[kind, name] += count

    def add_all(self, other):
        self.count.update(other.count)
        self.last.update(other.last)


class Mismatch(AssertionError):
    pass


def expect(fine, *words):
    if not fine:
        raise Mismatch(" ".join(map(str, words)))


def compare(where, found, truth, kinds, at_most=False):
    """`truth`: {kind: {name: [count, last]}}."""
    wanted = {(kind, name): row for kind in kinds for name, row in truth[kind].items()}
    for key in sorted(set(wanted) | {key for key in found.count if key[0] in kinds}):
        count, last = wanted.get(key, (0, None))
        seen = found.count[key]
        expect(seen <= count if at_most else seen == count, where, key, "counts", seen, "and not", count)
        if key[0] == "counter" and not at_most and key in found.last:
            expect(found.last[key] == last, where, key, "ends at", found.last[key], "and not", last)


# ---- the outputs -------------------------------------------------------------------------------
def of_chrome(path, pid):
    """What the process has in it, and how many spans each of its children."""
    found, children, times = Found(), Counter(), defaultdict(float)
    for event in json.loads(path.read_text())["traceEvents"]:
        kind, name = kind_of(event["cat"], event["name"]), event["name"]
        if event["ph"] in ("M", "e"):
            continue
        if event["pid"] != pid:
            children[event["pid"]] += event["ph"] == "X"
            continue
        found.add(kind, name)
        if event["ph"] == "C" and event["ts"] >= times[name]:
            times[name], found.last[kind, name] = event["ts"], event["args"][name]
    return found, children


def of_table(text):
    found = Found()
    for category, rows in (json.loads(text)["Time"] if text.strip() else {}).items():
        for name, row in rows.items():
            kind = kind_of(category, name)
            found.add(kind, name, row["Count"])
            if kind == "counter":
                found.last[kind, name] = row["Total"]
    return found


def of_perfetto(path):
    found = Found()
    trace = perfetto_decoder.Trace(path.read_bytes())
    for each in trace.slices:
        found.add(kind_of(each.category, each.name), each.name)
    for each in trace.instants:
        found.add(kind_of(each.category, each.name), each.name)
    for each in trace.samples:
        name = trace.tracks[each.track]["name"]
        found.add(kind_of("model", name), name) if name.split(" ")[0] in ("shared", "sequence") else None
    return found


def of_native(path):
    """By the reader that is written from the format's page. Markers are instants whose category says so."""
    return count_native(format_reader.Trace(path.read_bytes()))


def count_native(trace):
    found = Found()
    names = {}
    for i, name in enumerate(trace.names):
        names.setdefault(format_reader.readable(name["text"]),
                         format_reader.readable(trace.names[name["category"]]["text"]))
    for chunk in trace.chunks:
        for record in trace.records(chunk):
            if record["kind"] in ("span", "span_long", "instant", "counter"):
                found.add(kind_of(names[record["name"]], record["name"]), record["name"])
    return found


def mxprof(*arguments):
    result = subprocess.run([BUILD / "mxprof", *map(str, arguments)], capture_output=True, text=True,
                            timeout=60, check=False)
    expect(result.returncode == 0, "mxprof", *arguments, "gives", result.returncode, result.stderr)
    return result.stdout


# ---- the comparison ----------------------------------------------------------------------------
class Run:
    def __init__(self, folder, pid):
        self.folder, self.pid = folder, pid
        self.truth = json.loads((folder / "truth.json").read_text())
        kinds = ["span", "task", "frame", "event", "marker", "instant", "counter"]
        self.table_kinds = [kind for kind in kinds if kind not in MARKS]
        self.kinds = kinds

    def files(self, pattern):
        found = [path for path in self.folder.iterdir() if re.fullmatch(pattern, path.name)]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def check(self):
        self.check_precious()
        expect(not list((self.folder / "sub").iterdir()), "files were written where the program was, not where they belong")
        self.check_tables()
        if self.truth["statistics_only"]:
            return
        if self.truth["ring"]:
            self.check_ring()
        else:
            self.check_chrome()
            self.check_natives()
        self.check_children()
        self.check_snapshots()

    def check_precious(self):
        lines = "".join(f"line {i}\n" for i in range(1000))
        expect(not self.truth["precious"] or (self.folder / "precious.txt").read_bytes() == lines.encode(),
               "a file of the program's own was written to")

    def check_tables(self):
        for i, truth in enumerate(self.truth["tables"]):
            kinds = ["span", "task", "frame", "event"] if self.truth["statistics_only"] else self.table_kinds
            found = of_table((self.folder / f"table{i}.json").read_text())
            compare(f"table {i}", found, truth, kinds)

    def check_chrome(self):
        total, children = Found(), Counter()
        for path in self.files(r"(kept|c)\d+\.json"):
            found, of_children = of_chrome(path, self.pid)
            total.add_all(found)
            children.update(of_children)
        compare("the Chrome traces", total, self.truth["all"], self.kinds)
        for child in self.truth["children"]:
            seen = children.pop(child["pid"], 0)
            wanted = {-1: (0, child["count"]), 0: (0,), 1: (child["count"],)}[child["in_chrome"]]
            expect(seen in wanted, "child", child["pid"], "has", seen, "spans in the Chrome traces and not", wanted)
        expect(not children, "processes that nobody knows:", dict(children))

    def every_form(self, path):
        """A native file in all its forms, which must agree; the table of a ring counts from where all threads
        are covered."""
        found = of_table(mxprof("report", "--layout", "mxnet", "--json", path))
        converted = self.folder / "converted"
        mxprof("convert", path, "--to", "chrome", "-o", converted)
        chrome, _ = of_chrome(converted, self.pid)
        others = {"report": found}
        if path.stat().st_size < LARGE_BYTES:  # reading takes long in Python
            mxprof("convert", path, "--to", "perfetto", "-o", converted)
            others |= {"Perfetto": of_perfetto(converted), "format": of_native(path)}
        for name, other in others.items():
            for key in set(chrome.count) | set(other.count):
                if key[0] in self.table_kinds:
                    seen, wanted = other.count[key], chrome.count[key]
                    fine = seen <= wanted if self.truth["ring"] and other is found else seen == wanted
                    expect(fine, path.name, key, "counts", seen, "in the form", name, "and", wanted, "in Chrome's")
        return chrome

    def check_natives(self):
        total = Found()
        for path in self.files(r"(kept|n)\d+\.mxp"):
            total.add_all(self.every_form(path))
        if not self.truth["switches"]:
            compare("the native files", total, self.truth["all"], self.kinds)
            return
        # What memory held when a recording file began is in it, and still to go to the files of dumps.
        for kind in self.kinds:
            for name, (count, _) in self.truth["all"][kind].items():
                expect(total.count[kind, name] >= count, "the native files miss", kind, name)

    def check_children(self):
        for child in self.truth["children"]:
            paths = self.files(rf"n\d+\.{child['pid']}\.mxp")
            expect(len(paths) == (child["count"] != 0), "child", child["pid"], "of", child["count"],
                   "spans has the files", [path.name for path in paths])
            for path in paths:
                found = of_table(mxprof("report", "--layout", "mxnet", "--json", path)).count["span", "child"]
                expect(found == child["count"], path.name, "has", found, "spans and not", child["count"])

    def check_ring(self):
        for path in self.files(r"c\d+\.json"):
            compare(path.name, of_chrome(path, self.pid)[0], self.truth["all"], self.kinds, at_most=True)
        for path in self.files(r"n\d+\.mxp"):
            compare(path.name, self.every_form(path), self.truth["all"], self.kinds, at_most=True)
            self.check_account(path)

    def check_account(self, path):
        """What a ring holds and what made room are all that was recorded, marks of scopes and states included."""
        trace = format_reader.Trace(path.read_bytes())
        records = [record for chunk in trace.chunks for record in trace.records(chunk) if not record.get("standing")]
        marks = sum(record["kind"] == "meta" for record in records)
        info = dict(trace.info)
        gone, made = int(info.get("overwritten_records", 0)), int(info["records"])
        recorded = sum(count for kind in self.truth["all"].values() for count, _ in kind.values())
        expect(len(records) + gone == made, path.name, "holds", len(records), "and", gone,
               "made room, of", made)
        # A ring that is read while it is full loses what does not fit into its reserve, and counts it.
        made += sum(loss["count"] for loss in trace.losses)
        if gone == 0:
            expect(made - marks == recorded, path.name, "holds", made - marks, "of", recorded)
        else:
            expect(recorded <= made <= 1.25 * recorded, path.name, "accounts for",
                   made, "where", recorded, "and marks were recorded")

    def check_snapshots(self):
        for path in self.files(r"s\d+\.mxp"):
            compare(path.name, self.every_form(path), self.truth["all"], self.kinds, at_most=True)


def run(seed, folder):
    """Plays one seed in an empty folder. Raises Mismatch."""
    process = subprocess.Popen([BUILD / "tests/model/session_model", str(seed)], cwd=folder,
                               stderr=subprocess.PIPE, text=True)
    _, errors = process.communicate(timeout=120)
    expect(process.returncode == 0, "the program ended with", process.returncode, errors)
    Run(folder, process.pid).check()


def main(seed, times=1):
    for i in range(int(times)):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"session-model-{seed}-"))
        try:
            run(int(seed), folder)
        except Mismatch as difference:
            sys.exit(f"seed {seed}, time {i + 1}: {difference} [{folder}]")
        shutil.rmtree(folder)
    print(f"seed {seed}: {times} times fine")


if __name__ == "__main__":
    main(*sys.argv[1:])
