# SPDX-License-Identifier: Apache-2.0
"""Reads the pages of `mxprof view`, written from docs/page-format.md alone, so that writer and description
check each other. Everything that the description promises is asserted while it is read."""
import base64
import dataclasses
import json
import re
import struct
import zlib

ELEMENT = re.compile(rb'<script type="application/vnd\.mxprof" id="x-([^"]+)">([^<]*)</script>\n')
MAGIC = 0x3142584D
EXACT = 1 << 53
SMALL = 16384


class Damage(Exception):
    """The page does not keep to its format."""


def varints(data, count, signed=False):
    values, at = [], 0
    for _ in range(count):
        value, shift = 0, 0
        while True:
            if at >= len(data) or shift > 63:
                raise Damage("a varint is cut or too long")
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if signed:
            value = value >> 1 ^ -(value & 1)
        if abs(value) > EXACT:
            raise Damage("a number that does not fit into 53 bits")
        values.append(value)
    if at != len(data):
        raise Damage("a column has more values than rows")
    return values


@dataclasses.dataclass
class Span:
    track: int
    begin: int
    ns: int
    kind: int
    depth: int
    operator: tuple = None  # from push, from ready, id, released by, pusher
    block: int = -1
    cls: int = 0


class Page:
    def __init__(self, data):
        self.bytes = data
        self.sections, letters = {}, 0
        for name, text in ELEMENT.findall(data):
            name = name.decode()
            if name == "end":
                self.end = tuple(int(number) for number in text.split())
                continue
            assert not hasattr(self, "end"), "sections behind the end"
            assert name not in self.sections, f"two sections {name}"
            self.sections[name] = base64.b64decode(text, validate=True)
            letters += len(text)
        if not hasattr(self, "end") or self.end != (len(self.sections), letters):
            raise Damage("the page was cut")
        assert next(iter(self.sections)) == "head"
        text = self.unpack("head")
        self.id = f"{zlib.crc32(text):08x}"
        self.head = json.loads(text)
        assert self.head["version"] == 1
        assert set(self.head["sizes"]) == set(self.sections) - {"head"}

    def unpack(self, name):
        packed = self.sections[name]
        engine = zlib.decompressobj(31)
        text = engine.decompress(packed)
        assert engine.eof and not engine.unused_data, f"{name} is not one gzip member"
        if name != "head":
            assert len(text) == self.head["sizes"][name], name
        return text

    def columns(self, name):
        """How many rows, and the bytes of each column."""
        data = self.unpack(name)
        magic, count, columns = struct.unpack_from("<3I", data)
        if magic != MAGIC:
            raise Damage(f"{name} has another magic")
        lengths = struct.unpack_from(f"<{columns}I", data, 12)
        at, found = 12 + 4 * columns, []
        for length in lengths:
            found.append(data[at:at + length])
            at += length
        assert at == len(data), name
        return count, found

    # ---- spans
    def block(self, number):
        track, cls, count, first, last, *_ = self.head["blocks"][number]
        rows, columns = self.columns(f"b{number}")
        assert rows == count
        begins, at = [], first
        for step in varints(columns[0], count):
            at += step
            begins.append(at)
        assert not begins or begins[0] == first
        durations, kinds, depths = (varints(column, count) for column in columns[1:4])
        operators = [None] * count
        if self.head["tracks"][track]["what"] == "operators":
            operators = self.operators(columns[4:9], count)
        else:
            assert len(columns) == 4
        spans = [Span(track, *row, number, cls) for row in zip(begins, durations, kinds, depths, operators)]
        assert max((span.begin + span.ns for span in spans), default=0) == last
        for span in spans:
            assert span.kind < len(self.head["kinds"]) and span.depth < self.head["tracks"][track]["rows"]
        if cls > 0:
            assert all(span.ns < self.head["tiles"][cls - 1]["width_ns"] for span in spans)
        return spans

    def operators(self, columns, count):
        values = [varints(column, count, signed=True) for column in columns]
        if len(values) == 2:
            return [(*row, None, None, None) for row in zip(*values)]
        push, ready, steps, released, pushers = values
        found, number = [], 0
        for i in range(count):
            number += steps[i]
            found.append((push[i], ready[i], number, number - released[i] if released[i] else 0, pushers[i]))
        return found

    def spans(self):
        return [span for number in range(len(self.head["blocks"])) for span in self.block(number)]

    # ---- tiles
    def tile(self, level):
        """Bins of a level: (track, depth, index) -> (busy of 255, spans, kind)."""
        of = self.head["tiles"][level]
        count, (indices, busy, spans, kinds) = self.columns(f"t{level}")
        assert count == of["bins"] == sum(lane[2] for lane in of["lanes"]) == len(busy)
        indices, spans, kinds = (varints(column, count) for column in (indices, spans, kinds))
        found, at = {}, 0
        for track, depth, bins in of["lanes"]:
            index = 0
            for i in range(at, at + bins):
                index += indices[i]
                assert (track, depth, index) not in found
                found[track, depth, index] = busy[i], spans[i], kinds[i]
            at += bins
        return found

    # ---- statistics
    def statistics(self, number):
        """Of a block: kind -> (count, sum, least, largest, {bucket: count})."""
        section, first, rows = self.head["blocks"][number][5:8]
        count, columns = self.columns(f"s{section}")
        kinds, counts, sums, leasts, largests, buckets = (varints(column, count) for column in columns[:6])
        indices, amounts = (varints(column, sum(buckets)) for column in columns[6:8])
        found = {}
        for i in range(first, first + rows):
            at = sum(buckets[:i])
            assert kinds[i] not in found
            found[kinds[i]] = (counts[i], sums[i], leasts[i], largests[i],
                               dict(zip(indices[at:at + buckets[i]], amounts[at:at + buckets[i]])))
        return found

    # ---- the others
    def memory(self):
        """Of each device its bins: (time, largest, least, bytes of each owner)."""
        count, columns = self.columns("m")
        columns = [varints(column, count) for column in columns]
        found, at = [], 0
        for device in self.head["memory"]["devices"]:
            rows, now = [], 0
            for i in range(at, at + device["bins"]):
                now += columns[0][i]
                rows.append((now, columns[1][i], columns[2][i], [column[i] for column in columns[3:]]))
            found.append(rows)
            at += device["bins"]
        assert at == count
        return found

    def counter(self, number):
        count, columns = self.columns(f"c{number}")
        assert count == self.head["counters"][number]["bins"]
        floats = [struct.unpack(f"<{count}d", column) for column in columns[1:4]]
        found, now = [], 0
        for i, step in enumerate(varints(columns[0], count)):
            now += step
            found.append((now, *(column[i] for column in floats)))
        return found

    def flows(self):
        """Points: (time, kind, number, phase, thread or -1, track of a lane or -1)."""
        if "f" not in self.sections:
            assert self.head["flows"]["points"] == 0
            return []
        count, columns = self.columns("f")
        assert count == self.head["flows"]["points"]
        steps, kinds, numbers, phases, threads, tracks = (varints(column, count) for column in columns)
        found, now = [], 0
        for i in range(count):
            now += steps[i]
            assert kinds[i] < len(self.head["kinds"]) and phases[i] in (1, 2, 3)
            assert threads[i] <= len(self.head["threads"]) and tracks[i] <= len(self.head["tracks"])
            found.append((now, kinds[i], numbers[i], phases[i], threads[i] - 1, tracks[i] - 1))
        return found

    def path(self):
        """Pieces: (thread or None, begin, length, category, kind or None)."""
        count, columns = self.columns("p")
        threads, lengths, categories, kinds = (varints(columns[i], count) for i in (0, 2, 3, 4))
        found, now = [], 0
        for i, gap in enumerate(varints(columns[1], count, signed=True)):
            begin = now + gap
            now = begin + lengths[i]
            found.append((threads[i] - 1 if threads[i] else None, begin, lengths[i],
                          self.head["path"]["categories"][categories[i]], kinds[i] - 1 if kinds[i] else None))
        return found

    def icicle(self):
        """Nodes: (parent, name, phase, self, total, count)."""
        count, columns = self.columns("i")
        assert count == self.head["icicle"]["nodes"]
        rows = list(zip(*(varints(column, count) for column in columns)))
        assert all((back == 0) == (i == 0) and back <= i for i, (back, *_) in enumerate(rows))
        return [(i - back, self.head["texts"][text], *rest) for i, (back, text, *rest) in enumerate(rows)]

    def difference(self):
        return json.loads(self.unpack("d"))


def bucket(value):
    """The bucket of section STATS that holds a value."""
    if value < 4:
        return value
    octave = value.bit_length() - 1
    return (octave - 1) * 4 + (value >> octave - 2 & 3)


def read(path):
    with open(path, "rb") as file:
        return Page(file.read())
