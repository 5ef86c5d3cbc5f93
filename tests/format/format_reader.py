# SPDX-License-Identifier: Apache-2.0
"""Reads native traces, written from docs/format.md alone: it shares nothing with the library, so it
shows whether that page is complete and true. Refuses whatever the page does not allow."""
import struct

MAGIC = b"\x89MXP\r\n\x1a\n"
SECTION_MAGIC = 0x5350584D
MASK64 = (1 << 64) - 1
K0, K1 = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03
TYPES = {1: "CHUNK", 2: "NAMES", 3: "THREADS", 4: "CLOCK", 5: "LOSS", 6: "INFO", 7: "STATS",
         8: "END", 9: "RECORDER", 11: "OPEN", 12: "MODULES"}
MAPPED = 1
VALUE_FORMATS = {1: "Q", 2: "q", 3: "d", 4: "Q"}


class FormatError(Exception):
    def __init__(self, offset, text):
        super().__init__(f"offset {offset}: {text}")
        self.offset = offset


def rotl(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK64


def checksum(data):
    lanes = [K0 * (i + 1) & MASK64 for i in range(4)]
    filled = data + bytes(-len(data) % 32)
    for i, (word,) in enumerate(struct.iter_unpack("<Q", filled)):
        lanes[i % 4] = rotl(lanes[i % 4] ^ (word * K0 & MASK64), 29) * K1 & MASK64
    h = len(data) * K0 & MASK64
    for lane in lanes:
        h = rotl(h ^ ((lane ^ lane >> 32) * K0 & MASK64), 27) * K1 & MASK64
    h = (h ^ h >> 32) * K0 & MASK64
    return h ^ h >> 29


class Content:
    """The content of a section, taken from its front."""

    def __init__(self, data, order, offset):
        self.data, self.order, self.offset, self.at = data, order, offset, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, format):
        size = struct.calcsize("=" + format)
        if size > self.left():
            raise FormatError(self.offset + self.at, "content that is cut short")
        values = struct.unpack_from(self.order + format, self.data, self.at)
        self.at += size
        return values

    def text(self, length):
        raw, zero = self.data[self.at:self.at + length], self.data[self.at + length:][:1]
        if len(raw) != length or zero != b"\0":
            raise FormatError(self.offset + self.at, "a text that is cut short")
        self.at += length + 1
        return raw

    def pad(self, begin):
        count = -(self.at - begin) % 4
        if any(self.data[self.at:self.at + count]):
            raise FormatError(self.offset + self.at, "padding that is not zero")
        self.at += count


class Trace:
    """A whole file. Raises FormatError for anything that is not as it should be."""

    def __init__(self, data):
        self.data = data
        self.header()
        self.sections = list(self.scan())
        self.finished = bool(self.sections) and self.sections[-1][0] == "END"
        if not self.finished and not self.mapped:
            raise FormatError(len(data), "no END")
        self.recorders = [self.recorder(offset) for kind, offset in self.sections
                          if kind == "RECORDER" and not self.finished]
        self.names = []
        self.chunks = []
        self.threads, self.losses, self.info, self.stats = [], [], [], []
        self.open, self.modules = [], []
        self.clock = None
        for kind, offset in self.sections:
            read = getattr(self, "read_" + kind.lower(), None)
            if read is not None:
                read(self.content(kind, offset), offset)

    # ---- the file
    def header(self):
        if self.data[:8] != MAGIC or len(self.data) < 64:
            raise FormatError(0, "no native trace")
        self.order = "<" if self.data[8:12] == bytes((4, 3, 2, 1)) else ">"
        if struct.unpack_from(self.order + "I", self.data, 8) != (0x01020304,):
            raise FormatError(8, "no byte order")
        self.version, min_reader, self.header_bytes, flags, self.created_real_ns, self.pid, \
            self.pointer_bytes, found = struct.unpack_from(self.order + "HHIIQIIQ", self.data, 12)
        self.mapped = bool(flags & MAPPED)
        if min_reader > 1:
            raise FormatError(14, "needs a newer reader")
        if found != checksum(self.data[:40]):
            raise FormatError(40, "wrong checksum")
        if self.header_bytes < 64 or self.header_bytes % 16 != 0:
            raise FormatError(16, "impossible size")

    def scan(self):
        at, count, record_bytes = self.header_bytes, 0, 0
        while at < len(self.data):
            if self.mapped and not any(self.data[at:at + 32]):
                return  # reserved room
            if len(self.data) - at < 32:
                raise FormatError(at, "cut within a section's header")
            magic, number, flags, length, found, payload = struct.unpack_from(
                self.order + "IHHQQQ", self.data, at)
            kind = TYPES.get(number, "unknown")
            first = 64 if kind == "CHUNK" else 32
            if magic != SECTION_MAGIC:
                raise FormatError(at, "no section")
            if length < first or length % 16 != 0 or length > len(self.data) - at:
                raise FormatError(at, "impossible length")
            rest = not self.mapped and any(self.data[at + first + payload:at + length])
            if payload > length - first or rest:
                raise FormatError(at, "impossible payload")
            whole = self.data[at:at + length]
            if flags & 1 and found != checksum(whole[:16] + bytes(8) + whole[24:]):
                if not (self.mapped and kind == "CLOCK"):
                    raise FormatError(at, "wrong checksum")
                kind = "a clock being written"
            if kind == "END":
                totals = struct.unpack_from(self.order + "QQ", self.data, at + 32)
                if payload != 16 or totals != (count, record_bytes):
                    raise FormatError(at, "totals that are wrong")
            record_bytes += payload if kind == "CHUNK" else 0
            count += 1
            yield kind, at
            at += length

    def recorder(self, offset):
        """A thread of a mapped file that was not finished; its cursor as a place in the file."""
        thread, tid, start, base, block, cursor = struct.unpack_from(
            self.order + "IIQQQQ", self.data, offset + 32)
        depth, lost_in_handlers = struct.unpack_from(self.order + "IQ", self.data, offset + 92)
        lost, name = struct.unpack_from(self.order + "QI", self.data, offset + 640)
        spans = [struct.unpack_from(self.order + "QI", self.data, offset + 128 + 16 * i)
                 for i in range(min(depth, 31))]
        told = self.told(offset) if self.flags(offset) & 2 else []
        at = cursor - block + offset if 0 <= cursor - block <= 8192 else cursor - base
        return {"thread": thread, "tid": tid, "start_ticks": start, "cursor": at if cursor else 0,
                "lost": lost + lost_in_handlers, "name": name,
                "open": [(begin, span) for begin, span in spans if begin != 0],
                "told": [entry for entry in told if entry[0] in [begin for begin, _ in spans if begin]]}

    def flags(self, offset):
        return struct.unpack_from(self.order + "H", self.data, offset + 6)[0]

    def told(self, offset):
        """What was told of open spans: (begin, [(name id of the key, value)]) an entry."""
        used, *words = struct.unpack_from(self.order + "193Q", self.data, offset + 672)
        at, entries = 0, []
        while at + 2 <= min(used, 192) and 2 <= words[at + 1] & 0xff <= used - at:
            count, args = words[at + 1] & 0xff, words[at + 1] >> 8 & 0xff
            entry = words[at:at + count]
            seal = entry[0] + count & MASK64
            for word in entry[2:]:
                seal = rotl(seal, 7) + word & MASK64
            if (seal ^ seal >> 48) & (1 << 48) - 1 == entry[1] >> 16:
                raw = struct.pack(self.order + f"{count}Q", *entry)
                entries.append((entry[0], [self.told_argument(entry, raw, 2 + 2 * i) for i in range(args)]))
            at += count
        return entries

    def told_argument(self, entry, raw, i):
        kind = entry[i] >> 32 & 0xff
        if kind == 5:
            begin = entry[i + 1] & 0xffffffff
            return entry[i] & 0xffffffff, raw[begin:begin + (entry[i] >> 40)]
        return entry[i] & 0xffffffff, struct.unpack_from(self.order + VALUE_FORMATS[kind], raw, 8 * i + 8)[0]

    def read_open(self, _content, offset):
        for at in range(offset + 64, offset + 64 + 4096 * 64, 64):
            begin, span, context, high, name, thread, key, zero, seal, unused = struct.unpack_from(
                self.order + "QQQQIIIIQQ", self.data, at)
            found = 3 * begin + span & MASK64
            for word in (context, high, name | thread << 32, key):
                found = rotl(found, 13) + word & MASK64
            if begin != 0 and seal == found:
                if zero != 0 or unused != 0:
                    raise FormatError(at, "a slot with a word that should be 0")
                self.open.append({"id": span, "context": context | high << 64, "name": name,
                                  "thread": thread, "key": key, "begin_ticks": begin})

    def filled(self, offset, payload):
        """How far a chunk goes, of which its thread had been writing."""
        length, = struct.unpack_from(self.order + "Q", self.data, offset + 8)
        thread, = struct.unpack_from(self.order + "I", self.data, offset + 32)
        for recorder in self.recorders:
            if recorder["thread"] == thread and offset + 64 <= recorder["cursor"] <= offset + length:
                return max(payload, recorder["cursor"] - offset - 64)
        return payload

    def content(self, kind, offset):
        payload, = struct.unpack_from(self.order + "Q", self.data, offset + 24)
        first = offset + (64 if kind == "CHUNK" else 32)
        if kind == "CHUNK":
            payload = self.filled(offset, payload)
        return Content(self.data[first:first + payload], self.order, first)

    # ---- tables
    def read_names(self, content, offset):
        first, count = content.take("II")
        if first != len(self.names):
            raise FormatError(offset, "names that do not follow")
        for _ in range(count):
            begin = content.at
            category, style, unit, _, length = content.take("IBBHI")
            text = content.text(length)
            content.pad(begin)
            category = category if category < len(self.names) else 0
            self.names.append({"category": category, "style": style, "unit": unit, "text": text})

    def read_threads(self, content, offset):
        while content.left() > 0:
            index, tid, start, end, records, lost, name, _ = content.take("IIQQQQII")
            self.threads = [thread for thread in self.threads if thread["index"] != index]
            self.threads.append({"index": index, "tid": tid, "start_ticks": start,
                                 "end_ticks": end, "records": records, "lost": lost,
                                 "name": self.text(name)})
        self.threads.sort(key=lambda thread: thread["index"])

    def read_clock(self, content, offset):
        source, points, segments, kept, residual, jump_ns, jump_ticks = content.take("IIIIdqQ")
        before = self.clock
        if segments == 0 and kept == 0 or kept > len(before["segments"] if before else []):
            raise FormatError(offset, "a clock without segments")
        self.clock = {"source": source, "residual_ns": residual, "jump_ns": jump_ns,
                      "jump_ticks": jump_ticks,
                      "points": [content.take("QQQQQQ") for _ in range(points)],
                      "segments": [content.take("QqQ") for _ in range(segments)]}
        if kept != 0:
            self.clock["points"] = before["points"] + self.clock["points"]
            self.clock["segments"] = before["segments"][:kept] + self.clock["segments"]
        if self.mapped and before is not None and before["points"][-1] > self.clock["points"][-1]:
            self.clock = before

    def read_modules(self, content, offset):
        self.modules = []
        while content.left() > 0:
            bias, begin, size, first, gone, name, path, id_bytes, zero, build_id = content.take("QQQQQIIII32s")
            if zero != 0:
                raise FormatError(offset, "a module with a word that should be 0")
            self.modules.append({"bias": bias, "begin": begin, "bytes": size, "from_ticks": first,
                                 "to_ticks": gone, "name": name, "path": self.text(path),
                                 "build_id": build_id[:id_bytes].hex()})

    def read_loss(self, content, offset):
        self.losses = []
        while content.left() > 0:
            self.losses.append(dict(zip(("thread", "reason", "count", "from_ticks", "to_ticks"),
                                        content.take("IIQQQ"))))

    def read_info(self, content, offset):
        found = dict(self.info)
        while content.left() > 0:
            begin = content.at
            key_length, value_length = content.take("II")
            pair = readable(content.text(key_length)), readable(content.text(value_length))
            content.pad(begin)
            found[pair[0]] = pair[1]
        self.info = list(found.items())

    def read_stats(self, content, offset):
        self.stats = []
        count, _ = content.take("II")
        for _ in range(count):
            name, buckets, samples, total, least, most = content.take("IIQQQQ")
            self.stats.append({"name": self.text(name), "count": samples, "total_ns": total,
                               "min_ns": least, "max_ns": most,
                               "buckets": [self.bucket(*content.take("II"))
                                           for _ in range(buckets)]})

    @staticmethod
    def bucket(index, count):
        lowest = index if index < 4 else (4 + index % 4) << (index // 4 - 1)
        return {"from_ns": lowest, "count": count}

    def read_chunk(self, content, offset):
        thread, sequence, base, lost, _ = struct.unpack_from(self.order + "IIQQQ", self.data,
                                                             offset + 32)
        self.chunks.append({"thread": thread, "sequence": sequence, "base_ticks": base,
                            "lost_before": lost, "content": content})

    # ---- records
    def text(self, name):
        return readable(self.names[name]["text"]) if name < len(self.names) else "<bad name>"

    def ns(self, ticks):
        segments = self.clock["segments"]
        ticks0, ns0, mult = ([s for s in segments if s[0] <= ticks] or segments[:1])[-1]
        return ns0 + ((ticks - ticks0) * mult >> 32)

    def records(self, chunk):
        content = chunk["content"]
        words = struct.unpack(f"{self.order}{len(content.data) // 8}Q", content.data)
        at, operator = 0, None
        while at < len(words):
            kind, units = words[at] & 0xFF, words[at] >> 8 & 0xFF
            offset = content.offset + 8 * at
            if units == 0 or at + 2 * units > len(words):
                raise FormatError(offset, "a record that reaches beyond its chunk")
            record = Record(self, chunk["base_ticks"], words[at:at + 2 * units], content.data[8 * at:])
            at += 2 * units
            if kind == 4:
                record.add_variables(operator)
                continue
            if kind not in Record.KINDS:
                continue
            name, least = Record.KINDS[kind]
            if units < least:
                raise FormatError(offset, "a record that is too short for its kind")
            fields = {"kind": name, "name": self.text(record.low(1))}
            getattr(record, "read_" + name)(fields)
            operator = fields if name in ("operator", "hidden") else None
            yield fields


class Record:
    KINDS = {1: ("span", 1), 2: ("span_long", 3), 3: ("operator", 4), 5: ("counter", 2),
             6: ("memory", 3), 7: ("instant", 1), 8: ("flow", 2), 9: ("meta", 2), 10: ("wait", 2),
             11: ("hidden", 4), 12: ("census", 3)}

    def __init__(self, trace, base, words, raw):
        self.trace, self.base, self.words, self.raw = trace, base, words, raw
        self.stamp = words[0] >> 16

    def low(self, i):
        return self.words[i] & 0xFFFFFFFF

    def high(self, i):
        return self.words[i] >> 32

    def bits(self, i, first, count):
        return self.words[i] >> first & (1 << count) - 1

    def value(self, i, kind):
        return struct.unpack_from(self.trace.order + VALUE_FORMATS[kind], self.raw, 8 * i)[0]

    def widen(self, stamp):
        distance = stamp - self.base & (1 << 48) - 1
        return self.base + distance - (distance >> 47 << 48)

    def moment(self, fields):
        ticks = self.widen(self.stamp)
        fields.update(ticks=ticks, ns=self.trace.ns(ticks))

    def ends(self, fields, begin, duration):
        fields.update(begin_ticks=begin, end_ticks=begin + duration, begin_ns=self.trace.ns(begin),
                      end_ns=self.trace.ns(begin + duration))

    def read_span(self, fields):
        duration = self.high(1)
        self.ends(fields, self.widen(self.stamp + duration) - duration, duration)

    def read_span_long(self, fields):
        lane, clock = self.low(4), self.bits(1, 56, 8)
        fields.update(flags=self.bits(1, 32, 16), clock=clock, scope=self.trace.text(self.high(4)))
        if lane >> 31:
            fields["lane"] = f"thread {lane & 0x7FFFFFFF}"
        elif lane != 0:
            fields["lane"] = self.trace.text(lane)
        if clock == 0:
            self.ends(fields, self.words[3], self.words[2])
        else:
            fields.update(begin_ns=self.words[3], end_ns=self.words[3] + self.words[2])
        fields["args"] = [self.argument(6 + 2 * i) for i in range(self.bits(1, 48, 8))]

    def argument(self, i):
        kind = self.bits(i, 32, 8)
        if kind == 5:
            begin = self.low(i + 1)
            text = self.raw[begin:begin + self.bits(i, 40, 24)].decode("utf-8", "replace")
            return [self.trace.text(self.low(i)), text]
        value = self.value(i + 1, kind)
        return [self.trace.text(self.low(i)), self.trace.text(value) if kind == 4 else value]

    def read_operator(self, fields):
        run = self.bits(2, 0, 48)
        start = self.widen(self.stamp + run) - run
        self.ends(fields, start, run)
        flags = self.bits(2, 48, 16)
        flops, moved = struct.unpack_from(self.trace.order + "ff", self.raw, 56) \
            if self.trace.order == "<" else \
            reversed(struct.unpack_from(self.trace.order + "ff", self.raw, 56))
        fields.update(id=self.high(1), phase=flags & 7, flags=flags & ~7,
                      push_ticks=start - self.bits(3, 0, 48), push_thread=self.bits(3, 48, 16),
                      ready_ticks=start - self.bits(4, 0, 48), device=self.bits(4, 48, 8),
                      released_by=self.low(5), bulk_parent=self.high(5),
                      scope=self.trace.text(self.low(6)), shape=self.trace.text(self.high(6)),
                      flops=flops, bytes=moved, variables=[])

    read_hidden = read_operator

    def add_variables(self, operator):
        if operator is None or operator["id"] != self.high(0):
            return
        room = min(2 * (len(self.words) - 1), 14)
        for i in range(min(self.bits(0, 16, 8), room)):
            variable = self.bits(1 + i // 2, 32 * (i % 2), 32)
            operator["variables"].append([variable & 0x7FFFFFFF, variable >> 31])

    def read_counter(self, fields):
        self.moment(fields)
        fields["value"] = self.value(2, self.bits(1, 32, 8))
        if self.bits(1, 40, 8) & 1:
            fields["standing"] = self.words[3]

    def read_memory(self, fields):
        self.moment(fields)
        fields.update(scope=self.trace.text(self.high(1)), block=self.bits(2, 0, 48),
                      device=self.bits(2, 48, 8), flags=self.bits(2, 56, 4),
                      category=self.bits(2, 60, 4), requested_bytes=self.words[3],
                      rounded_bytes=self.words[4], live_bytes=self.words[5])

    read_census = read_memory

    def read_instant(self, fields):
        self.moment(fields)
        fields["scope"] = self.bits(1, 32, 8)

    def read_flow(self, fields):
        self.moment(fields)
        fields.update(phase=self.bits(1, 32, 8), id=self.words[2])

    def read_meta(self, fields):
        self.moment(fields)
        fields.update(what=self.bits(1, 32, 8), value=self.words[2])
        if fields["what"] == 6:
            fields["second"] = self.words[3]

    def read_wait(self, fields):
        duration = self.bits(2, 0, 48)
        self.ends(fields, self.widen(self.stamp + duration) - duration, duration)
        fields.update(ended_by=self.high(1), what=self.bits(2, 48, 4), flags=self.bits(2, 52, 12),
                      variable=self.low(3))


def readable(raw):
    """Text for JSON: bytes that are no UTF-8 as escapes."""
    return raw.decode("utf-8", errors="backslashreplace")


def as_json(trace):
    """Everything a trace holds, as plain lists and dictionaries."""
    return {
        "version": trace.version, "created_real_ns": trace.created_real_ns, "pid": trace.pid,
        "pointer_bytes": trace.pointer_bytes,
        "sections": [kind for kind, _ in trace.sections],
        "names": [{**name, "text": readable(name["text"])} for name in trace.names],
        "threads": trace.threads, "clock": trace.clock, "losses": trace.losses,
        "info": trace.info, "stats": trace.stats,
        "chunks": [{**{key: chunk[key] for key in chunk if key != "content"},
                    "records": list(trace.records(chunk))} for chunk in trace.chunks],
    }
