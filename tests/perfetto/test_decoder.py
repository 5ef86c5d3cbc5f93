# SPDX-License-Identifier: Apache-2.0
"""`mxprof convert -o x.pftrace`: what it writes keeps to the schema (perfetto_decoder.py checks every packet), and
tells the same as the Chrome file of the same run, event by event."""
import collections
import decimal
import json
import subprocess

import pytest

import perfetto_decoder as decoder
from viewer import BUILD, SOURCE, mxprof

LANE_ROWS = 10000000  # ids above it are rows of lanes in a Chrome file


def ns(us):
    return int(decimal.Decimal(str(us)) * 1000)


@pytest.fixture(scope="module", name="folder")
def folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    for name, program in (("embed", "embed"), ("train", "train")):
        (folder / name).mkdir()
        subprocess.run([BUILD / program, folder / name], cwd=SOURCE if name == "embed" else folder / name,
                       check=True, capture_output=True, timeout=120)
    (folder / "sample").mkdir()
    (folder / "sample/sample.mxp").write_bytes((SOURCE / "tests/format/v1.mxp").read_bytes())
    return folder


@pytest.fixture(scope="module", name="both", params=["embed", "train", "sample"])
def both_fixture(folder, request):
    """(the decoded Perfetto trace, the Chrome trace) of one run."""
    source, = (folder / request.param).glob("*.mxp")
    trace, chrome = folder / "out.pftrace", folder / "out.json"
    mxprof("convert", source, "-o", trace)
    mxprof("convert", source, "-o", chrome)
    return decoder.Trace(trace.read_bytes()), json.loads(chrome.read_text(), parse_float=decimal.Decimal)


def events(chrome, phases):
    return [event for event in chrome["traceEvents"] if event["ph"] in phases]


def plain(args):
    """Arguments as both files can tell them: times in whole ns."""
    return tuple(sorted((key, ns(value) if key.endswith("_us") else float(value)
                         if isinstance(value, (int, float, decimal.Decimal)) else value)
                        for key, value in args.items()))


def row_of(event):
    return event["tid"] if event["tid"] < LANE_ROWS else None


def test_slices_are_those_of_the_chrome_file(both):
    trace, chrome = both
    zero = trace.zero()
    shown = collections.Counter(
        (trace.thread_of(each.track), each.category, each.name, each.begin - zero, each.end - each.begin,
         plain({key: round(value, 3) if key.endswith("_us") else value for key, value in each.args.items()}))
        for each in trace.slices)
    expected = collections.Counter()
    begun = {}
    for event in events(chrome, "Xbe"):
        if event["ph"] == "X":
            expected[row_of(event), event["cat"], event["name"], ns(event["ts"]), ns(event["dur"]),
                     plain(event.get("args", {}))] += 1
        elif event["ph"] == "b":
            begun[event["id2"]["local"]] = event
        else:
            begin = begun.pop(event["id2"]["local"])
            expected[None, event["cat"], event["name"], ns(begin["ts"]), ns(event["ts"]) - ns(begin["ts"]),
                     plain(begin.get("args", {}))] += 1
    assert sum(expected.values()) > 0
    assert shown == expected


def test_instants_are_those_of_the_chrome_file(both):
    trace, chrome = both
    shown = collections.Counter((each.category, each.name, each.time - trace.zero())
                                for each in trace.instants if not each.flows and not each.ending_flows)
    assert shown == collections.Counter((event["cat"], event["name"], ns(event["ts"]))
                                        for event in events(chrome, "i"))


def test_counters_are_those_of_the_chrome_file(both):
    trace, chrome = both
    shown = collections.Counter((trace.tracks[each.track]["name"], each.time - trace.zero(), float(each.value))
                                for each in trace.samples)
    assert shown == collections.Counter(
        (event["name"], ns(event["ts"]), float(*event["args"].values())) for event in events(chrome, "C"))


def test_flows_are_those_of_the_chrome_file(both):
    """An arrow to an operator ends in its slice, and begins one nanosecond later than in the Chrome file; where the
    operator has the time of its push, the arrow ends one nanosecond behind that."""
    trace, chrome = both
    late = {True: 2, False: 1}
    shown = collections.Counter((each.category, each.name, each.time - trace.zero() -
                                 (late[bool(each.ending_flows)] if each.category == "push" else 0),
                                 bool(each.ending_flows))
                                for each in trace.instants if each.flows or each.ending_flows)
    shown.update(("push", "push", each.begin - trace.zero(), True) for each in trace.slices if each.ending_flows)
    assert shown == collections.Counter((event["cat"], event["name"], ns(event["ts"]), event["ph"] == "f")
                                        for event in events(chrome, "stf"))


def test_rows_are_those_of_the_chrome_file(both):
    trace, chrome = both
    threads = {track["tid"]: track["name"] for track in trace.tracks.values() if track["kind"] == "thread"}
    rows = {event["tid"]: event["args"]["name"] for event in events(chrome, "M")
            if event["name"] == "thread_name"}
    assert {tid: name for tid, name in rows.items() if tid < LANE_ROWS} == \
        {tid: name for tid, name in threads.items() if tid in rows}
    lanes = {track["name"] for track in trace.tracks.values() if track["kind"] == "lane"}
    assert {name for tid, name in rows.items() if tid >= LANE_ROWS} <= lanes
    process, = (track for track in trace.tracks.values() if track["kind"] == "process")
    assert [process["name"]] == [event["args"]["name"] for event in events(chrome, "M")
                                 if event["name"] == "process_name"]


def test_metadata_are_those_of_the_chrome_file(both):
    trace, chrome = both
    other = dict(chrome["otherData"])
    start = other.pop("start_realtime_ns", None)
    assert trace.attributes == other
    assert start is None or trace.clocks[1] == int(start)


def test_counters_have_units(folder):
    trace, = (folder / "train").glob("*.mxp")
    mxprof("convert", trace, "-o", folder / "units.pftrace")
    decoded = decoder.Trace((folder / "units.pftrace").read_bytes())
    units = {track["name"]: track["unit"] for track in decoded.tracks.values() if track["kind"] == "counter"}
    assert units["Memory: cpu/0"] == 3


def test_text_is_told_once(folder):
    """The file is small because of it."""
    source, = (folder / "train").glob("*.mxp")
    mxprof("convert", source, "-o", folder / "size.pftrace")
    mxprof("convert", source, "-o", folder / "size.json")
    data = (folder / "size.pftrace").read_bytes()
    assert data.count(b"queued_us") == 1
    assert len(data) < 0.6 * (folder / "size.json").stat().st_size
