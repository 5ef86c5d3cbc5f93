# SPDX-License-Identifier: Apache-2.0
"""mxprof view: what is in a page is what was recorded, by a reader that was written from the description of
the format; its sums are those of brute force; its numbers those of the other commands."""
import bisect
import collections
import json
import os
import pathlib
import random
import re
import struct
import subprocess

import pytest

import foreign_traces
import native_file
import page_reader
from page_reader import bucket
from rank_files import Job
from test_report_communication import worker
from test_whatif import trace as steps_trace

BUILD = pathlib.Path(os.environ.get("MXPROF_BUILD", "build/release")).resolve()
SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).parents[2])).resolve()
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="80", XDG_CACHE_HOME="/nowhere")
SEEDS = range(int(os.environ.get("MXPROF_TEST_SEEDS", "2")))
MS = 1_000_000


def mxprof(*arguments, code=0, cwd=None):
    done = subprocess.run([BUILD / "mxprof", *arguments], capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT,
                          timeout=300, check=False)
    assert done.returncode == code, done.stderr
    return done


def page_of(path, *options, code=0):
    """A page of the least scripts there are, so that its size is that of its data."""
    out = path.parent / "page.html"
    mxprof("view", path, "-o", out, "--page-assets", SOURCE / "tests/support/page", *options, code=code)
    return page_reader.read(out)


def write(tmp_path, file, name="t.mxp"):
    path = tmp_path / name
    path.write_bytes(file if isinstance(file, bytes) else file.to_bytes())
    return path


# ---- spans ------------------------------------------------------------------------------------------------
class Spans:
    """Nested spans of a thread, begin and length known; what a page must show of them."""

    def __init__(self):
        self.file = native_file.NativeFile(origin=1 << 40)
        self.names = [self.file.name(f"name {i}", "app", "span") for i in range(7)]
        self.thread = self.file.thread("main")
        self.all, self.records = [], []

    def add(self, begin, length, name):
        self.all.append((begin, length, f"name {name}"))
        tick = self.file.origin + begin
        if length < 1 << 32:
            # The stamp of a lean span is its begin; its end lies near the chunk's base.
            self.records.append((begin + length, -begin, native_file.words(
                native_file.word0("span", 1, tick), self.names[name] | length << 32)))
        else:
            self.records.append((begin + length, -begin, native_file.words(
                native_file.word0("span_long", 3, tick), self.names[name], length, tick, 0, 0)))

    def bytes(self):
        self.records.sort(key=lambda record: record[:2])
        thread = self.file.threads[self.thread]
        thread["bytes"], thread["records"] = b"".join(record[2] for record in self.records), len(self.records)
        return self.file.to_bytes()


def shown(page, tracks=None):
    head = page.head
    begin = int(head["begin"])
    return sorted((begin + span.begin, span.ns, head["kinds"][span.kind][0]) for span in page.spans()
                  if tracks is None or head["tracks"][span.track]["what"] in tracks)


def nested(chance, count, most=4000):
    """Random spans that nest, no two in one place."""
    spans, at = Spans(), 5

    def tree(at, depth):
        begin, at = at, at + chance.randrange(1, 50)
        while depth < 3 and chance.random() < 0.5 and len(spans.all) + depth + 1 < count:
            at = tree(at, depth + 1) + chance.randrange(1, 50)
        end = at + int(most ** chance.random())
        spans.add(begin, end - begin, chance.randrange(7))
        return end

    while len(spans.all) < count:
        at = tree(at, 0) + chance.randrange(1, 400)
    return spans


@pytest.mark.parametrize("count", [0, 1, 2, 300, 16384, 16385, 40000])
def test_each_span_is_in_the_page_once(tmp_path, count):
    spans = nested(random.Random(count), count)
    page = page_of(write(tmp_path, spans.bytes()), "--size", "none")
    assert shown(page) == sorted(spans.all)
    classes = {block[1] for block in page.head["blocks"]}
    assert classes == ({0} if count else set()) if count <= 16384 else len(classes) > 1
    assert page.head["dropped"]["is_whole"] and page.head["dropped"]["spans"] == count


def test_numbers_of_all_lengths(tmp_path):
    spans, at = Spans(), 0
    for bits in range(53):
        for length in {1 << bits, (1 << bits) - 1, (1 << bits) + 1}:
            if length < 1 << 45:
                spans.add(at, length, bits % 7)
                at += length + (1 << min(bits, 40))
    page = page_of(write(tmp_path, spans.bytes()))
    assert shown(page) == sorted(spans.all)


def test_depths_are_those_of_nesting_and_rows_do_not_overlap(tmp_path):
    spans = nested(random.Random(3), 30000)
    page = page_of(write(tmp_path, spans.bytes()))
    lanes = collections.defaultdict(list)
    around = []
    for span in sorted(page.spans(), key=lambda span: (span.begin, -span.ns)):
        while around and around[-1] <= span.begin:
            around.pop()
        assert span.depth == len(around)
        around.append(span.begin + span.ns)
        lanes[span.depth].append(span)
    for lane in lanes.values():
        assert all(one.begin + one.ns <= other.begin for one, other in zip(lane, lane[1:]))


def rows_of(page):
    rows = collections.defaultdict(list)
    for span in page.spans():
        rows[span.track, span.depth].append((span.begin, span.begin + span.ns))
    return rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("style", ["span", "async"])
def test_spans_that_overlap_stand_in_rows_of_their_own(tmp_path, seed, style):
    """On a thread whose spans ought to nest, and do not, as well."""
    chance, file = random.Random(seed), native_file.NativeFile()
    thread, name = file.thread("main"), file.name("work", "app", style)
    spans = sorted(((at := chance.randrange(5000)), at + chance.choice([0, 0, 5, 30, 200])) for _ in range(300))
    for begin, end in sorted(spans, key=lambda span: span[1]):
        file.span(thread, name, begin, end)
    page = page_of(write(tmp_path, file))
    assert not page.head["tracks"][0]["is_full"] and len(page.spans()) == 300
    for row in rows_of(page).values():
        row.sort()
        assert all(one[1] <= other[0] for one, other in zip(row, row[1:]))


def test_what_has_no_row_is_in_the_last_one(tmp_path):
    file = native_file.NativeFile()
    thread, name = file.thread("main"), file.name("deep", "app", "span")
    for depth in range(99, -1, -1):
        file.span(thread, name, depth, 1000 - depth)
    page = page_of(write(tmp_path, file))
    assert page.head["tracks"][0]["is_full"] and page.head["tracks"][0]["rows"] == 64
    rows = rows_of(page)
    assert [len(rows[0, depth]) for depth in range(64)] == [1] * 63 + [37]


# ---- levels of detail -------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed, count, most", [
    *((seed, 60_000, 300_000) for seed in SEEDS),
    (9, 150_000, 30),  # so many short ones that the finest levels are given up on the way
])
def test_tiles_are_the_sums_of_what_is_in_finer_classes(tmp_path, seed, count, most):
    spans = nested(random.Random(seed), count, most=most)
    page = page_of(write(tmp_path, spans.bytes()), "--size", "none")
    tiles = page.head["tiles"]
    widths = [tile["width_ns"] for tile in tiles]
    assert len(tiles) >= 2 and all(wide == 4 * narrow for wide, narrow in zip(widths, widths[1:]))
    everything = page.spans()
    for span in everything:
        assert span.cls == sum(width > span.ns for width in widths)
    for level, width in enumerate(widths):
        busy = collections.defaultdict(collections.Counter)
        number = collections.Counter()
        for span in everything:
            if span.cls > level:
                busy[span.track, span.depth, span.begin // width][span.kind] += span.ns
                number[span.track, span.depth, span.begin // width] += 1
        found = page.tile(level)
        assert found.keys() == busy.keys()
        for key, (share, spans_in, kind) in found.items():
            assert spans_in == number[key]
            assert share == min(255, sum(busy[key].values()) * 255 // width)
            assert busy[key][kind] == max(busy[key].values())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_view_has_every_span_of_a_pixel_and_more(tmp_path, seed):
    chance = random.Random(seed)
    spans = nested(chance, 40000, most=300000)
    page = page_of(write(tmp_path, spans.bytes()), "--size", "none")
    head, blocks = page.head, [page.block(i) for i in range(len(page.head["blocks"]))]
    everything = [span for block in blocks for span in block]
    for _ in range(40):
        length = int(head["end"] ** (0.4 + 0.6 * chance.random()))
        begin = chance.randrange(max(1, head["end"] - length))
        pixel = length / 1000
        level = next((i for i, tile in enumerate(head["tiles"]) if tile["width_ns"] <= pixel), len(head["tiles"]))
        drawn = set()
        for (track, cls, _, first, last, *_), block in zip(head["blocks"], blocks):
            if cls <= level and first <= begin + length and last >= begin:
                reach = head["tiles"][cls - 1]["width_ns"] if cls else head["end"]
                at = bisect.bisect_left(block, begin - reach, key=lambda span: span.begin) if cls else 0
                drawn |= {(track, span.begin, span.ns, span.depth) for span in block[at:]
                          if span.begin <= begin + length and span.begin + span.ns >= begin}
        wanted = {(span.track, span.begin, span.ns, span.depth) for span in everything
                  if span.ns >= pixel and span.begin <= begin + length and span.begin + span.ns >= begin}
        assert wanted <= drawn


@pytest.mark.parametrize("seed", SEEDS)
def test_statistics_of_blocks_and_of_everything(tmp_path, seed):
    spans = nested(random.Random(seed), 50000, most=100000)
    page = page_of(write(tmp_path, spans.bytes()), "--size", "none")
    totals = collections.defaultdict(list)
    for number in range(len(page.head["blocks"])):
        kinds = collections.defaultdict(list)
        for span in page.block(number):
            kinds[span.kind].append(span.ns)
            totals[span.kind].append(span.ns)
        expected = {kind: (len(ns), sum(ns), min(ns), max(ns), collections.Counter(map(bucket, ns)))
                    for kind, ns in kinds.items()}
        assert page.statistics(number) == expected
    for kind, ns in totals.items():
        ns.sort()
        ranks = [ns[max(0, -(-len(ns) * percent // 100) - 1)] for percent in (50, 90, 99, 100)]
        assert page.head["stats"][kind] == [len(ns), sum(ns), ns[0], *ranks, 1]


# ---- operators --------------------------------------------------------------------------------------------
def test_operators_have_what_they_waited_for(tmp_path):
    file = steps_trace(scopes=("net:one:", "net:two:"))
    page = page_of(write(tmp_path, file))
    head = page.head
    found = [span for span in page.spans() if span.operator]
    pushers = {head["threads"][span.operator[4]]["name"] for span in found}
    assert pushers == {"main"} and {head["kinds"][span.kind][2] for span in found} == {"net:one", "net:two"}
    for span in found:
        from_push, from_ready, number, released, _ = span.operator
        is_first = head["kinds"][span.kind][0] == "A"
        assert released == (0 if is_first else number - 1)
        assert (from_push, from_ready) == ((5000, 5000) if is_first else (295000, 0))
        assert span.ns == (300000 if is_first else 200000)


# ---- numbers of other commands ----------------------------------------------------------------------------
def same_numbers(path):
    page = page_of(path)
    head = page.head
    report = json.loads(mxprof("report", path, "--json").stdout)
    steps, report["steps"] = report["steps"], []
    assert head["report"] == report
    assert [(step[1], step[2] + int(head["begin"]), step[3] - step[2], step[10] & 1, step[10] >> 1 & 1)
            for step in head["steps"]] == [(step["number"], step["begin_ns"], step["length_ns"], step["chosen"],
                                            step["first_run"]) for step in steps]
    explain = subprocess.run([BUILD / "mxprof", "explain", path, "--json"], capture_output=True, text=True,
                             env=ENVIRONMENT, timeout=300, check=False)
    if explain.returncode in (0, 3) and explain.stdout:
        assert head["explain"] == json.loads(explain.stdout)
    else:
        assert head["explain"] is None and head["explain_refused"] in explain.stderr
    return page, report


def chosen_sums(head):
    """By phase, of the steps in the verdict's window: forward, backward, update, communication, none."""
    chosen = [step for step in head["steps"] if step[10] & 1]
    return [sum(step[4 + i] for step in chosen) for i in range(5)]


def report_sums(report):
    keys = ("forward_ns", "backward_ns", "update_ns", "communication_ns", "no_phase_ns")
    return [sum(layer[key] for layer in report["layers"]) for key in keys]


def test_numbers_are_those_of_the_other_commands(tmp_path):
    path = write(tmp_path, steps_trace(scopes=("net:one:", "net:two:")))
    page, report = same_numbers(path)
    head = page.head
    assert chosen_sums(head) == report_sums(report)
    whatif = json.loads(mxprof("whatif", path, "--json").stdout)
    assert head["whatif"] == whatif
    path_json = json.loads(mxprof("path", path, "--json").stdout)
    assert head["path"]["document"] == path_json
    assert head["memory"] is None


def test_gains_of_steps_are_those_of_whatif(tmp_path):
    path = write(tmp_path, steps_trace(scopes=("net:one:", "net:two:")))
    page = page_of(path)
    count, columns = page.columns("w")
    rows = list(zip(page_reader.varints(columns[0], count), page_reader.varints(columns[1], count), page_reader.varints(columns[2], count, signed=True)))
    predictions = page.head["whatif"]["processes"][0]["predictions"]
    assert {row[0] for row in rows} == set(range(len(predictions))) and len(predictions) > 1
    scope, = [i for i, each in enumerate(predictions) if each["changes"] == [{"change": "scope", "of": "net:one", "factor": 0.5}]]
    process, = json.loads(mxprof("whatif", path, "--json", "--scope", "net:one=0.5").stdout)["processes"]
    wanted = [(step["step"], int(step["recorded_ns"] - step["predicted_ns"])) for step in process["predictions"][0]["steps"]]
    assert [(page.head["steps"][place][1], gain) for number, place, gain in rows if number == scope] == wanted and wanted


def test_pieces_are_those_of_path(tmp_path):
    path = write(tmp_path, steps_trace())
    page = page_of(path)
    head, pieces = page.head, page.path()
    at = 0
    for place, count in head["path"]["steps"]:
        step = head["steps"][place]
        found, at = pieces[at:at + count], at + count
        process, = json.loads(mxprof("path", path, "--step", str(step[1]), "--json").stdout)["processes"]
        begin = int(head["begin"])
        assert [(category, begin + start, length) for _, start, length, category, _ in found] == \
            [(piece["what"], piece["from_ns"], piece["to_ns"] - piece["from_ns"]) for piece in process["pieces"]]
        assert sum(piece[2] for piece in found) == step[3] - step[2]
    assert at == len(pieces) > 0


def test_a_told_cause_leads_to_the_step_in_which_it_takes_most(tmp_path):
    path = tmp_path / "t.mxpz"
    path.write_bytes((SOURCE / "tests/cli/planted/slow_loader.mxpz").read_bytes())
    head = page_of(path, "--size", "none").head
    process, = json.loads(mxprof("path", path, "--json", "--pieces").stdout)["processes"]
    input_ns = collections.Counter()
    for piece in process["pieces"]:
        input_ns[piece["step"]] += (piece["to_ns"] - piece["from_ns"]) * (piece["what"] == "input")
    told, = [row for row in head["told"] if head["explain"]["processes"][0]["causes"][row["cause"]]["cause"] == "slow input"]
    step = head["steps"][told["step"]]
    assert (step[0], step[1]) == (0, input_ns.most_common(1)[0][0])
    growth = json.loads(mxprof("explain", SOURCE / "tests/cli/planted/leak.mxpz", "--json").stdout)["processes"][0]["causes"]
    path.write_bytes((SOURCE / "tests/cli/planted/leak.mxpz").read_bytes())
    rows = {growth[row["cause"]]["cause"]: row["step"] for row in page_of(path).head["told"]}
    assert rows["memory grows"] == -1


def test_exchanges_that_a_step_waits_for_are_communication(tmp_path):
    file = worker()  # each step has an exchange of 6 ms
    name = file.name("MXNDArrayWaitAll", file.name("MXNET_C_API"), "span")
    for step in range(2):
        file.wait(0, name, (10 * step + 1) * MS, (10 * step + 9) * MS, 10 * step + 3)
    path = write(tmp_path, file)
    document, = json.loads(mxprof("path", path, "--json").stdout)["processes"]
    head = page_of(path).head
    assert head["title"] == "communication takes 6.00 ms of 10.0 ms of a step, then net 4.00 ms"
    steps = [step for step in head["steps"] if step[10] & 1]
    assert [step[7] for step in steps] == [6 * MS, 6 * MS] and sum(step[7] for step in steps) == document["kinds_ns"]["communication"]
    assert [step[4] for step in steps] == [4 * MS, 4 * MS]


def test_flows_are_in_the_page_by_time(tmp_path):
    file = native_file.NativeFile()
    main, other = file.thread("main", end=90 * MS), file.thread("other")
    work, lane = file.name("work", "app", "span"), file.name("stream 7")
    flow, ids = file.name("launch", "ac2g", "flow"), [0, 1, 2**64 - 1, 2**63, 5]
    wanted = []
    file.span_on(main, work, 6 * MS, 8 * MS, lane=lane)
    for i, name in enumerate(ids):
        file.span(main, work, 10 * i * MS, (10 * i + 5) * MS)
        file.span(other, work, (10 * i + 3) * MS, (10 * i + 9) * MS)
        for thread, at, phase, on in ((main, 10 * i + 1, 1, 0), (other, 10 * i + 4, 2, 0), (main, 10 * i + 7, 3, lane)):
            file.flow(thread, flow, at * MS, phase, name, on)
            wanted.append((at * MS, i, phase, "" if on else ("main", "other")[thread]))
    page = page_of(write(tmp_path, file), "--size", "none")
    head, points = page.head, page.flows()
    begin, numbers = int(head["begin"]), list(dict.fromkeys(point[2] for point in points))
    assert [(begin + at, numbers.index(number), phase, head["threads"][thread]["name"] if thread >= 0 else "")
            for at, _, number, phase, thread, _ in points] == sorted(wanted)
    assert {head["kinds"][point[1]][0] for point in points} == {"launch"}
    on_lane, = {head["tracks"][point[5]]["name"] for point in points if point[3] == 3}
    assert on_lane == "stream 7" and {point[5] for point in points if point[3] != 3} == {-1}
    assert head["flows"] == {"points": 15, "left_out": 0}
    small = page_of(tmp_path / "t.mxp", "--size", "1k")
    assert "f" not in small.sections and small.head["flows"] == {"points": 0, "left_out": 15}


def path_pieces(page):
    """Begin, length and category of each piece, by the step's place."""
    pieces, at, of = page.path(), 0, {}
    for place, count in page.head["path"]["steps"]:
        of[place], at = [piece[1:4] for piece in pieces[at:at + count]], at + count
    assert at == len(pieces)
    return of


def waiting_steps(chance, count):
    """Steps of an operator and a wait for it, of which no two take equal times."""
    file = native_file.NativeFile()
    main, compute = file.thread("main", end=count * 10 * MS), file.thread("compute worker")
    forward, wait = file.name("dot", "operator", "span"), file.name("MXNDArrayWaitAll", file.name("MXNET_C_API"), "span")
    for step in range(count):
        at = [step * 10 * MS + chance.randrange(MS) + place * 2 * MS for place in range(4)]
        file.meta(main, "step", step * 10 * MS, value=step)
        file.operator(compute, forward, at[1], at[2], step + 1, push=at[0], pusher=main, phase=1)
        file.wait(main, wait, at[0] + 1000, at[3], step + 1)
    return file


def test_paths_take_no_more_than_their_part_of_the_page(tmp_path):
    path = write(tmp_path, waiting_steps(random.Random(3), 400))
    whole, page = page_of(path, "--size", "none"), page_of(path, "--size", "100k")
    steps = {step: pieces for step, pieces in page.head["path"]["steps"]}
    assert 1 <= len(steps) < 20 and len(whole.head["path"]["steps"]) >= 399
    assert page.head["dropped"]["path_steps"] == len(whole.head["path"]["steps"]) - len(steps) + whole.head["dropped"]["path_steps"]
    assert page.head["path"]["document"] == whole.head["path"]["document"]
    all_pieces = path_pieces(whole)
    assert path_pieces(page) == {step: all_pieces[step] for step in steps}
    lengths = {i: step[3] - step[2] for i, step in enumerate(page.head["steps"])}
    assert max(lengths, key=lengths.get) in steps and 0 in steps


def test_the_icicle_adds_up_to_the_layers(tmp_path):
    path = write(tmp_path, steps_trace(scopes=("net:one:", "net:two:")))
    page = page_of(path)
    nodes = page.icicle()
    layers = {layer["scope"]: layer["sum_ns"] for layer in page.head["report"]["layers"]}
    names = {}
    for i, (parent, name, *_) in enumerate(nodes):
        names[i] = name if i == 0 or parent == 0 else f"{names[parent]}:{name}"
    by_name = {names[i]: node for i, node in enumerate(nodes)}
    for scope, total in layers.items():
        assert by_name[scope][4] == total
    assert nodes[0][4] == sum(layers.values())
    for i, node in enumerate(nodes):
        assert node[4] == node[3] + sum(child[4] for k, child in enumerate(nodes) if k > 0 and child[0] == i)


# ---- sizes ------------------------------------------------------------------------------------------------
def many_steps(chance, count):
    spans = nested(chance, count, most=60000)
    end = max(begin + length for begin, length, _ in spans.all)
    marks = sorted(chance.sample(range(end // 50, end), 29))
    for number, at in enumerate(marks):
        spans.records.append((at, 0, native_file.words(
            native_file.word0("meta", 2, spans.file.origin + at), native_file.META["step"] << 32, number, 0)))
    return spans


@pytest.mark.parametrize("size", [600_000, 420_000, 330_000])
def test_what_is_left_out_is_said_and_the_rest_is_whole(tmp_path, size):
    path = write(tmp_path, many_steps(random.Random(1), 150000).bytes())
    whole, page = page_of(path, "--size", "none"), page_of(path, "--size", str(size))
    dropped, begin = page.head["dropped"], int(page.head["begin"])
    assert len(page.bytes) <= size < len(whole.bytes)
    assert not dropped["is_whole"] and dropped["spans"] == 150000 == len(whole.spans())
    widths = [tile["width_ns"] for tile in page.head["tiles"]]

    def is_in(begin, ns, times, least):
        return least is None or sum(width > ns for width in widths) < least or \
            any(first <= begin < last for first, last in times)

    expected = [(at, ns, name) for at, ns, name in shown(whole)
                if is_in(at - begin, ns, dropped["kept"], dropped["class"])
                and is_in(at - begin, ns, dropped["full"], dropped["class_kept"])]
    assert shown(page) == expected and len(expected) == dropped["kept_spans"]
    for key in ("report", "stats", "steps", "explain"):
        assert page.head[key] == whole.head[key]
    assert "only as sums" in dropped["word"]
    assert [dropped["word"]] == [row[1] for row in page.head["trust"]["rows"] if row[0] == "this page"]


def test_what_was_asked_for_is_whole(tmp_path):
    path = write(tmp_path, many_steps(random.Random(2), 150000).bytes())
    whole = page_of(path, "--size", "none")
    page = page_of(path, "--size", "420k", "--step", "11")
    step = next(step for step in page.head["steps"] if step[1] == 11)
    begin = int(page.head["begin"])

    def within(spans):
        return [span for span in spans if step[2] <= span[0] - begin < step[3]]

    assert within(shown(page)) == within(shown(whole)) and len(within(shown(page))) > 0


# ---- other traces -----------------------------------------------------------------------------------------
HOSTILE = ['</script><img src=x onerror=alert(1)>', '"quotes\' & <b>', "right\u202eto left", "\x00zero", "tab\tnew\nline",
           "</pre><script>alert(1)</script>", "\ud7ff\U0001f600"]


def test_names_stay_data(tmp_path):
    file = native_file.NativeFile()
    thread = file.thread("</script><b>")
    for i, text in enumerate(HOSTILE):
        file.span(thread, file.name(text, "<category>", "span"), 100 * i, 100 * i + 50)
    file.info = [("command", "app '</title><script>'")]
    page = page_of(write(tmp_path, file))
    assert [kind[0] for kind in page.head["kinds"]][::-1] == HOSTILE
    around = page_reader.ELEMENT.sub(b"", page.bytes)
    assert around.count(b"<script") == 1 and b"onerror=alert(1)>" not in around  # the page's own
    assert around.count(b"<b>") == 0


def test_a_name_of_a_megabyte_is_cut_and_said(tmp_path):
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name("x" * (1 << 20), "app", "span"), 0, 5)
    page = page_of(write(tmp_path, file))
    assert page.head["kinds"][0][0] == "x" * 65536 and page.head["truncated"]["names"] >= 1


def test_bytes_that_are_no_text(tmp_path):
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name(b"bad \xff\xfe bytes", "app", "span"), 0, 5)
    page = page_of(write(tmp_path, file))
    assert page.head["kinds"][0][0] == "bad \ufffd\ufffd bytes"
    page.bytes.decode("utf-8")


def test_nothing_and_one_record(tmp_path):
    page = page_of(write(tmp_path, native_file.empty()))
    assert page.head["title"] == "Nothing was recorded" and page.spans() == [] and page.head["blocks"] == []
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name("one", "app", "span"), 10, 25)
    page = page_of(write(tmp_path, file))
    assert shown(page) == [(10, 15, "one")] and page.head["end"] == 15
    assert page.head["path"] is None and "no operators" in page.head["path_refused"]


def test_times_before_zero_and_far_away(tmp_path):
    file = native_file.NativeFile(origin=1 << 46)
    thread, name = file.thread("main"), file.name("far", "app", "span")
    file.span(thread, name, -5_000_000, -4_999_990)
    file.span_long(thread, name, -4_000_000, 1 << 45)
    page = page_of(write(tmp_path, file))
    assert page.head["begin"] == "-5000000"
    assert shown(page) == [(-5_000_000, 10, "far"), (-4_000_000, (1 << 45) + 4_000_000, "far")]


def test_the_sample_with_everything(tmp_path):
    page = page_of(write(tmp_path, native_file.sample()))
    head = page.head
    assert {(track["what"], track["name"]) for track in head["tracks"]} >= {
        ("calls", "main"), ("async", "main"), ("instants", "main"), ("async", 'helper "one"')}
    assert shown(page, {"instants"}) == [(9300 * MS, 0, "half way")]
    assert [step[1] for step in head["steps"]] == [0, 1, 2]
    begin = int(head["begin"])
    assert [(head["threads"][thread]["name"] if thread >= 0 else None, begin + first, begin + last, count)
            for _, thread, first, last, count, _ in head["losses"]] == [
                ('helper "one"', 700 * MS, 800 * MS, 7), (None, 900 * MS, 950 * MS, 2)]
    assert head["trust"]["state"] == "warn" and head["trust"]["word"] == "7 records were lost"
    values = [value for _, least, largest, last in page.counter(0) for value in {least, largest, last}]
    assert head["counters"][0]["name"] == "queue" and values == [10, 20, 30]
    tasks = [span for span in page.spans() if head["tracks"][span.track]["name"] == 'helper "one"']
    for one in tasks:
        for other in tasks:
            if one is not other and one.depth == other.depth:
                assert one.begin + one.ns <= other.begin or other.begin + other.ns <= one.begin


def test_counters_of_a_limited_page_have_fewer_bins(tmp_path):
    file, chance, samples = native_file.NativeFile(), random.Random(5), []
    thread = file.thread("main", end=1_000_000)
    for number in range(8):
        name = file.name(f"counter {number}", "app", "counter")
        samples.append([(1000 * k, chance.randrange(1 << 50)) for k in range(1000)])
        for at, value in samples[-1]:
            file.counter(thread, name, at, value)
    path = write(tmp_path, file)
    whole, page = page_of(path, "--size", "none"), page_of(path, "--size", "300k")
    assert sum(len(page.sections[f"c{i}"]) * 4 / 3 for i in range(8)) <= 30_000 < sum(len(whole.sections[f"c{i}"]) * 4 / 3 for i in range(8))
    for number, counter in enumerate(page.head["counters"]):
        rows, of = page.counter(number), samples[int(counter["name"].split()[1])]
        assert 8 <= len(rows) < len(whole.counter(number))
        for (begin, least, largest, last), (end, *_) in zip(rows, rows[1:] + [(1 << 60,)]):
            values = [value for at, value in of if begin <= at - int(page.head["begin"]) < end]
            assert (least, largest, last) == (min(values), max(values), values[-1])


def test_another_profilers_trace(tmp_path):
    path = tmp_path / "v.json"
    content = foreign_traces.viztracer()
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    page, _ = same_numbers(path)
    assert len(page.spans()) > 0 and page.head["path"] is None


def test_several_processes(tmp_path):
    files = []
    for pid in (11, 12):
        file = native_file.NativeFile(pid=pid)
        file.span(file.thread(f"main of {pid}"), file.name("work", "app", "span"), 100 * pid, 100 * pid + 50)
        files.append(file.to_bytes())
    page = page_of(write(tmp_path, files[0] + files[1]))
    head = page.head
    assert [process["pid"] for process in head["processes"]] == [11, 12]
    assert [(track["process"], track["name"]) for track in head["tracks"]] == [(0, "main of 11"), (1, "main of 12")]
    assert len(head["kinds"]) == 1 and shown(page) == [(1100, 50, "work"), (1200, 50, "work")]


def test_pieces_of_a_process_without_steps_are_of_all_its_time(tmp_path):
    trained = steps_trace()
    other = native_file.NativeFile(pid=trained.pid + 1)
    worker, main = other.thread("worker"), other.thread("main")
    other.operator(worker, other.name("add"), 1200, 3000, 1, push=1000, pusher=main)
    page = page_of(write(tmp_path, trained.to_bytes() + other.to_bytes()))
    steps, pieces = page.head["path"]["steps"], page.path()
    assert sum(count for _, count in steps) == len(pieces)
    assert [place for place, _ in steps][-2:] == [len(steps) - 2, -1]
    own = sum(length for _, _, length, _, _ in pieces[-steps[-1][1]:])
    assert own == page.head["path"]["document"]["processes"][1]["total_ns"] > 0


def test_what_explain_says_of_a_job_is_in_its_page(tmp_path):
    job = Job(3)
    job.train(steps=20, late=1)
    job.exchange_all()
    folder = job.write(tmp_path / "job")
    said = json.loads(mxprof("explain", folder, "--json").stdout)
    head = page_of(folder).head
    assert head["explain"] == said and said["between_ranks"]["straggler"] == 1
    assert "was last in" in head["plain"] and head["workers"] and head["plain"].startswith(head["workers"])


def test_more_threads_than_tracks(tmp_path):
    file = native_file.NativeFile()
    name, expected = file.name("work", "app", "span"), []
    for i in range(400):
        thread = file.thread(f"thread {i}")
        for k in range(1 + i % 7):
            file.span(thread, name, 1000 * i + 10 * k, 1000 * i + 10 * k + 5)
            expected.append((1000 * i + 10 * k, 5, "work"))
    page = page_of(write(tmp_path, file))
    assert shown(page) == sorted(expected)
    quiet = page.head["dropped"]["quiet_threads"]
    assert quiet >= 150 and f"{quiet} quiet threads" in [track["name"] for track in page.head["tracks"]]
    assert len(page.head["tracks"]) <= 251


def test_more_lanes_than_tracks(tmp_path):
    file, expected = native_file.NativeFile(), []
    name, thread = file.name("work", "app", "span"), file.thread("main")
    for i in range(1200):
        file.span_on(thread, name, 100 * i, 100 * i + 50, lane=file.name(f"lane {i}"))
        expected.append((100 * i, 50, "work"))
    page = page_of(write(tmp_path, file))
    assert shown(page) == sorted(expected)
    names = [track["name"] for track in page.head["tracks"]]
    assert len(names) == 1001 and "200 quiet threads and lanes" in names


def test_more_steps_than_a_page_takes_are_refused_with_the_command_that_helps(tmp_path):
    file, chance = native_file.NativeFile(), random.Random(4)
    main, at, records = file.threads[file.thread("main")], 0, []
    for _ in range(600_000):
        records.append(native_file.words(native_file.word0("meta", 2, file.origin + at), native_file.META["step"] << 32, chance.getrandbits(40), 0))
        at += 1 + chance.getrandbits(27)
    main["bytes"], main["records"] = b"".join(records), len(records)
    path = write(tmp_path, file)
    done = mxprof("view", path, "-o", tmp_path / "page.html", "--page-assets", SOURCE / "tests/support/page", code=1)
    bytes_, command, until = re.search(r"would take (\d+) bytes .* as by (mxprof convert .*) -o part.mxp --until ([\d.e+]+)", done.stderr).groups()
    assert int(bytes_) > 8_000_000 and not (tmp_path / "page.html").exists()
    mxprof(*command.split()[1:], "-o", tmp_path / "part.mxp", "--until", until)
    part = page_of(tmp_path / "part.mxp").head
    assert 200_000 < len(part["steps"]) < 400_000


def test_damaged_input_gives_what_could_be_read(tmp_path):
    data = bytearray(native_file.sample().to_bytes())
    at = data.index(b"helper")
    data[at] ^= 1  # the names' section
    path = write(tmp_path, bytes(data))
    out = tmp_path / "page.html"
    done = subprocess.run([BUILD / "mxprof", "view", path, "-o", out], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 1
    assert page_reader.read(out).head["trust"]["state"] == "bad"


def test_anonymous_pages_do_not_say_who_and_where(tmp_path):
    file = native_file.NativeFile()
    file.span(file.thread("main"), file.name("work", "app", "span"), 10, 25)
    file.info = [("command", "secretly --run"), ("host", "secret-host"), ("build", "at /srv/secret/x"), ("classes", "3")]
    path = write(tmp_path, file)
    assert "secret-host" in json.dumps(page_of(path).head)
    head = page_of(path, "--anonymous").head
    assert "secret" not in json.dumps(head) and ["classes", "3"] in head["processes"][0]["info"]


# ---- the call ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("arguments, says", [
    (["--size", "much"], "--size takes bytes as 32M or 500k, or none, not 'much'"),
    (["--size", "5X"], "--size takes bytes"),
    (["--step", "99"], "there is no such step"),
    (["--page-assets", "nowhere"], "cannot open 'nowhere/page.css'"),
    (["-o", "no/such/folder/page.html"], "cannot write 'no/such/folder/page.html'"),
])
def test_wrong_calls(tmp_path, arguments, says):
    write(tmp_path, steps_trace())
    done = subprocess.run([BUILD / "mxprof", "view", "t.mxp", *arguments], capture_output=True, text=True, timeout=60,
                          cwd=tmp_path, check=False)
    assert done.returncode in (1, 2) and says in done.stderr
    assert list(tmp_path.glob("*.html")) == []


def test_the_page_is_named_after_the_trace_and_opened(tmp_path):
    write(tmp_path, steps_trace(), "run.mxp")
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho \"$1\" > opened\n")
    browser.chmod(0o755)
    done = subprocess.run([BUILD / "mxprof", "view", "run.mxp", "--open"], capture_output=True, text=True, timeout=60,
                          cwd=tmp_path, env=dict(ENVIRONMENT, BROWSER=str(browser)), check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "opened").read_text() == "run.html\n"
    assert done.stdout.startswith("run.html: ") and "every span, to the nanosecond" in done.stdout


def test_the_page_on_standard_output_as_far_as_it_is_read(tmp_path):
    path = write(tmp_path, many_steps(random.Random(1), 60000).bytes())
    page = page_of(path)
    done = subprocess.run([BUILD / "mxprof", "view", path, "-o", "-", "--page-assets", SOURCE / "tests/support/page"],
                          capture_output=True, env=ENVIRONMENT, timeout=60, check=True)
    assert page_reader.Page(done.stdout).head["blocks"] == page.head["blocks"] and done.stderr == b""
    cut = subprocess.run(f"'{BUILD / 'mxprof'}' view '{path}' -o - | head -c 100; echo ${{PIPESTATUS[0]}}", shell=True,
                         executable="/bin/bash", capture_output=True, timeout=60, check=True)
    assert cut.stdout.endswith(b"0\n") and cut.stderr == b""


def test_the_page_of_two_traces(tmp_path):
    earlier, later = steps_trace(), steps_trace(late=3000)
    later.begun_ns = 60_000 * MS  # a minute later
    before, after = write(tmp_path, earlier, "before.mxp"), write(tmp_path, later, "after.mxp")
    page = page_of(after, "--with", before)
    found = page.difference()
    done = subprocess.run([BUILD / "mxprof", "diff", "--json", before, "--", after], capture_output=True, text=True,
                          env=ENVIRONMENT, timeout=60, check=False)
    assert found["diff"] == json.loads(done.stdout) and page.head["other"] == "before.mxp"
    assert len(found["other"]["processes"][0]["steps"]) > 0


def test_sections_are_one_gzip_member_and_the_page_is_ascii_but_for_texts(tmp_path):
    page = page_of(write(tmp_path, native_file.sample()))
    for name in page.sections:
        page.unpack(name)
    assert struct.unpack("<I", page.sections["head"][-8:-4])[0] == int(page.id, 16)


def test_verdict_and_tables_of_chosen_steps(tmp_path):
    path = write(tmp_path, steps_trace())
    head = page_of(path, "--verdict", "3:6").head
    assert head["explain"] == json.loads(mxprof("explain", path, "--step", "3:6", "--json").stdout)
    report = json.loads(mxprof("report", path, "--step", "3:6", "--json").stdout)
    report["steps"] = []
    assert head["report"] == report
    assert [step[1] for step in head["steps"] if step[10] & 1] == [3, 4, 5]  # 6 has no end
    mxprof("view", path, "--verdict", "99", "-o", tmp_path / "no.html", code=2)


# ---- memory -----------------------------------------------------------------------------------------------
def memory_trace(chance, blocks=600):
    """Blocks of five owners that come and go, and the totals after each: (time, owner, bytes, total)."""
    file = native_file.NativeFile()
    thread = file.thread("main")
    scopes = [file.name(f"net:layer{i}:", 0, "scope") for i in range(5)]
    array, live, at, total, told = file.name("array"), {}, 0, 0, []
    for number in range(1, blocks + 1):
        at += chance.randrange(1, 200_000)
        if live and chance.random() < 0.45:
            block = chance.choice(sorted(live))
            owner, size, flags = *live.pop(block), 1
        else:
            block, owner, size, flags = number, chance.randrange(5), 1 + int(2 ** (20 * chance.random())), 0
            live[block] = owner, size
        total += -size if flags else size
        told.append((at, owner, -size if flags else size, total))
        file.add(thread, native_file.words(
            native_file.word0("memory", 3, file.origin + at), array | scopes[owner] << 32,
            block | flags << 56 | 2 << 60, size, size, total))
    return file, told


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_over_time_is_that_of_brute_force(tmp_path, seed):
    file, told = memory_trace(random.Random(seed))
    path = write(tmp_path, file)
    page = page_of(path)
    device, = page.head["memory"]["devices"]
    assert page.head["memory"]["documents"] == [json.loads(mxprof("memory", path, "--json").stdout)]
    peak = max(total for *_, total in told)
    assert device["peak_bytes"] == peak and device["name"] == "cpu/0"
    bins, = page.memory()
    begin, width = int(page.head["begin"]), bins[1][0] - bins[0][0]
    assert max(largest for _, largest, _, _ in bins) == peak
    for start, largest, least, owners in bins:
        within = [entry for entry in told if begin + start <= entry[0] < begin + start + width]
        before = [total for at, _, _, total in told if at < begin + start]
        totals = (before[-1:] or [0]) + [total for *_, total in within]
        if not before and within:
            totals = [0] + [total for *_, total in within]
        assert (largest, least) == (max(totals), min(totals))
        assert sum(owners) == largest
        # Whose they are at the moment of the largest.
        held = collections.Counter()
        for at, owner, change, total in told:
            if at >= begin + start + width or (at >= begin + start and largest == max(before[-1:] or [0])):
                break
            held[owner] += change
            if at >= begin + start and total == largest:
                break
        named = {name: size for name, size in zip(device["owners"], owners) if size}
        assert named == {f"net:layer{owner}": size for owner, size in held.items() if size}


def test_a_kind_for_each_of_many_names_and_one_for_the_rest(tmp_path):
    file = native_file.NativeFile()
    thread = file.thread("main")
    file.names += [(0, "span", 0, f"name {i}".encode()) for i in range(70_000)]
    first = len(file.names) - 70_000
    file.threads[thread]["bytes"] = b"".join(native_file.words(
        native_file.word0("span", 1, file.origin + 10 * i), first + i | 5 << 32) for i in range(70_000))
    page = page_of(write(tmp_path, file), "--size", "none")
    kinds = page.head["kinds"]
    assert len(kinds) == 65_536 and kinds[-1][0] == "other names"
    assert page.head["stats"][-1][0] == 70_000 - 65_535 and sum(row[0] for row in page.head["stats"]) == 70_000
