# SPDX-License-Identifier: Apache-2.0
"""A second writer of pages, from docs/page-format.md alone: small pages whose every number a test knows, odd and hostile
ones, and damaged ones. The product's writer is tools/page/*.c.
"""
import base64
import gzip
import hashlib
import json
import os
import pathlib
import re
import struct

SOURCE = pathlib.Path(os.environ.get("MXPROF_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
ASSETS = SOURCE / "tools/page"
PHASES = {"": 0, "forward": 1, "backward": 2, "update": 3, "communication": 4}
BLOCK = 16384
SPAN, OPERATOR, ENGINE, WAIT, ASYNC, INSTANT, STEP = range(7)


def varint(values):
    out = bytearray()
    for value in values:
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def zigzag(values):
    return varint([2 * v if v >= 0 else -2 * v - 1 for v in values])


def differences(values, first=0):
    out, before = [], first
    for value in values:
        out.append(value - before)
        before = value
    return out


def pack(count, columns):
    return struct.pack(f"<{3 + len(columns)}I", 0x3142584d, count, len(columns), *map(len, columns)) + b"".join(columns)


def bucket_of(ns):
    """Section STATS of docs/format.md: four buckets each power of two."""
    if ns < 4:
        return ns
    power = ns.bit_length() - 1
    return 4 * (power - 1) + (ns >> (power - 2)) - 4


def percentile(ordered, share):
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


class Kinds:
    def __init__(self):
        self.rows, self.index = [], {}

    def of(self, name, category="operator", scope="", phase="", form=None):
        row = (name, category, scope, PHASES[phase], form if form is not None else int(category == "operator"))
        return self.index.setdefault(row, len(self.index)) if row in self.index else self.add(row)

    def add(self, row):
        self.index[row] = len(self.rows)
        self.rows.append(list(row))
        return self.index[row]


class Track:
    """spans: [(begin, duration, kind, depth)], with operators further (push, ready, id, released_by, pusher)."""

    def __init__(self, name, what, spans, thread=-1, process=0):
        self.name, self.what, self.thread, self.process = name, what, thread, process
        self.spans = sorted(spans, key=lambda span: (span[0], -span[1]))


def statistics(kinds, tracks):
    times = [[] for _ in kinds.rows]
    for track in tracks:
        for span in track.spans:
            times[span[2]].append(span[1])
    out = []
    for each in times:
        each.sort()
        out.append([len(each), sum(each), each[0], percentile(each, .5), percentile(each, .9), percentile(each, .99), each[-1], 1] if each
                   else [0, 0, 0, 0, 0, 0, 0, 1])
    return out


def widths_of(length):
    widths, width = [], max(1, length // 1024)
    while width > 16 and len(widths) < 9:
        widths.append(width)
        width //= 4
    return widths


def class_of(duration, widths, is_small):
    return 0 if is_small else sum(width > duration for width in widths)


def tile_of(tracks, level, width, classes):
    """(head's row, section) of a level; None where it would not pay."""
    lanes, index, busy, count, best, short = [], [], [], [], [], 0
    for t, track in enumerate(tracks):
        by_depth = {}
        for span, cls in zip(track.spans, classes[t]):
            if cls > level:
                short += 1
                row = by_depth.setdefault(span[3], {}).setdefault(span[0] // width, {})
                n, ns = row.get(span[2], (0, 0))
                row[span[2]] = (n + 1, ns + span[1])
        for depth, bins in sorted(by_depth.items()):
            places = sorted(bins)
            lanes.append([t, depth, len(places)])
            index += differences(places)
            for place in places:
                rows = bins[place]
                busy.append(min(255, 255 * sum(ns for _, ns in rows.values()) // width))
                count.append(sum(n for n, _ in rows.values()))
                best.append(max(rows, key=lambda kind: (rows[kind][1], -kind)))
    if not short or 2 * len(index) > short:
        return None
    return {"width_ns": width, "bins": len(index), "lanes": lanes}, pack(len(index), [varint(index), bytes(busy), varint(count), varint(best)])


def block_of(spans, is_operator):
    columns = [varint(differences([s[0] for s in spans], spans[0][0])), varint([s[1] for s in spans]),
               varint([s[2] for s in spans]), varint([s[3] for s in spans])]
    if is_operator:
        more = [s[4:] if len(s) > 4 else (0, 0, 0, 0, -1) for s in spans]
        columns += [zigzag([m[0] for m in more]), zigzag([m[1] for m in more]), zigzag(differences([m[2] for m in more])),
                    zigzag([m[2] - m[3] if m[3] else 0 for m in more]), zigzag([m[4] for m in more])]
    return pack(len(spans), columns)


def statistics_of(spans):
    by_kind = {}
    for span in spans:
        by_kind.setdefault(span[2], []).append(span[1])
    rows = []
    for kind, times in sorted(by_kind.items()):
        buckets = {}
        for ns in times:
            buckets[bucket_of(ns)] = buckets.get(bucket_of(ns), 0) + 1
        rows.append((kind, len(times), sum(times), min(times), max(times), sorted(buckets.items())))
    return rows


def encode(tracks, length, with_statistics=True, kept=None):
    """(head's members, sections by name). kept: (class, [(from, to), ...]): of spans of that class and above only those that
    begin in these times are in blocks."""
    all_widths, sections, tiles, blocks, rows = widths_of(length), {}, [], [], []
    full = [[class_of(s[1], all_widths, len(t.spans) <= BLOCK) for s in t.spans] for t in tracks]
    for level, width in enumerate(all_widths):
        made = tile_of(tracks, level, width, full)
        if made is None:
            break
        tiles.append(made[0])
        sections[f"t{level}"] = made[1]
    for t, track in enumerate(tracks):
        for cls in range(len(tiles) + 1):
            chosen = [s for s, c in zip(track.spans, full[t]) if min(c, len(tiles)) == cls and (
                kept is None or cls < kept[0] or any(begin <= s[0] < end for begin, end in kept[1]))]
            for at in range(0, len(chosen), BLOCK):
                spans = chosen[at:at + BLOCK]
                sections[f"b{len(blocks)}"] = block_of(spans, track.what == "operators")
                mine = statistics_of(spans)
                blocks.append([t, cls, len(spans), spans[0][0], max(s[0] + s[1] for s in spans), 0 if with_statistics else -1, len(rows), len(mine)])
                rows += mine
    if with_statistics:
        sections["s0"] = pack(len(rows), [varint([r[i] for r in rows]) for i in range(5)] + [
            varint([len(r[5]) for r in rows]), varint([b for r in rows for b, _ in r[5]]), varint([n for r in rows for _, n in r[5]])])
    return {"tiles": tiles, "blocks": blocks}, sections


def head_of(kinds, tracks, length, **more):
    """A head with all that the format asks for, and little in it."""
    head = {"version": 1, "title": "a test", "file": "test.mxp", "command": "test.mxp", "begin": "1000", "end": length, "texts": [],
            "processes": [{"pid": 7, "name": "python", "died": False, "info": [["host", "here"], ["command", "python test.py"]]}],
            "threads": [{"process": 0, "name": "worker", "tid": 8}, {"process": 0, "name": "main", "tid": 7}],
            "kinds": kinds.rows, "stats": statistics(kinds, tracks), "steps": [], "cpu": None, "report": {}, "explain": None,
            "explain_refused": "", "told": [], "plain": "", "memory": None, "counters": [], "path": None, "path_refused": "no dependencies in this trace",
            "whatif": None, "whatif_refused": "no operators", "icicle": None, "losses": [], "states": [],
            "trust": {"state": "good", "word": "Complete: nothing was lost", "rows": [["records", "3"]]},
            "dropped": {"is_whole": True, "word": "every span, to the nanosecond", "spans": 0, "kept_spans": 0, "kept": [], "full": [], "class": None,
                        "class_kept": None, "columns": False, "icicle": False, "clock_spans": 0, "quiet_threads": 0, "path_steps": 0},
            "truncated": {"durations": 0, "times": 0, "names": 0}, "other": None}
    head["tracks"] = [{"name": t.name, "thread": t.thread, "process": t.process, "what": t.what, "spans": len(t.spans), "is_full": False,
                       "rows": 1 + max((s[3] for s in t.spans), default=0)} for t in tracks]
    head.update(more)
    return head


def join():
    """The modules as one script, as the product's join does it; names must be unique, bytes ASCII."""
    parts, names = [], {}
    for module in (ASSETS / "modules.txt").read_text().split():
        text = (ASSETS / module).read_text()
        text.encode("ascii")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
        text = re.sub(r"^export ", "", text, flags=re.M)
        for name in re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", text, flags=re.M):
            assert name not in names, f"{name} is in {names[name]} and in {module}"
            names[name] = module
        parts.append(text)
    return "'use strict';(() => {\n" + "".join(parts) + "})();\n"


def escaped(text):
    return "".join(f"&#{ord(c)};" if c in "&<>\"'" else c for c in text)


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(head, sections, plain=None):
    """The page as bytes; sections: name to bytes before gzip."""
    head = {**head, "sizes": {name: len(data) for name, data in sections.items()}}
    every = {"head": json.dumps(head, separators=(",", ":")).encode("utf-8", "surrogatepass"), **sections}
    coded = {name: base64.b64encode(gzip.compress(data, 6, mtime=0)).decode() for name, data in every.items()}
    lines = [f'<script type="application/vnd.mxprof" id="x-{name}">{text}</script>\n' for name, text in coded.items()]
    lines.append(f'<script type="application/vnd.mxprof" id="x-end">{len(coded)} {sum(map(len, coded.values()))}</script>\n')
    style, script = (ASSETS / "page.css").read_text(), join()
    start, code = (ASSETS / "start.js").read_text(), base64.b64encode(gzip.compress(script.encode(), 6, mtime=0)).decode()
    words = {"@STYLE_HASH@": digest(style), "@SCRIPT_HASH@": digest(script), "@START_HASH@": digest(start), "@STYLE@": style, "@START@": start, "@CODE@": code,
             "@TITLE@": escaped(head["title"]) + " \u00b7 mxprof", "@PLAIN@": escaped(head["plain"] if plain is None else plain), "@SECTIONS@": "".join(lines)}
    out = (ASSETS / "page.html").read_text()
    return re.sub("|".join(words), lambda found: words[found.group()], out).encode("utf-8", "replace")
